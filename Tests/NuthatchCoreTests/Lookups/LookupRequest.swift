import NuthatchCore

/// A way to ask for what may be stored.
struct LookupRequest: Sendable {
  enum Form: String, CaseIterable { case bytes, one, two }

  let name: String
  let form: Form
  /// Whether it says nothing but URL, sizes and delivery, so that what was shown before may answer it.
  let isBare: Bool
  private let change: @Sendable (inout Request) -> Void
  /// It, for any URL.
  private let sample: Request

  private init(
    _ name: String, _ form: Form, _ isBare: Bool, _ change: @escaping @Sendable (inout Request) -> Void
  ) {
    self.name = name
    self.form = form
    self.isBare = isBare
    self.change = change
    var request = Request("http://127.0.0.1/")
    change(&request)
    sample = request
  }

  func request(_ url: String, _ sides: [Int]) -> Request {
    var request = Request(url)
    switch form {
    case .bytes: break
    case .one: request.boxes = [ThumbnailBox(sides[0])]
    case .two: request.boxes = sides.map { ThumbnailBox($0) }
    }
    change(&request)
    return request
  }

  /// The handles that make the request. A remembered hit never has several sizes.
  var handles: [LookupBench.Handle] {
    switch form {
    case .bytes: isBare ? LookupBench.Handle.allCases : [.first, .second]
    case .one: isBare ? LookupBench.Handle.allCases : [.first, .second, .later]
    case .two: isBare ? [.first, .later] : [.first]
    }
  }

  var title: String { "\(form.rawValue), \(name)" }

  /// What is asked for of a state.
  static func asked(of state: StoredState) -> [LookupRequest] { state.isBrief ? some : all }

  private static let all = deliveries + policies + wishes + limits
  private static let some = deliveries + policies + header("Cache-Control", "max-stale", .fresh) + limits

  private static func make(
    _ name: String, _ forms: [Form] = Form.allCases, isBare: Bool = false,
    _ change: @escaping @Sendable (inout Request) -> Void
  ) -> [LookupRequest] {
    forms.map { LookupRequest(name, $0, isBare, change) }
  }

  private static let deliveries =
    make("twice", isBare: true) { $0.delivery = .twice }
    + make("first", isBare: true) { $0.delivery = .first }
    + make("fresh", isBare: true) { $0.delivery = .fresh }

  private static func policy(_ name: String, _ rules: Policy, _ delivery: Delivery)
    -> [LookupRequest]
  {
    make("\(name), \(delivery)") {
      $0.policy = rules
      $0.delivery = delivery
    }
  }

  private static let policies =
    policy("rfc9111", .rfc9111, .twice) + policy("rfc9111", .rfc9111, .first)
    + policy("rfc9111", .rfc9111, .fresh)
    + policy("offline", .offline, .twice) + policy("offline", .offline, .fresh)
    + policy("reload", .reload, .fresh)

  private static func header(
    _ name: String, _ value: String, _ delivery: Delivery, _ rules: Policy? = nil,
    _ forms: [Form] = Form.allCases
  ) -> [LookupRequest] {
    make("\(name): \(value), \(rules.map { "\($0), " } ?? "")\(delivery)", forms) {
      $0.headers = [(name, value)]
      $0.delivery = delivery
      $0.policy = rules
    }
  }

  private static let wishes =
    header("Cache-Control", "only-if-cached", .twice) + header("Cache-Control", "only-if-cached", .fresh)
    + header("Cache-Control", "only-if-cached", .fresh, .rfc9111)
    + header("Cache-Control", "max-stale", .twice) + header("Cache-Control", "max-stale", .fresh)
    + header("Cache-Control", "max-stale", .fresh, .rfc9111)
    + header("Cache-Control", "no-cache", .fresh) + header("X-Note", "1", .fresh)
    + header("Accept-Language", "de", .fresh) + header("Range", "bytes=0-9", .fresh, nil, [.bytes, .one])
    + make("asks for headers") {
      $0.asks = [.headers]
      $0.delivery = .fresh
    }
    + make("wants a verdict, twice") { $0.asks = [.verdict] }
    + make("wants a verdict, first") {
      $0.asks = [.verdict]
      $0.delivery = .first
    }

  private static let limits =
    make("max_bytes, twice") { $0.maxBytes = 100 }
    + make("max_bytes, fresh") {
      $0.maxBytes = 100
      $0.delivery = .fresh
    }
    + make("max_pixels, fresh", [.one, .two]) {
      $0.maxPixels = 100
      $0.delivery = .fresh
    }
    + make("damaged, fresh", [.one, .two]) {
      $0.allowDamaged = true
      $0.delivery = .fresh
    }
    + make("user, fresh", [.bytes, .one]) {
      $0.user = ("ann", "pw")
      $0.delivery = .fresh
    }
}

// MARK: What it asks for

extension LookupRequest {
  var delivery: Delivery { sample.delivery }
  var rules: Policy { sample.policy ?? .kit }
  var wantsPictures: Bool { form != .bytes }
  var wantsVerdict: Bool { sample.asks == [.verdict] }
  var asksForHeaders: Bool { sample.asks == [.headers] }
  var isLimitedInBytes: Bool { sample.maxBytes != nil }
  var isLimitedInPixels: Bool { sample.maxPixels != nil }
  var allowsDamage: Bool { sample.allowDamaged }
  var isRange: Bool { has("Range") }
  var isOnlyIfCached: Bool { has("Cache-Control", "only-if-cached") }
  var isMaxStale: Bool { has("Cache-Control", "max-stale") }
  var isNoCache: Bool { has("Cache-Control", "no-cache") }
  /// Whether a stored answer that is shared by all users may be given to it, or revalidated.
  var isAboutStored: Bool { rules != .reload && sample.user == nil && !isRange }
  /// Whether failures are remembered for it, and it allows no more than the one that failed.
  var heedsFailures: Bool { wantsPictures && rules == .kit && sample.user == nil && !allowsDamage }

  private func has(_ name: String, _ value: String? = nil) -> Bool {
    sample.headers.contains { $0.name == name && (value ?? $0.value) == $0.value }
  }
}
