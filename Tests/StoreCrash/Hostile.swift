// A process whose index somebody writes to at random: `nuthatch-storecrash hostile DIRECTORY ORDINAL SEED`.

import Glibc
import NuthatchStore

/// Does everything but mind that records are missing, or that calls fail.
func endureForEver(_ path: String, _ ordinal: UInt64, _ seed: UInt64) -> Never {
  var dice = Dice(state: seed &+ ordinal &* 7919)
  var next = (seed << 8 | ordinal) << 24
  say("ready\n")
  let parent = getppid()
  // Nobody is left who would kill it when its parent was killed.
  while getppid() == parent {
    guard let store = try? Store.open(path, .init(memoryBytes: 600_000)) else { continue }
    for _ in 0..<400 { step(store, &dice, &next) }
    store.close()
  }
  exit(5)
}

private func step(_ store: Store, _ dice: inout Dice, _ next: inout UInt64) {
  let key = dice.next() % 80
  switch dice.next() % 200 {
  case 0..<60:
    next += 1
    if let lease = try? store.commit(recordKey(key), payload(key, next)), version(key, lease.copied()) != next
    {
      say("wrong \(key) that was kept\n")
    }
  case 60..<70: _ = try? store.remove(recordKey(key))
  case 70..<75: _ = try? store.touch(recordKey(key))
  case 75: _ = try? store.verify()
  case 76: try? store.trim(to: Int(dice.next() % (8 << 20)))
  case 77: _ = try? store.statistics()
  case 78 where dice.next() % 10 == 0: try? store.clear()
  case 79:
    try? store.forEach { key, lease in
      if let number = UInt64(String(decoding: key.bytes.dropFirst(4), as: UTF8.self)),
        version(number, lease.copied()) == nil
      {
        say("wrong \(number) in a list\n")
      }
      return true
    }
  default:
    if let lease = (try? store.lookup(recordKey(key))) ?? nil, version(key, lease.copied()) == nil {
      say("wrong \(key)\n")
    }
  }
}
