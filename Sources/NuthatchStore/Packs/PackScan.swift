import CSystem
import Glibc

/// Reads the records of a pack in order, skipping damaged places.
struct PackScan: ~Copyable {
  private let pack: Pack
  private let fd: Int32
  private let system: any SystemCalls
  private var offset = PackHeader.size
  private let limit: Int
  // Behind this offset another process may be writing, so gaps there don't count.
  private let settled: Int
  /// The last page that was checked to be readable.
  private var readable = -1
  /// The number of places that held something other than a record.
  private(set) var gaps = 0
  /// The end of the last record.
  private(set) var end = PackHeader.size

  /// The end of the written data that contains the current offset, as far as is known.
  private var written = 0

  /// Pages before this offset were unmapped. Without that, whole packs would count as memory of this process.
  private var unmappedEnd = 0
  /// The most bytes of scanned pages that stay mapped.
  private static let mostMapped = 4 << 20

  /// Opens the file once more to find its holes. Holes aren't read: on tmpfs a read through the mapping would allocate pages,
  /// and would break the mapping if there is no room for one.
  ///
  /// - Parameters:
  ///   - limit: the end of the used part, if known. Records behind it were left by a killed writer.
  ///   - settled: gaps behind this offset don't count.
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

  /// Returns the next record, also a retired one; nil at the end.
  mutating func next() -> RecordHeader.Found? {
    guard let base = pack.bytes.baseAddress else { return nil }
    unmapPages()
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
        // A disk error. Skip the page: an access through the mapping would break the mapping.
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

  /// Unmaps pages that were scanned, if there are many.
  private mutating func unmapPages() {
    let end = min(offset, limit) & ~4095
    guard end - unmappedEnd > Self.mostMapped else { return }
    NuthatchStore.unmapPages(UnsafeRawBufferPointer(rebasing: pack.bytes[unmappedEnd..<end]))
    unmappedEnd = end
  }

  /// Returns whether the pages of the header at this offset, and of its key, can be read.
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
      // Bytes that can't be read for any reason are a gap.
      let count = try? withUnsafeMutableBytes(of: &byte) { (bytes) throws(SystemFault) in
        try system.read(fd, bytes, Int64(page << 12))
      }
      guard count == 1 else { return false }
      readable = page
      page += 1
    }
    return true
  }

  /// Returns the next written offset. On a file system without holes, all bytes count as written.
  private func dataBegins() -> Int {
    do {
      guard let begin = try system.dataBegins(fd, Int64(offset)) else { return pack.bytes.count }
      return max(offset, Int(begin) & ~7)
    } catch {
      return offset
    }
  }

  /// Returns the end of the written data at `offset`; always higher than `offset`.
  private func dataEnds() -> Int {
    // If the end can't be found, treat the rest of the file as written.
    guard let end = try? system.dataEnds(fd, Int64(offset)), end > Int64(offset) else {
      return pack.bytes.count
    }
    return min(Int(clamping: end), pack.bytes.count)
  }
}
