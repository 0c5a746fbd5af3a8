import CSystem
import Glibc
import NuthatchStore

/// The limit of a lease: only its two searches, in the index and in the pack, with the same files and keys. One thread, no
/// lock, no reference counts, and no checks of other processes. The code is so short that the processor starts the next record
/// while it waits for this one.
struct BareSearch {
  private let slots: UnsafeRawPointer
  private let slotCount: Int
  /// The packs by number.
  private var packs: [(base: UnsafeRawPointer?, length: Int, salt: UInt64)] = [(nil, 0, 0)]

  /// Maps the files that docs/FORMAT.md describes.
  init(_ folder: String) throws {
    let (index, length) = try Self.map(folder + "/index")
    slotCount = Int(index.load(fromByteOffset: 16, as: UInt64.self))
    slots = index + (length - slotCount * 32)
    while true {
      let name = String(packs.count)
      let path = "\(folder)/packs/\(String(repeating: "0", count: max(0, 8 - name.count)))\(name).pack"
      guard access(path, R_OK) == 0 else { break }
      let (base, length) = try Self.map(path)
      packs.append((base, length, base.load(fromByteOffset: 32, as: UInt64.self)))
    }
  }

  private static func map(_ path: String) throws -> (UnsafeRawPointer, Int) {
    let fd = open(path, O_RDONLY)
    defer { close(fd) }
    let length = Int(lseek(fd, 0, SEEK_END))
    guard length > 0, let base = mmap(nil, length, PROT_READ, MAP_SHARED, fd, 0), base != MAP_FAILED else {
      throw Failure(message: "\(path) can't be mapped")
    }
    return (UnsafeRawPointer(base), length)
  }

  /// Returns the length of the record, or 0 if it isn't found.
  @inline(__always)
  func length(_ hash: KeyHash, _ key: UnsafeRawBufferPointer) -> Int {
    var slot = nhs_slot()
    guard nhs_find_slot(slots, slotCount, hash.low, hash.high, &slot) == 1, slot.pack < packs.count
    else { return 0 }
    let pack = packs[Int(slot.pack)]
    var record = nhs_record()
    let isIt = nhs_match_record(
      pack.base, pack.length, Int(slot.offset) << 3, pack.salt, RecordKind.body.rawValue, key.baseAddress,
      key.count, &record)
    return isIt == 1 ? record.length : 0
  }
}
