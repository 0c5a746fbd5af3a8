/// An authentication challenge of a server (RFC 9110, 11.6.1).
package struct Challenge: Equatable, Sendable {
  /// In lower case.
  package var scheme: String
  /// By name in lower case. Quoted values are unquoted and unescaped.
  package var parameters: [String: String] = [:]

  package init(_ scheme: String, _ parameters: [String: String] = [:]) {
    self.scheme = scheme
    self.parameters = parameters
  }

  /// Returns the challenges of one field value, in order. Commas separate challenges, and also the parameters of one challenge.
  static func all(in value: String) -> [Challenge] {
    var challenges: [Challenge] = []
    for item in items(Array(value.utf8)) {
      let (name, rest) = token(item)
      guard !name.isEmpty else { continue }
      if let last = challenges.indices.last, let value = parameter(rest) {
        challenges[last].parameters[name] = value
        continue
      }
      challenges.append(Challenge(name))
      let (first, more) = token(rest)
      // Without `=` it is a token68, as in NTLM. No caller needs it.
      if !first.isEmpty, let value = parameter(more) {
        challenges[challenges.count - 1].parameters[first] = value
      }
    }
    return challenges
  }

  /// Splits at commas outside of quotes.
  private static func items(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var items: [ArraySlice<UInt8>] = []
    var (start, isQuoted, isEscaped) = (0, false, false)
    for (place, byte) in bytes.enumerated() {
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: ","), !isQuoted {
        items.append(bytes[start..<place])
        start = place + 1
      }
    }
    return items + [bytes[start...]]
  }

  /// Returns the leading token in lower case, and the rest; white space before each is removed.
  private static func token(_ bytes: ArraySlice<UInt8>) -> (String, rest: ArraySlice<UInt8>) {
    let trimmed = bytes.drop(while: \.isHeaderSpace)
    let name = trimmed.prefix(while: \.isTokenCharacter)
    let rest = trimmed.dropFirst(name.count).drop(while: \.isHeaderSpace)
    return (String(decoding: name.map(\.lowercased), as: UTF8.self), rest)
  }

  /// Returns the value after `=`, or nil if there is no `=`.
  private static func parameter(_ bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.first == UInt8(ascii: "=") else { return nil }
    let value = bytes.dropFirst().drop(while: \.isHeaderSpace)
    guard value.first == UInt8(ascii: "\"") else {
      return String(decoding: value.prefix { !$0.isHeaderSpace }, as: UTF8.self)
    }
    var (text, isEscaped) = ([UInt8](), false)
    for byte in value.dropFirst() {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
        continue
      } else if byte == UInt8(ascii: "\"") {
        break
      }
      text.append(byte)
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension Challenge {
  /// Whether the Digest response must cover the body (RFC 7616, 3.4: `auth-int` without `auth`).
  package var coversBody: Bool {
    guard scheme == "digest", let ways = parameters["qop"] else { return false }
    let names = ways.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
    return names.contains("auth-int") && !names.contains("auth")
  }
}

extension ResponseHead {
  /// The challenges in `WWW-Authenticate`, in order.
  package var challenges: [Challenge] { fields.values("WWW-Authenticate").flatMap(Challenge.all(in:)) }
}
