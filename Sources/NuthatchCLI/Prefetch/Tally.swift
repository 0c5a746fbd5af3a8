import NuthatchCore

/// The counters of a run. Their memory doesn't grow with the list.
struct Tally {
  struct Host {
    var name: String
    var urls = 0
    var failed = 0
    /// Microseconds of all URLs that needed the network.
    var total: Int64 = 0
    var longest: Int64 = 0

    var mean: Int64 { urls > 0 ? total / Int64(urls) : 0 }
  }

  private static let mostHosts = 2000

  var urls = 0
  var succeeded = 0
  var hits = 0
  var stale = 0
  var revalidated = 0
  var fetched = 0
  var failed = 0
  var notKept = 0
  var errors: [String: Int] = [:]
  /// The originals' formats.
  private var formats: [ImageFormat: Int] = [:]
  var planned: [StoredAnswerInfo.Prospect: Int] = [:]
  /// Bytes of the hits: of their originals, and of their thumbnails.
  var hitBytes: (originals: Int64, thumbs: Int64) = (0, 0)
  /// The size of the largest original, in bytes.
  var longestOriginal: Int64 = 0
  private var hosts: [String: Host] = [:]

  mutating func count(_ record: Record) {
    urls += 1
    if record.isOK { succeeded += 1 }
    if record.isStale { stale += 1 }
    switch record.kind {
    case .hit:
      hits += 1
      hitBytes.originals += record.bytes ?? 0
      hitBytes.thumbs += record.thumbBytes
    case .revalidated: revalidated += 1
    case .fetched: fetched += 1
    case .failed:
      failed += 1
      errors[record.error?.code.word ?? "internal", default: 0] += 1
    case .cancelled: break
    }
    if record.isOK {
      longestOriginal = max(longestOriginal, record.bytes ?? 0)
      if let format = record.facts.format { formats[format, default: 0] += 1 }
    }
    if record.attempts > 0 { noteHost(record) }
  }

  private mutating func noteHost(_ record: Record) {
    let name = HostName.of(record.listed.url)
    guard hosts[name] != nil || hosts.count < Self.mostHosts else { return }
    var host = hosts[name] ?? Host(name: name)
    host.urls += 1
    if !record.isOK { host.failed += 1 }
    host.total += record.total
    host.longest = max(host.longest, record.total)
    hosts[name] = host
  }

  /// Returns the hosts with the longest mean time, the slowest first.
  func slowestHosts(_ count: Int) -> [Host] {
    Array(hosts.values.sorted { ($0.mean, $1.name) > ($1.mean, $0.name) }.prefix(count))
  }

  var share: Double { urls > 0 ? Double(succeeded) / Double(urls) : 1 }

  /// The formats of successes and their counts, the most frequent first.
  var formatsInOrder: [(word: String, count: Int)] {
    formats.map { ($0.key.rawValue, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
  }

  /// The errors and their counts, the most frequent first.
  var errorsInOrder: [(word: String, count: Int)] {
    errors.map { ($0.key, $0.value) }.sorted { ($0.1, $1.0) > ($1.1, $0.0) }
  }
}

enum HostName {
  /// Returns the text between `://`, or the last `@`, and the next `/`, `?` or `#`, in lower case: host and port. It can differ
  /// from the real host of an unusual URL.
  static func of(_ url: String) -> String {
    var url = url
    return url.withUTF8 { of($0) }
  }

  /// Works on bytes because it is called several times for every URL of a list.
  private static func of(_ url: UnsafeBufferPointer<UInt8>) -> String {
    let (colon, slash) = (UInt8(ascii: ":"), UInt8(ascii: "/"))
    let limit = min(url.count, 2000)
    var start = 0
    while start + 2 < limit, url[start] != colon || url[start + 1] != slash || url[start + 2] != slash {
      start += 1
    }
    guard start + 2 < limit else { return "" }
    start += 3
    var end = start
    var isLower = true
    while end < limit, url[end] != slash, url[end] != UInt8(ascii: "?"), url[end] != UInt8(ascii: "#") {
      if url[end] == UInt8(ascii: "@") { start = end + 1 }
      if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(url[end]) || url[end] >= 0x80 { isLower = false }
      end += 1
    }
    let name = String(decoding: url[start..<end], as: UTF8.self)
    return isLower ? name : name.lowercased()
  }
}
