import NuthatchTransport

/// The stored metadata of an answer: head, times, and the digest of the body.
struct AnswerRecord: Sendable {
  /// Increased when older readers would misread the record.
  static let version: UInt8 = 4
  /// The version that release 0.1 wrote. It can still be read.
  private static let earlierVersion: UInt8 = 3

  var head: ResponseHead
  /// Seconds since 1970 at which the request was sent and the answer was received.
  var requestTime: Int64
  var responseTime: Int64
  /// The names in `Vary`, in lower case.
  var varied: [String] = []
  /// The URL of the answer, without userinfo, and the number of redirects to it.
  var finalURL: String
  var redirects = 0
  /// The requested URL, without userinfo, if it isn't the address in the cache key.
  var requestedURL: String?
  /// The digest by which the body is found; nil for an answer without a body.
  var content: Digest?
  var bodyLength: Int64 = 0
  /// Whether the body is a picture, by its first bytes.
  var isPicture = false
  /// Whether the transfer was ended before the body was complete. Then `content` is a digest of the key and of validators, and
  /// only thumbnails, or the reason why there are none, are stored.
  var isPartial = false
  /// The most private address class that the fetch contacted; private after public counts as `link`.
  var reach = AddressReach.open
  /// The sizes that were wanted when the body was fetched, as sources for smaller ones (`ThumbList`).
  var sizes: [Recipe] = []
  /// A new number for each stored answer, and for each set of variants. Earlier and later records of the same key have others.
  var number: UInt64

  static var newNumber: UInt64 { AnswerNumber.next() }

  func encoded() -> [UInt8] {
    // Enough for most answers.
    var encoder = RecordEncoder(capacity: 1024)
    encoder.put(Self.version)
    encoder.put(UInt8((isPicture ? 1 : 0) | (isPartial ? 2 : 0)))
    encoder.put(reach.rawValue)
    encoder.put(number)
    encoder.put(UInt16(clamping: head.status))
    encoder.put(requestTime)
    encoder.put(responseTime)
    encoder.put(bodyLength)
    encoder.put(UInt8(clamping: redirects))
    encoder.put(content?.bytes ?? [])
    encoder.put(finalURL)
    encoder.put(head.reason)
    encoder.put(UInt32(clamping: head.fields.fields.count))
    for field in head.fields.fields {
      encoder.put(field.name)
      encoder.put(field.value)
    }
    encoder.put(UInt32(clamping: varied.count))
    for name in varied { encoder.put(name) }
    encoder.put(requestedURL ?? "")
    // Earlier readers of this version stop here.
    for size in sizes { encoder.put(size.bytes) }
    return encoder.bytes
  }

  /// Returns nil if this version can't read the record, which then counts as not stored.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var decoder = RecordDecoder(bytes)
    do {
      let version = try decoder.number(UInt8.self)
      guard version == Self.version || version == Self.earlierVersion else { return nil }
      let flags = try decoder.number(UInt8.self)
      isPicture = flags & 1 != 0
      isPartial = flags & 2 != 0
      reach = AddressReach(rawValue: try decoder.number()) ?? .link
      number = try decoder.number()
      let status = Int(try decoder.number(UInt16.self))
      requestTime = try decoder.number()
      responseTime = try decoder.number()
      bodyLength = try decoder.number()
      redirects = Int(try decoder.number(UInt8.self))
      content = Digest(try decoder.content())
      finalURL = try decoder.text()
      head = ResponseHead(status: status, reason: try decoder.text())
      let count = try decoder.number(UInt32.self)
      head.fields.reserveCapacity(Int(min(count, 64)))
      for _ in 0..<count {
        let name = try decoder.text()
        if let value = try decoder.printableText() {
          head.fields.restore(name, value)
        } else {
          head.fields.append(name, try decoder.text())
        }
      }
      for _ in 0..<(try decoder.number(UInt32.self)) {
        varied.append(try decoder.text())
      }
      if version == Self.version {
        let url = try decoder.text()
        requestedURL = url.isEmpty ? nil : url
        sizes = ThumbList.sizes(&decoder)
      }
    } catch {
      return nil
    }
  }

  init(head: ResponseHead, requestTime: Int64, responseTime: Int64, finalURL: String) {
    self.head = head
    self.requestTime = requestTime
    self.responseTime = responseTime
    self.finalURL = finalURL
    number = AnswerRecord.newNumber
  }
}
