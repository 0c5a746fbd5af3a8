import NuthatchImaging
import NuthatchTransport

/// Looks at a picture while it arrives: what is none, or is too large, is stopped at once. Of a progressive one the thumbnails may
/// need only the beginning: it is decoded when that may do. Confined to the loop's thread, hence Sendable.
final class PictureWatch: @unchecked Sendable {
  private struct Progressive {
    let info: ImageInfo
    let recipes: [Recipe]
    var scans: ScanWatch
    /// A worker is decoding what was there.
    var isTrying = false
  }

  /// What must remain for a stop to pay: a new connection costs more than less.
  private static let leastRest: Int64 = 256 << 10

  private var probe: ImageProbe? = ImageProbe()
  /// What the first bytes have said; nil before they have.
  private(set) var verdict: ImageProbe.Answer?
  private var progressive: Progressive?
  /// Bytes that the whole answer has.
  let announced: Int64
  /// The thumbnails that were made before the body had come whole.
  private(set) var made: [Recipe: Picture] = [:]

  init(announced: Int64) { self.announced = announced }

  /// Takes the next bytes, which are in `body` already.
  ///
  /// - Parameter then: called when the pictures are done; whether that is enough is to be asked then.
  /// - Throws: why there is no picture, if its waiters want nothing else.
  func take(
    _ bytes: UnsafeRawBufferPointer, of body: IncomingBody, _ head: ResponseHead, for fetch: Fetch,
    then: @escaping @Sendable () -> Void
  ) throws(ImageFault) {
    tryToDecode(after: bytes, of: body, for: fetch, then)
    guard let answer = probe?.feed(bytes) else { return }
    if let size = probe?.size {
      for waiter in fetch.waiters where waiter.plan.wantsPictures {
        guard let refusal = waiter.plan.limits.refusal(of: size) else { continue }
        fetch.leaveAlone(waiter, .tooManyPixels, refusal.message)
      }
    }
    if case .needMore = answer { return }
    (probe, verdict) = (nil, answer)
    if case .found(let info) = answer {
      watch(info, of: body, head, for: fetch)
      return tryToDecode(after: body.buffer.contents, of: body, for: fetch, then)
    }
    // The verdict needs the whole body's rules (damage that is allowed, policies), unless all waiters want the picture alone.
    let waiters = fetch.waiters
    if waiters.wantPictures, !waiters.recipes.contains(where: \.allowsDamage) { throw Picture.fault(answer) }
  }

  /// Begins to watch a picture, if its transfer may end early.
  private func watch(_ info: ImageInfo, of body: IncomingBody, _ head: ResponseHead, for fetch: Fetch) {
    let recipes = fetch.waiters.recipes
    guard head.status == 200, !head.fields.contains("Content-Encoding"), !body.isFiled, mayEnd(fetch),
      announced > Self.leastRest, let scans = ScanWatch(info, boxes: recipes.map(\.box))
    else { return }
    progressive = Progressive(info: info, recipes: recipes, scans: scans)
  }

  /// Whether pictures are all that its waiters want, even if no others can be made of this one.
  private func mayEnd(_ fetch: Fetch) -> Bool {
    let needsAll = fetch.shared.settings.keepsSource
    return fetch.waiters.wantPictures
      && fetch.waiters.allSatisfy { $0.plan.inquiry == nil && ($0.plan.stopsEarly || !needsAll) }
  }

  /// Whether the pictures are done that all waiters want: those that joined meanwhile may want something else.
  func isEnough(for fetch: Fetch, after body: IncomingBody) -> Bool {
    announced - Int64(body.count) > Self.leastRest && mayEnd(fetch)
      && fetch.waiters.recipes.allSatisfy { made[$0] != nil }
  }

  /// Decodes what has come, when a scan has ended with `bytes` after which that may be enough.
  private func tryToDecode(
    after bytes: UnsafeRawBufferPointer, of body: IncomingBody, for fetch: Fetch,
    _ then: @escaping @Sendable () -> Void
  ) {
    guard progressive?.scans.feed(bytes) == true, let progressive, !progressive.isTrying, made.isEmpty,
      announced - Int64(body.count) > Self.leastRest, !body.isFiled
    else { return }
    let (shared, workers, loop) = (fetch.shared, fetch.runtime.workers, fetch.runtime.loop)
    // A copy, because what has come moves while more comes. Where there is no memory for it, all of the body comes.
    let received = ByteBuffer(fetch.runtime.inFlight, else: shared.path)
    guard received.append(body.buffer.contents, staysInMemory: true) == 0 else { return }
    let bytes = SharedBytes(received)
    let recipes = progressive.recipes
    let boxes = recipes.map(\.box)
    // An estimate that can't be had is the decoder's to explain.
    let need = (try? Thumbnailer.memoryNeed(progressive.info, boxes: boxes)) ?? 0
    var options = DecodeOptions()
    options.limits = fetch.waiters.limits
    options.limits.bytes = max(options.limits.bytes, bytes.count)
    let decode: @Sendable (Int?) -> Void = { [options] most in
      shared.counts.decodes.count()
      var options = options
      options.limits.memory = most ?? 0
      // What doesn't decode yet may do so when more has come; a fault of the picture is found at its end.
      let pictures = bytes.withBytes { try? Picture.make(from: $0, boxes, options) }
      let isWhole = !bytes.isBroken
      loop.post {
        self.progressive?.isTrying = false
        guard isWhole, let pictures else { return }
        self.made = Dictionary(zip(recipes, pictures)) { first, _ in first }
        then()
      }
    }
    // Where no worker takes it, it isn't tried again.
    self.progressive?.isTrying = true
    if need > workers.budget.mostWithoutTurn {
      workers.submitDecode(priority: fetch.priority, need: need, decode)
    } else {
      workers.submit(priority: fetch.priority) { decode(workers.memory) }
    }
  }
}
