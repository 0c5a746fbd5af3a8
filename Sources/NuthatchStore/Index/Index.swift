import CSystem
import Glibc
import Synchronization

/// The shared table from key hash to location, mapped. Readers take no lock; see `Index+Write` for writers.
///
/// Sizes are read from the file once and checked. After that, no value from the mapping is used as an address or a size without
/// a check, because any process can write there.
///
/// In a directory that can only be read, the file is mapped privately: writes stay in this process, and changes of other
/// processes are visible. Without a usable file, the index is memory of this process, made from the packs (`isPrivate`).
// The mapping is changed by atomic instructions, hence Sendable.
final class Index: @unchecked Sendable {
  private let directory: StoreDirectory
  private let system: any SystemCalls
  /// -1 if there is no file.
  private let fd: Int32
  private let mapping: FileMapping
  let base: UnsafeMutableRawPointer
  let slotCount: Int
  let packCapacity: Int
  let slots: UnsafeMutableRawPointer
  /// Whether this process keeps as little of the index mapped as possible (`Store.stayLean`).
  let isLean = Atomic(false)
  /// The number of lookups since `isLean` was set.
  let looks = Atomic<UInt32>(0)

  private init(
    _ directory: StoreDirectory, fd: Int32, _ mapping: FileMapping, slotCount: Int, packCapacity: Int,
    slotStart: Int
  ) {
    self.directory = directory
    system = directory.system
    self.fd = fd
    self.mapping = mapping
    base = mapping.base
    self.slotCount = slotCount
    self.packCapacity = packCapacity
    slots = base + slotStart
  }

  deinit {
    system.unmap(mapping)
    if fd >= 0 { system.close(fd) }
  }

  /// Whether the index is memory of this process, without a file.
  var isPrivate: Bool { fd < 0 }

  var length: Int { mapping.length }

  /// Whether an access to the mapping has failed. Since then this process reads only zeros, and other processes don't see its
  /// writes, so the index must be reopened. If the result is false, all values that were read before the check are right.
  @inline(__always)
  var isBroken: Bool { mapping.isBroken }

  /// Whether the last byte can be read from the file.
  var canBeRead: Bool {
    var byte: UInt8 = 0
    let count = try? withUnsafeMutableBytes(of: &byte) { (bytes) throws(SystemFault) in
      try system.read(fd, bytes, Int64(length - 1))
    }
    return count == 1
  }

  /// Opens the index file. Returns nil if it is missing, incomplete, or was made before the last boot.
  static func open(_ directory: StoreDirectory, boot: KeyHash) throws(SystemFault) -> Index? {
    let system = directory.system
    let fd: Int32
    let status: FileStatus
    do {
      (fd, status) = try directory.openFile(directory.root, "index", directory.isReading ? O_RDONLY : O_RDWR)
    } catch  where [ENOENT, EINVAL, ELOOP, EISDIR].contains(error.number) {
      return nil
    }
    do throws(SystemFault) {
      var header = [UInt8](repeating: 0, count: 64)
      var span = header.mutableSpan
      let isWhole = try span.withUnsafeMutableBytes { (bytes) throws(SystemFault) in
        try system.readAll(fd, bytes, 0)
      }
      guard isWhole, let sizes = header.withUnsafeBytes({ check($0, boot: boot) }),
        Int64(sizes.file) == status.size
      else {
        system.close(fd)
        return nil
      }
      let mapping =
        directory.isReading
        ? try system.mapPrivately(fd, sizes.file) : try system.map(fd, sizes.file, isWritable: true)
      return Index(
        directory, fd: fd, mapping, slotCount: sizes.slotCount,
        packCapacity: sizes.packCapacity, slotStart: sizes.slots)
    } catch {
      system.close(fd)
      throw error
    }
  }

  private static func check(
    _ header: UnsafeRawBufferPointer, boot: KeyHash
  ) -> (slotCount: Int, packCapacity: Int, slots: Int, file: Int)? {
    guard header.word(0) == IndexLayout.magic,
      header.word(8) == UInt64(IndexLayout.version) | UInt64(IndexLayout.tableStart) << 32,
      header.word(IndexLayout.boot) == boot.low, header.word(IndexLayout.boot + 8) == boot.high,
      nhs_hash64(header.baseAddress, IndexLayout.checksum, 0) == header.word(IndexLayout.checksum),
      let slotCount = Int(exactly: header.word(IndexLayout.slotCount)), slotCount >= 64,
      let packCapacity = Int(exactly: header.word(IndexLayout.packCapacity)), packCapacity > 0,
      let sizes = IndexLayout.sizes(slots: slotCount, packs: packCapacity)
    else { return nil }
    return (slotCount, packCapacity, sizes.slots, sizes.file)
  }

  /// Makes an empty index in the file `index.new`, which `IndexRebuild.publish` renames. If the directory can only be read, the
  /// index is in this process's memory.
  ///
  /// - Parameter isLean: whether this process maps only the parts that it reads.
  static func make(
    _ directory: StoreDirectory, boot: KeyHash, slots: Int, packs: Int, isLean: Bool = false
  ) throws(SystemFault) -> Index {
    let system = directory.system
    guard let sizes = IndexLayout.sizes(slots: slots, packs: packs) else { throw SystemFault(EFBIG) }
    guard !directory.isReading else {
      let mapping = try system.mapPrivately(-1, sizes.file)
      return begin(directory, boot, slots: slots, packs: packs, sizes, fd: -1, mapping)
    }
    try directory.makeWay(for: "index.new")
    let (fd, _) = try directory.openFile(directory.root, "index.new", O_RDWR | O_CREAT | O_EXCL)
    do throws(SystemFault) {
      try system.resize(fd, Int64(sizes.file))
      // Without reserved room, ext4 writes the file to the disk when it is renamed. If this fails, only that happens.
      do throws(SystemFault) { try system.reserve(fd, 0, Int64(sizes.file)) } catch {}
      try fill(system, fd, sizes.file, isLean: isLean)
      let mapping = try system.map(fd, sizes.file, isWritable: true)
      guard let base = mapping.base else { throw SystemFault(EINVAL) }
      // This is much faster than one page fault at a time. If it fails, each write maps its page by itself, which needs no new room
      // on a file system that writes in place.
      do throws(SystemFault) {
        if !isLean || !directory.writesInPlace { try system.populate(base, sizes.file) }
      } catch {
        if !directory.canWrite(base, sizes.file) {
          system.unmap(mapping)
          throw SystemFault(ENOSPC)
        }
      }
      let made = begin(directory, boot, slots: slots, packs: packs, sizes, fd: fd, mapping)
      // If this fails, its `deinit` closes the file.
      made.isLean.store(isLean, ordering: .relaxed)
      if !made.isBroken { return made }
    } catch {
      system.close(fd)
      do { try system.unlink(directory.root, "index.new") } catch {}
      throw error
    }
    do { try system.unlink(directory.root, "index.new") } catch {}
    throw SystemFault(ENOSPC)
  }

  /// Writes the head of a new index. The rest of it is zeros.
  private static func begin(
    _ directory: StoreDirectory, _ boot: KeyHash, slots: Int, packs: Int, _ sizes: (slots: Int, file: Int),
    fd: Int32, _ mapping: FileMapping
  ) -> Index {
    let header = UnsafeMutableRawBufferPointer(start: mapping.base, count: IndexLayout.tableStart)
    header.store(IndexLayout.magic, at: 0)
    header.store(IndexLayout.version, at: 8)
    header.store(UInt32(IndexLayout.tableStart), at: 12)
    header.store(UInt64(slots), at: IndexLayout.slotCount)
    header.store(UInt64(packs), at: IndexLayout.packCapacity)
    header.store(boot.low, at: IndexLayout.boot)
    header.store(boot.high, at: IndexLayout.boot + 8)
    header.store(UInt64.random(in: 1 ... .max), at: IndexLayout.identity)
    header.store(nhs_hash64(mapping.base, IndexLayout.checksum, 0), at: IndexLayout.checksum)
    header.store(UInt32(1), at: IndexLayout.session)
    header.store(UInt64(1), at: IndexLayout.nextSequence)
    header.store(UInt64(1), at: IndexLayout.nextPack)
    let made = Index(
      directory, fd: fd, mapping, slotCount: slots, packCapacity: packs, slotStart: sizes.slots)
    made.beginRemovals()
    return made
  }
}

extension Index {
  /// Writes zeros to the whole index in large pieces. For each piece the kernel then uses one large page with one page table
  /// entry, so a search loads fewer of these entries. If the disk is full, this fails, and not a later access to a mapped page.
  ///
  /// - Parameter isLean: use small pieces, because an access maps a whole piece.
  private static func fill(
    _ system: any SystemCalls, _ fd: Int32, _ length: Int, isLean: Bool
  ) throws(SystemFault) {
    let piece = isLean ? 64 << 10 : 2 << 20
    var done = 0
    while done < length {
      let written = try system.zero(fd, Int64(done), min(piece - done % piece, length - done))
      guard written > 0 else { throw SystemFault(EIO) }
      done += written
    }
  }

  /// Returns whether a slot can be written now.
  @inline(__always)
  func canWrite(_ place: Int) -> Bool {
    directory.writesInPlace || canWrite(slots + place * IndexLayout.slotSize, IndexLayout.slotSize)
  }

  func canWrite(_ at: UnsafeMutableRawPointer, _ length: Int) -> Bool {
    isPrivate || directory.canWrite(at, length)
  }

  /// Whether another index has replaced this one, as marked by the process that did it.
  @inline(__always)
  var isReplaced: Bool { nhs_load32_acquire(base + IndexLayout.isReplaced) != 0 }
  /// Whether all its records are deleted.
  var isCleared: Bool { nhs_load32_acquire(base + IndexLayout.isReplaced) == 2 }
  /// Changes when packs were dropped, or when another process reports losses.
  @inline(__always)
  var drops: UInt32 { nhs_load32_acquire(base + IndexLayout.drops) }
  /// A random number that is different for each index.
  @inline(__always)
  var identity: UInt64 { nhs_load64(base + IndexLayout.identity) }
  @inline(__always)
  var session: UInt32 {
    let session = nhs_load32(base + IndexLayout.session) & 0xFFF
    // The number is damaged. With 0, payloads that were never verified would count as verified. No slot holds 0x1000.
    return session == 0 ? 0x1000 : session
  }
  /// Memory-only records with a lower sequence number were removed when the directory was cleared.
  var clearedBefore: UInt64 {
    let sequence = nhs_load64(base + IndexLayout.clearedBefore)
    // The number is damaged. With it, later records would look cleared.
    return sequence <= nextSequence ? sequence : 0
  }
  /// Whether the next sequence or pack number is 0 or too high to be real, so that it can't be used for new records.
  var hasDamagedNumbers: Bool {
    !(1...1 << 62).contains(nextSequence) || !(1...UInt64(UInt32.max)).contains(nextPack)
  }
  var limit: Int { Int(truncatingIfNeeded: nhs_load64(base + IndexLayout.limit)) }

  /// A slot and its place.
  struct Found {
    let place: Int
    let slot: Slot
  }

  /// Returns the place where the search for a hash begins. Slots are almost in the order of their hashes, so that a larger
  /// index is filled from front to back.
  @inline(__always)
  func place(of hash: KeyHash) -> Int {
    Int(truncatingIfNeeded: hash.low.multipliedFullWidth(by: UInt64(slotCount)).high)
  }

  @inline(__always)
  func next(_ place: Int) -> Int { place + 1 == slotCount ? 0 : place + 1 }

  /// Finds a hash without a lock. The result may be outdated when the record is read; then the record doesn't match.
  @inline(__always)
  func find(_ hash: KeyHash) -> Found? {
    if isLean.load(ordering: .relaxed) { countLook() }
    var seen = nhs_slot()
    guard nhs_find_slot(slots, slotCount, hash.low, hash.high, &seen) == 1 else { return nil }
    return Found(
      place: seen.place,
      slot: Slot(
        hash: hash, location: Location(pack: seen.pack, offset: Int(seen.offset) << 3), flags: seen.flags))
  }

  /// Reads a slot, or a copy of one, that no other thread writes to.
  @inline(__always)
  func load(_ at: UnsafeMutableRawPointer) -> Slot {
    Slot(
      hash: KeyHash(low: nhs_load64(at), high: nhs_load64(at + 8)),
      location: Location(pack: nhs_load32(at + 20), offset: Int(nhs_load32(at + 24)) << 3),
      flags: nhs_load32(at + 28))
  }

  /// Reads a slot. Returns nil if it was never used, or a writer died in the middle of it.
  func read(_ place: Int) -> Slot? {
    let at = slots + place * IndexLayout.slotSize
    for _ in 0..<1000 {
      let version = nhs_load32_acquire(at + 16)
      if version & 1 != 0 { continue }
      let slot = load(at)
      nhs_fence_acquire()
      if nhs_load32(at + 16) == version { return slot.location.pack == Slot.unusedMark ? nil : slot }
    }
    return nil
  }

  /// Sets the visited bit.
  @inline(__always)
  func visit(_ found: Found) {
    if found.slot.flags & Slot.visited == 0, canWrite(found.place) {
      nhs_or32(slots + found.place * IndexLayout.slotSize + 28, Slot.visited)
    }
  }

  /// Clears the visited bit.
  func unvisit(_ place: Int) {
    let at = slots + place * IndexLayout.slotSize + 28
    let flags = nhs_load32(at)
    if canWrite(place) { _ = nhs_swap32(at, flags, flags & ~Slot.visited) }
  }

  /// Notes in the slot's flags that the payload was verified in this session. The note can't get into the slot of another record.
  func markChecked(_ found: Found, session: UInt32) {
    let at = slots + found.place * IndexLayout.slotSize + 28
    let flags = nhs_load32(at)
    // Another reader may have set the visited bit since. Any other difference means that the slot holds another record now.
    guard flags & ~Slot.visited == found.slot.flags & ~Slot.visited, canWrite(found.place) else { return }
    _ = nhs_swap32(at, flags, flags & ~0xFFF0 | (session & 0xFFF) << 4)
  }
}
