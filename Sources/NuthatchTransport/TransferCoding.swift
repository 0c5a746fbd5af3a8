extension ResponseHead {
  /// In small letters, in order.
  private var transferCodings: [String] {
    fields.values("Transfer-Encoding").flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }.filter { !$0.isEmpty }
  }

  var isChunked: Bool { transferCodings.contains("chunked") }

  /// Refuses every transfer coding but `chunked`, the only one that every client must know. libcurl takes `gzip`
  /// without having asked for it, and some names only when they stand alone.
  func checkTransferCoding() throws(HeaderFault) {
    let codings = transferCodings
    guard codings.isEmpty || codings == ["chunked"] || codings == ["identity"] else {
      throw HeaderFault("Transfer-Encoding \(codings.joined(separator: ", ").quotedForMessage) is not known")
    }
  }
}
