// nuthatch.h 17: The process
// Types: nh_process.h
//
//     nh_queue_set(NH_OPTIONS(.concurrency = 8, .per_host = 2, .rate = 10));

import CNuthatch
import NuthatchCore

/// Sets how many requests run at once, for every cache of the process, now and later. What runs already runs on. Each call says
/// all of it anew: what it doesn't say is as it was at the start, whatever an earlier call said. Nothing reads it back.
///
/// @param options  Those of the process; NULL for what it was at the start.
/// @return NH_OK; NH_INVALID, also for an option that isn't one of the process; then nothing changes.
@_cdecl("nh_queue_set")
public func nhQueueSet(_ options: UnsafePointer<nh_options>?) -> nh_status {
  answering { () throws(NuthatchError) in
    try ProcessQueue.set(try Options(try read(options, for: .process)))
  }
}

/// Makes every cache of this process give up memory: for programs that hear of shortage from somewhere. The library listens
/// to what the kernel says by itself; what comes by a supervisor's pipe or socket ($MEMORY_PRESSURE_WATCH), the program reads.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_memory_pressure")
public func nhMemoryPressure(_ level: nh_pressure) -> nh_status {
  answering { () throws(NuthatchError) in
    Cache.relieveMemory(
      try chosen(level, "level", among: [NH_PRESSURE_WARNING: .warning, NH_PRESSURE_CRITICAL: .critical]))
  }
}
