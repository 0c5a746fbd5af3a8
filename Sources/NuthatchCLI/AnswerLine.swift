import NuthatchCore

/// The line that `get --verbose` prints about an answer.
enum AnswerLine {
  static func of(_ response: Response) -> String {
    line(
      "\(response.status) \(response.reason)".trimmed, response.source, response.header("Content-Type"),
      response.bodySize > 0 ? Int64(response.bodySize) : nil, response.timings, response.finalURL)
  }

  static func of(_ image: Image) -> String {
    line(
      "\(image.status.map { "\($0), " } ?? "")\(image.width)×\(image.height) of \(image.originalWidth)×\(image.originalHeight)",
      image.source, image.header("Content-Type"), image.sourceBytes, image.timings, image.finalURL)
  }

  private static func line(
    _ status: String, _ source: Response.Source, _ type: String?, _ bytes: Int64?,
    _ timings: Response.Timings, _ url: String
  ) -> String {
    var facts = [
      "HTTP \(status)",
      source == .network ? "fetched" : source == .revalidated ? "revalidated" : "hit, \(source)",
    ]
    if let type { facts.append(type) }
    if let bytes { facts.append(Amounts.bytes(bytes)) }
    if timings.total > 0 { facts.append(Amounts.milliseconds(timings.total)) }
    return "\(facts.joined(separator: ", ")): \(ShownURL.of(url))"
  }
}

extension String {
  /// The text without the space that an empty reason phrase leaves at the end.
  fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}
