// The same calls each time, so that a process can be killed at the Nth system call of a kind.

import Glibc
import NuthatchStore

/// Commits, replaces and removes, fills packs until old ones are dropped, makes the index grow, and spills; and says
/// what must be found from then on: `key version`, or `key 0` for what was removed.
func followScript(_ path: String) throws {
  let store = try Store.open(path, .init(diskBytes: 4 << 20))
  for key in 1000..<1040 as Range<UInt64> {
    try keep(store, key, 1)
    if key % 4 == 0 { try keep(store, key, 2) }
    if key % 10 == 0 {
      try store.remove(recordKey(key))
      say("\(key) 0\n")
    }
  }
  // More than the first index has room for, by records that hardly take any.
  for number in 0..<3200 { try store.commit(RecordKey(.meta, "small \(number)"), [1]) }
  say("grown\n")
  // Of these the first ones go, but what is touched stays.
  for key in 2000..<2060 as Range<UInt64> {
    try store.commit(recordKey(key), [UInt8](repeating: 1, count: 100_000))
    if key % 10 == 0 { _ = try store.touch(recordKey(2000)) }
  }
  say("dropped\n")
  try store.commit(recordKey(2060), [UInt8](repeating: 1, count: 900_000))
  // What is kept from here on has room beside the rest, so that nothing of it goes.
  say("trimming\n")
  try store.trim(to: 1 << 20)
  store.close()
  let memory = try Store.open(path, .init(memoryBytes: 200_000, spill: .pressure))
  for key in 3000..<3060 as Range<UInt64> { try memory.commit(recordKey(key), payload(key, 1)) }
  try memory.flush()
  for key in 3000..<3060 as Range<UInt64> { say("\(key) 1\n") }
  _ = try memory.verify()
  say("trimming\n")
  try memory.trim(to: 2 << 20)
  memory.close()
  say("end\n")
}

private func keep(_ store: Store, _ key: UInt64, _ version: UInt64) throws {
  try store.commit(recordKey(key), payload(key, version))
  say("\(key) \(version)\n")
}
