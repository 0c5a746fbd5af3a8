// The classes of ASCII characters that the grammars of URLs and header fields are written in. Ranges and cases, not
// searches in strings: every URL asks for every byte of its own.

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  var isLetter: Bool { lowercased >= UInt8(ascii: "a") && lowercased <= UInt8(ascii: "z") }
  var isHexDigit: Bool { hexValue != nil }

  /// The byte with an ASCII capital made small; all others unchanged.
  package var lowercased: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }

  var hexValue: UInt8? {
    switch lowercased {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): lowercased - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// What may stand around the parts of a field value.
  var isHeaderSpace: Bool { self == 0x20 || self == 0x09 }

  var isSchemeCharacter: Bool { isLetter || isDigit || isOne(of: "+", "-", ".") }

  /// Letters, digits, hyphen and dot; the underscore because real host names have it.
  var isHostCharacter: Bool { isLetter || isDigit || isOne(of: "-", ".", "_") }

  /// RFC 9110's `tchar`: what methods and field names are made of.
  var isTokenCharacter: Bool {
    if isLetter || isDigit { return true }
    switch Unicode.Scalar(self) {
    case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": return true
    default: return false
    }
  }

  /// Printable ASCII but for the few that URLs exclude. `%` is kept: it begins an escape or is a stray one.
  var mayStandInTarget: Bool {
    guard self > 0x20, self < 0x7f else { return false }
    switch Unicode.Scalar(self) {
    case "\"", "<", ">", "\\", "^", "`", "{", "|", "}": return false
    default: return true
    }
  }

  /// Where the authority of a URL ends.
  var endsAuthority: Bool { isOne(of: "/", "?", "#") }

  private func isOne(of first: Unicode.Scalar, _ second: Unicode.Scalar, _ third: Unicode.Scalar) -> Bool {
    let scalar = Unicode.Scalar(self)
    return scalar == first || scalar == second || scalar == third
  }
}
