import Glibc
import NuthatchBase

/// Marks records in packs as retired, so that no rebuilt index finds them. Remembers the marks that couldn't be written, so that
/// they can be tried again.
final class RetiredRecords: Sendable {
  private let directory: StoreDirectory
  private let openPacks: OpenPacks
  private let failed: Locked<[Location: KeyHash]>

  /// - Parameter old: the marks that couldn't be written to the same packs before.
  init(_ directory: StoreDirectory, _ openPacks: OpenPacks, after old: RetiredRecords?) {
    self.directory = directory
    self.openPacks = openPacks
    failed = Locked(old?.failed.withLock { $0 } ?? [:])
  }

  /// Retires the record at a location. Does nothing if the record there has another hash: a damaged index must not cause a
  /// write into another record's payload.
  func add(_ location: Location, _ hash: KeyHash) {
    guard !directory.isReading else { return }
    if !isRetired(location, hash) { failed.withLock { $0[location] = hash } }
  }

  /// Returns whether a record's mark couldn't be written yet.
  func isPending(_ location: Location) -> Bool {
    failed.withLock { $0[location] != nil }
  }

  /// Writes the marks that failed before. Returns false if some still fail.
  @discardableResult
  func retryFailed() -> Bool {
    failed.withLock { failed in
      if !failed.isEmpty { failed = failed.filter { !isRetired($0.key, $0.value) } }
      return failed.isEmpty
    }
  }

  /// Retires the record. Returns true if it is retired now or isn't there.
  private func isRetired(_ location: Location, _ hash: KeyHash) -> Bool {
    guard let pin = openPacks.pin(location.pack) else { return isNoPack(location.pack) }
    // A record that isn't found in a readable pack doesn't exist.
    guard let record = pin.pack.record(at: location.offset), record.header.hash == hash, !record.isRetired
    else { return !pin.pack.isBroken }
    var mark = [UInt8](repeating: 0, count: 4)
    mark.withUnsafeMutableBytes { $0.store(RecordHeader.retired, at: 0) }
    do throws(SystemFault) {
      let (fd, _) = try directory.openFile(directory.packs, PackName.of(location.pack), O_RDWR)
      defer { directory.system.close(fd) }
      try directory.system.write(mark, to: fd, at: Int64(location.offset))
      return true
    } catch {
      return error.number == ENOENT
    }
  }

  /// Returns whether there is no usable pack with this number, so that no record can come back from it. False if it can't be
  /// opened or read at the moment.
  private func isNoPack(_ number: UInt32) -> Bool {
    do throws(SystemFault) {
      return try Pack(number, directory, openPacks.pinned, openPacks.trust) == nil
    } catch {
      return false
    }
  }
}
