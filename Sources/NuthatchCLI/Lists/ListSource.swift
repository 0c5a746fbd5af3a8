import Glibc

/// A list that can't be read, or not to its end.
struct ListFault: Error {
  var message: String

  init(_ message: String) { self.message = message }
}

/// The bytes of a file or of standard input, unpacked, read as they are needed.
final class ListSource {
  enum Step {
    case bytes([UInt8])
    /// None are there yet.
    case idle
    case end
  }

  let name: String
  /// How many bytes there are, packed; nil for what isn't a plain file.
  private(set) var size: Int64?
  /// How many of them have been given, unpacked.
  private(set) var bytesTaken: Int64 = 0

  private let descriptor: Int32
  /// What was read and isn't taken yet.
  private var input: ArraySlice<UInt8> = []
  private var unpacker: Unpacker?
  /// The unpacker may have something to give without more input.
  private var mayGiveMore = false
  /// Whether it is known if the list is packed.
  private var hasBegun = false
  private var isAtEnd = false
  /// Behind what the unpacker has given.
  private var failure: ListFault?

  /// `-` is standard input.
  init(_ path: String) throws(ListFault) {
    name = path == "-" ? "standard input" : path
    // A named pipe that nobody has opened for writing yet is waited for where lines are, and not here.
    descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw fault(errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fault(errno) }
    if status.st_mode & S_IFMT == S_IFDIR { throw fault(EISDIR) }
    if status.st_mode & S_IFMT == S_IFREG { size = Int64(status.st_size) }
  }

  deinit { if descriptor > STDIN_FILENO { close(descriptor) } }

  /// Looks whether a file can be read, without opening it: a named pipe is opened once only.
  ///
  /// - Returns: its size; nil for what isn't a plain file.
  static func check(_ path: String) throws(ListFault) -> Int64? {
    var status = stat()
    guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
      let reason = String(cString: strerror(errno))
      let hint = path.contains("://") ? "; a list is expected here, in a file or on standard input" : ""
      throw ListFault("\(path) can't be read: \(reason)\(hint)")
    }
    return status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
  }

  /// The next bytes, never none; `idle` when none came within `milliseconds`. What stands before a fault is given first.
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

  /// The room for a piece that is unpacked: however much a packed byte stands for, no more is in memory.
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

  /// False when nothing came.
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
    // A pipe may bring the mark of a packed list in pieces.
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
