/// One of the ways in which a server asks who is there (RFC 9110, 11.6.1).
package struct Challenge: Equatable, Sendable {
  /// In lower case.
  package var scheme: String
  /// By their names in lower case; what stood in quotes is without them and their escapes.
  package var parameters: [String: String] = [:]

  package init(_ scheme: String, _ parameters: [String: String] = [:]) {
    self.scheme = scheme
    self.parameters = parameters
  }

  /// Those of one field value, in order. A comma stands between challenges, and between the parameters of one, too.
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
      // Or it is a single word, as of NTLM; nobody asks for that here.
      if !first.isEmpty, let value = parameter(more) {
        challenges[challenges.count - 1].parameters[first] = value
      }
    }
    return challenges
  }

  /// What stands between commas that are in no quotes.
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

  /// The token that it begins with, in lower case, and what follows; no white space before either.
  private static func token(_ bytes: ArraySlice<UInt8>) -> (String, rest: ArraySlice<UInt8>) {
    let trimmed = bytes.drop(while: \.isHeaderSpace)
    let name = trimmed.prefix(while: \.isTokenCharacter)
    let rest = trimmed.dropFirst(name.count).drop(while: \.isHeaderSpace)
    return (String(decoding: name.map(\.lowercased), as: UTF8.self), rest)
  }

  /// The value behind `=`; nil where none begins.
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
  /// Whether it is a Digest that covers the body, too, and none without (RFC 7616, 3.4: `auth-int` alone).
  package var coversBody: Bool {
    guard scheme == "digest", let ways = parameters["qop"] else { return false }
    let names = ways.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
    return names.contains("auth-int") && !names.contains("auth")
  }
}

extension ResponseHead {
  /// What `WWW-Authenticate` asks for, in order.
  package var challenges: [Challenge] { fields.values("WWW-Authenticate").flatMap(Challenge.all(in:)) }
}
