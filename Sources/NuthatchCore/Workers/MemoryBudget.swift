import CSystem
import NuthatchImaging
import NuthatchStore

/// How this process divides its memory. The memory is the machine's, or the limit of the process's control groups.
///
/// Example: in a control group of 64 MiB, bodies may hold 8 MiB, small decodes 8 MiB, large decodes 8 MiB together. A large
/// decode that runs alone may hold 32 MiB if so much is free. That is half of the group. More is never allowed, even if it is
/// free, so that the same picture gives the same result every time.
struct MemoryBudget: Sendable {
  /// The smallest limit of the process's control groups, in bytes. Nil: no limit is below the machine's memory.
  let group: Int?
  /// The largest number of workers.
  let threads: Int
  /// The most bytes that bodies under way may hold.
  let inFlight: Int
  /// The most bytes that one small decode may hold. Small decodes don't wait for memory.
  let mostWithoutTurn: Int
  /// The most bytes that large decodes may hold together. They wait until so much is free.
  let decodes: Int
  /// The most bytes that one decode may hold if the machine has enough memory.
  let most: Int

  /// The budget of this process.
  static let own = MemoryBudget(MemoryGauge(), processors: WorkerPool.processors)

  private static let eachWithoutTurn = 4 << 20
  /// Decodes get at least this much, so that they work at all. In a control group of less than 128 MiB they get at least an
  /// eighth of it.
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
    // Each thread needs memory for its stack and for an arena of the allocator.
    threads = min(processors, max(2, group / (16 << 20)))
    inFlight = min(64 << 20, group / 8)
    mostWithoutTurn = min(Self.eachWithoutTurn, group / 8 / threads)
    // The limit is a quarter of the group, but an eighth of a machine, because a control group holds little else than this
    // process.
    decodes = max(min(Self.leastForDecodes, group / 8), min(most, group / 4 - threads * mostWithoutTurn))
  }

  /// The most bytes that the decoder process may hold for pictures. Twice what decodes here may hold, because a drawing's need isn't
  /// known before it is drawn. The other half of a control group is left to this process.
  var decoderProcess: Int {
    let twice = 2 * (most + threads * mostWithoutTurn)
    return group.map { max(64 << 20, min(twice, $0 / 2)) } ?? twice
  }

  /// For tests: no control group, and `decodes` bytes for decodes.
  init(threads: Int, decodes: Int) {
    group = nil
    self.threads = threads
    inFlight = 64 << 20
    mostWithoutTurn = Self.eachWithoutTurn
    self.decodes = decodes
    most = decodes
  }

  /// Returns the bytes that one decode may hold now, if no other large decode runs.
  ///
  /// - Parameter promised: the bytes that bodies may still take.
  func roomForOne(_ gauge: MemoryGauge, promised: Int) -> Int {
    guard let group, let room = gauge.groupRoom else { return decodes }
    // Small decodes continue on the other threads. An eighth of the group is for memory that isn't counted: stacks, network
    // buffers, the program's own pages.
    let rest = room - promised - (threads - 1) * mostWithoutTurn - group / 8
    return max(mostWithoutTurn, min(most, group / 2, rest))
  }

  /// Sets the memory limit of a decode.
  func limit(_ limits: inout ImageLimits, to most: Int) {
    limits.memory = most
    limits.groupMemory = group
  }

  /// Sets the memory limit of a decode on the caller's thread. Other decodes may run at the same time.
  func limitHere(_ limits: inout ImageLimits, for body: UnsafeRawBufferPointer, _ box: ThumbnailBox) {
    guard group != nil, case .found(let info) = ImageProbe.probe(body),
      // If there is no estimate, the decoder reports why.
      let need = try? Thumbnailer.memoryNeed(info, boxes: [box]), need > mostWithoutTurn
    else { return }
    var room = roomForOne(MemoryGauge(), promised: inFlight)
    if need > room {
      // The allocator may still hold memory that an earlier decode has freed.
      nhs_trim_allocator()
      room = roomForOne(MemoryGauge(), promised: inFlight)
    }
    limit(&limits, to: min(limits.memory, room))
  }
}

/// For programs whose whole process is Nuthatch's, such as the command.
package enum FreedMemory {
  /// Makes the allocator keep freed memory, as far as the process has enough memory for that.
  package static func keep() { nhs_keep_freed_memory(Int64(MemoryBudget.own.group ?? .max)) }
}
