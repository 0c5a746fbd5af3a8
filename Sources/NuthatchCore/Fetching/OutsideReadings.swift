import NuthatchTransport

/// Notes whether a request's terms depend on more than the request and the options: on files, on the cookie jar, on the
/// program, or on the URL, which selects values from these. Terms that depend on nothing else are the same each time.
///
/// Each of these sources needs the URL, and only `read` gives it, so none can be read unnoticed. One source is read earlier:
/// `Request.provided` adds secrets to a freezable request. Its plan reads the URL anyway, so it isn't remembered.
struct OutsideReadings {
  private let url: WebURL
  /// Whether nothing was read. Otherwise the terms and their results must be read again each time.
  private(set) var isMemorable = true

  init(_ url: WebURL) { self.url = url }

  mutating func read<Value, Failure: Error>(
    _ source: (WebURL) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    isMemorable = false
    return try source(url)
  }

  /// The URL for messages.
  var shownURL: String { url.description }
}
