/// Checks whether a text's first element is `svg`, after declarations and comments. An HTML page that contains an SVG isn't a
/// picture.
enum SVGSniffer {
  static func sniff(_ head: UnsafeRawBufferPointer) -> FormatSniffer.Verdict {
    if head.count == 1 && head[0] >= 0xFE { return .needMore }
    guard head.count >= 2, head[0] >= 0xFE, head[1] >= 0xFE, head[0] != head[1] else {
      return sniffBytes(head)
    }
    // UTF-16: judge its ASCII characters.
    let low = head[0] == 0xFF ? 0 : 1
    let narrow = stride(from: 2, to: head.count - 1, by: 2).map { at in
      head[at + 1 - low] == 0 ? head[at + low] : UInt8(ascii: "?")
    }
    return narrow.withUnsafeBytes { sniffBytes($0) }
  }

  private static func sniffBytes(_ head: UnsafeRawBufferPointer) -> FormatSniffer.Verdict {
    var rest = head[...]
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if head.count < mark.count && head.elementsEqual(mark.prefix(head.count)) { return .needMore }
    if rest.starts(with: mark) { rest = rest.dropFirst(mark.count) }
    while true {
      rest = rest.drop { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) }
      guard let first = rest.first else { return .needMore }
      guard first == UInt8(ascii: "<") else { return .unknown }
      if rest.count < 4 && "<!--".utf8.starts(with: rest) { return .needMore }
      if rest.starts(with: "<!--".utf8) {
        guard let end = endOf("-->", in: rest.dropFirst(4)) else { return .needMore }
        rest = rest[end...]
      } else if rest.starts(with: "<?".utf8) {
        guard let end = endOf("?>", in: rest.dropFirst(2)) else { return .needMore }
        rest = rest[end...]
      } else if rest.starts(with: "<!".utf8) {
        // <!DOCTYPE name …>, maybe with an internal subset in brackets.
        let word = rest.dropFirst(2).prefix(7).map { $0 | 0x20 }
        guard "doctype".utf8.starts(with: word) else { return .unknown }
        let name = rest.dropFirst(9).drop { $0 == 0x20 || ($0 >= 0x09 && $0 <= 0x0D) }
        guard !name.isEmpty else { return .needMore }
        return element(name)
      } else {
        return element(rest.dropFirst())
      }
    }
  }

  private static func element(_ rest: Slice<UnsafeRawBufferPointer>) -> FormatSniffer.Verdict {
    let name = rest.prefix { $0 > 0x20 && !">/[".utf8.contains($0) }
    if name.count == rest.count { return name.count < 64 ? .needMore : .unknown }
    let local = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last
    return local?.elementsEqual("svg".utf8) == true ? .format(.svg) : .unknown
  }

  private static func endOf(_ text: String, in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
    var index = bytes.startIndex
    while index + text.utf8.count <= bytes.endIndex {
      if bytes[index...].starts(with: text.utf8) { return index + text.utf8.count }
      index += 1
    }
    return nil
  }
}
