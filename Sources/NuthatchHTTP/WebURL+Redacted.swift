extension WebURL {
  /// `text` with any password in it hidden, for messages about URLs, also those that could not be parsed: rather too much
  /// hidden than a password shown that has a slash in it, or stands in front of a forgotten scheme.
  package static func redacted(_ text: String) -> String {
    // Of the bytes in a `data:` URL a few will do.
    if text.utf8.count > 100, text.prefix(5).lowercased() == "data:" {
      return "\(text.prefix(64))… (\(text.utf8.count) bytes)"
    }
    let bytes = Array(text.utf8)
    guard let lastAt = bytes.lastIndex(of: UInt8(ascii: "@")) else { return text }
    func hiding(_ start: Int, _ at: Int, _ userinfo: [UInt8]) -> String {
      String(decoding: bytes[..<start] + userinfo + bytes[at...], as: UTF8.self)
    }
    guard let start = authority(of: bytes) else { return hiding(0, lastAt, hidden) }
    let end = bytes[start...].firstIndex(where: \.endsAuthority) ?? bytes.endIndex
    let port = bytes[start..<end].firstIndex(of: UInt8(ascii: ":")).map { bytes[($0 + 1)..<end] }
    // What is no port may be the beginning of a password; and what has two schemes, a whole URL.
    let isOdd =
      port.map { $0.isEmpty || !$0.allSatisfy(\.isDigit) } ?? bytes[end...].starts(with: "//".utf8)
    if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")), !isOdd || at == lastAt {
      return hiding(start, at, hidden(bytes[start..<at]))
    }
    return isOdd ? hiding(start, lastAt, hidden) : text
  }

  /// What is shown of a userinfo: the name of one with a password. A name alone, or one as long as this, may be a token.
  static func hidden(_ userinfo: ArraySlice<UInt8>) -> [UInt8] {
    let colon = UInt8(ascii: ":")
    let name = userinfo.prefix { $0 != colon }
    let isName = (1...32).contains(name.count) && name.allSatisfy(\.isPartOfName)
    guard isName, userinfo.count > name.count + 1 else { return hidden }
    return name + [colon] + hidden
  }

  private static let hidden = Array("***".utf8)

  /// Where the authority begins, if a scheme stands in front of it, and nothing but blanks in front of that.
  private static func authority(of bytes: [UInt8]) -> Int? {
    guard let end = bytes.firstRange(of: Array("://".utf8)) else { return nil }
    let scheme = bytes[..<end.lowerBound].drop { $0 <= 0x20 }
    return !scheme.isEmpty && scheme.allSatisfy(\.isSchemeCharacter) ? end.upperBound : nil
  }
}

extension UInt8 {
  fileprivate var isPartOfName: Bool {
    isHostCharacter || self == UInt8(ascii: "%") || self == UInt8(ascii: "~") || self == UInt8(ascii: "+")
  }
}
