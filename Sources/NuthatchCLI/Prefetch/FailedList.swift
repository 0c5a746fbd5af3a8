import NuthatchCore

/// The list of the URLs that failed, which can be the input of the next run: `--failed-out`.
struct FailedList {
  private let path: String
  private let isListItself: Bool
  private var draft: DraftFile?

  /// - Parameter isListItself: whether the file replaces the list that the run reads.
  init(_ path: String, isListItself: Bool) throws(NuthatchError) {
    (self.path, self.isListItself) = (path, isListItself)
    draft = try DraftFile(path, isPrivate: true)
  }

  mutating func note(_ listed: ListedURL) { draft?.write(Self.line(of: listed) + "\n") }

  /// Returns the URL, or a comment for a text that isn't a URL: such a text could have the file read as another kind of list.
  private static func line(of listed: ListedURL) -> String {
    let url = listed.url
    let isHTTP = ["http://", "https://"].contains { url.prefix($0.count).lowercased() == $0 }
    let isPlain =
      listed.fault == nil && url == url.printable && (isHTTP || !url.contains { ",;".contains($0) })
    if isPlain, let first = url.first, !"#{[\" ".contains(first) { return url }
    return "# line \(listed.line): \(url.printable)"
  }

  /// Makes the file appear. If it would replace the list and not all URLs were tried, the list stays: it would lose those URLs.
  ///
  /// - Returns: the reason if the file wasn't written, or nil.
  mutating func finish(isAllTried: Bool) throws(NuthatchError) -> String? {
    if isListItself, !isAllTried {
      draft = nil
      return "\(path) stays as it was: it is the list, and not all of it was tried"
    }
    try draft?.finish()
    return nil
  }
}
