extension ResponseHead {
  /// In lower case, in order.
  private var transferCodings: [String] {
    fields.values("Transfer-Encoding").flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.filter { !$0.isEmpty }
  }

  /// Names of codings, also of some that aren't registered for Transfer-Encoding.
  private static let codingNames: Set = [
    "chunked", "gzip", "x-gzip", "deflate", "compress", "x-compress", "trailers", "br", "zstd",
  ]

  var isChunked: Bool { transferCodings.contains("chunked") }

  /// Refuses every transfer coding but `identity` and `chunked`, the only one that every client must support. libcurl accepts
  /// `gzip` without having offered it, and some unknown names if there is only one.
  ///
  /// - Parameter passingUnknown: whether to accept a single unknown name. The body then ends when the connection is closed (RFC
  ///   9112, 6.3).
  func checkTransferCoding(passingUnknown: Bool) throws(HeaderFault) {
    let codings = transferCodings
    let isMeaningless = codings.count == 1 && !Self.codingNames.contains(codings[0])
    guard
      codings.isEmpty || codings == ["chunked"] || codings == ["identity"] || passingUnknown && isMeaningless
    else {
      throw HeaderFault(
        "the answer's Transfer-Encoding \(codings.joined(separator: ", ").quotedForMessage) is not supported")
    }
  }
}
