import Glibc
import NuthatchBase

/// The result of `verify`.
public struct VerifyReport: Sendable, Equatable {
  /// Intact records.
  public var intact = 0
  /// The bytes of their payloads.
  public var bytes = 0
  /// Records with a damaged payload, or of which nothing is left. They were removed from the store.
  public var damaged = 0
  /// Places in packs that hold something other than a record.
  public var gaps = 0
  /// Records that the index had lost; they were indexed again.
  public var recovered = 0
  /// Packs that can't be read.
  public var unreadable = 0
  /// The files with gaps and the unreadable files: the first 100.
  public var troubled: [TroubledPack] = []
}

/// A file that holds more than records, or can't be read.
public struct TroubledPack: Sendable, Equatable {
  /// The highest number of files in a report.
  static let most = 100
  /// The path, relative to the directory.
  public let file: String
  /// A description for people.
  public let why: String
}

extension VerifyReport {
  fileprivate mutating func add(_ number: UInt32, _ why: String) {
    guard troubled.count < TroubledPack.most else { return }
    troubled.append(TroubledPack(file: "packs/" + PackName.of(number), why: why))
  }
}

/// The records that were found in a pack.
struct SeenPack {
  /// The offset up to which the pack was published before it was read. Nothing is known of the rest.
  let end: Int
  /// The offsets in rising order, in units of 8 bytes.
  private var places: [UInt32] = []

  init(upTo end: Int) { self.end = end }

  mutating func add(_ offset: Int) { places.append(UInt32(truncatingIfNeeded: offset >> 3)) }

  /// Returns whether the index names a record here that was not found.
  func isMissing(_ offset: Int) -> Bool {
    guard offset < end else { return false }
    let place = UInt32(truncatingIfNeeded: offset >> 3)
    let found = places.place { $0 < place }
    return found == places.count || places[found] != place
  }
}

/// Reads every record, removes damaged ones and indexes lost ones again.
struct StoreCheck {
  let directory: StoreDirectory
  let openPacks: OpenPacks
  let changer: IndexChanger
  let retired: RetiredRecords
  let checker: PayloadChecker
  let killed: KilledWriters

  func verify() throws(StoreFault) -> VerifyReport {
    // Publish the unpublished records of killed writers first. They aren't lost, and lists and statistics use the table of
    // packs.
    if !directory.isReading, let index = changer.current.forReading() {
      killed.publishLeftovers(of: index.packs.filter { $0.state == .open })
    }
    var report = VerifyReport()
    var seen: [UInt32: SeenPack] = [:]
    let numbers = try explaining("can't list the packs") { () throws(SystemFault) in
      try directory.packNumbers()
    }
    for number in numbers {
      // Ask before reading the pack, because records that are written meanwhile don't count yet.
      let settled = settledPart(of: number)
      var found = SeenPack(upTo: changer.current.forReading()?.entry(of: number)?.used ?? 0)
      guard let pin = openPacks.pin(number), var scan = try? PackScan(pin.pack, directory, settled: settled)
      else {
        // A pack that another process has dropped since the list was made isn't unreadable.
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
        report.add(number, "something other than records in \(scan.gaps) place\(scan.gaps == 1 ? "" : "s")")
      }
    }
    guard !directory.isReading else {
      if let index = changer.current.forReading() { report.damaged += index.count(missingIn: seen) }
      return report
    }
    report.damaged += try forgetVanishedRecords(seen)
    try forgetVanishedPacks()
    return report
  }

  private func whyUnreadable(_ number: UInt32) -> String {
    do throws(SystemFault) {
      guard let pack = try Pack(number, directory, openPacks.pinned, openPacks.trust) else {
        return "not a pack that this version reads"
      }
      _ = try PackScan(pack, directory)
      return "it could not be read for a moment"
    } catch {
      return String(cString: strerror(error.number))
    }
  }

  /// Returns the offset up to which a pack is published. Behind it a writer may be writing a record, or a full disk has left a
  /// part of one.
  private func settledPart(of number: UInt32) -> Int {
    if let entry = changer.current.forReading()?.entry(of: number) { return entry.used }
    return !directory.isReading && PackWriter.isBusy(directory, number) ? PackHeader.size : .max
  }

  /// Removes index entries whose pack exists but has something else in their place, such as zeros after a loss of power.
  /// Returns how many there were.
  private func forgetVanishedRecords(_ seen: [UInt32: SeenPack]) throws(StoreFault) -> Int {
    guard let index = changer.current.forReading(), index.names(missingIn: seen) else { return 0 }
    return try changer.changing { (index) throws(StoreFault) in
      index.deleteSlots(missingIn: seen) { !isDropped($0) }
    }
  }

  /// Removes index entries whose pack is missing because the process that dropped it was killed. Until then they are misses.
  private func forgetVanishedPacks() throws(StoreFault) {
    func present() throws(StoreFault) -> Set<UInt32> {
      Set(try explaining("can't list the packs") { () throws(SystemFault) in try directory.packNumbers() })
    }
    // Look before locking the index: the disk may be so full that the index can't be changed.
    let packs = try present()
    guard let index = changer.current.forReading(), index.names(except: packs) else { return }
    try changer.changing { (index) throws(StoreFault) in index.deleteSlots(except: try present()) }
  }

  private func verify(
    _ record: RecordHeader.Found, _ location: Location, _ pack: Pack, _ report: inout VerifyReport
  ) throws(StoreFault) {
    let hash = record.header.hash
    guard checker.isIntact(record, pack) else {
      guard !directory.isReading else {
        // A record that another process is writing or removing isn't damaged.
        let isNamed = changer.current.forReading()?.find(hash)?.slot.location == location
        if isNamed, !checker.isIntact(record, pack), !isDropped(location.pack) { report.damaged += 1 }
        return
      }
      let isDamaged = try changer.changing { (index) throws(StoreFault) -> Bool in
        // Check again under the lock: a writer may have been in the middle of this record at the first reading.
        guard !isBeingPublished(location, index), !checker.isIntact(record, pack), !isDropped(location.pack)
        else {
          return false
        }
        // A record that isn't in the index remains from a write that failed on a full disk; it doesn't count as damaged.
        let isNamed = index.find(hash)?.slot.location == location
        _ = index.remove(hash, at: location)
        retired.add(location, hash)
        return isNamed
      }
      if isDamaged { report.damaged += 1 }
      return
    }
    report.intact += 1
    report.bytes += record.header.payloadLength
    guard !directory.isReading, changer.current.forReading()?.find(hash)?.slot.location != location else {
      return
    }
    // The record is lost, or is being replaced or published at this moment. Decide with the index lock held.
    let isRecovered = try changer.changing { (index) throws(StoreFault) -> Bool in
      // The record isn't lost if its pack was just dropped: dropping deletes the file before the index entries. If that can't
      // be checked, the record stays a miss.
      guard index.find(hash)?.slot.location != location, pack.record(at: location.offset)?.isRetired == false,
        (try? directory.isThere(directory.packs, PackName.of(location.pack))) == true,
        !isBeingPublished(location, index)
      else {
        return false
      }
      return try killed.admit(record, location, index).find(hash)?.slot.location == location
    }
    if isRecovered { report.recovered += 1 }
  }

  /// Returns whether a pack was deleted since it was listed. False if this can't be checked.
  private func isDropped(_ number: UInt32) -> Bool {
    (try? directory.isThere(directory.packs, PackName.of(number))) == false
  }

  /// Returns whether a writer has written the record but not published it yet. It may still discard a record that it moves.
  private func isBeingPublished(_ location: Location, _ index: Index) -> Bool {
    guard let entry = index.entry(of: location.pack) else { return false }
    return location.offset >= entry.used && PackWriter.isBusy(directory, location.pack)
  }
}
