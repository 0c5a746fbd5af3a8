// nuthatch.h 18: The log
// Types: nh_log.h
//
//     nh_log_set(NH_LOG_INFO, write_line, stderr);

import CNuthatch
import CSystem
import NuthatchCore

/// Says which lines of the log a function of the program's is to get. It is called by the program's own threads: by
/// nh_log_dispatch, and at the end of nh_dispatch, nh_poll, nh_wait and the blocking calls, for what was noted until then: a
/// request's end is noted before it is told of. Of lines that nobody takes 1,000 are kept. A forked child is told of what
/// happens in it.
///
/// Independent of this, the lines go to standard error when the environment variable NUTHATCH_LOG is error, warning, info or
/// debug.
///
/// @param level      Lines that matter as much or more; NH_LOG_NONE for none.
/// @param callback   NULL for none.
/// @param user_data  Handed to the callback. The library never follows it.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_log_set")
public func nhLogSet(
  _ level: nh_log_level, _ callback: nh_log_callback?, _ user_data: UnsafeMutableRawPointer?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let wanted = Log.Level(rawValue: Int32(bitPattern: level.rawValue))
    guard wanted != nil || level == NH_LOG_NONE else {
      throw NuthatchError(.invalid, "level is no nh_log_level")
    }
    let isWanted = wanted != nil && callback != nil
    listener = isWanted ? Listener(callback: callback, userBits: UInt(bitPattern: user_data)) : Listener()
    Log.keep(isWanted ? wanted : nil)
  }
}

/// Hands the lines of the log that are there to the program's function (nh_log_set), on this thread.
///
/// @return NH_OK.
@_cdecl("nh_log_dispatch")
public func nhLogDispatch() -> nh_status {
  deliverLog()
  return NH_OK
}

/// To be called at the end of functions that may take their time, holding no lock.
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

// Guarded by the process lock, which no other thread holds while the process is forked.
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
