import CSystem
import NuthatchCore

/// `nuthatch prefetch`: URLs in, one set of thumbnails each, into the cache.
enum PrefetchCommand: Command {
  static let name = "prefetch"
  static let summary = "fetch many URLs and keep their thumbnails"
  static let usage = "[OPTION…] [FILE… | -]"
  static let options =
    [
      Option("size", letter: "s", value: "N[,N…]", "boxes that the thumbnails fit: N, or NxM (256)"),
      Option("input", value: "FORMAT", "auto, lines, csv, tsv or jsonl; any of them may be in gzip (auto)"),
      Option(
        "url-field", value: "NAME", "the column, by name or number, or the JSON field with the URL (url)"),
      Option("format", value: "text|jsonl", "a summary for people; or a line of JSON for each URL (text)"),
      Option(
        "progress", value: "WHEN", "auto, always or never: a line on standard error (auto: on a terminal)"),
      Option("report", value: "FILE.html", "a page with the pictures, the failures and the timings"),
      Option("failed-out", value: "FILE", "the URLs that failed, one a line, readable again as input"),
      Option("min-success", value: "F", "the share of URLs that must succeed, 0 to 1 (1)"),
      Option("dry-run", "say what would hit, be revalidated or be fetched; fetch nothing"),
      Option("shard", value: "I/N", "this machine's share: I of 0 to N-1"),
      Option("shard-by", value: "host|url", "what is kept together in a share (host)"),
      Option("respect-noai", "don't keep what its server marks noai or noimageai (X-Robots-Tag)"),
      Option(
        "give-up-after", value: "SECONDS",
        "how long URLs wait for a host that is away or busy (429, 503), and a run for a full disk (300)"),
      FetchOptions.userOfList,
      Option("delivery", value: "WHEN", "fresh asks the server about a stale answer, first takes it (fresh)"),
    ] + FetchOptions.pictures + FetchOptions.network + FetchOptions.store
  static let details = """
    Each line of a list is a URL: a comma is part of it; blank lines and those that begin with # are skipped. Files that
    end in .csv, .tsv or .jsonl, with or without .gz, are read as that, others as their first line looks: an object of
    JSON, names of columns, a URL beside a tabulator. Without FILE, standard input is read. Lists are read as they are
    needed, of any length, and answers are written as they come: a slow reader slows the run.

    What failed stands in FILE of --failed-out as it stood in the list, passwords included, so that a new FILE is for its
    owner only; what is no URL at all, as a comment with its line. FILE may be the list itself, which stays as it was unless
    all of it was tried. A host that wants to be left alone (Retry-After) is, for five minutes at most; a line says so, and
    the progress line for how long yet.

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

    With --format jsonl, standard output has one JSON object for each URL, and standard error ends with the summary.

    Exit status: 0 every URL has its thumbnails, or --min-success is given and met; 4 fewer; 5 the same as 0, but some of the
    thumbnails were dropped again, because the cache is too small; 1 the cache can't be opened, or the disk stays full; 2 wrong
    usage, or a list that can't be read; 130 and 143 interrupted; 141 standard output was closed.

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
    var options = try arguments.cacheOptions()
    // Nobody will look at the pictures in this process: pixels that go at once are the next one's memory, still warm.
    if options.memoryBytes == nil, options.spill != .pressure { options.memoryBytes = 4 << 20 }
    let queue = try arguments.queueOptions()
    let list: URLList
    do throws(ListFault) {
      list = try URLList(arguments.operands, format: settings.input, field: settings.urlField)
    } catch {
      throw UsageError("prefetch: \(error.message)")
    }
    try settings.checkReport(list)
    try settings.settleSignIn(list)
    do throws(NuthatchError) {
      try queue.apply()
      // Before there are other threads. The loop's would stop a decoder for each packet, which took up to a seventh of a run.
      nhs_work_as_batch()
      let cache = try Cache(path: arguments.value("cache"), options: options)
      let run = try PrefetchRun(settings, cache, list, atOnce: 512)
      let code = run.run()
      // Revalidations behind an answer may take longer than somebody who interrupts a run wants to wait.
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

  private var request = Request("")
  private(set) var signIn: ListSignIn?
  private(set) var giveUpAfter: Request.Limit?
  private var key: KeyTemplate?
  var input = URLList.Format.auto
  var urlField: String?
  var format = Format.text
  var progress = ProgressLine.When.auto
  var report: String?
  var failedOut: String?
  var minSuccess = 1.0
  var isDryRun = false
  var shard: (number: Int, count: Int)?
  var shardBy = Shard.By.host
  var respectsNoAI = false

  init(_ arguments: ParsedArguments) throws(UsageError) {
    request.boxes = try arguments.boxes(arguments.value("size") ?? "256")
    request.headers = try arguments.headers("header")
    // The list is as long as it is: a URL that waits for its turn is not late.
    request.isBatched = true
    giveUpAfter = try arguments.limit("give-up-after", mayBeZero: true)
    request.giveUpAfter = giveUpAfter
    signIn = try arguments.value("user").map { text throws(UsageError) in try ListSignIn(text) }
    request.allowTruncated = arguments.has("allow-truncated")
    request.earlyStop = arguments.has("early-stop")
    request.ignoreQuery = arguments.has("ignore-query")
    request.priority = try arguments.whole("priority", -10...10) ?? -5
    request.delivery = try arguments.choice("delivery", ["fresh": .fresh, "first": .first]) ?? .fresh
    key = arguments.key
    if key?.isFixed == true {
      throw UsageError("--key: one answer would be kept for the whole list; {} stands for the URL")
    }
    input =
      try arguments.choice(
        "input", ["auto": .auto, "lines": .lines, "csv": .csv, "tsv": .tsv, "jsonl": .jsonl])
      ?? .auto
    urlField = arguments.value("url-field")
    format = try arguments.choice("format", ["text": .text, "jsonl": .jsonl]) ?? .text
    progress = try arguments.choice("progress", ["auto": .auto, "always": .always, "never": .never]) ?? .auto
    report = arguments.value("report")
    failedOut = arguments.value("failed-out")
    if let text = arguments.value("min-success") {
      guard let share = Double(text), (0...1).contains(share) else {
        throw UsageError("--min-success: '\(text)' is not a share between 0 and 1")
      }
      minSuccess = share
    }
    isDryRun = arguments.has("dry-run")
    shard = try Self.shard(arguments)
    shardBy = try arguments.choice("shard-by", ["host": .host, "url": .url]) ?? .host
    respectsNoAI = arguments.has("respect-noai")
  }

  /// A page in the place of the list would be the end of the list.
  fileprivate func checkReport(_ list: URLList) throws(UsageError) {
    guard let report else { return }
    guard !list.has(report) else {
      throw UsageError("--report: \(report) is the list itself; the page needs a file of its own")
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

  /// The request for a URL of the list.
  func request(_ url: String) -> Request {
    var request = request
    request.url = url
    request.key = key?.key(for: url)
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
