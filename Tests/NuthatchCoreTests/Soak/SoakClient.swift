import Glibc
import NuthatchTransport
import Synchronization
import TestServer
import Testing

@testable import NuthatchCore

/// A directory that is soaked, and what must hold of its answers from now on.
final class SoakTarget: Sendable {
  let path: String
  let cache: Cache
  let options: TestOptions
  /// The version of each path below which no answer may be.
  private let floors = Locked<[Int]>(Array(repeating: 0, count: SoakServer.paths))

  init(_ path: String, _ options: TestOptions) throws {
    (self.path, self.options) = (path, options)
    cache = try Cache(path: path, options: options)
  }

  func floor(_ path: Int) -> Int { floors.withLock { $0[path] } }

  func raise(_ path: Int, to version: Int) {
    floors.withLock { $0[path] = max($0[path], version) }
  }
}

/// The random requests and other calls of one thread. Sendable, because no other thread touches it
/// meanwhile.
final class SoakClient: @unchecked Sendable {
  /// What a request must get.
  private struct Wish {
    let path: Int
    let sizes: [Int]
    /// The version below which no answer may be.
    let floor: Int
    let isLimited: Bool
    let finals = Collected<Event.Kind>()
  }

  static let sizes = [16, 40, 100, 300]

  private let server: SoakServer
  private let targets: [SoakTarget]
  private let references: SoakReferences
  private let clock: TestClock
  private let name: String
  private var random: SoakRandom
  private var open: [(ticket: Ticket, wish: Wish)] = []
  private var settled: [Wish] = []
  private(set) var requests = 0
  private(set) var answers = 0
  /// What went wrong.
  private(set) var complaints: [String] = []

  init(
    _ server: SoakServer, _ targets: [SoakTarget], _ references: SoakReferences, _ clock: TestClock,
    seed: UInt64
  ) {
    (self.server, self.targets, self.references, self.clock) = (server, targets, references, clock)
    name = "client\(seed % 4)"
    random = SoakRandom(seed)
  }

  func run(_ steps: Int) {
    for _ in 0..<steps {
      let target = targets[Int.random(in: 0..<targets.count, using: &random)]
      step(target)
      while open.count > 24 { settleOne() }
    }
    while !open.isEmpty { settleOne() }
    // Observers hear of it right after the waiting thread.
    for wish in settled {
      for _ in 0..<3000 where wish.finals.values.isEmpty { usleep(10_000) }
      if wish.finals.values.count != 1 { complain("final events: \(wish.finals.values)", wish.path) }
    }
    settled = []
  }

  private func step(_ target: SoakTarget) {
    let path = Int.random(in: 0..<SoakServer.paths, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<55: submit(path, target, to: target.cache)
    case 55..<65: for _ in 0..<8 { submit(path, target, to: target.cache) }
    case 65..<75: open.randomElement(using: &random)?.ticket.cancel()
    case 75..<78:
      open.randomElement(using: &random)?.ticket.setPriority(Int.random(in: -10...10, using: &random))
    case 78..<79: target.cache.cancelAll(tag: name)
    case 79..<84: forget(path, target)
    case 84..<88: peek(path, target)
    case 88..<91: visit(target)
    case 91..<93: clock.advance(seconds: Int64.random(in: 1...100, using: &random))
    case 93..<94: server.server.resetConnections(next: 1)
    case 94..<95: try? target.cache.flush()
    // Only this cache: tests that run at the same time want theirs in memory.
    case 95..<96: target.cache.shared.store.relieve(random.chance(50) ? .warning : .critical)
    case 96..<97: try? target.cache.trim(to: 2 << 20)
    case 97..<98: post(path, target)
    default: settleOne()
    }
  }

  // MARK: Requests

  private func submit(_ path: Int, _ target: SoakTarget, to cache: Cache) {
    var request = Request(server.url(path))
    var sizes: [Int] = []
    if SoakServer.content(path) != .text, random.chance(70) {
      sizes = Array(Self.sizes.shuffled(using: &random).prefix(random.chance(70) ? 1 : 2))
      request.boxes = sizes.map { ThumbnailBox($0) }
      request.earlyStop = random.chance(50)
    }
    request.tag = random.chance(50) ? name : nil
    request.priority = Int.random(in: -10...10, using: &random)
    request.delivery = [.twice, .first, .fresh].randomElement(using: &random) ?? .twice
    request.progressEvents = random.chance(30)
    request.retries = Int.random(in: 0...2, using: &random)
    request.deadline = .milliseconds(60_000)
    if random.chance(8) { request.deadline = .milliseconds(Int64.random(in: 1...100, using: &random)) }
    if random.chance(5) { request.timeout = .milliseconds(Int64.random(in: 1...50, using: &random)) }
    let isLimited = random.chance(5)
    if isLimited { request.maxBytes = 30_000 }
    if random.chance(10) { request.headers = [("X-Who", "w\(Int.random(in: 0...1, using: &random))")] }
    if random.chance(10) { request.asks.insert(.verdict) }
    if random.chance(5) { request.asks.insert(.headers) }
    if SoakServer.kind(path) == .locked { request.asks.insert(.credentials) }
    var floor = target.floor(path)
    if random.chance(5) {
      request.policy = .reload
      floor = max(floor, random.chance(50) ? server.change(path) : server.version(path))
    } else if random.chance(5) {
      request.policy = random.chance(50) ? .rfc9111 : .offline
    }
    requests += 1
    do {
      let ticket = try cache.submit(request)
      let wish = Wish(path: path, sizes: sizes, floor: floor, isLimited: isLimited)
      ticket.whenFinal { wish.finals.add($0.kind) }
      // Some tickets are dropped and go on by themselves, but their questions would stay without an answer.
      if !request.asks.isEmpty || random.chance(85) { open.append((ticket, wish)) }
    } catch {
      complain("submit: \(error)", path)
    }
  }

  /// What was taken out, or was posted to, must not come back.
  private func forget(_ path: Int, _ target: SoakTarget) {
    let version = server.change(path)
    do {
      try target.cache.remove(server.url(path))
      // Under RFC 9111 what a redirect leads to is kept by itself.
      if SoakServer.kind(path) == .redirected { try target.cache.remove(server.url(path) + "?there") }
      // A request with credentials has an entry of its own.
      if SoakServer.kind(path) != .locked { target.raise(path, to: version) }
    } catch {
      complain("remove: \(error)", path)
    }
  }

  private func post(_ path: Int, _ target: SoakTarget) {
    var request = Request(server.url(path))
    request.method = "POST"
    request.body = [1]
    request.retries = 0
    guard let ticket = try? target.cache.submit(request) else { return complain("no POST", path) }
    if (try? ticket.final(within: 60_000)) == nil { complain("a POST without an end", path) }
  }

  private func peek(_ path: Int, _ target: SoakTarget) {
    guard SoakServer.content(path) != .text, let size = Self.sizes.randomElement(using: &random) else {
      return
    }
    let floor = target.floor(path)
    do {
      guard let image = try target.cache.peek(server.url(path), size: size, decode: random.chance(50)) else {
        return
      }
      if !image.isInCache || image.isStale { complain("peek shows what isn't there, or is stale", path) }
      check([image], Wish(path: path, sizes: [size], floor: floor, isLimited: false))
    } catch {
      complain("peek: \(error)", path)
    }
  }

  /// Another handle on the directory, closed while its requests are under way.
  private func visit(_ target: SoakTarget) {
    guard let other = try? Cache(path: target.path, options: target.options) else {
      return complain("no second handle", 0)
    }
    let before = open.count
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      submit(Int.random(in: 0..<SoakServer.paths, using: &random), target, to: other)
    }
    if random.chance(50) { usleep(UInt32.random(in: 0...20_000, using: &random)) }
    if random.chance(30) { other.shutdown() }
    other.close()
    if other.activity != 0 { complain("closed, and \(other.activity) are under way", 0) }
    // Their ends are there.
    for (ticket, wish) in open.dropFirst(before) where ticket.isOpen {
      complain("open after close", wish.path)
    }
  }

  // MARK: Answers

  private func settleOne() {
    guard let place = open.indices.randomElement(using: &random) else { return }
    let (ticket, wish) = open.remove(at: place)
    var hasShown = false
    do {
      while true {
        guard let event = try ticket.next(within: 90_000) else {
          return complain("no end: \(ticket.state)", wish.path)
        }
        if let question = event.question {
          // It may have ended meanwhile.
          try? ticket.answer(question, reply(to: question))
        }
        if event.kind == .cached, !event.isFinal {
          if hasShown { complain("shown twice", wish.path) }
          hasShown = true
        }
        check(event, wish)
        if event.isFinal { break }
      }
    } catch {
      complain("next: \(error)", wish.path)
    }
    let surplus = try? ticket.next(within: 0)
    if surplus != nil { complain("an event after the final one", wish.path) }
    settled.append(wish)
  }

  private func reply(to question: Question) -> Reply {
    switch question.kind {
    case .headers: random.chance(50) ? .headers([("X-Who", "asked")]) : .pass
    case .credentials: random.chance(80) ? .credentials(name: "ann", password: "pw") : .pass
    case .challenge: random.chance(50) ? .headers([("X-Who", "challenged")]) : .pass
    case .verdict:
      [.accept, .pass, .accept, .reject("no good"), .retry].randomElement(using: &random) ?? .pass
    }
  }

  private static let mayHappen: Set<ErrorCode> = [
    .timeout, .reset, .refused, .http, .truncated, .cancelled, .closed, .circuitOpen, .tooManyRedirects,
    .offline,
  ]

  private func check(_ event: Event, _ wish: Wish) {
    if let error = event.error {
      if error.code == .tooLarge, wish.isLimited { return }
      // An answer that is cut off at a place of its own length, or an error page.
      if !Self.mayHappen.contains(error.code) { complain("\(error)", wish.path) }
      return
    }
    switch event.kind {
    case .progress, .question, .data: return
    case .cached, .unchanged: if !event.isInCache { complain("\(event.kind) isn't in the cache", wish.path) }
    case .fresh:
      if event.isInCache || event.source != .network {
        complain("fresh from \(event.source as Any)", wish.path)
      }
    case .failed, .cancelled, .frozen: complain("\(event.kind) without an error", wish.path)
    }
    answers += 1
    if wish.sizes.isEmpty, let response = event.response {
      check(response, wish)
    } else {
      check(event.images, wish)
    }
  }

  private func check(_ response: Response, _ wish: Wish) {
    guard response.status == 200 else {
      if ![401, 404, 500, 503, 504].contains(response.status) {
        complain("HTTP \(response.status)", wish.path)
      }
      return
    }
    let versions = wish.floor...server.version(wish.path)
    let isRight = response.withBody { bytes in
      versions.reversed().contains { areSame(server.bytes(wish.path, $0), bytes) }
    }
    if isRight { return }
    let begin = response.withBody { String(decoding: $0.prefix(10), as: UTF8.self) }
    complain(
      "\(response.bodySize) bytes, \(begin.debugDescription), not of \(versions); \(response.source)",
      wish.path)
  }

  private func check(_ images: [Image], _ wish: Wish) {
    guard images.count == wish.sizes.count else {
      return complain("\(images.count) images for \(wish.sizes)", wish.path)
    }
    let versions = wish.floor...server.version(wish.path)
    let variants = Set(versions.suffix(SoakServer.variants).map { $0 % SoakServer.variants })
    for (image, size) in zip(images, wish.sizes) {
      let shown = references.variant(of: image, SoakServer.content(wish.path), size)
      if shown.map(variants.contains) != true {
        complain(
          "\(size) of \(wish.sizes) shows \(shown as Any), not one of \(versions); \(image.source)", wish.path
        )
      }
    }
  }

  private func complain(_ what: String, _ path: Int) {
    complaints.append("/s/\(path) (\(SoakServer.kind(path))): \(what)")
  }
}

/// What the pictures look like in all sizes.
final class SoakReferences: Sendable {
  private struct Key: Hashable {
    let kind: SoakServer.Kind
    let size: Int
    let variant: Int
  }

  private let all: [Key: [UInt8]]

  init(_ server: SoakServer, _ cache: Cache) throws {
    var all: [Key: [UInt8]] = [:]
    for kind in [SoakServer.Kind.small, .progressive, .png] {
      for variant in 0..<SoakServer.variants {
        let whole = try cache.get(server.url(kind, variant: variant))
        for size in SoakClient.sizes {
          let image = try whole.image(ImageOptions(ThumbnailBox(size)))
          all[Key(kind: kind, size: size, variant: variant)] = image.withPixels { Array($0) }
        }
      }
    }
    self.all = all
  }

  /// Returns the variant that an image shows. The pixels are compared exactly, except for those made of a larger thumbnail
  /// because the body is gone; a request that waited for another handle's fetch may get such a picture, too.
  func variant(of image: Image, _ kind: SoakServer.Kind, _ size: Int) -> Int? {
    let known = (0..<SoakServer.variants).map { all[Key(kind: kind, size: size, variant: $0)] ?? [] }
    return image.withPixels { pixels in
      if let exact = known.firstIndex(where: { areSame($0, pixels) }) { return exact }
      let apart = known.enumerated().map { (variant: $0.offset, sum: distance($0.element, pixels)) }
        .sorted { $0.sum < $1.sum }
      return apart[0].sum < apart[1].sum / 2 ? apart[0].variant : nil
    }
  }
}

private func distance(_ known: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Int {
  guard known.count == bytes.count else { return .max }
  return known.indices.reduce(0) { $0 + abs(Int(known[$1]) - Int(bytes[$1])) }
}

private func areSame(_ known: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
  guard known.count == bytes.count else { return false }
  return known.withUnsafeBytes { known in
    guard let one = known.baseAddress, let other = bytes.baseAddress else { return true }
    return memcmp(one, other, known.count) == 0
  }
}
