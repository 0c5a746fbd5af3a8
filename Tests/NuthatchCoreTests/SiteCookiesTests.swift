import Testing

@testable import NuthatchCore
@testable import NuthatchTransport

#if canImport(Glibc)
  import Glibc
#endif

@Suite("The file of a site's cookies") struct SiteCookiesTests {
  private static let boundless: Int64 = 600_000_000_000
  private let folder: String
  private let workers = WorkerPool(memory: 1 << 20)
  private var path: String { "\(folder)/cookies/site.txt" }

  init() throws { folder = try Bench.makeFolder() }

  private func cookies(patience: Int64) -> SiteCookies {
    SiteCookies(path: path, .system, workers, patience: patience)
  }

  private func set(_ name: String, _ cookies: SiteCookies) throws {
    var head = ResponseHead(status: 200)
    head.fields.append("Set-Cookie", "\(name)=1")
    cookies.take(head, from: try WebURL("http://a.example/"))
  }

  private func end() {
    workers.stop()
    removeTree(folder)
  }

  /// Locks the cookies, as another process does.
  private func lock() -> Int32 {
    mkdir("\(folder)/cookies", 0o700)
    let lock = open("\(folder)/cookies/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(lock, LOCK_EX) == 0)
    return lock
  }

  private func read() -> String {
    String(decoding: SmallFile.read(path) ?? [], as: UTF8.self)
  }

  @Test("cookies wait for another process's lock on their file, and keep that process's cookies")
  func locked() throws {
    defer { end() }
    let lock = lock()
    let cookies = cookies(patience: Self.boundless)
    try set("own", cookies)
    // The next request sends it all the same.
    #expect(cookies.knownHeader(for: try WebURL("http://a.example/b")) == "own=1")
    #expect(SmallFile.read(path) == nil)
    let file = open(path, O_WRONLY | O_CREAT, 0o600)
    let other = "a.example\tFALSE\t/\tFALSE\t0\tother\t1\n"
    #expect(write(file, other, other.utf8.count) == other.utf8.count)
    close(file)
    #expect(flock(lock, LOCK_UN) == 0)
    close(lock)
    cookies.settle()
    #expect(read().contains("\tother\t1") && read().contains("\town\t1"))
    let header = cookies.header(for: try WebURL("http://a.example/b"))
    #expect(header?.contains("other=1") == true)
  }

  @Test("cookies are written after a while even if another process keeps its lock")
  func kept() throws {
    defer { end() }
    let lock = lock()
    defer { close(lock) }
    // Without workers the thread that sets a cookie writes it. A worker might take longer than this patience.
    workers.stop()
    let cookies = cookies(patience: 10_000_000)
    try set("own", cookies)
    cookies.settle()
    #expect(read().contains("\town\t1"))
    try set("second", cookies)
    cookies.clear()
    #expect(!read().contains("own"))
    #expect(cookies.knownHeader(for: try WebURL("http://a.example/")) == nil)
  }

  @Test("cookies that can't be written stay, and are written into the file that another process has made")
  func unwritable() throws {
    defer { end() }
    workers.stop()
    let cookies = cookies(patience: Self.boundless)
    mkdir("\(folder)/cookies", 0o700)
    // No file can replace a directory.
    mkdir(path, 0o700)
    try set("own", cookies)
    #expect(rmdir(path) == 0)
    try set("other", self.cookies(patience: Self.boundless))
    #expect(read().contains("\tother\t1") && !read().contains("own"))
    cookies.settle()
    #expect(read().contains("\tother\t1") && read().contains("\town\t1"))
  }

  @Test("deleting cookies deletes their file")
  func clearing() throws {
    defer { end() }
    let cookies = cookies(patience: Self.boundless)
    try set("own", cookies)
    cookies.settle()
    cookies.clear()
    #expect(SmallFile.read(path) == nil)
    #expect(self.cookies(patience: 0).header(for: try WebURL("http://a.example/")) == nil)
  }

  @Test("the cookies of many answers at once are all written")
  func many() throws {
    defer { end() }
    let cookies = cookies(patience: Self.boundless)
    for number in 0..<40 { try set("c\(number)", cookies) }
    cookies.settle()
    for number in 0..<40 { #expect(read().contains("\tc\(number)\t1")) }
    let later = self.cookies(patience: Self.boundless)
    let header = try #require(later.header(for: try WebURL("http://a.example/")))
    #expect(header.split(separator: ";").count == 40)
  }
}
