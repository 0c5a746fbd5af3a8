import Glibc
import NuthatchImaging
import NuthatchTransport

/// A request that needs no server: for the bytes in a `data:` URL, or for a file of this machine.
struct LocalRequest: Sendable {
  enum Source: Sendable {
    case data(String)
    case file(path: String)
  }

  let source: Source
  /// The URL for messages. Of a `data:` URL only the beginning.
  let shownURL: String
  let recipes: [Recipe]
  let maxBytes: Int64
  let limits: ImageLimits
  let priority: Int

  /// Returns nil for all other URLs.
  ///
  /// - Throws: `denied` for a file if the options allow none; `bad_url`; `invalid`.
  init?(_ request: Request, _ options: Options) throws(NuthatchError) {
    // Nearly all other URLs return here.
    guard let first = request.url.utf8.first, "dDfF".utf8.contains(first) else { return nil }
    shownURL = WebURL.redacted(request.url).printable
    if DataURL.isDataURL(request.url) {
      source = .data(request.url)
    } else if let path = try Self.path(request.url, shownURL) {
      guard options.allowFiles else {
        throw NuthatchError(.denied, "file: URLs need the option allow_files: \(shownURL)")
      }
      source = .file(path: path)
    } else {
      return nil
    }
    try request.check()
    guard request.method == "GET" else {
      throw NuthatchError(
        .invalid,
        "data: and file: URLs support only GET, not \(request.method.quotedForMessage): \(shownURL)")
    }
    do { _ = try HeaderFields(checking: request.headers) } catch {
      throw NuthatchError(.badHeader, "\(error.reason): \(shownURL)")
    }
    try request.options.check(.request)
    let merged = request.options.over(options)
    maxBytes = merged.maxBytes ?? Options.Standard.maxBytes
    limits = ImageLimits(merged)
    priority = min(max(request.priority, Priority.least), Priority.most)
    recipes = try RequestTerms.recipes(request, shownURL)
  }

  /// Returns the path of a `file:` URL. Nil for other URLs.
  private static func path(_ url: String, _ shown: String) throws(NuthatchError) -> String? {
    let scheme = "file:"
    guard url.utf8.count >= scheme.utf8.count, url.prefix(scheme.count).lowercased() == scheme else {
      return nil
    }
    do throws(URLFault) { try WebURL.checkLength(url.utf8) } catch {
      throw NuthatchError(error, url: url)
    }
    var rest = Array(url.utf8.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "#") })
    // A file URL has no query. A question mark in a file name must be written as %3F.
    guard !rest.contains(where: { $0 < 0x21 || $0 == 0x7f || $0 == UInt8(ascii: "?") }) else {
      throw NuthatchError(
        .badURL, "a file: URL has a space, a control character or a query (write '?' as %3F): \(shown)")
    }
    for host in ["//localhost/", "///"] where rest.starts(with: host.utf8) {
      rest.removeFirst(host.utf8.count - 1)
      break
    }
    let decoded = PercentCoding.decode(rest)
    guard decoded.first == UInt8(ascii: "/"), !decoded.starts(with: "//".utf8), !decoded.contains(0),
      let path = String(validating: decoded, as: UTF8.self)
    else {
      throw NuthatchError(.badURL, "a file: URL must name a file of this machine (file:///path): \(shown)")
    }
    return path
  }
}

// MARK: - Reading

extension LocalRequest {
  /// Returns the bytes and their media type. May wait for the disk.
  func read(_ inFlight: ReceiveBudget, _ folder: String) throws(NuthatchError) -> (
    body: ByteBuffer, type: String?
  ) {
    switch source {
    case .data(let url):
      let data: DataURL
      do { data = try DataURL(url, maxBytes: maxBytes) } catch {
        throw NuthatchError(ErrorCode(error.kind), "\(error.message): \(shownURL)")
      }
      let body = ByteBuffer(inFlight, else: folder)
      try check(data.bytes.withUnsafeBytes { body.append($0) })
      return (body, data.mediaType)
    case .file(let path):
      return (try contents(of: path, ByteBuffer(inFlight, else: folder)), nil)
    }
  }

  private func contents(of path: String, _ body: ByteBuffer) throws(NuthatchError) -> ByteBuffer {
    var status = stat()
    // Check the kind before opening, because opening a device or a pipe may have an effect.
    guard stat(path, &status) == 0 else { throw fault(errno, "can't be read") }
    try checkKind(status)
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw fault(errno, "can't be read") }
    defer { close(file) }
    guard fstat(file, &status) == 0 else { throw fault(errno, "can't be read") }
    try checkKind(status)
    body.reserve(announced: Int64(status.st_size))
    var piece = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = piece.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw fault(errno, "can't be read") }
      if count == 0 { return body }
      guard Int64(body.count) + Int64(count) <= maxBytes else { throw tooLarge }
      try check(piece.withUnsafeBytes { body.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) })
    }
  }

  private func checkKind(_ status: stat) throws(NuthatchError) {
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw NuthatchError(.denied, "not a regular file (a folder, a device or a pipe): \(shownURL)")
    }
    guard Int64(status.st_size) <= maxBytes else { throw tooLarge }
  }

  private var tooLarge: NuthatchError {
    NuthatchError(.tooLarge, "the file is larger than max_bytes (\(maxBytes)): \(shownURL)")
  }

  private func check(_ appended: Int32) throws(NuthatchError) {
    guard appended != 0 else { return }
    let code: ErrorCode = appended == ENOMEM ? .outOfMemory : appended == ENOSPC ? .noSpace : .io
    throw NuthatchError(
      code,
      "the bytes don't fit into memory or on the disk (\(String(cString: strerror(appended)))): \(shownURL)")
  }

  private func fault(_ number: Int32, _ what: String) -> NuthatchError {
    let code: ErrorCode = number == EACCES || number == EPERM ? .denied : .io
    return NuthatchError(code, "\(what) (\(String(cString: strerror(number)))): \(shownURL)")
  }
}
