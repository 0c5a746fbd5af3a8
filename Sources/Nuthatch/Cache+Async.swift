import NuthatchCore

/// Answers the questions of a request (`Request.asks`), while it waits for that.
public typealias Answering = @Sendable (Question) async -> Reply

extension Cache {
  /// Fetches a URL: from the cache while that is fresh, else from the network. An answer of any status is a success.
  ///
  /// ```swift
  /// let response = try await cache.get("https://example.org/a.json")
  /// ```
  ///
  /// - Throws: why there is no answer; `cancelled` when the task is, which ends the request.
  public func get(_ url: String) async throws(NuthatchError) -> Response {
    try await response(for: Request(url))
  }

  /// Carries out a request without sizes and waits for its answer: the one that holds now, or a stale one where `delivery` is
  /// `first`.
  ///
  /// - Parameter answering: Answers what the request asks; nil leaves its questions unanswered, without waiting.
  /// - Throws: as `get`; `bad_header`; `invalid` for a request with sizes.
  public func response(
    for request: Request, answering: Answering? = nil
  ) async throws(NuthatchError) -> Response {
    guard request.boxes.isEmpty else {
      throw NuthatchError(.invalid, "the request has sizes, so that it has images: images(for:)")
    }
    return try await final(of: request, answering).result.get()
  }

  /// A thumbnail that fits a square box of `size` pixels a side: upright, never enlarged; from the cache while that is
  /// fresh, else the picture is fetched, and both are kept.
  ///
  /// ```swift
  /// let image = try await cache.thumbnail("https://example.org/a.jpg", size: 256)
  /// ```
  ///
  /// - Throws: as `get`; `http` when the answer isn't a success; `not_an_image`, `unsupported_format`, `corrupt`,
  ///   `truncated`, `too_many_pixels`.
  public func thumbnail(_ url: String, size: Int) async throws(NuthatchError) -> Image {
    // What was shown before needs no request.
    if let image = url.withBytes({ instant.hit($0, size: size) }) { return image }
    return try await thumbnail(Request(url), ThumbnailBox(size))
  }

  /// A thumbnail of what `request` fetches, that fits any box; its own sizes are left aside. With the `delivery` `first` it may
  /// be stale.
  public func thumbnail(_ request: Request, _ box: ThumbnailBox) async throws(NuthatchError) -> Image {
    var request = request
    request.boxes = [box]
    guard let image = try await images(for: request).first else {
      throw NuthatchError(.internal, "no picture came out")
    }
    return image
  }

  /// Carries out a request with sizes and waits for the images, in the order of the sizes. With the `delivery` `first` they may
  /// be stale.
  ///
  /// - Parameter answering: as for `response(for:answering:)`.
  /// - Throws: as `thumbnail`; `invalid` for a request without sizes.
  public func images(
    for request: Request, answering: Answering? = nil
  ) async throws(NuthatchError) -> [Image] {
    guard !request.boxes.isEmpty else {
      throw NuthatchError(.invalid, "the request has no sizes: response(for:)")
    }
    let event = try await final(of: request, answering)
    if let error = event.error { throw error }
    return event.images
  }

  /// Starts a request and gives its events: a stale answer from the cache and the one that holds now after it, progress,
  /// questions; the final one is the last.
  ///
  /// ```swift
  /// for await event in try cache.events(for: request) { show(event.images) }
  /// ```
  ///
  /// - Throws: as `submit`; what goes wrong later is an event.
  public func events(for request: Request) throws(NuthatchError) -> EventSequence {
    EventSequence(try submit(request))
  }

  /// The final event of a request that waits for one answer.
  private func final(of request: Request, _ answering: Answering?) async throws(NuthatchError) -> Event {
    var request = request.forOneAnswer
    request.progressEvents = false
    let ticket = try submit(request)
    if request.questions.isEmpty { return await ticket.ended() }
    for await event in EventSequence(ticket) {
      if event.isFinal { return event }
      guard let question = event.question else { continue }
      let reply = await answering?(question) ?? .pass
      do throws(NuthatchError) {
        try ticket.answer(question, reply)
      } catch {
        // Too late, and the final event tells what came of it; or no answer to this question, and there is none then.
        try? ticket.answer(question, .pass)
      }
    }
    throw NuthatchError(.internal, "a ticket without an end: \(ticket.shownURL)")
  }
}

extension Ticket {
  /// The final event. Cancelling the task cancels the request.
  fileprivate func ended() async -> Event {
    if let event = take(), event.isFinal { return event }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in whenFinal { continuation.resume(returning: $0) } }
    } onCancel: {
      cancel()
    }
  }
}
