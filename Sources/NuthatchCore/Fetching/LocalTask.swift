import NuthatchImaging
import NuthatchTransport

/// Handles a ticket that needs no server. The bytes are local, so nothing is shared or stored except thumbnails, which are
/// found by content like all others.
struct LocalTask: Sendable {
  let request: LocalRequest
  let ticket: Ticket
  let download: Download?
  let shared: SharedCache
  let runtime: Runtime

  func start() {
    shared.counts.requests.count()
    // A ticket that is cancelled meanwhile has nothing to release.
    let isSubmitted = runtime.workers.submit(priority: request.priority) { run() }
    if !isSubmitted { ticket.finish(.failed(runtime.workers.whyNoJob)) }
  }

  /// Runs on a worker's thread.
  private func run() {
    guard ticket.isOpen else { return }
    ticket.run()
    do throws(NuthatchError) {
      let (received, type) = try request.read(runtime.inFlight, shared.path)
      received.trim()
      let body = SharedBytes(received)
      guard request.recipes.isEmpty else { return makePictures(of: body, received) }
      received.stopCounting()
      let response = Response(
        url: ticket.url, head: head(body, type), body: body, provenance(false, body.count),
        limits: request.limits)
      let event = Event.answer(Event.Kind.fresh, Answer(response: response), isFinal: true)
      guard let download else { return ticket.finish(event) }
      runtime.loop.post {
        download.begin(ticket) { fault in
          download.settle(fault.map { .failed($0) } ?? event) { ticket.finish($0) }
        }
      }
    } catch {
      ticket.finish(.failed(error))
    }
  }

  private func makePictures(of body: SharedBytes, _ received: ByteBuffer) {
    let content = body.withBytes { Digest(of: $0) }
    let isStored = request.recipes.allSatisfy { shared.reader.thumbnails.isThere(content, $0) }
    let maker = shared.maker(request.limits)
    let source = PictureSource(content: content, url: request.shownURL, body: body)
    maker.makeHere(source, request.recipes, priority: request.priority) { pictures in
      received.stopCounting()
      answer(with: pictures, of: body.count, isStored: isStored)
    }
  }

  private func answer(with pictures: PictureMaker.Pictures, of bytes: Int, isStored: Bool) {
    var images: [Image] = []
    for recipe in request.recipes {
      switch pictures[recipe] {
      case .success(let picture): images.append(Image(url: ticket.url, picture, provenance(isStored, bytes)))
      case .failure(let error): return ticket.finish(.failed(error))
      case nil:
        return ticket.finish(
          .failed(NuthatchError(.internal, "the decoder returned no picture: \(request.shownURL)")))
      }
    }
    if isStored { shared.counts.hits.count() }
    ticket.finish(.answer(isStored ? .cached : Event.Kind.fresh, Answer(images: images), isFinal: true))
  }

  private func provenance(_ isStored: Bool, _ bytes: Int) -> Provenance {
    let isFile = if case .file = request.source { true } else { false }
    return Provenance(
      finalURL: ticket.url, source: isFile || isStored ? .disk : .memory, isInCache: isStored,
      isStored: false, status: 200, bodyBytes: Int64(bytes))
  }

  private func head(_ body: SharedBytes, _ type: String?) -> ResponseHead {
    var head = ResponseHead(status: 200, reason: "OK")
    head.fields.append("Content-Type", type ?? body.withBytes { Self.type(of: $0) })
    head.fields.append("Content-Length", String(body.count))
    return head
  }

  private static func type(of body: UnsafeRawBufferPointer) -> String {
    guard case .found(let info) = ImageProbe.probe(body) else { return "application/octet-stream" }
    return info.format.mediaType
  }
}
