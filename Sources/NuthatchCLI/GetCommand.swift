import NuthatchCore

/// `nuthatch get`: fetches one URL, and writes its bytes or a picture made from them to files or standard output.
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
    FILE appears, or replaces the old file, only when it is complete. It may have any size. But without --max-bytes, a
    compressed answer is refused if it decodes to more than 64 MiB and to more than 1,000 times the received bytes. If a
    transfer breaks off, the bytes so far stay in a hidden file (.NAME.nuthatch-part). The next get of the same URL resumes
    there, if the server says that the answer is unchanged. If the server answers with a status of 400 or more, files stay
    unchanged, and the body is written only without -o, or with -o -. If FILE is a named pipe or a device, the answer is
    written into it; a pipe that no process has open for reading is an error.

    Bytes that are not text, such as a picture, are written to a terminal only if -o names it, as -o - does.
    --verbose prints the outcome on standard error. A transfer that takes longer than a second shows its progress.

    With --size, FILE must end in .png, .jpg, .jpeg or .webp, which sets its format; standard output gets a PNG. JPEG,
    PNG, GIF, WebP, AVIF, BMP, ICO, and with libraries of the machine SVG and HEIC are decoded; the picture is upright and
    sRGB.

    Exit status: 0 done; 4 not fetched, or a status of 400 or more; 2 wrong usage, or the answer is not text and would go
    to a terminal; 1 the cache can't be opened, or a file can't be written; 129, 130 and 143 interrupted; 141 standard output
    was closed.

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
      let cache = try Cache(path: arguments.cachePath, options: said.cache)
      defer { cache.close() }
      request.progressEvents = progress.isWanted
      request = try said.request(request, in: cache)
      return write(fetch(request, cache, progress), isSaved: !request.saveTo.isEmpty, to: writer, wordiness)
    } catch let error as UsageError {
      throw error
    } catch let error as NuthatchError {
      switch error.code {
      case .invalid: return report(error, .usage)
      // With cookies a bad URL is found here, without them by the fetch. The exit status must be the same.
      case .badURL: return report(error, .notFetched)
      default: return report(error, .failure)
      }
    } catch {
      return .failure
    }
  }

  private static func request(_ arguments: ParsedArguments, _ said: ParsedOptions) throws -> Request {
    var request = said.request(for: arguments.operands[0])
    try SentBody.add(arguments, to: &request)
    try addFreezing(arguments, said, &request)
    try addPicture(&request, accept: said.cache.accept)
    // The answer to a freezable request can't be saved while it arrives: it may come much later, to another process.
    if said.sizes.isEmpty, request.freezing == nil {
      request.saveTo =
        TerminalText.isRequired(arguments)
        ? [.events]
        : ResponseWriter.names(arguments).map { name in
          if let own = OutputFile.ownDescriptor(name) { return .descriptor(own) }
          return name == "-" ? .descriptor(1) : arguments.has("append") ? .appended(name) : .file(name)
        }
      // A saved body may have any size, unless the command line has a limit.
      request.maxBytes = said.cache.maxBytes
    }
    return request
  }

  private static func addFreezing(
    _ arguments: ParsedArguments, _ said: ParsedOptions, _ request: inout Request
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

  /// Decides what makes the wanted picture: the cache for a GET without a body, else `ResponseWriter`, from the answer's body.
  private static func addPicture(_ request: inout Request, accept: String?) throws(UsageError) {
    guard !request.boxes.isEmpty else { return }
    guard request.boxes.count == 1 else {
      throw UsageError("get: one size at a time; prefetch takes several")
    }
    if request.method == "GET", request.body.isEmpty, request.upload == nil { return }
    request.boxes = []
    if !request.headers.contains(where: { $0.name.lowercased() == "accept" }) {
      request.headers.append(("Accept", Cache.accept(accept, forPictures: true) ?? Cache.pictureAccept))
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
        // Wait in short steps: a signal doesn't end a wait.
        if let event = try ticket.next(within: 50) {
          // Data events come only if the answer goes to a terminal.
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

  /// Writes text to the terminal. Returns the exit code if the program must end, or nil.
  private static func writeText(_ bytes: [UInt8]) -> ExitCode? {
    guard TerminalText.isText(bytes) else { return TerminalText.refuse() }
    return bytes.withUnsafeBytes { Terminal.write($0) }
  }

  /// The result of a fetch.
  private enum Fetched {
    case response(Response)
    case picture(Image)
    /// The terminal could not be written, or the answer is not text.
    case ended(ExitCode)
  }

  /// - Parameter isSaved: whether a successful answer was saved while it arrived.
  private static func write(
    _ outcome: Result<Fetched, NuthatchError>, isSaved: Bool, to writer: ResponseWriter,
    _ wordiness: Wordiness
  ) -> ExitCode {
    switch outcome {
    case .failure(let error):
      if let code = Interruption.exitCode { return code }
      if Terminal.isOutputClosed { return .closedPipe }
      let isOurs =
        [.outOfMemory, .internal, .noSpace, .io].contains(error.code)
        && !error.message.hasPrefix("the auth_command ")
      return report(error, error.code == .invalid ? .usage : isOurs ? .failure : .notFetched)
    case .success(.ended(let code)): return code
    case .success(.picture(let image)):
      if wordiness == .verbose { say(AnswerLine.of(image)) }
      return end(writer.write(image), .success)
    case .success(.response(let response)):
      if response.isRemovalDue {
        say("the stored answer could not be removed yet: \(ShownURL.of(response.url))")
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
    let descriptor = "descriptor 1 "
    if error.message.hasPrefix(descriptor) {
      Terminal.complain("nuthatch: standard output \(error.message.dropFirst(descriptor.count))\n")
      return code
    }
    say("\(error)")
    return code
  }
}
