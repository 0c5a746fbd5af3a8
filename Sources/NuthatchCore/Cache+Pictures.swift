extension Cache {
  /// What pictures are asked for with: what is decoded first.
  public static let pictureAccept = "image/jpeg,image/png;q=0.9,*/*;q=0.1"

  /// A thumbnail that fits a square box: from the cache while that is fresh, else from the network. Blocks the thread.
  ///
  /// - Throws: As `get`; `http` when the answer isn't a success; as `Response.image`.
  package func thumbnail(_ url: String, size: Int) throws(NuthatchError) -> Image {
    try thumbnail(Request(url), ImageOptions(ThumbnailBox(size)))
  }

  /// A thumbnail of what `request` fetches, as `options` say. Waits for the answer.
  package func thumbnail(_ request: Request, _ options: ImageOptions) throws(NuthatchError) -> Image {
    var request = request.forOneAnswer
    request.boxes = [options.box]
    request.maxPixels = options.maxPixels ?? request.maxPixels
    request.allowTruncated = options.allowTruncated
    let ticket = try submit(request)
    while true {
      guard let event = try ticket.final() else { continue }
      if let error = event.error { throw error }
      guard let image = event.images.first else { throw NuthatchError(.internal, "no picture came out") }
      return image
    }
  }
}
