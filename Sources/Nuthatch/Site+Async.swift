import NuthatchCore

extension Site {
  /// Gets a URL, absolute or relative to the base URL, as `Cache.get` does.
  public func get(_ reference: String) async throws(NuthatchError) -> Response {
    try await cache.response(for: request(reference))
  }

  /// Returns a thumbnail of a picture of the site, like `Cache.thumbnail`.
  public func thumbnail(_ reference: String, size: Int) async throws(NuthatchError) -> Image {
    try await cache.thumbnail(request(reference), ThumbnailBox(size))
  }
}
