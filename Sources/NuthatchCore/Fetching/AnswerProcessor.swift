import CSystem
import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// Processes an answer from the network on a worker's thread: judges, hashes, stores and decodes it.
///
/// An answer is stored if it is whole and HTTP's rules allow it. Whether it is a picture matters in two cases: `isIntruder` and
/// `isTakenForWhole`.
/// Handed over from the loop's thread to a worker's, hence Sendable.
final class AnswerProcessor: @unchecked Sendable {
  let arrival: ReceivedAnswer
  private var received: ByteBuffer
  /// The verdict of the image probe, if the first bytes were probed while they arrived.
  private var verdict: ImageProbe.Answer?
  /// Whether the body isn't here: no waiter wanted it, or it was only saved to a file.
  let isBodyMissing: Bool
  /// The stored answer that the server was asked to confirm. Nil: the whole answer was requested.
  let base: StoredAnswer?
  /// The sizes that the waiters want.
  let recipes: [Recipe]
  /// The pictures of these sizes that were made while the answer arrived.
  let made: [Recipe: Picture]
  let limits: ImageLimits
  /// Whether only the end of the connection marked the end of the body.
  let isCloseDelimited: Bool
  /// Whether all waiters want to judge the answer first.
  let isToBeJudged: Bool
  let priority: Int
  /// Whether the answer's record was stored and names the sizes that the waiters want. Set before the pictures are made.
  private var listsSizes = false

  /// Takes over what has arrived, for all present waiters.
  init(_ head: ResponseHead, _ timings: TransferTimings, _ attempt: FetchAttempt, _ fetch: Fetch) {
    let wanting = fetch.waiters.filter { $0.plan.wantsPictures }
    attempt.body.buffer.trim()
    arrival = attempt.received(head, timings)
    received = attempt.body.buffer
    verdict = attempt.verdict
    isBodyMissing = attempt.skipsBody && !arrival.plan.followsRedirect(in: head) || !attempt.keepsBody
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
  ///   - tiers: are told how the fetch ended, unless the whole answer must be requested.
  ///   - then: gets the outcome, or nil if the whole answer must be requested.
  func run(_ tiers: SearchedTiers, then: @escaping @Sendable (FetchOutcome?) -> Void) {
    plan.cookies?.settle()
    let isNamed = plan.isShareable
    if head.status == 304, let base {
      var isStored = false
      // If the 304 is about another answer than the stored one, request the whole answer next.
      guard let renewed = renew(base, &isStored) else { return then(nil) }
      tiers.ended(isStored ? .stored : .notStored)
      return then(.unchanged(renewed))
    }
    let content = body.withBytes { Digest(of: $0) }
    let effects = isNamed ? Effects(began: arrival.began) : affectStored(content)
    let storeAnswer: @Sendable () -> Bool = {
      let isStored =
        isNamed && !self.isToBeJudged && self.store(content, began: self.arrival.began, offeringTo: tiers)
      tiers.ended(isStored ? .stored : .notStored)
      return isStored
    }
    let begin = nhs_monotonic_ns()
    let isStored = !keepsPicturesOnly && storeAnswer()
    let stored = nhs_monotonic_ns()
    makePictures(content) { [self] pictures in
      var provenance = provenance
      provenance.journey.storing = (stored - begin) / 1000
      provenance.journey.decoding = (nhs_monotonic_ns() - stored) / 1000
      provenance.isStored = isStored || keepsPicturesOnly && storeAnswer() || effects.isStored
      provenance.content = content
      provenance.isRemovalDue = effects.isRemovalDue
      received.stopCounting()
      guard !received.isBroken else {
        let what = "the received bytes were moved to the disk and can't be read back"
        return then(.failed(NuthatchError(.io, "\(what): \(plan.url)")))
      }
      var fetched = FetchedAnswer(
        head: head, body: body, content: content, pictures: pictures, provenance: provenance)
      fetched.isFromPublic = arrival.isFromPublic
      if isToBeJudged, isNamed { fetched.store = { self.store(content, began: self.arrival.began) } }
      if isToBeJudged, plan.method == "POST" {
        fetched.store = { self.storeForGet(content, began: effects.began) }
      }
      then(.answered(fetched))
    }
  }

  /// Replaces the received bytes by all that were saved, including those of earlier attempts, because the waiters get them,
  /// too. Reads a file.
  func beginning(with earlier: SavedBytes?) -> AnswerProcessor {
    guard let earlier, case let whole = ByteBuffer(shared.runtime.inFlight, else: shared.path),
      earlier.read(into: whole)
    else { return self }
    (received, verdict) = (whole, nil)
    return self
  }

  /// Whether thumbnails are stored without the body. Then the answer's record is written after all of them, so that a
  /// reader never finds only some.
  private var keepsPicturesOnly: Bool { !recipes.isEmpty && !shared.settings.keepsSource }

  // MARK: Storing

  private func renew(_ base: StoredAnswer, _ isStored: inout Bool) -> StoredAnswer? {
    guard
      let meta = Caching.renewed(
        base.record, by: head, requestTime: arrival.requestTime, responseTime: arrival.responseTime)
    else { return nil }
    // The renewed answer goes to the waiters even if it can't be stored.
    let fate = Caching.fate(of: meta, arrival.redirects, plan)
    switch fate {
    case .kept: isStored = arrival.write(meta, began: arrival.began)
    case .dropped: shared.takeOut(plan.name)
    case .left: break
    }
    return StoredAnswer(
      base, renewedAs: meta, isStored: isStored || fate == .left,
      age: meta.answer.age(plan.freshness, now: shared.clock.seconds))
  }

  /// Stores the answer. Returns false if it isn't stored.
  ///
  /// - Parameter began: the moment that counts as the start of its request.
  @discardableResult
  func store(
    _ content: Digest?, began: Moment?, offeringTo tiers: SearchedTiers = SearchedTiers()
  ) -> Bool {
    var meta = arrival.meta
    // Nothing is stored for the digest of an empty body but the reason why it isn't a picture.
    meta.content = body.count > 0 || makesPictures ? content : nil
    meta.bodyLength = Int64(body.count)
    meta.isPicture = Picture.isPicture(verdict ?? body.withBytes { ImageProbe.probe($0) })
    guard !isBodyMissing, arrival.mayStore(meta) else {
      // A 404 or 410, or a success that must not be stored, shows that the stored answer is outdated.
      if head.isGone || supersedes && !isIntruder(meta) { shared.takeOut(plan.name) }
      return false
    }
    var isNew = false
    guard !provenance.isTruncated, !isIntruder(meta), !isCloseDelimited || isTakenForWhole,
      keepBody(content, isPicture: meta.isPicture, &isNew), !received.isBroken
    else { return false }
    meta.sizes = sizes(content)
    guard arrival.write(meta, began: began) else { return false }
    // If other answers may have the same body, the sizes go to the list, too, which those answers find.
    listsSizes = isNew
    shared.rememberedFailures.forget(plan.name)
    if plan.name.partition.isEmpty, !CacheDirectives(head.fields).has("private") {
      tiers.offer(meta, body)
    }
    return true
  }

  /// Whether the answer must not replace a stored picture: a page of a captive portal, or an error page with status 200.
  private func isIntruder(_ meta: AnswerRecord) -> Bool {
    plan.policy == .kit && !meta.isPicture && arrival.present?.isPicture == true
  }

  /// Whether the answer is a success that only its own headers forbid to store.
  private var supersedes: Bool {
    (200..<300).contains(head.status) && !isBodyMissing && plan.isShareable && !plan.wantsPart
      && !RequestWishes(plan.headers).noStore
      && (CacheDirectives(head.fields).has("no-store") || Vary(head.fields).isAny)
  }

  /// Whether a body of unknown length counts as whole. It may have been cut off, so it must be a picture that decodes to its
  /// end. Under `rfc9111`, the end of the connection is the end of the body (RFC 9112, 8).
  private var isTakenForWhole: Bool {
    if plan.policy == .rfc9111 { return true }
    return body.withBytes { bytes in
      guard case .found = ImageProbe.probe(bytes) else { return false }
      var options = DecodeOptions(limits)
      // Other decodes may run at the same time.
      options.limits.memory = shared.runtime.workers.memory
      options.earlyStop = false
      // Only the verdict is needed. So decode to the smallest size that still reads all bytes.
      return (try? Thumbnailer.thumbnails(of: bytes, boxes: [ThumbnailBox(8)], options: options)) != nil
    }
  }

  /// Returns the wanted sizes for the answer's record, after those of the present record if that has the same body.
  private func sizes(_ content: Digest?) -> [Recipe] {
    // Usually there is none: don't look for its variants then.
    let present = shared.store.isThere(plan.name.key) ? arrival.present : nil
    return ThumbList.adding(recipes, to: present?.content == content ? present?.sizes ?? [] : [])
  }

  /// Stores the body. Returns false if it can't be stored; then the answer can't be stored, either.
  ///
  /// - Parameter isNew: set to true if the body was stored and wasn't there before.
  private func keepBody(_ content: Digest?, isPicture: Bool, _ isNew: inout Bool) -> Bool {
    guard body.count > 0 else { return true }
    guard let content else { return false }
    if keepsPicturesOnly, isPicture { return true }
    let key = RecordKey(.body, content.bytes)
    do {
      // The same body may be stored for another URL. Its entry in the index doesn't prove that the disk has the bytes.
      if try shared.store.touch(key), shared.store.holds(key) { return true }
      try body.withBytes { (bytes) throws(StoreFault) in _ = try shared.store.commit(key, parts: [bytes]) }
      // If the disk returned zeros for bytes that were moved to a file, the stored bytes don't match this digest.
      if received.isBroken { try shared.store.remove(key) }
      isNew = true
      return !received.isBroken
    } catch {
      shared.counts.note(error)
      return false
    }
  }

  // MARK: Pictures

  private var makesPictures: Bool {
    !recipes.isEmpty && (200..<300).contains(head.status) && !isBodyMissing
  }

  private func makePictures(_ content: Digest?, _ then: @escaping @Sendable (PendingDecodes.Pictures) -> Void)
  {
    guard makesPictures, let content else { return then([:]) }
    let maker = shared.maker(limits)
    var source = PictureSource(content: content, url: provenance.finalURL, made: made, body: body)
    source.isListed = listsSizes
    if case .found(let info) = verdict { source.info = info }
    maker.makeHere(source, recipes, priority: priority, then: then)
  }
}
