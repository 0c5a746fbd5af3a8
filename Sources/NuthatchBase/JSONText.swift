/// Writes JSON line by line.
package struct JSONText {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Writes an object; `body` writes its fields. `name` is the field's name in an enclosing object.
  package mutating func object(_ name: String? = nil, _ body: (inout JSONText) -> Void) {
    enclose(name, UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  /// Returns a line with an object; `body` writes its fields.
  package static func line(_ body: (inout JSONText) -> Void) -> String {
    var json = JSONText()
    json.object(nil, body)
    json.endLine()
    return json.text
  }

  /// Writes a list with an object for each element.
  @inlinable
  package mutating func objects<Element>(
    _ name: String? = nil, _ elements: some Sequence<Element>, _ body: (inout JSONText, Element) -> Void
  ) {
    list(name, elements) { json, element in json.object { body(&$0, element) } }
  }

  @inlinable
  package mutating func list<Element>(
    _ name: String? = nil, _ elements: some Sequence<Element>, _ body: (inout JSONText, Element) -> Void
  ) {
    enclose(name, UInt8(ascii: "["), UInt8(ascii: "]")) { json in
      for element in elements { body(&json, element) }
    }
  }

  @usableFromInline
  mutating func enclose(_ name: String?, _ first: UInt8, _ last: UInt8, _ body: (inout JSONText) -> Void) {
    begin(name)
    bytes.append(first)
    needsComma = false
    body(&self)
    bytes.append(last)
    needsComma = true
  }

  package mutating func put(_ name: String? = nil, _ text: String?) {
    begin(name)
    if let text { quote(text) } else { raw("null") }
  }

  private mutating func quote(_ text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { utf8 in
      if utf8.allSatisfy({ Self.isPlain($0) }) { return bytes.append(contentsOf: utf8) }
      for byte in utf8 {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case let byte where !Self.isPlain(byte):
          bytes += "\\u\(byte.digits(4, radix: 16))".utf8
        default: bytes.append(byte)
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// `<` is escaped, too: `</script>` would end a script in a page.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7f
      && byte != UInt8(ascii: "<")
  }

  package mutating func put(_ name: String? = nil, _ number: Int?) { put(name, number.map { Int64($0) }) }

  // Not generic: a run over a list writes millions of these.
  package mutating func put(_ name: String? = nil, _ number: Int64?) {
    begin(name)
    guard let number else { return raw("null") }
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    append(number.magnitude)
  }

  package mutating func put(_ name: String? = nil, _ number: (some BinaryInteger)?) {
    put(name, raw: number.map { String($0) })
  }

  private mutating func append(_ number: UInt64) {
    if number >= 10 { append(number / 10) }
    append(digit: number % 10)
  }

  private mutating func append(digit: UInt64) {
    bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
  }

  package mutating func put(_ name: String? = nil, _ value: Bool?) {
    put(name, raw: value.map { $0 ? "true" : "false" })
  }

  /// Writes a number with at most three digits after the point.
  package mutating func put(thousandths: Int64, _ name: String? = nil) {
    let (whole, rest) = max(0, thousandths).magnitude.quotientAndRemainder(dividingBy: 1000)
    begin(name)
    append(whole)
    guard rest > 0 else { return }
    bytes.append(UInt8(ascii: "."))
    append(digit: rest / 100)
    if rest % 100 > 0 { append(digit: rest / 10 % 10) }
    if rest % 10 > 0 { append(digit: rest % 10) }
  }

  private mutating func put(_ name: String?, raw text: String?) {
    begin(name)
    raw(text ?? "null")
  }

  package mutating func endLine() {
    bytes.append(10)
    needsComma = false
  }

  private mutating func begin(_ name: String?) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = false
    if let name {
      quote(name)
      bytes.append(UInt8(ascii: ":"))
    }
    needsComma = true
  }

  private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
