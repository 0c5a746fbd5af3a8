import CSystem

/// URLs of a list that wait for their hosts: which of them is submitted next, and whether more are to be read.
///
/// A host has a few requests under way at a time: 8 at first, one more with every good answer, 64 at most. The rest of its URLs
/// wait here, so that a host that hangs, or a list sorted by host, keeps no other host from its turn. What waits beyond
/// `mostInMemory` bytes is set aside in a file.
///
/// More URLs are read until `enough` requests are under way at hosts that answer. Those at a host that has been silent for a
/// second don't count.
final class Backlog {
  private final class Host {
    let name: String
    var underWay = 0
    var share = Backlog.firstShare
    /// Of those under way: when the last one began, or was answered.
    var lastSign: Int64 = 0
    var isWaitingForTurn = false
    /// The next ones.
    var ready: ArraySlice<ListedURL> = []
    /// After them, in the file.
    var aside: ArraySlice<SetAside.Chunk> = []
    /// After those.
    var last: [ListedURL] = []

    init(_ name: String) { self.name = name }

    var isEmpty: Bool { ready.isEmpty && aside.isEmpty && last.isEmpty }
    var hasRoom: Bool { underWay < share }
  }

  private static let firstShare = 8
  private static let mostAtHost = 64
  /// What the bookkeeping of a URL takes, about.
  private static let overhead = 64
  private static let silence: Int64 = 1_000_000_000
  /// Requests take memory, also those at silent hosts.
  private static let mostUnderWay = 16_384

  private let enough: Int
  private let mostInMemory: Int
  private let folder: String
  private var hosts: [String: Host] = [:]
  /// Hosts with room and with URLs, those that have waited for the longest first.
  private var turns: [Host] = []
  private var firstTurn = 0
  private var bytes = 0
  private var file: SetAside?
  /// Many hosts with few URLs each leave little to write.
  private var nextSweep = 0
  private var isFileFull = false
  private var silent = 0
  private var judgedAt: Int64 = 0

  /// How many wait.
  private(set) var count = 0
  /// How many are under way.
  private(set) var underWay = 0
  /// How many could not be read back.
  private(set) var lost = 0

  init(enough: Int, mostInMemory: Int = 16 << 20, folder: String) {
    self.enough = enough
    self.mostInMemory = mostInMemory
    self.folder = folder
  }

  /// Whether more URLs are to be read.
  func wantsMore(at now: Int64) -> Bool {
    guard underWay < Self.mostUnderWay, bytes < 2 * mostInMemory else { return false }
    return underWay < enough || underWay - silentOnes(at: now) < enough
  }

  /// How many requests are under way at hosts that answer.
  func lively(at now: Int64) -> Int { underWay - silentOnes(at: now) }

  func add(_ listed: ListedURL) {
    let host = host(of: listed)
    if host.aside.isEmpty, host.last.isEmpty { host.ready.append(listed) } else { host.last.append(listed) }
    count += 1
    bytes += listed.url.utf8.count + Self.overhead
    offerTurn(host)
    if bytes > mostInMemory { setAside() }
  }

  /// The next URL whose host has room. It is under way from now on.
  func next(at now: Int64) -> ListedURL? {
    while firstTurn < turns.count {
      let host = turns[firstTurn]
      firstTurn += 1
      if firstTurn > 1024, firstTurn * 2 > turns.count {
        turns.removeFirst(firstTurn)
        firstTurn = 0
      }
      host.isWaitingForTurn = false
      guard host.hasRoom, let listed = takeFirst(of: host) else { continue }
      host.underWay += 1
      underWay += 1
      if host.underWay == 1 { host.lastSign = now }
      offerTurn(host)
      return listed
    }
    return nil
  }

  /// How one that was under way has ended.
  func end(_ listed: ListedURL, isGood: Bool, at now: Int64) {
    let host = host(of: listed)
    host.underWay -= 1
    underWay -= 1
    host.lastSign = now
    host.share = isGood ? min(host.share + 1, Self.mostAtHost) : Self.firstShare
    offerTurn(host)
    if host.underWay == 0, host.isEmpty, !host.isWaitingForTurn { hosts[host.name] = nil }
  }

  private func host(of listed: ListedURL) -> Host {
    let name = HostName.of(listed.url)
    if let known = hosts[name] { return known }
    let new = Host(name)
    hosts[name] = new
    return new
  }

  private func offerTurn(_ host: Host) {
    guard !host.isWaitingForTurn, host.hasRoom, !host.isEmpty else { return }
    host.isWaitingForTurn = true
    turns.append(host)
  }

  private func takeFirst(of host: Host) -> ListedURL? {
    while host.ready.isEmpty, let chunk = host.aside.popFirst() { bringBack(chunk, to: host) }
    if host.ready.isEmpty {
      host.ready = host.last[...]
      host.last = []
    }
    guard let listed = host.ready.popFirst() else { return nil }
    count -= 1
    bytes -= listed.url.utf8.count + Self.overhead
    return listed
  }

  // MARK: The file

  private func setAside() {
    guard !isFileFull, bytes > nextSweep else { return }
    // What comes next stays, or all of a long list would go through the file.
    let stays = min(2 * Self.mostAtHost, max(Self.firstShare, mostInMemory / 2 / 160 / hosts.count))
    for host in hosts.values where host.ready.count > stays && host.last.isEmpty && host.aside.isEmpty {
      host.last = Array(host.ready.dropFirst(stays))
      host.ready = host.ready.prefix(stays)
    }
    let all = hosts.values.filter { !$0.last.isEmpty }
    file = file ?? SetAside(folder: folder)
    guard let chunks = file?.write(all.map(\.last)) else {
      isFileFull = true
      return
    }
    for (host, chunks) in zip(all, chunks) {
      bytes -= Self.size(of: host.last)
      host.last = []
      host.aside += chunks
    }
    nextSweep = bytes + mostInMemory / 4
  }

  private func bringBack(_ chunk: SetAside.Chunk, to host: Host) {
    guard let urls = file?.take(chunk) else {
      lost += chunk.count
      count -= chunk.count
      return
    }
    host.ready = urls[...]
    bytes += Self.size(of: urls)
  }

  private static func size(of urls: [ListedURL]) -> Int {
    urls.reduce(0) { $0 + $1.url.utf8.count + Self.overhead }
  }

  // MARK: Silence

  private func silentOnes(at now: Int64) -> Int {
    guard now - judgedAt > Self.silence / 4 else { return min(silent, underWay) }
    judgedAt = now
    silent = hosts.values.reduce(0) { $0 + ($1.underWay > 0 && now - $1.lastSign > Self.silence ? $1.underWay : 0) }
    return silent
  }
}
