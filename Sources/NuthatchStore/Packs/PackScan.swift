import CSystem
import Glibc

/// Goes through the records of a pack, beyond damaged ones.
struct PackScan: ~Copyable {
  private let pack: Pack
  private let fd: Int32
  private let system: any SystemCalls
  private var offset = PackHeader.size
  private let limit: Int
  // Beyond it somebody may be writing at this moment.
  private let settled: Int
  /// The last page that could be read.
  private var readable = -1
  /// How many times something else stood where a record should have begun.
  private(set) var gaps = 0
  /// Where the last record ended.
  private(set) var end = PackHeader.size

  /// Up to where something has been written, as far as is known.
  private var written = 0

  /// Up to where its pages have been left: whole packs would come to twice as much memory as all the rest of a process.
  private var left = 0
  private static let mostKept = 4 << 20

  /// Opens the file once more, to know where it has holes. They aren't read: where files are memory that would make them
  /// pages, and end the process when there is no room for one.
  ///
  /// - Parameters:
  ///   - limit: where to end when it is known what is used; what a killed writer left lies beyond.
  ///   - settled: gaps beyond it don't count.
  init(
    _ pack: Pack, _ directory: StoreDirectory, upTo limit: Int = .max, settled: Int = .max
  ) throws(SystemFault) {
    self.pack = pack
    self.settled = settled
    self.limit = min(limit, pack.bytes.count)
    system = directory.system
    fd = try directory.openFile(directory.packs, PackName.of(pack.header.number), O_RDONLY).0
  }

  deinit { system.close(fd) }

  mutating func next() -> RecordHeader.Found? {
    guard let base = pack.bytes.baseAddress else { return nil }
    leavePages()
    var isInGap = false
    while offset <= limit - RecordHeader.size {
      if offset + RecordHeader.size > written {
        let begin = dataBegins()
        if begin > offset {
          offset = begin
          continue
        }
        written = dataEnds()
        if offset + RecordHeader.size > written {
          offset = (written + 7) & ~7
          continue
        }
      }
      guard canReadHeader() else {
        // An error of the disk, which would end the process at the first touch.
        if !isInGap, offset < settled { gaps += 1 }
        isInGap = true
        offset = ((offset >> 12) + 1) << 12
        continue
      }
      if let found = pack.record(at: offset) {
        offset = found.end
        end = found.end
        return found
      }
      let zeros = nhs_count_zeros(base + offset, min(((offset >> 12) + 1) << 12, limit, written) - offset)
      if zeros >= 8 {
        offset += zeros & ~7
        continue
      }
      if !isInGap, offset < settled { gaps += 1 }
      isInGap = true
      offset += 8
    }
    return nil
  }

  /// Those that it has gone through, when they are many.
  private mutating func leavePages() {
    let end = min(offset, limit) & ~4095
    guard end - left > Self.mostKept else { return }
    NuthatchStore.leavePages(UnsafeRawBufferPointer(rebasing: pack.bytes[left..<end]))
    left = end
  }

  /// Whether the pages of the header that may be here, and of its key, can be read.
  private mutating func canReadHeader() -> Bool {
    guard canRead(upTo: offset + RecordHeader.size), let base = pack.bytes.baseAddress else { return false }
    let state = nhs_load32(base + offset)
    guard state == RecordHeader.valid || state == RecordHeader.retired else { return true }
    let keyLength = Int(UInt16(littleEndian: base.load(fromByteOffset: offset + 6, as: UInt16.self)))
    return canRead(upTo: min(offset + RecordHeader.size + keyLength, limit))
  }

  private mutating func canRead(upTo end: Int) -> Bool {
    let last = (end - 1) >> 12
    var page = max(readable + 1, offset >> 12)
    while page <= last {
      var byte: UInt8 = 0
      // What can't be read is a gap, whatever the reason.
      let count = try? withUnsafeMutableBytes(of: &byte) { (bytes) throws(SystemFault) in
        try system.read(fd, bytes, Int64(page << 12))
      }
      guard count == 1 else { return false }
      readable = page
      page += 1
    }
    return true
  }

  /// The next place where something was written. A file system that knows nothing of holes calls everything written.
  private func dataBegins() -> Int {
    do {
      guard let begin = try system.dataBegins(fd, Int64(offset)) else { return pack.bytes.count }
      return max(offset, Int(begin) & ~7)
    } catch {
      return offset
    }
  }

  /// Where what was written at `offset` ends; behind it in any case.
  private func dataEnds() -> Int {
    // Where nobody knows, all of it may have been written.
    guard let end = try? system.dataEnds(fd, Int64(offset)), end > Int64(offset) else {
      return pack.bytes.count
    }
    return min(Int(clamping: end), pack.bytes.count)
  }
}
