import NuthatchCore

// Calls that fetch and wait, as the other languages have them.

extension Cache {
  /// Answers of any status are a success.
  func get(_ url: String) throws(NuthatchError) -> Response {
    var request = Request(url)
    request.delivery = .fresh
    return try submit(request).result()
  }

  func thumbnail(_ url: String, size: Int) throws(NuthatchError) -> Image {
    try thumbnail(Request(url), ImageOptions(ThumbnailBox(size)))
  }

  func thumbnail(_ request: Request, _ options: ImageOptions) throws(NuthatchError) -> Image {
    var request = request.forOneAnswer
    request.boxes = [options.box]
    request.maxPixels = options.maxPixels ?? request.maxPixels
    request.allowDamaged = options.allowDamaged
    return try submit(request).image()
  }
}

extension Site {
  func get(_ reference: String) throws(NuthatchError) -> Response {
    var request = request(reference)
    request.delivery = .fresh
    return try cache.submit(request).result()
  }

  func thumbnail(_ reference: String, size: Int) throws(NuthatchError) -> Image {
    try cache.thumbnail(request(reference), ImageOptions(ThumbnailBox(size)))
  }
}

extension Ticket {
  /// The first picture of the final event.
  func image() throws(NuthatchError) -> Image {
    while true {
      guard let event = try final() else { continue }
      if let error = event.error { throw error }
      guard let image = event.images.first else { throw NuthatchError(.internal, "no picture came out") }
      return image
    }
  }
}
