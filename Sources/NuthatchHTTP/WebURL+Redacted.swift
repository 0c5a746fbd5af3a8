extension WebURL {
  /// `text` with any password in it hidden, for messages about URLs, also those that could not be parsed: rather too much
  /// hidden than a password shown that has a slash in it, or stands in front of a forgotten scheme. Of what is too long for a
  /// URL the beginning will do, and of the bytes in a `data:` URL.
  package static func redacted(_ text: String) -> String {
    let bytes = Array(text.utf8)
    if bytes.count > 100, bytes.starts(with: "data:".utf8, by: { $0.lowercased == $1 }) {
      return beginning(of: text, bytes.count)
    }
    let shown = redacted(bytes) ?? text
    return bytes.count > longest ? beginning(of: shown, bytes.count) : shown
  }

  private static func beginning(of shown: String, _ count: Int) -> String {
    "\(Substring(shown.unicodeScalars.prefix(64)))… (\(count) bytes)"
  }

  /// Nil when there is nothing to hide.
  private static func redacted(_ bytes: [UInt8]) -> String? {
    guard let lastAt = bytes.lastIndex(of: UInt8(ascii: "@")) else { return nil }
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
    return isOdd ? hiding(start, lastAt, hidden) : nil
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
    guard let end = bytes.schemeEnd else { return nil }
    let scheme = bytes[..<end].drop { $0 <= 0x20 }
    return !scheme.isEmpty && scheme.allSatisfy(\.isSchemeCharacter) ? end + 3 : nil
  }
}

extension [UInt8] {
  /// Where the first `://` is. By hand: searching for a sequence takes a hundred times as long.
  fileprivate var schemeEnd: Int? {
    let slash = UInt8(ascii: "/")
    return indices.dropLast(2).first {
      self[$0] == UInt8(ascii: ":") && self[$0 + 1] == slash && self[$0 + 2] == slash
    }
  }
}

extension UInt8 {
  fileprivate var isPartOfName: Bool {
    isHostCharacter || self == UInt8(ascii: "%") || self == UInt8(ascii: "~") || self == UInt8(ascii: "+")
  }
}
