import NuthatchCore

/// Answers the questions of a request (`Request.asks`). The request waits for the reply.
public typealias Answering = @Sendable (Question) async -> Reply

extension Cache {
  /// Gets a URL: from the cache if the answer is fresh, else from the network. An answer with any status is a success.
  ///
  /// ```swift
  /// let response = try await cache.get("https://example.org/a.json")
  /// ```
  ///
  /// - Throws: the reason of the failure; `cancelled` if the task was cancelled, which ends the request.
  public func get(_ url: String) async throws(NuthatchError) -> Response {
    try await response(for: Request(url))
  }

  /// Carries out a request without sizes and waits for its answer: a fresh one, or also a stale one if `delivery` is `first`.
  ///
  /// - Parameter answering: Answers the request's questions; nil leaves them unanswered, without waiting.
  /// - Throws: like `get`; `bad_header`; `invalid` for a request with sizes.
  public func response(
    for request: Request, answering: Answering? = nil
  ) async throws(NuthatchError) -> Response {
    guard request.boxes.isEmpty else {
      throw NuthatchError(.invalid, "the request has sizes, so that it has images: images(for:)")
    }
    return try await final(of: request, answering).result.get()
  }

  /// Returns a thumbnail that fits a square box of `size` pixels a side: upright, never enlarged. A fresh thumbnail comes from the cache.
  /// Else the picture is fetched, and picture and thumbnail are stored.
  ///
  /// ```swift
  /// let image = try await cache.thumbnail("https://example.org/a.jpg", size: 256)
  /// ```
  ///
  /// - Throws: like `get`; `http` if the answer isn't a success; `not_an_image`, `unsupported_format`, `corrupt`, `truncated`,
  ///   `too_many_pixels`.
  public func thumbnail(_ url: String, size: Int) async throws(NuthatchError) -> Image {
    // A thumbnail that was shown before needs no request.
    if let image = url.withBytes({ instant.hit($0, size: size) }) { return image }
    return try await thumbnail(Request(url), ThumbnailBox(size))
  }

  /// Returns a thumbnail of the picture that `request` fetches, for any box; the request's own sizes are ignored. If `delivery` is
  /// `first`, it can be stale.
  public func thumbnail(_ request: Request, _ box: ThumbnailBox) async throws(NuthatchError) -> Image {
    var request = request
    request.boxes = [box]
    guard let image = try await images(for: request).first else {
      throw NuthatchError(.internal, "the decoder returned no picture")
    }
    return image
  }

  /// Carries out a request with sizes and waits for the images, in the order of the sizes. If `delivery` is `first`, they can be stale.
  ///
  /// - Parameter answering: as for `response(for:answering:)`.
  /// - Throws: like `thumbnail`; `invalid` for a request without sizes.
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

  /// Starts a request and returns its events: a stale answer from the cache and then the fresh one, progress, questions. The final event
  /// is the last.
  ///
  /// ```swift
  /// for await event in try cache.events(for: request) { show(event.images) }
  /// ```
  ///
  /// - Throws: like `submit`; later errors are events.
  public func events(for request: Request) throws(NuthatchError) -> EventSequence {
    EventSequence(try submit(request))
  }

  /// Carries out a request for one answer, passes its questions to `answering`, and returns the final event.
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
        // Either the reply is too late: then the final event has the result. Or it doesn't fit the question: then leave the
        // question unanswered.
        try? ticket.answer(question, .pass)
      }
    }
    throw NuthatchError(.internal, "the ticket has no final event: \(ticket.shownURL)")
  }
}

extension Ticket {
  /// Returns the final event. Cancelling the task cancels the request.
  fileprivate func ended() async -> Event {
    if let event = take(), event.isFinal { return event }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in whenFinal { continuation.resume(returning: $0) } }
    } onCancel: {
      cancel()
    }
  }
}
