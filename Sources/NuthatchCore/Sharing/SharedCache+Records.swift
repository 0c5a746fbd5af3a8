import NuthatchHTTP
import NuthatchStore

// What is read from the store and written to it, on callers' and workers' threads.

extension SharedCache {
  /// The stored answer to a request. Whatever can't be read is not there.
  func find(_ plan: RequestPlan) -> Found? {
    guard let meta = meta(plan), plan.admits(meta.reach) else { return nil }
    return found(meta, plan, Caching.judge(meta, plan, now: clock.seconds))
  }

  /// A stored answer of which this is known, and what it is good for.
  func found(_ meta: Meta, _ plan: RequestPlan, _ verdict: Freshness) -> Found {
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
    return Found(
      meta: meta, standing: verdict.standing, isStale: verdict.isStale,
      mayServeOnError: verdict.mayServeOnError, age: verdict.age, body: body, pictures: thumbs.ready,
      isInMemory: thumbs.isInMemory && plan.wantsPictures,
      thumbs: thumbs.packed)
  }

  /// The thumbnails that are there, of those that were looked for.
  private struct Thumbs {
    var ready: [Recipe: Picture] = [:]
    var packed: [Recipe: ThumbRecord.Stored] = [:]
    var isInMemory = true
    var isIncomplete = false
  }

  private func look(for recipe: Recipe, of content: Digest, _ thumbs: inout Thumbs) {
    let key = ThumbRecord.key(content, recipe)
    // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.
    if let held = (try? store.recall(key)) ?? nil, let kept = held.owner as? KeptPicture {
      thumbs.ready[recipe] = kept.picture
      if !kept.picture.ownsPixels { thumbs.isInMemory = false }
      // The record on disk is in use, too.
      _ = try? store.touch(key)
      return
    }
    thumbs.isInMemory = false
    guard let stored = record(key).flatMap({ ThumbRecord.Stored($0) }) else {
      return thumbs.isIncomplete = true
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

  /// Which record a request finds at this moment; nil for none.
  func latestMark(_ plan: RequestPlan) -> UInt64? { meta(plan)?.mark }

  /// Whether what is stored is a picture.
  func hasPicture(_ plan: RequestPlan) -> Bool { meta(plan)?.isPicture ?? false }

  /// What is stored for a request, whether it may be given to it or not.
  func meta(_ plan: RequestPlan) -> Meta? {
    guard let first = read(plan.name.key()) else { return nil }
    guard first.isSignpost else { return first }
    return read(plan.name.key(variant: Caching.variant(first.varied, of: first.mark, plan)))
  }

  private func read(_ key: RecordKey) -> Meta? { record(key).flatMap { $0.withBytes { Meta($0) } } }

  private func record(_ key: RecordKey) -> Lease? {
    // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.
    (try? store.lookup(key)) ?? nil
  }

  /// Whether somebody asked later than for this, and had an answer sooner: who reloads, or who didn't wait for a process that
  /// was stopped. What is stored from times to come says only that the clock was set back.
  private func isOutdated(_ meta: Meta, _ plan: RequestPlan) -> Bool {
    guard let stored = self.meta(plan) else { return false }
    return meta.requestTime < stored.requestTime && stored.requestTime <= clock.seconds
  }

  /// Keeps what is known of an answer; its body is kept already. False when it can't be kept, when a later one is there, or when
  /// it was taken out while it was on its way.
  func write(_ meta: Meta, _ plan: RequestPlan, _ flight: Flights.Flight?) -> Bool {
    guard flight?.isRevoked != true, !isOutdated(meta, plan) else { return false }
    do throws(StoreFault) {
      if meta.varied.isEmpty {
        try store.commit(plan.name.key(), meta.encoded())
      } else {
        try writeVariant(meta, plan)
      }
    } catch {
      counts.note(error)
      return false
    }
    guard flight?.isRevoked == true else { return true }
    // Taken out between the look and the writing.
    _ = try? store.remove(plan.name.key())
    return false
  }

  /// The answer, and a signpost under the URL that says which fields lead to it. With the signpost all variants go.
  private func writeVariant(_ meta: Meta, _ plan: RequestPlan) throws(StoreFault) {
    var signpost = Meta(head: ResponseHead(status: 0), requestTime: 0, responseTime: 0, finalURL: "")
    signpost.varied = meta.varied
    let present = read(plan.name.key())
    let isThere = present?.isSignpost == true && present?.varied == meta.varied
    if let present, isThere { signpost.mark = present.mark }
    let variant = Caching.variant(meta.varied, of: signpost.mark, plan)
    try store.commit(plan.name.key(variant: variant), meta.encoded())
    if !isThere { try store.commit(plan.name.key(), signpost.encoded()) }
  }

  /// Takes out what is stored under a name, all variants of it with it.
  func forget(_ name: AnswerName) {
    flights.revoke(name)
    takeOut(name)
    failures.forget(name)
  }

  /// The same, for what the server itself says: an answer on its way is not doubted.
  func takeOut(_ name: AnswerName) {
    // What can't be taken out now is taken out with its pack.
    _ = try? store.remove(name.key())
  }

  /// Asks the server behind an answer that was given already.
  func revalidateBehind(_ plan: RequestPlan, _ found: Found) {
    let ticket = Ticket(url: plan.url.description)
    guard plan.mayUseNetwork, behind.add(ticket) else { return }
    let errand = Errand(plan, ticket, self)
    // So that its end ends the fetch.
    _ = ticket.begin(errand)
    errand.revalidate(found)
  }
}

extension Meta {
  /// Not an answer but the names of the fields by which answers are told apart.
  var isSignpost: Bool { head.status == 0 }
}
