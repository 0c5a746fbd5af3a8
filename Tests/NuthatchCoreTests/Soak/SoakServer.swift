import Glibc
import ImagingFixtures
import NuthatchBase
import Synchronization
import TestServer

/// Random numbers that can be had again: a soak says with which it began.
struct SoakRandom: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  /// True in so many of a hundred cases.
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

/// What a path holds, whose bytes say of themselves what they are, and a server that changes it, drags it out and fails.
final class SoakServer: Sendable {
  /// What is at a path, by its number.
  enum Kind: Int, CaseIterable {
    case text, small, progressive, png, redirected, locked
  }

  static let paths = 24
  static let variants = 6

  let server: TestServer
  private let versions: Locked<[Int]>
  private let random: Locked<SoakRandom>
  private let faulty = Atomic(true)
  /// Pictures by kind and variant.
  private let pictures: [Kind: [[UInt8]]]

  init(seed: UInt64) throws {
    server = try TestServer.start()
    versions = Locked(Array(repeating: 1, count: Self.paths))
    random = Locked(SoakRandom(seed))
    pictures = Self.makePictures()
    server.on(prefix: "/s/") { [weak self] in self?.answer($0) ?? .status(500) }
    server.on(prefix: "/whole/") { [weak self] in self?.whole($0) ?? .status(500) }
  }

  static func kind(_ path: Int) -> Kind { Kind(rawValue: path % Kind.allCases.count) ?? .text }

  /// The kind of what is sent in the end.
  static func content(_ path: Int) -> Kind {
    switch kind(path) {
    case .redirected: .small
    case .locked: .text
    case let kind: kind
    }
  }

  func url(_ path: Int) -> String { server.url("/s/\(path)") }

  /// A picture without faults, to compare with.
  func url(_ kind: Kind, variant: Int) -> String { server.url("/whole/\(kind.rawValue)/\(variant)") }

  func version(_ path: Int) -> Int { versions.withLock { $0[path] } }

  /// From now on something else is there.
  @discardableResult func change(_ path: Int) -> Int {
    versions.withLock { versions in
      versions[path] += 1
      return versions[path]
    }
  }

  func setFaulty(_ isFaulty: Bool) { faulty.store(isFaulty, ordering: .relaxed) }

  /// The text at a path: it says what it is, and is so long that it comes in several pieces, or not.
  private static func text(_ path: Int, _ version: Int) -> [UInt8] {
    let head = Array("\(path):\(version):".utf8)
    let length = [0, 10, 1000, 40_000, 300_000][(path / Kind.allCases.count + version) % 5]
    return head + [UInt8](repeating: UInt8(truncatingIfNeeded: path &* 31 &+ version), count: length)
  }

  func bytes(_ path: Int, _ version: Int) -> [UInt8] {
    let kind = Self.content(path)
    return pictures[kind].map { $0[version % Self.variants] } ?? Self.text(path, version)
  }

  // MARK: Answers

  private func whole(_ request: ReceivedRequest) -> Script {
    let parts = request.path.split(separator: "/").compactMap { Int($0) }
    guard parts.count == 2, let kind = Kind(rawValue: parts[0]), let all = pictures[kind] else {
      return .status(404)
    }
    return .ok(all[parts[1]])
  }

  private func answer(_ request: ReceivedRequest) -> Script {
    guard let path = Int(request.path.dropFirst("/s/".count)), (0..<Self.paths).contains(path) else {
      return .status(404)
    }
    let dice = random.withLock { random in (0..<6).map { _ in Int.random(in: 0..<100, using: &random) } }
    if dice[0] < 3 { change(path) }
    if request.method == "POST" {
      change(path)
      return .ok("posted")
    }
    if Self.kind(path) == .locked, request.headers["Authorization"] == nil {
      return .status(401, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: "who?")
    }
    if faulty.load(ordering: .relaxed), dice[1] < 20, let fault = fault(path, dice[2], dice[3]) {
      return fault
    }
    if Self.kind(path) == .redirected, request.query.isEmpty {
      return .redirect(to: "/s/\(path)?there", status: [301, 302, 307][dice[2] % 3])
    }
    let version = version(path)
    var script = Script(steps: steps(bytes(path, version), dice[4]))
    script.headers = headers(path, dice[5])
    switch path / Kind.allCases.count % 3 {
    case 0: return script.withValidators(etag: "\"\(path)-\(version)\"")
    case 1: return script.withValidators(etag: "W/\"\(path)-\(version)\"")
    default: return script
    }
  }

  private func headers(_ path: Int, _ dice: Int) -> HeaderLines {
    var headers: HeaderLines = [:]
    switch dice {
    case 0..<50: headers.add("Cache-Control", "max-age=60")
    case 50..<60: headers.add("Cache-Control", "max-age=60, stale-while-revalidate=1000")
    case 60..<65: headers.add("Cache-Control", "no-store")
    case 65..<70: headers.add("Cache-Control", "no-cache")
    case 70..<75: headers.add("Cache-Control", "max-age=60, must-revalidate")
    default: break
    }
    if path % 7 == 3 { headers.add("Vary", "X-Who") }
    return headers
  }

  private func steps(_ bytes: [UInt8], _ dice: Int) -> [Script.Step] {
    switch dice {
    case 0..<40: return [.bytes(bytes)]
    case 40..<55:
      let half = bytes.count / 2
      return [.bytes(Array(bytes[..<half])), .pause(milliseconds: dice - 40), .bytes(Array(bytes[half...]))]
    case 55..<70: return [.head, .pause(milliseconds: 3), .bytes(bytes)]
    case 70..<85: return [.drip(bytes, piece: 50_000, milliseconds: 1)]
    default:
      let third = bytes.count / 3
      return [.chunk(Array(bytes[..<third])), .chunk(Array(bytes[third...])), .lastChunk]
        .filter { $0 != .chunk([]) }
    }
  }

  private func fault(_ path: Int, _ dice: Int, _ place: Int) -> Script? {
    let bytes = bytes(path, version(path))
    let part = Array(bytes[..<(bytes.count * place / 100)])
    switch dice {
    case 0..<15: return .status(503, headers: ["Retry-After": "0"], body: "later")
    case 15..<25: return .status(500)
    case 25..<35: return .status(404)
    case 35..<45: return Script(steps: [.reset])
    case 45..<60:
      return Script(headers: ["Content-Length": "\(bytes.count + 1)"], steps: [.bytes(part), .reset])
    case 60..<75: return .truncated(announced: bytes.count + 1, sent: part)
    case 75..<80: return .raw("what?\r\n\r\n")
    case 80..<85:
      let chunk = part.isEmpty ? Array(bytes.prefix(1)) : part
      return Script(steps: [.chunk(chunk), .badChunk(text: "zz\r\n")])
    case 85..<90: return Script(steps: [.pause(milliseconds: 200), .bytes(bytes)])
    case 90..<92: return .redirect(to: "/s/\(path)")
    default: return nil
    }
  }

  // MARK: Pictures

  private static func makePictures() -> [Kind: [[UInt8]]] {
    // Noise, because that stays large.
    let size = 700 * 500 * 3
    var samples = [UInt8](repeating: 0, count: size + variants * 9973)
    var random = SoakRandom(1)
    samples.withUnsafeMutableBytes { bytes in
      for at in stride(from: 0, to: bytes.count - 8, by: 8) {
        bytes.storeBytes(of: random.next(), toByteOffset: at, as: UInt64.self)
      }
    }
    var result: [Kind: [[UInt8]]] = [:]
    for variant in 0..<variants {
      samples.withUnsafeBufferPointer { samples in
        guard let start = samples.baseAddress.map({ $0 + variant * 9973 }) else { return }
        for kind in [Kind.small, .progressive] {
          var options = nht_jpeg_options()
          let isLarge = kind == .progressive
          (options.width, options.height) = isLarge ? (700, 500) : (120, 90)
          options.color = Int32(NHT_YCC)
          (options.horizontal, options.vertical) = (2, 2)
          (options.quality, options.is_progressive) = (92, isLarge ? 1 : 0)
          var count = 0
          guard let made = nht_jpeg(&options, start, &count) else { continue }
          result[kind, default: []].append(Array(UnsafeBufferPointer(start: made, count: count)))
          free(made)
        }
        var options = nht_png_options()
        (options.width, options.height, options.depth, options.color_type) = (90, 60, 8, 6)
        options.level = 1
        var count = 0
        guard let made = nht_png(&options, start, &count) else { return }
        result[.png, default: []].append(Array(UnsafeBufferPointer(start: made, count: count)))
        free(made)
      }
    }
    return result
  }
}
