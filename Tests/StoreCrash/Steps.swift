// A process that is killed after a number of its instructions: `nuthatch-storecrash steps DIRECTORY WHAT COUNT`.

import Glibc
import NuthatchStore

/// What one process does while another one counts.
private func follow(_ path: String, _ what: String) throws {
  let store = try Store.open(path, .init(diskBytes: 1 << 30))
  func filler(_ number: UInt64) -> [UInt8] { [UInt8](repeating: 9, count: number % 50 < 34 ? 60_000 : 8000) }
  // Beyond the first two mebibytes of a pack, so that the next records are written through memory.
  for number in 0..<42 as Range<UInt64> { try store.commit(recordKey(1000 + number * 3), filler(number)) }
  for number in 1..<6 as Range<UInt64> {
    try store.commit(recordKey(number * 3 + 1), small(number * 3 + 1, 1))
  }
  // So much that the next record needs another piece.
  if what == "piece" {
    for number in 50..<90 as Range<UInt64> {
      try store.commit(recordKey(2002 + number * 3), filler(number))
    }
  }
  let (old, new) = (recordKey(4), recordKey(301))
  let (second, first) = (small(4, 2), what == "piece" ? filler(40) : small(301, 1))
  raise(SIGSTOP)
  switch what {
  case "remove": try store.remove(old)
  case "replace": try store.commit(old, second)
  default: try store.commit(new, first)
  }
  raise(SIGSTOP)
  _exit(0)
}

/// A payload of which a few thousand instructions are enough.
private func small(_ key: UInt64, _ version: UInt64) -> [UInt8] {
  var words = [key, version]
  for number in 0..<100 as Range<UInt64> { words.append(key &* 77 &+ version &* 1001 &+ number) }
  return words.withUnsafeBytes { Array($0) }
}

private enum Request {
  static let traceMe = 0
  static let go = 7
  static let step = 9
  static let options = 0x4200
}

/// Swift hides it because it takes what it is given.
private func trace(_ request: Int, _ process: pid_t, _ data: Int = 0) -> Int {
  typealias Trace = @convention(c) (Int, pid_t, Int, Int) -> Int
  guard let symbol = dlsym(nil, "ptrace") else { exit(4) }
  return unsafeBitCast(symbol, to: Trace.self)(request, process, 0, data)
}

/// Waits for the next stop, and says by which signal; nil when the process has ended.
private func stop(_ process: pid_t) -> Int32? {
  var status: Int32 = 0
  guard waitpid(process, &status, 0) == process, status & 0xFF == 0x7F else { return nil }
  return status >> 8 & 0xFF
}

/// Kills a process `count` instructions after it began to do something, and says `killed`; or says `count N` when it was
/// done before. Status 5: this machine doesn't allow it.
func killAfterSteps(_ path: String, _ what: String, _ count: Int) throws {
  let child = forked()
  if child == 0 {
    guard trace(Request.traceMe, 0) == 0 else { _exit(5) }
    raise(SIGSTOP)
    try follow(path, what)
  }
  guard stop(child) == SIGSTOP else { exit(5) }
  // Ends with this one.
  _ = trace(Request.options, child, 0x10_0000)
  guard trace(Request.go, child) == 0, stop(child) == SIGSTOP else {
    say("fault before the first step\n")
    exit(4)
  }
  for number in 0..<count {
    guard trace(Request.step, child) == 0 else { exit(5) }
    let signal = stop(child)
    if signal == SIGSTOP {
      say("count \(number)\n")
      return
    }
    guard signal == SIGTRAP else {
      say("fault \(signal ?? -1) at \(number)\n")
      exit(4)
    }
  }
  kill(child, SIGKILL)
  var status: Int32 = 0
  waitpid(child, &status, 0)
  say("killed\n")
}
