// A process that freezes requests, or sends them, until somebody kills it: `nuthatch-outboxcrash freeze DIRECTORY URL SEED FIRST`
// or `nuthatch-outboxcrash send DIRECTORY`. What it says, it has been promised: "frozen QUEUE NUMBER", "dropped NUMBER", "end"; and
// "dropping NUMBER" before it does.
// Ends with status 4 when a call fails.

import Glibc
import NuthatchCore

func say(_ text: String) { _ = text.utf8CString.withUnsafeBytes { write(1, $0.baseAddress, $0.count - 1) } }

func freezeForEver(_ path: String, _ url: String, _ seed: UInt64, _ first: Int) throws {
  var options = Cache.Options()
  options.outbox = .off
  let cache = try Cache(path: path, options: options)
  var state = seed
  for number in first..<(first + 40) {
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

func sendAll(_ path: String) throws {
  var options = Cache.Options()
  options.outboxRules.base = 5_000_000
  options.outboxRules.longest = 100_000_000
  let cache = try Cache(path: path, options: options)
  while try cache.outbox.list().contains(where: { $0.state != .done && $0.state != .dead }) { usleep(2000) }
  say("end\n")
  cache.close()
}

let arguments = CommandLine.arguments
do {
  if arguments.count == 6, arguments[1] == "freeze", let seed = UInt64(arguments[4]),
    let first = Int(arguments[5])
  {
    try freezeForEver(arguments[2], arguments[3], seed, first)
  } else if arguments.count == 3, arguments[1] == "send" {
    try sendAll(arguments[2])
  }
} catch {
  say("fault \(error)\n")
  exit(4)
}
