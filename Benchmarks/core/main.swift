// Measures the time that the core adds to a transfer, and answers from memory. Reads URLs from standard input, one a line.
//
//   fetch    fetches all URLs by Cache.submit, with an empty cache; prints the same as limit.c
//   hits     thumbnails from memory by peek, and by submit and event; bodies by submit and event. Prints ns of CPU each
//   queued N holds N requests that can't start; prints bytes each, and ns each for the first and the last tenth

import CSystem
import Glibc
import NuthatchCore

func cpuNanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func wallNanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

func residentBytes() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var (size, resident) = (0, 0)
  _ = withUnsafeMutablePointer(to: &size) { size in
    withUnsafeMutablePointer(to: &resident) { withVaList([size, $0]) { vfscanf(file, "%ld %ld", $0) } }
  }
  return resident * sysconf(Int32(_SC_PAGESIZE))
}

func readURLs() -> [String] {
  var urls: [String] = []
  while let line = readLine() { urls.append(line) }
  return urls
}

/// Ends the program with a message.
func fail(_ message: String) -> Never {
  let line = Array("\(message)\n".utf8)
  _ = write(2, line, line.count)
  exit(1)
}

/// Opens a cache in a new folder below $TMPDIR. The caller of the program removes it.
func makeCache() throws -> Cache {
  let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  var template = Array("\(parent)/nuthatch-bench-XXXXXX".utf8CString)
  guard let made = mkdtemp(&template) else { fail("no folder can be made") }
  var options = Options()
  options.memoryBytes = 1 << 30
  return try Cache(path: String(cString: made), options: options)
}

func fetch() throws {
  let urls = readURLs()
  let cache = try makeCache()
  var (failed, bytes) = (0, 0)
  let (wall, cpu) = (wallNanoseconds(), cpuNanoseconds())
  var tickets: [Ticket] = []
  for url in urls { tickets.append(try cache.submit(Request(url))) }
  for ticket in tickets {
    do { bytes += try ticket.result().bodySize } catch { failed += 1 }
  }
  let seconds = Double(wallNanoseconds() - wall) / 1e9
  print(urls.count, failed, bytes, seconds, (cpuNanoseconds() - cpu) / 1000)
  cache.close()
}

func hits() throws {
  let urls = readURLs()
  let cache = try makeCache()
  for url in urls {
    var request = Request(url)
    request.boxes = [ThumbnailBox(128)]
    _ = try cache.submit(request).final()
    // A worker reads a body of more than 256 KiB before its first delivery.
    _ = try cache.submit(Request(url)).result()
  }
  let rounds = max(1, 200_000 / urls.count)
  func measure(_ name: String, _ body: (String) throws -> Bool) throws {
    for url in urls where !(try body(url)) { fail("\(name): \(url) is not there") }
    let begin = cpuNanoseconds()
    for _ in 0..<rounds { for url in urls { _ = try body(url) } }
    print(name, (cpuNanoseconds() - begin) / (rounds * urls.count))
  }
  try measure("peek") { try cache.peek($0, size: 128) != nil }
  // URLs as bytes, as a C program has them. No string is made.
  let spelled = urls.map { Array($0.utf8) }
  var next = 0
  try measure("peek-bytes") { _ in
    next = next + 1 == spelled.count ? 0 : next + 1
    return try spelled[next].withUnsafeBytes { try cache.instant.picture($0, ThumbnailBox(128)) } != nil
  }
  try measure("event") { url in
    var request = Request(url)
    request.boxes = [ThumbnailBox(128)]
    let ticket = try cache.submit(request)
    return ticket.take()?.isInCache == true
  }
  try measure("event-two-sizes-of-one") { url in
    var request = Request(url)
    request.boxes = [ThumbnailBox(128), ThumbnailBox(128)]
    let ticket = try cache.submit(request)
    return ticket.take()?.isInCache == true
  }
  try measure("event-get") { try cache.submit(Request($0)).take()?.isInCache == true }
  cache.close()
}

/// Returns the port of a listening socket that accepts no connection, so that requests stay in the queue.
func silentPort() -> UInt16 {
  let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isBound = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(fd, $0, length) == 0 && listen(fd, 16) == 0 && getsockname(fd, $0, &length) == 0
    }
  }
  guard isBound else { fail("no socket") }
  return UInt16(bigEndian: address.sin_port)
}

func queued(_ count: Int) throws {
  let cache = try makeCache()
  let port = silentPort()
  func submit(_ number: Int) throws -> Ticket {
    var request = Request("http://127.0.0.1:\(port)/pictures/of/the/year/\(number).jpg")
    request.boxes = [ThumbnailBox(256)]
    return try cache.submit(request)
  }
  var tickets: [Ticket] = []
  tickets.reserveCapacity(count + 1000)
  // Warm up: the first touch of memory costs more, and threads start once.
  for number in 0..<1000 { tickets.append(try submit(count + number)) }
  usleep(300_000)
  let before = residentBytes()
  var times: [Int] = []
  for tenth in 0..<10 {
    let begin = cpuNanoseconds()
    for number in tenth * count / 10..<(tenth + 1) * count / 10 { tickets.append(try submit(number)) }
    // Wait until the loop has taken all of them.
    var last = -1
    while case let now = cpuNanoseconds(), now - last > 200_000 {
      last = now
      usleep(20_000)
    }
    times.append((cpuNanoseconds() - begin) * 10 / count)
  }
  print("bytes", (residentBytes() - before) / count)
  print("first", times.first ?? 0, "last", times.last ?? 0, "all", times)
  let begin = wallNanoseconds()
  cache.close()
  print("close", (wallNanoseconds() - begin) / 1_000_000)
}

switch CommandLine.arguments.dropFirst().first {
case "fetch": try fetch()
case "hits": try hits()
case "queued": try queued(CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 100_000)
default: fail("fetch, hits or queued N")
}
