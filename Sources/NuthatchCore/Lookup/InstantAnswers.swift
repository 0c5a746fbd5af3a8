import CSystem
import NuthatchImaging
import Synchronization

/// Gives the answers of a handle that can be given at once on the calling thread: recent ones, and those that are stored and
/// ready. It asks no server, reads nothing long, and never waits.
package final class InstantAnswers: Sendable {
  /// The recent answers. Nil if the options name a netrc file: then every plain request reads that file (`OutsideReadings`),
  /// because it may name another user the next time. Nil with sections for hosts, too. A hit then takes 8 µs instead of 0.1 µs.
  private let hits: HitTable?
  private let shared: SharedCache
  private let options: Options
  let termsCache = TermsCache()
  /// Whether the handle is closed.
  private let isShut = Atomic(false)
  private let epoch = nhs_fork_epoch()

  init(_ shared: SharedCache, _ options: Options) {
    self.shared = shared
    self.options = options
    let isByURL = (options.netrc ?? .off) == .off && options.hosts == nil
    hits = isByURL ? HitTable(shared.store, shared.clock) : nil
  }

  /// Releases the recent answers. Later calls throw `closed`.
  func shut() {
    isShut.store(true, ordering: .relaxed)
    hits?.shut()
  }

  /// - Throws: `closed`; `forked`.
  @inline(__always)
  func check() throws(NuthatchError) {
    if nhs_fork_epoch() != epoch { throw .forked }
    if isShut.load(ordering: .relaxed) { throw .closed }
  }

  // MARK: Peeks

  /// Returns the picture of a URL in a square box. If it was shown before, no string is made of the URL.
  package func picture(
    _ url: UnsafeRawBufferPointer, _ side: Int, asHit: Bool
  ) throws(NuthatchError) -> Image? {
    if let image = try known(url, side, asHit: asHit) { return image }
    return try picture(url, ThumbnailBox(side), asHit: asHit)
  }

  /// As `picture`, but returns nil if the picture wasn't shown before.
  @inline(__always)
  package func known(
    _ url: UnsafeRawBufferPointer, _ side: Int, asHit: Bool
  ) throws(NuthatchError) -> Image? {
    try check()
    guard let size = HitTable.size(of: ThumbnailBox(side)), let image = hits?.image(url, size) else {
      return nil
    }
    if asHit { countHit(image.url, Answer(images: [image])) }
    return image
  }

  /// Returns the answer of a URL if it was given before.
  package func known(_ url: UnsafeRawBufferPointer, asHit: Bool) throws(NuthatchError) -> Response? {
    try check()
    guard let answer = hits?.answer(url) else { return nil }
    if asHit { countHit(answer.url, Answer(response: answer)) }
    return answer
  }

  /// Returns the picture of a URL in any box.
  ///
  /// - Parameters:
  ///   - decode: whether to unpack a packed thumbnail.
  ///   - asHit: whether to count and log it like a request that was a hit.
  package func picture(
    _ url: UnsafeRawBufferPointer, _ box: ThumbnailBox, decode: Bool = false, asHit: Bool = false
  ) throws(NuthatchError) -> Image? {
    try check()
    guard let size = HitTable.size(of: box) else {
      throw NuthatchError(
        .invalid, "the size is \(box.width)x\(box.height); its sides must be 1 to \(ThumbnailBox.maxSide)")
    }
    var image = hits?.image(url, size)
    if image == nil {
      var request = try Request(url)
      request.boxes = [box]
      image = try atHand(request, decodes: decode)?.images.first
    }
    if asHit, let image { countHit(image.url, Answer(images: [image])) }
    return image
  }

  /// Returns the answer of a URL.
  package func response(
    _ url: UnsafeRawBufferPointer, asHit: Bool = false
  ) throws(NuthatchError) -> Response? {
    if let answer = try known(url, asHit: asHit) { return answer }
    // Use the request of a call that waits for one answer, so that both share their terms.
    let answer = try atHand(try Request(url).forOneAnswer)?.response
    if asHit, let answer { countHit(answer.url, Answer(response: answer)) }
    return answer
  }

  /// Returns the answer to any request.
  package func answer(
    to request: Request, decode: Bool = false, asHit: Bool = false
  ) throws(NuthatchError) -> Answer? {
    try check()
    var answer = remembered(for: request)
    if answer == nil { answer = try atHand(request, decodes: decode) }
    if asHit, let answer { countHit(request.url, answer) }
    return answer
  }

  private func atHand(_ request: Request, decodes: Bool = false) throws(NuthatchError) -> Answer? {
    // A request that needs no server needs a worker.
    guard try LocalRequest(request, options) == nil else { return nil }
    guard let (plan, stored) = shared.reader.readHit(try RequestPlan(request, options, termsCache)) else {
      return nil
    }
    if stored.isUnchecked { shared.check(plan) }
    return give(stored, plan, to: request, decodes: decodes)
  }

  // MARK: Hits

  /// Returns the picture of a URL if it was shown before, and counts it as a hit. Makes neither a request nor a ticket. Returns
  /// nil if it would take longer, or if every request is logged.
  package func hit(_ url: UnsafeRawBufferPointer, size: Int) -> Image? {
    guard nhs_fork_epoch() == epoch, !Log.isOn(.info), let size = HitTable.size(of: ThumbnailBox(size)),
      let image = hits?.image(url, size)
    else { return nil }
    shared.counts.countHit()
    return image
  }

  /// Returns the answer of a URL if it was given before, and counts it as a hit.
  package func hit(_ url: UnsafeRawBufferPointer) -> Response? {
    guard nhs_fork_epoch() == epoch, !Log.isOn(.info), let answer = hits?.answer(url) else { return nil }
    shared.counts.countHit()
    return answer
  }

  private func countHit(_ url: @autoclosure () -> String, _ answer: @autoclosure () -> Answer) {
    guard Log.isOn(.info) else { return shared.counts.countHit() }
    _ = finished(Ticket(url: url(), tag: nil), answer())
  }

  // MARK: Tickets

  /// Returns a finished ticket for a request whose picture or answer was given before. If the answer is fresh, every delivery
  /// mode gets the same.
  func ticket(for request: Request) -> Ticket? {
    remembered(for: request).map { finished(request, $0) }
  }

  /// Returns a finished ticket with the stored answer, if the request is one that can be remembered.
  func ticket(_ stored: StoredAnswer, _ plan: RequestPlan, for request: Request) -> Ticket? {
    guard HitTable.size(of: request) != nil, Decision(stored, plan) == .hit else { return nil }
    return give(stored, plan, to: request, decodes: false).map { finished(request, $0) }
  }

  /// A ticket for a picture doesn't keep its request for a resubmission.
  private func finished(_ request: Request, _ answer: Answer) -> Ticket {
    let repeatable = answer.response.map { _ in RepeatableRequest(request) }
    return finished(Ticket(url: request.url, tag: request.tag, repeatable: repeatable), answer)
  }

  private func finished(_ ticket: Ticket, _ answer: Answer) -> Ticket {
    shared.counts.countHit()
    Log.follow(ticket)
    ticket.finish(.answer(.cached, answer, isFinal: true))
    return ticket
  }

  // MARK: Recent answers

  private func remembered(for request: Request) -> Answer? {
    guard let hits, let size = HitTable.size(of: request) else { return nil }
    return request.url.withBytes { url in
      size == HitTable.answerSize
        ? hits.answer(url).map { Answer(response: $0) } : hits.image(url, size).map { Answer(images: [$0]) }
    }
  }

  /// Returns the one picture that a request wants, or the answer, from the store. Remembers it if possible.
  private func give(
    _ stored: StoredAnswer, _ plan: RequestPlan, to request: Request, decodes: Bool
  ) -> Answer? {
    func hit(_ image: Image? = nil, _ answer: Response? = nil) -> RememberedHit? {
      HitTable.size(of: request).flatMap {
        RememberedHit(request.url, $0, image: image, answer: answer, stored, plan)
      }
    }
    guard plan.wantsPictures else {
      let answer = stored.immediateAnswer(to: plan, request.url, .fromStore(stored).addingRedirects(of: plan))
      if let hits, let response = answer?.response, let hit = hit(nil, response) { hits.keep(hit) }
      return answer
    }
    guard
      let (image, kept) = stored.picture(
        for: plan, request.url, decodes: decodes, keptBy: shared.reader.thumbnails)
    else { return nil }
    if let hits, let kept, let hit = hit(image) { hits.keep(hit, as: kept) }
    return Answer(images: [image])
  }
}

extension Request {
  /// - Throws: `bad_url` for bytes that aren't UTF-8.
  fileprivate init(_ url: UnsafeRawBufferPointer) throws(NuthatchError) {
    guard let text = String(validating: url, as: UTF8.self) else {
      throw NuthatchError(.badURL, "the URL is not UTF-8")
    }
    self.init(text)
  }
}
