import CSystem
import Glibc
import Synchronization

/// The shared table from key hash to location, mapped. Readers take no lock; `Index+Write` says who may write.
///
/// Sizes are taken from the file once, when it has been checked; after that nothing read from the mapping is ever used
/// as an address or a size without a check, since any process can write there.
///
/// Of a directory that can only be read, the file is mapped so that it can't be changed, and what others write to it is
/// seen; or the index is memory of this process, made from the packs (`isPrivate`).
// The mapping is changed by atomic instructions, hence Sendable.
final class Index: @unchecked Sendable {
  private let directory: StoreDirectory
  private let system: any SystemCalls
  /// -1 when it is no file.
  private let fd: Int32
  private let mapping: FileMapping
  let base: UnsafeMutableRawPointer
  let slotCount: Int
  let packCapacity: Int
  let slots: UnsafeMutableRawPointer
  /// Whether this process looks at more of it than it will come back to.
  let isLean = Atomic(false)
  /// How many there were since then.
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

  /// Whether it is memory of this process.
  var isPrivate: Bool { fd < 0 }

  var length: Int { mapping.length }

  /// Whether a touch of it has failed: since then this process sees nothing but zeros, and what it writes reaches nobody. It is
  /// to be opened anew. What was read of it before this was asked is right if the answer is no.
  @inline(__always)
  var isBroken: Bool { mapping.isBroken }

  /// Whether its first bytes can be read from the file, which is whole.
  var canBeRead: Bool {
    var byte: UInt8 = 0
    let count = try? withUnsafeMutableBytes(of: &byte) { (bytes) throws(SystemFault) in
      try system.read(fd, bytes, Int64(length - 1))
    }
    return count == 1
  }

  /// The index that is there; nil when there is none that is of this boot and whole.
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

  /// A new, empty index under the name `index.new`, which `publish` gives its proper name; in memory where the directory can
  /// only be read.
  ///
  /// - Parameter isLean: whether this process wants it in its memory only as far as it is looked at.
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
      try fill(system, fd, sizes.file, isLean: isLean)
      let mapping = try system.map(fd, sizes.file, isWritable: true)
      guard let base = mapping.base else { throw SystemFault(EINVAL) }
      // Much faster than a page at a time. Not essential where all of it has been written in place.
      do throws(SystemFault) {
        if !isLean || !directory.writesInPlace { try system.populate(base, sizes.file) }
      } catch {
        if !directory.canWrite(base, sizes.file) {
          system.unmap(mapping)
          throw SystemFault(ENOSPC)
        }
      }
      let made = begin(directory, boot, slots: slots, packs: packs, sizes, fd: fd, mapping)
      // Else it closes the file when it goes.
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

  /// Writes the head of a new index, which is all zeros.
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
  /// Writes zeros to all of an index, in pieces for each of which the kernel takes one piece of memory and one entry of the
  /// page tables: a search then doesn't wait for these as well. A full disk shows here, not at a mapped page.
  ///
  /// - Parameter isLean: small pieces then, since a look at one maps all of it.
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

  /// Whether a slot can be written now.
  @inline(__always)
  func canWrite(_ place: Int) -> Bool {
    directory.writesInPlace || canWrite(slots + place * IndexLayout.slotSize, IndexLayout.slotSize)
  }

  func canWrite(_ at: UnsafeMutableRawPointer, _ length: Int) -> Bool {
    isPrivate || directory.canWrite(at, length)
  }

  /// Whether another index has taken this one's place: seen by readers once the one who replaced it said so.
  @inline(__always)
  var isReplaced: Bool { nhs_load32_acquire(base + IndexLayout.isReplaced) != 0 }
  /// Whether nothing that it names is there any more.
  var isCleared: Bool { nhs_load32_acquire(base + IndexLayout.isReplaced) == 2 }
  /// Moves whenever packs were dropped.
  @inline(__always)
  var drops: UInt32 { nhs_load32_acquire(base + IndexLayout.drops) }
  /// Random; no two indexes have the same.
  @inline(__always)
  var identity: UInt64 { nhs_load64(base + IndexLayout.identity) }
  @inline(__always)
  var session: UInt32 {
    let session = nhs_load32(base + IndexLayout.session) & 0xFFF
    // Damage: 0 would have payloads that nobody checked pass for checked ones. No slot has this one.
    return session == 0 ? 0x1000 : session
  }
  /// What was made before this sequence, and is in no pack, went when the directory was cleared.
  var clearedBefore: UInt64 {
    let sequence = nhs_load64(base + IndexLayout.clearedBefore)
    // Damage, else: all records that come would seem to be earlier.
    return sequence <= nextSequence ? sequence : 0
  }
  /// Whether nobody will ever count so far as it says. What it would give next wouldn't be later than what there is.
  var isOfDamagedNumbers: Bool {
    !(1...1 << 62).contains(nextSequence) || !(1...UInt64(UInt32.max)).contains(nextPack)
  }
  var limit: Int { Int(truncatingIfNeeded: nhs_load64(base + IndexLayout.limit)) }

  /// A slot and where it is.
  struct Found {
    let place: Int
    let slot: Slot
  }

  /// Where the search for a hash begins. Slots stand in the order of their hashes, nearly, so that a larger index is
  /// filled from front to back.
  @inline(__always)
  func place(of hash: KeyHash) -> Int {
    Int(truncatingIfNeeded: hash.low.multipliedFullWidth(by: UInt64(slotCount)).high)
  }

  @inline(__always)
  func next(_ place: Int) -> Int { place + 1 == slotCount ? 0 : place + 1 }

  /// Looks a hash up without any lock. What it says may be old by the time it is read: the record decides.
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

  /// What a slot, or the copy of one, says that nobody else writes to.
  @inline(__always)
  func load(_ at: UnsafeMutableRawPointer) -> Slot {
    Slot(
      hash: KeyHash(low: nhs_load64(at), high: nhs_load64(at + 8)),
      location: Location(pack: nhs_load32(at + 20), offset: Int(nhs_load32(at + 24)) << 3),
      flags: nhs_load32(at + 28))
  }

  /// What a slot says, nil when it is never used or can't be read because a writer died in the middle.
  func read(_ place: Int) -> Slot? {
    let at = slots + place * IndexLayout.slotSize
    for _ in 0..<1000 {
      let version = nhs_load32_acquire(at + 16)
      if version & 1 != 0 { continue }
      let slot = load(at)
      nhs_fence_acquire()
      if nhs_load32(at + 16) == version { return slot.location.pack == Slot.neverUsed ? nil : slot }
    }
    return nil
  }

  /// Sets the visited bit, unless it is set.
  @inline(__always)
  func visit(_ found: Found) {
    if found.slot.flags & Slot.visited == 0, canWrite(found.place) {
      nhs_or32(slots + found.place * IndexLayout.slotSize + 28, Slot.visited)
    }
  }

  /// Takes the visited bit away.
  func unvisit(_ place: Int) {
    let at = slots + place * IndexLayout.slotSize + 28
    let flags = nhs_load32(at)
    if canWrite(place) { _ = nhs_swap32(at, flags, flags & ~Slot.visited) }
  }

  /// Notes that the payload's checksum holds. The flags change with the slot, so that the note can't reach another one.
  func markChecked(_ found: Found, session: UInt32) {
    let at = slots + found.place * IndexLayout.slotSize + 28
    let flags = nhs_load32(at)
    // Another reader may have set the visited bit since; anything else means that the slot holds another record now.
    guard flags & ~Slot.visited == found.slot.flags & ~Slot.visited, canWrite(found.place) else { return }
    _ = nhs_swap32(at, flags, flags & ~0xFFF0 | (session & 0xFFF) << 4)
  }
}
