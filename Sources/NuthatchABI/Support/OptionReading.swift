import CNuthatch
import NuthatchCore

// Reads the members of nh_options that have another form in Swift. Options+Reading, made from the table, reads the rest.

/// - Throws: `invalid`, also for what this level doesn't have.
func read(
  _ pointer: UnsafePointer<nh_options>?, for level: OptionLevel
) throws(NuthatchError) -> nh_options {
  guard let pointer else { return nh_options() }
  let size = pointer.pointee.struct_size
  guard size == 0 || size >= nh_oldest_options_size else {
    throw NuthatchError(
      .invalid,
      "options has \(size) bytes, as in version 0.1, whose options were others: compile with a newer nuthatch.h"
    )
  }
  let raw = try readSized(pointer, zero: nh_options(), "options")
  try raw.check(level)
  return raw
}

extension nh_options {
  /// Of a member that must be 0: a newer version has something in its place.
  func newer(_ member: KeyPath<nh_options, UInt32>) -> NuthatchError {
    .newerMember(of: "options", at: MemoryLayout<nh_options>.offset(of: member) ?? 0)
  }
}

extension Options {
  /// What a C program says for a cache, a site or the process.
  init(_ raw: nh_options) throws(NuthatchError) {
    self.init()
    try take(raw)
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
      throw NuthatchError(.invalid, "password is said without user")
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
  guard count != 0 else { return [] }
  guard let lines else { throw .null(name) }
  guard (1...1000).contains(count) else { throw NuthatchError(.invalid, "\(name): more than 1000 headers") }
  var headers: [(name: String, value: String)] = []
  for index in 0..<count {
    headers.append(
      (
        try string(lines[index].name, "\(name)[\(index)].name"),
        try string(lines[index].value, "\(name)[\(index)].value")
      ))
  }
  return headers
}
