// What the store's operations cost: `make bench-store`. Beside it, in the same run, `Benchmarks/StoreRivals` measures a file for
// each entry, LMDB, SQLite and Python's diskcache.
//
// Every figure is the median of several rounds, with the fastest and the slowest; what is compared is measured side by
// side. Memory is warmed up first: what a virtual machine never touched costs ten times as much at its first touch.

import Glibc
import NuthatchStore

let arguments = CommandLine.arguments

func run() throws {
  let records = arguments.count > 1 ? Int(arguments[1]) ?? 1_000_000 : 1_000_000
  let folder = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/nuthatch-bench-\(getpid())"
  mkdir(folder, 0o700)
  defer { system("rm -rf '\(folder)'") }
  // Further words choose what is measured.
  let chosen = arguments.dropFirst(2)
  func measures(_ part: String) -> Bool { chosen.isEmpty || chosen.contains(part) }
  warmUp(folder)
  if measures("commits") { try commits(folder) }
  for set in [Records(1, records), Records(16, 50_000), Records(64, 12_000)] where measures("hits\(set.size)")
  {
    try hits(folder, set)
  }
  if measures("memory") {
    try memoryHits(folder)
    try memoryTraces(folder)
  }
  if measures("churn") { try churn(folder) }
  if measures("ratios") { try ratios(folder) }
}

do {
  if arguments.count > 2, arguments[1] == "worker" { try work(Array(arguments[2...])) } else { try run() }
} catch {
  print("failed: \(error)")
  exit(1)
}
