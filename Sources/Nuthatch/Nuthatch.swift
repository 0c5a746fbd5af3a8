// # Nuthatch: the library for Swift programs
//
// The core as it is, and an `async` face for it. Swift's concurrency lives in this room only: it would pull Dispatch
// into the C library. It must hold no logic of its own.

@_exported import NuthatchCore

extension Cache {
  /// Fetches a URL. Cancelling the task cancels the request.
  ///
  /// ```swift
  /// let response = try await cache.response(for: Request("https://example.org/a.jpg"))
  /// ```
  ///
  /// - Returns: The answer, whatever its status.
  /// - Throws: `NuthatchError`.
  public func response(for request: Request) async throws -> Response {
    let ticket = try submit(request)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        ticket.whenFinal { event in continuation.resume(with: event.result.mapError { $0 as any Error }) }
      }
    } onCancel: {
      ticket.cancel()
    }
  }
}
