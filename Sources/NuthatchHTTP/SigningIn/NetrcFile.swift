/// Reads users and passwords from a `.netrc`.
package enum NetrcFile {
  /// Returns user and password for a host, or those of `default`, or nil.
  package static func entry(for host: String, in text: [UInt8]) -> (user: [UInt8], password: [UInt8])? {
    var words = Words(text)
    var (user, password): ([UInt8]?, [UInt8]?) = (nil, nil)
    var isMeant = false
    while let word = words.next() {
      switch String(decoding: word, as: UTF8.self) {
      case "machine", "default":
        if let user, isMeant { return (user, password ?? []) }
        (user, password) = (nil, nil)
        isMeant =
          word.count == 7 && word.first == UInt8(ascii: "d") || words.next().map { host.matches($0) } == true
      case "login": if let next = words.next(), isMeant { user = next }
      case "password": if let next = words.next(), isMeant { password = next }
      case "account": _ = words.next()
      case "macdef": words.skipMacro()
      default: break
      }
    }
    guard let user, isMeant else { return nil }
    return (user, password ?? [])
  }

  /// Words are separated by white space. Inside quotes, white space belongs to the word, and `\` escapes the next character.
  private struct Words {
    private var rest: ArraySlice<UInt8>

    init(_ text: [UInt8]) { rest = text[...] }

    mutating func next() -> [UInt8]? {
      while let byte = rest.first {
        if byte == UInt8(ascii: "#") {
          rest = rest.drop { $0 != 10 }
        } else if byte <= 32 {
          rest = rest.dropFirst()
        } else {
          return byte == UInt8(ascii: "\"") ? quoted() : bare()
        }
      }
      return nil
    }

    private mutating func bare() -> [UInt8] {
      let word = rest.prefix { $0 > 32 }
      rest = rest[word.endIndex...]
      return Array(word)
    }

    private mutating func quoted() -> [UInt8] {
      var word: [UInt8] = []
      rest = rest.dropFirst()
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
          word.append(byte)
          continue
        }
        switch next {
        case UInt8(ascii: "n"): word.append(10)
        case UInt8(ascii: "r"): word.append(13)
        case UInt8(ascii: "t"): word.append(9)
        default: word.append(next)
        }
      }
      return word
    }

    /// Skips a macro, which ends with an empty line.
    mutating func skipMacro() {
      var isEmpty = false
      while let byte = rest.popFirst() {
        if byte == 10, isEmpty { return }
        isEmpty = byte == 10 || isEmpty && byte == 13
      }
    }
  }
}

extension String {
  fileprivate func matches(_ word: [UInt8]) -> Bool {
    equalsIgnoringCase(String(decoding: word, as: UTF8.self))
  }
}
