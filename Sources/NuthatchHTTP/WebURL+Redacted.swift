extension WebURL {
  /// Returns `text` for messages with any password hidden, also if it isn't a valid URL.
  ///
  /// A password may contain a slash, or the scheme may be missing. In doubt, everything from the scheme to the last `@` is
  /// hidden. A text too long for a URL, and a `data:` URL of more than 100 bytes, are cut.
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

  /// Returns nil if there is nothing to hide.
  private static func redacted(_ bytes: [UInt8]) -> String? {
    guard let lastAt = bytes.lastIndex(of: UInt8(ascii: "@")) else { return nil }
    func hiding(_ start: Int, _ at: Int, _ userinfo: [UInt8]) -> String {
      String(decoding: bytes[..<start] + userinfo + bytes[at...], as: UTF8.self)
    }
    guard let start = authority(of: bytes) else { return hiding(0, lastAt, hidden) }
    let end = bytes[start...].firstIndex(where: \.endsAuthority) ?? bytes.endIndex
    let port = bytes[start..<end].firstIndex(of: UInt8(ascii: ":")).map { bytes[($0 + 1)..<end] }
    // An invalid port may be the beginning of a password. After a second scheme (`http://http://`) a whole URL may follow.
    let isOdd =
      port.map { $0.isEmpty || !$0.allSatisfy(\.isDigit) } ?? bytes[end...].starts(with: "//".utf8)
    if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")), !isOdd || at == lastAt {
      return hiding(start, at, hidden(bytes[start..<at]))
    }
    return isOdd ? hiding(start, lastAt, hidden) : nil
  }

  /// Returns the shown form of a userinfo: `name:***`, or only `***`. A name without a password, or a long one, may be a token.
  static func hidden(_ userinfo: ArraySlice<UInt8>) -> [UInt8] {
    let colon = UInt8(ascii: ":")
    let name = userinfo.prefix { $0 != colon }
    let isName = (1...32).contains(name.count) && name.allSatisfy(\.isPartOfName)
    guard isName, userinfo.count > name.count + 1 else { return hidden }
    return name + [colon] + hidden
  }

  private static let hidden = Array("***".utf8)

  /// Returns the start of the authority; nil if anything but a scheme, with or without blanks, precedes it.
  private static func authority(of bytes: [UInt8]) -> Int? {
    guard let end = bytes.schemeEnd else { return nil }
    let scheme = bytes[..<end].drop { $0 <= 0x20 }
    return !scheme.isEmpty && scheme.allSatisfy(\.isSchemeCharacter) ? end + 3 : nil
  }
}

extension [UInt8] {
  /// The offset of the first `://`. A plain loop, because a search for a sequence takes a hundred times as long.
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
