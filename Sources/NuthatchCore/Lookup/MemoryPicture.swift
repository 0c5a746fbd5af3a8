import NuthatchTransport

/// A picture in the memory tier, and who shows it without asking the tier each time: they are told when the tier lets go
/// of it, so that no pixels stay behind.
final class MemoryPicture: Sendable {
  let picture: Picture
  private let viewers = Locked<[Viewer]>([])

  private struct Viewer {
    weak var table: PeekTable?
    let lane: Int
    let hash: PeekHash
  }

  init(_ picture: Picture) { self.picture = picture }

  /// From now on the end of this object takes the table's entry out.
  func note(_ table: PeekTable, _ lane: Int, _ hash: PeekHash) {
    viewers.withLock { viewers in
      guard !viewers.contains(where: { $0.table === table && $0.lane == lane && $0.hash == hash }) else {
        return
      }
      viewers.removeAll { $0.table == nil }
      viewers.append(Viewer(table: table, lane: lane, hash: hash))
    }
  }

  deinit {
    for viewer in viewers.withLock({ $0 }) { viewer.table?.forget(viewer.hash, picture, lane: viewer.lane) }
  }
}
