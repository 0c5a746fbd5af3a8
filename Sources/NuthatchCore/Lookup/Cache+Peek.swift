import NuthatchImaging

extension Cache {
  // MARK: Peeks

  /// The thumbnail of a URL that fits a square box, if it can be shown at once: it is in memory, or lies on disk as
  /// pixels, and is fresh by the cache's policy. Never asks the network and never waits.
  ///
  /// - Parameter decode: Whether one that is packed on disk is unpacked, which takes some tenths of a millisecond. Off.
  /// - Returns: nil for whatever would take longer, also for an answer that is stale.
  /// - Throws: `bad_url`; `invalid` for a box without a size; `closed`; `forked`.
  public func peek(_ url: String, size: Int, decode: Bool = false) throws(NuthatchError) -> Image? {
    try peek(url, ThumbnailBox(size), decode: decode)
  }

  /// The same for any box.
  public func peek(_ url: String, _ box: ThumbnailBox, decode: Bool = false) throws(NuthatchError) -> Image? {
    try url.withBytes { (url) throws(NuthatchError) in try peek(url, box, decode: decode) }
  }

  /// The same for the bytes of a URL, of which no string is made when the picture has been shown before.
  package func peek(
    _ url: UnsafeRawBufferPointer, _ box: ThumbnailBox, decode: Bool = false
  ) throws(NuthatchError) -> Image? {
    try checkPeekable()
    guard let size = HitTable.size(of: box) else {
      throw NuthatchError(
        .invalid, "a box of \(box.width)x\(box.height): its sides must be 1 to \(ThumbnailBox.maxSide)")
    }
    if let image = hits?.image(url, size) { return image }
    var request = try Request(url)
    request.boxes = [box]
    return try answerAtHand(request, decodes: decode)?.images.first
  }

  /// What `request` asks for, with its credentials, cache key and headers, if it can be shown at once. Of its sizes there must
  /// be one.
  public func peek(_ request: Request, decode: Bool = false) throws(NuthatchError) -> Image? {
    try checkPeekable()
    guard request.boxes.count == 1 else {
      throw NuthatchError(.invalid, "\(request.boxes.count) sizes; peek looks for one")
    }
    if let image = remembered(for: request)?.images.first { return image }
    return try answerAtHand(request, decodes: decode)?.images.first
  }

  /// The answer to a GET, if it can be given at once: it is in the cache, and fresh by the cache's policy. Never asks the
  /// network and never waits.
  ///
  /// - Returns: nil for whatever would take longer, also for an answer that is stale.
  /// - Throws: `bad_url`; `closed`; `forked`.
  public func peekResponse(_ url: String) throws(NuthatchError) -> Response? {
    try url.withBytes { (url) throws(NuthatchError) in try peekResponse(url) }
  }

  /// The same for the bytes of a URL, of which no string is made when its answer was given before.
  package func peekResponse(_ url: UnsafeRawBufferPointer) throws(NuthatchError) -> Response? {
    try checkPeekable()
    if let answer = hits?.answer(url) { return answer }
    var request = try Request(url)
    // As a call that waits for one answer asks: the terms are the same, then.
    request.delivery = .fresh
    return try answerAtHand(request)?.response
  }

  /// What is stored, if it can be given at once.
  private func answerAtHand(_ request: Request, decodes: Bool = false) throws(NuthatchError) -> Answer? {
    // What needs no server needs a worker.
    guard try LocalRequest(request, options) == nil else { return nil }
    let plan = try RequestPlan(request, options, termsCache)
    guard let (reached, stored) = shared.reader.findFresh(plan) else { return nil }
    if stored.isUnchecked { shared.check(reached) }
    return give(stored, reached, to: request, decodes: decodes)
  }

  // MARK: Hits

  /// What a request for one picture would give at once, where the same was shown before: a hit, counted as one, for which
  /// neither request nor ticket is made. nil for whatever takes longer, and where the log tells of every request.
  package func hit(_ url: UnsafeRawBufferPointer, size: Int) -> Image? {
    guard !isForked, !Log.isOn(.info), let size = HitTable.size(of: ThumbnailBox(size)),
      let image = hits?.image(url, size)
    else { return nil }
    shared.counts.countHit()
    return image
  }

  /// The same for an answer.
  package func hit(_ url: String) -> Response? {
    guard !isForked, !Log.isOn(.info), let answer = url.withBytes({ hits?.answer($0) }) else { return nil }
    shared.counts.countHit()
    return answer
  }

  /// The same as `peek`, as the hit that a request would have been: counted as one, and told of in the log.
  package func pictureNow(
    _ url: UnsafeRawBufferPointer, _ box: ThumbnailBox
  ) throws(NuthatchError) -> Image? {
    guard let image = try peek(url, box) else { return nil }
    countHit(String(decoding: url, as: UTF8.self), Answer(images: [image]))
    return image
  }

  /// The same for an answer.
  package func answerNow(_ url: UnsafeRawBufferPointer) throws(NuthatchError) -> Response? {
    guard let response = try peekResponse(url) else { return nil }
    countHit(response.url, Answer(response: response))
    return response
  }

  private func countHit(_ url: @autoclosure () -> String, _ answer: @autoclosure () -> Answer) {
    guard Log.isOn(.info) else { return shared.counts.countHit() }
    _ = answered(Ticket(url: url(), tag: nil), answer())
  }

  // MARK: Requests that are answered at once

  /// The picture or the answer that a request gets, if it was given before. Every waiting mode gets the same of what is
  /// fresh.
  func given(for request: Request) -> Ticket? {
    remembered(for: request).map { answered(request, $0) }
  }

  /// The same from what is stored, if the request is one that is remembered.
  func given(_ stored: StoredAnswer, _ plan: RequestPlan, for request: Request) -> Ticket? {
    guard stored.grade == .fresh, request.hitSize != nil else { return nil }
    return give(stored, plan, to: request, decodes: false).map { answered(request, $0) }
  }

  private func remembered(for request: Request) -> Answer? {
    guard let hits, let size = request.hitSize else { return nil }
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
      request.hitSize.flatMap {
        RememberedHit(request.url, $0, image: image, answer: answer, stored, plan)
      }
    }
    guard plan.wantsPictures else {
      let answer = stored.immediateAnswer(to: plan, request.url, .stored(stored).behind(plan))
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

  /// A ticket that has its final event already. One for a picture keeps nothing to be submitted again.
  private func answered(_ request: Request, _ answer: Answer) -> Ticket {
    let origin = answer.response.map { _ in RepeatableRequest(request) }
    return answered(Ticket(url: request.url, tag: request.tag, origin: origin), answer)
  }

  private func answered(_ ticket: Ticket, _ answer: Answer) -> Ticket {
    shared.counts.countHit()
    Log.follow(ticket)
    ticket.finish(.answer(.cached, answer, isFinal: true))
    return ticket
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

  /// What its hit is remembered under, beside its URL; nil for a request that isn't remembered.
  var hitSize: UInt64? {
    guard isPlain, boxes.count <= 1 else { return nil }
    return boxes.first.map { HitTable.size(of: $0) } ?? HitTable.answerSize
  }
}

extension String {
  /// Calls `use` with its own bytes, not with a copy of them.
  @inline(__always)
  fileprivate func withBytes<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var own = self
    return try own.withUTF8 { utf8 in
      Swift.Result { () throws(Failure) in try use(UnsafeRawBufferPointer(utf8)) }
    }.get()
  }
}
