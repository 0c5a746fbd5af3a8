/// The contents of a `data:` URL (RFC 2397), decoded without a request.
///
/// Stricter than browsers: a % without two hexadecimal digits, a character that isn't base64, or last bits that aren't zero are
/// errors, so that a truncated URL never gives half a picture.
package struct DataURL: Sendable, Equatable {
  /// As written in the URL. `text/plain` is added to parameters alone; `text/plain;charset=US-ASCII` if there is nothing.
  package var mediaType: String
  package var bytes: [UInt8]

  /// Returns whether a text is a data URL. The scheme is compared without regard to case.
  package static func isDataURL(_ text: some StringProtocol) -> Bool {
    text.utf8.prefix(5).elementsEqual("data:".utf8) { $0.lowercased == $1 }
  }

  /// Decodes `text`, to at most `maxBytes` bytes.
  package init(_ text: some StringProtocol, maxBytes: Int64) throws(TransportFault) {
    guard DataURL.isDataURL(text) else { throw TransportFault(.badURL, "the URL doesn't begin with data:") }
    let all = Array(text.utf8)
    guard let comma = all.firstIndex(of: UInt8(ascii: ",")) else {
      throw TransportFault(.badURL, "the data: URL has no comma before its data")
    }
    if let position = all.firstIndex(where: { $0 < 0x20 || $0 == 0x7f }) {
      throw TransportFault(.badURL, "the data: URL has a control character at byte \(position)")
    }
    var type = all[5..<comma]
    let marker = Array(";base64".utf8)
    let isBase64 =
      type.count >= marker.count && type.suffix(marker.count).elementsEqual(marker) { $0.lowercased == $1 }
    if isBase64 { type = type.dropLast(marker.count) }
    let written = String(decoding: type, as: UTF8.self)
    mediaType =
      written.isEmpty
      ? "text/plain;charset=US-ASCII" : written.hasPrefix(";") ? "text/plain\(written)" : written

    let data = all[(comma + 1)...].prefix { $0 != UInt8(ascii: "#") }
    // At worst, four characters stand for one byte: four escaped base64 digits (12 characters) for three bytes.
    guard Int64(data.count / 4) <= maxBytes else { throw DataURL.tooLarge(maxBytes) }
    let plain = try DataURL.unescaped(data)
    bytes = isBase64 ? try DataURL.decodedBase64(plain) : plain
    guard Int64(bytes.count) <= maxBytes else { throw DataURL.tooLarge(maxBytes) }
  }

  private static func tooLarge(_ maxBytes: Int64) -> TransportFault {
    TransportFault(.tooLarge, "the data: URL has more than \(maxBytes) bytes, the limit")
  }

  private static func unescaped(_ data: ArraySlice<UInt8>) throws(TransportFault) -> [UInt8] {
    var plain: [UInt8] = []
    plain.reserveCapacity(data.count)
    var rest = data
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        plain.append(byte)
        continue
      }
      let position = rest.startIndex - 1
      guard let high = rest.popFirst()?.digit16, let low = rest.popFirst()?.digit16 else {
        throw TransportFault(
          .badURL, "the data: URL has a % without two hexadecimal digits at byte \(position)")
      }
      plain.append(high << 4 | low)
    }
    return plain
  }

  /// Decodes base64 (RFC 4648) in both alphabets. The padding may be missing, but not wrong.
  private static func decodedBase64(_ text: [UInt8]) throws(TransportFault) -> [UInt8] {
    var digits = text[...]
    let padding = digits.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    digits = digits.dropLast(padding)
    guard digits.count % 4 != 1, padding == 0 || (padding <= 2 && text.count % 4 == 0) else {
      throw TransportFault(.badURL, "the base64 text of the data: URL has a wrong length or wrong padding")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 4 * 3 + 2)
    var held: UInt32 = 0
    var count: UInt32 = 0
    for digit in digits {
      guard let value = digit.digit64 else {
        throw TransportFault(.badURL, "the base64 text of the data: URL has a character that is not base64")
      }
      held = held << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: held >> count))
      }
    }
    guard held & (1 << count - 1) == 0 else {
      throw TransportFault(
        .badURL, "the base64 text of the data: URL is truncated or damaged: its unused last bits aren't zero")
    }
    return bytes
  }
}

extension UInt8 {
  fileprivate var digit16: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  fileprivate var digit64: UInt8? {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): self - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): self - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
