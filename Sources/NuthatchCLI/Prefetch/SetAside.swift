import CSystem
import Glibc

/// Keeps URLs in an unlinked file, because they are too many for memory. The file is deleted when its descriptor is closed.
final class SetAside {
  /// The place of some URLs in the file.
  struct Chunk {
    var offset: Int64
    var length: Int
    /// The number of URLs.
    var count: Int
  }

  private let descriptor: Int32
  private var end: Int64 = 0

  /// Returns nil if no file can be made in the folder.
  init?(folder: String) {
    descriptor = nhs_unlinked_file(folder)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// About how many bytes are read back at once.
  private static let mostInChunk = 128 << 10

  /// Writes the URLs of all lists, or none. Returns nil if the file can't be written, for example because the disk is full.
  func write(_ lists: [[ListedURL]]) -> [[Chunk]]? {
    var chunks: [[Chunk]] = []
    var bytes: [UInt8] = []
    var place = end
    for list in lists {
      var own: [Chunk] = []
      for listed in list {
        if own.last.map({ $0.length >= Self.mostInChunk }) ?? true {
          own.append(Chunk(offset: place + Int64(bytes.count), length: 0, count: 0))
        }
        let before = bytes.count
        Self.append(listed, to: &bytes)
        own[own.count - 1].length += bytes.count - before
        own[own.count - 1].count += 1
      }
      chunks.append(own)
      guard bytes.count >= Self.mostInChunk else { continue }
      guard put(bytes, at: place) else { return nil }
      place += Int64(bytes.count)
      bytes.removeAll(keepingCapacity: true)
    }
    guard put(bytes, at: place) else { return nil }
    end = place + Int64(bytes.count)
    return chunks
  }

  private func put(_ bytes: [UInt8], at place: Int64) -> Bool {
    bytes.withUnsafeBytes { nhs_write_at(descriptor, $0.baseAddress, $0.count, place) == 0 }
  }

  /// Reads URLs back, and frees their space on the disk. Returns nil if they can't be read.
  func take(_ chunk: Chunk) -> [ListedURL]? {
    var bytes = [UInt8](repeating: 0, count: chunk.length)
    var read = 0
    while read < bytes.count {
      let count = bytes[read...].withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(chunk.offset) + off_t(read))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      read += count
    }
    // If the file system has no holes, the space is freed when the file is closed.
    _ = nhs_punch(descriptor, chunk.offset, Int64(chunk.length))
    return Self.urls(in: bytes)
  }

  private static func append(_ listed: ListedURL, to bytes: inout [UInt8]) {
    let url = Array(listed.url.utf8)
    for number in [listed.index, listed.line, listed.earlierAttempts, url.count] {
      withUnsafeBytes(of: Int64(number)) { bytes.append(contentsOf: $0) }
    }
    bytes.append(contentsOf: url)
  }

  private static func urls(in bytes: [UInt8]) -> [ListedURL] {
    var urls: [ListedURL] = []
    var place = 0
    func number() -> Int {
      defer { place += 8 }
      return bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: place, as: Int64.self)) }
    }
    while place < bytes.count {
      let (index, line, attempts, length) = (number(), number(), number(), number())
      let url = String(decoding: bytes[place..<place + length], as: UTF8.self)
      place += length
      urls.append(ListedURL(index: index, line: line, url: url, earlierAttempts: attempts))
    }
    return urls
  }
}
