/// The places of a queue: those of the link, and those of loopback.
///
/// Loopback has places of its own, with their own measurement, because the link's load doesn't affect it. It has at most a
/// quarter of `mostAtOnce`, so that neither side can take all places. If the program has set a fixed number, both share its
/// places.
final class QueuePlaces {
  /// The most places that requests with a connection may lend. Each connection needs a file descriptor.
  private static let lentAtOnce = 256

  let link: PlacePool
  let loopback: PlacePool
  private var kind: LinkKind

  init(_ kind: LinkKind, _ settings: QueueSettings) {
    self.kind = kind
    link = PlacePool(AutomaticSize(kind.sizes, most: 1))
    loopback = PlacePool(AutomaticSize(LinkKind.wired.sizes, most: 1))
    resize(settings, anew: true)
  }

  func pool(isLoopback: Bool) -> PlacePool { isLoopback && !link.isFixed ? loopback : link }

  /// Removes and returns the entry whose turn it is, if there is one and a place for it.
  func takeNext(waitingSince limit: Int64) -> QueueEntry? {
    link.takeNext(waitingSince: limit) ?? loopback.takeNext(waitingSince: limit)
  }

  var areLentForSlowBodies: Bool { link.counts.lentForSlowBodies + loopback.counts.lentForSlowBodies > 0 }

  /// Tells the automatic sizes which work waits for a place.
  ///
  /// - Returns: whether an entry waits only for a place, and whether a size grew.
  func noteBacklog(_ settings: QueueSettings) -> (hasBacklog: Bool, hasGrown: Bool) {
    let before = (link.automatic.size, loopback.automatic.size)
    let (isLinkBacklogged, isLoopbackBacklogged) = (link.noteBacklog(), loopback.noteBacklog())
    let hasGrown = before != (link.automatic.size, loopback.automatic.size)
    if hasGrown { resize(settings) }
    return (isLinkBacklogged || isLoopbackBacklogged, hasGrown)
  }

  /// Changes the kind of the link. Forgets the measurements of the earlier link.
  func change(to kind: LinkKind, _ settings: QueueSettings) {
    self.kind = kind
    resize(settings, anew: true)
  }

  /// Updates the sizes from the measurements. `anew`: forgets the measurements first.
  ///
  /// - Returns: whether a size changed.
  @discardableResult
  func resize(_ settings: QueueSettings, anew: Bool = false) -> Bool {
    let before = (link.size, loopback.size)
    let most = max(2, settings.mostAtOnce)
    let forLoopback = max(1, most / 4)
    if anew {
      link.automatic = AutomaticSize(kind.sizes, most: most - forLoopback)
      loopback.automatic = AutomaticSize(LinkKind.wired.sizes, most: forLoopback)
    }
    loopback.size = loopback.automatic.size
    switch settings.concurrency {
    case .automatic: link.size = link.automatic.size
    case .fixed(let number): link.size = min(max(1, number), most)
    }
    link.isFixed = settings.concurrency != .automatic
    // The file descriptors that are left beside the places.
    let rest = link.isFixed ? most - link.size : (most - link.size - loopback.size) / 2
    link.mostLent = min(QueuePlaces.lentAtOnce, max(16, rest))
    loopback.mostLent = link.mostLent
    return before != (link.size, loopback.size)
  }
}
