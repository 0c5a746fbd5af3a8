import NuthatchCore

enum ShownURL {
  /// Returns a URL without its password, for output that others may read. A `data:` URL has none.
  static func of(_ url: String) -> String {
    url.prefix(5).lowercased() == "data:" ? url : Request(url).shownURL
  }
}
