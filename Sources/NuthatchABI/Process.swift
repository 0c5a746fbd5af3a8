// nuthatch.h 18: The process

import CNuthatch
import NuthatchCore

/// Sets how many requests run at once, for every cache of the process, now and later. What runs already runs on. What is not
/// given is as it was at the start.
///
/// @param options  NULL for what it was at the start.
/// @return NH_OK; NH_INVALID for numbers that make no sense; then nothing changes.
@_cdecl("nh_queue_set")
public func nhQueueSet(_ options: UnsafePointer<nh_queue_options>?) -> nh_status {
  answering { () throws(NuthatchError) in
    var wanted = QueueOptions()
    if let options {
      let given = try readSized(options, zero: nh_queue_options(), "options")
      guard given.reserved == 0 else { throw NuthatchError(.invalid, "options.reserved is not 0") }
      if given.concurrency != 0 { wanted.concurrency = Int(given.concurrency) }
      wanted.perHostGrows = given.per_host == -1
      if given.per_host != 0, !wanted.perHostGrows { wanted.perHost = Int(given.per_host) }
      if given.rate != 0 { wanted.rate = given.rate }
      if given.inflight_bytes != 0 { wanted.inFlightBytes = Int(max(0, given.inflight_bytes)) }
    }
    try wanted.apply()
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
