import NuthatchImaging

extension Cache {
  /// The thumbnail of a URL that fits a square box, if it can be shown at once: it is in memory, or on disk as pixels, and
  /// fresh by the cache's policy. Never uses the network and never waits.
  ///
  /// - Parameter decode: Whether to unpack a thumbnail that is packed on disk, which takes some tenths of a millisecond.
  ///   Default: false.
  /// - Returns: nil if the thumbnail would take longer, or if its answer is stale.
  /// - Throws: `bad_url`; `invalid` for a box without a size; `closed`; `forked`.
  public func peek(_ url: String, size: Int, decode: Bool = false) throws(NuthatchError) -> Image? {
    try peek(url, ThumbnailBox(size), decode: decode)
  }

  /// The thumbnail of a URL for any box, if it can be shown at once; see `peek(_:size:decode:)`.
  public func peek(_ url: String, _ box: ThumbnailBox, decode: Bool = false) throws(NuthatchError) -> Image? {
    try url.withBytes { (url) throws(NuthatchError) in try instant.picture(url, box, decode: decode) }
  }

  /// The thumbnail that `request` asks for, with its credentials, cache key and headers, if it can be shown at once. The
  /// request must have one size.
  public func peek(_ request: Request, decode: Bool = false) throws(NuthatchError) -> Image? {
    try instant.check()
    guard request.boxes.count == 1 else {
      throw NuthatchError(.invalid, "the request has \(request.boxes.count) sizes; peek takes one")
    }
    return try instant.answer(to: request, decode: decode)?.images.first
  }

  /// The answer to a GET, if it can be given at once: it is in the cache, and fresh by the cache's policy. Never uses the
  /// network and never waits.
  ///
  /// - Returns: nil if the answer would take longer, or if it is stale.
  /// - Throws: `bad_url`; `closed`; `forked`.
  public func peekResponse(_ url: String) throws(NuthatchError) -> Response? {
    try url.withBytes { (url) throws(NuthatchError) in try instant.response(url) }
  }
}
