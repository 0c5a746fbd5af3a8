// Measures the store's operations: `make bench-store`. In the same run, `Benchmarks/StoreRivals` measures a file for each
// entry, LMDB, SQLite and Python's diskcache.
//
// Every figure is the median of several rounds, with the fastest and the slowest one. Figures that are compared are measured
// side by side. Memory is touched first: in a virtual machine, the first touch of memory costs ten times as much.

import Glibc
import NuthatchStore

let arguments = CommandLine.arguments

func run() throws {
  let records = arguments.count > 1 ? Int(arguments[1]) ?? 1_000_000 : 1_000_000
  let folder = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/nuthatch-bench-\(getpid())"
  mkdir(folder, 0o700)
  defer { system("rm -rf '\(folder)'") }
  // Arguments choose the measurements.
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
