import Dispatch
import Testing
import TestServer

@testable import NuthatchCore

#if canImport(Glibc)
  import Glibc
#endif

/// Whether the library runs under a sanitizer, where a test takes ten times as long. Tests of many like cases run some of them there.
let isSanitized = dlsym(nil, "__asan_init") != nil || isThreadSanitized
let isThreadSanitized = dlsym(nil, "__tsan_init") != nil

/// A cache in a folder of its own that goes with it, and a server to fetch from.
final class Bench {
  let server: TestServer
  let cache: Cache
  let folder: String

  /// All tests of the process share its queue. An automatic number of places would shrink on a slow machine, and two tests that
  /// hold six requests each would wait for each other's places.
  static let fixedPlaces: Void = {
    var options = Options()
    options.concurrency = 256
    try? ProcessQueue.set(options)
  }()

  init(_ change: (inout TestOptions) -> Void = { _ in }) throws {
    Bench.fixedPlaces
    var options = TestOptions()
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

extension Bench {
  /// Waits until so many requests have joined the fetch of another: `submit` only says that they will.
  func waitUntilJoined(_ count: Int) {
    for _ in 0..<30_000 where cache.statistics.joined < count { usleep(1000) }
    #expect(cache.statistics.joined == count)
  }

  /// The thumbnail that holds now.
  func thumbnail(_ path: String, _ size: Int, _ change: (inout Request) -> Void = { _ in }) throws -> Image {
    var request = Request(server.url(path))
    change(&request)
    return try cache.thumbnail(request, ImageOptions(ThumbnailBox(size)))
  }
}

/// Whether any file in a folder, or below it, holds a text.
func contains(_ text: String, in path: String) throws -> Bool {
  for inner in names(in: path) {
    if let bytes = FileBytes("\(path)/\(inner)") {
      if bytes.contains(text) { return true }
    } else if try contains(text, in: "\(path)/\(inner)") {
      return true
    }
  }
  return false
}

/// A file's bytes; nil for what isn't a file.
struct FileBytes {
  private var bytes: [UInt8] = []

  init?(_ path: String) {
    let fd = open(path, O_RDONLY)
    guard fd >= 0 else { return nil }
    defer { close(fd) }
    var status = stat()
    guard fstat(fd, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(fd, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
  }

  func contains(_ text: String) -> Bool {
    let wanted = Array(text.utf8)
    guard let first = wanted.first else { return true }
    return bytes.withUnsafeBytes { all in
      guard var place = all.baseAddress else { return false }
      let end = place + all.count
      // Packs have megabytes of zeros, which would take long one by one.
      while let found = memchr(place, Int32(first), place.distance(to: end)) {
        guard UnsafeRawPointer(found).distance(to: end) >= wanted.count else { return false }
        if memcmp(found, wanted, wanted.count) == 0 { return true }
        place = UnsafeRawPointer(found) + 1
      }
      return false
    }
  }
}

/// The names in a folder; none when it is no folder.
func names(in path: String) -> [String] {
  guard let folder = opendir(path) else { return [] }
  defer { closedir(folder) }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names
}

/// Removes a folder with everything in it.
func removeTree(_ path: String) {
  for name in names(in: path) where unlink("\(path)/\(name)") != 0 { removeTree("\(path)/\(name)") }
  rmdir(path)
}

extension Cache {
  /// Waits until the loop has done what was there for it to do: what the network has brought, and what followed from it.
  func waitForLoop() throws {
    for _ in 0..<12 {
      let isBack = DispatchSemaphore(value: 0)
      #expect(shared.runtime.loop.post { isBack.signal() })
      try #require(isBack.wait(timeout: .now() + 60) == .success)
    }
  }
}
