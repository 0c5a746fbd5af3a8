import NuthatchHTTP
import NuthatchStore

/// A stored answer to a request as it was read at one moment, and its freshness then.
final class StoredAnswer: Sendable {
  /// The body and the thumbnails that were looked up.
  struct Parts: Sendable {
    var body: Lease?
    /// The length of the stored body, even if it wasn't read. Nil: there is no body.
    var bodyCount: Int64?
    var thumbnails = StoredThumbnails()
    /// Whether the pixels of all wanted thumbnails are in memory that isn't part of a pack.
    var isInMemory = false
    /// Whether the body or a thumbnail is so long that a worker must read and verify it first.
    var isUnchecked = false
  }

  let record: AnswerRecord
  /// The records that the answer was read from. Nil if it was just renewed by the server.
  let marks: AnswerMarks?
  /// False if the answer was renewed but couldn't be stored.
  let isStored: Bool
  /// The state of removals before the record was read. If something of the answer was removed since, a fetch doesn't revalidate
  /// it. Nil: the state is unknown.
  let seen: Moment?
  /// Whether the request may get an answer whose fetch contacted such addresses (`AnswerRecord.reach`).
  let isAdmitted: Bool
  /// The second (since 1970) in which it was read, and its freshness then.
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

  /// Makes the answer that the server has just confirmed as valid.
  convenience init(_ old: StoredAnswer, renewedAs record: AnswerRecord, isStored: Bool, age: Int64) {
    var freshness = old.freshness
    freshness.grade = .valid
    freshness.isTolerated = false
    freshness.mayServeOnError = true
    freshness.age = age
    self.init(record, marks: nil, isStored: isStored, second: old.second, freshness, old.parts)
  }

  var grade: Freshness.Grade { freshness.grade }
  /// Whether it may be given if no new answer can be had.
  var mayStandIn: Bool { freshness.mayServeOnError }
  /// Whether it may be given only after the server has confirmed it.
  var mustValidate: Bool { grade == .mustValidate }
  var body: Lease? { parts.body }
  var bodyCount: Int64? { parts.bodyCount }
  var hasBody: Bool { parts.bodyCount != nil }
  var thumbnails: StoredThumbnails { parts.thumbnails }
  var isInMemory: Bool { parts.isInMemory }
  var isUnchecked: Bool { parts.isUnchecked }

  /// Whether it is only known that the answer can't be decoded.
  var isRememberedFailure: Bool {
    !hasBody && !thumbnails.isEmpty
      && thumbnails.all.allSatisfy { if case .undecodable = $0 { true } else { false } }
  }

  /// Whether a part couldn't be read from the disk. Valid only after the part was read.
  var isBroken: Bool {
    body?.isBroken ?? false
      || thumbnails.all.contains {
        if case .record(let stored) = $0 { stored.lease.isBroken } else { false }
      }
  }

  /// Returns whether everything that the request wants is still stored.
  func isAnswer(to plan: RequestPlan) -> Bool {
    guard plan.hops + record.redirects <= plan.redirects else { return false }
    if plan.wantsPart { return reply(to: plan) != nil }
    if plan.followsRedirect(in: self) { return true }
    guard plan.wantsPictures else { return hasBody || record.bodyLength == 0 }
    guard (200..<300).contains(record.head.status), record.content != nil else { return false }
    return isUnchecked || hasBody || plan.recipes.allSatisfy { thumbnails[$0] != nil }
  }

  /// Returns the limit of the request that the answer exceeds, regardless of freshness.
  func exceededLimit(of plan: RequestPlan) -> StoredAnswerInfo.Refusal? {
    if record.bodyLength > plan.maxBytes { return .tooLarge }
    let isAdmitted = plan.recipes.allSatisfy { thumbnails[$0]?.originalSize.map(plan.limits.admits) ?? true }
    return isAdmitted ? nil : .tooManyPixels
  }

  /// Returns the answer if it needs no decoding.
  func immediateAnswer(to plan: RequestPlan, _ url: String, _ provenance: Provenance) -> Answer? {
    guard !plan.followsRedirect(in: self), !isUnchecked, isAnswer(to: plan), exceededLimit(of: plan) == nil
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

  /// Returns the only picture that a request wants, and its entry in the memory tier; the entry is nil if the tier had no room.
  ///
  /// - Parameters:
  ///   - decodes: whether to unpack a packed thumbnail.
  ///   - tier: keeps in memory the picture that was read from the disk.
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
    var provenance = Provenance.fromStore(self).addingRedirects(of: plan)
    provenance.source = picture.ownsPixels ? .memory : .disk
    return (Image(url: url, picture, provenance), kept)
  }

  /// Returns the source of the request's pictures. Nil if nothing usable is stored any more.
  func pictureSource(_ plan: RequestPlan) -> PictureSource? {
    guard !plan.followsRedirect(in: self), !isUnchecked, isAnswer(to: plan), let content = record.content
    else { return nil }
    return PictureSource(
      content: content, url: record.finalURL, thumbnails: thumbnails, body: body.map { SharedBytes($0) })
  }
}

extension Provenance {
  /// Returns the provenance for a request that was redirected to this answer.
  func addingRedirects(of plan: RequestPlan) -> Provenance {
    var provenance = self
    provenance.redirects += plan.hops
    provenance.isStale = provenance.isStale || plan.isBehindStale
    return provenance
  }

  /// Returns the provenance of the answer to a request.
  func answering(_ plan: RequestPlan) -> Provenance {
    var provenance = addingRedirects(of: plan)
    provenance.name = plan.name.key.hash
    return provenance
  }

  /// The provenance of an answer from the cache.
  static func fromStore(_ stored: StoredAnswer) -> Provenance {
    var provenance = Provenance(stored, stored.isInMemory ? .memory : .disk, isInCache: true)
    provenance.isStale = stored.freshness.isStale
    return provenance
  }

  /// The provenance of an answer from the cache that the server has confirmed.
  static func revalidated(_ stored: StoredAnswer) -> Provenance {
    Provenance(stored, .revalidated, isInCache: true)
  }

  /// The provenance of an answer that another process fetched while this one waited.
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
