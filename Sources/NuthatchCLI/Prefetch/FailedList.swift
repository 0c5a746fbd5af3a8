import NuthatchCore

/// The list of what failed, to be tried again: `--failed-out`.
struct FailedList {
  private let path: String
  private let isListItself: Bool
  private var draft: DraftFile?

  /// - Parameter isListItself: whether it is to take the place of the list that the run goes through.
  init(_ path: String, isListItself: Bool) throws(NuthatchError) {
    (self.path, self.isListItself) = (path, isListItself)
    draft = try DraftFile(path, isPrivate: true)
  }

  mutating func note(_ listed: ListedURL) { draft?.write(Self.line(of: listed) + "\n") }

  /// What isn't a URL, and might have a list read as another kind of list, stands there as a comment.
  private static func line(of listed: ListedURL) -> String {
    let url = listed.url
    let isHTTP = ["http://", "https://"].contains { url.prefix($0.count).lowercased() == $0 }
    let isPlain = listed.fault == nil && url == url.printable && (isHTTP || !url.contains(","))
    if isPlain, let first = url.first, !"#{\" ".contains(first) { return url }
    return "# line \(listed.line): \(url.printable)"
  }

  /// Gives it its name. A list that it takes the place of would lose what wasn't tried.
  ///
  /// - Returns: why it isn't there.
  mutating func finish(isAllTried: Bool) throws(NuthatchError) -> String? {
    if isListItself, !isAllTried {
      draft = nil
      return "\(path) stays as it was: it is the list, and not all of it was tried"
    }
    try draft?.finish()
    return nil
  }
}
