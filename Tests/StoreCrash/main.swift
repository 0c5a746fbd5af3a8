// A process that uses a store until somebody kills it: `nuthatch-storecrash write DIRECTORY ORDINAL SEED`,
// `nuthatch-storecrash fork DIRECTORY`, or what Memory.swift, Script.swift, Mix.swift, Hostile.swift,
// Signals.swift and Steps.swift do. Ends with status 3 when it reads wrong bytes, 4 when
// a call fails.

import Glibc
import NuthatchStore

struct Dice: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state ^ (state >> 29)) &* 0xBF58_476D_1CE4_E5B9
  }
}

/// A payload says which key and version it belongs to, and all of it follows from that.
func payload(_ key: UInt64, _ version: UInt64) -> [UInt8] {
  var dice = Dice(state: key &* 1_000_003 &+ version)
  let count = 2 + (dice.next() % 5 == 0 ? 12_000 : Int(dice.next() % 400))
  var words = [UInt64](repeating: key, count: count)
  words[1] = version
  var place = 2
  while place < count {
    words[place] = dice.next()
    place += 1
  }
  return words.withUnsafeBytes { Array($0) }
}

func version(_ key: UInt64, _ bytes: [UInt8]) -> UInt64? {
  guard bytes.count >= 16 else { return nil }
  let version = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
  return bytes == payload(key, version) ? version : nil
}

func recordKey(_ key: UInt64) -> RecordKey { RecordKey(RecordKind.allCases[Int(key % 3)], "key \(key)") }

extension Lease {
  func copied() -> [UInt8] { withBytes { Array($0) } }
}

func say(_ text: String) { _ = text.utf8CString.withUnsafeBytes { write(1, $0.baseAddress, $0.count - 1) } }

func read(_ store: Store, _ key: UInt64) throws -> UInt64? {
  guard let lease = try store.lookup(recordKey(key)) else { return nil }
  guard let found = version(key, lease.copied()) else {
    say("wrong \(key)\n")
    exit(3)
  }
  return found
}

/// False when other processes drop packs for as long as a writer waits.
private func commitsInTime(
  _ store: Store, _ key: RecordKey, _ bytes: [UInt8]
) throws(StoreFault) -> Bool {
  do throws(StoreFault) {
    try store.commit(key, bytes)
  } catch {
    guard error.kind == .busy else { throw error }
    return false
  }
  return true
}

/// Commits, however long others have the lock: a process may stand still for seconds in the middle of a change.
func commitPatiently(_ store: Store, _ key: RecordKey, _ bytes: [UInt8]) throws(StoreFault) {
  while try !commitsInTime(store, key, bytes) { usleep(1000) }
}

func openPatiently(_ path: String, _ options: Store.Options = .init()) throws -> Store {
  while true {
    if let store = try unlessBusy({ try Store.open(path, options) }) { return store }
  }
}

func writeForEver(_ path: String, _ ordinal: UInt64, _ seed: UInt64) throws {
  var dice = Dice(state: seed &+ ordinal)
  let store = try openPatiently(path)
  var last: [UInt64: UInt64] = [:]
  var next = seed << 20
  while true {
    // Keys below 1,000 are everybody's; the others are written by one process only, which says what it has kept.
    let key = dice.next() % 3 == 0 ? dice.next() % 60 : (ordinal + 1) * 1000 + dice.next() % 60
    if dice.next() % 3 == 0 {
      next += 1
      guard try commitsInTime(store, recordKey(key), payload(key, next)) else { continue }
      if key >= 1000 {
        last[key] = next
        say("\(key) \(next)\n")
      }
    } else {
      // It may have been dropped to keep to the limit, but no older one may be found.
      if let found = try read(store, key), let expected = last[key], found != expected {
        say("lost \(key) \(expected)\n")
        exit(3)
      }
    }
    if dice.next() % 500 == 0 { _ = try unlessBusy { try store.verify() } }
  }
}

/// Swift hides `fork`, with good reason.
func forked() -> pid_t {
  typealias Fork = @convention(c) () -> pid_t
  guard let symbol = dlsym(nil, "fork") else { exit(4) }
  return unsafeBitCast(symbol, to: Fork.self)()
}

func forkAndDie(_ path: String) throws {
  let store = try Store.open(path)
  let lease = try store.commit(recordKey(0), payload(0, 7))
  try store.commit(recordKey(1), payload(1, 7))
  // So many that a part of the pack is mapped to be written.
  for key in 100..<140 as Range<UInt64> {
    try store.commit(recordKey(key * 3), [UInt8](repeating: 1, count: key < 132 ? 65_000 : 8000))
  }
  // Once before: on a busy machine the child may be ready before its parent has gone on.
  try store.commit(recordKey(6), payload(6, 0))
  if forked() == 0 {
    do {
      _ = try store.lookup(recordKey(0))
      exit(3)
    } catch {
      if error.kind != .forked { exit(3) }
    }
    if version(0, lease.copied()) != 7 { exit(3) }
    let own = try openPatiently(path)
    if try read(own, 0) != 7 { exit(3) }
    try commitPatiently(own, recordKey(3), payload(3, 8))
    own.close()
    say("ready \(getpid())\n")
    sleep(60)
    _exit(0)
  }
  // For some minutes, and so little that its pack isn't full before the child is ready, however late that is.
  for _ in 0..<200_000 {
    try commitPatiently(store, recordKey(6), [UInt8](repeating: 1, count: 100))
    usleep(1000)
  }
}

signal(SIGPIPE, SIG_DFL)
let arguments = CommandLine.arguments
do {
  if arguments.count == 5, arguments[1] == "steps", let count = Int(arguments[4]) {
    try killAfterSteps(arguments[2], arguments[3], count)
  } else if arguments.count == 5, let ordinal = UInt64(arguments[3]), let seed = UInt64(arguments[4]) {
    if arguments[1] == "hostile" { endureForEver(arguments[2], ordinal, seed) }
    if arguments[1] == "mix" { try mixForEver(arguments[2], ordinal, seed) }
    try writeForEver(arguments[2], ordinal, seed)
  } else if arguments.count == 4, arguments[1] == "signal" {
    receiveSignal(arguments[2], arguments[3])
  } else if arguments.count == 3 {
    switch arguments[1] {
    case "spill": try spillForEver(arguments[2])
    case "forks": try forkAgainAndAgain(arguments[2])
    case "memory": try fillAndRelieve(arguments[2])
    case "script": try followScript(arguments[2])
    default: try forkAndDie(arguments[2])
    }
  }
} catch {
  say("fault \(error)\n")
  exit(4)
}
