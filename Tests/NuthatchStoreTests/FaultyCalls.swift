import Glibc
import NuthatchBase
import Synchronization

@testable import NuthatchStore

/// Linux's system calls, of which the one that is next after `grace` others fails, once or from then on.
final class FaultyCalls: SystemCalls, @unchecked Sendable {
  enum Failure {
    case number(Int32)
    /// Writes and reads stop half-way; other calls succeed.
    case short
  }

  private let linux = LinuxCalls()
  /// The kind of file system that there seems to be.
  private let pretended: UInt32?
  private let failure: Failure
  private let isLasting: Bool
  private let grace: Atomic<Int>
  private let failed = Atomic(0)
  private let syncsFail = Atomic(false)
  private let populated = Atomic(0)
  private let opened = Atomic(0)
  private let isFull = Atomic(false)
  private let fullPage = Atomic<UInt>(0)
  private let zerosToFail = Atomic(0)
  private let writesToFail = Atomic(0)
  private let mapsToFail = Atomic(0)
  private let room = Atomic(Int64.max)
  private let noRoom = Atomic(ENOSPC)
  private let reserving = Atomic<Int32>(0)
  private let renaming = Atomic<Int32>(0)
  private let countsChecks = Atomic(true)

  /// - Parameter grace: how many calls succeed before; nil for all of them, until `arm` is called.
  init(_ failure: Failure, after grace: Int? = nil, isLasting: Bool = false, fileSystem: UInt32? = nil) {
    pretended = fileSystem
    self.failure = failure
    self.isLasting = isLasting
    self.grace = Atomic(grace ?? .max)
  }

  // Guards what follows.
  private let hooks = WordLock()
  private var unlocks = 0
  private var afterUnlock: (@Sendable () -> Void)?
  private var reads = 0
  private var beforeRead: (@Sendable () -> Void)?
  private var syncedInodes: Set<UInt64> = []
  private var halfway: (length: Int, body: @Sendable () -> Void)?
  private var refused: (name: String, number: Int32)?
  private var populating: (address: UInt, body: @Sendable () -> Void)?
  private var beforeLink: (@Sendable () -> Void)?
  private var atHeldLock: (@Sendable () -> Void)?
  private var readOnly: Int32?
  private var attemptsToWrite = 0

  /// Does something once, when so many unlockings have been done.
  func interfere(at count: Int, _ body: @escaping @Sendable () -> Void) {
    hooks.withLock { (unlocks, afterUnlock) = (count, body) }
  }

  /// Does something once, when so many reads have been begun.
  func interfere(atRead count: Int, _ body: @escaping @Sendable () -> Void) {
    hooks.withLock { (reads, beforeRead) = (count, body) }
  }

  /// Does something once, when of a record of so many bytes or more only the header has been written.
  func interfereHalfway(_ length: Int, _ body: @escaping @Sendable () -> Void) {
    hooks.withLock { halfway = (length, body) }
  }

  /// Does something once, when the mapped page of this address is said to be writable.
  func interfere(populating address: UnsafeRawPointer, _ body: @escaping @Sendable () -> Void) {
    hooks.withLock { populating = (UInt(bitPattern: address), body) }
  }

  /// Does something once, when a symbolic link is to be made.
  func interfereBeforeLink(_ body: @escaping @Sendable () -> Void) {
    hooks.withLock { beforeLink = body }
  }

  /// Does something once, when another holder has a byte that is to be locked.
  func interfereAtHeldLock(_ body: @escaping @Sendable () -> Void) {
    hooks.withLock { atHeldLock = body }
  }

  /// From now on files of this name can't be opened.
  func refuseOpening(_ name: String, _ number: Int32) { hooks.withLock { refused = (name, number) } }

  /// From now on nothing can be written, for this reason: as on a file system that is mounted read-only.
  func refuseWriting(_ number: Int32 = EROFS) { hooks.withLock { readOnly = number } }
  /// How often something was to be written all the same.
  var refusedWrites: Int { hooks.withLock { attemptsToWrite } }

  private func checkWriting() throws(SystemFault) {
    let refusal = hooks.withLock {
      if readOnly != nil { attemptsToWrite += 1 }
      return readOnly
    }
    if let refusal { throw SystemFault(refusal) }
  }

  func arm(after count: Int) { grace.store(count, ordering: .relaxed) }
  func disarm() { grace.store(.max, ordering: .relaxed) }
  /// From now on nothing reaches the disk, or does again.
  func failSyncs(_ fail: Bool) { syncsFail.store(fail, ordering: .relaxed) }
  /// The next writes are errors of the disk.
  func failWrites(_ count: Int) { writesToFail.store(count, ordering: .relaxed) }
  /// How many more writes will fail; negative if writes succeeded since.
  var writesThatWillFail: Int { writesToFail.load(ordering: .relaxed) }
  /// There is no room for the next zeros.
  func failZeros(_ count: Int) { zerosToFail.store(count, ordering: .relaxed) }
  /// The next files can't be mapped to be read.
  func failMaps(_ count: Int) { mapsToFail.store(count, ordering: .relaxed) }
  /// A store looks by the clock whether it can still write. From now on these looks aren't counted.
  func leaveOutChecks() { countsChecks.store(false, ordering: .relaxed) }
  /// From now on no mapped page can be written, or each can again.
  func fillUp(_ fill: Bool) { isFull.store(fill, ordering: .relaxed) }
  /// From now on the mapped page of this address can't be written; of nil, each can.
  func fillUp(pageOf address: UnsafeRawPointer?) {
    fullPage.store(UInt(bitPattern: address) & ~4095, ordering: .relaxed)
  }
  /// How many calls failed.
  var failures: Int { failed.load(ordering: .relaxed) }

  /// The disk has room for so many bytes, each time.
  func limitRoom(_ bytes: Int64) { room.store(bytes, ordering: .relaxed) }
  /// What is said where there is no room.
  func nameReason(_ number: Int32) { noRoom.store(number, ordering: .relaxed) }

  /// From now on no room can be reserved, for this reason.
  func refuseReserving(_ number: Int32) { reserving.store(number, ordering: .relaxed) }
  /// From now on no renaming can be told to replace nothing, for this reason.
  func refuseCarefulRenaming(_ number: Int32) { renaming.store(number, ordering: .relaxed) }
  /// The files and folders that have reached the disk.
  var synced: Set<UInt64> { hooks.withLock { syncedInodes } }

  /// How many files were to be opened.
  var openings: Int { opened.load(ordering: .relaxed) }

  /// How many mappings were populated.
  var populations: Int { populated.load(ordering: .relaxed) }

  private func isNext() -> Bool {
    let left = grace.wrappingSubtract(1, ordering: .relaxed).oldValue
    guard left == 0 || (isLasting && left < 0) else { return false }
    failed.wrappingAdd(1, ordering: .relaxed)
    return true
  }

  private func attempt() throws(SystemFault) {
    if case .number(let number) = failure, isNext() { throw SystemFault(number) }
  }

  func open(_ directory: Int32, _ name: String, _ flags: Int32) throws(SystemFault) -> Int32 {
    try attempt()
    if let refused = hooks.withLock({ refused }), refused.name == name { throw SystemFault(refused.number) }
    if flags & (O_ACCMODE | O_CREAT) != O_RDONLY { try checkWriting() }
    opened.wrappingAdd(1, ordering: .relaxed)
    return try linux.open(directory, name, flags)
  }
  func close(_ fd: Int32) { linux.close(fd) }
  func checkWritable(_ directory: Int32) throws(SystemFault) {
    if countsChecks.load(ordering: .relaxed) { try attempt() }
    if let refusal = hooks.withLock({ readOnly }) { throw SystemFault(refusal) }
    try linux.checkWritable(directory)
  }
  func status(_ fd: Int32) throws(SystemFault) -> FileStatus {
    try attempt()
    return try linux.status(fd)
  }
  func fileSystem(_ fd: Int32) throws(SystemFault) -> UInt32 {
    try attempt()
    if let pretended { return pretended }
    return try linux.fileSystem(fd)
  }
  func names(_ directory: Int32) throws(SystemFault) -> [String] {
    try attempt()
    return try linux.names(directory)
  }
  func makeDirectory(_ directory: Int32, _ name: String) throws(SystemFault) {
    try attempt()
    try checkWriting()
    try linux.makeDirectory(directory, name)
  }
  func unlink(_ directory: Int32, _ name: String) throws(SystemFault) {
    try attempt()
    try checkWriting()
    try linux.unlink(directory, name)
  }
  func rename(_ directory: Int32, _ from: String, _ to: String, replaces: Bool) throws(SystemFault) {
    try attempt()
    let refusal = renaming.load(ordering: .relaxed)
    if !replaces, refusal != 0 { throw SystemFault(refusal) }
    try checkWriting()
    try linux.rename(directory, from, to, replaces: replaces)
  }
  func resize(_ fd: Int32, _ size: Int64) throws(SystemFault) {
    try attempt()
    try linux.resize(fd, size)
  }
  func reserve(_ fd: Int32, _ offset: Int64, _ length: Int64) throws(SystemFault) {
    try attempt()
    let refusal = reserving.load(ordering: .relaxed)
    if refusal != 0 { throw SystemFault(refusal) }
    if length > room.load(ordering: .relaxed) { throw SystemFault(noRoom.load(ordering: .relaxed)) }
    try linux.reserve(fd, offset, length)
  }
  func punch(_ fd: Int32, _ offset: Int64, _ length: Int64) throws(SystemFault) {
    try attempt()
    try linux.punch(fd, offset, length)
  }
  func write(_ fd: Int32, _ parts: UnsafeBufferPointer<iovec>, _ offset: Int64) throws(SystemFault) -> Int {
    try attempt()
    if writesToFail.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 { throw SystemFault(EIO) }
    if case .short = failure, isNext(), let first = parts.first, first.iov_len > 1 {
      var half = iovec(iov_base: first.iov_base, iov_len: first.iov_len / 2)
      return try withUnsafePointer(to: &half) { (part) throws(SystemFault) -> Int in
        try linux.write(fd, UnsafeBufferPointer(start: part, count: 1), offset)
      }
    }
    let hook: (@Sendable () -> Void)? = hooks.withLock {
      guard let halfway, parts.count > 1, parts.reduce(0, { $0 + $1.iov_len }) >= halfway.length else {
        return nil
      }
      self.halfway = nil
      return halfway.body
    }
    guard let hook else { return try linux.write(fd, parts, offset) }
    let written = try linux.write(fd, UnsafeBufferPointer(rebasing: parts.prefix(1)), offset)
    hook()
    return written
  }
  func zero(_ fd: Int32, _ offset: Int64, _ length: Int) throws(SystemFault) -> Int {
    try attempt()
    if zerosToFail.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 { throw SystemFault(ENOSPC) }
    if case .short = failure, isNext() { return try linux.zero(fd, offset, max(1, length / 2)) }
    return try linux.zero(fd, offset, length)
  }
  func read(_ fd: Int32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) throws(SystemFault) -> Int {
    try attempt()
    let hook: (@Sendable () -> Void)? = hooks.withLock {
      reads -= 1
      return reads == 0 ? beforeRead : nil
    }
    hook?()
    if case .short = failure, bytes.count > 1, isNext() {
      return try linux.read(
        fd, UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(bytes.count / 2)), offset)
    }
    return try linux.read(fd, bytes, offset)
  }
  func sync(_ fd: Int32) throws(SystemFault) {
    try attempt()
    if syncsFail.load(ordering: .relaxed) { throw SystemFault(EIO) }
    try linux.sync(fd)
    let inode = try linux.status(fd).inode
    hooks.withLock { _ = syncedInodes.insert(inode) }
  }
  func dataBegins(_ fd: Int32, _ offset: Int64) throws(SystemFault) -> Int64? {
    try attempt()
    return try linux.dataBegins(fd, offset)
  }
  func dataEnds(_ fd: Int32, _ offset: Int64) throws(SystemFault) -> Int64 {
    try attempt()
    return try linux.dataEnds(fd, offset)
  }
  func map(_ fd: Int32, _ length: Int, isWritable: Bool) throws(SystemFault) -> FileMapping {
    try attempt()
    if !isWritable, mapsToFail.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 {
      throw SystemFault(ENOMEM)
    }
    return try linux.map(fd, length, isWritable: isWritable)
  }
  func mapPrivately(_ fd: Int32, _ length: Int) throws(SystemFault) -> FileMapping {
    try attempt()
    return try linux.mapPrivately(fd, length)
  }
  func map(_ fd: Int32, from offset: Int64, _ length: Int) throws(SystemFault) -> FileMapping {
    try attempt()
    return try linux.map(fd, from: offset, length)
  }
  func populate(_ base: UnsafeMutableRawPointer, _ length: Int) throws(SystemFault) {
    try attempt()
    let page = fullPage.load(ordering: .relaxed)
    let begin = UInt(bitPattern: base)
    let isPageMeant = page != 0 && (begin..<begin + UInt(length)).contains(page)
    if isPageMeant || isFull.load(ordering: .relaxed) { throw SystemFault(EFAULT) }
    try linux.populate(base, length)
    let hook = hooks.withLock { () -> (@Sendable () -> Void)? in
      guard let hook = populating, (begin..<begin + UInt(length)).contains(hook.address) else { return nil }
      populating = nil
      return hook.body
    }
    hook?()
    populated.wrappingAdd(1, ordering: .relaxed)
  }
  func mapAgain(_ mapping: FileMapping, _ fd: Int32) throws(SystemFault) {
    try attempt()
    try linux.mapAgain(mapping, fd)
  }
  func unmap(_ mapping: FileMapping) { linux.unmap(mapping) }
  func link(_ directory: Int32, _ name: String, to target: String) throws(SystemFault) {
    try attempt()
    try checkWriting()
    let hook = hooks.withLock { () -> (@Sendable () -> Void)? in
      defer { beforeLink = nil }
      return beforeLink
    }
    hook?()
    try linux.link(directory, name, to: target)
  }
  func tryLock(_ fd: Int32, _ byte: Int64, _ kind: LockKind) throws(SystemFault) -> Bool {
    try attempt()
    if try linux.tryLock(fd, byte, kind) { return true }
    let hook = hooks.withLock { () -> (@Sendable () -> Void)? in
      defer { atHeldLock = nil }
      return atHeldLock
    }
    hook?()
    return false
  }
  func unlock(_ fd: Int32, _ byte: Int64) {
    linux.unlock(fd, byte)
    let hook: (@Sendable () -> Void)? = hooks.withLock {
      unlocks -= 1
      return unlocks == 0 ? afterUnlock : nil
    }
    hook?()
  }
}
