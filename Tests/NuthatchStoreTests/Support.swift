import CSystem
import Foundation
import NuthatchBase
import Testing

@testable import NuthatchStore

/// A directory that goes with the test.
final class Folder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/nuthatch-store-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func files(_ folder: String = "packs") -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path + "/" + folder)) ?? []).sorted()
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + "/" + name) }

  func read(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))
  }

  /// Overwrites in place, as damage would: same file, same size.
  func poke(_ name: String, at offset: Int, _ bytes: [UInt8]) throws {
    let fd = open(path + "/" + name, O_WRONLY)
    try #require(fd >= 0)
    defer { close(fd) }
    #expect(pwrite(fd, bytes, bytes.count, off_t(offset)) == bytes.count)
  }

  /// What all files take on the disk.
  var allocated: Int {
    let names = files().map { "packs/" + $0 } + files("").filter { $0 != "packs" }
    return names.reduce(0) {
      var status = stat()
      return stat(path + "/" + $1, &status) == 0 ? $0 + Int(status.st_blocks) * 512 : $0
    }
  }
}

/// Numbers that look random and come again with their seed.
struct Dice: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Bytes that belong to a number, so that a reader can tell whether they are right.
func content(_ number: UInt64, _ count: Int) -> [UInt8] {
  var dice = Dice(number)
  return [UInt8](unsafeUninitializedCapacity: count + 8) { buffer, filled in
    let bytes = UnsafeMutableRawBufferPointer(buffer)
    var place = 0
    while place < count {
      bytes.storeBytes(of: dice.next(), toByteOffset: place, as: UInt64.self)
      place += 8
    }
    filled = count
  }
}

/// How many bytes there are before the zeros at the end.
func usedBytes(_ bytes: [UInt8]) -> Int {
  bytes.withUnsafeBufferPointer { buffer in
    var count = buffer.count
    while count > 0, buffer[count - 1] == 0 { count -= 1 }
    return count
  }
}

extension Store {
  /// What stands behind a store's door, without the door.
  static func records(
    _ directory: StoreDirectory, _ options: Options, _ following: @escaping Following = { _, _, _ in }
  ) throws(StoreFault) -> any RecordStore {
    let disk = try DiskStore(directory, options, following)
    return options.spill == .pressure ? MemoryFirstStore(disk) : disk
  }

  var current: CurrentIndex { disk.current }
  var index: Index? { disk.current.index }
  func finish() { close() }

  func bytes(_ key: RecordKey) throws -> [UInt8]? { try lookup(key)?.copied() }

  func relieve(_ level: MemoryPressure) { Store.relieve([self], level) }
}

extension [UInt8] {
  func withBytes<Result, Fault>(
    _ body: (UnsafeRawBufferPointer) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    try span.bytes.withUnsafeBytes(body)
  }
}

extension Lease {
  func copied() -> [UInt8] { withBytes { Array($0) } }
}

extension VerifyReport {
  /// Whether nothing was wrong.
  var isClean: Bool { damaged == 0 && gaps == 0 && recovered == 0 && unreadable == 0 }
}

extension Journal {
  func tryLease() throws -> Bool {
    try changing(makes: false) { (journal) throws(StoreFault) in try journal.locks.tryLease() } ?? false
  }

  func tryTake(_ sequence: UInt64) throws -> Bool {
    try withLocks { (locks) throws(StoreFault) in try locks.tryTake(sequence) } ?? false
  }
}

/// Whether the library runs under a sanitizer, where a test takes ten times as long. Tests of many like cases run some of them there.
let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

/// How often a test with kills repeats what it does: `NUTHATCH_CRASH_ROUNDS`, else what it takes by itself.
func crashRounds(_ usual: Int) -> Int {
  ProcessInfo.processInfo.environment["NUTHATCH_CRASH_ROUNDS"].flatMap { Int($0) }.map { max(1, $0) } ?? usual
}

/// How many runs with seeds of their own a comparison with a model has: `NUTHATCH_MODEL_RUNS`, else what it has by itself.
func modelRuns(_ usual: Int) -> Int {
  ProcessInfo.processInfo.environment["NUTHATCH_MODEL_RUNS"].flatMap { Int($0) }.map { max(1, $0) } ?? usual
}

/// Waits up to 30 s until the condition is true.
func eventually(_ note: Comment, _ location: SourceLocation = #_sourceLocation, _ isSo: () -> Bool) {
  for _ in 0..<3000 {
    if isSo() { return }
    usleep(10_000)
  }
  Issue.record(note, sourceLocation: location)
}

/// Calls `body` in this many threads and waits for them.
///
/// They have ten minutes for their waits. By itself a commit throws `busy` after a second, which may pass on a busy machine
/// before the other threads let one go on.
func inThreads(_ count: Int, _ body: @Sendable (Int) -> Void) {
  DispatchQueue.concurrentPerform(iterations: count) { number in
    WaitLimit.applying(600_000_000_000) { body(number) }
  }
}

/// Notes what went wrong, from any thread.
final class Faults: @unchecked Sendable {
  private let lock = WordLock()
  private var noted: [String] = []
  func add(_ what: String) { lock.withLock { noted.append(what) } }
  var all: [String] { lock.withLock { noted } }
}

/// A seed that is printed when a test fails: every expectation names it.
func newSeed() -> UInt64 {
  if let text = ProcessInfo.processInfo.environment["NUTHATCH_SEED"], let seed = UInt64(text) { return seed }
  return UInt64.random(in: 0..<1_000_000_000)
}

/// Shorter ways to what tests look at.
extension RecordStore {
  var current: CurrentIndex { disk.current }
  var index: Index? { disk.current.index }

  @discardableResult
  func commit(
    _ key: RecordKey, _ shape: PayloadShape, _ parts: [UnsafeRawBufferPointer]
  ) throws(StoreFault) -> Lease {
    guard let lease = try commit(key, shape, parts, asked: nil) else {
      throw StoreFault(.io, "it isn't kept")
    }
    return lease
  }

  func lookup(_ key: RecordKey) -> Lease? { lookup(key, checking: .max).lease }

  func statistics() -> StoreStatistics { disk.statistics() }

  func verify() throws(StoreFault) -> VerifyReport { try disk.verify() }

  func trim(to bytes: Int) throws(StoreFault) { try disk.trim(to: bytes) }

  func finish() { finish(flushes: true) }
}
