extension ResponseHead {
  /// In small letters, in order.
  private var transferCodings: [String] {
    fields.values("Transfer-Encoding").flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.filter { !$0.isEmpty }
  }

  /// Names that mean something, or look as if they did.
  private static let registered: Set = [
    "chunked", "gzip", "x-gzip", "deflate", "compress", "x-compress", "trailers", "br", "zstd",
  ]

  var isChunked: Bool { transferCodings.contains("chunked") }

  /// Refuses every transfer coding but `chunked`, the only one that every client must know. libcurl takes `gzip`
  /// without having asked for it, and some names only when they stand alone.
  ///
  /// - Parameter passingUnknown: a single name that nobody has registered is passed on: the body goes on until the
  ///   connection ends (RFC 9112, 6.3).
  func checkTransferCoding(passingUnknown: Bool) throws(HeaderFault) {
    let codings = transferCodings
    let isMeaningless = codings.count == 1 && !Self.registered.contains(codings[0])
    guard
      codings.isEmpty || codings == ["chunked"] || codings == ["identity"] || passingUnknown && isMeaningless
    else {
      throw HeaderFault("Transfer-Encoding \(codings.joined(separator: ", ").quotedForMessage) is not known")
    }
  }
}
