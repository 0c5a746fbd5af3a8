import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// A picture that answers now, without waiting for anything.
struct Sighting {
  let image: Image
  /// What the memory tier keeps it as, and where it stands; nil when the tier had no room for it.
  let kept: MemoryPicture?
  let entry: Peeked
}

extension SharedCache {
  /// The picture for a request of one size, if it is fresh, and in memory or raw. `decodes` unpacks a packed one, too.
  func sight(
    _ plan: RequestPlan, _ url: UnsafeRawBufferPointer, _ shownURL: String, _ size: UInt64, decodes: Bool
  ) -> Sighting? {
    guard plan.readsStore, !plan.asksForHeaders, let recipe = plan.recipes.first, plan.recipes.count == 1,
      let (meta, trail) = trace(plan)
    else { return nil }
    let now = clock.coarseSeconds
    let verdict = Caching.judge(meta, plan, now: now)
    guard verdict.grade == .fresh, plan.admits(meta.reach) else { return nil }
    if meta.head.redirection != nil {
      return sight(behind: meta, plan, url, shownURL, size, decodes: decodes)
    }
    guard meta.bodyLength <= plan.maxBytes, (200..<300).contains(meta.head.status), let content = meta.content
    else { return nil }
    let thumb = ThumbRecord.key(content, recipe)
    guard let (picture, kept) = picture(thumb, recipe, decodes: decodes),
      picture.pixelsOfSource <= plan.maxPixels
    else { return nil }
    let origin = Provenance(
      finalURL: meta.finalURL, source: picture.ownsPixels ? .memory : .disk, isInCache: true,
      isStored: true, age: verdict.age, redirects: meta.redirects, status: meta.head.status,
      bodyBytes: meta.bodyLength
    ).behind(plan)
    let image = Image(url: shownURL, picture, origin)
    let entry = Peeked(
      url: url, size: size, image: image, thumb: thumb, second: now,
      freshUntil: now + secondsFresh(verdict, meta, plan, now), trail)
    return Sighting(image: image, kept: kept, entry: entry)
  }

  /// What a redirect that is an answer of its own leads to. Not for the table: its entries know of one record and a vary record.
  private func sight(
    behind meta: AnswerRecord, _ plan: RequestPlan, _ url: UnsafeRawBufferPointer, _ shownURL: String,
    _ size: UInt64,
    decodes: Bool
  ) -> Sighting? {
    // Whoever goes that way hears what is wrong with it.
    let next = try? plan.following(meta.head, sentByPublic: meta.reach.countsAsPublic)
    return next.flatMap { sight($0, url, shownURL, size, decodes: decodes) }
      .map { Sighting(image: $0.image, kept: nil, entry: $0.entry) }
  }

  /// The answer to a GET without pictures, if it is fresh, to be remembered; with its body, which is not.
  func recall(
    _ plan: RequestPlan, _ url: UnsafeRawBufferPointer, _ shownURL: String
  ) -> (Recalled, Response)? {
    guard plan.readsStore, !plan.wantsPictures, !plan.asksForPart, plan.policy.rules != .offline,
      let (meta, trail) = trace(plan), plan.admits(meta.reach), meta.head.redirection == nil
    else { return nil }
    let now = clock.coarseSeconds
    let verdict = Caching.judge(meta, plan, now: now)
    guard verdict.grade == .fresh, !verdict.isStale else { return nil }
    let found = found(meta, trail, nil, plan, verdict)
    guard let given = found.immediateAnswer(to: plan, shownURL, .stored(found))?.response
    else { return nil }
    let recalled = Recalled(
      url, given.with(.empty),
      body: found.body == nil ? nil : meta.content.map { RecordKey(.body, $0.bytes) },
      second: now, freshUntil: now + secondsFresh(verdict, meta, plan, now), trail)
    return (recalled, given)
  }

  /// A remembered answer, with its body, at this moment: itself, or the same in a later second. nil when somebody has to look
  /// closer.
  func renewed(_ old: Recalled) -> (Recalled, Response)? {
    let now = clock.coarseSeconds
    guard now >= old.second, now < old.freshUntil, old.trail.isCurrent(store) else { return nil }
    let present = now == old.second ? old : Recalled(old, second: now)
    guard let key = present.body else { return (present, present.answer) }
    // A body that can't be had is looked for by who looks closer.
    return ((try? store.lookup(key)) ?? nil).map { (present, present.answer.with(SharedBytes($0))) }
  }

  /// For how many seconds, this one included, nothing but the age will be said anew.
  private func secondsFresh(_ verdict: Freshness, _ meta: AnswerRecord, _ plan: RequestPlan, _ now: Int64)
    -> Int64
  {
    // A request with wishes, a clock that was set back, and two-digit years are left to those who know their rules.
    guard !plan.headers.contains("Cache-Control"), !plan.headers.contains("Pragma"),
      now >= meta.responseTime
    else { return 1 }
    if plan.policy.rules == .offline { return 60 }
    return min(60, max(1, verdict.lifetime - verdict.age))
  }

  /// What is known about the answer to a request, and by which records.
  func trace(_ plan: RequestPlan) -> (AnswerRecord, AnswerMarks)? {
    // Marks first: what changes after them is noticed when they are compared.
    let isEarlier = isEarlier(plan.name)
    let name = plan.name.key(isEarlier: isEarlier)
    guard let firstMark = mark(name), let first = meta(name) else { return nil }
    guard first.isVaryRecord else { return (first, AnswerMarks(key: name, mark: firstMark)) }
    let key = plan.name.key(
      variant: Caching.variant(first.varied, of: first.number, plan), isEarlier: isEarlier)
    guard let ownMark = mark(key), let variant = meta(key) else { return nil }
    return (variant, AnswerMarks(key: key, mark: ownMark, varyRecord: (name, firstMark)))
  }

  private func mark(_ key: RecordKey) -> RecordMark? {
    // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.
    (try? store.mark(key)) ?? nil
  }

  private func meta(_ key: RecordKey) -> AnswerRecord? {
    ((try? store.lookup(key)) ?? nil).flatMap { $0.reading { AnswerRecord($0) } }
  }

  private func picture(_ key: RecordKey, _ recipe: Recipe, decodes: Bool) -> (Picture, MemoryPicture?)? {
    if let held = (try? store.recall(key)) ?? nil, let kept = held.owner as? MemoryPicture {
      // The record on disk is in use, too.
      _ = try? store.touch(key)
      return (kept.picture, kept)
    }
    guard let lease = (try? store.lookup(key)) ?? nil, let stored = ThumbRecord.Stored(lease),
      stored.form == .raw || decodes, let picture = try? stored.picture()
    else { return nil }
    let kept = MemoryPicture(picture)
    let isKept =
      picture.ownsPixels
      ? try? store.keep(key, kept, bytes: picture.payload.bytes, cost: picture.payload.count)
      : try? store.keep(key, lease, owner: kept)
    return (picture, isKept == true ? kept : nil)
  }

  /// The same picture a second or more later, if it still holds: only its age has changed.
  func renewed(_ entry: Peeked) -> Sighting? {
    let now = clock.coarseSeconds
    guard now >= entry.second, now < entry.freshUntil, entry.isCurrent(store),
      let held = (try? store.recall(entry.thumb)) ?? nil, let kept = held.owner as? MemoryPicture,
      kept.picture === entry.image.picture
    else { return nil }
    let image = entry.image.aged(by: now - entry.second)
    return Sighting(image: image, kept: kept, entry: Peeked(entry, image: image, second: now))
  }
}
