import CSystem

/// URLs of a list that wait for their hosts: which of them is submitted next, and whether more are to be read.
///
/// A host has a few requests under way at a time: 8 at first, four more with every good answer, to a limit. The rest of its URLs
/// wait here, so that a host that hangs, or a list sorted by host, keeps no other host from its turn. What waits beyond
/// `mostInMemory` bytes is set aside in a file. URLs that were put off come last, when the list has ended and their host has no
/// others.
///
/// More URLs are read until `enough` requests are under way at hosts that answer. Those at a host that has been silent for a
/// second don't count.
final class Backlog {
  /// URLs in the order in which they are to be submitted.
  private struct Line {
    /// The next ones.
    var ready: ArraySlice<ListedURL> = []
    /// After them, in the file.
    var aside: ArraySlice<SetAside.Chunk> = []
    /// After those.
    var last: [ListedURL] = []

    var isEmpty: Bool { ready.isEmpty && aside.isEmpty && last.isEmpty }

    mutating func append(_ listed: ListedURL) {
      if aside.isEmpty, last.isEmpty { ready.append(listed) } else { last.append(listed) }
    }

    /// Moves all but the first ones to where they can be set aside.
    mutating func keepReady(_ count: Int) {
      guard ready.count > count, last.isEmpty, aside.isEmpty else { return }
      last = Array(ready.dropFirst(count))
      ready = ready.prefix(count)
    }
  }

  private final class Host {
    let name: String
    var underWay = 0
    var share = Backlog.firstShare
    var hasAnswered = false
    /// Of those under way: when the last one began, or was answered.
    var lastSign: Int64 = 0
    var isWaitingForTurn = false
    var line = Line()
    /// Those that were put off, and whether they have their turn.
    var deferred = Line()
    var isAtDeferred = false

    init(_ name: String) { self.name = name }

    var isEmpty: Bool { line.isEmpty && deferred.isEmpty }
  }

  private static let firstShare = 8
  /// What the bookkeeping of a URL takes, about.
  private static let overhead = 128
  private static let silence: Int64 = 1_000_000_000
  /// Requests take memory, also those at silent hosts.
  private static let mostUnderWay = 16_384

  private let enough: Int
  private let mostAtHost: Int
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
  private var hasEnded = false
  private var judgedAt: Int64 = 0

  /// How many wait.
  private(set) var count = 0
  /// How many are under way.
  private(set) var underWay = 0
  /// How many could not be read back.
  private(set) var lost = 0

  /// - Parameter atHost: how many requests run at a host at once.
  init(enough: Int, atHost: Int, mostInMemory: Int = 4 << 20, folder: String) {
    self.enough = enough
    // Its places are taken again before the answers have been looked at.
    mostAtHost = max(64, 4 * atHost)
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
    if listed.wasPutOff { host.deferred.append(listed) } else { host.line.append(listed) }
    count += 1
    bytes += listed.url.utf8.count + Self.overhead
    offerTurn(host)
    if bytes > mostInMemory { setAside() }
  }

  /// No more URLs are read: those that were put off have their turn when their host has no others.
  func noteEndOfList() {
    hasEnded = true
    for host in hosts.values where !host.deferred.isEmpty { offerTurn(host) }
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
      guard hasRoom(host), let listed = takeNext(of: host) else { continue }
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
    host.hasAnswered = host.hasAnswered || isGood
    host.share = isGood ? min(host.share + 4, mostAtHost) : Self.firstShare
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
    guard !host.isWaitingForTurn, hasRoom(host), hasNext(host) else { return }
    host.isWaitingForTurn = true
    turns.append(host)
  }

  /// Where very many hosts don't answer, each that never did has one request under way.
  private func hasRoom(_ host: Host) -> Bool {
    host.underWay < (underWay > Self.mostUnderWay / 2 && !host.hasAnswered ? 1 : host.share)
  }

  private func hasNext(_ host: Host) -> Bool {
    !host.line.isEmpty || hasEnded && host.underWay == 0 && !host.deferred.isEmpty
      || hasEnded && host.isAtDeferred && !host.deferred.isEmpty
  }

  private func takeNext(of host: Host) -> ListedURL? {
    guard hasNext(host) else { return nil }
    host.isAtDeferred = host.line.isEmpty
    guard let listed = host.line.isEmpty ? takeFirst(of: &host.deferred) : takeFirst(of: &host.line) else {
      return nil
    }
    count -= 1
    bytes -= listed.url.utf8.count + Self.overhead
    return listed
  }

  private func takeFirst(of line: inout Line) -> ListedURL? {
    while line.ready.isEmpty, let chunk = line.aside.popFirst() { bringBack(chunk, to: &line) }
    if line.ready.isEmpty {
      line.ready = line.last[...]
      line.last = []
    }
    return line.ready.popFirst()
  }

  // MARK: The file

  private func setAside() {
    guard !isFileFull, bytes > nextSweep else { return }
    // What comes next stays, or all of a long list would go through the file.
    let stays = min(2 * mostAtHost, max(Self.firstShare, mostInMemory / 2 / 160 / hosts.count))
    for host in hosts.values {
      host.line.keepReady(stays)
      host.deferred.keepReady(0)
    }
    let all = hosts.values.filter { !$0.line.last.isEmpty || !$0.deferred.last.isEmpty }
    file = file ?? SetAside(folder: folder)
    guard let chunks = file?.write(all.flatMap { [$0.line.last, $0.deferred.last] }) else {
      isFileFull = true
      return
    }
    for (index, host) in all.enumerated() {
      note(chunks[2 * index], of: &host.line)
      note(chunks[2 * index + 1], of: &host.deferred)
    }
    nextSweep = bytes + mostInMemory / 4
  }

  /// The last ones of the line are in the file now.
  private func note(_ chunks: [SetAside.Chunk], of line: inout Line) {
    bytes -= Self.size(of: line.last)
    line.last = []
    line.aside += chunks
  }

  private func bringBack(_ chunk: SetAside.Chunk, to line: inout Line) {
    guard let urls = file?.take(chunk) else {
      lost += chunk.count
      count -= chunk.count
      return
    }
    line.ready = urls[...]
    bytes += Self.size(of: urls)
  }

  private static func size(of urls: [ListedURL]) -> Int {
    urls.reduce(0) { $0 + $1.url.utf8.count + Self.overhead }
  }

  // MARK: Silence

  private func silentOnes(at now: Int64) -> Int {
    guard now - judgedAt > Self.silence / 4 else { return min(silent, underWay) }
    judgedAt = now
    silent = hosts.values.reduce(0) {
      $0 + ($1.underWay > 0 && now - $1.lastSign > Self.silence ? $1.underWay : 0)
    }
    return silent
  }
}
