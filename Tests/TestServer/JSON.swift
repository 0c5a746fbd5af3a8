import FoundationEssentials

/// The only file that knows Foundation.
enum JSON {
  static func decoded<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }

  static func encoded(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }
}

extension Script {
  /// A script from its JSON form.
  public init(json: String) throws { self = try JSON.decoded(Script.self, from: Array(json.utf8)) }

  /// A body of JSON.
  public static func json(_ value: some Encodable, status: Int = 200) -> Script {
    do {
      var script = Script.ok(try JSON.encoded(value), type: "application/json")
      script.status = status
      return script
    } catch {
      return .status(500, body: "\(error)")
    }
  }
}
