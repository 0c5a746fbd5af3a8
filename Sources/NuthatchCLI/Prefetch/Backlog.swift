import NuthatchBase

/// URLs of a list that wait for their hosts: which of them is submitted next, and whether more are to be read.
///
/// A host has a few requests under way at a time: 8 at first, four more with every good answer, to a limit. The rest of its URLs
/// wait here, so that a host that hangs, or a list sorted by host, keeps no other host from its turn. What waits beyond
/// `mostInMemory` bytes is set aside in a file. URLs that were put off come last, when the list has ended, or pauses, and no
/// others are being answered: those that hang would take the places that others need.
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
    /// Those that were put off, and how many of them are under way.
    var deferred = Line()
    var deferredUnderWay = 0
    var isWaitingForLateTurn = false

    init(_ name: String) { self.name = name }

    var isEmpty: Bool { line.isEmpty && deferred.isEmpty }
  }

  private static let firstShare = 8
  /// What the bookkeeping of a URL takes, about.
  private static let overhead = 128
  private static let silence: Int64 = 1_000_000_000
  /// When nothing has come for so long, the list pauses.
  private static let pause: Int64 = 5_000_000_000
  /// Requests take memory, also those at silent hosts.
  private static let mostUnderWay = 16_384
  /// How many of those that were put off: all of them may hang, and the queue lends 256 places of such at most.
  private static let mostDeferredUnderWay = 128

  private let enough: Int
  private let mostAtHost: Int
  private let mostInMemory: Int
  private let folder: String
  private var hosts: [String: Host] = [:]
  /// Hosts with room and with URLs, those that have waited for the longest first.
  private var turns = Fifo<Host>()
  /// Hosts with URLs that were put off, in turn.
  private var lateTurns: ArraySlice<Host> = []
  private var deferredUnderWay = 0
  private var bytes = 0
  private var file: SetAside?
  /// Many hosts with few URLs each leave little to write.
  private var nextSweep = 0
  private var isFileFull = false
  private var silent = 0
  private var isBusy = false
  private var hasEnded = false
  /// When the list had nothing more for the first time since its last URL; nil while it has.
  private var nothingToReadSince: Int64?
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

  /// Whether more URLs are to be read. `queueIsFull`: requests wait for nothing but a place, so that what is silent may not even
  /// have been sent.
  func wantsMore(at now: Int64, queueIsFull: Bool) -> Bool {
    guard underWay < Self.mostUnderWay, bytes < 2 * mostInMemory else { return false }
    return underWay < enough || !queueIsFull && lively(at: now) < enough
  }

  /// How many requests are under way at hosts that answer.
  func lively(at now: Int64) -> Int { underWay - silentOnes(at: now) }

  func add(_ listed: ListedURL) {
    let host = host(of: listed)
    count += 1
    bytes += listed.url.utf8.count + Self.overhead
    if listed.wasPutOff {
      host.deferred.append(listed)
      offerLateTurn(host)
    } else {
      nothingToReadSince = nil
      host.line.append(listed)
      offerTurn(host)
    }
    if bytes > mostInMemory { setAside() }
  }

  /// No more URLs are read: those that were put off have their turn.
  func noteEndOfList() { hasEnded = true }

  /// The list has no URL now, and may have some later.
  func noteNothingToRead(at now: Int64) { nothingToReadSince = nothingToReadSince ?? now }

  /// The next URL whose host has room. It is under way from now on.
  func next(at now: Int64) -> ListedURL? {
    while let host = turns.popFirst() {
      host.isWaitingForTurn = false
      guard hasRoom(host), let listed = takeFirst(of: &host.line) else { continue }
      begin(listed, at: host, now)
      offerTurn(host)
      return listed
    }
    return nextDeferred(at: now)
  }

  private func begin(_ listed: ListedURL, at host: Host, _ now: Int64) {
    count -= 1
    bytes -= listed.url.utf8.count + Self.overhead
    host.underWay += 1
    underWay += 1
    if listed.wasPutOff {
      host.deferredUnderWay += 1
      deferredUnderWay += 1
    }
    if host.underWay == 1 { host.lastSign = now }
  }

  private func nextDeferred(at now: Int64) -> ListedURL? {
    let pauses = nothingToReadSince.map { now - $0 >= Self.pause } ?? false
    guard hasEnded || pauses, !lateTurns.isEmpty, deferredUnderWay < Self.mostDeferredUnderWay,
      !othersAreAnswered(at: now)
    else { return nil }
    for _ in 0..<lateTurns.count {
      guard let host = lateTurns.popFirst() else { return nil }
      host.isWaitingForLateTurn = false
      // One at a time where others of its host may still come.
      let mayBegin = hasRoom(host) && (hasEnded || host.deferredUnderWay == 0)
      let listed = mayBegin ? takeFirst(of: &host.deferred) : nil
      offerLateTurn(host)
      guard let listed else { continue }
      begin(listed, at: host, now)
      return listed
    }
    return nil
  }

  /// How one that was under way has ended.
  func end(_ listed: ListedURL, isGood: Bool, at now: Int64) {
    let host = host(of: listed)
    host.underWay -= 1
    underWay -= 1
    if listed.wasPutOff {
      host.deferredUnderWay -= 1
      deferredUnderWay -= 1
    }
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
    guard !host.isWaitingForTurn, hasRoom(host), !host.line.isEmpty else { return }
    host.isWaitingForTurn = true
    turns.append(host)
  }

  private func offerLateTurn(_ host: Host) {
    guard !host.isWaitingForLateTurn, !host.deferred.isEmpty else { return }
    host.isWaitingForLateTurn = true
    lateTurns.append(host)
  }

  /// Where very many hosts don't answer, each that never did has one request under way.
  private func hasRoom(_ host: Host) -> Bool {
    host.underWay < (underWay > Self.mostUnderWay / 2 && !host.hasAnswered ? 1 : host.share)
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
    judge(now)
    return min(silent, underWay)
  }

  /// Whether others than those that were put off are under way at a host that answers.
  private func othersAreAnswered(at now: Int64) -> Bool {
    judge(now)
    return isBusy && underWay > deferredUnderWay
  }

  private func judge(_ now: Int64) {
    guard now - judgedAt > Self.silence / 4 else { return }
    judgedAt = now
    silent = 0
    isBusy = false
    for host in hosts.values {
      if now - host.lastSign > Self.silence {
        silent += host.underWay
      } else if host.underWay > host.deferredUnderWay {
        isBusy = true
      }
    }
  }
}
