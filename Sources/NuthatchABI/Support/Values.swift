import CNuthatch
import NuthatchCore

// Numbers as C programs give them: 0 for "not given", negative for "none".

/// A limit in time: 0 for the default, negative for none.
func limit(_ milliseconds: Int64, default standard: Request.Limit) -> Request.Limit {
  given(milliseconds: milliseconds) ?? standard
}

func given(milliseconds: Int64) -> Request.Limit? {
  milliseconds == 0 ? nil : milliseconds < 0 ? Request.Limit.none : .milliseconds(milliseconds)
}

/// A limit in bytes or pixels.
func given(limit: Int64) -> Int64? { limit == 0 ? nil : limit < 0 ? .max : limit }

/// An amount, of which "none" is 0.
func given(amount: Int64) -> Int64? { amount == 0 ? nil : max(0, amount) }

func given(share: Double, _ name: String) throws(NuthatchError) -> Double? {
  guard share == share, share <= 1 else {
    throw NuthatchError(.invalid, "\(name) is more than 1, or no number")
  }
  return share == 0 ? nil : max(0, share)
}

func given(_ text: UnsafePointer<CChar>?, _ name: String) throws(NuthatchError) -> String? {
  text == nil ? nil : try string(text, name)
}

func given(netrc path: UnsafePointer<CChar>?, _ name: String) throws(NuthatchError) -> Netrc? {
  try given(path, name).map { $0.isEmpty ? .standard : .file($0) }
}

/// - Throws: `invalid` for bits that no question has.
func given(questions: UInt32) throws(NuthatchError) -> Set<Question.Kind> {
  let known = Question.Kind.allCases.filter { questions & $0.bit != 0 }
  guard known.reduce(0, { $0 | $1.bit }) == questions else {
    throw NuthatchError(.invalid, "questions has bits that no nh_question has")
  }
  return Set(known)
}

/// What a number of one of C's enumerations stands for.
///
/// - Throws: `invalid` for a number that the enumeration doesn't have.
func chosen<Number: Equatable, Value>(
  _ number: Number, _ name: String, among values: KeyValuePairs<Number, Value>
) throws(NuthatchError) -> Value {
  guard let (_, value) = values.first(where: { $0.key == number }) else {
    throw NuthatchError(.invalid, "\(name) is no \(Number.self)")
  }
  return value
}

func given(_ choice: nh_choice, _ name: String) throws(NuthatchError) -> Bool? {
  try chosen(choice, name, among: [NH_UNSAID: nil, NH_YES: true, NH_NO: false])
}

func given(_ policy: nh_policy, _ name: String) throws(NuthatchError) -> Policy? {
  try chosen(
    policy, name,
    among: [
      NH_POLICY_UNSAID: nil, NH_POLICY_KIT: .kit, NH_POLICY_RFC9111: .rfc9111, NH_POLICY_OFFLINE: .offline,
      NH_POLICY_RELOAD: .reload,
    ])
}

func given(_ grade: nh_guard, _ name: String) throws(NuthatchError) -> Addresses? {
  try chosen(
    grade, name,
    among: [
      NH_GUARD_UNSAID: nil, NH_GUARD_GUARDED: .guarded, NH_GUARD_PUBLIC: .public, NH_GUARD_ANY: .any,
    ])
}

func boxMode(_ mode: nh_mode, _ name: String) throws(NuthatchError) -> ThumbnailBox.Mode {
  try chosen(mode, name, among: [NH_MODE_FIT: .fit, NH_MODE_FILL: .fill, NH_MODE_EXACT: .exact])
}

func boxQuality(_ quality: nh_quality, _ name: String) throws(NuthatchError) -> ThumbnailBox.Quality {
  try chosen(quality, name, among: [NH_QUALITY_BEST: .best, NH_QUALITY_FAST: .fast])
}

/// A lifetime in seconds, of which "none" is 0.
func given(lifetime seconds: Int64) -> Duration? { given(amount: seconds).map { .seconds($0) } }
