extension Script: Codable {
  private enum Key: String, CodingKey {
    case status, reason, version, headers, steps, body, sendsHead, framing, answersConditions, answersRanges
    case readsBody, answersExpect
  }

  /// Everything may be left out; `body` is short for one `bytes` step after the others.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init()
    status = try container.decodeIfPresent(Int.self, forKey: .status) ?? status
    reason = try container.decodeIfPresent(String.self, forKey: .reason)
    version = try container.decodeIfPresent(String.self, forKey: .version) ?? version
    headers = try container.decodeIfPresent(HeaderLines.self, forKey: .headers) ?? headers
    steps = try container.decodeIfPresent([Step].self, forKey: .steps) ?? steps
    if let body = try container.decodeIfPresent(Blob.self, forKey: .body) { steps.append(.bytes(body.bytes)) }
    sendsHead = try container.decodeIfPresent(Bool.self, forKey: .sendsHead) ?? sendsHead
    framing = try container.decodeIfPresent(Framing.self, forKey: .framing) ?? framing
    answersConditions = try container.decodeIfPresent(Bool.self, forKey: .answersConditions) ?? false
    answersRanges = try container.decodeIfPresent(Bool.self, forKey: .answersRanges) ?? false
    readsBody = try container.decodeIfPresent(Bool.self, forKey: .readsBody) ?? readsBody
    answersExpect = try container.decodeIfPresent(Bool.self, forKey: .answersExpect) ?? answersExpect
  }

  /// Writes every part.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(status, forKey: .status)
    try container.encodeIfPresent(reason, forKey: .reason)
    try container.encode(version, forKey: .version)
    try container.encode(headers, forKey: .headers)
    try container.encode(steps, forKey: .steps)
    try container.encode(sendsHead, forKey: .sendsHead)
    try container.encode(framing, forKey: .framing)
    try container.encode(answersConditions, forKey: .answersConditions)
    try container.encode(answersRanges, forKey: .answersRanges)
    try container.encode(readsBody, forKey: .readsBody)
    try container.encode(answersExpect, forKey: .answersExpect)
  }
}

/// In JSON a step is an object with one member, its name: `{"bytes": "text"}`, `{"wait": "gate"}`,
/// `{"fill": {"count": 9, "byte": 0}}`; `"head"`, `"lastChunk"`, `"reset"` and `"close"` may be bare strings.
extension Script.Step: Codable {
  private enum Key: String, CodingKey {
    case head, headPart, dripHead, bytes, fill, drip, chunk, lastChunk, badChunk, raw, interim, wait, pause
    case reset, close
  }

  private struct Fill: Codable {
    var count: Int
    var byte: UInt8?
  }

  private struct Drip: Codable {
    var bytes: Blob?
    var piece: Int?
    var milliseconds: Int
  }

  private struct Interim: Codable {
    var status: Int
    var headers: HeaderLines?
  }

  /// Throws for an unknown name and for more than one.
  public init(from decoder: any Decoder) throws {
    if let single = try? decoder.singleValueContainer(), let name = try? single.decode(String.self) {
      self = try Self.named(name, in: single)
      return
    }
    let container = try decoder.container(keyedBy: Key.self)
    guard container.allKeys.count == 1, let key = container.allKeys.first else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a step is an object with one known member"))
    }
    func blob() throws -> [UInt8] { try container.decode(Blob.self, forKey: key).bytes }
    switch key {
    case .head: self = .head
    case .headPart: self = .headPart(try container.decode(Int.self, forKey: key))
    case .dripHead:
      let drip = try container.decode(Drip.self, forKey: key)
      self = .dripHead(piece: drip.piece ?? 1, milliseconds: drip.milliseconds)
    case .bytes: self = .bytes(try blob())
    case .fill:
      let fill = try container.decode(Fill.self, forKey: key)
      self = .fill(count: fill.count, byte: fill.byte ?? 0)
    case .drip:
      let drip = try container.decode(Drip.self, forKey: key)
      self = .drip(drip.bytes?.bytes ?? [], piece: drip.piece ?? 1, milliseconds: drip.milliseconds)
    case .chunk: self = .chunk(try blob())
    case .lastChunk: self = .lastChunk((try? container.decode(HeaderLines.self, forKey: key)) ?? [:])
    case .badChunk: self = .badChunk(try blob())
    case .raw: self = .raw(try blob())
    case .interim:
      let interim = try container.decode(Interim.self, forKey: key)
      self = .interim(interim.status, interim.headers ?? [:])
    case .wait: self = .wait(try container.decode(String.self, forKey: key))
    case .pause: self = .pause(milliseconds: try container.decode(Int.self, forKey: key))
    case .reset: self = .reset
    case .close: self = .close
    }
  }

  private static func named(_ name: String, in container: any SingleValueDecodingContainer) throws -> Self {
    switch name {
    case "head": .head
    case "lastChunk": .lastChunk
    case "reset": .reset
    case "close": .close
    default:
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no bare step \(name)")
    }
  }

  /// Writes the object form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch self {
    case .head: try container.encode(true, forKey: .head)
    case .headPart(let count): try container.encode(count, forKey: .headPart)
    case .dripHead(let piece, let time):
      try container.encode(Drip(bytes: nil, piece: piece, milliseconds: time), forKey: .dripHead)
    case .bytes(let bytes): try container.encode(Blob(bytes), forKey: .bytes)
    case .fill(let count, let byte): try container.encode(Fill(count: count, byte: byte), forKey: .fill)
    case .drip(let bytes, let piece, let time):
      try container.encode(Drip(bytes: Blob(bytes), piece: piece, milliseconds: time), forKey: .drip)
    case .chunk(let bytes): try container.encode(Blob(bytes), forKey: .chunk)
    case .lastChunk(let trailers): try container.encode(trailers, forKey: .lastChunk)
    case .badChunk(let bytes): try container.encode(Blob(bytes), forKey: .badChunk)
    case .raw(let bytes): try container.encode(Blob(bytes), forKey: .raw)
    case .interim(let status, let headers):
      try container.encode(Interim(status: status, headers: headers), forKey: .interim)
    case .wait(let gate): try container.encode(gate, forKey: .wait)
    case .pause(let time): try container.encode(time, forKey: .pause)
    case .reset: try container.encode(true, forKey: .reset)
    case .close: try container.encode(true, forKey: .close)
    }
  }
}
