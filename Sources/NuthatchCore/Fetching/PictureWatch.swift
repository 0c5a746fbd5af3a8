import NuthatchImaging
import NuthatchTransport

/// Examines a picture while it arrives. If the body is no picture, or the picture is too large, the transfer stops at once. The
/// thumbnails of a progressive picture or of an animation may need only its beginning, so the beginning is decoded when it may
/// be enough. Confined to the loop's thread, hence Sendable.
final class PictureWatch: @unchecked Sendable {
  private struct Beginning {
    let info: ImageInfo
    let recipes: [Recipe]
    var watch: any EarlyEndWatch
    /// Whether a worker is decoding a copy of the bytes received so far.
    var isTrying = false
  }

  /// The transfer is stopped only if more than this is missing. For less, a new connection costs more.
  private static let leastRest: Int64 = 256 << 10

  private var probe: ImageProbe? = ImageProbe()
  /// The verdict of the image probe. Nil until it is known.
  private(set) var verdict: ImageProbe.Answer?
  private var beginning: Beginning?
  /// The length of the whole body in bytes.
  let announced: Int64
  /// The thumbnails that were made before the whole body had come.
  private(set) var made: [Recipe: Picture] = [:]

  init(announced: Int64) { self.announced = announced }

  /// Examines the next bytes, which are already in `body`.
  ///
  /// - Parameter then: called when the pictures are made. The caller then checks `isEnough`.
  /// - Throws: the reason why there is no picture, if all waiters want only pictures.
  func take(
    _ bytes: UnsafeRawBufferPointer, of body: IncomingBody, _ head: ResponseHead, for fetch: Fetch,
    then: @escaping @Sendable () -> Void
  ) throws(ImageFault) {
    tryToDecode(after: bytes, of: body, for: fetch, then)
    guard let answer = probe?.feed(bytes) else { return }
    if let size = probe?.size {
      for waiter in fetch.waiters where waiter.plan.wantsPictures {
        guard let refusal = waiter.plan.limits.refusal(of: size) else { continue }
        fetch.fail(waiter, .tooManyPixels, refusal.message)
      }
    }
    if case .needMore = answer { return }
    (probe, verdict) = (nil, answer)
    if case .found(let info) = answer {
      watch(info, of: body, head, for: fetch)
      return tryToDecode(after: body.buffer.contents, of: body, for: fetch, then)
    }
    // The verdict can end the transfer only if all waiters want the picture alone. Other cases, such as allowed damage, need
    // the whole body.
    let waiters = fetch.waiters
    if waiters.wantPictures, !waiters.recipes.contains(where: \.allowsDamage) { throw Picture.fault(answer) }
  }

  /// Begins to watch a picture whose transfer may end early.
  private func watch(_ info: ImageInfo, of body: IncomingBody, _ head: ResponseHead, for fetch: Fetch) {
    let recipes = fetch.waiters.recipes
    guard head.status == 200, !head.fields.contains("Content-Encoding"), !body.isFiled, mayEnd(fetch),
      announced > Self.leastRest, let watch = EarlyEnd.watch(info, boxes: recipes.map(\.box))
    else { return }
    beginning = Beginning(info: info, recipes: recipes, watch: watch)
  }

  /// Returns whether the waiters want only pictures and need no stored body.
  private func mayEnd(_ fetch: Fetch) -> Bool {
    let needsAll = fetch.shared.settings.keepsSource
    return fetch.waiters.wantPictures
      && fetch.waiters.allSatisfy { $0.plan.questionContext == nil && ($0.plan.stopsEarly || !needsAll) }
  }

  /// Returns whether the pictures of all waiters are done. A request that joined meanwhile may want something else.
  func isEnough(for fetch: Fetch, after body: IncomingBody) -> Bool {
    announced - Int64(body.count) > Self.leastRest && mayEnd(fetch)
      && fetch.waiters.recipes.allSatisfy { made[$0] != nil }
  }

  /// Decodes the bytes received so far, if they may be enough with `bytes`.
  private func tryToDecode(
    after bytes: UnsafeRawBufferPointer, of body: IncomingBody, for fetch: Fetch,
    _ then: @escaping @Sendable () -> Void
  ) {
    guard beginning?.watch.feed(bytes) == true, let beginning, !beginning.isTrying, made.isEmpty,
      announced - Int64(body.count) > Self.leastRest, !body.isFiled
    else { return }
    let (shared, workers, loop) = (fetch.shared, fetch.runtime.workers, fetch.runtime.loop)
    // Copy the bytes, because the buffer moves while more bytes come. If there is no memory for a copy, receive the whole body.
    let received = ByteBuffer(fetch.runtime.inFlight, else: shared.path)
    guard received.append(body.buffer.contents, staysInMemory: true) == 0 else { return }
    let bytes = SharedBytes(received)
    let recipes = beginning.recipes
    let boxes = recipes.map(\.box)
    // If there is no estimate, the decoder reports why.
    let need = (try? Thumbnailer.memoryNeed(beginning.info, boxes: boxes)) ?? 0
    var options = DecodeOptions(fetch.waiters.limits)
    options.limits.bytes = max(options.limits.bytes, bytes.count)
    options.isWhole = false
    let decode: @Sendable (Int?) -> Void = { [options] most in
      shared.counts.decodes.count()
      var options = options
      options.limits.memory = most ?? 0
      // A beginning that doesn't decode yet may do so later. Faults of the picture are found at its end.
      let pictures = bytes.withBytes { try? Picture.make(from: $0, boxes, options) }
      let isWhole = !bytes.isBroken
      loop.post {
        self.beginning?.isTrying = false
        guard isWhole, let pictures else { return }
        self.made = Dictionary(zip(recipes, pictures)) { first, _ in first }
        then()
      }
    }
    // If no worker takes the job, `isTrying` stays true, so that it isn't tried again.
    self.beginning?.isTrying = true
    if need > workers.budget.mostWithoutTurn {
      workers.submitDecode(priority: fetch.priority, need: need, decode)
    } else {
      workers.submit(priority: fetch.priority) { decode(workers.memory) }
    }
  }
}
