import CSystem
import Glibc
import NuthatchStore

func fill(_ store: Store, _ keys: [RecordKey], _ set: Records) throws {
  let payload = set.payload
  for key in keys { try store.commit(key, payload) }
}

/// The random keys of each thread, drawn once for each number of keys.
nonisolated(unsafe) private var drawn: [Int: [[Int32]]] = [:]

/// Draws the keys for `lookUp`, outside of the measured time.
func draw(_ count: Int) { drawn[count] = drawn[count] ?? (0..<4).map { zipf(count, operations, $0 + 1) } }

/// Finds records, and reads all of their bytes if `reads` is true. Returns the time in nanoseconds.
///
/// Makes 64 keys at a time before the clock runs: in a real program, a key was made just before its look-up. Reads the keys
/// through a span, because a loop over an array counts references to each key.
@discardableResult
func lookUp(_ store: Store, _ keys: Keys, _ ordinal: Int, _ count: Int, reads: Bool) -> Double {
  if drawn[keys.count] == nil { draw(keys.count) }
  guard let draws = drawn[keys.count]?[ordinal & 3] else { return 0 }
  var sum: UInt64 = 0
  var missing = 0
  var time = 0.0
  var begin = 0
  while begin < count {
    let end = min(begin + 64, count)
    let some = (begin..<end).map { keys.key(Int(draws[$0])) }
    let span = some.span
    let start = now()
    for number in span.indices {
      do {
        if let lease = try store.lookup(span[number]) {
          sum &+= reads ? lease.withBytes(total) : UInt64(lease.count)
        } else {
          missing += 1
        }
      } catch {
        missing += 1
      }
    }
    time += now() - start
    begin = end
  }
  if missing > 0 || sum == 0 { print("\(missing) records are missing") }
  return time
}

/// Finds records by the bare searches. Returns the time in nanoseconds.
private func lookUp(_ bare: BareSearch, _ keys: Keys, _ count: Int) -> Double {
  guard let draws = drawn[keys.count]?[0] else { return 0 }
  let some = Keys(room: 64)
  defer { some.free() }
  var (sum, time, begin) = (0, 0.0, 0)
  while begin < count {
    let end = min(begin + 64, count)
    for number in begin..<end { some.set(number - begin, keys, Int(draws[number])) }
    let start = now()
    for number in 0..<(end - begin) {
      sum += bare.length(some.hashes[number], some[number])
    }
    time += now() - start
    begin = end
  }
  if sum == 0 || sum % count != 0 { print("records are missing") }
  return time
}

/// Finds records; the time includes making the keys.
private func lookUpWithKeys(_ store: Store, _ keys: Keys, _ count: Int) -> Double {
  guard let draws = drawn[keys.count]?[0] else { return 0 }
  var (sum, time, begin) = (0, 0.0, 0)
  while begin < count {
    let end = min(begin + 64, count)
    let bytes = (begin..<end).map { Array(keys[Int(draws[$0])]) }
    let start = now()
    do {
      for some in bytes {
        sum += try store.lookup(RecordKey(.body, some.withUnsafeBytes { Array($0) }))?.count ?? 0
      }
    } catch {
      print("failed: \(error)")
    }
    time += now() - start
    begin = end
  }
  if sum == 0 || sum % count != 0 { print("records are missing") }
  return time
}

func total(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  var sums = SIMD8<UInt64>()
  for offset in stride(from: 0, to: bytes.count & ~63, by: 64) {
    sums &+= bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)
  }
  return sums.wrappedSum()
}

/// Measures records of one size that another process has stored, and that this process and others find.
func hits(_ parent: String, _ set: Records) throws {
  let folder = parent + "/hits"
  print("\n\(set.name), \(set.count) records kept by another process, keys wanted by Zipf's law")
  do {
    let filler = Workers(1) { _ in ["fill", folder, "\(set.size)", "\(set.count)", "0"] }
    say("kept", Times([filler.round() / Double(set.count)]).text())
  }
  let store = try Store.open(folder)
  let keys = Keys(set)
  for number in 0..<keys.count {
    guard try store.lookup(keys.key(number)) != nil else {
      throw Failure(message: "a record is missing")
    }
  }
  draw(set.count)
  var leases: [Double] = []
  let one = measure(count: operations) { _ in
    leases.append(lookUp(store, keys, 0, operations, reads: false) / Double(operations))
  }
  say("lease, 1 thread", Times(Array(leases.dropFirst())).text(set.size == 1 ? 250 : nil))
  let bare = try BareSearch(folder)
  let limits = (0..<6).map { _ in lookUp(bare, keys, operations) / Double(operations) }
  say("  the limit: the two searches alone", Times(Array(limits.dropFirst())).text())
  draw(set.count)
  let whole = (0..<6).map { _ in lookUpWithKeys(store, keys, operations / 2) / Double(operations / 2) }
  say("  key and hash made, too", Times(Array(whole.dropFirst())).text())
  say("  with drawing and making the keys, as all that follows", one.text())
  for threads in [2, 4] {
    let times = measure(count: operations) { _ in
      onThreads(threads) { lookUp(store, keys, $0, operations / threads, reads: false) }
    }
    let gain = one.median / times.median
    let verdict = threads == 2 ? (gain >= 1.7 ? "  (goal 1.7: met)" : "  (goal 1.7: MISSED)") : ""
    // Computed from processor time, so that it shows the store's limit even if the machine's cores are busy.
    let possible = one.processor / times.processor * Double(min(threads, 2))
    say(
      "lease, \(threads) threads, all together",
      times.text() + "  \(rounded(gain)) × one\(verdict); by processor time \(rounded(possible)) ×")
  }
  let reads = operations / (set.size * 4)
  let reading = measure(count: reads) { _ in lookUp(store, keys, 0, reads, reads: true) }
  say("lease and all bytes, 1 thread", reading.text())
  let readers = measure(count: reads) { _ in
    onThreads(4) { lookUp(store, keys, $0, reads / 4, reads: true) }
  }
  say("lease and all bytes, 4 threads, all together", readers.text())
  do {
    let workers = Workers(4) { ["hit", folder, "\(set.size)", "\(set.count)", "\($0)"] }
    _ = workers.round()
    let times = Times((0..<5).map { _ in workers.round() / Double(operations * 4) })
    say(
      "lease, 4 processes, all together",
      times.text() + "  \(rounded(one.median / times.median)) × one thread")
  }
  if set.count >= 1_000_000 {
    say(
      "statistics",
      try measure(count: 10_000) { _ in for _ in 0..<10_000 { _ = try store.statistics() } }.text())
  }
  store.close()
  overhead(folder, set)
  if set.count >= 1_000_000 { try opens(folder, set.count) }
  system("rm -rf '\(folder)'")
}

/// Returns the bytes that a record takes in packs and index beside its payload, including its key.
private func overhead(_ folder: String, _ set: Records) {
  guard let pipe = popen("du -sB1 '\(folder)' | cut -f1", "r") else { return }
  defer { pclose(pipe) }
  var line = [CChar](repeating: 0, count: 64)
  guard fgets(&line, 64, pipe) != nil else { return }
  let bytes = line.withUnsafeBufferPointer { $0.baseAddress.map { atoll($0) } ?? 0 }
  let payloads = Int64(set.count) * Int64(set.size) << 10
  let each = Double(Int64(bytes) - payloads) / Double(set.count)
  let verdict = set.size == 1 ? (each <= 140 ? "  (goal 140: met)" : "  (goal 140: MISSED)") : ""
  say("overhead of a record, its key of 32 bytes included", "\(rounded(each)) bytes\(verdict)")
}

private func opens(_ folder: String, _ count: Int) throws {
  let present = try measure(count: 1) { _ in try Store.open(folder).close() }
  say("open, \(count) records", present.text(2e6))
  var times: [Double] = []
  for _ in 0..<3 {
    unlink(folder + "/index")
    let begin = now()
    try Store.open(folder).close()
    times.append(now() - begin)
  }
  say("open without an index", Times(times).text(1e9))
}

/// Measures commits of records of each size: by one thread, four threads, and four processes.
func commits(_ parent: String) throws {
  print("\nkeeping records")
  for (set, count) in [(Records(1, 20_000), 20_000), (Records(16, 8000), 8000), (Records(64, 2000), 2000)] {
    let folder = parent + "/commits"
    let store = try Store.open(folder, .init(diskBytes: 64 << 30))
    let payload = set.payload
    let checksum = measure(count: count) { _ in
      for _ in 0..<count { payload.withUnsafeBytes { checksums &+= nhs_hash64($0.baseAddress, $0.count, 0) } }
    }
    let keys = (0..<6).map { round in (0..<count).map { RecordKey(.body, "\(round) \($0)") } }
    let one = try measure(count: count) { round in for key in keys[round] { try store.commit(key, payload) } }
    say("\(set.name), 1 thread", one.text(set.size == 16 ? 6000 + checksum.median : nil))
    say("  of that, the checksum", checksum.text())
    try bareCalls(folder, set, count)
    let four = measure(count: count) { round in
      onThreads(4) { thread in
        for number in 0..<count / 4 {
          _ = try? store.commit(RecordKey(.body, "\(round) \(thread) \(number)"), payload)
        }
      }
    }
    say("\(set.name), 4 threads, all together", four.text())
    let workers = Workers(4) { ["commit", folder, "\(set.size)", "\(count / 4)", "\($0)"] }
    _ = workers.round()
    say(
      "\(set.name), 4 processes, all together",
      Times((0..<5).map { _ in workers.round() / Double(count) }).text())
    store.close()
    system("rm -rf '\(folder)'")
  }
}

/// Measures the limit: only the system calls of as many commits, on the same file system.
private func bareCalls(_ folder: String, _ set: Records, _ count: Int) throws {
  let fd = open(folder + "/bare", O_CREAT | O_RDWR, 0o600)
  defer {
    close(fd)
    unlink(folder + "/bare")
  }
  guard fd >= 0 else { throw Failure(message: "no file for the bare calls") }
  let (length, pack) = (set.size << 10 + 80, 64 << 20)
  let bytes = [UInt8](repeating: 7, count: length)
  var (begin, end, prepared) = (0, 0, 0)
  let writing = measure(count: count) { _ in
    for _ in 0..<count {
      if end + length > begin + pack || end == 0 {
        (begin, prepared) = (begin + (end == 0 ? 0 : pack), begin + (end == 0 ? 0 : pack))
        end = begin
        _ = nhs_reserve(fd, Int64(begin), Int64(pack))
      }
      if end + length > prepared {
        prepared += max(
          0, nhs_write_zeros(fd, Int64(prepared), (end + length - prepared + 131_071) & ~131_071))
      }
      bytes.withUnsafeBytes {
        var part = iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: length)
        _ = nhs_pwritev(fd, &part, 1, Int64(end))
      }
      end += length
    }
  }
  say("  as bare calls: pwritev, zeros before it", writing.text())
  let locking = measure(count: count) { _ in
    for _ in 0..<count {
      _ = nhs_lock_byte(fd, 0, CChar(UInt8(ascii: "w")), 1)
      _ = nhs_lock_byte(fd, 0, CChar(UInt8(ascii: "u")), 1)
    }
  }
  say("  as bare calls: lock and unlock", locking.text())
}

/// Keeps the compiler from removing checksums as unused.
nonisolated(unsafe) private var checksums: UInt64 = 0

/// Measures commits to a full store, where each one evicts other records.
func churn(_ parent: String) throws {
  print("\n16 KiB kept in a full store of 256 MiB")
  let folder = parent + "/churn"
  let store = try Store.open(folder, .init(diskBytes: 256 << 20))
  let payload = Records(16, 0).payload
  var number = 0
  var slowest: [Double] = []
  func keep(_ count: Int) throws {
    var worst = 0.0
    for _ in 0..<count {
      number += 1
      let key = RecordKey(.thumb, "\(number)")
      let begin = now()
      try store.commit(key, payload)
      worst = max(worst, now() - begin)
      // Use some records, so that eviction gives them a second chance.
      if number % 4 == 0 { try store.touch(RecordKey(.thumb, "\(number - number % 400)")) }
    }
    slowest.append(worst)
  }
  try keep(30_000)
  slowest = []
  say("a record, dropping included", try measure(count: 15_000) { _ in try keep(15_000) }.text())
  say("the slowest single one of a round", Times(slowest).text())
  store.close()
  system("rm -rf '\(folder)'")
}
