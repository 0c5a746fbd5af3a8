extension WebURL {
  /// Path and query with dot segments removed (RFC 3986, 5.2.4) and forbidden characters percent-encoded.
  static func normalisedTarget(_ bytes: [UInt8]) -> String {
    let query = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
    let path = withoutDotSegments(bytes[..<query])
    return String(decoding: PercentCoding.encode(path) + PercentCoding.encode(bytes[query...]), as: UTF8.self)
  }

  private static func withoutDotSegments(_ path: ArraySlice<UInt8>) -> [UInt8] {
    // A dot segment begins with a dot or `%`. Most paths have none.
    let mayHaveDots = zip(path, path.dropFirst()).contains { first, second in
      first == UInt8(ascii: "/") && (second == UInt8(ascii: ".") || second == UInt8(ascii: "%"))
    }
    guard mayHaveDots || path.first != UInt8(ascii: "/") else { return Array(path) }
    var kept: [ArraySlice<UInt8>] = []
    let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch dots(segment) {
      case 1: if isLast { kept.append([]) }
      case 2:
        kept = kept.dropLast()
        if isLast { kept.append([]) }
      default: kept.append(segment)
      }
    }
    return [UInt8(ascii: "/")] + kept.joined(separator: [UInt8(ascii: "/")])
  }

  /// Returns the number of dots if the segment consists of dots (`%2e` counts as one), else 0.
  private static func dots(_ segment: ArraySlice<UInt8>) -> Int {
    guard segment.count <= 6 else { return 0 }
    let plain = PercentCoding.decode(segment)
    return plain.count <= 2 && plain.allSatisfy { $0 == UInt8(ascii: ".") } ? plain.count : 0
  }
}

/// Percent-encoding in URLs.
package enum PercentCoding {
  /// Encodes characters that paths and queries may not contain. Existing escapes stay.
  static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    guard !bytes.allSatisfy(\.mayStandInTarget) else { return Array(bytes) }
    var encoded: [UInt8] = []
    for byte in bytes {
      if byte.mayStandInTarget {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
      }
    }
    return encoded
  }

  /// Decodes escapes. A `%` that begins no escape stays.
  package static func decode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(bytes)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = bytes[index + 1].hexValue, let low = bytes[index + 2].hexValue
      {
        decoded.append(high << 4 | low)
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    return decoded
  }

  private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
