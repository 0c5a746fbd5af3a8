import NuthatchTransport

/// A request that has been checked, with every default filled in: nothing about it can be wrong any more.
struct FetchPlan: Sendable {
  static let longestChain = 10

  var first: TransferRequest
  var deadline: Int64?
  var maxBytes: Int64

  init(_ request: Request, _ options: Cache.Options) throws(NuthatchError) {
    first = TransferRequest(url: try FetchPlan.url(request.url))
    first.method = request.method
    first.headers = try FetchPlan.headers(request, options)
    first.body = request.body
    first.silence = (request.timeout ?? options.timeout).nanoseconds
    first.credentials =
      request.user.map { (Array($0.name.utf8), Array($0.password.utf8)) } ?? first.url.credentials
    if let (user, password) = first.credentials, (user + password).contains(0) {
      throw NuthatchError(.badURL, "a NUL in user or password: \(first.url)")
    }
    deadline = (request.deadline ?? options.deadline).nanoseconds
    maxBytes = request.maxBytes ?? options.maxBytes
    guard maxBytes >= 0 else { throw NuthatchError(.invalid, "max_bytes is negative: \(first.url)") }
  }

  private static func url(_ text: String) throws(NuthatchError) -> WebURL {
    do { return try WebURL(text) } catch { throw NuthatchError(error, url: text) }
  }

  private static func headers(_ request: Request, _ options: Cache.Options) throws(NuthatchError)
    -> HeaderFields
  {
    do {
      try checkMethod(request.method)
      var fields = try HeaderFields(checking: request.headers)
      for (name, value) in [("User-Agent", options.userAgent), ("Accept", "*/*")] where !fields.contains(name)
      {
        try fields.append(checking: name, value)
      }
      return fields
    } catch {
      throw NuthatchError(.badHeader, "\(error.reason): \(WebURL.redacted(request.url))")
    }
  }
}

extension TransferRequest {
  /// The request that a redirect from this one leads to (RFC 9110, 15.4), without what must stay with the origin.
  func redirected(to url: WebURL, status: Int) -> TransferRequest {
    var next = self
    next.url = url
    let becomesGet = status == 303 ? method != "HEAD" : (status == 301 || status == 302) && method == "POST"
    if becomesGet {
      next.method = "GET"
      next.body = []
      next.headers.remove { $0.name.lowercased().hasPrefix("content-") }
    }
    if url.origin != self.url.origin {
      next.credentials = nil
      next.headers.remove { $0.isSecret || $0.name.equalsIgnoringCase("Host") }
    }
    if let own = url.credentials { next.credentials = own }
    return next
  }
}
