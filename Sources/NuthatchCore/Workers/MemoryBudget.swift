import CSystem
import NuthatchImaging
import NuthatchStore

/// How this process shares out what memory there is: the machine's, or what its control groups allow.
///
/// In a group of 64 MiB bodies have 8, small decodes 8, large ones 8 together. One large decode that runs alone may take
/// 32, if they are free then: half of the group, and no more, so that the same picture has the same verdict every time.
struct MemoryBudget: Sendable {
  /// The smallest limit of the process's control groups; nil where none is below what the machine has.
  let group: Int?
  /// How many workers there may be.
  let threads: Int
  /// What bodies that are being received may hold.
  let inFlight: Int
  /// What one decode may hold without waiting for its turn.
  let mostWithoutTurn: Int
  /// What decodes that wait for their turn may hold together.
  let decodes: Int
  /// What a decode may hold on a machine that has enough.
  let most: Int

  /// This process's.
  static let own = MemoryBudget(MemoryGauge(), processors: WorkerPool.processors)

  private static let eachWithoutTurn = 4 << 20
  /// What decodes need to be done at all.
  private static let leastForDecodes = 16 << 20

  init(_ gauge: MemoryGauge, processors: Int) {
    self.init(machine: gauge.machine, group: gauge.groupLimit, processors: processors)
  }

  init(machine: Int?, group: Int?, processors: Int) {
    let machine = machine ?? Int.max
    let all = min(256 << 20, machine / 8)
    most = max(Self.leastForDecodes, all - processors * Self.eachWithoutTurn)
    guard let group, group < machine else {
      self.group = nil
      threads = processors
      inFlight = min(64 << 20, machine / 8)
      mostWithoutTurn = Self.eachWithoutTurn
      decodes = most
      return
    }
    self.group = group
    // Each has a stack and an arena of the allocator.
    threads = min(processors, max(2, group / (16 << 20)))
    inFlight = min(64 << 20, group / 8)
    mostWithoutTurn = min(Self.eachWithoutTurn, group / 8 / threads)
    // A quarter, because a group holds little else than this process.
    decodes = max(min(Self.leastForDecodes, group / 8), min(most, group / 4 - threads * mostWithoutTurn))
  }

  /// For tests: no group, and so much for decodes.
  init(threads: Int, decodes: Int) {
    group = nil
    self.threads = threads
    inFlight = 64 << 20
    mostWithoutTurn = Self.eachWithoutTurn
    self.decodes = decodes
    most = decodes
  }

  /// What one decode may hold now, when no other large one runs.
  ///
  /// - Parameter promised: what bodies may still take.
  func roomForOne(_ gauge: MemoryGauge, promised: Int) -> Int {
    guard let group, let room = gauge.groupRoom else { return decodes }
    // Small decodes go on on the other threads. An eighth is for what nobody counts: stacks, buffers of the network, pages
    // of the program itself.
    let rest = room - promised - (threads - 1) * mostWithoutTurn - group / 8
    return max(mostWithoutTurn, min(most, group / 2, rest))
  }

  /// What a decode may cost that may hold so much.
  func limit(_ limits: inout ImageLimits, to most: Int) {
    limits.memory = most
    limits.groupMemory = group
  }

  /// The same for a decode on a thread of the caller's, beside whatever else runs.
  func limitHere(_ limits: inout ImageLimits, for body: UnsafeRawBufferPointer, _ box: ThumbnailBox) {
    guard group != nil, case .found(let info) = ImageProbe.probe(body),
      // An estimate that can't be had is the decoder's to explain.
      let need = try? Thumbnailer.memoryNeed(info, boxes: [box]), need > mostWithoutTurn
    else { return }
    var room = roomForOne(MemoryGauge(), promised: inFlight)
    if need > room {
      // The allocator may hold what an earlier one has freed.
      nhs_trim_allocator()
      room = roomForOne(MemoryGauge(), promised: inFlight)
    }
    limit(&limits, to: min(limits.memory, room))
  }
}

/// For programs that have a process to themselves.
package enum FreedMemory {
  /// Has the allocator keep what is freed, as far as there is memory for it.
  package static func keep() { nhs_keep_freed_memory(Int64(MemoryBudget.own.group ?? .max)) }
}
