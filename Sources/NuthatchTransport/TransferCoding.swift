extension ResponseHead {
  /// In lower case, in order.
  private var transferCodings: [String] {
    fields.values("Transfer-Encoding").flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.filter { !$0.isEmpty }
  }

  /// Names with a meaning, or names that look as if they had one.
  private static let registered: Set = [
    "chunked", "gzip", "x-gzip", "deflate", "compress", "x-compress", "trailers", "br", "zstd",
  ]

  var isChunked: Bool { transferCodings.contains("chunked") }

  /// Refuses every transfer coding but `chunked`, the only one that every client must support. libcurl accepts `gzip` without
  /// having offered it, and some names only if they stand alone.
  ///
  /// - Parameter passingUnknown: a single unregistered name is ignored: the body goes on until the connection is closed (RFC
  ///   9112, 6.3).
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
