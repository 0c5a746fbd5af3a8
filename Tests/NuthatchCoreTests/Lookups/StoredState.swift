import NuthatchCore
import Synchronization
import TestServer
import Testing

/// Something that a cache has stored for a URL: how the server answers there, and which fetches store it.
struct StoredState: Sendable, CustomTestStringConvertible {
  enum Body { case picture, cutPicture, text, none }

  /// One of the fetches that store it.
  struct Making: Sendable {
    var sides: [Int] = []
    var maxBytes: Int64?
    var rules = Policy.kit

    func request(_ url: String) -> Request {
      var request = Request(url)
      request.delivery = .fresh
      request.boxes = sides.map { ThumbnailBox($0) }
      request.maxBytes = maxBytes
      if rules != .kit { request.policy = rules }
      return request
    }
  }

  /// A redirect before it.
  struct Hop: Sendable {
    var control: String
    /// Whether it is stored as an answer of its own, and not with the answer that it leads to.
    var isAnswer = true
  }

  var name: String
  /// The `Cache-Control` of the answer. A hundred seconds go by between storing and asking.
  var control: String
  var hasTag = true
  var status = 200
  /// Whether the server has a picture to give, and no error any more, when it is asked again.
  var isMendedLater = false
  var body = Body.picture
  var vary: String?
  var hop: Hop?
  var makings = [Making(sides: StoredState.sides)]
  /// Whether no time goes by between storing and asking.
  var isMadeLate = false
  /// Whether it is removed after it was stored: all of it, or what the redirect leads to.
  var isRemoved = false
  var store = ThumbStore.packed
  var keepsSource = true
  /// Whether nothing is written before memory is short, or the cache is closed.
  var isInMemoryOnly = false

  /// The picture's columns; it has half as many rows.
  var width = 40
  /// The sizes that requests ask for.
  var sides = StoredState.sides
  /// Whether only some of the requests are made: it differs from another state only in how it is kept.
  var isBrief = false

  private static let sides = [16, 8]

  init(_ name: String, _ control: String = "max-age=6000", _ change: (inout StoredState) -> Void = { _ in }) {
    self.name = name
    self.control = control
    change(&self)
  }

  var testDescription: String { name }

  /// Whether thumbnails of just the sizes that are asked for were stored.
  var hasThumbs: Bool {
    body == .picture && status == 200 && !isRemoved && makings.contains { $0.sides == sides }
  }

  /// What the server answers. The picture of each copy is another one, because thumbnails belong to contents and would be found
  /// by all copies.
  func script(_ path: String, copy: Int, isLater: Bool) -> Script {
    var headers: HeaderLines = [:]
    if hasTag { headers.add("ETag", "\"\(copy)\"") }
    if let hop, !path.hasSuffix("/target") {
      headers.add("Cache-Control", hop.control)
      headers.add("Location", "\(path)/target")
      return Script(status: 302, headers: headers, answersConditions: true)
    }
    headers.add("Cache-Control", control)
    if let vary { headers.add("Vary", vary) }
    let isMended = isMendedLater && isLater
    return Script(
      status: isMended ? 200 : status, headers: headers,
      steps: [.bytes(isMended ? picture(copy) : bytes(copy))],
      answersConditions: true, answersRanges: true)
  }

  private func bytes(_ copy: Int) -> [UInt8] {
    switch body {
    case .picture: picture(copy)
    case .cutPicture: Array(picture(copy).dropLast(900))
    case .text:
      Array(
        "no picture, but text of more than a hundred bytes: \(copy) \(String(repeating: ".", count: 100))"
          .utf8)
    case .none: []
    }
  }

  private func picture(_ copy: Int) -> [UInt8] {
    let key = "\(width) \(copy)"
    if let known = Self.pictures.withLock({ $0[key] }) { return known }
    let made = Pictures.png(width: width, height: width / 2, seed: copy)
    Self.pictures.withLock { $0[key] = made }
    return made
  }

  /// Each is served many times.
  private static let pictures = Mutex<[String: [UInt8]]>([:])
}

extension StoredState {
  static let all: [StoredState] = simple + failed + hops + kept + keptOtherwise.map(brief)

  private static func brief(_ state: StoredState) -> StoredState {
    var state = state
    state.isBrief = true
    return state
  }

  private static let simple = [
    StoredState("nothing") { $0.makings = [] },
    StoredState("fresh"),
    StoredState("stale", "max-age=60"),
    StoredState("stale, no validator", "max-age=60") { $0.hasTag = false },
    StoredState("stale while revalidating", "max-age=60, stale-while-revalidate=600"),
    StoredState("stale, must revalidate", "max-age=60, must-revalidate"),
    StoredState("no-cache, old", "no-cache"),
    StoredState("no-cache, new", "no-cache") { $0.isMadeLate = true },
    StoredState("removed") { $0.isRemoved = true },
    StoredState("varied") { $0.vary = "Accept-Language" },
    StoredState("body alone") { $0.makings = [Making()] },
    StoredState("body alone, stale", "max-age=60") { $0.makings = [Making()] },
  ]

  private static let failed = [
    StoredState("404") {
      $0.status = 404; $0.body = .text; $0.makings = [Making(rules: .rfc9111)]
    },
    StoredState("404, stale", "max-age=60") {
      $0.status = 404
      $0.body = .text
      $0.makings = [Making(rules: .rfc9111)]
    },
    StoredState("500") {
      $0.status = 500
      $0.isMendedLater = true
      $0.body = .text
      $0.makings = [Making(rules: .rfc9111)]
    },
    StoredState("500, stale", "max-age=60") {
      $0.status = 500
      $0.isMendedLater = true
      $0.body = .text
      $0.makings = [Making(rules: .rfc9111)]
    },
    StoredState("404, remembered") {
      $0.status = 404; $0.body = .text
    },
    StoredState("too long, remembered") { $0.makings = [Making(sides: sides, maxBytes: 100)] },
    StoredState("no picture") { $0.body = .text },
    StoredState("no picture, stale", "max-age=60") { $0.body = .text },
    StoredState("no picture, body not kept") {
      $0.body = .text; $0.keepsSource = false
    },
    StoredState("cut picture") { $0.body = .cutPicture },
    StoredState("empty") {
      $0.body = .none; $0.makings = [Making()]
    },
  ]

  private static let hops = [
    hop("fresh to fresh", "max-age=6000", "max-age=6000"),
    hop("fresh to stale", "max-age=6000", "max-age=60"),
    hop("stale to fresh", "max-age=60", "max-age=6000"),
    hop("stale to stale", "max-age=60", "max-age=60"),
    hop("stale while revalidating to fresh", "max-age=60, stale-while-revalidate=600", "max-age=6000"),
    hop("must revalidate to fresh", "max-age=60, must-revalidate", "max-age=6000"),
    hop("fresh to removed", "max-age=6000", "max-age=6000") { $0.isRemoved = true },
    hop("fresh to 404", "max-age=6000", "max-age=6000") {
      $0.status = 404
      $0.body = .text
      $0.makings = [Making(rules: .rfc9111)]
    },
    hop("followed, fresh", "max-age=60", "max-age=6000") {
      $0.hop?.isAnswer = false
      $0.makings = [Making(sides: sides)]
    },
    hop("followed, stale", "max-age=6000", "max-age=60") {
      $0.hop?.isAnswer = false
      $0.makings = [Making(sides: sides)]
    },
  ]

  private static let kept = [
    StoredState("thumbnails alone") { $0.keepsSource = false },
    StoredState("thumbnails alone, stale", "max-age=60") { $0.keepsSource = false },
    StoredState("larger thumbnail alone") {
      $0.keepsSource = false
      $0.makings = [Making(sides: [32])]
    },
    StoredState("larger thumbnail alone, stale", "max-age=60") {
      $0.keepsSource = false
      $0.makings = [Making(sides: [32])]
    },
  ]

  private static let keptOtherwise = [
    large("packed"),
    large("packed, stale", "max-age=60"),
    large("packed, thumbnails alone") { $0.keepsSource = false },
    large("lossless") { $0.store = .lossless },
    large("large, raw") { $0.store = .raw },
    StoredState("raw") { $0.store = .raw },
    StoredState("raw, stale", "max-age=60") { $0.store = .raw },
    StoredState("raw, body alone") {
      $0.store = .raw
      $0.makings = [Making()]
    },
    StoredState("in memory only") { $0.isInMemoryOnly = true },
    StoredState("in memory only, stale", "max-age=60") { $0.isInMemoryOnly = true },
    StoredState("raw, in memory only") {
      $0.store = .raw
      $0.isInMemoryOnly = true
    },
    StoredState("thumbnails alone, raw") {
      $0.keepsSource = false
      $0.store = .raw
    },
    StoredState("larger thumbnail alone, raw") {
      $0.keepsSource = false
      $0.store = .raw
      $0.makings = [Making(sides: [32])]
    },
  ]

  /// Small thumbnails are kept raw in any case.
  private static func large(
    _ name: String, _ control: String = "max-age=6000", _ change: (inout StoredState) -> Void = { _ in }
  ) -> StoredState {
    StoredState(name, control) {
      $0.width = 160
      $0.sides = [128, 100]
      $0.makings = [Making(sides: $0.sides)]
      change(&$0)
    }
  }

  /// A redirect and what it leads to.
  private static func hop(
    _ name: String, _ own: String, _ control: String, _ change: (inout StoredState) -> Void = { _ in }
  ) -> StoredState {
    StoredState("redirect, \(name)", control) {
      $0.hop = Hop(control: own)
      $0.makings = [Making(sides: sides, rules: .rfc9111)]
      change(&$0)
    }
  }
}

// MARK: What it is good for

extension StoredState {
  enum Standing { case valid, staleWhileRevalidate, stale, mustValidate }

  /// Whether a redirect is stored as an answer of its own.
  var isHop: Bool { hop?.isAnswer == true }
  /// How the redirect stands when it is asked for.
  var hopStanding: Standing { standing(hop?.control ?? control, .kit) }
  /// Whether only a thumbnail of another size is there.
  var isOfLargerThumb: Bool { makings.first?.sides == [32] }
  /// Whether only the body is there.
  var isBodyAlone: Bool { body == .picture && makings.first?.sides == [] }

  /// How the answer stands: the one that the redirect leads to.
  func standing(_ rules: Policy = .kit) -> Standing { standing(control, rules) }

  private func standing(_ control: String, _ rules: Policy) -> Standing {
    if control == "no-cache" { return rules == .rfc9111 ? .mustValidate : isMadeLate ? .valid : .stale }
    if control.contains("max-age=6000") { return .valid }
    if control.contains("must-revalidate") { return .mustValidate }
    return control.contains("while-revalidate") ? .staleWhileRevalidate : .stale
  }
}
