import CSystem
import NuthatchCore

/// `nuthatch prefetch`: fetches the URLs of a list, and stores thumbnails of each in the cache.
enum PrefetchCommand: Command {
  static let name = "prefetch"
  static let summary = "fetch many URLs and keep their thumbnails"
  static let usage = "[OPTION…] [FILE… | -]"
  static let options =
    CommonOptions.list + [
      Option("format", value: "text|jsonl", "a summary for people; or a line of JSON for each URL (text)"),
      Option("report", value: "FILE.html", "a page with the pictures, the failures and the timings"),
      Option("failed-out", value: "FILE", "the URLs that failed, one a line, readable again as input"),
      Option("min-success", value: "F", "the share of URLs that must succeed, 0 to 1 (1)", range: "0 to 1"),
      Option("dry-run", "count the URLs that would hit, be revalidated or be fetched; fetch nothing"),
      Option("shard", value: "I/N", "this machine's share: I of 0 to N-1"),
      Option("shard-by", value: "host|url", "divide the list by host or by URL (host)", needs: "shard"),
      Option("respect-noai", "refuse pictures that their server marks noai or noimageai (X-Robots-Tag)"),
      CommonOptions.cache,
    ] + CommonOptions.words + [Option].ofLibrary(for: name).forList
  static let assumed = ["size"]
  static let details = """
    Each line of a list is a URL, including any commas. Blank lines and lines that begin with # are skipped. Files that
    end in .csv, .tsv or .jsonl, with or without .gz, .zst or .xz, are read as that. For other files the first line decides:
    JSON, names of columns, or a URL beside a tabulator. Without FILE, standard input is read. A list may have any length: it
    is read as it is needed. With --format jsonl, a slow reader of standard output slows the run.

    The first row of CSV decides whether its separator is a comma, a semicolon or a tabulator. UTF-16 needs a byte order
    mark. With --url-field a.b, the URL is the field b in the field a; with a.0, the first item of the array a. For an array
    without a number, each item is a URL. A row without a URL is a failure that names its line. A binary file is an error.
    docs/COMMAND.md has the rest.

    FILE of --failed-out gets each URL that failed as it was in the list, passwords included, so a new FILE can be read by
    its owner only. A line without a URL becomes a comment with the line's number. FILE may be the list itself: it is
    replaced only if all of it was tried.

    After Retry-After, nothing is sent to a host for the time that it asks for, five minutes at most. After 429 or 503, a
    host gets fewer requests a second. If a host can't be reached, for example while its server restarts, its URLs wait until
    it is back, and the other hosts go on. --retries counts other failures. A host that has never answered counts
    as unreachable after five failed requests in a row; until then --retries limits its failures, too, and the last retry
    waits 5 s, because the host may be restarting. The run prints which hosts it waits for. If a host gives no good answer
    for the time of --give-up-after, its URLs fail with the host's error. A URL whose server sends nothing while other URLs
    need its place is tried again at the end of the list, and so is one that keeps failing while other URLs of its host
    are answered.

    By default a run has six requests at once at a host (32 over HTTP/2). The number of all requests grows, up to 512, as
    long as more requests bring more answers a second. --per-host-grows, or --per-host=auto, finds out how many requests a
    host accepts, up to 32. It halves the number after the host's first 429, 503 or broken connection; then it adds one
    request a minute.

    If another process holds the lock of the cache for more than 30 s, nothing can be stored. Then nothing is fetched until
    the lock is free, and a line names the process. If the disk is full, nothing is fetched, either. The run goes on when
    there is room again, or ends if there is none for the time of --give-up-after. Another run fetches what is missing.

    If the thumbnails of a list need more than the cache's limit, the first ones are dropped for the last ones. A line says so
    as soon as the first answers show it, and names the limit that would keep all of them. The summary says how many
    thumbnails were dropped (exit status 5).

    The password of --user is sent to HOST only: a list may have URLs of any host. HOST is host or host:port, over HTTPS and
    HTTP, or https://host, one origin. The text after the last '@' is HOST, so a password with an '@' needs HOST. Without
    HOST, all URLs must be at one origin; several origins are an error. Then lists, standard input too, are read to their end
    and kept in memory before anything is sent. A URL with its own password, https://NAME:PASSWORD@host/, signs in with that.
    Headers of --header go to every URL.

    A read-only cache stores nothing. If a picture had to be fetched, the run says so, and ends with exit status 1.

    A picture that is in the cache costs no request while it is fresh, and a conditional request after that. To continue a
    run that was interrupted, run the same command again.

    In a container with little memory, requests and decodes are limited to parts of the control group's limit. A picture that
    needs more memory to decode fails with too_many_pixels, and the message has the numbers; the others go on.

    With --format jsonl, standard output has one JSON object for each URL, and standard error ends with the summary. With
    --quiet there is no summary and no progress: only the errors of the run and the URLs that failed (with --format jsonl,
    the records have those). With --verbose, standard error has a line for each URL when it ends. Colours are used on
    terminals only, and not if NO_COLOR is set.

    Exit status: 0 every URL has its thumbnails, or the share of --min-success has; 4 fewer; 5 as 0, but some thumbnails
    were dropped again, because the cache is too small; 1 the cache, a file or standard output can't be written, or the
    disk stays full; 2 wrong usage, or a list that can't be read; 129, 130 and 143 interrupted; 141 standard output was
    closed.

    Examples:
      nuthatch prefetch urls.txt
      nuthatch prefetch --size 128,512 --report report.html --failed-out failed.txt urls.txt
      zcat urls.csv.gz | nuthatch prefetch --input csv --url-field image - --min-success 0.95
      nuthatch prefetch --format jsonl urls.txt | jq -r 'select(.ok | not) | [.error, .url] | @tsv'
      nuthatch prefetch --user ann:PASSWORD@example.org urls.txt
      nuthatch prefetch --dry-run urls.txt
      seq 0 7 | parallel nuthatch prefetch --shard {}/8 --cache shard-{} urls.txt

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    var settings = try PrefetchSettings(arguments)
    var options = settings.said.cache
    if options.memoryBytes == nil, options.spill != .pressure { options.memoryBytes = 4 << 20 }
    // This process doesn't use the pixels again. If they are freed at once, the next picture reuses memory that is still in the
    // processor's cache.
    var seams = CacheSeams()
    seams.keepsPixels = false
    let queue = settings.said.process
    let list: URLList
    do throws(ListFault) {
      list = try URLList(arguments.operands, format: settings.input, field: settings.urlField)
    } catch {
      throw UsageError("prefetch: \(error.message)")
    }
    try settings.checkReport(list)
    try settings.settleSignIn(list)
    if !settings.isDryRun { settings.said.warn(of: "prefetch", settings.wordiness) }
    do throws(NuthatchError) {
      OpenFiles.allowMany()
      try ProcessQueue.set(queue)
      // Call it before other threads start. Without it, the loop's thread preempts a decoder for each packet.
      nhs_work_as_batch()
      let cache = try Cache(path: arguments.cachePath, options: options, seams: seams)
      let run = try PrefetchRun(settings, cache, list, atHost: queue.perHost ?? 32)
      let code = run.run()
      // Background revalidations have a minute to end. After a signal, don't wait for them.
      if Interruption.signal == nil { cache.closing.begin() }
      for _ in 0..<600 where Interruption.signal == nil && !cache.closing.waitForRevalidations(within: 100) {}
      if Interruption.signal == nil { cache.close() }
      return code
    } catch {
      Terminal.complain("nuthatch: prefetch: \(error)\n")
      return error.code == .invalid ? .usage : .failure
    }
  }
}

/// The settings of a run, from the command line.
struct PrefetchSettings {
  enum Format {
    case text, jsonl
  }

  let said: ParsedOptions
  private var request: Request
  private(set) var signIn: ListSignIn?
  private(set) var giveUpAfter: Request.Limit?
  private var key: KeyTemplate?
  var input = URLList.Format.auto
  var urlField: String?
  var format = Format.text
  var progress = ProgressLine.Form.auto
  var wordiness = Wordiness.usual
  var report: String?
  var failedOut: String?
  var minSuccess = 1.0
  var isDryRun = false
  var shard: (number: Int, count: Int)?
  var shardBy = Shard.By.host
  var respectsNoAI = false

  init(_ arguments: ParsedArguments) throws(UsageError) {
    var base = ParsedOptions.ofList
    base.request.priority = -5
    // A list may be long, so a deadline must not count the time that a URL waits in the queue.
    base.request.isBatched = true
    said = try arguments.said(over: base)
    request = said.common
    giveUpAfter = request.giveUpAfter
    signIn = try said.user.map { text throws(UsageError) in
      try ListSignIn(text, for: PrefetchCommand.name)
    }
    key = said.key
    if key?.isFixed == true {
      throw UsageError("--cache-key: the name is the same for all URLs of the list; use {} for the URL")
    }
    input = try arguments.input
    urlField = arguments.value("url-field")
    format = try arguments.word("format", [.text, .jsonl]) ?? .text
    wordiness = try arguments.wordiness
    progress = wordiness == .quiet ? .never : try arguments.progress
    report = arguments.value("report")
    failedOut = arguments.value("failed-out")
    minSuccess = try arguments.last("min-success")?.share(0, 1, none: 0) ?? 1
    isDryRun = arguments.has("dry-run")
    shard = try Self.shard(arguments)
    shardBy = try arguments.word("shard-by", [.host, .url]) ?? .host
    respectsNoAI = arguments.has("respect-noai")
  }

  /// Refuses a report that would overwrite the list or another file: in `--report urls.txt`, without a name for the report, the
  /// list is taken for the report.
  fileprivate func checkReport(_ list: URLList) throws(UsageError) {
    guard let report else { return }
    guard !isDryRun else {
      throw UsageError(
        "--report: a dry run fetches no pictures to show; --format jsonl names the plan of each URL")
    }
    guard !list.has(report) else {
      throw UsageError("--report: \(report) is the list itself; name another file for the report")
    }
    guard ReportPage.mayReplace(report) else {
      throw UsageError(
        "--report: \(report) exists and is not a report; name a new file, an empty one or an earlier report"
      )
    }
    if let failedOut, OutputFile.areOne(report, failedOut) {
      throw UsageError("--report and --failed-out name the same file: \(report)")
    }
  }

  fileprivate mutating func settleSignIn(_ list: URLList) throws(UsageError) {
    try signIn?.settle(list)
    request.user = signIn?.user
    request.userPlace = signIn?.place
  }

  /// How long the run waits for an unreachable host, in words.
  var patience: String {
    switch request.giveUpAfter ?? Request.usualPatience {
    case .none: "without a limit"
    case .milliseconds(let time): "for \(Amounts.seconds(Double(time) / 1000)) at most (--give-up-after)"
    }
  }

  /// Returns the request for a URL of the list.
  func request(_ url: String) -> Request {
    var request = request
    request.url = url
    if let key { request.cacheKey = key.key(for: url) }
    return request
  }

  private static func shard(_ arguments: ParsedArguments) throws(UsageError) -> (Int, Int)? {
    guard let text = arguments.value("shard") else { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
    guard parts.count == 2, parts[1] > 0, (0..<parts[1]).contains(parts[0]) else {
      throw UsageError("--shard: '\(text)' is not I/N, such as 0/4, I from 0 to N-1")
    }
    return (parts[0], parts[1])
  }
}
