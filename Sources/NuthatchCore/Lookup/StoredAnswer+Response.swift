import NuthatchHTTP

// Gives the bytes of the stored answer: all of them, or the part that the request asks for.

extension StoredAnswer {
  /// Returns the reply to the caller's conditions or range from the stored answer. Nil: only the server can answer.
  func reply(to plan: RequestPlan) -> RequestConditions.Reply? {
    guard plan.wantsPart else { return .whole }
    guard !plan.wantsPictures, record.bodyLength <= plan.maxBytes,
      record.bodyLength == bodyCount ?? 0
    else { return nil }
    return RequestConditions.reply(
      to: plan.headers, from: record.head, length: record.bodyLength, now: record.responseTime)
  }

  func response(
    _ reply: RequestConditions.Reply, to plan: RequestPlan, _ url: String, _ provenance: Provenance
  ) -> Response {
    var head = RequestConditions.head(of: reply, from: record.head, length: record.bodyLength)
    head.fields.remove { $0.name.equalsIgnoringCase("Age") }
    head.fields.append("Age", String(freshness.age))
    let whole = body.map { SharedBytes($0) } ?? .empty
    let given =
      switch reply {
      case .whole: whole
      case .part(let bytes): whole.part(bytes)
      case .notModified, .unsatisfiable: SharedBytes.empty
      }
    return Response(url: url, head: head, body: given, provenance, limits: plan.limits)
  }
}
