/// A request as the server saw it.
public struct ReceivedRequest: Sendable, Equatable {
  /// 1 for the first since the start or the last reset.
  public var number = 0
  /// The connection it came on: 1 for the first connection that carried a logged request.
  public var connection = 0
  /// Such as `GET`.
  public var method: String
  /// As sent, with its query.
  public var target: String
  /// Such as `HTTP/1.1`.
  public var version: String
  /// In order, repeated names kept apart.
  public var headers: HeaderLines
  /// The body, without its transfer coding.
  public var body: [UInt8] = []
  /// What has become of it.
  public var outcome = Outcome.pending

  /// What has become of a request.
  public enum Outcome: String, Sendable, Codable {
    /// The script is still being played.
    case pending
    /// The script was played to its end.
    case answered
    /// The script ended the connection with `reset` or `close`.
    case cut
    /// The client went away before the end.
    case clientLeft
  }

  /// The target without origin (as sent to proxies) and query.
  public var path: String { String(Self.local(target).prefix { $0 != "?" }) }

  /// What follows the question mark, empty without one.
  public var query: String {
    guard let mark = target.firstIndex(of: "?") else { return "" }
    return String(target[target.index(after: mark)...])
  }

  /// The first decoded value of a query field.
  public func queryValue(_ name: String) -> String? {
    for field in query.split(separator: "&") {
      let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if percentDecoded(parts[0]) == name { return parts.count > 1 ? percentDecoded(parts[1]) : "" }
    }
    return nil
  }

  /// The target without an origin: `http://host/path` becomes `/path`.
  static func local(_ target: String) -> Substring {
    guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target[...] }
    let rest = target[scheme.upperBound...]
    return rest.drop { $0 != "/" }
  }
}

extension ReceivedRequest: Encodable {
  private enum Key: String, CodingKey {
    case number, connection, method, target, path, query, version, headers, body, outcome
  }

  /// The body is a string, or `{"base64": …}` when it isn't text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(number, forKey: .number)
    try container.encode(connection, forKey: .connection)
    try container.encode(method, forKey: .method)
    try container.encode(target, forKey: .target)
    try container.encode(path, forKey: .path)
    try container.encode(query, forKey: .query)
    try container.encode(version, forKey: .version)
    try container.encode(headers, forKey: .headers)
    try container.encode(Blob(body), forKey: .body)
    try container.encode(outcome, forKey: .outcome)
  }
}

/// `%41` becomes `A`; what isn't valid stays as it is.
func percentDecoded(_ text: some StringProtocol) -> String {
  let source = Array(text.utf8)
  var result: [UInt8] = []
  var place = 0
  while place < source.count {
    if source[place] == UInt8(ascii: "%"), place + 2 < source.count,
      let value = UInt8(String(decoding: source[place + 1...place + 2], as: UTF8.self), radix: 16)
    {
      result.append(value)
      place += 3
    } else {
      result.append(source[place])
      place += 1
    }
  }
  return String(decoding: result, as: UTF8.self)
}

/// Percent-encodes everything but unreserved characters and slashes.
func percentEncoded(_ path: String) -> String {
  let digits = Array("0123456789ABCDEF".utf8)
  var result: [UInt8] = []
  for byte in path.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"), UInt8(ascii: "/"):
      result.append(byte)
    default: result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }
  return String(decoding: result, as: UTF8.self)
}
