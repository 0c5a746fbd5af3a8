import CNuthatch
import NuthatchCore

/// What a C program has set for a request so far.
struct Draft: Sendable {
  var request: Request
  var hooks = Hooks()
  private var sizes: [(width: Int, height: Int)] = []
  private var fit = ThumbnailBox.Fit.inside
  private var enlarge = false
  private var scaling = ThumbnailBox.Scaling.best
  private(set) var isQuiet = false
  private(set) var decodes = false
  private var isFreezable = false
  /// The token. It isn't among the headers, because a later `headers` option would replace it.
  private var bearer: String?
  /// The options of the outbox; used only if the request is freezable.
  private var freezing = Request.Freezing()

  /// The callback for a request's events, and the pointer that they carry.
  struct Hooks: Sendable {
    var callback: nh_callback?
    /// The library never follows this pointer and treats it as a number.
    var userBits: UInt = 0

    mutating func take(_ raw: nh_options) {
      if let said = raw.callback { callback = said }
      if let said = raw.user_data { userBits = UInt(bitPattern: said) }
    }

    /// Returns these hooks; values that the request doesn't set come from its site.
    func over(_ site: Hooks) -> Hooks {
      Hooks(callback: callback ?? site.callback, userBits: userBits == 0 ? site.userBits : userBits)
    }
  }

  init(_ request: Request) { self.request = request }

  /// The options of a call, for a request or an image.
  init(
    _ request: Request, _ options: UnsafePointer<nh_options>?, for level: OptionLevel
  ) throws(NuthatchError) {
    self.request = request
    guard let options else { return }
    try take(try read(options, for: level))
    try self.request.options.check(.request)
  }

  /// Sets further options.
  mutating func take(_ said: CallOptions) throws(NuthatchError) {
    try request.options.take(said)
    guard said.words.has(anyOf: .reachingHits) else { return }
    let raw = said.raw
    hooks.take(raw)
    if let site = raw.site {
      let view = try find(site, .site, as: SiteView.self)
      request = request.to(view.site)
      hooks = hooks.over(view.hooks)
    }
    if let method = try text(raw.method, "method") { request.method = method }
    if raw.user != nil { request.isAnonymous = isOff(raw.user) }
    if let place = try text(raw.user_place, "user_place") {
      guard let place = SignInPlace(place) else {
        // The text isn't quoted, because it may be the end of a password.
        throw NuthatchError(.invalid, "user_place must be host, host:port or https://host")
      }
      request.userPlace = place
    }
    if let token = try text(raw.bearer, "bearer") { bearer = token }
    if let said = try given(raw.quiet, "quiet") { isQuiet = said }
    if let said = try given(raw.decode, "decode") { decodes = said }
    try takeSizes(raw)
    try takeFreezing(raw)
  }

  private mutating func takeSizes(_ raw: nh_options) throws(NuthatchError) {
    if let said = try given(raw.fit, "fit") { fit = said }
    if let said = try given(raw.scaling, "scaling") { scaling = said }
    if let said = try given(raw.enlarge, "enlarge") { enlarge = said }
    guard raw.size != 0 || raw.size_count != 0 else { return }
    guard raw.size == 0 || raw.size_count == 0 else {
      throw NuthatchError(.invalid, "size and sizes exclude each other")
    }
    var said = Array(try list(raw.sizes, raw.size_count, "sizes", most: 64))
    if raw.size != 0 { said = [nh_size(width: raw.size, height: 0)] }
    let sides = 1...Int64(ThumbnailBox.maxSide)
    for size in said where !sides.contains(size.width) || size.height != 0 && !sides.contains(size.height) {
      throw NuthatchError(
        .invalid, "a size is \(size.width)x\(size.height); its sides must be 1 to \(ThumbnailBox.maxSide)")
    }
    sizes = said.map { (Int($0.width), Int($0.height == 0 ? $0.width : $0.height)) }
  }

  private mutating func takeFreezing(_ raw: nh_options) throws(NuthatchError) {
    if let said = try given(raw.freezable, "freezable") { isFreezable = said }
    if let said = try given(raw.outbox_durable, "outbox_durable") { freezing.isDurable = said }
    if let said = try text(raw.outbox_queue, "outbox_queue") { freezing.queue = said }
    if let said = try text(raw.outbox_handler, "outbox_handler") { freezing.handler = said }
    if let said = try text(raw.password_provider, "password_provider") { freezing.passwordProvider = said }
    let most = Int64(Int32.max)
    if let said = try number(raw.outbox_attempts, "outbox_attempts", none: most, greatest: most) {
      guard said > 0 else {
        throw NuthatchError(.invalid, "outbox_attempts is \(said); it must be 1 or more, or none")
      }
      freezing.attempts = Int(min(said, most))
    }
    if let said = try limit(raw.outbox_max_age_ms, "outbox_max_age") { freezing.longest = said }
    if let said = try limit(raw.outbox_key_lifetime_ms, "outbox_key_lifetime") { freezing.keyLifetime = said }
    let listed = try list(raw.secrets, raw.secret_count, "secrets", most: 1000)
    let secrets = try listed.enumerated().map { (index, said) throws(NuthatchError) in
      Request.Freezing.Secret(
        try string(said.header, "secrets[\(index)].header"),
        prefix: try text(said.prefix, "secrets[\(index)].prefix", mayBeEmpty: true) ?? "",
        provider: try string(said.provider, "secrets[\(index)].provider"))
    }
    if !secrets.isEmpty { freezing.secrets = secrets }
  }

  var sizeCount: Int { sizes.count }

  /// The request in the form that a cache carries out.
  var complete: Request {
    var result = request
    result.boxes = sizes.map {
      ThumbnailBox(width: $0.width, height: $0.height, fit: fit, enlarge: enlarge, scaling: scaling)
    }
    if let bearer { result.setBearer(bearer) }
    // For all other requests, `freezing` stays nil: a request without it is answered fastest.
    if isFreezable { result.freezing = freezing }
    return result
  }
}

/// A request under construction; several threads may use it.
final class RequestDraft: Sendable {
  private let draft: Locked<Draft>

  init(_ draft: Draft) { self.draft = Locked(draft) }

  var current: Draft { draft.withLock { $0 } }

  func change(_ body: (inout Draft) throws(NuthatchError) -> Void) throws(NuthatchError) {
    try draft.withLock { (draft) throws(NuthatchError) in try body(&draft) }
  }
}

/// Changes a request under construction.
func changing(_ handle: OpaquePointer?, _ body: (inout Draft) throws(NuthatchError) -> Void)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    try find(handle, .request, as: RequestDraft.self).change(body)
  }
}
