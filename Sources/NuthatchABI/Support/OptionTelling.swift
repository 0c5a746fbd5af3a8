import CNuthatch
import NuthatchCore

// Converts values of options to C. Options+Telling, made from options.toml, has the rest.

func told(_ limit: Request.Limit?) -> Int64 {
  switch limit {
  case nil: 0
  case Request.Limit.none?: .max
  case .milliseconds(let count)?: told(count)
  }
}

/// Zero is written as NH_NONE, because 0 means "not set".
func told<Number: FixedWidthInteger>(_ number: Number?) -> Int64 {
  guard let number else { return 0 }
  return number == 0 ? .min : Int64(clamping: number)
}

func told(_ share: Double?) -> Double {
  guard let share else { return 0 }
  return share == 0 ? Double(Int64.min) : share
}

func told(_ lifetime: Duration?) -> Int64 {
  guard let (seconds, rest) = lifetime?.components else { return 0 }
  return seconds >= .max / 1000 ? .max : told(seconds * 1000 + rest / 1_000_000_000_000_000)
}

func told(_ flag: Bool?) -> nh_choice { flag.map { $0 ? NH_YES : NH_NO } ?? NH_UNSAID }

extension nh_options {
  mutating func tellProxy(_ proxy: String?, _ texts: ToldTexts) {
    // The password is hidden.
    self.proxy = texts.pointer(proxy.map { $0.isEmpty ? "" : Request($0).shownURL })
  }

  mutating func tellNetrc(_ netrc: Netrc?, _ texts: ToldTexts) {
    switch netrc {
    case nil: self.netrc = nil
    case .off?: self.netrc = UnsafePointer(bitPattern: UInt.max)
    case .standard?: self.netrc = texts.pointer("")
    case .file(let path)?: self.netrc = texts.pointer(path)
    }
  }

  mutating func tellCert(_ cert: ClientCertificate?, _ texts: ToldTexts) {
    self.cert = texts.pointer(cert?.path)
    cert_key = texts.pointer(cert?.key)
  }

  mutating func tellKeepHeadersAcrossOrigins(_ names: [String], _ texts: ToldTexts) {
    keep_headers_across_origins = texts.pointer(names.isEmpty ? nil : names.joined(separator: ","))
  }

  mutating func tellAsks(_ kinds: Set<Question.Kind>, _ texts: ToldTexts) {
    asks = kinds.reduce(0) { $0 | UInt64($1.bit) }
  }

  mutating func tellHeaders(_ lines: [(name: String, value: String)], _ texts: ToldTexts) {
    headers = texts.headers(lines)
    header_count = lines.count
  }
}

/// Texts of options that were returned for a cache or a site, valid as long as its handle. The options never change, so the
/// number of texts is limited.
final class ToldTexts: @unchecked Sendable {
  private let arenas = Locked<[String: StringArena]>([:])
  // Guarded by the same lock, hence Sendable.
  private var lines: UnsafeMutablePointer<nh_header>?

  func pointer(_ text: String?) -> UnsafePointer<CChar>? {
    guard let text else { return nil }
    return arenas.withLock { arenas in
      let arena = arenas[text] ?? StringArena([text])
      arenas[text] = arena
      return arena[0]
    }
  }

  func headers(_ said: [(name: String, value: String)]) -> UnsafePointer<nh_header>? {
    guard !said.isEmpty else { return nil }
    let told = said.map { line in
      let value = Request.isSecret(header: line.name) ? "***" : line.value
      return nh_header(name: pointer(line.name), value: pointer(value))
    }
    return arenas.withLock { _ in
      if lines == nil {
        let room = UnsafeMutablePointer<nh_header>.allocate(capacity: told.count)
        room.initialize(from: told, count: told.count)
        lines = room
      }
      return UnsafePointer(lines)
    }
  }

  deinit { lines?.deallocate() }
}
