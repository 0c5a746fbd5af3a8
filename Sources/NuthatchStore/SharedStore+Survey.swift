import CSystem
import Glibc

/// What `verify` found.
public struct VerifyReport: Sendable, Equatable {
  /// Records that are whole.
  public var intact = 0
  /// The bytes of their payloads.
  public var bytes = 0
  /// Records whose payload was damaged, or of which nothing is left; they are out of the store now.
  public var damaged = 0
  /// Places in packs where something else stood than a record.
  public var gaps = 0
  /// Records that the index had lost; they are found again now.
  public var recovered = 0
  /// Packs that can't be read.
  public var unreadable = 0
  /// The files with gaps, or that can't be read; of many, the first.
  public var troubled: [TroubledPack] = []
}

/// A file in which not all is records.
public struct TroubledPack: Sendable, Equatable {
  /// Of how many `verify` tells.
  static let most = 100
  /// Its path, from the directory on.
  public let file: String
  /// What is the matter with it, for a person.
  public let why: String
}

/// What a store holds, and what has happened in this process.
public struct StoreStatistics: Sendable, Equatable {
  /// Records of each kind, of all processes.
  public var meta = 0
  /// See `meta`.
  public var bodies = 0
  /// See `meta`.
  public var thumbs = 0
  /// Packs, of all processes.
  public var packs = 0
  /// What they take, room that is reserved for records to come not counted.
  public var diskBytes = 0
  /// What they may take.
  public var diskLimit = 0
  /// Bytes of packs that were dropped while leases of this process held them.
  public var pinnedBytes = 0
  /// Records kept, in this process.
  public var commits = 0
  /// What records without a body took that this process has kept, whether they are still there or not.
  public var writtenSmallBytes = 0
  /// The same of bodies.
  public var writtenBulkBytes = 0
  /// Packs dropped to keep to the limit, by this process.
  public var droppedPacks = 0
  /// What they took.
  public var droppedBytes = 0
  /// Records dropped with them.
  public var droppedRecords = 0
  /// What is in memory before them, in this process.
  public var memory = MemoryStatistics()
  /// Times that this store was told to make room in memory.
  public var pressure = PressureCounts()
  /// What speaks against the place where the directory is: a file system that isn't this machine's own, or that it can only be
  /// read.
  public var warning: String?
}

extension VerifyReport {
  fileprivate mutating func add(_ number: UInt32, _ why: String) {
    guard troubled.count < TroubledPack.most else { return }
    troubled.append(TroubledPack(file: "packs/" + PackName.of(number), why: why))
  }
}

/// Where a pack had records.
struct SeenPack {
  /// What lies before it had been published before the pack was looked through. Nothing is known of the rest.
  let end: Int
  /// In rising order, in units of 8 bytes.
  private var places: [UInt32] = []

  init(upTo end: Int) { self.end = end }

  mutating func add(_ offset: Int) { places.append(UInt32(truncatingIfNeeded: offset >> 3)) }

  /// Whether a record that is named was looked for in vain.
  func isMissing(_ offset: Int) -> Bool {
    guard offset < end else { return false }
    let place = UInt32(truncatingIfNeeded: offset >> 3)
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low == places.count || places[low] != place
  }
}

extension SharedStore {
  func statistics() -> StoreStatistics {
    var statistics = StoreStatistics()
    if let index = currentForReading() {
      let counters = index.counters
      let packs = index.packs
      statistics.meta = max(0, counters.meta &+ counters.answer)
      statistics.bodies = max(0, counters.body)
      statistics.thumbs = max(0, counters.thumb)
      statistics.packs = packs.count
      statistics.diskBytes = packs.reduce(0) { $0 + $1.cost }
    }
    statistics.diskLimit = limits.disk
    statistics.pinnedBytes = shelf.pinned.current
    statistics.commits = counts[.commits]
    statistics.writtenSmallBytes = counts[.writtenSmall]
    statistics.writtenBulkBytes = counts[.writtenBulk]
    statistics.droppedPacks = counts[.droppedPacks]
    statistics.droppedBytes = counts[.droppedBytes]
    statistics.droppedRecords = counts[.droppedRecords]
    statistics.memory = memory.statistics
    spillCounts.read(into: &statistics)
    statistics.warning = directory.warning
    return statistics
  }

  func forEach(_ kind: RecordKind?, _ body: (RecordKey, Lease) -> Bool) throws(StoreFault) {
    guard let index = currentForReading() else { return }
    for entry in index.packs {
      guard let pin = shelf.pin(entry.number),
        var scan = try? PackScan(pin.pack, directory, upTo: entry.used)
      else { continue }
      while let record = scan.next() {
        guard !record.isRetired, kind == nil || kind == record.header.kind else { continue }
        let start = record.offset + RecordHeader.size
        let key = RecordKey(
          record.header.kind, Array(pin.pack.bytes[start..<start + record.header.keyLength]))
        // By way of the index: what it doesn't name isn't there.
        guard let lease = lookup(key, at: Location(pack: entry.number, offset: record.offset)) else {
          continue
        }
        if !body(key, lease) { return }
      }
    }
  }

  func verify() throws(StoreFault) -> VerifyReport {
    followLock()
    // First: what nobody has published isn't lost, and lists and statistics go by the table of packs.
    if !directory.isReading, let index = currentForReading() {
      takeInUnpublished(of: index.packs.filter { $0.state == .open })
    }
    var report = VerifyReport()
    var seen: [UInt32: SeenPack] = [:]
    let numbers = try doing("listing the packs") { () throws(SystemFault) in try packNumbers() }
    for number in numbers {
      // Asked before reading: what is written meanwhile isn't there yet.
      let settled = settledPart(of: number)
      var found = SeenPack(upTo: currentForReading()?.entry(of: number)?.used ?? 0)
      guard let pin = shelf.pin(number), var scan = try? PackScan(pin.pack, directory, settled: settled)
      else {
        // Not when somebody has dropped it since the packs were listed.
        if !isDropped(number) {
          report.unreadable += 1
          report.add(number, whyUnreadable(number))
        }
        continue
      }
      while let record = scan.next() {
        found.add(record.offset)
        if !record.isRetired {
          try verify(record, Location(pack: number, offset: record.offset), pin.pack, &report)
        }
      }
      seen[number] = found
      report.gaps += scan.gaps
      if scan.gaps > 0 {
        report.add(number, "something else than records in \(scan.gaps) place\(scan.gaps == 1 ? "" : "s")")
      }
    }
    guard !directory.isReading else {
      if let index = currentForReading() { report.damaged += index.count(missingIn: seen) }
      return report
    }
    report.damaged += try forgetVanishedRecords(seen)
    try forgetVanishedPacks()
    return report
  }

  private func whyUnreadable(_ number: UInt32) -> String {
    do throws(SystemFault) {
      guard let pack = try Pack(number, directory, shelf.pinned) else {
        return "not a pack that this version reads"
      }
      _ = try PackScan(pack, directory)
      return "it could not be read for a moment"
    } catch {
      return String(cString: strerror(error.number))
    }
  }

  /// Up to where a pack holds what was published. Behind it somebody may be writing at any moment, or has left a part of a record
  /// when the disk was full.
  private func settledPart(of number: UInt32) -> Int {
    if let entry = currentForReading()?.entry(of: number) { return entry.used }
    return !directory.isReading && PackWriter.isBusy(directory, number) ? PackHeader.size : .max
  }

  /// Takes records out of the index whose packs are there and have something else in their place, such as the zeros that
  /// a loss of power leaves. How many there were.
  private func forgetVanishedRecords(_ seen: [UInt32: SeenPack]) throws(StoreFault) -> Int {
    guard let index = currentForReading(), index.names(missingIn: seen) else { return 0 }
    return try changing { (index) throws(StoreFault) in
      index.giveUp(missingIn: seen) { !isDropped($0) }
    }
  }

  /// Takes records out of the index whose packs aren't there: whoever dropped one may have been killed. They are misses before.
  private func forgetVanishedPacks() throws(StoreFault) {
    func present() throws(StoreFault) -> Set<UInt32> {
      Set(try doing("listing the packs") { () throws(SystemFault) in try packNumbers() })
    }
    // Looked at first without changing anything: a disk may be so full that the index can't be written.
    let packs = try present()
    guard let index = currentForReading(), index.names(except: packs) else { return }
    try changing { (index) throws(StoreFault) in index.giveUp(except: try present()) }
  }

  private func verify(
    _ record: RecordHeader.Found, _ location: Location, _ pack: Pack, _ report: inout VerifyReport
  ) throws(StoreFault) {
    let hash = record.header.hash
    guard isIntact(record, pack) else {
      guard !directory.isReading else {
        // A record that others write, or remove, at this moment isn't damaged.
        let isNamed = currentForReading()?.find(hash)?.slot.location == location
        if isNamed, !isIntact(record, pack), !isDropped(location.pack) { report.damaged += 1 }
        return
      }
      let isDamaged = try changing { (index) throws(StoreFault) -> Bool in
        // Half of it was there when it was read, perhaps, because somebody is writing it.
        guard !isBeingPublished(location, index), !isIntact(record, pack), !isDropped(location.pack) else {
          return false
        }
        // One that nobody was told of is what was left of a write for which the disk had no room.
        let isNamed = index.find(hash)?.slot.location == location
        _ = index.remove(hash, at: location)
        retire(location, hash)
        return isNamed
      }
      if isDamaged { report.damaged += 1 }
      return
    }
    report.intact += 1
    report.bytes += record.header.payloadLength
    guard !directory.isReading, currentForReading()?.find(hash)?.slot.location != location else { return }
    // Either lost, or being replaced or published at this moment: decided with the index locked.
    let isRecovered = try changing { (index) throws(StoreFault) -> Bool in
      // Nor is it lost when its pack has just been dropped, which takes the file away before the index forgets it. Of a
      // file that can't be looked for nobody knows: then it stays a miss.
      guard index.find(hash)?.slot.location != location, pack.record(at: location.offset)?.isRetired == false,
        (try? directory.isThere(directory.packs, PackName.of(location.pack))) == true,
        !isBeingPublished(location, index)
      else {
        return false
      }
      return try admit(record, location, index).find(hash)?.slot.location == location
    }
    if isRecovered { report.recovered += 1 }
  }

  /// Whether a pack has gone since it was looked for. What can't be found out is no.
  private func isDropped(_ number: UInt32) -> Bool {
    (try? directory.isThere(directory.packs, PackName.of(number))) == false
  }

  /// Whether somebody has written it and is about to say whether it counts: of what is moved, that isn't sure.
  private func isBeingPublished(_ location: Location, _ index: Index) -> Bool {
    guard let entry = index.entry(of: location.pack) else { return false }
    return location.offset >= entry.used && PackWriter.isBusy(directory, location.pack)
  }
}
