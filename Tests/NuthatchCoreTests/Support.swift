import NuthatchCore
import Testing
import TestServer

#if canImport(Glibc)
  import Glibc
#endif

/// A cache in a folder of its own that goes with it, and a server to fetch from.
final class Bench {
  let server: TestServer
  let cache: Cache
  let folder: String

  init(_ change: (inout Cache.Options) -> Void = { _ in }) throws {
    var options = Cache.Options()
    // What fails fails at once, unless a test is about attempts.
    options.retries = 0
    change(&options)
    server = try TestServer.start()
    folder = try Bench.makeFolder()
    cache = try Cache(path: folder, options: options)
  }

  deinit {
    cache.close()
    server.stop()
    removeTree(folder)
  }

  static func makeFolder() throws -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/nuthatch-test-XXXXXX".utf8CString)
    return String(cString: try #require(mkdtemp(&template)))
  }

  func get(_ path: String, _ change: (inout Request) -> Void = { _ in }) throws -> Response {
    var request = Request(server.url(path))
    change(&request)
    return try cache.submit(request).result()
  }

  /// The error of a fetch that must fail.
  func failure(_ path: String, _ change: (inout Request) -> Void = { _ in }) throws -> NuthatchError {
    try #require(throws: NuthatchError.self) { try get(path, change) }
  }
}

extension Response {
  var text: String { withBody { String(decoding: $0, as: UTF8.self) } }
}

/// Removes a folder with everything in it.
func removeTree(_ path: String) {
  if let folder = opendir(path) {
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name != ".", name != ".." else { continue }
      let inner = "\(path)/\(name)"
      if unlink(inner) != 0 { removeTree(inner) }
    }
    closedir(folder)
  }
  rmdir(path)
}
