// A process that freezes requests, or sends them, until somebody kills it:
//
//     nuthatch-outboxcrash freeze DIRECTORY URL SEED FIRST COUNT
//     nuthatch-outboxcrash send DIRECTORY
//     nuthatch-outboxcrash leave DIRECTORY MICROSECONDS      sends for so long, and ends without closing anything
//     nuthatch-outboxcrash collect DIRECTORY
//     nuthatch-outboxcrash link DIRECTORY       in a network of its own, whose only link is down
//
// What it says, it has been promised: "frozen QUEUE NUMBER", "dropped NUMBER", "collected ID STATUS", "end"; and "dropping NUMBER" before it does.
// Ends with status 4 when a call fails.

import Glibc
import NuthatchCore

func say(_ text: String) { _ = text.utf8CString.withUnsafeBytes { write(1, $0.baseAddress, $0.count - 1) } }

func freeze(_ path: String, _ url: String, _ seed: UInt64, _ numbers: Range<Int>) throws {
  var options = Options()
  options.outbox = .off
  let cache = try Cache(path: path, options: options)
  var state = seed
  for number in numbers {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let dice = state >> 33
    var request = Request(url + "/q\(dice % 3)")
    request.method = "POST"
    request.freezing = Request.Freezing()
    request.freezing?.queue = "q\(dice % 3)"
    request.freezing?.isDurable = dice / 3 % 4 == 0
    // Some have a file of their own.
    request.body = Array("\(number) \(String(repeating: "x", count: dice / 12 % 8 == 0 ? 70_000 : 20))".utf8)
    let event = try cache.submit(request).final()
    guard event?.kind == .frozen, let id = event?.error?.outboxID else {
      say("fault \(String(describing: event?.error))\n")
      exit(4)
    }
    say("frozen q\(dice % 3) \(number)\n")
    guard dice / 96 % 6 == 0 else { continue }
    say("dropping \(number)\n")
    if try cache.outbox.drop(id) { say("dropped \(number)\n") }
  }
  say("end\n")
}

/// A cache that doesn't wait long before it sends something again.
func sendingCache(_ path: String) throws -> Cache {
  var seams = CacheSeams()
  seams.outboxRules.base = 5_000_000
  seams.outboxRules.longest = 100_000_000
  return try Cache(path: path, options: Options(), seams: seams)
}

func sendAll(_ path: String) throws {
  let cache = try sendingCache(path)
  while try cache.outbox.list().contains(where: { $0.state != .done && $0.state != .dead }) { usleep(2000) }
  say("end\n")
  cache.close()
}

func leave(_ path: String, _ microseconds: UInt32) throws {
  try withExtendedLifetime(sendingCache(path)) {
    usleep(microseconds)
    exit(0)
  }
}

/// Sends what there is for the handler `rows`, and collects each outcome when it has come.
func collectAll(_ path: String) throws {
  let cache = try Cache(path: path)
  try cache.outbox.attach("rows")
  while try !cache.outbox.list().isEmpty, let notice = try cache.nextNotice(within: 60_000) {
    guard case .ended(let item) = notice, try cache.outbox.collect(item.id) != nil else { continue }
    say("collected \(item.id) \(item.status)\n")
  }
  cache.close()
}

/// Freezes a request while the only link is down, and says what becomes of it when that is up again.
func watchLink(_ path: String) throws {
  let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var place = sockaddr_in()
  place.sin_family = sa_family_t(AF_INET)
  place.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  withUnsafeMutablePointer(to: &place) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
      guard bind(listener, place, length) == 0, listen(listener, 8) == 0 else { exit(5) }
      getsockname(listener, place, &length)
    }
  }
  var seams = CacheSeams()
  // Nothing but the network's coming back makes it try again in time.
  seams.outboxRules.base = 3_600_000_000_000
  seams.outboxRules.longest = 3_600_000_000_000
  let cache = try Cache(path: path, options: Options(), seams: seams)
  var request = Request("http://127.0.0.1:\(UInt16(bigEndian: place.sin_port))/")
  request.method = "POST"
  request.freezable = true
  guard let id = try cache.submit(request).final()?.error?.outboxID else { exit(4) }
  say("frozen link \(id)\n")
  while try cache.outbox.item(id)?.attempts == 0 || cache.outbox.item(id)?.state != .waiting { usleep(2000) }
  say("waits \(try cache.outbox.item(id)?.wait ?? 0 > 1000)\n")
  say("up\n")
  // Whoever started it raises the link now. The answer is that of a server that has read the head.
  let connection = accept(listener, nil, nil)
  var bytes = [UInt8](repeating: 0, count: 4096)
  _ = read(connection, &bytes, bytes.count)
  _ = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8CString.withUnsafeBytes {
    write(connection, $0.baseAddress, $0.count - 1)
  }
  while try cache.outbox.item(id)?.state != .done { usleep(2000) }
  say("done\n")
  cache.close()
}

/// What the arguments say.
func run(_ arguments: [String]) throws {
  if arguments.count == 6, arguments[0] == "freeze", let seed = UInt64(arguments[3]),
    let first = Int(arguments[4]), let count = Int(arguments[5])
  {
    try freeze(arguments[1], arguments[2], seed, first..<(first + count))
  } else if arguments.count == 2, arguments[0] == "link" {
    try watchLink(arguments[1])
  } else if arguments.count == 2, arguments[0] == "send" {
    try sendAll(arguments[1])
  } else if arguments.count == 3, arguments[0] == "leave", let time = UInt32(arguments[2]) {
    try leave(arguments[1], time)
  } else if arguments.count == 2, arguments[0] == "collect" {
    try collectAll(arguments[1])
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count > 2, arguments[0] == "at", let count = Int(arguments[1]) {
  killAtCall(count) { try run(Array(arguments.dropFirst(2))) }
} else {
  do {
    try run(arguments)
  } catch {
    say("fault \(error)\n")
    exit(4)
  }
}
