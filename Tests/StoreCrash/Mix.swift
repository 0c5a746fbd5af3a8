// Processes of several threads that do everything at once: `nuthatch-storecrash mix DIRECTORY ORDINAL SEED`.

import Glibc
import NuthatchStore

/// What one thread does, by a face of the store that is its own.
private struct Mixer {
  let path: String
  let options: Store.Options
  /// Keys from here on are this thread's.
  let base: UInt64
  var dice: Dice
  var next: UInt64
  /// What this thread kept last under its keys; 0 for what it removed.
  var own: [UInt64: UInt64] = [:]
  var leases: [(key: UInt64, version: UInt64, lease: Lease)] = []

  mutating func run() throws {
    while true {
      // Others may have the lock for longer than anybody waits, on a busy machine.
      guard let store = try unlessBusy({ try Store.open(path, options) }) else { continue }
      for _ in 0..<1500 {
        let key = key()
        // Whether it was done nobody knows.
        if try unlessBusy({ try step(store, key) }) == nil { own[key] = nil }
      }
      store.close()
      // They are good without the store.
      for held in leases { expect(version(held.key, held.lease.copied()) == held.version, "a lease") }
    }
  }

  private mutating func key() -> UInt64 {
    dice.next() % 3 == 0 ? dice.next() % 60 : base + dice.next() % 60
  }

  private mutating func step(_ store: Store, _ key: UInt64) throws {
    switch dice.next() % 1000 {
    case 0..<300: try keep(store, key)
    case 300..<340:
      guard key >= base else { return }
      own[key] = 0
      try store.remove(recordKey(key))
    case 340..<400: _ = try store.touch(recordKey(key))
    case 400..<406: try list(store)
    case 406..<409: _ = try store.verify()
    case 409..<413: try store.trim(to: Int(dice.next() % (100 << 20)))
    case 413: try store.clear()
    case 414..<420: Store.relieve([store], .critical)
    case 420..<426: Store.relieve([store], .warning)
    case 426..<432: try store.stayLean()
    case 432..<440: expect(try store.statistics().diskBytes >= 0, "statistics")
    case 440..<442: try store.commit(recordKey(base + 99), large(try store.statistics().diskLimit))
    case 442..<460: try store.flush()
    default: try find(store, key)
    }
  }

  private mutating func keep(_ store: Store, _ key: UInt64) throws {
    next += 1
    if key >= base { own[key] = next }
    let lease = try store.commit(recordKey(key), payload(key, next))
    expect(version(key, lease.copied()) == next, "what was kept")
  }

  private mutating func find(_ store: Store, _ key: UInt64) throws {
    guard let lease = try store.lookup(recordKey(key)) else { return }
    let found = version(key, lease.copied())
    expect(found != nil, "wrong \(key)")
    // It may have been dropped, but no older one may be found.
    if let expected = own[key] { expect(found == expected, "lost \(key) \(expected) \(found ?? 0)") }
    if dice.next() % 8 == 0, let found {
      if leases.count > 12 {
        let old = leases.remove(at: Int(dice.next() % 12))
        expect(version(old.key, old.lease.copied()) == old.version, "a lease")
      }
      leases.append((key, found, lease))
    }
  }

  private mutating func list(_ store: Store) throws {
    var left = 100
    try store.forEach { key, lease in
      guard let number = UInt64(String(decoding: key.bytes.dropFirst(4), as: UTF8.self)) else { return false }
      if number % 1000 != 99 { expect(version(number, lease.copied()) != nil, "wrong \(number) in a list") }
      left -= 1
      return left > 0
    }
  }
}

/// What gets a pack of its own.
private func large(_ limit: Int) -> [UInt8] { [UInt8](repeating: 1, count: min(limit / 6, 9 << 20)) }

/// Nil when others have the lock for too long.
func unlessBusy<Result>(_ body: () throws -> Result) throws -> Result? {
  do { return try body() } catch let fault as StoreFault {
    guard fault.kind == .busy else { throw fault }
    return nil
  }
}

private func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) {
  if !isTrue {
    say("not so: \(what())\n")
    _exit(3)
  }
}

private final class Box {
  var mixer: Mixer
  init(_ mixer: Mixer) { self.mixer = mixer }
}

func mixForEver(_ path: String, _ ordinal: UInt64, _ seed: UInt64) throws {
  // Every third process keeps what it can in memory.
  let options: Store.Options =
    ordinal % 3 == 2 ? .init(memoryBytes: 600_000, spill: .pressure) : .init(spill: .eager)
  for thread in 0..<3 as Range<UInt64> {
    let number = ordinal * 3 + thread
    let box = Box(
      Mixer(
        path: path, options: options, base: (number + 1) * 1000, dice: Dice(state: seed &+ number &* 7919),
        // Versions of one key rise, whoever makes them, and no two are the same.
        next: seed << 24 | number << 20))
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        let box = Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
        do {
          try box.mixer.run()
        } catch {
          say("fault \(error)\n")
          _exit(4)
        }
        return nil
      }, Unmanaged.passRetained(box).toOpaque())
  }
  while true { sleep(60) }
}
