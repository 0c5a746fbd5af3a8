import NuthatchHTTP
import NuthatchStore

/// A stored answer to a request, as it was read at one moment, and what it was good for then.
final class StoredAnswer: Sendable {
  /// The body and the thumbnails, as far as they were looked for.
  struct Parts: Sendable {
    var body: Lease?
    /// How long the body is that is there, also where it wasn't read; nil when there is none.
    var bodyCount: Int64?
    var thumbnails = StoredThumbnails()
    /// Whether the pixels of all thumbnails that are wanted are in memory, and not part of a pack.
    var isInMemory = false
    /// Whether the body, or a thumbnail, is so long that a worker has to read and check it before it is given.
    var isUnchecked = false
  }

  let record: AnswerRecord
  /// The records that say so; nil for what was renewed a moment ago.
  let marks: AnswerMarks?
  /// False for what was renewed, if that couldn't be kept.
  let isStored: Bool
  /// The removals before it was read, for a fetch that asks about it: what was removed since isn't asked about. nil where they
  /// couldn't be told.
  let seen: Moment?
  /// Whether the request may be given an answer whose fetch reached so far (`AnswerRecord.reach`).
  let isAdmitted: Bool
  /// The second (since 1970) that it was read in, and what it was good for then.
  let second: Int64
  let freshness: Freshness
  private let parts: Parts

  init(
    _ record: AnswerRecord, marks: AnswerMarks?, isStored: Bool = true, seen: Moment? = nil,
    isAdmitted: Bool = true, second: Int64, _ freshness: Freshness, _ parts: Parts
  ) {
    self.record = record
    self.marks = marks
    self.isStored = isStored
    self.seen = seen
    self.isAdmitted = isAdmitted
    self.second = second
    self.freshness = freshness
    self.parts = parts
  }

  /// The same, which the server has just said to hold.
  convenience init(_ old: StoredAnswer, renewedAs record: AnswerRecord, isStored: Bool, age: Int64) {
    var freshness = old.freshness
    freshness.grade = .valid
    freshness.isTolerated = false
    freshness.mayServeOnError = true
    freshness.age = age
    self.init(record, marks: nil, isStored: isStored, second: old.second, freshness, old.parts)
  }

  var grade: Freshness.Grade { freshness.grade }
  /// Whether it may be given where no new answer can be had.
  var mayStandIn: Bool { freshness.mayServeOnError }
  /// Whether it may never be given without its server's word.
  var mustValidate: Bool { grade == .mustValidate }
  var body: Lease? { parts.body }
  var bodyCount: Int64? { parts.bodyCount }
  var hasBody: Bool { parts.bodyCount != nil }
  var thumbnails: StoredThumbnails { parts.thumbnails }
  var isInMemory: Bool { parts.isInMemory }
  var isUnchecked: Bool { parts.isUnchecked }

  /// Whether all that is known is that it can't be decoded.
  var isRememberedFailure: Bool {
    !hasBody && !thumbnails.isEmpty
      && thumbnails.all.allSatisfy { if case .undecodable = $0 { true } else { false } }
  }

  /// Whether some of it couldn't be read from the disk. To be asked after reading it.
  var isBroken: Bool {
    body?.isBroken ?? false
      || thumbnails.all.contains {
        if case .record(let stored) = $0 { stored.lease.isBroken } else { false }
      }
  }

  /// Whether everything is still there that the request wants.
  func isAnswer(to plan: RequestPlan) -> Bool {
    guard plan.hops + record.redirects <= plan.redirects else { return false }
    if plan.wantsPart { return reply(to: plan) != nil }
    if plan.isLedOn(by: self) { return true }
    guard plan.wantsPictures else { return hasBody || record.bodyLength == 0 }
    guard (200..<300).contains(record.head.status), record.content != nil else { return false }
    return isUnchecked || hasBody || plan.recipes.allSatisfy { thumbnails[$0] != nil }
  }

  /// Which limit of the request keeps it from being given, however fresh it is.
  func exceededLimit(of plan: RequestPlan) -> StoredAnswerInfo.Refusal? {
    if record.bodyLength > plan.maxBytes { return .tooLarge }
    let isAdmitted = plan.recipes.allSatisfy { thumbnails[$0]?.originalSize.map(plan.limits.admits) ?? true }
    return isAdmitted ? nil : .tooManyPixels
  }

  /// The answer, when it needs no decoding.
  func immediateAnswer(to plan: RequestPlan, _ url: String, _ provenance: Provenance) -> Answer? {
    guard !plan.isLedOn(by: self), !isUnchecked, isAnswer(to: plan), exceededLimit(of: plan) == nil
    else { return nil }
    guard plan.wantsPictures else {
      return Answer(response: response(reply(to: plan) ?? .whole, to: plan, url, provenance))
    }
    var images: [Image] = []
    for recipe in plan.recipes {
      guard let picture = thumbnails[recipe]?.picture else { return nil }
      images.append(Image(url: url, picture, provenance))
    }
    return Answer(images: images)
  }

  /// The only picture that a request wants, and what the memory tier keeps it as; nil when the tier had no room for it.
  ///
  /// - Parameters:
  ///   - decodes: whether one that is packed is unpacked.
  ///   - tier: keeps in memory what was read from the disk.
  func picture(
    for plan: RequestPlan, _ url: String, decodes: Bool, keptBy tier: Thumbnails
  ) -> (Image, MemoryPicture?)? {
    guard let recipe = plan.recipes.first, isAnswer(to: plan), let content = record.content,
      exceededLimit(of: plan) == nil, let thumbnail = thumbnails[recipe]
    else { return nil }
    let (picture, kept): (Picture, MemoryPicture?)
    if case .record(let record) = thumbnail {
      guard let made = decodes ? try? record.picture() : thumbnail.picture else { return nil }
      (picture, kept) = (made, tier.remember(made, ThumbRecord.key(content, recipe), record))
    } else if case .inMemory(let known) = thumbnail {
      (picture, kept) = (known.picture, known)
    } else {
      return nil
    }
    var provenance = Provenance.fromStore(self).behind(plan)
    provenance.source = picture.ownsPixels ? .memory : .disk
    return (Image(url: url, picture, provenance), kept)
  }

  /// What the pictures are made from; nil when nothing is there any more.
  func pictureSource(_ plan: RequestPlan) -> PictureSource? {
    guard !plan.isLedOn(by: self), !isUnchecked, isAnswer(to: plan), let content = record.content
    else { return nil }
    return PictureSource(
      content: content, url: record.finalURL, thumbnails: thumbnails, body: body.map { SharedBytes($0) })
  }
}

extension Provenance {
  /// The same, for a request that redirects have led to it.
  func behind(_ plan: RequestPlan) -> Provenance {
    var provenance = self
    provenance.redirects += plan.hops
    provenance.isStale = provenance.isStale || plan.isBehindStale
    return provenance
  }

  /// From the cache.
  static func fromStore(_ stored: StoredAnswer) -> Provenance {
    var provenance = Provenance(stored, stored.isInMemory ? .memory : .disk, isInCache: true)
    provenance.isStale = stored.freshness.isStale
    return provenance
  }

  /// From the cache, and the server says that it still holds.
  static func revalidated(_ stored: StoredAnswer) -> Provenance {
    Provenance(stored, .revalidated, isInCache: true)
  }

  /// Another process got it from the network while this one waited.
  static func fetchedElsewhere(_ stored: StoredAnswer) -> Provenance {
    Provenance(stored, .network, isInCache: false)
  }

  private init(_ stored: StoredAnswer, _ source: Response.Source, isInCache: Bool) {
    self.init(
      finalURL: stored.record.finalURL, source: source, isInCache: isInCache, isStored: stored.isStored,
      age: stored.freshness.age, redirects: stored.record.redirects, head: stored.record.head,
      bodyBytes: stored.record.bodyLength, content: stored.record.content)
  }
}
