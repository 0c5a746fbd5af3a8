import NuthatchHTTP
import NuthatchStore

// What is read from the store and written to it, on callers' and workers' threads.

extension SharedCache {
  /// The stored answer to a request. Whatever can't be read is not there.
  func find(_ plan: RequestPlan) -> StoredAnswer? {
    // Before the record: a removal between the two is noticed.
    let groups = groups(of: plan)
    let seen = store.removalsNow(groups.own, groups.ofURL)
    guard let (meta, trail) = trace(plan), plan.admits(meta.reach) else { return nil }
    touchLink(plan)
    return found(meta, trail, seen, plan, Caching.judge(meta, plan, now: clock.seconds))
  }

  /// A stored answer of which this is known, and what it is good for.
  func found(
    _ meta: AnswerRecord, _ trail: AnswerMarks, _ seen: Moment? = nil, _ plan: RequestPlan,
    _ verdict: Freshness
  ) -> StoredAnswer {
    var thumbs = Thumbs()
    var body: Lease?
    if let content = meta.content {
      for recipe in plan.recipes { look(for: recipe, of: content, &thumbs) }
      // Looked up only where it is needed, because a hit is what keeps a record.
      if !plan.wantsPictures || thumbs.isIncomplete { body = record(RecordKey(.body, content.bytes)) }
      if plan.wantsPictures, thumbs.isIncomplete, body == nil {
        lookForLarger(plan.recipes, of: content, &thumbs)
      }
    }
    return StoredAnswer(
      meta: meta, trail: trail, seen: seen, grade: verdict.grade, isStale: verdict.isStale,
      mayServeOnError: verdict.mayServeOnError, age: verdict.age, body: body, pictures: thumbs.ready,
      isInMemory: thumbs.isInMemory && plan.wantsPictures,
      thumbs: thumbs.packed, failed: thumbs.failed)
  }

  /// The thumbnails that are there, of those that were looked for.
  private struct Thumbs {
    var ready: [Recipe: Picture] = [:]
    var packed: [Recipe: ThumbRecord.Stored] = [:]
    var failed: Set<Recipe> = []
    var isInMemory = true
    var isIncomplete = false
  }

  private func look(for recipe: Recipe, of content: Digest, _ thumbs: inout Thumbs) {
    let key = ThumbRecord.key(content, recipe)
    // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.
    if let held = (try? store.recall(key)) ?? nil, let kept = held.owner as? MemoryPicture {
      thumbs.ready[recipe] = kept.picture
      if !kept.picture.ownsPixels { thumbs.isInMemory = false }
      // The record on disk is in use, too.
      _ = try? store.touch(key)
      return
    }
    thumbs.isInMemory = false
    guard let stored = record(key).flatMap({ ThumbRecord.Stored($0) }) else {
      if DecodeFailure.read(content, recipe, in: store) != nil {
        thumbs.failed.insert(recipe)
      } else {
        thumbs.isIncomplete = true
      }
      return
    }
    if stored.form == .raw, let picture = try? stored.picture() {
      thumbs.ready[recipe] = picture
    } else {
      thumbs.packed[recipe] = stored
    }
  }

  /// Whether a thumbnail is there, in memory or on disk.
  func hasThumb(_ content: Digest, _ recipe: Recipe) -> Bool {
    let key = ThumbRecord.key(content, recipe)
    // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.
    return (try? store.touch(key)) == true || ((try? store.recall(key)) ?? nil) != nil
  }

  /// Without the body a thumbnail of at least twice the size will do.
  private func lookForLarger(_ recipes: [Recipe], of content: Digest, _ thumbs: inout Thumbs) {
    let missing = recipes.filter { thumbs.ready[$0] == nil && thumbs.packed[$0] == nil }
    // The smallest that will do costs least.
    let known = ThumbList.read(content, in: store).sorted { $0.box.width < $1.box.width }
    for other in known {
      guard let stored = record(ThumbRecord.key(content, other)).flatMap({ ThumbRecord.Stored($0) }) else {
        continue
      }
      for recipe in missing where thumbs.packed[recipe] == nil {
        thumbs.packed[recipe] = stored.made(smaller: recipe.box, from: other.box)
      }
    }
  }

  /// Whether a request finds the same at this moment as before, when it found `found`. Reads no record. False also where
  /// the record has only been moved.
  func isUnchanged(_ plan: RequestPlan, _ found: StoredAnswer?) -> Bool {
    if let found { return found.trail?.isCurrent(store) ?? false }
    return !store.isThere(plan.name.key(isEarlier: isEarlier(plan.name)))
  }

  /// Whether what is stored is a picture.
  func hasPicture(_ plan: RequestPlan) -> Bool { meta(plan)?.isPicture ?? false }

  /// What is stored for a request, whether it may be given to it or not.
  func meta(_ plan: RequestPlan) -> AnswerRecord? { trace(plan)?.0 }

  private func record(_ key: RecordKey) -> Lease? {
    // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.
    (try? store.lookup(key)) ?? nil
  }

  /// Whether an answer is there under the name that version 0.1 gave it, and under no other.
  func isEarlier(_ name: AnswerName) -> Bool {
    store.hasEarlierAnswers && !store.isThere(name.key()) && store.isThere(name.key(isEarlier: true))
  }

  // MARK: Writing

  /// The moment of a question that is asked now; nil when it can't be told at once.
  func momentNow(_ plan: RequestPlan) -> Moment? {
    let groups = groups(of: plan)
    return store.momentNow(groups.own, groups.ofURL)
  }

  /// The same, but it may wait. Nil when nothing can be stored at present.
  func moment(_ plan: RequestPlan) -> Moment? {
    let groups = groups(of: plan)
    return (try? store.moment(groups.own, groups.ofURL)) ?? nil
  }

  /// Whose removal takes its answer out.
  private func groups(of plan: RequestPlan) -> (own: RecordGroup, ofURL: RecordGroup?) {
    let isByURL = plan.name.address == plan.url.address
    return (plan.name.group, isByURL ? nil : AnswerName.group(of: plan.url.address))
  }

  /// Keeps what is known of an answer; its body is kept already. False when it can't be kept, when the answer to a later
  /// question is there, or when it was removed since it was asked for.
  func write(_ meta: AnswerRecord, _ plan: RequestPlan, asked: Moment?) -> Bool {
    guard let asked else { return false }
    var meta = meta
    do throws(StoreFault) {
      if plan.name.address != plan.url.address {
        meta.requestedURL = plan.url.address
        guard try link(plan, asked) else { return false }
      }
      let isKept =
        meta.varied.isEmpty
        ? try commit(plan.name.key(), .answer, meta.encoded(), asked) : try writeVariant(meta, plan, asked)
      // What version 0.1 kept of it would be found again when this one is dropped.
      if isKept, store.hasEarlierAnswers { try store.remove(plan.name.key(isEarlier: true)) }
      return isKept
    } catch {
      counts.note(error)
      return false
    }
  }

  private func commit(
    _ key: RecordKey, _ form: RecordForm, _ bytes: [UInt8], _ asked: Moment
  ) throws(StoreFault) -> Bool {
    try store.commit(answer: key, form: form.rawValue, bytes, asked: asked) != nil
  }

  /// The answer, and a vary record under the URL that says which fields lead to it. With the vary record all variants go.
  private func writeVariant(_ meta: AnswerRecord, _ plan: RequestPlan, _ asked: Moment) throws(StoreFault)
    -> Bool
  {
    var varyRecord = AnswerRecord(
      head: ResponseHead(status: 0), requestTime: 0, responseTime: 0, finalURL: "")
    varyRecord.varied = meta.varied
    let key = plan.name.key()
    let present = record(key).flatMap { $0.reading { AnswerRecord($0) } }
    if let present, present.isVaryRecord, present.varied == meta.varied { varyRecord.number = present.number }
    let variant = Caching.variant(meta.varied, of: varyRecord.number, plan)
    guard try commit(plan.name.key(variant: variant), .answer, meta.encoded(), asked) else { return false }
    // Also where the same one is there: an answer to an earlier question must not take its place later.
    return try commit(key, .vary, varyRecord.encoded(), asked)
  }

  /// Asks the server behind an answer that was given already.
  func revalidateBehind(_ plan: RequestPlan, _ found: StoredAnswer) {
    let ticket = Ticket(url: plan.url.description)
    guard plan.mayUseNetwork, behind.add(ticket) else { return }
    let task = RequestTask(plan, ticket, self)
    // So that its end ends the fetch.
    _ = ticket.begin(task)
    task.revalidate(found)
  }
}

extension AnswerRecord {
  /// Not an answer but the names of the fields by which answers are told apart.
  var isVaryRecord: Bool { head.status == 0 }
}
