import CNuthatch
import NuthatchCore

/// What a C program has said about a request so far.
struct Draft: Sendable {
  var request: Request
  var sizes: [(width: Int, height: Int)] = []
  var mode = ThumbnailBox.Mode.fit
  var enlarge = false
  var quality = ThumbnailBox.Quality.best
  var callback: nh_callback?
  var isQuiet = false
  var isFreezable = false
  /// What becomes of it when its server can't be reached, where that is wanted.
  var freezing = Request.Freezing()
  /// What the events of its tickets carry; a number as far as the library is concerned.
  var userBits: UInt = 0

  init(_ request: Request) { self.request = request }

  /// The request as a cache is to carry it out.
  var complete: Request {
    var result = request
    result.boxes = sizes.map {
      ThumbnailBox(width: $0.width, height: $0.height, mode: mode, enlarge: enlarge, quality: quality)
    }
    // A request of which nothing else is said is answered soonest.
    if isFreezable { result.freezing = freezing }
    return result
  }
}

/// A request under construction, which several threads may touch.
final class RequestDraft: Sendable {
  private let draft: Locked<Draft>

  init(_ draft: Draft) { self.draft = Locked(draft) }

  var current: Draft { draft.withLock { $0 } }

  func change(_ body: (inout Draft) throws(NuthatchError) -> Void) throws(NuthatchError) {
    try draft.withLock { (draft) throws(NuthatchError) in try body(&draft) }
  }
}

/// Says something more about a request.
func changing(_ handle: OpaquePointer?, _ body: (inout Draft) throws(NuthatchError) -> Void)
  -> nh_status
{
  answering { () throws(NuthatchError) in
    try find(handle, .request, as: RequestDraft.self).change(body)
  }
}
