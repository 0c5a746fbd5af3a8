/// A picture in the memory tier. It knows the `HitTable`s that give it out without asking the tier. When the tier drops the
/// picture, its hits are removed from these tables, so that the pixels are freed.
final class MemoryPicture: Sendable {
  let picture: Picture
  private let viewers = Locked<[Viewer]>([])

  private struct Viewer {
    weak var table: HitTable?
    let stripe: Int
    let hash: HitHash
  }

  init(_ picture: Picture) { self.picture = picture }

  /// Registers a table's hit. It is removed when this object is released.
  func note(_ table: HitTable, _ stripe: Int, _ hash: HitHash) {
    viewers.withLock { viewers in
      guard !viewers.contains(where: { $0.table === table && $0.stripe == stripe && $0.hash == hash }) else {
        return
      }
      viewers.removeAll { $0.table == nil }
      viewers.append(Viewer(table: table, stripe: stripe, hash: hash))
    }
  }

  deinit {
    for viewer in viewers.withLock({ $0 }) {
      viewer.table?.forget(viewer.hash, picture, stripe: viewer.stripe)
    }
  }
}
