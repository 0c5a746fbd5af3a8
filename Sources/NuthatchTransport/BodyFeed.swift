/// Gives libcurl the request body of a transfer. Files are read ahead on other threads, because a disk may be slow.
///
/// Only the loop's thread uses it, hence Sendable.
final class BodyFeed: @unchecked Sendable {
  private let count: Int64
  /// Nil while another thread reads with it, and after `stop`.
  private var reader: BodyReader?
  private let runOnReader: CurlTransport.RunOnReader?
  private let loop: EventLoop
  private let whenReady: () -> Void
  /// The chunk that is being sent.
  private var chunk: [UInt8] = []
  private var offset = 0
  /// The chunk after it.
  private var next: Result<[UInt8], TransportFault>?
  /// The number of bytes of the body that were read from the source.
  private var end: Int64 = 0
  private var isBegun = false
  /// Whether libcurl waits for bytes that aren't read yet.
  private(set) var isAwaited = false
  private var isStopped = false

  /// The size of a chunk. Two are in memory.
  private static let size: Int64 = 128 << 10

  /// - Parameter whenReady: called when the awaited bytes were read, or reading has failed.
  init(
    _ source: BodySource, _ loop: EventLoop, _ runOnReader: @escaping CurlTransport.RunOnReader,
    whenReady: @escaping () -> Void
  ) {
    count = source.count
    reader = BodyReader(source)
    self.runOnReader = source.hasFiles ? runOnReader : nil
    self.loop = loop
    self.whenReady = whenReady
    readAhead()
  }

  /// Copies bytes to the buffer, at most the rest of one chunk, and returns their number. 0: the end. Nil: the next bytes
  /// haven't been read yet.
  func take(into room: UnsafeMutableRawBufferPointer) throws(TransportFault) -> Int? {
    if offset == chunk.count, let next {
      self.next = nil
      (chunk, offset) = (try next.get(), 0)
      readAhead()
    }
    guard offset < chunk.count || end == count else {
      isAwaited = true
      return nil
    }
    let part = chunk[offset...].prefix(room.count)
    room.copyBytes(from: part)
    offset += part.count
    isBegun = true
    return part.count
  }

  /// Goes back to the beginning.
  func rewind() {
    guard isBegun else { return }
    (chunk, offset, next, end, isBegun) = ([], 0, nil, 0, false)
    readAhead()
  }

  /// Stops reading. Closes the file now, or when the thread that reads it has finished.
  func stop() {
    isStopped = true
    isAwaited = false
    if let reader { close(reader) }
    reader = nil
  }

  private func readAhead() {
    guard next == nil, end < count, let reader else { return }
    let (begin, size) = (end, Int(min(count - end, Self.size)))
    guard let runOnReader else { return keep(reader.read(size, at: begin), from: begin) }
    self.reader = nil
    let loop = loop
    let isTaken = runOnReader {
      let read = reader.read(size, at: begin)
      loop.post { self.giveBack(reader, read, from: begin) }
    }
    guard !isTaken else { return }
    // No thread is available.
    self.reader = reader
    keep(reader.read(size, at: begin), from: begin)
  }

  private func giveBack(_ reader: BodyReader, _ read: Result<[UInt8], TransportFault>, from begin: Int64) {
    guard !isStopped else { return close(reader) }
    self.reader = reader
    // The body may have been rewound meanwhile.
    guard begin == end, next == nil else { return readAhead() }
    keep(read, from: begin)
    guard isAwaited else { return }
    isAwaited = false
    whenReady()
  }

  private func keep(_ read: Result<[UInt8], TransportFault>, from begin: Int64) {
    if case .success(let bytes) = read { end = begin + Int64(bytes.count) }
    next = read
  }

  private func close(_ reader: BodyReader) {
    if runOnReader?({ reader.close() }) != true { reader.close() }
  }
}
