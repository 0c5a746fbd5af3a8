// nuthatch.h 17: The process
// Types: nh_process.h
//
//     nh_queue_set(NH_OPTIONS(.concurrency = 8, .per_host = 2, .rate = 10));

import CNuthatch
import NuthatchCore

/// Sets how many requests run at once, for all caches of the process, now and later. Running requests aren't affected. Each call sets all
/// of these options: an option that isn't set gets its initial value, even if an earlier call has set it. The values can't be read back.
///
/// @param options  Options of the process; NULL restores the initial values.
/// @return NH_OK; NH_INVALID, also for an option of another level; then nothing changes.
@_cdecl("nh_queue_set")
public func nhQueueSet(_ options: UnsafePointer<nh_options>?) -> nh_status {
  answering { () throws(NuthatchError) in
    try ProcessQueue.set(try Options(try read(options, for: .process)))
  }
}

/// Frees memory of all caches of this process: for programs that are notified of a memory shortage. The library itself listens to the
/// kernel's notifications; a supervisor's pipe or socket ($MEMORY_PRESSURE_WATCH) is read by the program.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_memory_pressure")
public func nhMemoryPressure(_ level: nh_pressure) -> nh_status {
  answering { () throws(NuthatchError) in
    Cache.relieveMemory(
      try chosen(level, "level", among: [NH_PRESSURE_WARNING: .warning, NH_PRESSURE_CRITICAL: .critical]))
  }
}
