import CSystem
import NuthatchImaging
import Synchronization

/// What a handle can give at once, on the thread that asks: what it has given of late, and what is stored and ready. No server
/// is asked, nothing long is read, and nothing waits.
package final class InstantAnswers: Sendable {
  /// What it has given of late; nil where the options have each plain request read something from outside (`OutsideReadings`):
  /// a netrc file may name another user the next time. Then each hit reads the file and its record, which takes 8 µs, not 0.1.
  private let hits: HitTable?
  private let shared: SharedCache
  private let options: Options
  let termsCache = TermsCache()
  /// Whether it takes no more questions.
  private let isShut = Atomic(false)
  private let epoch = nhs_fork_epoch()

  init(_ shared: SharedCache, _ options: Options) {
    self.shared = shared
    self.options = options
    hits = (options.netrc ?? .off) == .off ? HitTable(shared.store, shared.clock) : nil
  }

  /// Lets go of what it remembers. Further calls throw `closed`.
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

  /// The picture of a URL in a square, of which no string is made when it has been shown before.
  package func picture(
    _ url: UnsafeRawBufferPointer, _ side: Int, asHit: Bool
  ) throws(NuthatchError) -> Image? {
    if let image = try known(url, side, asHit: asHit) { return image }
    return try picture(url, ThumbnailBox(side), asHit: asHit)
  }

  /// The same, nil where it hasn't been shown before.
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

  /// The same for an answer.
  package func known(_ url: UnsafeRawBufferPointer, asHit: Bool) throws(NuthatchError) -> Response? {
    try check()
    guard let answer = hits?.answer(url) else { return nil }
    if asHit { countHit(answer.url, Answer(response: answer)) }
    return answer
  }

  /// The picture of a URL in any box.
  ///
  /// - Parameters:
  ///   - decode: whether one that is packed is unpacked.
  ///   - asHit: whether it counts as the hit that a request would have been, and the log tells of it.
  package func picture(
    _ url: UnsafeRawBufferPointer, _ box: ThumbnailBox, decode: Bool = false, asHit: Bool = false
  ) throws(NuthatchError) -> Image? {
    try check()
    guard let size = HitTable.size(of: box) else {
      throw NuthatchError(
        .invalid, "a box of \(box.width)x\(box.height): its sides must be 1 to \(ThumbnailBox.maxSide)")
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

  /// The same for an answer.
  package func response(
    _ url: UnsafeRawBufferPointer, asHit: Bool = false
  ) throws(NuthatchError) -> Response? {
    if let answer = try known(url, asHit: asHit) { return answer }
    // As a call that waits for one answer asks: the terms are the same, then.
    let answer = try atHand(try Request(url).forOneAnswer)?.response
    if asHit, let answer { countHit(answer.url, Answer(response: answer)) }
    return answer
  }

  /// The same for any request.
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
    // What needs no server needs a worker.
    guard try LocalRequest(request, options) == nil else { return nil }
    guard let (plan, stored) = shared.reader.readHit(try RequestPlan(request, options, termsCache)) else {
      return nil
    }
    if stored.isUnchecked { shared.check(plan) }
    return give(stored, plan, to: request, decodes: decodes)
  }

  // MARK: Hits

  /// What a request for one picture would give, where the same was shown before: a hit, counted as one, for which neither
  /// request nor ticket is made. nil for what takes longer, and where the log tells of every request.
  package func hit(_ url: UnsafeRawBufferPointer, size: Int) -> Image? {
    guard nhs_fork_epoch() == epoch, !Log.isOn(.info), let size = HitTable.size(of: ThumbnailBox(size)),
      let image = hits?.image(url, size)
    else { return nil }
    shared.counts.countHit()
    return image
  }

  /// The same for an answer.
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

  /// The ticket of a request whose picture or answer was given before. Every waiting mode gets the same of what is fresh.
  func ticket(for request: Request) -> Ticket? {
    remembered(for: request).map { finished(request, $0) }
  }

  /// The same from what is stored, if the request is one that is remembered.
  func ticket(_ stored: StoredAnswer, _ plan: RequestPlan, for request: Request) -> Ticket? {
    guard HitTable.size(of: request) != nil, Decision(stored, plan) == .hit else { return nil }
    return give(stored, plan, to: request, decodes: false).map { finished(request, $0) }
  }

  /// One for a picture keeps nothing to be submitted again.
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

  // MARK: What is remembered

  private func remembered(for request: Request) -> Answer? {
    guard let hits, let size = HitTable.size(of: request) else { return nil }
    return request.url.withBytes { url in
      size == HitTable.answerSize
        ? hits.answer(url).map { Answer(response: $0) } : hits.image(url, size).map { Answer(images: [$0]) }
    }
  }

  /// The one picture that a request wants, or the answer, from what is stored. It is remembered, if the request is one that is.
  private func give(
    _ stored: StoredAnswer, _ plan: RequestPlan, to request: Request, decodes: Bool
  ) -> Answer? {
    func hit(_ image: Image? = nil, _ answer: Response? = nil) -> RememberedHit? {
      HitTable.size(of: request).flatMap {
        RememberedHit(request.url, $0, image: image, answer: answer, stored, plan)
      }
    }
    guard plan.wantsPictures else {
      let answer = stored.immediateAnswer(to: plan, request.url, .fromStore(stored).behind(plan))
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
