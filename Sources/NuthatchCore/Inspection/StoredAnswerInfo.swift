import NuthatchBase
import NuthatchHTTP
import NuthatchStore

/// What is stored for a request, and what it is good for at this moment.
public struct StoredAnswerInfo: Sendable {
  /// What a request that comes now would meet with.
  public enum Prospect: String, Sendable {
    /// An answer at once.
    case hit
    /// The server is asked whether the stored answer still holds.
    case revalidate
    /// The whole answer is asked for.
    case fetch
    /// An error at once: no server is asked (`refusal`).
    case refuse
  }

  /// Why a request would be refused at once.
  public enum Refusal: String, Sendable {
    /// A fetch has failed a moment ago.
    case failedBefore = "failed_before"
    /// Nothing that holds is stored, and the network is not to be used.
    case offline
    /// The answer is longer than the request allows.
    case tooLarge = "too_large"
    /// The picture has more pixels than the request allows.
    case tooManyPixels = "too_many_pixels"
    /// It is a redirect that can't be followed.
    case badRedirect = "bad_redirect"
  }

  /// A thumbnail that is there.
  public struct Thumb: Sendable, Equatable {
    /// The box that it fits.
    public var box: ThumbnailBox
    /// Columns.
    public var width: Int
    /// Rows.
    public var height: Int
    /// How it is kept: `raw`, `jpeg`, `png`, or `memory`.
    public var form: String
    /// Bytes of its record; 0 when it is in memory only.
    public var bytes: Int
  }

  /// What a request would meet with.
  public internal(set) var prospect = Prospect.fetch
  /// Why it would be refused; nil where it wouldn't be.
  public internal(set) var refusal: Refusal?
  /// Whether a request that gets it has the server asked behind it.
  package internal(set) var revalidates = false
  /// Whether it is a redirect, which the request follows.
  package internal(set) var leadsOn = false
  /// The URL that answered, without userinfo.
  public let finalURL: String
  /// The HTTP status.
  public let status: Int
  /// The rule that says how long it is fresh: `expire-after`, `no-store`, `no-cache`, `max-age`, `expires`, `validator`, `picture`,
  /// `heuristic` or `none`.
  public var rule: String { rules.name(of: answer) }
  /// Whether it must never be shown stale.
  public var mustRevalidate: Bool { CacheDirectives(head.fields).has("must-revalidate") }
  /// In seconds.
  public let age: Int64
  /// For how many seconds it was fresh from the beginning.
  public let lifetime: Int64
  /// Seconds since 1970 until which it is fresh.
  public let freshUntil: Int64
  /// Whether it came at a time that is still to come, because the clock was set back: then it is stale, and its age isn't known.
  public let isFromFuture: Bool
  /// Whether an answer that is given now counts as stale.
  package let isStale: Bool
  /// Seconds since 1970 at which it came, or was last said to hold.
  public let storedAt: Int64
  /// Whether it is a picture, by its bytes.
  public let isPicture: Bool
  /// Bytes of the body, whether it is there still or not.
  public let bodyBytes: Int64
  /// Whether the body is there.
  public internal(set) var hasBody = false
  /// The SHA-256 of the body, in hexadecimal digits.
  public var content: String? { answer.content?.bytes.hexadecimal }
  /// Names of header fields by which answers are told apart.
  public var varied: [String] { answer.varied }
  /// The thumbnails of the sizes asked about that are there.
  public internal(set) var thumbs: [Thumb] = []
  /// Why it can't be decoded, in words; nil when that isn't known of a size asked about.
  public internal(set) var undecodable: String?
  /// The upright source's columns and rows; nil when no thumbnail says so.
  public internal(set) var originalSize: (width: Int, height: Int)?
  /// The digits under which the record stands in the store.
  public var record: String { hash.digits }
  /// The hash of the answer's record, and of a record for each size asked about.
  var marks: (answer: KeyHash, thumbs: [KeyHash]) { (hash, thumbHashes) }
  var thumbHashes: [KeyHash] = []
  // Made into words only when somebody asks: a run over a list looks at millions.
  private let answer: AnswerRecord
  private let rules: FreshnessRules
  private let hash: KeyHash
  var head: ResponseHead { answer.head }

  /// The first value of a header, its name compared without regard to case.
  public func header(_ name: String) -> String? { head.fields[name] }

  /// Every value of a header.
  public func headers(_ name: String) -> [String] { head.fields.values(name) }

  init(_ stored: StoredAnswer, _ key: RecordKey, _ rules: FreshnessRules) {
    self.init(stored.record, key, stored.freshness, rules, now: stored.second)
    hasBody = stored.hasBody
  }

  init(_ record: AnswerRecord, _ key: RecordKey, _ freshness: Freshness, _ rules: FreshnessRules, now: Int64)
  {
    finalURL = record.finalURL
    status = record.head.status
    age = freshness.age
    lifetime = freshness.lifetime
    isFromFuture = freshness.isFromFuture
    isStale = freshness.isStale
    freshUntil =
      isFromFuture ? now : now.addingReportingOverflow(freshness.lifetime &- freshness.age).partialValue
    storedAt = record.responseTime
    isPicture = record.isPicture
    bodyBytes = record.bodyLength
    answer = record
    self.rules = rules
    hash = key.hash
  }
}

extension FreshnessRules {
  /// The first rule that matches, as `AnswerFacts.lifetime` goes through them.
  fileprivate func name(of record: AnswerRecord) -> String {
    if ownLifetime != nil { return "expire-after" }
    let control = CacheDirectives(record.head.fields)
    if control.has("no-store") { return "no-store" }
    if control.hasBare("no-cache") { return "no-cache" }
    if control.seconds("max-age") != nil { return "max-age" }
    if record.head.fields.contains("Expires") { return "expires" }
    if kind == .rfc9111 { return record.head.fields.contains("Last-Modified") ? "heuristic" : "none" }
    guard record.isPicture, (200..<300).contains(record.head.status) else { return "none" }
    return record.answer.hasValidator ? "validator" : "picture"
  }
}

extension KeyHash {
  fileprivate var digits: String { high.digits(16, radix: 16) + low.digits(16, radix: 16) }
}

extension Sequence<UInt8> {
  /// Two digits a byte, in lower case.
  package var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in self {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
