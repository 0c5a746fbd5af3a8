import NuthatchHTTP

extension Answer {
  /// Returns the 504 that RFC 9111 requires from a cache: for `only-if-cached` (5.2.1.7), and if a stored answer needs
  /// validation and the server can't be reached (5.2.2.2, 4.2.4). Returns nil if the caller gets the error instead: for
  /// pictures, and under every policy but `rfc9111`.
  static func insteadOf(_ error: NuthatchError, _ plan: RequestPlan, _ found: StoredAnswer?, _ url: String)
    -> Answer?
  {
    guard plan.policy == .rfc9111, !plan.wantsPictures else { return nil }
    let mustValidate = found?.mustValidate == true && error.code.meansServerUnavailable
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
