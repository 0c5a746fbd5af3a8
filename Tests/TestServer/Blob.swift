/// Bytes in JSON: a string when they are UTF-8 text, else `{"base64": "…"}`.
struct Blob: Codable {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private enum Key: String, CodingKey { case base64 }

  init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      bytes = Array(text.utf8)
      return
    }
    let container = try decoder.container(keyedBy: Key.self)
    guard let decoded = decodedBase64(try container.decode(String.self, forKey: .base64)) else {
      throw DecodingError.dataCorruptedError(forKey: .base64, in: container, debugDescription: "not base64")
    }
    bytes = decoded
  }

  func encode(to encoder: any Encoder) throws {
    if let text = String(validating: bytes, as: UTF8.self) {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    } else {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(encodedBase64(bytes), forKey: .base64)
    }
  }
}

private let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

func encodedBase64(_ bytes: [UInt8]) -> String {
  var text: [UInt8] = []
  text.reserveCapacity(bytes.count / 3 * 4 + 4)
  for start in stride(from: 0, to: bytes.count, by: 3) {
    let group = bytes[start..<min(start + 3, bytes.count)]
    var value = 0
    for byte in group { value = value << 8 | Int(byte) }
    value <<= 8 * (3 - group.count)
    for place in 0..<4 {
      text.append(place <= group.count ? alphabet[value >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
    }
  }
  return String(decoding: text, as: UTF8.self)
}

/// Nil for anything but padded or unpadded standard base64.
func decodedBase64(_ text: String) -> [UInt8]? {
  var digits = Array(text.utf8)
  while digits.last == UInt8(ascii: "=") { digits.removeLast() }
  var places = [Int](repeating: -1, count: 256)
  for (place, letter) in alphabet.enumerated() { places[Int(letter)] = place }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(digits.count * 3 / 4)
  var value = 0
  var bits = 0
  for digit in digits {
    let place = places[Int(digit)]
    guard place >= 0 else { return nil }
    value = value << 6 | place
    bits += 6
    if bits >= 8 {
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> bits))
      value &= 1 << bits - 1
    }
  }
  return bytes
}
