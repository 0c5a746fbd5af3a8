import CSystem
import NuthatchCore

/// Notices a list that needs more than the cache's limit on disk. The store then drops the first thumbnails for the last ones.
struct DiskWatch {
  struct Report {
    var limit: Int
    var used: Int
    var droppedRecords: Int
    /// Whether the run has ended. Until then, the figures are estimates.
    var isOver = false
    /// The number of thumbnails that the run made or found and that were dropped again, and the number of all of them.
    var dropped = 0
    var thumbs = 0
    var isDroppedAtLeast = false
    /// The limit that would keep all of the list; nil while the list seems to fit.
    var suggested: Int?
    /// Whether the length of the list is unknown, so that no limit can be suggested.
    var isOfPart = false
    /// The limit that would keep all of the list without originals; nil if originals aren't kept anyway.
    var suggestedWithoutOriginals: Int?
    /// Whether all thumbnails stay, and only the originals don't fit.
    var isOnlyOriginals = false
    var isFull = false
    /// Why the cache can't be written; nil if it can, or if no fetched answer was lost.
    var readOnly: String?

    var warning: String? {
      if let readOnly { return readOnly }
      if isFull { return "the disk is full" }
      guard let suggested else { return nil }
      // In the unit of the advice.
      let bytes = "the limit of \(Self.megabytes(limit))M"
      let size = "--disk-bytes \(Self.megabytes(suggested))M would be enough"
      if isOnlyOriginals {
        let what = "the originals don't fit into \(bytes) beside the thumbnails, which stay"
        return what + (isOfPart ? "" : ": \(size), or --keep-source no")
      }
      let what = "the list does not fit into \(bytes): \(loss)"
      guard !isOfPart else { return what }
      let other = suggestedWithoutOriginals.map {
        $0 <= limit
          ? ", or --keep-source no" : ", or --disk-bytes \(Self.megabytes($0))M with --keep-source no"
      }
      return "\(what); \(size)\(other ?? "")"
    }

    private var loss: String {
      guard dropped > 0 else {
        return isOver
          ? "the first thumbnails were dropped"
          : "the first thumbnails are dropped to make room for the last ones"
      }
      let count = "\(Amounts.grouped(dropped)) of \(Amounts.grouped(thumbs)) thumbnails were dropped again"
      return isDroppedAtLeast ? "at least \(count)" : count
    }

    private static func megabytes(_ bytes: Int) -> Int { max(1, (bytes + (1 << 20) - 1) >> 20) }

    func write(to json: inout JSONText) {
      json.object("disk") { json in
        json.put("limit", limit)
        json.put("used", used)
        json.put("dropped_records", droppedRecords)
        json.put("fits", suggested == nil && !isFull)
        json.put("full", isFull)
        json.put("suggested_disk_bytes", isOfPart ? nil : suggested)
      }
    }
  }

  /// The fewest URLs that an estimate is made from.
  private static let leastSample = 200

  private let cache: Cache
  private let start: StoreStatistics?
  private let trail: KeptTrail
  private(set) var isSaid = false
  private var due: Int64 = 0

  init(_ cache: Cache, of request: Request) {
    self.cache = cache
    trail = KeptTrail(cache, of: request)
    start = Self.figures(cache)
  }

  /// Returns nil if the statistics can't be read. Then no warning is given.
  private static func figures(_ cache: Cache) -> StoreStatistics? { try? cache.storeStatistics() }

  /// Notes thumbnails that were found.
  func note(_ info: StoredAnswerInfo) { trail.note(info) }

  /// Notes thumbnails that were made.
  func note(_ kept: KeptContent) { trail.note(kept) }

  /// Returns the report of a whole run. Call it after everything was written. Returns nil if the statistics can't be read.
  ///
  /// - Parameters:
  ///   - done: the part of the list that is done, from 0 to 1; nil if it is unknown.
  ///   - isFull: whether the disk is full.
  func lastReport(_ tally: Tally, done: Double?, isFull: Bool) -> Report? {
    guard let start, let now = Self.figures(cache) else { return nil }
    var report = Report(limit: now.diskLimit, used: now.diskBytes, droppedRecords: now.droppedRecords)
    note(tally, now, in: &report)
    report.isFull = isFull || tally.errors[ErrorCode.noSpace.word] != nil
    report.isOver = true
    report.thumbs = trail.count
    if now.droppedRecords > start.droppedRecords || now.diskBytes < start.diskBytes {
      report.dropped = trail.countMissing()
    }
    report.isDroppedAtLeast = trail.isIncomplete
    let need = Need(tally, from: start, to: now, done: done, keepsSource: keepsSource)
    let hasDroppedOriginals =
      keepsSource && now.droppedRecords > start.droppedRecords && need.whole > now.diskLimit
    if report.dropped > 0 || hasDroppedOriginals { suggest(need, in: &report) }
    return report
  }

  /// Returns a warning during the run, once: as soon as the first URLs show that the list will not fit, or that the cache can't
  /// be written.
  mutating func news(_ tally: Tally, done: Double?) -> String? {
    let time = nhs_monotonic_ns()
    guard !isSaid, time >= due else { return nil }
    due = time + 50_000_000
    guard let start, let now = Self.figures(cache) else { return nil }
    var report = Report(limit: now.diskLimit, used: now.diskBytes, droppedRecords: now.droppedRecords)
    note(tally, now, in: &report)
    let need = Need(tally, from: start, to: now, done: done, keepsSource: keepsSource)
    // A small sample makes a bad estimate, and records that were just written aren't counted yet.
    let sample = Double(max(1, tally.succeeded))
    let doubt = 1 + 2 / sample.squareRoot() + 64 / sample
    if tally.succeeded >= Self.leastSample, Double(need.whole) > Double(now.diskLimit) * doubt {
      suggest(need, in: &report)
    }
    guard let warning = report.warning else { return nil }
    isSaid = true
    return warning
  }

  private func note(_ tally: Tally, _ now: StoreStatistics, in report: inout Report) {
    if cache.isReading, tally.notKept > 0 { report.readOnly = now.warning }
  }

  private func suggest(_ need: Need, in report: inout Report) {
    report.isOfPart = need.isOfPart
    // The list doesn't fit into this limit, so a suggestion is always above it.
    report.suggested = max(need.whole, report.limit + 1)
    guard keepsSource else { return }
    report.suggestedWithoutOriginals = report.dropped > 0 ? max(need.small, report.limit + 1) : need.small
    report.isOnlyOriginals = report.dropped == 0 && need.small <= report.limit && !need.isOfPart
  }

  private var keepsSource: Bool { cache.options.keepSource ?? true }
}

/// The limits on disk that keep all of a list.
private struct Need {
  /// With originals.
  let whole: Int
  /// Without originals.
  let small: Int
  /// Whether the limits are for the URLs done so far, because the length of the list is unknown.
  let isOfPart: Bool

  init(_ tally: Tally, from start: StoreStatistics, to now: StoreStatistics, done: Double?, keepsSource: Bool)
  {
    isOfPart = done == nil
    let part = min(1, max(done ?? 1, 0.001))
    // The metadata of an answer takes about 1.5 KB.
    let hits = Double(tally.hits)
    var small =
      Double(now.writtenSmallBytes - start.writtenSmallBytes) + Double(tally.hitBytes.thumbs) + 1536 * hits
    var bulk = Double(now.writtenBulkBytes - start.writtenBulkBytes)
    if keepsSource { bulk += Double(tally.hitBytes.originals) }
    var records = Double(now.commits - start.commits) + 4 * hits
    // Nothing was written for revalidated answers. Assume that they take as much as the others.
    let others = Double(tally.hits + tally.fetched)
    if others > 0 {
      let factor = 1 + Double(tally.revalidated) / others
      (small, bulk, records) = (small * factor, bulk * factor, records * factor)
    }
    let longest = keepsSource ? Double(tally.longestOriginal) : 0
    whole = Self.limit((small + bulk) / part, records / part, longest: longest)
    self.small = Self.limit(small / part, records / part, longest: 0)
  }

  /// Returns the limit for records of this size and number, with the index, and a pack of each kind that isn't full.
  private static func limit(_ bytes: Double, _ records: Double, longest: Double) -> Int {
    let content = bytes * 1.03 + records * 150 + Double(1 << 18)
    let pack = min(max(content / 48, Double(64 << 10)), Double(64 << 20))
    // The store doesn't keep a record that is larger than a quarter of the limit.
    return Int(min(max(content + 4 * pack, longest * 4.1, Double(4 << 20)), Double(Int.max / 4)))
  }
}
