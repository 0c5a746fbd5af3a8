import NuthatchHTTP

// The stored answer as it is given to those who want the bytes: all of them, or what they asked for.

extension Found {
  /// What a caller's own conditions, or range, get from what is stored; nil where they are the server's business.
  func reply(to plan: RequestPlan) -> RequestConditions.Reply? {
    guard plan.asksForPart else { return .whole }
    guard !plan.wantsPictures, meta.bodyLength <= plan.maxBytes,
      meta.bodyLength == Int64(body.map { Payload($0).count } ?? 0)
    else { return nil }
    return RequestConditions.reply(
      to: plan.headers, from: meta.head, length: meta.bodyLength, now: meta.responseTime)
  }

  func response(_ reply: RequestConditions.Reply, _ url: String, _ origin: AnswerOrigin) -> Response {
    var head = RequestConditions.head(of: reply, from: meta.head, length: meta.bodyLength)
    head.fields.remove { $0.name.equalsIgnoringCase("Age") }
    head.fields.append("Age", String(age))
    let whole = body.map { Payload($0) } ?? .empty
    switch reply {
    case .whole: return Response(url: url, head: head, body: whole, origin: origin)
    case .part(let bytes):
      return Response(url: url, head: head, body: whole.part(bytes), origin: origin)
    case .notModified, .unsatisfiable:
      return Response(url: url, head: head, body: .empty, origin: origin)
    }
  }
}
