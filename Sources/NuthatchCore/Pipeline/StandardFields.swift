import NuthatchTransport

/// The header fields of requests that set none: checked once, and shared by all.
enum StandardFields {
  private struct Known {
    var userAgent = ""
    var forPictures: HeaderFields?
    var forAnything: HeaderFields?
  }

  private static let last = Locked(Known())

  static func known(_ request: Request, _ options: Cache.Options) -> HeaderFields? {
    last.withLock { last in
      guard last.userAgent == options.userAgent else { return nil }
      return request.boxes.isEmpty ? last.forAnything : last.forPictures
    }
  }

  static func keep(_ fields: HeaderFields, _ request: Request, _ options: Cache.Options) {
    last.withLock { last in
      if last.userAgent != options.userAgent { last = Known(userAgent: options.userAgent) }
      if request.boxes.isEmpty { last.forAnything = fields } else { last.forPictures = fields }
    }
  }
}
