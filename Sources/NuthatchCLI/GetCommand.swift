import NuthatchCore

/// `nuthatch get`: one URL, its bytes or a picture made from them, to files or standard output.
enum GetCommand: Command {
  static let name = "get"
  static let summary = "fetch one URL to a file or standard output"
  static let usage = "[OPTION…] URL"
  static let options =
    [
      Option(
        "output", letter: "o", value: "FILE",
        "write the body to FILE; - is standard output, the default; repeatable"),
      Option("append", "add to the end of each FILE", needs: "output"),
      Option(
        "data", letter: "d", value: "DATA",
        "send DATA as the body; @FILE sends a file, @- standard input; repeated ones are joined by &"),
      Option("json", value: "DATA", "send DATA, @FILE or @- as JSON"),
      Option(
        "form", letter: "F", value: "NAME=VALUE",
        "send a form (multipart); NAME=@FILE[;type=TYPE][;filename=NAME] sends a file; repeatable"),
      CommonOptions.cache,
    ] + CommonOptions.words
    + [Option].ofLibrary(for: name).changing("size") {
      $0.value = "N[xM]"
      $0.help = "write a picture that fits a box of N by N or N by M pixels, never enlarged"
    }
  static let details = """
    A file gets its name only when it is complete; until then it does not exist or is the old one. It may be of any
    size; but without --max-bytes, a compressed answer that decodes to more than 64 MiB, and to more than 1,000 times the
    bytes that came, is refused. What has come when a transfer breaks off stays in a hidden file (.NAME.nuthatch-part),
    where the next get of the same URL goes on if the server says that it is still the same. When the server answers
    with a status of 400 or more, files stay untouched; standard output gets what the server said. A FILE that is a
    named pipe or a device is written into; a pipe that no process has open for reading is an error.

    Bytes that are not text, such as those of a picture, are not written to a terminal, unless -o names it: -o - does.
    --verbose says on standard error how it ended. A transfer that takes longer than a second has a line of progress.

    With --size, FILE must end in .png, .jpg or .jpeg, and is written as that; standard output gets a PNG. JPEG and PNG
    are decoded; the picture is upright and sRGB.

    Exit status: 0 done; 4 not fetched, or a status of 400 or more; 2 wrong usage, or an answer for a terminal is not text;
    1 the cache can't be opened or a file can't be written; 129, 130 and 143 interrupted; 141 standard output was closed.

    Examples:
      nuthatch get https://example.org/a.jpg -o a.jpg
      nuthatch get --size 256 https://example.org/a.jpg -o thumbnail.png
      nuthatch get --header 'Accept: application/json' https://example.org/api | less
      nuthatch get --json '{"name": "nut"}' https://example.org/api
      nuthatch get --cookie-jar disk --data 'user=ann&password=nuts' https://example.org/login
      nuthatch get --cookie-jar disk https://example.org/private
      nuthatch get --form title=Nut --form picture=@nut.jpg https://example.org/upload
      nuthatch get --data '{"seeds": 3}' --freezable --secrets 'Authorization: Bearer env:TOKEN' https://example.org/api
    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard arguments.operands.count == 1 else {
      throw UsageError(
        "get: exactly one URL is needed, not \(arguments.operands.count). See 'nuthatch help get'.")
    }
    let said = try arguments.said()
    let writer = try ResponseWriter(arguments, said)
    let wordiness = try arguments.wordiness
    said.warn(of: "get", wordiness)
    let form = wordiness == .quiet ? .never : try arguments.progress
    let progress = GetProgress(form, isAnswerOnTerminal: writer.writesToTerminal)
    do {
      var request = try request(arguments, said)
      try ProcessQueue.set(said.process)
      let cache = try Cache(path: arguments.value("cache"), options: said.cache)
      defer { cache.close() }
      request.progressEvents = progress.isWanted
      request = try said.request(request, in: cache)
      return write(fetch(request, cache, progress), isSaved: !request.saveTo.isEmpty, to: writer, wordiness)
    } catch let error as UsageError {
      throw error
    } catch let error as NuthatchError {
      switch error.code {
      case .invalid: return report(error, .usage)
      // With cookies the URL is read here, without them by the fetch: both end with the same status.
      case .badURL: return report(error, .notFetched)
      default: return report(error, .failure)
      }
    } catch {
      return .failure
    }
  }

  private static func request(_ arguments: ParsedArguments, _ said: SaidOptions) throws -> Request {
    var request = said.request(for: arguments.operands[0])
    try SentBody.add(arguments, to: &request)
    try addFreezing(arguments, said, &request)
    try addPicture(&request)
    // What may be frozen is answered as a whole: who knows when, and to whom.
    if said.sizes.isEmpty, request.freezing == nil {
      request.saveTo =
        TerminalText.isRequired(arguments)
        ? [.events]
        : ResponseWriter.names(arguments).map { name in
          if let own = OutputFile.ownDescriptor(name) { return .descriptor(own) }
          return name == "-" ? .descriptor(1) : arguments.has("append") ? .appended(name) : .file(name)
        }
      // What is saved may be of any size, unless this request says otherwise.
      request.maxBytes = said.cache.maxBytes
    }
    return request
  }

  private static func addFreezing(
    _ arguments: ParsedArguments, _ said: SaidOptions, _ request: inout Request
  ) throws(UsageError) {
    guard said.isFreezable else { return }
    guard !arguments.has("append") else {
      throw UsageError("get: --append and --freezable exclude each other")
    }
    if said.freezing.passwordProvider != nil {
      guard let name = request.user?.name else {
        throw UsageError("get: --password-provider goes with --user")
      }
      request.user = (name, "")
    }
    request.freezing = said.freezing
  }

  /// A picture that comes by GET is the cache's business; of another method's answer it is made here.
  private static func addPicture(_ request: inout Request) throws(UsageError) {
    guard !request.boxes.isEmpty else { return }
    guard request.boxes.count == 1 else {
      throw UsageError("get: one size at a time; prefetch takes several")
    }
    if request.method == "GET", request.body.isEmpty, request.upload == nil { return }
    request.boxes = []
    if !request.headers.contains(where: { $0.name.lowercased() == "accept" }) {
      request.headers.append(("Accept", Cache.pictureAccept))
    }
  }

  private static func fetch(
    _ request: Request, _ cache: Cache, _ progress: GetProgress
  ) -> Result<Fetched, NuthatchError> {
    Interruption.watch()
    var progress = progress
    defer { progress.clear() }
    do throws(NuthatchError) {
      let ticket = try cache.submit(request)
      while true {
        // In slices, because a signal may come to any thread and can't wake this one by itself.
        if let event = try ticket.next(within: 50) {
          // Pieces of an answer come here only if a terminal gets it.
          if event.kind == .data, let code = writeText(event.data) {
            ticket.cancel()
            return .success(.ended(code))
          }
          if event.kind == .progress { progress.show(event) }
          guard event.isFinal else { continue }
          if let image = event.images.first { return .success(.picture(image)) }
          return event.result.map { .response($0) }
        }
        if Interruption.signal != nil { ticket.cancel() }
      }
    } catch {
      return .failure(error)
    }
  }

  /// - Returns: what ends the program, if something does.
  private static func writeText(_ bytes: [UInt8]) -> ExitCode? {
    guard TerminalText.isText(bytes) else { return TerminalText.refuse() }
    return bytes.withUnsafeBytes { Terminal.write($0) }
  }

  /// What came: the answer itself, or a picture alone.
  private enum Fetched {
    case response(Response)
    case picture(Image)
    /// An answer of which no more is written.
    case ended(ExitCode)
  }

  /// - Parameter isSaved: whether what is a success has been saved while it came.
  private static func write(
    _ outcome: Result<Fetched, NuthatchError>, isSaved: Bool, to writer: ResponseWriter,
    _ wordiness: Wordiness
  ) -> ExitCode {
    switch outcome {
    case .failure(let error):
      if let code = Interruption.exitCode { return code }
      if Terminal.isOutputClosed { return .closedPipe }
      let isOurs = [.outOfMemory, .internal, .noSpace, .io].contains(error.code)
      return report(error, error.code == .invalid ? .usage : isOurs ? .failure : .notFetched)
    case .success(.ended(let code)): return code
    case .success(.picture(let image)):
      if wordiness == .verbose { say(AnswerLine.of(image)) }
      return end(writer.write(image), .success)
    case .success(.response(let response)):
      if response.isRemovalDue {
        say("what is stored of it couldn't be removed yet: \(ShownURL.of(response.url))")
      }
      if response.isTruncated {
        say(
          "the body may have been cut off: its connection ended without close_notify: \(response.finalURL)")
      }
      if wordiness == .verbose, response.status < 400 { say(AnswerLine.of(response)) }
      if response.isSuccess, isSaved { return .success }
      guard response.status >= 400 else { return end(writer.write(response), .success) }
      say("HTTP \(response.status) \(response.reason): \(response.finalURL)")
      return end(writer.writeErrorPage(response), .notFetched)
    }
  }

  private static func say(_ words: String) { Terminal.complain("nuthatch: get: \(words)\n") }

  private static func end(_ outcome: ResponseWriter.Outcome, _ code: ExitCode) -> ExitCode {
    switch outcome {
    case .written: code
    case .notAPicture(let error): report(error, .notFetched)
    case .notWritten(let error): Interruption.exitCode ?? report(error, .failure)
    case .ended(let code): code
    }
  }

  private static func report(_ error: NuthatchError, _ code: ExitCode) -> ExitCode {
    let descriptor = "descriptor 1"
    if error.message.hasPrefix(descriptor) {
      Terminal.complain("nuthatch: standard output\(error.message.dropFirst(descriptor.count))\n")
      return code
    }
    say("\(error)")
    return code
  }
}
