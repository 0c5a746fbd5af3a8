import NuthatchBase
import NuthatchHTTP
import NuthatchImaging
import NuthatchStore

/// The stored answer to a request, and how it can be used now.
public struct StoredAnswerInfo: Sendable {
  /// The result that a request would get now.
  public enum Prospect: String, Sendable {
    /// An answer at once.
    case hit
    /// The server is asked whether the stored answer is still valid.
    case revalidate
    /// The whole answer is fetched.
    case fetch
    /// An error at once, without asking a server (`refusal`).
    case refuse
  }

  /// The reason why a request would be refused at once.
  public enum Refusal: String, Sendable {
    /// A recent fetch has failed.
    case failedBefore = "failed_before"
    /// No usable answer is stored, and the network must not be used.
    case offline
    /// The answer is longer than the request allows.
    case tooLarge = "too_large"
    /// The picture has more pixels than the request allows.
    case tooManyPixels = "too_many_pixels"
    /// The stored answer is a redirect that can't be followed.
    case badRedirect = "bad_redirect"
  }

  /// A stored thumbnail.
  public struct Thumb: Sendable, Equatable {
    /// The box that it was made for.
    public var box: ThumbnailBox
    /// The width in pixels.
    public var width: Int
    /// The height in pixels.
    public var height: Int
    /// Its form: `raw`, `jpeg`, `png`, or `memory`.
    public var form: String
    /// Bytes of its record; 0 if it is in memory only.
    public var bytes: Int
  }

  /// The result that a request would get now.
  public internal(set) var prospect = Prospect.fetch
  /// The reason why it would be refused; nil if it wouldn't be.
  public internal(set) var refusal: Refusal?
  /// Whether a request that gets it also asks the server in the background.
  package internal(set) var revalidates = false
  /// Whether it is a redirect, which the request follows.
  package internal(set) var isRedirect = false
  /// The URL of the answer, without userinfo.
  public let finalURL: String
  /// The HTTP status.
  public let status: Int
  /// The rule that gives its lifetime: `expire-after`, `no-store`, `no-cache`, `max-age`, `expires`, `validator`, `picture`,
  /// `heuristic` or `none`.
  public var rule: String { rules.name(of: answer) }
  /// Whether it must never be delivered stale.
  public var mustRevalidate: Bool { CacheDirectives(head.fields).has("must-revalidate") }
  /// The age in seconds.
  public let age: Int64
  /// The lifetime in seconds.
  public let lifetime: Int64
  /// Seconds since 1970 until which it is fresh.
  public let freshUntil: Int64
  /// Whether its time is in the future, because the clock was set back: then it is stale, and its age is unknown.
  public let isFromFuture: Bool
  /// Whether it counts as stale now.
  package let isStale: Bool
  /// Seconds since 1970 at which it was received or last confirmed (304).
  public let storedAt: Int64
  /// Whether it is a picture, by its first bytes.
  public let isPicture: Bool
  /// Bytes of the body, even if the body is no longer stored.
  public let bodyBytes: Int64
  /// Whether the body is stored.
  public internal(set) var hasBody = false
  /// The SHA-256 of the body, in hexadecimal digits.
  public var content: String? { answer.content?.bytes.hexadecimal }
  /// Names of the header fields in `Vary`.
  public var varied: [String] { answer.varied }
  /// The stored thumbnails of the requested sizes.
  public internal(set) var thumbs: [Thumb] = []
  /// Why it can't be decoded, in words; nil if no failure is stored for a requested size.
  public internal(set) var undecodable: String?
  /// Width and height of the source, after its orientation was applied; nil if no thumbnail has them.
  public internal(set) var originalSize: (width: Int, height: Int)?
  /// What the source says of itself; empty if no thumbnail has it.
  package var facts = PictureFacts()
  /// The hexadecimal digits of the hash by which the store finds the record.
  public var record: String { hash.digits }
  /// The hash of the answer's record, and of a record for each requested size.
  var marks: (answer: KeyHash, thumbs: [KeyHash]) { (hash, thumbHashes) }
  var thumbHashes: [KeyHash] = []
  // Converted to words only on demand: a run over a list reads millions.
  private let answer: AnswerRecord
  private let rules: FreshnessRules
  private let hash: KeyHash
  var head: ResponseHead { answer.head }

  /// Returns the first value of a header. Upper and lower case of the name don't matter.
  public func header(_ name: String) -> String? { head.fields[name] }

  /// Returns all values of a header.
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
  /// The first rule that matches, in the order of `AnswerFacts.lifetime`.
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
