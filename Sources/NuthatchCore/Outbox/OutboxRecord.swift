/// The records of the outbox's log, one payload each (docs/FORMAT.md). The id of a request is the number of its first record in
/// the log. Every later record of the request holds this id.
enum OutboxRecord {
  case frozen(FrozenRequest)
  /// An attempt is about to be made.
  case begun(UInt64, DurableTime)
  case ended(UInt64, AttemptRecord)
  case settled(UInt64, OutboxSettlement)
  /// The request was dropped, or its outcome was collected.
  case gone(UInt64)
  case replayed(UInt64, DurableTime)

  static let version: UInt8 = 1

  func encoded() -> [UInt8] {
    var encoder = RecordEncoder()
    encoder.put(Self.version)
    switch self {
    case .frozen(let request):
      encoder.put(UInt8(1))
      request.encode(into: &encoder)
    case .begun(let id, let stamp):
      encoder.put(UInt8(2))
      encoder.put(id)
      encoder.put(stamp)
    case .ended(let id, let attempt):
      encoder.put(UInt8(3))
      encoder.put(id)
      attempt.encode(into: &encoder)
    case .settled(let id, let settlement):
      encoder.put(UInt8(4))
      encoder.put(id)
      settlement.encode(into: &encoder)
    case .gone(let id):
      encoder.put(UInt8(5))
      encoder.put(id)
    case .replayed(let id, let stamp):
      encoder.put(UInt8(6))
      encoder.put(id)
      encoder.put(stamp)
    }
    return encoder.bytes
  }

  init(_ bytes: UnsafeRawBufferPointer, withBody: Bool) throws(RecordDecoder.Damaged) {
    var decoder = RecordDecoder(bytes)
    guard try decoder.number(UInt8.self) == Self.version else { throw RecordDecoder.Damaged() }
    func stamp() throws(RecordDecoder.Damaged) -> DurableTime {
      guard let stamp = try decoder.stamp() else { throw RecordDecoder.Damaged() }
      return stamp
    }
    switch try decoder.number(UInt8.self) {
    case 1: self = .frozen(try FrozenRequest(&decoder, withBody: withBody))
    case 2: self = .begun(try decoder.number(), try stamp())
    case 3: self = .ended(try decoder.number(), try AttemptRecord(&decoder))
    case 4: self = .settled(try decoder.number(), try OutboxSettlement(&decoder, withBody: withBody))
    case 5: self = .gone(try decoder.number())
    case 6: self = .replayed(try decoder.number(), try stamp())
    default: throw RecordDecoder.Damaged()
    }
  }
}

/// The end of an attempt that didn't end the request. `counted` and `exposed` include all earlier attempts since the last replay,
/// so that the earlier records aren't needed.
struct AttemptRecord: Sendable {
  var ended: DurableTime
  /// nil if the server's answer could be read to its end.
  var code: ErrorCode?
  /// 0 if the server didn't answer.
  var status: Int
  var reason: String
  /// How many attempts, with this one, a server has answered or may have received.
  var counted: Int
  /// The time since which a server may know of the request; nil if no attempt can have arrived.
  var exposed: DurableTime?
  /// The wait before the next attempt, in nanoseconds; nil: until a replay or another secret.
  var wait: Int64?
  /// Whether the connection failed before an answer came. Then the next attempt follows as soon as the network changes or the
  /// host can be reached. The server may have received the request nevertheless (`exposed`).
  var isUnreachable: Bool
}

extension AttemptRecord {
  func encode(into encoder: inout RecordEncoder) {
    encoder.put(ended)
    encoder.put(code?.rawValue ?? 0)
    encoder.put(UInt16(clamping: status))
    encoder.put(reason)
    encoder.put(UInt32(clamping: counted))
    encoder.put(exposed)
    encoder.put(optional: wait)
    encoder.put(UInt8(isUnreachable ? 1 : 0))
  }

  init(_ decoder: inout RecordDecoder) throws(RecordDecoder.Damaged) {
    guard let stamp = try decoder.stamp() else { throw RecordDecoder.Damaged() }
    ended = stamp
    code = ErrorCode(rawValue: try decoder.number())
    status = Int(try decoder.number(UInt16.self))
    reason = try decoder.text()
    counted = Int(try decoder.number(UInt32.self))
    exposed = try decoder.stamp()
    wait = try decoder.optionalNumber()
    isUnreachable = try decoder.number(UInt8.self) != 0
  }
}

/// The end of a request: an answer, or the reason why it was put aside.
struct OutboxSettlement: Sendable {
  var at: DurableTime
  /// Whether the request is done; else it is put aside.
  var isDone: Bool
  var code: ErrorCode?
  var reason: String
  /// The status of the stored answer; 0 if none is stored.
  var status = 0
  var finalURL = ""
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []
  /// Whether the body was longer than the stored part.
  var isCut = false

  /// Whether an attempt has ended the request. Otherwise it was put aside without an attempt: it is too old, had too many
  /// attempts, its key has expired, or its body is damaged.
  var isOfAttempt: Bool { status > 0 || !(code == nil || code == .corrupt) }

  /// The most bytes of an answer's body that are stored.
  static let longestBody = 1 << 20
}

extension OutboxSettlement {
  func encode(into encoder: inout RecordEncoder) {
    encoder.put(at)
    encoder.put(UInt8((isDone ? 1 : 0) | (isCut ? 2 : 0)))
    encoder.put(code?.rawValue ?? 0)
    encoder.put(reason)
    encoder.put(UInt16(clamping: status))
    encoder.put(finalURL)
    encoder.put(fields: headers)
    encoder.put(body)
  }

  init(_ decoder: inout RecordDecoder, withBody: Bool) throws(RecordDecoder.Damaged) {
    guard let stamp = try decoder.stamp() else { throw RecordDecoder.Damaged() }
    at = stamp
    let flags = try decoder.number(UInt8.self)
    isDone = flags & 1 != 0
    isCut = flags & 2 != 0
    code = ErrorCode(rawValue: try decoder.number())
    reason = try decoder.text()
    status = Int(try decoder.number(UInt16.self))
    finalURL = try decoder.text()
    headers = try decoder.fields()
    let bytes = try decoder.content()
    if withBody { body = Array(bytes) }
  }
}
