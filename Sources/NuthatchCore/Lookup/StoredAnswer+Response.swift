import NuthatchHTTP

// The stored answer as it is given to those who want the bytes: all of them, or what they asked for.

extension StoredAnswer {
  /// What a caller's own conditions, or range, get from what is stored; nil where they are the server's business.
  func reply(to plan: RequestPlan) -> RequestConditions.Reply? {
    guard plan.asksForPart else { return .whole }
    guard !plan.wantsPictures, meta.bodyLength <= plan.maxBytes,
      meta.bodyLength == Int64(body.map { SharedBytes($0).count } ?? 0)
    else { return nil }
    return RequestConditions.reply(
      to: plan.headers, from: meta.head, length: meta.bodyLength, now: meta.responseTime)
  }

  func response(
    _ reply: RequestConditions.Reply, to plan: RequestPlan, _ url: String, _ origin: Provenance
  ) -> Response {
    var head = RequestConditions.head(of: reply, from: meta.head, length: meta.bodyLength)
    head.fields.remove { $0.name.equalsIgnoringCase("Age") }
    head.fields.append("Age", String(age))
    let whole = body.map { SharedBytes($0) } ?? .empty
    let given =
      switch reply {
      case .whole: whole
      case .part(let bytes): whole.part(bytes)
      case .notModified, .unsatisfiable: SharedBytes.empty
      }
    return Response(url: url, head: head, body: given, origin: origin, maxPixels: plan.maxPixels)
  }
}
