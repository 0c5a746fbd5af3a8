import NuthatchHTTP
import NuthatchStore

// What is read from the store and written to it, on callers' and workers' threads.

extension SharedCache {
  /// The stored answer to a request. Whatever can't be read is not there.
  func find(_ plan: RequestPlan) -> Found? {
    guard let (meta, sequence) = meta(plan), plan.guardGrade.admits(meta.reach) else { return nil }
    return found(meta, sequence, plan)
  }

  private func found(_ meta: Meta, _ sequence: UInt64, _ plan: RequestPlan) -> Found {
    let now = clock.seconds
    let verdict = Caching.judge(meta, plan, now: now)
    var thumbs = Thumbs()
    var body: Lease?
    if let content = meta.content {
      for recipe in plan.recipes { look(for: recipe, of: content, &thumbs) }
      // Looked up only where it is needed, because a hit is what keeps a record.
      if !plan.wantsPictures || thumbs.isIncomplete { body = record(RecordKey(.body, content.bytes)) }
    }
    return Found(
      meta: meta, sequence: sequence, standing: verdict.standing, mayServeOnError: verdict.mayServeOnError,
      age: verdict.age, body: body, pictures: thumbs.ready,
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
    if let held = (try? store.recall(key)) ?? nil, let picture = held.owner as? Picture {
      thumbs.ready[recipe] = picture
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

  /// Which record a request finds at this moment; nil for none.
  func latestSequence(_ plan: RequestPlan) -> UInt64? { meta(plan)?.sequence }

  /// Whether what is stored is a picture.
  func hasPicture(_ plan: RequestPlan) -> Bool { meta(plan)?.0.isPicture ?? false }

  private func meta(_ plan: RequestPlan) -> (Meta, sequence: UInt64)? {
    guard let first = read(plan.name.key()) else { return nil }
    guard first.0.isSignpost else { return first }
    return read(plan.name.key(variant: Caching.variant(first.0.varied, plan)))
  }

  private func read(_ key: RecordKey) -> (Meta, sequence: UInt64)? {
    guard let lease = record(key), let meta = lease.withBytes({ Meta($0) }) else { return nil }
    return (meta, lease.sequence)
  }

  private func record(_ key: RecordKey) -> Lease? {
    // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.
    (try? store.lookup(key)) ?? nil
  }

  /// Keeps what is known of an answer; its body is kept already. Nil when it can't be kept.
  func write(_ meta: Meta, _ plan: RequestPlan) -> UInt64? {
    do throws(StoreFault) {
      guard !meta.varied.isEmpty else { return try store.commit(plan.name.key(), meta.encoded()).sequence }
      let sequence = try store.commit(
        plan.name.key(variant: Caching.variant(meta.varied, plan)), meta.encoded()
      )
      .sequence
      var signpost = Meta(head: ResponseHead(status: 0), requestTime: 0, responseTime: 0, finalURL: "")
      signpost.varied = meta.varied
      try store.commit(plan.name.key(), signpost.encoded())
      return sequence
    } catch {
      return nil
    }
  }

  /// Takes out what is stored under a name, all variants of it with it.
  func forget(_ name: AnswerName) {
    // What can't be taken out now is taken out with its pack.
    _ = try? store.remove(name.key())
    failures.forget(name)
  }

  /// Asks the server behind an answer that was given already.
  func revalidateBehind(_ plan: RequestPlan, _ found: Found) {
    let ticket = Ticket(url: plan.first.url.description)
    guard plan.mayUseNetwork, behind.add(ticket) else { return }
    let errand = Errand(plan, ticket, self, runtime)
    // So that its end ends the fetch.
    _ = ticket.begin(abort: { errand.abandon() })
    fetches.join(errand, base: found, runtime)
  }
}

extension Meta {
  /// Not an answer but the names of the fields by which answers are told apart.
  var isSignpost: Bool { head.status == 0 }
}
