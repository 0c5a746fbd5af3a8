import NuthatchHTTP

extension Answer {
  /// The 504 that RFC 9111 wants a cache to make up: for `only-if-cached` (5.2.1.7), and where a stored answer must not
  /// be given unasked and nobody can be asked (5.2.2.2, 4.2.4). nil where the error is what the caller gets: always but
  /// under `rfc9111`, and for pictures.
  static func insteadOf(_ error: NuthatchError, _ plan: RequestPlan, _ found: StoredAnswer?, _ url: String)
    -> Answer?
  {
    guard plan.policy == .rfc9111, !plan.wantsPictures else { return nil }
    let mustValidate = found?.mustValidate == true && error.code.isOfTheWay
    guard mustValidate || error.code == .offline else { return nil }
    let buffer = ByteBuffer()
    let reason = Array(error.description.utf8)
    _ = reason.withUnsafeBytes { buffer.append($0) }
    var head = ResponseHead(status: 504, reason: "Gateway Timeout")
    head.fields.append("Content-Type", "text/plain; charset=utf-8")
    head.fields.append("Content-Length", String(buffer.count))
    let provenance = Provenance(
      finalURL: plan.url.address, source: .network, isInCache: false, isStored: false)
    return Answer(
      response: Response(
        url: url, head: head, body: SharedBytes(buffer), provenance, limits: plan.limits))
  }
}
