import NuthatchBase

/// Holds URLs of a list until their hosts have room. Decides which URL is submitted next, and whether to read more of the list.
///
/// A host has a few requests under way at a time: 8 at first and after a failure, unless it gave a good answer in the last second;
/// 4 more after each good answer, up to a limit. If none of them ends for a second, a host that gives good answers may have more:
/// those under way may wait for the host that they are redirected to. The rest of its URLs wait here. So a host that hangs, or a
/// list sorted by host, doesn't delay other hosts. URLs beyond `mostInMemory` bytes are moved to a file.
///
/// If those under way get no good answers, others of the host are tried, here and there in its line (`isScout`): maybe only some
/// pages fail, and stand side by side in the list. The first is tried after a second, the next after 2, 4, 6 and so on more. Each
/// good answer to one of these lets two more follow.
///
/// Deferred URLs (`isDeferred`) come last. They start when the list has ended or pauses, and no other URL is being answered:
/// a URL that hangs would take a place that another one needs.
///
/// More URLs are read until `enough` requests are under way at hosts that answer. Requests at a host that has been silent for
/// a second don't count.
final class Backlog {
  /// A queue of URLs.
  private struct Line {
    /// The first URLs.
    var ready: ArraySlice<ListedURL> = []
    /// The URLs after `ready`. They are in the file.
    var aside: ArraySlice<SetAside.Chunk> = []
    /// The URLs after `aside`.
    var last: [ListedURL] = []

    var isEmpty: Bool { ready.isEmpty && aside.isEmpty && last.isEmpty }

    /// Removes the URL at a place of those in memory, which goes from 0 to 1.
    mutating func takeOut(at place: Double) -> ListedURL? {
      let index = Int(place * Double(ready.count + last.count))
      guard index < ready.count + last.count else { return nil }
      return index < ready.count
        ? ready.remove(at: ready.startIndex + index) : last.remove(at: index - ready.count)
    }

    mutating func append(_ listed: ListedURL) {
      if aside.isEmpty, last.isEmpty { ready.append(listed) } else { last.append(listed) }
    }

    /// Moves all URLs but the first `count` to `last`, which can be written to the file.
    mutating func keepReady(_ count: Int) {
      guard ready.count > count, last.isEmpty, aside.isEmpty else { return }
      last = Array(ready.dropFirst(count))
      ready = ready.prefix(count)
    }
  }

  private final class Host {
    let name: String
    var underWay = 0
    /// The most requests that may be under way at the host now.
    var limit = Backlog.firstLimit
    /// When it last gave a good answer; nil: never.
    var goodAt: Int64?
    /// When a request last ended, or started while no other was under way; monotonic, in nanoseconds.
    var lastSign: Int64 = 0
    var isWaitingForTurn = false
    var line = Line()
    /// Deferred URLs that wait, and the number that are under way.
    var deferred = Line()
    var deferredUnderWay = 0
    var isWaitingForLateTurn = false
    /// Scouts under way. They don't count for `limit`.
    var scouts = 0
    /// How many more scouts may start now.
    var scoutsToStart = 0
    /// The number of scouts so far, and when the next may start without a good answer.
    var scoutCount = 0
    var nextScoutAt: Int64 = 0
    /// When its requests last got no good answers.
    var troubledAt: Int64?

    init(_ name: String) { self.name = name }

    var isEmpty: Bool { line.isEmpty && deferred.isEmpty }
    var isFull: Bool { underWay - scouts >= limit }
  }

  private static let firstLimit = 8
  /// How long scouts are sent after the last trouble of a host.
  private static let recovery: Int64 = 60_000_000_000
  /// Memory for one URL beside its text, in bytes; an estimate.
  private static let overhead = 128
  private static let silence: Int64 = 1_000_000_000
  /// A list counts as paused after so many nanoseconds without a URL.
  private static let pause: Int64 = 5_000_000_000
  /// Limits memory: requests at silent hosts take it, too.
  private static let mostUnderWay = 16_384
  /// The most deferred URLs under way. All of them may hang, and the queue lends at most 256 places to requests that hang.
  private static let mostDeferredUnderWay = 128

  private let enough: Int
  private let mostAtHost: Int
  private let mostInMemory: Int
  private let folder: String
  /// Returns the names of the hosts that give no good answers now.
  private let troubled: () -> Set<String>
  private var hosts: [String: Host] = [:]
  /// Hosts that have room and URLs, longest waiting first.
  private var turns = Fifo<Host>()
  /// Hosts whose next scout may start.
  private var scoutTurns: [Host] = []
  /// Hosts with deferred URLs, longest waiting first.
  private var lateTurns: ArraySlice<Host> = []
  private var deferredUnderWay = 0
  private var bytes = 0
  private var file: SetAside?
  /// The value of `bytes` beyond which the next write to the file is tried. If many hosts have few URLs each, a write frees
  /// little memory, so it must not be tried for every URL.
  private var nextSweep = 0
  private var isFileFull = false
  private var silent = 0
  private var isBusy = false
  private var hasEnded = false
  /// Since when the list gives no URL; nil while it gives some.
  private var nothingToReadSince: Int64?
  private var judgedAt: Int64 = 0

  /// The number of URLs that wait.
  private(set) var count = 0
  /// The number of URLs that are under way.
  private(set) var underWay = 0
  /// The number of URLs that could not be read back from the file.
  private(set) var lost = 0

  /// - Parameter atHost: the most requests that run at one host at once.
  init(
    enough: Int, atHost: Int, mostInMemory: Int = 4 << 20, folder: String,
    troubled: @escaping () -> Set<String>
  ) {
    self.enough = enough
    // More than `atHost`, because free places are filled before this program has seen the answers.
    mostAtHost = max(64, 4 * atHost)
    self.mostInMemory = mostInMemory
    self.folder = folder
    self.troubled = troubled
  }

  /// Returns whether to read more URLs.
  ///
  /// - Parameter queueIsFull: whether requests wait only for a free place. Then a request without an answer may not have been
  ///   sent yet, and its host doesn't count as silent.
  func wantsMore(at now: Int64, queueIsFull: Bool) -> Bool {
    guard underWay < Self.mostUnderWay, !isFull else { return false }
    return underWay < enough || !queueIsFull && lively(at: now) < enough
  }

  private var isFull: Bool { bytes >= 2 * mostInMemory }

  /// Returns the number of requests under way at hosts that answer.
  func lively(at now: Int64) -> Int { underWay - silentOnes(at: now) }

  func add(_ listed: ListedURL) {
    let host = host(of: listed)
    var listed = listed
    listed.isScout = false
    count += 1
    bytes += listed.url.utf8.count + Self.overhead
    if listed.isDeferred {
      host.deferred.append(listed)
      offerLateTurn(host)
    } else {
      nothingToReadSince = nil
      host.line.append(listed)
      offerTurn(host)
    }
    if bytes > mostInMemory { setAside() }
  }

  /// Notes that the list has ended. Deferred URLs can start now.
  func noteEndOfList() { hasEnded = true }

  /// Notes that the list has no URL now. It may have some later.
  func noteNothingToRead(at now: Int64) { nothingToReadSince = nothingToReadSince ?? now }

  /// Takes the next URL whose host has room, and counts it as under way. Returns nil if there is none.
  func next(at now: Int64) -> ListedURL? {
    while let host = turns.popFirst() {
      host.isWaitingForTurn = false
      guard hasRoom(host), let listed = takeFirst(of: &host.line) else { continue }
      begin(listed, at: host, now)
      offerTurn(host)
      return listed
    }
    return nextScout(at: now) ?? nextDeferred(at: now)
  }

  private func begin(_ listed: ListedURL, at host: Host, _ now: Int64) {
    count -= 1
    bytes -= listed.url.utf8.count + Self.overhead
    host.underWay += 1
    underWay += 1
    if listed.isScout { host.scouts += 1 }
    if listed.isDeferred {
      host.deferredUnderWay += 1
      deferredUnderWay += 1
    }
    if host.underWay == 1 { host.lastSign = now }
  }

  private func nextScout(at now: Int64) -> ListedURL? {
    while let host = scoutTurns.last {
      // Places that lie as far apart as possible, however many they are.
      let place = (0.618034 * Double(host.scoutCount + 1)).truncatingRemainder(dividingBy: 1)
      guard host.scoutsToStart > 0, host.isFull, underWay < Self.mostUnderWay / 4,
        var listed = host.line.takeOut(at: place)
      else {
        host.scoutsToStart = 0
        scoutTurns.removeLast()
        continue
      }
      listed.isScout = true
      host.scoutsToStart -= 1
      if host.scoutsToStart == 0 { scoutTurns.removeLast() }
      host.scoutCount += 1
      begin(listed, at: host, now)
      host.nextScoutAt = now + 2 * Self.silence * Int64(host.scouts)
      return listed
    }
    return nil
  }

  private func offerScouts(_ count: Int, at host: Host) {
    if host.scoutsToStart == 0 { scoutTurns.append(host) }
    host.scoutsToStart = min(host.scoutsToStart + count, Self.firstLimit)
  }

  private func nextDeferred(at now: Int64) -> ListedURL? {
    let pauses = nothingToReadSince.map { now - $0 >= Self.pause } ?? false
    // Memory is full of deferred URLs if the file can't be written. Until some of them have ended, no more URLs are read.
    guard hasEnded || pauses || isFull, !lateTurns.isEmpty, deferredUnderWay < Self.mostDeferredUnderWay,
      !othersAreAnswered(at: now)
    else { return nil }
    for _ in 0..<lateTurns.count {
      guard let host = lateTurns.popFirst() else { return nil }
      host.isWaitingForLateTurn = false
      // Before the list has ended, start one deferred URL of a host at a time: other URLs of the host may still come.
      let mayBegin = hasRoom(host) && (hasEnded || host.deferredUnderWay == 0)
      let listed = mayBegin ? takeFirst(of: &host.deferred) : nil
      offerLateTurn(host)
      guard let listed else { continue }
      begin(listed, at: host, now)
      return listed
    }
    return nil
  }

  /// Notes that a URL that was under way has ended.
  func end(_ listed: ListedURL, isGood: Bool, at now: Int64) {
    let host = host(of: listed)
    host.underWay -= 1
    underWay -= 1
    if listed.isDeferred {
      host.deferredUnderWay -= 1
      deferredUnderWay -= 1
    }
    if listed.isScout {
      host.scouts -= 1
      if isGood { offerScouts(2, at: host) }
    }
    host.lastSign = now
    if isGood {
      host.goodAt = now
      host.limit = max(host.limit, min(host.limit + 4, mostAtHost))
    } else if host.goodAt.map({ now - $0 > Self.silence }) ?? true {
      host.limit = Self.firstLimit
    }
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

  /// Returns whether a host may start another request. If more than half of `mostUnderWay` are under way, a host that has
  /// never answered gets only one.
  private func hasRoom(_ host: Host) -> Bool {
    underWay > Self.mostUnderWay / 2 && host.goodAt == nil ? host.underWay == 0 : !host.isFull
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
    // The first URLs of each host stay in memory. Otherwise every URL of a long list would pass through the file.
    let stays = min(2 * mostAtHost, max(Self.firstLimit, mostInMemory / 2 / 160 / hosts.count))
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

  /// Notes that `line.last` is in the file now.
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

  /// Returns whether a URL that is not deferred is under way at a host that answers.
  private func othersAreAnswered(at now: Int64) -> Bool {
    judge(now)
    return isBusy && underWay > deferredUnderWay
  }

  private func judge(_ now: Int64) {
    guard now - judgedAt > Self.silence / 4 else { return }
    judgedAt = now
    silent = 0
    isBusy = false
    var full: [Host] = []
    for host in hosts.values {
      if now - host.lastSign > Self.silence {
        silent += host.underWay
        if host.isFull, !host.line.isEmpty { full.append(host) }
      } else if host.underWay > host.deferredUnderWay {
        isBusy = true
      }
    }
    guard !full.isEmpty else { return }
    let troubled = troubled()
    for host in full where underWay < Self.mostUnderWay / 4 {
      if troubled.contains(host.name) { host.troubledAt = now }
      if let last = host.troubledAt, now - last < Self.recovery {
        if now >= host.nextScoutAt { offerScouts(1, at: host) }
      } else if host.goodAt != nil {
        host.limit = 2 * host.underWay
        offerTurn(host)
      }
    }
  }
}
