import CSystem
import Glibc

/// Goes through the records of a pack, beyond damaged ones.
struct PackScan: ~Copyable {
  private let pack: Pack
  private let fd: Int32
  private let system: any SystemCalls
  private var offset = PackHeader.size
  private let limit: Int
  /// How many times something else stood where a record should have begun.
  private(set) var gaps = 0
  /// Where the last record ended.
  private(set) var end = PackHeader.size

  /// Opens the file once more, to know where it has holes: reading them through the mapping would fill memory.
  ///
  /// - Parameter limit: where to end when it is known what is used; what a killed writer left lies beyond.
  init(_ pack: Pack, _ directory: StoreDirectory, upTo limit: Int = .max) throws(SystemFault) {
    self.pack = pack
    self.limit = min(limit, pack.bytes.count)
    system = directory.system
    fd = try directory.openFile(directory.packs, PackName.of(pack.header.number), O_RDONLY).0
  }

  deinit { system.close(fd) }

  mutating func next() -> RecordHeader.Found? {
    guard let base = pack.bytes.baseAddress else { return nil }
    var isInGap = false
    var askedPage = -1
    while offset <= limit - RecordHeader.size {
      if let found = pack.record(at: offset) {
        offset = found.end
        end = found.end
        return found
      }
      let page = offset >> 12
      if page != askedPage {
        askedPage = page
        let begin = dataBegins()
        if begin > offset {
          offset = begin
          continue
        }
      }
      let zeros = nhs_count_zeros(base + offset, min((page + 1) << 12, limit) - offset)
      if zeros >= 8 {
        offset += zeros & ~7
        continue
      }
      if !isInGap { gaps += 1 }
      isInGap = true
      offset += 8
    }
    return nil
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
}
