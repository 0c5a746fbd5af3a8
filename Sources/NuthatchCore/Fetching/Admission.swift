import CSystem
import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// What becomes of an answer from the network, on a worker's thread: judged, hashed, stored, decoded.
///
/// Whether an answer is stored depends on its being whole and on the rules of HTTP. Whether it is a picture matters only
/// to requests for one. Handed from the loop's thread to a worker's, hence Sendable.
final class Admission: @unchecked Sendable {
  let arrival: ReceivedAnswer
  private var received: ByteBuffer
  /// What its first bytes say of it, where they were looked at while it arrived.
  private var verdict: ImageProbe.Answer?
  /// Whether the body was passed over, because no waiter wanted it.
  let isBodyMissing: Bool
  /// What the server was asked about; nil when it was asked for a whole answer.
  let base: StoredAnswer?
  /// The sizes that the waiters want.
  let recipes: [Recipe]
  /// Those of them that were made while it arrived.
  let made: [Recipe: Picture]
  let limits: ImageLimits
  /// Whether nothing but the end of the connection said where the body ends.
  let isCloseDelimited: Bool
  /// Whether all waiters want to judge it first.
  let isToBeJudged: Bool
  let priority: Int

  /// As it has come, for all that wait for it now.
  init(_ head: ResponseHead, _ timings: TransferTimings, _ attempt: Attempt, _ fetch: Fetch) {
    let wanting = fetch.waiters.filter { $0.plan.wantsPictures }
    attempt.body.buffer.trim()
    arrival = attempt.received(head, timings)
    received = attempt.body.buffer
    verdict = attempt.verdict
    isBodyMissing = attempt.skipsBody && !arrival.plan.isLedOn(by: head) || !attempt.isKept
    base = attempt.base
    recipes = wanting.recipes
    made = attempt.made
    limits = wanting.limits
    isCloseDelimited = timings.isCloseDelimited
    isToBeJudged = fetch.waiters.allSatisfy(\.plan.wantsVerdict)
    priority = fetch.priority
  }

  var shared: SharedCache { arrival.shared }
  var plan: RequestPlan { arrival.plan }
  var head: ResponseHead { arrival.head }
  private var provenance: Provenance { arrival.provenance }
  private var body: SharedBytes { SharedBytes(received) }

  /// - Parameters:
  ///   - tiers: told how the fetch ended for them, except where the whole answer has to be asked for.
  ///   - then: gets the outcome; nil when the whole answer has to be asked for.
  func run(_ tiers: SearchedTiers, then: @escaping @Sendable (FetchOutcome?) -> Void) {
    plan.cookies?.settle()
    let isNamed = plan.isShared
    if head.status == 304, let base {
      var isKept = false
      // Where the server means another answer than was asked about, the whole answer is asked for next.
      guard let renewed = renew(base, &isKept) else { return then(nil) }
      tiers.ended(isKept ? .stored : .notStored)
      return then(.unchanged(renewed))
    }
    let content = body.withBytes { Digest(of: $0) }
    let effects = isNamed ? Effects(began: arrival.began) : affectStored(content)
    let keep: @Sendable () -> Bool = {
      let isKept =
        isNamed && !self.isToBeJudged && self.store(content, began: self.arrival.began, offeringTo: tiers)
      tiers.ended(isKept ? .stored : .notStored)
      return isKept
    }
    let begin = nhs_monotonic_ns()
    let isKept = !keepsPicturesOnly && keep()
    let stored = nhs_monotonic_ns()
    makePictures(content) { [self] pictures in
      var provenance = provenance
      provenance.journey.storing = (stored - begin) / 1000
      provenance.journey.decoding = (nhs_monotonic_ns() - stored) / 1000
      provenance.isStored = isKept || keepsPicturesOnly && keep() || effects.isStored
      provenance.content = content
      provenance.isRemovalDue = effects.isRemovalDue
      received.arrive()
      guard !received.isBroken else {
        let what = "what has been received can't be read from the disk again"
        return then(.failed(NuthatchError(.io, "\(what): \(plan.url)")))
      }
      var fetched = FetchedAnswer(
        head: head, body: body, content: content, pictures: pictures, provenance: provenance)
      fetched.isFromPublic = arrival.isFromPublic
      if isToBeJudged, isNamed { fetched.keep = { self.store(content, began: self.arrival.began) } }
      if isToBeJudged, plan.method == "POST" {
        fetched.keep = { self.storeForGet(content, began: effects.began) }
      }
      then(.answered(fetched))
    }
  }

  /// What came before an answer broke off is part of it for the waiters, too. Reads a file.
  func beginning(with earlier: SavedBytes?) -> Admission {
    guard let earlier, case let whole = ByteBuffer(shared.runtime.inFlight, else: shared.path),
      earlier.read(into: whole)
    else { return self }
    (received, verdict) = (whole, nil)
    return self
  }

  /// Without the body the thumbnails are the answer: a reader must find all of them, or nothing.
  private var keepsPicturesOnly: Bool { !recipes.isEmpty && !shared.settings.keepsSource }

  // MARK: Storing

  private func renew(_ base: StoredAnswer, _ isKept: inout Bool) -> StoredAnswer? {
    guard
      let meta = Caching.renewed(
        base.record, by: head, requestTime: arrival.requestTime, responseTime: arrival.responseTime)
    else { return nil }
    // It answers the waiters, whether it can be kept or not.
    let fate = Caching.fate(of: meta, arrival.redirects, plan)
    switch fate {
    case .kept: isKept = arrival.write(meta, began: arrival.began)
    case .dropped: shared.takeOut(plan.name)
    case .left: break
    }
    return StoredAnswer(
      base, renewedAs: meta, isStored: isKept || fate == .left,
      age: meta.answer.age(plan.freshness, now: shared.clock.seconds))
  }

  /// False when it isn't kept.
  ///
  /// - Parameter began: the moment that it counts as asked for at.
  @discardableResult
  func store(
    _ content: Digest?, began: Moment?, offeringTo tiers: SearchedTiers = SearchedTiers()
  ) -> Bool {
    var meta = arrival.meta
    meta.content = body.count > 0 ? content : nil
    meta.bodyLength = Int64(body.count)
    meta.isPicture = Picture.isOne(verdict ?? body.withBytes { ImageProbe.probe($0) })
    guard !isBodyMissing, arrival.mayStore(meta) else {
      // A server that gives another answer, which must not be kept, takes back the one that was.
      if head.isGone || supersedes && !isIntruder(meta) { shared.takeOut(plan.name) }
      return false
    }
    guard !provenance.isTruncated, !isIntruder(meta), !isCloseDelimited || isTakenForWhole,
      keepBody(content, isPicture: meta.isPicture), !received.isBroken,
      arrival.write(meta, began: began)
    else { return false }
    shared.rememberedFailures.forget(plan.name)
    if plan.name.partition.isEmpty, !CacheDirectives(head.fields).has("private") {
      tiers.offer(meta, body)
    }
    return true
  }

  /// A page of a captive portal, or an error with status 200, must not take a picture's place.
  private func isIntruder(_ meta: AnswerRecord) -> Bool {
    plan.policy == .kit && !meta.isPicture && arrival.present?.isPicture == true
  }

  /// Whether it is a success that only its own words keep from being stored.
  private var supersedes: Bool {
    (200..<300).contains(head.status) && !isBodyMissing && plan.isShared && !plan.wantsPart
      && !RequestWishes(plan.headers).noStore
      && (CacheDirectives(head.fields).has("no-store") || Vary(head.fields).isAny)
  }

  /// A body whose end wasn't announced may have been cut off: stored are only pictures that decode to their end. RFC 9112, 8
  /// takes the end of the connection for that of the body.
  private var isTakenForWhole: Bool {
    if plan.policy == .rfc9111 { return true }
    return body.withBytes { bytes in
      guard case .found = ImageProbe.probe(bytes) else { return false }
      var options = DecodeOptions()
      // It runs beside others.
      options.limits.memory = shared.runtime.workers.memory
      options.earlyStop = false
      // Decoded for the verdict alone, to the smallest size that reads everything.
      return (try? Thumbnailer.thumbnails(of: bytes, boxes: [ThumbnailBox(8)], options: options)) != nil
    }
  }

  /// False when the answer can't be kept, because its body can't.
  private func keepBody(_ content: Digest?, isPicture: Bool) -> Bool {
    guard body.count > 0 else { return true }
    guard let content else { return false }
    if keepsPicturesOnly, isPicture { return true }
    let key = RecordKey(.body, content.bytes)
    do {
      // The same bytes may have come from elsewhere. That the index names them doesn't say that the disk has them.
      if try shared.store.touch(key), shared.store.holds(key) { return true }
      try body.withBytes { (bytes) throws(StoreFault) in _ = try shared.store.commit(key, parts: [bytes]) }
      // Zeros that the disk gave instead of what has been received must not have this name.
      if received.isBroken { try shared.store.remove(key) }
      return !received.isBroken
    } catch {
      shared.counts.note(error)
      return false
    }
  }

  // MARK: Pictures

  private func makePictures(_ content: Digest?, _ then: @escaping @Sendable (Decodes.Pictures) -> Void) {
    guard !recipes.isEmpty, (200..<300).contains(head.status), !isBodyMissing, let content else {
      return then([:])
    }
    let maker = shared.maker(limits)
    var source = PictureSource(content: content, url: provenance.finalURL, made: made, body: body)
    if case .found(let info) = verdict { source.info = info }
    maker.makeHere(source, recipes, priority: priority, then: then)
  }
}
