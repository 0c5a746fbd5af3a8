import CSystem
import NuthatchCore

/// Notices a list that doesn't fit the limit of the disk: what came first is dropped then for what comes last.
struct DiskWatch {
  struct Report {
    var limit: Int
    var used: Int
    var droppedRecords: Int
    /// What the list would take; nil while nothing of it was dropped.
    var suggested: Int?
    var isOnlyOriginals = false
    var keepsSource = true
    var isFull = false
    /// Why nothing is stored, as soon as something was fetched in vain for that.
    var readOnly: String?

    var warning: String? {
      if let readOnly { return readOnly }
      if isFull { return "the disk is full" }
      guard let suggested else { return nil }
      let size = "--disk-bytes \(max(1, (suggested + (1 << 20) - 1) >> 20))M"
      if isOnlyOriginals {
        return
          "the originals don't fit into \(Amounts.bytes(Int64(limit))) beside the thumbnails, which stay: "
          + "\(size) would do, or --keep-source no"
      }
      return "the list does not fit into \(Amounts.bytes(Int64(limit))): what came first is being dropped; "
        + "\(size) would do\(keepsSource ? ", or --keep-source no" : "")"
    }

    func write(to json: inout JSONText) {
      json.object("disk") { json in
        json.put("limit", limit)
        json.put("used", used)
        json.put("dropped_records", droppedRecords)
        json.put("fits", suggested == nil && !isFull)
        json.put("full", isFull)
        json.put("suggested_disk_bytes", suggested)
      }
    }
  }

  private let cache: Cache
  private let start: StoreStatistics?
  private(set) var isSaid = false
  private var due: Int64 = 0

  init(_ cache: Cache) {
    self.cache = cache
    // Without figures nothing is said of the disk.
    start = try? cache.storeStatistics()
  }

  /// - Parameter done: how much of the list is done, from 0 to 1; nil when nobody knows.
  func report(_ tally: Tally, done: Double?) -> Report? {
    // Nor without later ones.
    guard let start, let now = try? cache.storeStatistics() else { return nil }
    var report = Report(limit: now.diskLimit, used: now.diskBytes, droppedRecords: now.droppedRecords)
    if cache.isReading, tally.notKept > 0 { report.readOnly = now.warning }
    report.isFull = cache.statistics.unkept > 0 || tally.errors[ErrorCode.noSpace.word] != nil
    let dropped = now.droppedBytes - start.droppedBytes
    guard dropped > 0 else { return report }
    // Each time a tenth of the limit goes, and the packs that are written to aren't full: two of a 64th each.
    let edge = now.diskLimit / 10 + 2 * (now.diskLimit / 64)
    let written = now.diskBytes - start.diskBytes + dropped
    // What was there before is part of the list, too. As much of it, it seems, as what was fetched takes.
    let share = Double(tally.hits + tally.revalidated) / Double(max(1, tally.fetched))
    let needed = written + Int(min(Double(max(0, written)) * share, Double(start.diskBytes)))
    let bodies = Double(tally.sourceBytes) * Double(needed) / Double(max(1, written))
    report.keepsSource = keepsSource
    let originals = keepsSource ? Int(min(bodies, Double(max(0, needed)))) : 0
    let others = needed - originals
    // Originals may have half of the limit.
    guard originals > now.diskLimit / 2 - edge || needed > now.diskLimit - edge else { return report }
    let part = min(1, max(done ?? 1, 0.01))
    // Nothing else is dropped before the last of them. An estimate, in which what packs have unused counts as others, and
    // early in a run for much: so what is far from the limit now is taken for that. Else a tenth more is still to fit into
    // what is left by a drop, and a pack of either kind isn't full.
    let isFar = others < now.diskLimit / 2 - edge
    let fits = Double(others) / part * 1.1 < Double(now.diskLimit - edge)
    report.isOnlyOriginals = originals > 0 && (isFar || fits)
    let whole = Double(max(needed, originals * 2)) / part
    report.suggested = Int(min(whole * 1.15, Double(Int.max / 2))) + edge
    return report
  }

  /// What is to be said now, once, while the run goes on.
  mutating func news(_ tally: Tally, done: Double?) -> String? {
    let now = nhs_monotonic_ns()
    guard !isSaid, now >= due else { return nil }
    due = now + 1_000_000_000
    guard let warning = report(tally, done: done)?.warning else { return nil }
    isSaid = true
    return warning
  }

  private var keepsSource: Bool { cache.options.keepSource ?? true }
}
