import CSystem
import NuthatchCore

/// How a URL ended. A line of `--format jsonl`.
struct Record: Sendable {
  struct Thumb: Sendable {
    var box: ThumbnailBox
    var width: Int
    var height: Int

    /// In the notation of `--size`.
    var size: String { box.width == box.height ? "\(box.width)" : "\(box.width)x\(box.height)" }
  }

  /// The outcome, as the summary counts it.
  enum Kind: String, Sendable {
    case hit, revalidated, fetched, failed
    /// The request was cancelled: the URL is deferred, or the run pauses or ends. No record is written.
    case cancelled
  }

  var listed: ListedURL
  var kind: Kind
  var finalURL: String?
  var status: Int?
  var isInCache = false
  var isStored = false
  var isStale = false
  var source: Response.Source?
  var originalSize: (width: Int, height: Int)?
  /// What the original says of itself.
  var facts = PictureFacts()
  var thumbs: [Thumb] = []
  var bytes: Int64?
  /// Bytes of the store's records of the thumbnails; only for a hit without a request.
  var thumbBytes: Int64 = 0
  var contentType: String?
  /// The key of the stored thumbnails; nil for a hit without a request, and if nothing is stored.
  var kept: KeptContent?
  var robots: [String] = []
  var attempts = 0
  var error: NuthatchError?
  /// Times of the last hop; nil for a hit without a request, and for a failed request.
  var timings: Response.Timings?
  var journey = Journey()
  /// Microseconds from submission to the end.
  var total: Int64 = 0

  /// What a request would do; in a dry run only.
  var prospect: StoredAnswerInfo.Prospect?

  var isOK: Bool { error == nil }

  /// Makes the record of a URL that was answered without a request.
  init(_ listed: ListedURL, hit info: StoredAnswerInfo, since begin: Int64) {
    self.init(listed, .hit, since: begin)
    finalURL = info.finalURL
    status = info.status
    (isInCache, isStored) = (true, true)
    isStale = info.isStale
    source = info.thumbs.allSatisfy { $0.form == "memory" } ? .memory : .disk
    originalSize = info.originalSize
    facts = info.facts
    thumbs = info.thumbs.map { Thumb(box: $0.box, width: $0.width, height: $0.height) }
    bytes = info.bodyBytes
    thumbBytes = info.thumbs.reduce(0) { $0 + Int64($1.bytes) }
    contentType = info.header("Content-Type")
    robots = info.headers("X-Robots-Tag")
  }

  init(_ listed: ListedURL, planned prospect: StoredAnswerInfo.Prospect, since begin: Int64) {
    self.init(listed, .hit, since: begin)
    self.prospect = prospect
  }

  init(_ listed: ListedURL, failed error: NuthatchError, since begin: Int64) {
    self.init(listed, .failed, since: begin)
    fail(error)
  }

  /// Makes the record of a request from its final event.
  init(_ listed: ListedURL, _ event: Event, _ boxes: [ThumbnailBox], since begin: Int64) {
    let kind: Kind =
      switch event.kind {
      case .cached: .hit
      case .unchanged: .revalidated
      case .fresh: .fetched
      case .cancelled: .cancelled
      default: .failed
      }
    self.init(listed, kind, since: begin)
    if let error = event.error { fail(error) }
    guard error == nil, let image = event.images.first else { return }
    finalURL = image.finalURL
    status = image.status
    (isInCache, isStored) = (image.isInCache, image.isStored)
    kept = image.keptContent
    isStale = image.isStale
    source = image.source
    originalSize = (image.originalWidth, image.originalHeight)
    facts = image.facts
    thumbs = zip(boxes, event.images).map { Thumb(box: $0, width: $1.width, height: $1.height) }
    bytes = image.sourceBytes
    contentType = image.header("Content-Type")
    robots = image.headers("X-Robots-Tag")
    attempts = image.journey.attempts
    if attempts > 0 { attempts += listed.earlierAttempts }
    timings = image.timings
    journey = image.journey
  }

  private init(_ listed: ListedURL, _ kind: Kind, since begin: Int64) {
    self.listed = listed
    self.kind = kind
    total = max(0, nhs_monotonic_ns() - begin) / 1000
  }

  /// Turns the record into a failure, also after a good answer.
  mutating func fail(_ error: NuthatchError) {
    if kind != .cancelled { kind = .failed }
    self.error = error
    status = error.status ?? status
    attempts = max(attempts, listed.earlierAttempts + error.attempts)
    if error.isInCache { isInCache = true }
    if error.isStored { isStored = true }
    if error.bodyBytes > 0 { bytes = error.bodyBytes }
    thumbs = []
  }

  /// How the URL ended, on one line, for a human reader.
  var outcome: String {
    if let error { return "\(error)" }
    var parts = [kind == .hit ? "hit" + (source.map { ", " + $0.word } ?? "") : kind.rawValue]
    if isStale { parts.append("stale") }
    if let originalSize { parts.append("\(originalSize.width)×\(originalSize.height)") }
    if let contentType { parts.append(contentType) }
    if let bytes { parts.append(Amounts.bytes(bytes)) }
    if attempts > 1 { parts.append("\(attempts) attempts") }
    if kind != .hit { parts.append(Amounts.milliseconds(total)) }
    return "\(parts.joined(separator: ", ")): \(ShownURL.of(listed.url))"
  }

  func write(to json: inout JSONText) {
    json.object { json in
      json.put("index", listed.index)
      json.put("line", listed.line)
      json.put("url", listed.url)
      json.put("final_url", finalURL)
      json.put("ok", isOK)
      json.put("status", status)
      json.put("is_in_cache", isInCache)
      json.put("is_stored", isStored)
      json.put("source", source?.word)
      json.put("original_width", originalSize?.width)
      json.put("original_height", originalSize?.height)
      facts.write(to: &json)
      json.objects("thumbs", thumbs) { json, thumb in
        if thumb.box.width == thumb.box.height {
          json.put("size", thumb.box.width)
        } else {
          json.put("size", thumb.size)
        }
        json.put("width", thumb.width)
        json.put("height", thumb.height)
      }
      json.put("bytes", bytes)
      json.put("content_type", contentType)
      json.put("attempts", attempts)
      writeTimes(to: &json)
      if let error {
        json.put("error", error.code.word)
        json.put("message", error.message)
      }
    }
  }

  /// Writes the milliseconds of each phase. libcurl's times count from the start, so each phase is a difference.
  func writeTimes(to json: inout JSONText) {
    json.object("ms") { json in
      let (name, connect, tls) = (timings?.nameLookup ?? 0, timings?.connect ?? 0, timings?.tls ?? 0)
      let (firstByte, end) = (timings?.firstByte ?? 0, timings?.total ?? 0)
      json.put(thousandths: journey.queued, "queue")
      json.put(thousandths: name, "dns")
      json.put(thousandths: connect - name, "connect")
      json.put(thousandths: tls > 0 ? tls - connect : 0, "tls")
      json.put(thousandths: firstByte - max(connect, tls), "first_byte")
      json.put(thousandths: end - firstByte, "transfer")
      json.put(thousandths: journey.decoding, "decode")
      json.put(thousandths: journey.storing, "store")
      json.put(thousandths: total, "total")
    }
  }
}

extension PictureFacts {
  func write(to json: inout JSONText) {
    json.put("format", format?.rawValue)
    json.put("is_animated", format.map { _ in isAnimated })
    json.put("frame_count", frameCount)
    json.put("depth", depth)
  }

  /// For a human reader, such as "animated gif, 40 frames, 8 bits a channel"; nil if nothing is known.
  var text: String? {
    guard let format else { return nil }
    var parts = [isAnimated ? "animated \(format.rawValue)" : format.rawValue]
    if let frameCount, frameCount > 1 { parts.append("\(Amounts.grouped(frameCount)) frames") }
    if let depth { parts.append("\(depth) bit\(depth == 1 ? "" : "s") a channel") }
    return parts.joined(separator: ", ")
  }
}
