import Glibc
import NuthatchBase

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
    let found = places.place { $0 < place }
    return found == places.count || places[found] != place
  }
}

/// Reads every record: what is damaged goes, what the index forgot comes back.
struct StoreCheck {
  let directory: StoreDirectory
  let openPacks: OpenPacks
  let changer: IndexChanger
  let retired: RetiredRecords
  let checker: PayloadChecker
  let killed: KilledWriters

  func verify() throws(StoreFault) -> VerifyReport {
    // First: what nobody has published isn't lost, and lists and statistics go by the table of packs.
    if !directory.isReading, let index = changer.current.forReading() {
      killed.takeInUnpublished(of: index.packs.filter { $0.state == .open })
    }
    var report = VerifyReport()
    var seen: [UInt32: SeenPack] = [:]
    let numbers = try doing("listing the packs") { () throws(SystemFault) in try directory.packNumbers() }
    for number in numbers {
      // Asked before reading: what is written meanwhile isn't there yet.
      let settled = settledPart(of: number)
      var found = SeenPack(upTo: changer.current.forReading()?.entry(of: number)?.used ?? 0)
      guard let pin = openPacks.pin(number), var scan = try? PackScan(pin.pack, directory, settled: settled)
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

  /// Up to where a pack holds what was published. Behind it somebody may be writing at any moment, or has left a part of a record
  /// when the disk was full.
  private func settledPart(of number: UInt32) -> Int {
    if let entry = changer.current.forReading()?.entry(of: number) { return entry.used }
    return !directory.isReading && PackWriter.isBusy(directory, number) ? PackHeader.size : .max
  }

  /// Takes records out of the index whose packs are there and have something else in their place, such as the zeros that
  /// a loss of power leaves. How many there were.
  private func forgetVanishedRecords(_ seen: [UInt32: SeenPack]) throws(StoreFault) -> Int {
    guard let index = changer.current.forReading(), index.names(missingIn: seen) else { return 0 }
    return try changer.changing { (index) throws(StoreFault) in
      index.giveUp(missingIn: seen) { !isDropped($0) }
    }
  }

  /// Takes records out of the index whose packs aren't there: whoever dropped one may have been killed. They are misses before.
  private func forgetVanishedPacks() throws(StoreFault) {
    func present() throws(StoreFault) -> Set<UInt32> {
      Set(try doing("listing the packs") { () throws(SystemFault) in try directory.packNumbers() })
    }
    // Looked at first without changing anything: a disk may be so full that the index can't be written.
    let packs = try present()
    guard let index = changer.current.forReading(), index.names(except: packs) else { return }
    try changer.changing { (index) throws(StoreFault) in index.giveUp(except: try present()) }
  }

  private func verify(
    _ record: RecordHeader.Found, _ location: Location, _ pack: Pack, _ report: inout VerifyReport
  ) throws(StoreFault) {
    let hash = record.header.hash
    guard checker.isIntact(record, pack) else {
      guard !directory.isReading else {
        // A record that others write, or remove, at this moment isn't damaged.
        let isNamed = changer.current.forReading()?.find(hash)?.slot.location == location
        if isNamed, !checker.isIntact(record, pack), !isDropped(location.pack) { report.damaged += 1 }
        return
      }
      let isDamaged = try changer.changing { (index) throws(StoreFault) -> Bool in
        // Half of it was there when it was read, perhaps, because somebody is writing it.
        guard !isBeingPublished(location, index), !checker.isIntact(record, pack), !isDropped(location.pack)
        else {
          return false
        }
        // One that nobody was told of is what was left of a write for which the disk had no room.
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
    // Either lost, or being replaced or published at this moment: decided with the index locked.
    let isRecovered = try changer.changing { (index) throws(StoreFault) -> Bool in
      // Nor is it lost when its pack has just been dropped, which takes the file away before the index forgets it. Of a
      // file that can't be looked for nobody knows: then it stays a miss.
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
