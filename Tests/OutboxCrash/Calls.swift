// A process that is killed at any of its system calls, of whatever thread and kind:
//
//     nuthatch-outboxcrash at COUNT freeze|send …
//
// Says "killed NUMBER", the call's, or "calls COUNT" when there were no more. Status 5: this machine doesn't allow it.

import Glibc

private enum Request {
  static let traceMe = 0
  static let call = 24
  static let options = 0x4200
  static let callInfo = 0x420e
}

/// Swift hides it because it takes what it is given.
private func trace(_ request: Int, _ process: pid_t, _ address: Int = 0, _ data: Int = 0) -> Int {
  typealias Trace = @convention(c) (Int, pid_t, Int, Int) -> Int
  guard let symbol = dlsym(nil, "ptrace") else { exit(5) }
  return unsafeBitCast(symbol, to: Trace.self)(request, process, address, data)
}

/// Swift hides it because of what threads and it do to each other; there is only one here.
private func forked() -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  guard let symbol = dlsym(nil, "fork") else { exit(5) }
  return unsafeBitCast(symbol, to: Fork.self)()
}

/// The number of the system call that a thread is about to make; nil when it has stopped for another reason, or behind one.
private func beginningCall(of thread: pid_t) -> UInt64? {
  // What kind of stop (1), padding (3), architecture (4), instruction and stack (16), the call's number (8).
  var info = [UInt64](repeating: 0, count: 16)
  let count = info.withUnsafeMutableBytes { bytes in
    trace(Request.callInfo, thread, bytes.count, bytes.baseAddress.map { Int(bitPattern: $0) } ?? 0)
  }
  return count >= 32 && info[0] & 0xFF == 1 ? info[3] : nil
}

/// Runs the body in a process that is killed before its `count`th system call.
func killAtCall(_ count: Int, _ body: () throws -> Void) {
  let child = forked()
  if child == 0 {
    guard trace(Request.traceMe, 0) == 0 else { _exit(5) }
    raise(SIGSTOP)
    do { try body() } catch {
      say("fault \(error)\n")
      _exit(4)
    }
    _exit(0)
  }
  var status: Int32 = 0
  guard waitpid(child, &status, 0) == child, status & 0xFF == 0x7F else { exit(5) }
  // Its threads, too; it ends with this one; stops at calls are told from others.
  guard trace(Request.options, child, 0, 0x10_0000 | 8 | 1) == 0, trace(Request.call, child) == 0 else {
    kill(child, SIGKILL)
    exit(5)
  }
  var calls = 0
  while true {
    let allThreads: Int32 = 0x4000_0000
    let thread = waitpid(-1, &status, allThreads)
    guard thread > 0 else { return say("calls \(calls)\n") }
    guard status & 0xFF == 0x7F else {
      guard thread == child else { continue }
      if status & 0x7F == 0, status >> 8 & 0xFF != 0 { exit(status >> 8 & 0xFF) }
      return say("calls \(calls)\n")
    }
    let signal = status >> 8 & 0xFF
    if signal == SIGTRAP | 0x80, let number = beginningCall(of: thread) {
      calls += 1
      if calls == count {
        kill(child, SIGKILL)
        while waitpid(-1, &status, allThreads) > 0 {}
        return say("killed \(number)\n")
      }
    }
    // New threads begin with a stop, and clones are told of; neither is a signal of its own.
    let isOwn = signal & 0x7F == SIGTRAP || signal == SIGSTOP
    _ = trace(Request.call, thread, 0, isOwn ? 0 : Int(signal))
  }
}
