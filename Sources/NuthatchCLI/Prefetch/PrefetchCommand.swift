import CSystem
import NuthatchCore

/// `nuthatch prefetch`: URLs in, one set of thumbnails each, into the cache.
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
      Option("dry-run", "say what would hit, be revalidated or be fetched; fetch nothing"),
      Option("shard", value: "I/N", "this machine's share: I of 0 to N-1"),
      Option("shard-by", value: "host|url", "what is kept together in a share (host)", needs: "shard"),
      Option("respect-noai", "don't keep what its server marks noai or noimageai (X-Robots-Tag)"),
      CommonOptions.cache,
    ] + CommonOptions.words + [Option].ofLibrary(for: name).forList
  static let assumed = ["size"]
  static let details = """
    Each line of a list is a URL: a comma is part of it; blank lines and those that begin with # are skipped. Files that
    end in .csv, .tsv or .jsonl, with or without .gz, .zst or .xz, are read as that, others as their first line looks: JSON,
    names of columns, a URL beside a tabulator. Without FILE, standard input is read. Lists are read as they are needed, of
    any length, and answers are written as they come: a slow reader slows the run.

    The first row of CSV tells whether its separator is a comma, a semicolon or a tabulator. UTF-16 is told by its byte order
    mark. With --url-field a.b, the URL is the field b in the field a; with a.0, the first item of the array a. Of an array
    without a number, each item gives a URL. A row without a URL is a failure that names its line. A file that is no text is
    an error. docs/COMMAND.md has the rest.

    What failed stands in FILE of --failed-out as it stood in the list, passwords included, so that a new FILE is for its
    owner only; what is no URL at all, as a comment with its line. FILE may be the list itself, which stays as it was unless
    all of it was tried.

    A host that wants to be left alone (Retry-After) is, for five minutes at most. A host that says 429 or 503 is asked less
    often, at the rate that it bears. URLs of a host that is away, such as a server that restarts, wait until it is back, and
    other hosts have their turn meanwhile; --retries counts other failures. At a host that has not answered yet it counts all
    failures until five in a row have failed, and the last retry waits 5 s, because the host may be restarting. Lines say which
    hosts the run waits for. When a host has given no good answer for as long as --give-up-after says, its URLs fail with the
    fault that it has. A URL that hangs while its host answers others is put off to the end of the list.

    By itself a run has six requests at once at a host (32 over HTTP/2), and at all hosts together as many as bring more
    answers a second, 512 at most. --per-host-grows finds out how many a host bears, up to 32: half as many after its first
    429, 503 or broken connection, and then one more is tried once a minute.

    While another process holds the lock of the cache for more than 30 s, nothing can be stored: then nothing is fetched
    until it is free. A line says so, and who holds it. While the disk is full, nothing is fetched, either: the run goes on when
    there is room again, or ends when none has come for as long as --give-up-after says. Run again, it fetches what is missing.

    A list that is larger than the cache may be pushes out again what came first. A line says so as soon as the first answers
    let it be seen, and by which limit all of it would be kept; the end says how many thumbnails were dropped (exit status 5).

    The password of --user goes to HOST and to no other: a list may lead anywhere. HOST is host or host:port, over HTTPS and
    HTTP, or https://host, one origin. The last '@' counts: a password that has one needs the HOST behind it. Without HOST,
    all URLs must be at one origin. Then lists, standard input too, are read to their end and kept in memory before anything
    is sent; several origins are an error. A URL with a password of its own, https://NAME:PASSWORD@host/, signs in with that.
    Headers of --header go to every URL.

    A cache that can only be read keeps nothing: what had to be fetched for it is a failure at the end.

    What is in the cache already costs no request while it is fresh, and a conditional one after that. A run that was
    interrupted is begun again with the same command.

    In a container with little memory, requests and decodes have parts of the control group's limit. A picture that needs more
    memory to decode than there is fails with too_many_pixels, and the numbers; the others go on.

    With --format jsonl, standard output has one JSON object for each URL, and standard error ends with the summary. With
    --quiet there is no summary, no progress and no news, but only the URLs that failed (not with --format jsonl, whose records
    have them) and what is wrong with the run. With --verbose, standard error has a line for each URL, as it ends.
    Colours are for terminals, and not where NO_COLOR is set.

    Exit status: 0 every URL has its thumbnails, or --min-success is given and met; 4 fewer; 5 the same as 0, but some of the
    thumbnails were dropped again, because the cache is too small; 1 the cache can't be opened, or the disk stays full; 2
    wrong usage, or a list that can't be read; 129, 130 and 143 interrupted; 141 standard output was closed.

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
    // Nobody will look at the pictures in this process: pixels that go at once are the next one's memory, still warm.
    if options.memoryBytes == nil, options.spill != .pressure { options.memoryBytes = 4 << 20 }
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
      // Before there are other threads. The loop's would stop a decoder for each packet, which took up to a seventh of a run.
      nhs_work_as_batch()
      let cache = try Cache(path: arguments.value("cache"), options: options)
      let run = try PrefetchRun(settings, cache, list, atHost: queue.perHost ?? 32)
      let code = run.run()
      // Revalidations behind an answer may take longer than somebody who interrupts a run wants to wait; else they have a minute.
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

/// What the command line says of a run.
struct PrefetchSettings {
  enum Format {
    case text, jsonl
  }

  let said: SaidOptions
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
    var base = SaidOptions.ofList
    base.request.priority = -5
    // The list is as long as it is: a URL that waits for its turn is not late.
    base.request.isBatched = true
    said = try arguments.said(over: base)
    request = said.common
    giveUpAfter = request.giveUpAfter
    signIn = try said.user.map { text throws(UsageError) in
      try ListSignIn(text, for: PrefetchCommand.name)
    }
    key = said.key
    if key?.isFixed == true {
      throw UsageError("--cache-key: one answer would be kept for the whole list; {} stands for the URL")
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

  /// A page in the place of the list, or of another file, would be the end of it: a list is easily taken for a report where
  /// the name of the report was left out.
  fileprivate func checkReport(_ list: URLList) throws(UsageError) {
    guard let report else { return }
    guard !list.has(report) else {
      throw UsageError("--report: \(report) is the list itself; the page needs a file of its own")
    }
    guard ReportPage.mayReplace(report) else {
      throw UsageError(
        "--report: \(report) is there and is no report; the page needs a new file, an empty one or an earlier report"
      )
    }
    if let failedOut, OutputFile.areOne(report, failedOut) {
      throw UsageError("--report and --failed-out: \(report) can't be both")
    }
  }

  fileprivate mutating func settleSignIn(_ list: URLList) throws(UsageError) {
    try signIn?.settle(list)
    request.user = signIn?.user
    request.userPlace = signIn?.place
  }

  /// For how long a host that is away is waited for.
  var patience: String {
    switch request.giveUpAfter ?? Request.usualPatience {
    case .none: "however long that takes"
    case .milliseconds(let time): "for \(Amounts.seconds(Double(time) / 1000)) at most (--give-up-after)"
    }
  }

  /// The request for a URL of the list.
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
