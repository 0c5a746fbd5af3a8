import CNuthatch
import NuthatchCore

// Reads the members of nh_options that have another form in Swift. Options+Reading, made from options.toml, reads the rest.

/// - Throws: `invalid`, also for options that this level doesn't have.
func read(
  _ pointer: UnsafePointer<nh_options>?, for level: OptionLevel
) throws(NuthatchError) -> CallOptions {
  guard let pointer else { return CallOptions(nh_options()) }
  let size = pointer.pointee.struct_size
  guard size == 0 || size >= nh_oldest_options_size else {
    throw NuthatchError(
      .invalid,
      "options has \(size) bytes, as in version 0.1, which had other options: compile with a newer nuthatch.h"
    )
  }
  let said = CallOptions(try readSized(pointer, zero: nh_options(), "options"))
  try said.check(level)
  return said
}

/// A C program's options, and which of them are set. Most of the struct is zero, and is skipped.
struct CallOptions {
  let raw: nh_options
  let words: SaidWords

  init(_ raw: nh_options) {
    self.raw = raw
    words = SaidWords(raw)
  }
}

/// The indices of the 8-byte words of the struct that aren't zero. In the first word, the struct's size is ignored.
struct SaidWords: Sequence, IteratorProtocol {
  private var bits: UInt128 = 0

  init(bits: UInt128) { self.bits = bits }

  init(_ raw: nh_options) {
    withUnsafeBytes(of: raw) { bytes in
      let words = bytes.bindMemory(to: UInt64.self)
      var first = 0
      while first < words.count {
        let next = Swift.min(first + 8, words.count)
        // Most words are zero: eight are checked at once.
        if next < words.count {
          let four = words[first] | words[first + 1] | words[first + 2] | words[first + 3]
          let more = words[first + 4] | words[first + 5] | words[first + 6] | words[first + 7]
          first = four | more == 0 ? next : first
        }
        for word in first..<next where words[word] != 0 { bits |= 1 << UInt128(truncatingIfNeeded: word) }
        first = next
      }
    }
    if raw.policy.rawValue == 0 { bits &= ~1 }
  }

  func has(anyOf other: SaidWords) -> Bool { bits & other.bits != 0 }

  func without(word: Int) -> SaidWords { SaidWords(bits: bits & ~(1 << UInt128(word))) }

  mutating func next() -> Int? {
    guard bits != 0 else { return nil }
    defer { bits &= bits - 1 }
    return bits.trailingZeroBitCount
  }
}

extension nh_options {
  /// Returns the error for a reserved member that isn't 0: a newer version has an option there.
  func newer(_ member: KeyPath<nh_options, UInt32>) -> NuthatchError {
    .newerMember(of: "options", at: MemoryLayout<nh_options>.offset(of: member) ?? 0)
  }
}

extension Options {
  /// The options that a C program sets for a cache, a site or the process.
  init(_ said: CallOptions) throws(NuthatchError) {
    self.init()
    try take(said)
  }

  mutating func takeHeaders(_ raw: nh_options) throws(NuthatchError) {
    let said = try headerList(raw.headers, raw.header_count, "headers")
    if !said.isEmpty { headers = said }
  }

  mutating func takeUser(_ raw: nh_options) throws(NuthatchError) {
    if isOff(raw.user), raw.password == nil { return user = nil }
    if let name = try text(raw.user, "user", mayBeEmpty: true) {
      user = (name, try text(raw.password, "password", mayBeEmpty: true) ?? "")
    } else if raw.password != nil {
      throw NuthatchError(.invalid, "password is set, but user isn't")
    }
  }

  mutating func takeCert(_ raw: nh_options) throws(NuthatchError) {
    let key = try text(raw.cert_key, "cert_key")
    let password = try text(raw.cert_password, "cert_password", mayBeEmpty: true)
    if let path = try text(raw.cert, "cert") {
      cert = ClientCertificate(path, key: key, password: password)
    } else if key != nil || password != nil {
      throw NuthatchError(.invalid, "cert_key and cert_password need cert")
    }
  }

  mutating func takeNetrc(_ raw: nh_options) throws(NuthatchError) {
    if isOff(raw.netrc) {
      netrc = .off
    } else if let path = try text(raw.netrc, "netrc", mayBeEmpty: true) {
      netrc = path.isEmpty ? .standard : .file(path)
    }
  }

  mutating func takeQuestions(_ raw: nh_options) throws(NuthatchError) {
    guard raw.asks | raw.asks_not != 0 else { return }
    let without = try given(questions: raw.asks_not, "asks_not")
    asks.subtract(without)
    asksNot.formUnion(without)
    asks.formUnion(try given(questions: raw.asks, "asks"))
  }
}

func headerList(_ lines: UnsafePointer<nh_header>?, _ count: Int, _ name: String) throws(NuthatchError)
  -> [(name: String, value: String)]
{
  try list(lines, count, name, most: 1000).enumerated().map { (index, line) throws(NuthatchError) in
    (try string(line.name, "\(name)[\(index)].name"), try string(line.value, "\(name)[\(index)].value"))
  }
}
