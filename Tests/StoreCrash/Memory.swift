// Processes whose records are in memory until room is wanted.

import CSystem
import Glibc
import NuthatchStore

/// Says what it has flushed, as `key version`, and is killed at some time.
func spillForEver(_ path: String) throws {
  var dice = Dice(state: UInt64(getpid()))
  let store = try Store.open(path, .init(memoryBytes: 400_000, spill: .pressure))
  var unflushed: [UInt64: UInt64] = [:]
  for version in 1... as PartialRangeFrom<UInt64> {
    let key = dice.next() % 100
    try store.commit(recordKey(key), payload(key, version))
    unflushed[key] = version
    if dice.next() % 40 == 0 {
      try store.flush()
      for (key, version) in unflushed { say("\(key) \(version)\n") }
      unflushed = [:]
    }
    let other = dice.next() % 100
    if let found = try read(store, other), let expected = unflushed[other], found != expected {
      say("lost \(other) \(expected)\n")
      exit(3)
    }
  }
}

private final class Pixels: Sendable {
  let bytes: [UInt8]
  init(_ count: Int) { bytes = [UInt8](repeating: 1, count: count) }
}

private func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
  if !isTrue {
    say("not so: \(what())\n")
    _exit(3)
  }
}

private func expectForked(_ what: String, _ body: () throws(StoreFault) -> Void) {
  do throws(StoreFault) {
    try body()
    expect(false, "\(what) threw nothing")
  } catch {
    expect(error.kind == .forked, "\(what) threw \(error)")
  }
}

private func useMemory(_ store: Store, rounds: Int) throws(StoreFault) {
  var dice = Dice(state: 1)
  for _ in 0..<rounds {
    let key = dice.next() % 50
    try commitPatiently(store, recordKey(key), payload(key, 7))
    try store.keep(
      recordKey(key), Pixels(3000), bytes: UnsafeRawBufferPointer(start: nil, count: 0), cost: 3000)
    _ = try store.recall(recordKey(key))
    if dice.next() % 50 == 0 { Store.relieve([store], .warning) }
  }
}

/// Forks while another thread uses the memory tier, whose locks it may hold at that moment.
func forkAgainAndAgain(_ path: String) throws {
  let store = try Store.open(path, .init(memoryBytes: 400_000, spill: .pressure))
  let lease = try store.commit(recordKey(0), payload(0, 7))
  let pixels = Pixels(100)
  let context = Unmanaged.passRetained(store).toOpaque()
  var thread = pthread_t()
  // Once before, so that the thread isn't in the middle of what Swift's runtime sets up at the first use: a child that
  // is forked off then would wait for ever for the end of that.
  try useMemory(store, rounds: 200)
  // The thread sanitizer's own state doesn't survive a fork beside another thread.
  if dlsym(nil, "__tsan_init") == nil {
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        let store = Unmanaged<Store>.fromOpaque(context).takeUnretainedValue()
        do {
          try useMemory(store, rounds: .max)
        } catch {
          say("fault \(error)\n")
          exit(4)
        }
        return nil
      }, context)
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        let store = Unmanaged<Store>.fromOpaque(context).takeUnretainedValue()
        // A lookup takes the locks that a child must not wait for.
        while true { _ = try? store.recall(recordKey(0)) }
      }, context)
  }
  for round in 0..<40 {
    let child = forked()
    if child == 0 {
      // Rather killed than waiting for ever.
      alarm(20)
      expectForked("lookup") { () throws(StoreFault) in _ = try store.lookup(recordKey(0)) }
      expectForked("recall") { () throws(StoreFault) in _ = try store.recall(recordKey(0)) }
      expectForked("keep") { () throws(StoreFault) in
        try store.keep(recordKey(0), pixels, bytes: UnsafeRawBufferPointer(start: nil, count: 0), cost: 1)
      }
      expectForked("flush") { () throws(StoreFault) in try store.flush() }
      expect(version(0, lease.copied()) == 7, "an inherited lease")
      let own = try openPatiently(path, .init(memoryBytes: 300_000, spill: .pressure))
      try commitPatiently(own, recordKey(1000), payload(1000, UInt64(round)))
      try own.keep(recordKey(1000), pixels, bytes: UnsafeRawBufferPointer(start: nil, count: 0), cost: 1)
      expect(try own.recall(recordKey(1000)) != nil, "own memory")
      expect(try read(own, 1000) == UInt64(round), "own record")
      own.close()
      store.close()
      _exit(0)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    expect(status == 0, "child \(round) ended with \(status)")
  }
  try store.flush()
  expect(try read(store, 1000) == 39, "what the last child kept")
  say("done\n")
  _exit(0)
}

private func status(_ name: String) -> Int {
  guard let file = fopen("/proc/self/status", "r") else { return -1 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  while fgets(&line, 256, file) != nil {
    let text = line.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    if text.hasPrefix(name) {
      return Int(text.split { $0 == " " || $0 == "\t" }.dropFirst().first ?? "") ?? -1
    }
  }
  return -1
}

/// Fills the memory tier, gives all of it up, and says what was resident: `before after private` in KiB.
func fillAndRelieve(_ path: String) throws {
  let store = try Store.open(path, .init(memoryBytes: 96 << 20, spill: .pressure))
  let bytes = [UInt8](repeating: 7, count: 9000)
  for number in 0..<4000 as Range<UInt64> {
    try store.commit(recordKey(number), bytes)
    let pixels = Pixels(4000)
    try store.keep(
      RecordKey(.thumb, "pixels \(number)"), pixels, bytes: UnsafeRawBufferPointer(start: nil, count: 0),
      cost: 4032)
  }
  let before = status("VmRSS:")
  let memory = try store.statistics().memory
  Store.relieve([store], .critical)
  nhs_trim_allocator()
  let after = status("VmRSS:")
  let left = try store.statistics().memory
  expect(left.privateBytes == 0 && left.bytes == 0 && left.items == 0, "memory is left: \(left)")
  say("\(before) \(after) \(memory.privateBytes >> 10)\n")
  for number in 0..<4000 as Range<UInt64> {
    expect(try store.lookup(recordKey(number))?.copied() == bytes, "a record is lost")
  }
}
