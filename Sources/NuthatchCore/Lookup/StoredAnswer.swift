import NuthatchHTTP
import NuthatchStore

/// A stored answer to a request, and what it is good for at this moment.
final class StoredAnswer: Sendable {
  let meta: AnswerRecord
  /// The records that say so; nil for what was renewed a moment ago.
  let trail: AnswerMarks?
  /// False for what was renewed, if that couldn't be kept.
  let isStored: Bool
  /// The removals before it was read; nil where they couldn't be told.
  let seen: Moment?
  let grade: Freshness.Grade
  /// Also for who takes it all the same.
  let isStale: Bool
  /// Whether it may be shown when the server can't be asked.
  let mayServeOnError: Bool
  /// In seconds.
  let age: Int64
  let body: Lease?
  /// Thumbnails whose pixels are at hand, and whether all of them were in memory.
  let pictures: [Recipe: Picture]
  let isInMemory: Bool
  /// Thumbnails that have to be unpacked.
  let thumbs: [Recipe: ThumbRecord.Stored]
  /// What can't be decoded (`DecodeFailure`).
  let failed: Set<Recipe>

  init(
    meta: AnswerRecord, trail: AnswerMarks?, isStored: Bool = true, seen: Moment? = nil,
    grade: Freshness.Grade,
    isStale: Bool,
    mayServeOnError: Bool, age: Int64, body: Lease?,
    pictures: [Recipe: Picture], isInMemory: Bool, thumbs: [Recipe: ThumbRecord.Stored],
    failed: Set<Recipe>
  ) {
    self.meta = meta
    self.trail = trail
    self.isStored = isStored
    self.seen = seen
    self.grade = grade
    self.isStale = isStale
    self.mayServeOnError = mayServeOnError
    self.age = age
    self.body = body
    self.pictures = pictures
    self.isInMemory = isInMemory
    self.thumbs = thumbs
    self.failed = failed
  }

  /// Whether all that is known is that it can't be decoded.
  var isVerdictAlone: Bool { body == nil && pictures.isEmpty && thumbs.isEmpty && !failed.isEmpty }

  /// Whether some of it couldn't be read from the disk. To be asked after reading it.
  var isBroken: Bool { body?.isBroken ?? false || thumbs.values.contains { $0.lease.isBroken } }

  /// Whether it is a redirect, which is followed and never delivered.
  var isRedirect: Bool { meta.head.redirection != nil }

  /// Whether everything is still there that the request wants.
  func isAnswer(to plan: RequestPlan) -> Bool {
    if plan.asksForPart { return reply(to: plan) != nil }
    if isRedirect { return true }
    guard plan.wantsPictures else { return body != nil || meta.bodyLength == 0 }
    guard (200..<300).contains(meta.head.status), meta.content != nil else { return false }
    return body != nil
      || plan.recipes.allSatisfy { pictures[$0] != nil || thumbs[$0] != nil || failed.contains($0) }
  }

  /// The answer, when it needs no decoding.
  func immediateAnswer(to plan: RequestPlan, _ url: String, _ origin: Provenance) -> Answer? {
    guard !isRedirect, isAnswer(to: plan), meta.bodyLength <= plan.maxBytes else { return nil }
    guard plan.wantsPictures else {
      return Answer(response: response(reply(to: plan) ?? .whole, to: plan, url, origin))
    }
    var images: [Image] = []
    for recipe in plan.recipes {
      guard let picture = pictures[recipe], picture.pixelsOfSource <= plan.maxPixels else { return nil }
      images.append(Image(url: url, picture, origin))
    }
    return Answer(images: images)
  }

  /// What the pictures are made from; nil when nothing is there any more.
  func pictureSource(_ plan: RequestPlan) -> PictureSource? {
    guard !isRedirect, isAnswer(to: plan), let content = meta.content else { return nil }
    return PictureSource(
      content: content, url: meta.finalURL, pictures: pictures, thumbs: thumbs,
      body: body.map { SharedBytes($0) }
    )
  }
}

extension Provenance {
  /// The same, for a request that redirects have led to it.
  func behind(_ plan: RequestPlan) -> Provenance {
    var origin = self
    origin.redirects += plan.hops
    origin.isStale = origin.isStale || plan.isBehindStale
    return origin
  }

  /// From the cache.
  static func stored(_ found: StoredAnswer) -> Provenance {
    Provenance(
      finalURL: found.meta.finalURL, source: found.isInMemory ? .memory : .disk, isInCache: true,
      isStored: true, isStale: found.isStale,
      age: found.age, redirects: found.meta.redirects, head: found.meta.head,
      bodyBytes: found.meta.bodyLength, content: found.meta.content)
  }

  /// From the cache, and the server says that it still holds.
  static func revalidated(_ found: StoredAnswer) -> Provenance {
    Provenance(
      finalURL: found.meta.finalURL, source: .revalidated, isInCache: true, isStored: found.isStored,
      age: found.age,
      redirects: found.meta.redirects, head: found.meta.head, bodyBytes: found.meta.bodyLength,
      content: found.meta.content)
  }

  /// Another process got it from the network while this one waited.
  static func fetchedElsewhere(_ found: StoredAnswer) -> Provenance {
    Provenance(
      finalURL: found.meta.finalURL, source: .network, isInCache: false, isStored: true, age: found.age,
      redirects: found.meta.redirects, head: found.meta.head, bodyBytes: found.meta.bodyLength,
      content: found.meta.content)
  }
}
