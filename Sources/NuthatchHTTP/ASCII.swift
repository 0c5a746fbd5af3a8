// The classes of ASCII characters in the grammars of URLs and header fields. They use ranges and cases instead of searches in
// strings, because they run for every byte of every URL.

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  var isLetter: Bool { lowercased >= UInt8(ascii: "a") && lowercased <= UInt8(ascii: "z") }
  var isHexDigit: Bool { hexValue != nil }

  /// The byte with an ASCII capital in lower case; other bytes unchanged.
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

  /// White space around the parts of a field value.
  var isHeaderSpace: Bool { self == 0x20 || self == 0x09 }

  var isSchemeCharacter: Bool { isLetter || isDigit || isOne(of: "+", "-", ".") }

  /// Letters, digits, hyphen and dot; and the underscore, which some real host names contain.
  var isHostCharacter: Bool { isLetter || isDigit || isOne(of: "-", ".", "_") }

  /// RFC 9110's `tchar`, the characters of methods and field names.
  var isTokenCharacter: Bool {
    if isLetter || isDigit { return true }
    switch Unicode.Scalar(self) {
    case "!", "#", "$", "%", "&", "'", "*", "+", "-", ".", "^", "_", "`", "|", "~": return true
    default: return false
    }
  }

  /// Printable ASCII without the few characters that URLs exclude. `%` is allowed: it begins an escape or stands alone.
  var mayStandInTarget: Bool {
    guard self > 0x20, self < 0x7f else { return false }
    switch Unicode.Scalar(self) {
    case "\"", "<", ">", "\\", "^", "`", "{", "|", "}": return false
    default: return true
    }
  }

  /// Whether the authority of a URL ends here.
  var endsAuthority: Bool { isOne(of: "/", "?", "#") }

  private func isOne(of first: Unicode.Scalar, _ second: Unicode.Scalar, _ third: Unicode.Scalar) -> Bool {
    let scalar = Unicode.Scalar(self)
    return scalar == first || scalar == second || scalar == third
  }
}
