import Glibc

/// A list can't be read, or not to its end.
struct ListFault: Error {
  var message: String

  init(_ message: String) { self.message = message }
}

/// Reads a file or standard input as it is needed, and decompresses it.
final class ListSource {
  enum Step {
    case bytes([UInt8])
    /// There are no bytes yet.
    case idle
    case end
  }

  let name: String
  /// The size of the file, still compressed; nil if it isn't a plain file.
  private(set) var size: Int64?
  /// The bytes of the file, still compressed, that `next` has consumed.
  private(set) var bytesTaken: Int64 = 0

  private let descriptor: Int32
  /// Bytes that were read and are not consumed yet.
  private var input: ArraySlice<UInt8> = []
  private var unpacker: Unpacker?
  /// Whether the unpacker may have more output without more input.
  private var mayGiveMore = false
  /// Whether it is known if the list is compressed, and how.
  private var hasBegun = false
  private var isAtEnd = false
  /// A fault after the bytes that the unpacker gave last. Thrown by the next call.
  private var failure: ListFault?

  /// `-` is standard input.
  init(_ path: String) throws(ListFault) {
    name = path == "-" ? "standard input" : path
    // O_NONBLOCK: don't wait here for a writer of a named pipe. `fill` waits for it.
    descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw fault(errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fault(errno) }
    if status.st_mode & S_IFMT == S_IFDIR { throw fault(EISDIR) }
    if status.st_mode & S_IFMT == S_IFREG { size = Int64(status.st_size) }
  }

  deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

  /// Checks whether a file can be read. Doesn't open it, because a named pipe must be opened only once.
  ///
  /// - Returns: the size; nil if it isn't a plain file.
  static func check(_ path: String) throws(ListFault) -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      let hint = path.contains("://") ? "; a list is expected here, in a file or on standard input" : ""
      throw ListFault("\(path) can't be read: \(reason)\(hint)")
    }
    return status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
  }

  /// Returns the next bytes, at least one, or `idle` if none came within `milliseconds`. Bytes before a fault are returned first.
  func next(within milliseconds: Int32) throws(ListFault) -> Step {
    while true {
      if let failure { throw failure }
      if hasBegun {
        let bytes = try take()
        if !bytes.isEmpty { return .bytes(bytes) }
        if failure != nil { continue }
      }
      if isAtEnd, hasBegun {
        if let why = unpacker?.faultAtEnd { throw ListFault("\(name): \(why)") }
        return .end
      }
      guard try fill(within: milliseconds) else { return .idle }
    }
  }

  /// The most bytes that are decompressed at once. It limits memory, however much a compressed byte expands to.
  private static let pieceSize = 262_144

  private func take() throws(ListFault) -> [UInt8] {
    let before = input.count
    defer { bytesTaken += Int64(before - input.count) }
    guard let unpacker else {
      defer { input = [] }
      return Array(input)
    }
    guard !input.isEmpty || mayGiveMore else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { output, count in
      switch unpacker.unpack(&input, into: output, &count) {
      case .more: mayGiveMore = false
      case .full: mayGiveMore = true
      case .fault(let why): failure = ListFault("\(name): \(why)")
      }
    }
  }

  /// Reads more bytes. Returns false if none came in time.
  private func fill(within milliseconds: Int32) throws(ListFault) -> Bool {
    if size == nil {
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, milliseconds) > 0 else { return false }
    }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &chunk, chunk.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return false }
    guard count >= 0 else { throw fault(errno) }
    isAtEnd = count == 0
    input += chunk[..<count]
    // A pipe may give the magic number of a compressed list in pieces.
    if !hasBegun, isAtEnd || !Packing.mayBegin(input) { try begin() }
    return true
  }

  private func begin() throws(ListFault) {
    hasBegun = true
    guard let packing = Packing(of: input) else { return }
    unpacker = Unpacker(packing)
    guard unpacker != nil else { throw fault(ENOMEM) }
  }

  private func fault(_ number: Int32) -> ListFault {
    ListFault("\(name) can't be read: \(String(cString: strerror(number)))")
  }
}
