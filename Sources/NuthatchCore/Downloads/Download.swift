import Glibc
import NuthatchTransport

/// Where the answer of one request goes while it comes.
///
/// The first file that was asked for grows in a `PartialFile`, the others are copies of it, made when it is whole; descriptors
/// and events get each byte once, in order. A broken transfer is gone on with where it ended, if the server says that the
/// answer is still the same; where it isn't, files begin anew, and streams, which can't take back what they gave, fail.
///
/// Confined to the loop's thread, hence Sendable; what needs a disk is done by `DownloadDisk`.
final class Download: @unchecked Sendable {
  enum Wish {
    case goOn
    /// Once more, without asking for a part.
    case again
    case stop(NuthatchError)
  }

  private enum Phase { case new, open, over }

  /// What is kept in memory, too, and so in the cache.
  let keptBytes: Int64
  private let disk: DownloadDisk
  /// What is written to and is on no disk.
  private let pipes: [NamedDescriptor]
  private let hasEvents: Bool
  /// Whether there are events or descriptors.
  private let hasStreams: Bool
  private let resumes: Bool
  /// Whether the request leaves open how large its answer may be.
  private let isUnlimited: Bool
  private let key: String
  private let shownURL: String

  private var phase = Phase.new
  private var streams: [DescriptorStream] = []
  private weak var ticket: Ticket?
  private let loop: EventLoop
  /// Why nothing more can be written.
  private(set) var failure: NuthatchError?
  /// Bytes of the answer that have been taken.
  private(set) var count: Int64 = 0
  private(set) var total: Int64?
  private var validator: Validator?
  /// How many had been when the current hop was sent.
  private var before: Int64 = 0
  /// Of the current hop.
  private var method = "GET"
  /// Whether the program itself wants a part.
  private var wantsPart = false
  /// From which byte on the current hop goes on; nil where it is for the whole answer.
  private var resumedFrom: Int64?
  /// Bytes that are to come once more.
  private var skipped: Int64 = 0
  /// Whether the bytes of the last answer were taken.
  private var isTaken = false
  /// Data events that nobody has taken yet, in bytes.
  private var outstanding = 0
  /// Called when a transfer that was held up may go on, or has failed.
  var whenFree: () -> Void = {}

  private static let mostOutstanding = 1 << 20

  /// Nil when nothing is to be saved.
  init?(_ request: Request, _ options: Options, _ runtime: Runtime) throws(NuthatchError) {
    guard !request.saveTo.isEmpty else { return nil }
    shownURL = WebURL.redacted(request.url).printable
    guard request.boxes.isEmpty else {
      throw NuthatchError(.invalid, "sizes and save_to exclude each other: \(shownURL)")
    }
    keptBytes = min(request.maxBytes ?? .max, options.maxBytes ?? Options.Standard.maxBytes)
    isUnlimited = request.maxBytes == nil
    resumes = request.resume && request.method == "GET"
    hasEvents = request.saveTo.contains(.events)
    key = Self.key(request, options)
    loop = runtime.loop
    var files: [Sink] = []
    var opened: [NamedDescriptor] = []
    for sink in request.saveTo {
      do throws(NuthatchError) {
        switch sink {
        case .file(let path), .appended(let path):
          if let device = try Self.device(path) { opened.append(device) } else { files.append(sink) }
        case .descriptor(let given):
          let (own, name) = (fcntl(given, F_DUPFD_CLOEXEC, 3), "descriptor \(given)")
          guard own >= 0 else { throw NewFile.failure(name) }
          opened.append(NamedDescriptor(number: own, name: name))
        case .events: break
        }
      } catch {
        for descriptor in opened { Glibc.close(descriptor.number) }
        throw error
      }
    }
    hasStreams = hasEvents || !opened.isEmpty
    pipes = opened.filter { !$0.isOnDisk }
    disk = DownloadDisk(files, opened.filter(\.isOnDisk), runtime)
  }

  deinit {
    guard phase == .new else { return }
    for pipe in pipes { Glibc.close(pipe.number) }
    // Its descriptors may be of files.
    disk.line.finish({ [disk] in disk.close(.dropped, after: $0) }) { _ in }
  }

  /// A device or a pipe is written into.
  private static func device(_ path: String) throws(NuthatchError) -> NamedDescriptor? {
    var status = stat()
    guard !path.utf8.contains(0), stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
      return nil
    }
    return NamedDescriptor(number: try NewFile.openDevice(path), name: path)
  }

  /// What of a request makes its answer another one, as a digest: it is written beside the file.
  private static func key(_ request: Request, _ cache: Options) -> String {
    var text = request.url
    for (name, value) in request.headers { text += "\n\(name.lowercased()):\(value)" }
    if let user = request.user { text += "\n\(user.name)\n\(user.password)" }
    let options = request.site.map { request.options.over($0.options) } ?? request.options
    if let trust = options.over(cache).trust { text += "\n\(trust)" }
    return Array(text.utf8).withUnsafeBytes { Digest(of: $0).bytes.hexadecimal }
  }

  /// Opens the files, before anything else. `then` hears on the loop's thread what failed.
  func begin(_ ticket: Ticket, then: @escaping @Sendable (NuthatchError?) -> Void) {
    phase = .open
    self.ticket = ticket
    streams = pipes.map { DescriptorStream($0, loop) }
    for stream in streams { stream.whenFree = { [weak self] in self?.moved(nil) } }
    disk.line.whenMoved = { [weak self] in self?.moved($0) }
    guard disk.hasFiles else { return then(nil) }
    // What a stream has not been given can't be left out.
    let (resumes, key) = (resumes && !hasStreams, key)
    disk.line.submit { [disk] () throws(NuthatchError) in
      try disk.open(resumes: resumes, key: key)
    } then: { result in
      switch result {
      case .success(let start):
        (self.count, self.total, self.validator) = (start.count, start.total, start.validator)
        then(nil)
      case .failure(let error): then(error)
      }
    }
  }

  private func moved(_ news: NuthatchError?) {
    failure = failure ?? news ?? streams.lazy.compactMap(\.failure).first
    if failure != nil || !isFull { whenFree() }
  }

  private var isFull: Bool {
    outstanding > Self.mostOutstanding || disk.line.isFull || streams.contains(where: \.isFull)
  }
}

extension Sink {
  package var path: String? {
    switch self {
    case .file(let path), .appended(let path): path
    case .descriptor, .events: nil
    }
  }
}

// MARK: - What comes

extension Download {
  /// Whether a part is asked for.
  var isResuming: Bool { resumedFrom != nil }

  /// Says in a request from where on the answer is wanted.
  func prepare(_ request: inout TransferRequest) {
    request.acceptsCompressed = false
    request.boundsExpansion = isUnlimited
    method = request.method
    wantsPart = request.headers.contains("Range")
    resumedFrom = nil
    isTaken = false
    before = count
    guard count > 0, let validator, request.method == "GET", !wantsPart else { return }
    // Of one that is complete, the last byte, so that the server says whether it still is.
    let from = min(count, max(0, (total ?? .max) - 1))
    resumedFrom = from
    request.headers.append("Range", "bytes=\(from)-")
    request.headers.append("If-Range", validator.value)
    if !request.headers.contains("Accept-Encoding") { request.headers.append("Accept-Encoding", "identity") }
  }

  /// What to do about an answer that isn't a redirect.
  func take(_ head: ResponseHead) -> Wish {
    skipped = 0
    do throws(NuthatchError) {
      if resumedFrom != nil, head.status == 416 { return try beginAnew() }
      guard (200..<300).contains(head.status) else { return .goOn }
      let new = Validator(head)
      if let resumedFrom, head.status == 206 {
        // Of how much it is a part must be known, because servers may give less than what was asked for. A part of what was
        // compressed is none of what is kept.
        guard let range = head.contentRange, range.first <= resumedFrom, range.first <= count,
          let whole = range.total ?? total, total == nil || whole == total, new == nil || new == validator,
          !head.isCoded
        else { return try beginAnew() }
        skipped = count - range.first
        total = whole
      } else {
        if head.status == 206, !wantsPart, !head.isWhole {
          throw NuthatchError(.truncated, "a part was sent where all of it was asked for: \(shownURL)")
        }
        var length = head.mayHaveBody(method: method) ? (try? head.contentLength()) ?? nil : nil
        if head.fields["Content-Encoding"] != nil { length = nil }
        // Another length is another answer, whatever the validator says: a date does so within one second.
        let isAsLong = length.map { $0 == total ?? max($0, count) } ?? true
        if count > 0, isAsLong, new != nil, new == validator {
          skipped = count
        } else if count > 0 {
          _ = try beginAnew()
        }
        validator = new
        total = length
      }
      disk.line.submit { [disk, total, validator] () throws(NuthatchError) in
        try disk.expect(total, validator)
      }
      isTaken = true
      return .goOn
    } catch {
      return .stop(error)
    }
  }

  private func beginAnew() throws(NuthatchError) -> Wish {
    guard count == 0 || !hasStreams else {
      throw NuthatchError(
        .truncated, "the answer changed behind byte \(count), which was given away already: \(shownURL)")
    }
    disk.line.submit { [disk] () throws(NuthatchError) in try disk.reset() }
    (count, total, validator, resumedFrom) = (0, nil, nil, nil)
    return .again
  }

  /// The program takes what has come for no answer: then it is nothing to go on with either.
  func discard() throws(NuthatchError) {
    guard phase == .open, isTaken else { return }
    _ = try beginAnew()
  }

  /// All that was saved, where that may be kept and is in a file; for an answer that was gone on with. Heard on the loop's
  /// thread.
  func bytesSoFar(then: @escaping @Sendable (SavedBytes?) -> Void) {
    guard isResuming, isTaken, count <= keptBytes else { return then(nil) }
    disk.line.submit { [disk] in
      disk.bytesSoFar()
    } then: {
      then((try? $0.get()) ?? nil)
    }
  }

  /// Whether the answer was a shorter part than the one that was asked for: the next one may be asked for as long as there is
  /// more each time.
  var isContinued: Bool {
    guard resumedFrom != nil, isTaken, let total else { return false }
    return count < total && count > before
  }

  /// A head that says what the caller gets: all of it.
  func presented(_ head: ResponseHead) -> ResponseHead {
    guard resumedFrom != nil, head.status == 206 else { return head }
    var whole = head
    whole.status = 200
    whole.reason = "OK"
    whole.fields.remove {
      $0.name.equalsIgnoringCase("Content-Range") || $0.name.equalsIgnoringCase("Content-Length")
    }
    if let total { whole.fields.append("Content-Length", String(total)) }
    return whole
  }

  /// Whether the transfer may go on; false holds it up until `whenFree`.
  func write(_ bytes: UnsafeRawBufferPointer) throws(NuthatchError) -> Bool {
    if let failure { throw failure }
    let again = Int(clamping: min(skipped, Int64(bytes.count)))
    skipped -= Int64(again)
    guard again < bytes.count else { return true }
    let new = Array(bytes[again...])
    if disk.isWanted {
      disk.line.submit(new.count) { [disk] () throws(NuthatchError) in
        try new.span.bytes.withUnsafeBytes { (bytes) throws(NuthatchError) in try disk.write(bytes) }
      }
    }
    try stream(new)
    count += Int64(new.count)
    return !isFull
  }

  /// To what is on no disk.
  private func stream(_ bytes: [UInt8]) throws(NuthatchError) {
    for stream in streams { try stream.write(bytes) }
    guard hasEvents, let ticket else { return }
    outstanding += bytes.count
    let chunk = Chunk(bytes) { [weak self, loop] count in
      let download = self
      loop.post { [weak download] in
        download?.outstanding -= count
        download?.moved(nil)
      }
    }
    ticket.deliver(.data(chunk, from: count, of: total))
  }
}

// MARK: - How it ends

extension Download {
  /// Ends it with the request's final event, which comes to `then`, or another one, where it couldn't be saved.
  func settle(_ event: Event, then: @escaping @Sendable (Event) -> Void) {
    guard phase == .open else { return then(event) }
    guard event.error == nil, let response = event.response, response.isSuccess else {
      guard event.error?.code == .timeout, disk.line.isBehind else {
        return end(event, keeping: event.error?.isOfTheDisk != true, then)
      }
      // A disk that doesn't answer holds up no deadline.
      abandon()
      return then(event)
    }
    if isTaken, event.source == .network { return finish(event, response, then) }
    do throws(NuthatchError) {
      if count > 0 { _ = try beginAnew() }
    } catch {
      return end(.failed(error), keeping: true, then)
    }
    total = nil
    let isStreamed = hasEvents || !streams.isEmpty
    // What came from the cache may have to be read from a disk, too.
    disk.line.submit { [disk] () throws(NuthatchError) in
      try disk.save(response, isStreamed: isStreamed)
    } then: { saved in
      guard self.phase == .open else { return }
      do throws(NuthatchError) {
        try self.stream(try saved.get())
        self.finish(event, response, then)
      } catch {
        self.end(.failed(error), keeping: false, then)
      }
    }
  }

  private func finish(
    _ event: Event, _ response: Response, _ then: @escaping @Sendable (Event) -> Void
  ) {
    guard phase == .open else { return }
    if let total, count != total, response.header("Content-Encoding") == nil {
      let error = NuthatchError(.truncated, "\(count) bytes instead of \(total): \(shownURL)")
      // With more than there is, none could ever be whole.
      return end(.failed(error), keeping: count <= total, then)
    }
    if let failure { return end(.failed(failure), keeping: false, then) }
    guard !streams.contains(where: \.isFull) else {
      whenFree = { [weak self] in self?.finish(event, response, then) }
      return
    }
    close(.named) { then($0.map { .failed($0) } ?? event) }
  }

  /// The request has ended otherwise.
  func abandon() {
    if phase == .open { close(.kept) { _ in } }
  }

  private func end(_ event: Event, keeping: Bool, _ then: @escaping @Sendable (Event) -> Void) {
    close(keeping ? .kept : .dropped) { _ in then(event) }
  }

  private func close(
    _ ending: DownloadDisk.Ending, _ then: @escaping @Sendable (NuthatchError?) -> Void
  ) {
    phase = .over
    for stream in streams { stream.end() }
    streams = []
    whenFree = {}
    guard disk.isWanted else { return then(nil) }
    disk.line.finish({ [disk] in disk.close(ending, after: $0) }, then: then)
  }
}

extension NuthatchError {
  /// Whether a disk, and not a server, is why.
  fileprivate var isOfTheDisk: Bool { code == .noSpace || code == .io }
}

extension ResponseHead {
  /// Whether the body is compressed, or the like.
  fileprivate var isCoded: Bool {
    fields.values("Content-Encoding").contains { !$0.isEmpty && !$0.equalsIgnoringCase("identity") }
  }

  /// Whether a part is all there is.
  fileprivate var isWhole: Bool {
    guard let range = contentRange, range.first == 0, let total = range.total,
      let length = try? contentLength()
    else { return false }
    return length == total
  }

  /// What `Content-Range` says; the total is nil where nobody knows it.
  fileprivate var contentRange: (first: Int64, total: Int64?)? {
    guard let field = fields["Content-Range"], field.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = field.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = parts[0].split(separator: "-").first.flatMap({ Int64($0) }) else {
      return nil
    }
    return (first, Int64(parts[1]))
  }
}
