import NuthatchImaging

extension Cache {
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
    var url = url
    do {
      // Its own bytes, not a copy of them.
      return try url.withUTF8 { try peek(UnsafeRawBufferPointer($0), box, decode: decode) }
    } catch {
      throw error as? NuthatchError ?? NuthatchError(.internal, "\(error)")
    }
  }

  /// The same for the bytes of a URL, of which no string is made when the picture has been shown before.
  package func peek(
    _ url: UnsafeRawBufferPointer, _ box: ThumbnailBox, decode: Bool = false
  ) throws(NuthatchError) -> Image? {
    try checkPeekable()
    guard let size = PeekTable.number(box) else {
      throw NuthatchError(
        .invalid, "a box of \(box.width)x\(box.height): its sides must be 1 to \(ThumbnailBox.maxSide)")
    }
    if let image = shown(url, size) { return image }
    guard let text = String(validating: url, as: UTF8.self) else {
      throw NuthatchError(.badURL, "the URL is not UTF-8")
    }
    var request = Request(text)
    request.boxes = [box]
    // What needs no server needs a worker.
    guard try LocalRequest(request, options) == nil else { return nil }
    let plan = try RequestPlan(request, options, shelf)
    guard let (reached, stored) = shared.findFresh(plan) else { return nil }
    return picture(stored, reached, text, url, size, decodes: decode)
  }

  /// What a request for one picture would give at once, where the same was shown before: a hit, counted as one, for which
  /// neither request nor ticket is made. nil for whatever takes longer, and where the log tells of every request.
  package func hit(_ url: UnsafeRawBufferPointer, size: Int) -> Image? {
    guard !isForked, !peeks.isClosed, !Log.isOn(.info), let size = PeekTable.number(ThumbnailBox(size)) else {
      return nil
    }
    guard let image = shown(url, size) else { return nil }
    shared.counts.countHit()
    return image
  }

  /// The same for an answer.
  package func hit(_ url: String) -> Response? {
    guard !isForked, !peeks.isClosed, !Log.isOn(.info), let answer = recalled(url) else { return nil }
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

  /// What `request` asks for, with its credentials, cache key and headers, if it can be shown at once. Of its sizes there must
  /// be one.
  public func peek(_ request: Request, decode: Bool = false) throws(NuthatchError) -> Image? {
    try checkPeekable()
    guard request.boxes.count == 1 else {
      throw NuthatchError(.invalid, "\(request.boxes.count) sizes; peek looks for one")
    }
    guard try LocalRequest(request, options) == nil else { return nil }
    let plan = try RequestPlan(request, options, shelf)
    guard let (reached, stored) = shared.findFresh(plan) else { return nil }
    return shared.picture(stored, reached, request.url, decodes: decode)?.0
  }

  /// The answer to a GET, if it can be given at once: it is in the cache, and fresh by the cache's policy. Never asks the
  /// network and never waits.
  ///
  /// - Returns: nil for whatever would take longer, also for an answer that is stale.
  /// - Throws: `bad_url`; `closed`; `forked`.
  public func peekResponse(_ url: String) throws(NuthatchError) -> Response? {
    var url = url
    do {
      return try url.withUTF8 { try peekResponse(UnsafeRawBufferPointer($0)) }
    } catch {
      throw error as? NuthatchError ?? NuthatchError(.internal, "\(error)")
    }
  }

  /// The same for the bytes of a URL, of which no string is made when its answer was given before.
  package func peekResponse(_ bytes: UnsafeRawBufferPointer) throws(NuthatchError) -> Response? {
    try checkPeekable()
    if let known = recalled(bytes) { return known }
    guard let url = String(validating: bytes, as: UTF8.self) else {
      throw NuthatchError(.badURL, "the URL is not UTF-8")
    }
    var request = Request(url)
    // As who waits for it asks: the terms are the same, then.
    request.delivery = .fresh
    guard try LocalRequest(request, options) == nil else { return nil }
    let plan = try RequestPlan(request, options, shelf)
    guard let (reached, stored) = shared.findFresh(plan) else { return nil }
    return response(stored, reached, url)
  }

  /// The answer to a GET of which nothing is said but the URL, if it was given before.
  private func recalled(_ url: String) -> Response? {
    var url = url
    return url.withUTF8 { recalled(UnsafeRawBufferPointer($0)) }
  }

  private func recalled(_ url: UnsafeRawBufferPointer) -> Response? {
    guard let old = recalls.find(url), let (present, answer) = shared.renewed(old) else { return nil }
    if present !== old { recalls.keep(present) }
    return answer
  }

  /// The same from what is stored.
  private func response(_ stored: StoredAnswer, _ plan: RequestPlan, _ url: String) -> Response? {
    let origin = Provenance.stored(stored).behind(plan)
    guard let response = stored.immediateAnswer(to: plan, url, origin)?.response else { return nil }
    var bytes = url
    let entry =
      remembersHits
      ? bytes.withUTF8 { shared.entry(response, stored, plan, UnsafeRawBufferPointer($0)) } : nil
    if let entry { recalls.keep(entry) }
    return response
  }

  /// The picture from what is stored.
  private func picture(
    _ stored: StoredAnswer, _ plan: RequestPlan, _ shownURL: String, _ url: UnsafeRawBufferPointer,
    _ size: UInt64, decodes: Bool
  ) -> Image? {
    guard let (image, kept) = shared.picture(stored, plan, shownURL, decodes: decodes) else { return nil }
    if remembersHits, let kept, let entry = shared.entry(image, stored, plan, url, size) {
      peeks.keep(entry, as: kept)
    }
    return image
  }

  /// Whether a hit may be found again by its URL alone. A netrc file may name another user the next time.
  private var remembersHits: Bool { options.netrc == nil }

  // MARK: Requests that a peek answers

  /// The picture or the answer that a request gets, if it was given before. Every waiting mode gets the same of what is
  /// fresh.
  func given(for request: Request) -> Ticket? {
    var url = request.url
    if let size = size(of: request) {
      return url.withUTF8 { shown(UnsafeRawBufferPointer($0), size) }.map { answered(request, $0) }
    }
    return request.asksForAnswer ? recalled(request.url).map { answered(request, $0) } : nil
  }

  /// The same from what is stored, if the request is one that is remembered.
  func given(_ stored: StoredAnswer, _ plan: RequestPlan, for request: Request) -> Ticket? {
    guard stored.grade == .fresh else { return nil }
    var url = request.url
    if let size = size(of: request) {
      return url.withUTF8 {
        picture(stored, plan, request.url, UnsafeRawBufferPointer($0), size, decodes: false)
      }.map { answered(request, $0) }
    }
    return request.asksForAnswer ? response(stored, plan, request.url).map { answered(request, $0) } : nil
  }

  /// The size of a request that a peek answers.
  private func size(of request: Request) -> UInt64? {
    guard request.asksForOnePicture, request.maxPixels ?? options.maxPixels == options.maxPixels,
      let box = request.boxes.first
    else { return nil }
    return PeekTable.number(box)
  }

  /// The picture that was shown before.
  private func shown(_ url: UnsafeRawBufferPointer, _ size: UInt64) -> Image? {
    if let image = peeks.find(url, size) { return image }
    guard let old = peeks.entry(url, size), let (present, kept) = shared.renewed(old) else { return nil }
    if remembersHits { peeks.keep(present, as: kept) }
    return present.image
  }

  /// A ticket that has its final event already, and keeps nothing to be submitted again.
  private func answered(_ request: Request, _ image: Image) -> Ticket {
    answered(Ticket(url: request.url, tag: request.tag), Answer(images: [image]))
  }

  /// The same, but for its request.
  private func answered(_ request: Request, _ response: Response) -> Ticket {
    let asked = RepeatableRequest(request)
    return answered(
      Ticket(url: request.url, tag: request.tag, origin: asked), Answer(response: response))
  }

  private func answered(_ ticket: Ticket, _ answer: Answer) -> Ticket {
    shared.counts.countHit()
    Log.follow(ticket)
    ticket.finish(.answer(.cached, answer, isFinal: true))
    return ticket
  }
}

extension Request {
  /// Whether it is what `Cache.peek` looks for: one picture of a URL, and all else as the cache has it.
  var asksForOnePicture: Bool { boxes.count == 1 && freezing == nil && isBare }

  /// Whether it is what `Cache.peekResponse` looks for.
  var asksForAnswer: Bool { boxes.isEmpty && freezing == nil && maxPixels == nil && isBare }

  private var isBare: Bool {
    method == "GET" && headers.isEmpty && body.isEmpty && user == nil && !isAnonymous && cacheKey == nil
      && !ignoreQuery && partition == nil && policy == nil && `guard` == nil && maxBytes == nil
      && !allowTruncated && asks.isEmpty && site == nil && netrc == nil && certificate == nil && signIn == nil
      && upload == nil && saveTo.isEmpty
  }
}
