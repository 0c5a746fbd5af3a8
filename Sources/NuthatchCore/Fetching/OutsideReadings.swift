import NuthatchTransport

/// What the terms of a request take from outside of the request and the options: from files, from the cookie jar, from the
/// program, and from the URL, which decides whose they are. Terms that take nothing are the same each time.
///
/// Each of these needs the URL, and only `read` gives it: a source that is added later can't be read without being noted.
/// Secrets that the program has given to the outbox are in a freezable request before that (`Request.provided`), and its
/// plan needs the URL.
struct OutsideReadings {
  private let url: WebURL
  /// Whether nothing has been read. Else neither the terms nor what they led to may be given again without reading it anew.
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
