import Glibc
import NuthatchTransport

/// Saves the answer of one request while it arrives.
///
/// The first file grows in a `PartialFile`; the other files are copies of it, made when it is complete. Descriptors and events
/// get each byte once, in order. A broken transfer is continued at its end if the server says that the answer hasn't changed.
/// If it has changed, files start again from the beginning; streams fail, because they can't take bytes back.
///
/// Confined to the loop's thread, hence Sendable; `DownloadDisk` does the work on disks.
final class Download: @unchecked Sendable {
  enum Wish {
    case goOn
    /// Send the request again, for the whole answer.
    case again
    case stop(NuthatchError)
  }

  private enum Phase { case new, open, over }

  /// The longest answer that is also kept in memory, and so in the cache.
  let keptBytes: Int64
  private let disk: DownloadDisk
  /// Descriptors that aren't on a disk.
  private let pipes: [NamedDescriptor]
  private let hasEvents: Bool
  /// Whether there are events or descriptors.
  private let hasStreams: Bool
  private let resumes: Bool
  /// Whether the request sets no limit for its answer.
  private let isUnlimited: Bool
  private let key: String
  private let shownURL: String

  private var phase = Phase.new
  private var streams: [DescriptorStream] = []
  private weak var ticket: Ticket?
  private let loop: EventLoop
  /// The error that stopped the writing.
  private(set) var failure: NuthatchError?
  /// The number of saved bytes.
  private(set) var count: Int64 = 0
  private(set) var total: Int64?
  private var validator: Validator?
  /// `count` at the start of the current hop.
  private var before: Int64 = 0
  /// The method of the current hop.
  private var method = "GET"
  /// Whether the program itself asks for a range.
  private var wantsPart = false
  /// The first byte that the current hop asks for; nil for the whole answer.
  private var resumedFrom: Int64?
  /// The number of saved bytes that the server will send again. They are ignored.
  private var skipped: Int64 = 0
  /// Whether the bytes of the last answer were saved.
  private var isTaken = false
  /// The bytes in `data` events that aren't released yet.
  private var outstanding = 0
  /// Called when a paused transfer may continue, or has failed.
  var whenFree: () -> Void = {}

  private static let mostOutstanding = 1 << 20

  /// Returns nil if nothing is to be saved.
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
    // Some of its descriptors may be of files.
    disk.queue.finish({ [disk] in disk.close(.dropped, after: $0) }) { _ in }
  }

  /// Returns a descriptor for a device or a pipe, which is written to; nil for files.
  private static func device(_ path: String) throws(NuthatchError) -> NamedDescriptor? {
    var status = stat()
    guard !path.utf8.contains(0), stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
      return nil
    }
    return NamedDescriptor(number: try NewFile.openDevice(path), name: path)
  }

  /// Returns a digest of the parts of a request that its answer depends on. It is written beside the partial file.
  private static func key(_ request: Request, _ cache: Options) -> String {
    var text = request.url
    for (name, value) in request.headers { text += "\n\(name.lowercased()):\(value)" }
    if let user = request.user { text += "\n\(user.name)\n\(user.password)" }
    let options = request.site.map { request.options.over($0.options) } ?? request.options
    if let trust = options.over(cache).trust { text += "\n\(trust)" }
    return Array(text.utf8).withUnsafeBytes { Digest(of: $0).bytes.hexadecimal }
  }

  /// Opens the files. Call it first, on the loop's thread. `then` is called there, with an error or nil.
  func begin(_ ticket: Ticket, then: @escaping @Sendable (NuthatchError?) -> Void) {
    phase = .open
    self.ticket = ticket
    streams = pipes.map { DescriptorStream($0, loop) }
    for stream in streams { stream.whenFree = { [weak self] in self?.moved(nil) } }
    disk.queue.whenMoved = { [weak self] in self?.moved($0) }
    guard disk.hasFiles else { return then(nil) }
    // Streams need all bytes from the beginning, so nothing can be continued.
    let (resumes, key) = (resumes && !hasStreams, key)
    disk.queue.submit { [disk] () throws(NuthatchError) in
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
    outstanding > Self.mostOutstanding || disk.queue.isFull || streams.contains(where: \.isFull)
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

// MARK: - Receiving

extension Download {
  /// Whether a range is asked for.
  var isResuming: Bool { resumedFrom != nil }

  /// Adds the range to a request, if a transfer is to be continued.
  func prepare(_ request: inout TransferRequest) {
    request.acceptsCompressed = false
    request.boundsExpansion = isUnlimited
    method = request.method
    wantsPart = request.headers.contains("Range")
    resumedFrom = nil
    isTaken = false
    before = count
    guard count > 0, let validator, request.method == "GET", !wantsPart else { return }
    // For a complete file, ask for the last byte, so that the server says whether the file is still valid.
    let from = min(count, max(0, (total ?? .max) - 1))
    resumedFrom = from
    request.headers.append("Range", "bytes=\(from)-")
    request.headers.append("If-Range", validator.value)
    if !request.headers.contains("Accept-Encoding") { request.headers.append("Accept-Encoding", "identity") }
  }

  /// Decides how to handle an answer that isn't a redirect.
  func take(_ head: ResponseHead) -> Wish {
    skipped = 0
    do throws(NuthatchError) {
      if resumedFrom != nil, head.status == 416 { return try beginAnew() }
      guard (200..<300).contains(head.status) else { return .goOn }
      let new = Validator(head)
      if let resumedFrom, head.status == 206 {
        // The total must be known, because servers may send less than the range. A range of a compressed answer doesn't fit the
        // saved bytes.
        guard let range = head.contentRange, range.first <= resumedFrom, range.first <= count,
          let whole = range.total ?? total, total == nil || whole == total, new == nil || new == validator,
          !head.isCoded
        else { return try beginAnew() }
        skipped = count - range.first
        total = whole
      } else {
        if head.status == 206, !wantsPart, !head.isWhole {
          throw NuthatchError(
            .truncated, "the server sent only a part (206), but the whole answer was requested: \(shownURL)")
        }
        var length = head.mayHaveBody(method: method) ? (try? head.contentLength()) ?? nil : nil
        if head.fields["Content-Encoding"] != nil { length = nil }
        // Another length means another answer, even with the same validator: `Last-Modified` doesn't change within a second.
        let isAsLong = length.map { $0 == total ?? max($0, count) } ?? true
        if count > 0, isAsLong, new != nil, new == validator {
          skipped = count
        } else if count > 0 {
          _ = try beginAnew()
        }
        validator = new
        total = length
      }
      disk.queue.submit { [disk, total, validator] () throws(NuthatchError) in
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
        .truncated,
        "the answer has changed on the server after \(count) bytes of the old one were delivered: \(shownURL)"
      )
    }
    disk.queue.submit { [disk] () throws(NuthatchError) in try disk.reset() }
    (count, total, validator, resumedFrom) = (0, nil, nil, nil)
    return .again
  }

  /// Discards the saved bytes, because the program has rejected the answer.
  func discard() throws(NuthatchError) {
    guard phase == .open, isTaken else { return }
    _ = try beginAnew()
  }

  /// Calls `then` on the loop's thread: with all saved bytes of a continued answer if it may be kept and is in a file; or nil.
  func bytesSoFar(then: @escaping @Sendable (SavedBytes?) -> Void) {
    guard isResuming, isTaken, count <= keptBytes else { return then(nil) }
    disk.queue.submit { [disk] in
      disk.bytesSoFar()
    } then: {
      then((try? $0.get()) ?? nil)
    }
  }

  /// Whether the answer was a shorter range than the requested one. Then the rest is requested, unless it brought no bytes.
  var isContinued: Bool {
    guard resumedFrom != nil, isTaken, let total else { return false }
    return count < total && count > before
  }

  /// Returns the head of the whole answer, for the caller.
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

  /// Saves bytes. Returns whether the transfer may go on; false pauses it until `whenFree`.
  func write(_ bytes: UnsafeRawBufferPointer) throws(NuthatchError) -> Bool {
    if let failure { throw failure }
    let again = Int(clamping: min(skipped, Int64(bytes.count)))
    skipped -= Int64(again)
    guard again < bytes.count else { return true }
    let new = Array(bytes[again...])
    if disk.isWanted {
      disk.queue.submit(new.count) { [disk] () throws(NuthatchError) in
        try new.span.bytes.withUnsafeBytes { (bytes) throws(NuthatchError) in try disk.write(bytes) }
      }
    }
    try stream(new)
    count += Int64(new.count)
    return !isFull
  }

  /// Writes to descriptors that aren't on a disk, and to events.
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

// MARK: - The end

extension Download {
  /// Ends the download with the request's final event. `then` gets this event, or a failure if the answer couldn't be saved.
  func settle(_ event: Event, then: @escaping @Sendable (Event) -> Void) {
    guard phase == .open else { return then(event) }
    guard event.error == nil, let response = event.response, response.isSuccess else {
      guard event.error?.code == .timeout, disk.queue.isBehind else {
        return end(event, keeping: event.error?.isOfTheDisk != true, then)
      }
      // The disk doesn't answer; the deadline doesn't wait for it.
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
    // In the disk queue, because an answer of the cache may be on a disk, too.
    disk.queue.submit { [disk] () throws(NuthatchError) in
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
    // The ticket of a local URL may have been cancelled. Then no file gets its name.
    guard ticket?.isOpen != false else { return abandon() }
    if let total, count != total, response.header("Content-Encoding") == nil {
      let error = NuthatchError(.truncated, "\(count) bytes were received instead of \(total): \(shownURL)")
      // With more bytes than the total, it could never become complete.
      return end(.failed(error), keeping: count <= total, then)
    }
    if let failure { return end(.failed(failure), keeping: false, then) }
    guard !streams.contains(where: \.isFull) else {
      whenFree = { [weak self] in self?.finish(event, response, then) }
      return
    }
    close(.named) { then($0.map { .failed($0) } ?? event) }
  }

  /// Ends the download if the request has ended in another way. A file that can be continued is kept.
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
    disk.queue.finish({ [disk] in disk.close(ending, after: $0) }, then: then)
  }
}

extension NuthatchError {
  /// Whether a disk, not a server, is the cause.
  fileprivate var isOfTheDisk: Bool { code == .noSpace || code == .io }
}

extension ResponseHead {
  /// Whether the body has a content coding, such as compression.
  fileprivate var isCoded: Bool {
    fields.values("Content-Encoding").contains { !$0.isEmpty && !$0.equalsIgnoringCase("identity") }
  }

  /// Whether the range is the whole answer.
  fileprivate var isWhole: Bool {
    guard let range = contentRange, range.first == 0, let total = range.total,
      let length = try? contentLength()
    else { return false }
    return length == total
  }

  /// The values of `Content-Range`; the total is nil if unknown.
  fileprivate var contentRange: (first: Int64, total: Int64?)? {
    guard let field = fields["Content-Range"], field.lowercased().hasPrefix("bytes ") else { return nil }
    let parts = field.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = parts[0].split(separator: "-").first.flatMap({ Int64($0) }) else {
      return nil
    }
    return (first, Int64(parts[1]))
  }
}
