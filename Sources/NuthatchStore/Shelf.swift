import CSystem

/// The packs that this process has mapped, by number.
///
/// Every shard has a lock and pins of its own, and a thread uses one shard only, so that threads that look up records
/// meet neither at a lock nor at a reference count.
final class Shelf: @unchecked Sendable {
  private static let shardCount = 8

  private final class Shard: @unchecked Sendable {
    let lock = Lock()
    // Guarded by `lock`.
    var pins: [UInt32: PackPin] = [:]
  }

  let pinned = PinnedBytes()
  private let directory: StoreDirectory
  private let shards = (0..<Shelf.shardCount).map { _ in Shard() }
  // Guards `packs`; taken before a shard's lock.
  private let lock = Lock()
  private var packs: [UInt32: Pack] = [:]

  init(_ directory: StoreDirectory) { self.directory = directory }

  /// A pin of the pack; nil when there is no such pack, or it can't be used.
  @inline(__always)
  func pin(_ number: UInt32) -> PackPin? {
    let shard = shards[Int(nhs_thread_number()) & (Self.shardCount - 1)]
    if let pin = shard.lock.with({ shard.pins[number] }) { return pin }
    return open(number, shard)
  }

  private func open(_ number: UInt32, _ shard: Shard) -> PackPin? {
    lock.with {
      let pack: Pack
      if let known = packs[number] {
        pack = known
      } else {
        // Whatever went wrong: the record can't be had, which is a miss.
        guard let opened = try? Pack(number, directory, pinned) else { return nil }
        pack = opened
        packs[number] = opened
      }
      return shard.lock.with {
        if let pin = shard.pins[number] { return pin }
        let pin = PackPin(pack)
        shard.pins[number] = pin
        return pin
      }
    }
  }

  /// Calls `body` with every pack that is mapped.
  func forEach(_ body: (Pack) -> Void) { lock.with { packs.values.forEach(body) } }

  /// Lets go of the packs for which `isGone` holds; leases keep what they need.
  func drop(where isGone: (UInt32) -> Bool) {
    lock.with {
      for (number, pack) in packs where isGone(number) {
        pack.drop()
        packs[number] = nil
        for shard in shards {
          shard.lock.with { shard.pins[number] = nil }
        }
      }
    }
  }
}
