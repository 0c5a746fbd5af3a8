// nuthatch.h 18: The log
// Types: nh_log.h
//
//     nh_log_set(NH_LOG_INFO, write_line, stderr);

import CNuthatch
import CSystem
import NuthatchCore

/// Sets a function of the program that gets lines of the log. The program's own threads call it: in nh_log_dispatch, and at the end of
/// nh_dispatch, nh_poll, nh_wait and the blocking calls, with all lines so far. The end of a request is logged before its event is
/// delivered. Up to 1,000 lines wait to be taken. A forked child gets the lines of its own process.
///
/// Independent of this, the environment variable NUTHATCH_LOG (error, warning, info or debug) sends the lines to standard error.
///
/// @param level      The least important level that the function gets; NH_LOG_NONE for no lines.
/// @param callback   NULL for none.
/// @param user_data  Passed to the callback. The library never follows it.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_log_set")
public func nhLogSet(
  _ level: nh_log_level, _ callback: nh_log_callback?, _ user_data: UnsafeMutableRawPointer?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let wanted = Log.Level(rawValue: Int32(bitPattern: level.rawValue))
    guard wanted != nil || level == NH_LOG_NONE else {
      throw .unknownValue("level", level.rawValue, of: "nh_log_level")
    }
    let isWanted = wanted != nil && callback != nil
    listener = isWanted ? Listener(callback: callback, userBits: UInt(bitPattern: user_data)) : Listener()
    Log.keep(isWanted ? wanted : nil)
  }
}

/// Passes the waiting lines of the log to the program's function (nh_log_set), on this thread.
///
/// @return NH_OK.
@_cdecl("nh_log_dispatch")
public func nhLogDispatch() -> nh_status {
  deliverLog()
  return NH_OK
}

/// Passes the waiting lines of the log to the program's function. Call it at the end of functions that may wait, with no lock.
func deliverLog() {
  guard Log.isKept else { return }
  let listener = listener
  guard let callback = listener.callback else { return }
  while let line = Log.take() {
    line.text.withCString {
      callback(
        nh_log_level(UInt32(line.level.rawValue)), $0, UnsafeMutableRawPointer(bitPattern: listener.userBits))
    }
  }
}

private struct Listener: Sendable {
  var callback: nh_log_callback?
  var userBits: UInt = 0
}

// Guarded by the process lock. No other thread holds this lock during a fork.
nonisolated(unsafe) private var current = Listener()

private var listener: Listener {
  get {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    return current
  }
  set {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    current = newValue
  }
}
