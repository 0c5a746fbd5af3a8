import NuthatchHTTP
import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// A progressive picture of which the thumbnails may need only the beginning: watched while it arrives, decoded when that
/// may do. Confined to the loop's thread.
final class EarlyStop: @unchecked Sendable {
  /// What must remain for a stop to pay: a new connection costs more than less.
  static let leastRest: Int64 = 256 << 10

  let info: ImageInfo
  let recipes: [Recipe]
  /// Bytes that the whole answer has.
  let announced: Int64
  private var watch: ScanWatch
  /// A worker is decoding what was there.
  fileprivate var isTrying = false
  /// What came out, when it did.
  fileprivate(set) var made: [Recipe: Picture]?

  /// Nil for pictures all of which is needed.
  init?(_ info: ImageInfo, _ recipes: Set<Recipe>, announced: Int64) {
    guard announced > Self.leastRest, let watch = ScanWatch(info, boxes: recipes.map(\.box)) else {
      return nil
    }
    self.info = info
    self.recipes = Array(recipes)
    self.announced = announced
    self.watch = watch
  }

  /// Takes the next bytes. True when it is time to decode.
  fileprivate func isDue(after bytes: UnsafeRawBufferPointer) -> Bool {
    watch.feed(bytes) && !isTrying && made == nil
  }
}

extension Fetch {
  /// Begins to watch a picture, if its transfer may end early.
  func watchForEnough(_ info: ImageInfo) {
    guard let head = attempt.head, head.status == 200, !head.fields.contains("Content-Encoding"),
      waiters.allSatisfy({ $0.plan.mayStopEarly(shared.settings) }),
      // The transport has refused a malformed one.
      let announced = (try? head.contentLength()) ?? nil
    else { return }
    guard !attempt.body.isFiled else { return }
    attempt.earlyStop = EarlyStop(info, Set(waiters.flatMap(\.plan.recipes)), announced: announced)
    tryToStop(after: attempt.body.buffer.contents)
  }

  /// Decodes what has come, when a scan has ended with `bytes` after which that may be enough.
  func tryToStop(after bytes: UnsafeRawBufferPointer) {
    guard let stop = attempt.earlyStop, stop.isDue(after: bytes),
      stop.announced - Int64(attempt.body.count) > EarlyStop.leastRest
    else { return }
    // A copy, because what has come moves while more comes. Where there is no memory for it, all of the body comes.
    let received = ByteBuffer(runtime.inFlight, else: shared.path)
    guard !attempt.body.isFiled,
      received.append(attempt.body.buffer.contents, staysInMemory: true) == 0
    else { return }
    let body = SharedBytes(received)
    let boxes = stop.recipes.map(\.box)
    // An estimate that can't be had is the decoder's to explain.
    let need = (try? Thumbnailer.memoryNeed(stop.info, boxes: boxes)) ?? 0
    var options = DecodeOptions()
    options.limits.pixels = waiters.map(\.plan.maxPixels).max() ?? 0
    options.limits.bytes = max(options.limits.bytes, body.count)
    let settled = options
    stop.isTrying = true
    let decode: @Sendable (Int?) -> Void = { most in
      self.shared.counts.decodes.count()
      var options = settled
      options.limits.memory = most ?? 0
      let limited = options
      // What doesn't decode yet may do so when more has come; a fault of the picture is found at its end.
      let pictures = body.withBytes { try? Picture.make(from: $0, boxes, limited) }
      let isWhole = !body.isBroken
      self.runtime.loop.post { self.tried(stop, isWhole ? pictures : nil) }
    }
    let workers = runtime.workers
    let isSubmitted =
      need > workers.budget.unasked
      ? workers.submitDecode(priority: priority, need: need, decode)
      : workers.submit(priority: priority) { decode(workers.memory) }
    if !isSubmitted { attempt.earlyStop = nil }
  }

  private func tried(_ stop: EarlyStop, _ pictures: [Picture]?) {
    guard attempt.earlyStop === stop else { return }
    stop.isTrying = false
    guard let pictures else { return }
    let made = Dictionary(zip(stop.recipes, pictures)) { first, _ in first }
    stop.made = made
    // Whoever joined meanwhile may want something else.
    guard case .flying(let entry, let transfer) = phase,
      let head = attempt.head, let timings = shared.transport.timings(of: transfer),
      stop.announced - Int64(attempt.body.count) > EarlyStop.leastRest,
      waiters.allSatisfy({
        $0.plan.mayStopEarly(shared.settings) && $0.plan.recipes.allSatisfy { made[$0] != nil }
      })
    else { return }
    phase = .admitting
    stoppedEarly = true
    shared.transport.cancel(transfer)
    runtime.queue.finished(entry, .done, now: runtime.loop.now)
    shared.counts.bytes.count(attempt.body.count)
    shared.counts.stopped.count()
    attempt.noteConnection(timings.connection)
    admit(
      PartialAdmission(
        shared: shared, plan: plan, arrival: attempt.arrival(head, timings), announced: stop.announced,
        pictures: made, asked: attempt.asked))
  }

  private func admit(_ admission: PartialAdmission) {
    attempt.body = IncomingBody()
    handOver(takeTiers()) { tiers, then in
      var origin = admission.arrival.origin
      origin.content = admission.store()
      origin.isStored = origin.content != nil
      let fetched = FetchedAnswer(
        head: admission.arrival.head, body: .empty, content: nil,
        pictures: admission.pictures.mapValues { .success($0) }, origin: origin)
      tiers.ended(origin.isStored ? .stored : .notStored)
      then(.answered(fetched))
    }
  }
}

extension RequestPlan {
  /// Whether its pictures are all that it wants, even if nobody can make others of them.
  fileprivate func mayStopEarly(_ settings: SharedCache.Settings) -> Bool {
    wantsPictures && (stopsEarly || !settings.keepsSource) && inquiry == nil
  }
}

/// What becomes of an answer whose transfer was ended because its thumbnails were done, on a worker's thread.
///
/// Without its bytes nobody knows its digest. The thumbnails are kept under one of the URL and the strong validator instead,
/// which says as much; they answer for nothing but themselves.
struct PartialAdmission: Sendable {
  let shared: SharedCache
  let plan: RequestPlan
  let arrival: ReceivedAnswer
  let announced: Int64
  let pictures: [Recipe: Picture]
  let asked: Moment?

  /// - Returns: what the thumbnails are kept under; nil when they aren't.
  func store() -> Digest? {
    guard plan.isShared, let tag = arrival.head.strongTag else { return nil }
    var content = digest(tag)
    var meta = arrival.meta
    meta.isPicture = true
    meta.bodyLength = announced
    guard Caching.mayStore(meta, arrival.redirects, plan) else { return nil }
    if let whole = shared.reader.record(plan)?.0, !whole.isPartial, whole.head.strongTag == tag,
      let known = whole.content
    {
      // The same bytes were here once, whole: these thumbnails join the others.
      content = known
    } else {
      meta.isPartial = true
    }
    meta.content = content
    shared.maker(maxPixels: plan.maxPixels).keep(pictures, content)
    guard shared.write(meta, plan, asked: asked) else { return nil }
    shared.failures.forget(plan.name)
    return content
  }

  private func digest(_ tag: String) -> Digest {
    var encoder = RecordEncoder()
    encoder.put("partial")
    encoder.put(plan.name.key().bytes)
    encoder.put(tag)
    return encoder.bytes.withUnsafeBytes { Digest(of: $0) }
  }
}

extension ResponseHead {
  /// The validator that stands for these very bytes; nil where there is none.
  fileprivate var strongTag: String? {
    guard let tag = fields["ETag"], tag.hasPrefix("\""), tag.count > 2 else { return nil }
    return tag
  }
}
