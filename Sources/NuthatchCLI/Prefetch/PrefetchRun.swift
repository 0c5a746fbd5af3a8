import CSystem
import Glibc
import NuthatchCore

/// A run over a list: takes URLs as the window has room for them, and says of each how it ended.
final class PrefetchRun {
  private let settings: PrefetchSettings
  private let cache: Cache
  private let list: URLList
  /// How many requests are submitted and not accounted for, at most.
  private let window: Int

  private let arrivals = Arrivals<Record>()
  private var inFlight = 0
  private var isListDone = false
  private var listFault: String?
  private var tally = Tally()
  private var output = RecordStream()
  private var progress: ProgressLine
  /// Records come to a terminal, which may well be that of the progress.
  private let isOnOneTerminal = isatty(STDOUT_FILENO) == 1
  private var disk: DiskWatch
  private var pauses = PauseWatch()
  private var hold: HoldWatch
  /// URLs whose requests were ended because nothing could be stored; the next ones to be fetched.
  private var again: [ListedURL] = []
  /// Whether user and password were given in vain, as it looks so far.
  private var isSignInUnused: Bool
  private var failedOut: DraftFile?
  /// Whether what failed is to take the place of the list itself.
  private let isListReplaced: Bool
  private var report: ReportPage?
  private var json = JSONText()
  private let mapped = MappedMemory()
  private let begin = nhs_monotonic_ns()
  /// Why the run ends before its end.
  private var failure: ExitCode?

  init(_ settings: PrefetchSettings, _ cache: Cache, _ list: URLList, window: Int) throws(NuthatchError) {
    self.settings = settings
    self.cache = cache
    self.list = list
    self.window = window
    isSignInUnused = settings.signIn?.place != nil
    progress = ProgressLine(settings.progress)
    disk = DiskWatch(cache)
    hold = HoldWatch { cache.storeIsHeld }
    isListReplaced = settings.failedOut.map { list.has($0) } ?? false
    if let path = settings.failedOut { failedOut = try DraftFile(path, isPrivate: true) }
    if let path = settings.report { report = try ReportPage(path) }
  }

  func run() -> ExitCode {
    Interruption.watch()
    while Interruption.signal == nil, failure == nil {
      let isWaitingForInput = fill()
      if isListDone, inFlight == 0, again.isEmpty { break }
      if failure != nil { break }
      settle(within: hold.isHeld ? 100 : inFlight == 0 ? 0 : isWaitingForInput ? 20 : 100)
      output.flush()
      if let ended = output.ended { failure = ended }
    }
    windUp()
    return end()
  }

  // MARK: URLs

  /// Takes URLs until the window is full or none is there. True when the list has to be waited for.
  private func fill() -> Bool {
    guard !hold.isHeld else { return false }
    while inFlight < window, let listed = again.popLast() { start(listed) }
    while !isListDone, inFlight < window, Interruption.signal == nil, failure == nil {
      do throws(ListFault) {
        switch try list.next(within: inFlight == 0 ? 200 : 0) {
        case .idle: return true
        case .end: isListDone = true
        case .url(let listed):
          if isOurs(listed.url) { start(listed) }
        }
      } catch {
        listFault = error.message
        isListDone = true
      }
    }
    return false
  }

  private func isOurs(_ url: String) -> Bool {
    guard let shard = settings.shard else { return true }
    return Shard.number(of: url, by: settings.shardBy, among: shard.count) == shard.number
  }

  private func start(_ listed: ListedURL) {
    let begin = nhs_monotonic_ns()
    if let fault = listed.fault {
      return account(
        Record(listed, failed: NuthatchError(.badURL, "\(fault), in line \(listed.line)"), since: begin))
    }
    let request = settings.request(listed.url)
    if isSignInUnused, settings.signIn?.place?.has(listed.url) == true { isSignInUnused = false }
    do throws(NuthatchError) {
      if settings.isDryRun { return tell(listed, try cache.inspect(request)?.prospect ?? .fetch) }
      let boxes = request.boxes
      // Without decoding what nobody will look at.
      let begun = try cache.submit(request) { $0.prospect == .hit && $0.thumbs.count == boxes.count }
      if let stored = begun.stored { return account(Record(listed, hit: stored, since: begin)) }
      guard let ticket = begun.ticket else { return }
      inFlight += 1
      arrivals.follow(ticket) { Record(listed, $0, boxes, since: begin) }
    } catch {
      account(Record(listed, failed: error, since: begin))
    }
  }

  /// Accounts for what has ended.
  private func settle(within milliseconds: Int64) {
    for record in arrivals.take(within: milliseconds, enough: max(1, min(inFlight, window / 4))) {
      inFlight -= 1
      if record.kind != .cancelled {
        account(record)
      } else if Interruption.signal == nil, failure == nil {
        again.append(record.listed)
      }
    }
    heedHold()
    showProgress()
  }

  /// What is fetched while the store can't be written is lost, so that nothing is.
  private func heedHold() {
    guard let news = hold.news(at: nhs_monotonic_ns()) else { return }
    progress.clear()
    switch news {
    case .stop(let words):
      Terminal.complain("nuthatch: prefetch: \(words)\n")
      if !settings.isDryRun { cache.cancelAll() }
    case .goOn(let words):
      Terminal.complain("nuthatch: prefetch: \(words)\n")
    }
  }

  // MARK: Records

  private func account(_ ended: Record) {
    var record = ended
    if settings.respectsNoAI, record.isOK, record.robots.contains(where: { RobotsTag.forbidsTraining($0) }) {
      refuse(&record)
    } else if record.kind == .fetched, record.source == "network", !record.isStored {
      tally.notKept += 1
    }
    tally.count(record)
    if !record.isOK { failedOut?.write(Self.line(toTryAgain: record.listed) + "\n") }
    if let page = report, page.wants(record) {
      report?.add(record, record.isOK && page.hasRoom ? thumbnail(record) : nil)
    }
    switch settings.format {
    case .jsonl: emit { record.write(to: &$0) }
    case .text:
      guard let error = record.error else { break }
      progress.clear()
      Terminal.complain("nuthatch: prefetch: \(error)\n")
    }
    if tally.urls & 255 == 0 { showProgress() }
    if tally.urls & 0x1ff == 0, mapped.bytes ?? .max > MappedMemory.enough { cache.leavePages() }
  }

  /// What isn't a URL, and might have a list read as another kind of list, stands there as a comment.
  private static func line(toTryAgain listed: ListedURL) -> String {
    let url = listed.url
    let isHTTP = ["http://", "https://"].contains { url.prefix($0.count).lowercased() == $0 }
    let isPlain = listed.fault == nil && url == url.printable && (isHTTP || !url.contains(","))
    if isPlain, let first = url.first, !"#{\" ".contains(first) { return url }
    return "# line \(listed.line): \(url.printable)"
  }

  private func request(_ record: Record) -> Request { settings.request(record.listed.url) }

  private func refuse(_ record: inout Record) {
    record.fail(
      NuthatchError(.denied, "its server marks it noai (X-Robots-Tag): \(HostName.of(record.listed.url))"))
    do throws(NuthatchError) {
      try cache.remove(request(record))
      record.isStored = false
    } catch {
      Terminal.complain("nuthatch: prefetch: \(error)\n")
    }
  }

  /// The thumbnail that the report shows.
  private func thumbnail(_ record: Record) -> Image? {
    var request = request(record)
    guard let box = ReportPage.box(of: request.boxes) else { return nil }
    request.boxes = [box]
    request.policy = Policy(.offline)
    // One that was dropped already is shown by its URL.
    return (try? cache.peek(request, decode: true)) ?? nil
  }

  private func tell(_ listed: ListedURL, _ prospect: StoredAnswerInfo.Prospect) {
    tally.urls += 1
    tally.succeeded += 1
    tally.planned[prospect, default: 0] += 1
    guard settings.format == .jsonl else { return }
    emit { json in
      json.object { json in
        json.put("index", listed.index)
        json.put("line", listed.line)
        json.put("url", listed.url)
        json.put("plan", prospect.rawValue)
      }
    }
  }

  private func emit(_ body: (inout JSONText) -> Void) {
    json.removeAll()
    body(&json)
    json.endLine()
    if isOnOneTerminal { progress.clear() }
    output.write(json.bytes)
    if isOnOneTerminal { output.flush() }
    if let ended = output.ended { failure = ended }
  }

  // MARK: Progress

  private var seconds: Double { Double(nhs_monotonic_ns() - begin) / 1e9 }

  /// How much of the list is done; nil when nobody knows.
  private var share: Double? {
    let done = Double(list.count - inFlight - again.count)
    guard !isListDone else { return done / Double(max(list.count, 1)) }
    guard let read = list.share, list.count > 0 else { return nil }
    return read * done / Double(list.count)
  }

  private func showProgress() {
    if let news = disk.news(tally, done: share) {
      progress.clear()
      Terminal.complain("nuthatch: prefetch: \(news)\n")
    }
    for news in pauses.news(cache) {
      progress.clear()
      Terminal.complain("nuthatch: prefetch: \(news)\n")
    }
    progress.show(
      tally, pauses.line, total: isListDone && settings.shard == nil ? list.count : nil,
      bytes: cache.statistics.bytes,
      seconds: seconds, share: share)
  }

  // MARK: The end

  /// Ends what is under way when the run was interrupted, and takes what still comes.
  private func windUp() {
    guard inFlight > 0 else { return output.flush() }
    cache.cancelAll()
    let due = nhs_monotonic_ns() + 1_000_000_000
    while inFlight > 0, nhs_monotonic_ns() < due { settle(within: 100) }
    output.flush()
  }

  private func end() -> ExitCode {
    let interruption = Interruption.exitCode
    // Whoever reads no more needs no summary.
    if output.ended == .closedPipe { return .closedPipe }
    var code = interruption ?? failure ?? output.ended ?? exitCode
    let diskReport = disk.report(tally, done: isListDone ? 1 : share)
    let isLost = diskReport.map { $0.isFull || $0.readOnly != nil } ?? false
    if code == .success || code == .notFetched, isLost { code = .failure }
    do throws(NuthatchError) {
      // What isn't on disk yet has to survive the program's end, however it ends.
      if !cache.isReading { try cache.flush() }
      try finishFailedOut(interruption)
    } catch {
      progress.clear()
      Terminal.complain("nuthatch: prefetch: \(error)\n")
      code = interruption ?? .failure
    }
    for words in [listFault, isSignInUnused && tally.urls > 0 ? ListSignIn.unused : nil].compactMap({ $0 }) {
      progress.clear()
      Terminal.complain("nuthatch: prefetch: \(words)\n")
    }
    var summary = Summary(
      tally: tally, isDryRun: settings.isDryRun, bytes: cache.statistics.bytes, seconds: seconds,
      heldUp: cache.statistics.heldUp, disk: diskReport, interruption: interruption, exitCode: code,
      listFault: listFault)
    finishReport(&summary)
    progress.clear()
    if settings.format == .jsonl {
      if !disk.isSaid, let warning = diskReport?.warning {
        Terminal.complain("nuthatch: prefetch: \(warning)\n")
      }
      Terminal.complain(summary.json)
    } else {
      output.write(Array(summary.text.utf8))
      output.flush()
      if let ended = output.ended, interruption == nil { return ended }
    }
    return summary.exitCode
  }

  /// A list that it takes the place of would lose what wasn't tried.
  private func finishFailedOut(_ interruption: ExitCode?) throws(NuthatchError) {
    let isAllTried =
      isListDone && listFault == nil && failure == nil && interruption == nil && settings.shard == nil
      && !settings.isDryRun
    if isListReplaced, !isAllTried, let path = settings.failedOut {
      failedOut = nil
      progress.clear()
      Terminal.complain(
        "nuthatch: prefetch: \(path) stays as it was: it is the list, and not all of it was tried\n")
    }
    try failedOut?.finish()
  }

  private func finishReport(_ summary: inout Summary) {
    guard report != nil else { return }
    do throws(NuthatchError) {
      try report?.finish(summary)
      summary.report = settings.report
    } catch {
      progress.clear()
      Terminal.complain("nuthatch: prefetch: \(error)\n")
      if summary.interruption == nil { summary.exitCode = .failure }
    }
  }

  private var exitCode: ExitCode {
    if listFault != nil { return .usage }
    return tally.share >= settings.minSuccess ? .success : .notFetched
  }
}

/// `X-Robots-Tag`, as far as it is about training.
enum RobotsTag {
  /// Directives that have a value of their own behind a colon, as the names of robots have what holds for them.
  private static let valued = [
    "max-snippet", "max-image-preview", "max-video-preview", "unavailable_after",
  ]

  /// Whether a value says `noai` or `noimageai` to everybody, or to us by name.
  static func forbidsTraining(_ value: String) -> Bool {
    var isForUs = true
    for part in value.lowercased().split(separator: ",") {
      var word = trimmed(part)
      if let colon = word.firstIndex(of: ":") {
        let name = trimmed(word[..<colon])
        // No robot's name has a space in it: then it is a date up to its hour.
        if valued.contains(String(name)) || name.contains(" ") { continue }
        // A name holds for all that follows it in the line.
        isForUs = name == "nuthatch" || name == "*"
        word = trimmed(word[word.index(after: colon)...])
      }
      if isForUs, word == "noai" || word == "noimageai" { return true }
    }
    return false
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    let rest = text.drop(while: isBlank)
    return rest[..<(rest.lastIndex { !isBlank($0) }.map { rest.index(after: $0) } ?? rest.startIndex)]
  }
}
