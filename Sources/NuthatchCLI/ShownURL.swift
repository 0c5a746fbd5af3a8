import NuthatchCore

enum ShownURL {
  /// A URL for what others may read: without a password, which no `data:` URL has.
  static func of(_ url: String) -> String {
    url.prefix(5).lowercased() == "data:" ? url : Request(url).shownURL
  }
}
