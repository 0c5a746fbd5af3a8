import Glibc

/// A folder's files as answers.
struct Folder: Sendable {
  /// Where it is on disk.
  let path: String
  /// What precedes a file's name in request paths, with a slash at the end.
  let prefix: String

  private static let types = [
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
    "avif": "image/avif", "svg": "image/svg+xml", "html": "text/html; charset=utf-8",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
  ]

  private static func type(of name: String) -> String? {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    return types[name[name.index(after: dot)...].lowercased()]
  }

  func answer(_ request: ReceivedRequest) -> Script {
    let name = percentDecoded(request.path.dropFirst(prefix.count))
    if name.isEmpty { return listing(request) }
    guard !name.split(separator: "/").contains(".."), !name.contains("\0") else { return .status(403) }
    guard let file = read(name) else { return .status(404, body: "no file \(name)\n") }
    let seconds = file.modified.tv_sec
    let etag =
      "\"\(String(file.bytes.count, radix: 16))-\(String(seconds, radix: 16))-\(file.modified.tv_nsec)\""
    return Script.ok(file.bytes, type: Self.type(of: name) ?? "application/octet-stream")
      .withValidators(etag: etag, lastModified: httpDate(seconds)).withRanges()
  }

  private func listing(_ request: ReceivedRequest) -> Script {
    let origin = "http://\(request.headers["Host"] ?? "127.0.0.1")"
    return .ok(pictures().map { "\(origin)\(prefix)\(percentEncoded($0))\n" }.joined())
  }

  /// The names of all pictures, with the subfolders they are in, sorted.
  func pictures() -> [String] {
    var names: [String] = []
    collect("", into: &names)
    return names.sorted()
  }

  private func collect(_ subfolder: String, into names: inout [String]) {
    guard let folder = opendir("\(path)/\(subfolder)") else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasPrefix(".") { continue }
      var status = stat()
      guard stat("\(path)/\(subfolder)\(name)", &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        collect("\(subfolder)\(name)/", into: &names)
      } else if Self.type(of: name)?.hasPrefix("image/") == true {
        names.append(subfolder + name)
      }
    }
  }

  private func read(_ name: String) -> (bytes: [UInt8], modified: timespec)? {
    let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
      }
      guard count > 0 else { return nil }
      filled += count
    }
    return (bytes, status.st_mtim)
  }
}
