// What the store's operations cost: `make bench-store`. Every figure is the best of several rounds, because the memory of
// a virtual machine is slow at its first touch. Beside it, in the same run, a file for each entry.

import Glibc
import NuthatchStore

let folder = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/nuthatch-bench-\(getpid())"

func now() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// The best and the worst round's time for one operation.
func measure(_ name: String, rounds: Int = 5, count: Int, _ body: (Int) throws -> Void) rethrows {
  var times: [Double] = []
  for round in 0..<rounds {
    let begin = now()
    try body(round)
    times.append((now() - begin) / Double(count))
  }
  times.sort()
  let scale = times[0] < 10_000 ? (1.0, "ns") : times[0] < 1e7 ? (1000.0, "µs") : (1e6, "ms")
  func text(_ time: Double) -> String { "\(Double(Int(time / scale.0 * 10)) / 10)" }
  print("\(name): \(text(times[0])) \(scale.1) (worst round \(text(times[times.count - 1])))")
}

/// Zipf-like: a few keys are wanted often.
func skewed(_ state: inout UInt64, _ count: Int) -> Int {
  state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
  let uniform = Double(state >> 11) / Double(UInt64(1) << 53)
  return min(count - 1, Int(pow(Double(count), uniform)) - 1)
}

func key(_ number: Int) -> RecordKey { RecordKey(.thumb, "thumb of picture number \(number)") }

func readers(_ threads: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Box {
    let body: @Sendable (Int) -> Void, number: Int
    init(_ body: @escaping @Sendable (Int) -> Void, _ number: Int) {
      (self.body, self.number) = (body, number)
    }
  }
  var running = [pthread_t](repeating: pthread_t(), count: threads)
  for number in 0..<threads {
    let box = Unmanaged.passRetained(Box(body, number))
    pthread_create(
      &running[number], nil,
      { context in
        guard let context else { return nil }
        let box = Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
        box.body(box.number)
        return nil
      }, box.toOpaque())
  }
  for thread in running { pthread_join(thread, nil) }
}

func run() throws {
  let records = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 200_000 : 200_000
  var store = try Store.open(folder, .init(diskBytes: 32 << 30))
  for size in [1 << 10, 16 << 10, 64 << 10] {
    let payload = [UInt8](repeating: 7, count: size)
    try measure("commit of \(size >> 10) KiB", count: 2000) { round in
      for number in 0..<2000 { try store.commit(RecordKey(.body, "\(size) \(round) \(number)"), payload) }
    }
  }
  let payload = [UInt8](repeating: 7, count: 16 << 10)
  mkdir(folder + "/files", 0o700)
  measure("the same of 16 KiB as a file: temporary and rename", count: 2000) { round in
    for number in 0..<2000 {
      let fd = open(folder + "/files/t", O_CREAT | O_WRONLY | O_EXCL, 0o600)
      _ = payload.withUnsafeBytes { write(fd, $0.baseAddress, $0.count) }
      close(fd)
      rename(folder + "/files/t", folder + "/files/\(number)")
    }
  }
  let small = [UInt8](repeating: 7, count: 1 << 10)
  for number in 0..<records { try store.commit(key(number), small) }
  let keys = (0..<records).map(key)
  for key in keys { guard try store.lookup(key) != nil else { return print("a record is missing") } }
  let count = 1_000_000
  try measure("hit, one thread, skewed, \(records) records", count: count) { _ in
    var state: UInt64 = 1
    for _ in 0..<count { _ = try store.lookup(keys[skewed(&state, records)]) }
  }
  try measure("the same without the lookup", count: count) { _ in
    var state: UInt64 = 1
    var sum = 0
    for _ in 0..<count { sum &+= keys[skewed(&state, records)].bytes.count }
    if sum == 0 { throw CancellationError() }
  }
  let shared = store
  measure("hit, two threads, of each", count: count) { _ in
    readers(2) { thread in
      var state = UInt64(thread)
      for _ in 0..<count { _ = try? shared.lookup(keys[skewed(&state, records)]) }
    }
  }
  measure("a file of 16 KiB: open, fstat, mmap", count: 2000) { _ in
    for number in 0..<2000 {
      let fd = open(folder + "/files/\(number)", O_RDONLY)
      var status = stat()
      fstat(fd, &status)
      let base = mmap(nil, Int(status.st_size), PROT_READ, MAP_SHARED, fd, 0)
      close(fd)
      munmap(base, Int(status.st_size))
    }
  }
  store.close()
  try measure("open, \(records) records", count: 1) { _ in
    store = try Store.open(folder)
    store.close()
  }
  try measure("open without an index", rounds: 3, count: 1) { _ in
    unlink(folder + "/index")
    store = try Store.open(folder)
    store.close()
  }
}

mkdir(folder, 0o700)
do {
  try memoryHits(folder)
  try memoryTraces(folder)
  if !CommandLine.arguments.contains("memory") { try run() }
} catch { print("failed: \(error)") }
for name in ["files", "packs"] { system("rm -rf '\(folder)/\(name)'") }
system("rm -rf '\(folder)'")
