import CNuthatch
import NuthatchCore

// Converts values of options from C. 0 and NULL mean "not set"; NH_NONE, NH_FOREVER and NH_OFF have their own meanings.

/// Returns a time limit; nil if it isn't set.
func limit(_ milliseconds: Int64) -> Request.Limit? {
  switch milliseconds {
  case 0: nil
  case .min, .max: Request.Limit.none
  default: .milliseconds(milliseconds)
  }
}

/// Like `limit`, with a check of the range: `Options.check` covers only options that Swift has in the same form.
func limit(_ milliseconds: Int64, _ name: String) throws(NuthatchError) -> Request.Limit? {
  let said = limit(milliseconds)
  guard case .milliseconds(let count)? = said, count < 1 else { return said }
  throw NuthatchError(.invalid, "\(name) is \(count) ms; it must be 1 ms or more, or none")
}

/// Returns a lifetime; NH_NONE means zero.
func lifetime(_ milliseconds: Int64) -> Duration? {
  switch milliseconds {
  case 0: nil
  case .min: .zero
  default: .milliseconds(milliseconds)
  }
}

/// - Parameters:
///   - none: the value of NH_NONE; nil if the option refuses it.
///   - greatest: the value of NH_FOREVER.
/// - Throws: `invalid` for NH_NONE if the option refuses it.
func number(
  _ said: Int64, _ name: String, none: Int64?, greatest: Int64
) throws(NuthatchError) -> Int64? {
  switch said {
  case 0: return nil
  case .min:
    guard let none else { throw NuthatchError(.invalid, "\(name) is none; it must be a number") }
    return none
  case .max: return greatest
  default: return said
  }
}

/// Returns a share; NH_NONE means zero.
func share(_ said: Double, _ name: String) throws(NuthatchError) -> Double? {
  // Refuse NaN here. `Options.check` refuses it, too, but its message shows "nan".
  guard said == said else {
    throw NuthatchError(.invalid, "\(name) is not a number; it must be 0 to 1, or none")
  }
  return said == 0 ? nil : said == Double(Int64.min) ? 0 : said == Double(Int64.max) ? 1 : said
}

/// Returns a rate per second; NH_NONE means no limit, as if it weren't set.
func startRate(_ said: Double, _ name: String) throws(NuthatchError) -> Double? {
  said == 0 || said == Double(Int64.min) || said == Double(Int64.max) ? nil : said
}

/// Whether a text is NH_OFF.
func isOff(_ text: UnsafePointer<CChar>?) -> Bool { UInt(bitPattern: text) == .max }

func given(_ text: UnsafePointer<CChar>?, _ name: String) throws(NuthatchError) -> String? {
  text == nil ? nil : try string(text, name)
}

/// Returns the text of an option.
///
/// - Throws: `invalid` for NH_OFF, and for an empty text unless `mayBeEmpty`.
func text(
  _ said: UnsafePointer<CChar>?, _ name: String, mayBeEmpty: Bool = false
) throws(NuthatchError) -> String? {
  guard let text = try given(said, name) else { return nil }
  guard mayBeEmpty || !text.isEmpty else { throw NuthatchError(.invalid, "\(name) is empty") }
  return text
}

/// Returns names that are separated by commas or spaces.
func names(_ said: UnsafePointer<CChar>?, _ name: String) throws(NuthatchError) -> [String]? {
  try text(said, name, mayBeEmpty: true).map { $0.split { $0 == "," || $0 == " " }.map(String.init) }
}

/// - Throws: `invalid` for bits that no question has.
func given(questions: UInt64, _ name: String) throws(NuthatchError) -> Set<Question.Kind> {
  guard questions != 0 else { return [] }
  let known = Question.Kind.allCases.filter { questions & UInt64($0.bit) != 0 }
  guard known.reduce(0, { $0 | UInt64($1.bit) }) == questions else {
    throw NuthatchError(.invalid, "\(name) has bits that aren't values of nh_question")
  }
  return Set(known)
}

/// Returns a C program's array.
///
/// - Throws: `invalid` for NULL, and for more than `most` elements.
func list<Element>(
  _ first: UnsafePointer<Element>?, _ count: Int, _ name: String, most: Int
) throws(NuthatchError) -> UnsafeBufferPointer<Element> {
  guard (0...most).contains(count) else {
    throw NuthatchError(.invalid, "there are \(UInt(bitPattern: count)) \(name); at most \(most) are allowed")
  }
  guard count == 0 || first != nil else { throw .null(name) }
  return UnsafeBufferPointer(start: first, count: count)
}

/// Returns the Swift value for a number of a C enumeration.
///
/// - Throws: `invalid` for a number that the enumeration doesn't have.
func chosen<Number: RawRepresentable & Equatable, Value>(
  _ number: Number, _ name: String, among values: KeyValuePairs<Number, Value>
) throws(NuthatchError) -> Value where Number.RawValue: BinaryInteger {
  guard let (_, value) = values.first(where: { $0.key == number }) else {
    throw .unknownValue(name, number.rawValue, of: "\(Number.self)")
  }
  return value
}

func given(_ choice: nh_choice, _ name: String) throws(NuthatchError) -> Bool? {
  switch choice {
  case NH_UNSAID: nil
  case NH_YES: true
  case NH_NO: false
  default: throw .unknownValue(name, choice.rawValue, of: "nh_choice")
  }
}
