import CSystem
import Glibc
import NuthatchCore

/// Runs over a list: submits each URL when its host has room, and reports how it ended.
final class PrefetchRun {
  private let settings: PrefetchSettings
  private let cache: Cache
  private let list: URLList
  /// The URLs that were read and have not ended.
  private let backlog: Backlog

  private let arrivals = FinishedTickets<Record>()
  private var isListDone = false
  private var listFault: String?
  private var tally = Tally()
  private var output = RecordStream()
  private var progress: ProgressLine
  /// Whether standard output is a terminal. The progress line, which may be on the same terminal, is cleared before a record.
  private let writesToTerminal = isatty(STDOUT_FILENO) == 1
  private var disk: DiskWatch
  private var pauses = PauseWatch()
  private var hold: HoldWatch
  private var room: RoomWatch
  /// Whether no URL so far was at the host of `--user`.
  private var isSignInUnused: Bool
  private var failed: FailedList?
  private var report: ReportPage?
  private var json = JSONText()
  private let begin = nhs_monotonic_ns()
  /// The exit code of a run that ends early; nil while it goes on.
  private var failure: ExitCode?

  init(_ settings: PrefetchSettings, _ cache: Cache, _ list: URLList, atHost: Int) throws(NuthatchError) {
    self.settings = settings
    self.cache = cache
    self.list = list
    backlog = Backlog(enough: 1024, atHost: atHost, folder: cache.path) {
      Set(cache.awayHosts.map(\.name) + cache.pausedHosts.map(\.name))
    }
    isSignInUnused = settings.signIn?.place != nil
    progress = ProgressLine(settings.progress)
    disk = DiskWatch(cache, of: settings.said.common)
    hold = HoldWatch { cache.storeIsHeld }
    room = RoomWatch(cache.path, patience: settings.giveUpAfter)
    if let path = settings.failedOut { failed = try FailedList(path, isListItself: list.has(path)) }
    if let path = settings.report { report = try ReportPage(path) }
  }

  func run() -> ExitCode {
    Interruption.watch()
    while mayGoOn {
      let need = fill()
      if isListDone, backlog.underWay == 0, backlog.count == 0 { break }
      if failure != nil { break }
      settle(within: need == .time || backlog.underWay == 0 && !isStopped ? 0 : need == .input ? 20 : 100)
      output.flush()
      if let ended = output.ended { failure = ended }
    }
    windUp()
    return end()
  }

  // MARK: URLs

  /// Whether fetching has stopped because nothing can be stored.
  private var isStopped: Bool { hold.isHeld || room.isFull }

  private var mayGoOn: Bool { Interruption.signal == nil && failure == nil }

  /// What the run needs before it can submit more URLs.
  private enum Need {
    case answers, input, time
  }

  /// Reads and submits URLs until the hosts have enough requests, or the list has no URL now.
  private func fill() -> Need {
    guard !isStopped else { return .answers }
    let now = nhs_monotonic_ns()
    startWaiting(now)
    var left = 4096
    while !isListDone, mayGoOn, backlog.wantsMore(at: now, queueIsFull: cache.waitsForPlaces) {
      // Return to the answers from time to time: a long list must not delay them.
      guard left > 0 else { return .time }
      left -= 1
      do throws(ListFault) {
        switch try list.next(within: backlog.underWay == 0 ? 200 : 0) {
        case .idle:
          backlog.noteNothingToRead(at: now)
          return .input
        case .end: endList()
        case .url(let listed):
          if isOurs(listed.url) { take(listed, now) }
        }
      } catch {
        listFault = error.message
        endList()
      }
    }
    return .answers
  }

  private func endList() {
    isListDone = true
    backlog.noteEndOfList()
    startWaiting(nhs_monotonic_ns())
  }

  private func take(_ listed: ListedURL, _ now: Int64) {
    if let failure = listed.failure { return account(Record(listed, failed: failure, since: now)) }
    backlog.add(listed)
    startWaiting(now)
  }

  private func startWaiting(_ now: Int64) {
    while mayGoOn, let listed = backlog.next(at: now) {
      if let record = start(listed) {
        backlog.end(listed, isGood: record.isOK, at: now)
        account(record)
      }
    }
  }

  private func isOurs(_ url: String) -> Bool {
    guard let shard = settings.shard else { return true }
    return Shard.number(of: url, by: settings.shardBy, among: shard.count) == shard.number
  }

  /// Starts one URL. Returns its record if it ended without a request, or nil.
  private func start(_ listed: ListedURL) -> Record? {
    let begin = nhs_monotonic_ns()
    var request = settings.request(listed.url)
    request.mayBeDeferred = !listed.isDeferred
    if isSignInUnused, settings.signIn?.place?.has(listed.url) == true { isSignInUnused = false }
    do throws(NuthatchError) {
      if settings.isDryRun {
        return Record(listed, planned: try cache.prospect(of: request).0, since: begin)
      }
      let boxes = request.boxes
      // Take a hit without decoding it. A stale answer that must be revalidated in the background needs a request.
      let begun = try cache.submit(request) {
        $0.prospect == .hit && !$0.revalidates && $0.thumbs.count == boxes.count
      }
      if let stored = begun.stored {
        disk.note(stored)
        return Record(listed, hit: stored, since: begin)
      }
      guard let ticket = begun.ticket else { return nil }
      arrivals.follow(ticket) { Record(listed, $0, boxes, since: begin) }
      return nil
    } catch {
      return Record(listed, failed: error, since: begin)
    }
  }

  /// Waits for requests to end, and accounts for them.
  private func settle(within milliseconds: Int64) {
    let lively = backlog.lively(at: nhs_monotonic_ns())
    let ended = arrivals.take(within: milliseconds, enough: max(1, min(lively / 4, 256)))
    let now = nhs_monotonic_ns()
    room.note(unkept: cache.statistics.unkept, hasEnded: ended.contains { $0.isStored }, at: now)
    for record in ended {
      backlog.end(record.listed, isGood: record.isOK, at: now)
      if record.kind != .cancelled, !room.isFull || isKept(record) {
        account(record)
      } else if mayGoOn {
        var listed = record.listed
        if record.kind == .cancelled { listed.earlierAttempts = record.attempts }
        backlog.add(listed)
      }
    }
    heedHold()
    heedRoom()
    // Ask only after all records: the statistics of the disk include every request that has ended.
    if let news = disk.news(tally, done: share) { tellNews(news) }
    showProgress()
  }

  /// Returns whether a URL needs no second fetch when the disk has room again.
  private func isKept(_ record: Record) -> Bool {
    guard record.isOK else { return record.error?.code != .noSpace }
    // If the store can't be read, fetch the URL once more.
    guard let info = (try? cache.inspect(request(record))) ?? nil else { return false }
    return info.thumbs.count == record.thumbs.count && info.thumbs.allSatisfy { $0.form != "memory" }
  }

  private func heedRoom() {
    guard let news = room.news(at: nhs_monotonic_ns()) else { return }
    switch news {
    case .stop(let words):
      tellNews(words)
      cache.cancelAll()
    case .goOn(let words):
      // Drop answers that are in memory only. They would be hits, and would be lost when this process ends.
      Cache.relieveMemory(.critical)
      tellNews(words)
    case .giveUp(let words):
      say(words)
      failure = .failure
    }
  }

  /// Stops fetching while another process holds the store's lock: a fetched answer could not be stored.
  private func heedHold() {
    guard let news = hold.news(at: nhs_monotonic_ns()) else { return }
    switch news {
    case .stop(let words):
      tellNews(words)
      if !settings.isDryRun { cache.cancelAll() }
    case .goOn(let words): tellNews(words)
    }
  }

  // MARK: Records

  private func account(_ ended: Record) {
    if let prospect = ended.prospect { return tell(ended.listed, prospect) }
    var record = ended
    if settings.respectsNoAI, record.isOK, record.robots.contains(where: { RobotsTag.forbidsTraining($0) }) {
      refuse(&record)
    } else if record.kind == .fetched, record.source == .network, !record.isStored {
      tally.notKept += 1
    }
    tally.count(record)
    if record.isOK, let kept = record.kept { disk.note(kept) }
    if !record.isOK { failed?.note(record.listed) }
    if let page = report, page.wants(record) {
      report?.add(record, record.isOK && page.hasRoom ? thumbnail(record) : nil)
    }
    switch settings.format {
    case .jsonl: emit { record.write(to: &$0) }
    case .text: if let error = record.error { say("\(error)") }
    }
    if settings.wordiness == .verbose, record.isOK || settings.format == .jsonl { say(record.outcome) }
    if tally.urls & 255 == 0 {
      showProgress()
      if MappedMemory.isTooMuch { cache.stayLean() }
    }
  }

  private func request(_ record: Record) -> Request { settings.request(record.listed.url) }

  private func refuse(_ record: inout Record) {
    record.fail(
      NuthatchError(.denied, "its server marks it noai (X-Robots-Tag): \(HostName.of(record.listed.url))"))
    do throws(NuthatchError) {
      try cache.remove(request(record))
      record.isStored = false
    } catch {
      say("\(error)")
    }
  }

  /// The thumbnail that the report shows.
  private func thumbnail(_ record: Record) -> Image? {
    var request = request(record)
    guard let box = ReportPage.box(of: request.boxes) else { return nil }
    request.boxes = [box]
    request.policy = .offline
    // If the thumbnail was dropped already, or can't be read, the report shows the URL: the fetch itself succeeded.
    return (try? cache.peek(request, decode: true)) ?? nil
  }

  private func tell(_ listed: ListedURL, _ prospect: StoredAnswerInfo.Prospect) {
    tally.urls += 1
    tally.succeeded += 1
    tally.planned[prospect, default: 0] += 1
    if settings.wordiness == .verbose { say("\(prospect.rawValue): \(ShownURL.of(listed.url))") }
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
    if writesToTerminal { progress.clear() }
    output.write(json.bytes)
    if writesToTerminal { output.flush() }
    if let ended = output.ended { failure = ended }
  }

  // MARK: Progress

  private var seconds: Double { Double(nhs_monotonic_ns() - begin) / 1e9 }

  /// The part of the list that is done, from 0 to 1; nil if it is unknown.
  private var share: Double? {
    let done = Double(list.count - backlog.underWay - backlog.count)
    guard !isListDone else { return done / Double(max(list.count, 1)) }
    guard let read = list.share, list.count > 0 else { return nil }
    return read * done / Double(list.count)
  }

  private func showProgress() {
    for news in pauses.news(cache, patience: settings.patience) { tellNews(news) }
    progress.show(
      tally, pauses.line, total: isListDone && settings.shard == nil ? list.count : nil,
      bytes: cache.statistics.bytes,
      seconds: seconds, share: share)
  }

  /// Prints a line that isn't an error.
  private func tellNews(_ words: String) {
    if settings.wordiness != .quiet { say(words) }
  }

  private func say(_ words: String) {
    progress.clear()
    Terminal.complain("nuthatch: prefetch: \(words)\n")
  }

  // MARK: The end

  /// Cancels the requests that are under way, and waits up to 1 s for their ends.
  private func windUp() {
    guard backlog.underWay > 0 else { return output.flush() }
    cache.cancelAll()
    let due = nhs_monotonic_ns() + 1_000_000_000
    while backlog.underWay > 0, nhs_monotonic_ns() < due { settle(within: 100) }
    output.flush()
  }

  private func end() -> ExitCode {
    let interruption = Interruption.exitCode
    if backlog.lost > 0, listFault == nil {
      listFault =
        "\(Amounts.counted(backlog.lost, "URL")) moved to a file in \(cache.path) could not be read back; run again"
    }
    // The reader has closed standard output, so it needs no summary.
    if output.ended == .closedPipe { return .closedPipe }
    var code = interruption ?? failure ?? output.ended ?? exitCode
    var fault: NuthatchError?
    do throws(NuthatchError) {
      // Write everything to disk now: it must be there however the program ends.
      if !cache.isReading { try cache.flush() }
      try finishFailed(interruption)
    } catch {
      fault = error
    }
    let diskReport = disk.lastReport(tally, done: isListDone ? 1 : share, isFull: room.isFull)
    let isLost = diskReport?.isFull ?? room.isFull || diskReport?.readOnly != nil
    if code == .success || code == .notFetched, isLost { code = .failure }
    if code == .success, let diskReport, diskReport.dropped > 0 { code = .tooSmall }
    if let fault {
      say("\(fault)")
      code = interruption ?? .failure
    }
    if let listFault { say(listFault) }
    if isSignInUnused, tally.urls > 0, isListDone, listFault == nil, settings.shard == nil {
      say(ListSignIn.unused)
    }
    var summary = Summary(
      tally: tally, isDryRun: settings.isDryRun, bytes: cache.statistics.bytes, seconds: seconds,
      heldUp: cache.statistics.heldUp, disk: diskReport, interruption: interruption, exitCode: code,
      listFault: listFault)
    finishReport(&summary)
    progress.clear()
    if settings.wordiness == .quiet {
      if code == .failure || code == .tooSmall, let warning = diskReport?.warning { say(warning) }
    } else if settings.format == .jsonl {
      // An earlier warning was an estimate. Repeat it with the real figures.
      if !disk.isSaid || diskReport?.dropped ?? 0 > 0, let warning = diskReport?.warning {
        say(warning)
      }
      Terminal.complain(summary.json)
    } else {
      output.write(Array(Terminal.fitted(summary.text).utf8))
      output.flush()
      if let ended = output.ended, interruption == nil { return ended }
    }
    return summary.exitCode
  }

  private func finishFailed(_ interruption: ExitCode?) throws(NuthatchError) {
    let isAllTried =
      isListDone && listFault == nil && failure == nil && interruption == nil && settings.shard == nil
      && !settings.isDryRun
    if let words = try failed?.finish(isAllTried: isAllTried) { say(words) }
  }

  private func finishReport(_ summary: inout Summary) {
    guard report != nil else { return }
    do throws(NuthatchError) {
      try report?.finish(summary)
      summary.report = settings.report
    } catch {
      say("\(error)")
      if summary.interruption == nil { summary.exitCode = .failure }
    }
  }

  private var exitCode: ExitCode {
    if backlog.lost > 0 { return .failure }
    if listFault != nil { return .usage }
    return tally.share >= settings.minSuccess ? .success : .notFetched
  }
}
