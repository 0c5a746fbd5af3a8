import Glibc
import NuthatchBase

/// Marks in packs that say that a record isn't to be found any more, so that no new index brings it back. Keeps those that
/// couldn't be written yet.
final class RetiredRecords: Sendable {
  private let directory: StoreDirectory
  private let openPacks: OpenPacks
  private let unsettled: Locked<[Location: KeyHash]>

  /// - Parameter old: what couldn't be written to the same packs before.
  init(_ directory: StoreDirectory, _ openPacks: OpenPacks, after old: RetiredRecords?) {
    self.directory = directory
    self.openPacks = openPacks
    unsettled = Locked(old?.unsettled.withLock { $0 } ?? [:])
  }

  /// Marks a record in its pack, so that no new index brings it back. Only if there is one of this hash: a damaged
  /// index must not make us write into somebody's payload.
  func add(_ location: Location, _ hash: KeyHash) {
    guard !directory.isReading else { return }
    if !isRetired(location, hash) { unsettled.withLock { $0[location] = hash } }
  }

  /// Whether a record should be retired, but couldn't be yet.
  func isPending(_ location: Location) -> Bool {
    unsettled.withLock { $0[location] != nil }
  }

  /// Retires what couldn't be retired before. False when something is left.
  @discardableResult
  func settle() -> Bool {
    unsettled.withLock { unsettled in
      if !unsettled.isEmpty { unsettled = unsettled.filter { !isRetired($0.key, $0.value) } }
      return unsettled.isEmpty
    }
  }

  /// Whether the record is retired now, or isn't there.
  private func isRetired(_ location: Location, _ hash: KeyHash) -> Bool {
    guard let pin = openPacks.pin(location.pack) else { return isNoPack(location.pack) }
    // What isn't found in a pack that can be read isn't there.
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

  /// Whether there is no pack of this number, or only a file that nobody takes for one: nothing will come back from it. That it
  /// can't be opened or read at the moment says nothing.
  private func isNoPack(_ number: UInt32) -> Bool {
    do throws(SystemFault) {
      return try Pack(number, directory, openPacks.pinned, openPacks.trust) == nil
    } catch {
      return false
    }
  }
}
