import NuthatchHTTP
import NuthatchStore

/// Reads what is stored for a request. Nothing else follows vary records to an answer, or judges how fresh a stored answer is. Pictures
/// that are made later look for their thumbnails by its `thumbnails`; what was given before is in the `HitTable`.
struct Reader: Sendable {
  /// How much is read.
  enum Depth {
    /// Whether a body is there, which is not read for it if it is long, and how thumbnails are kept: what an inspection tells.
    case facts
    /// What a peek can give, without a long wait: no body where pictures are wanted.
    case atHand
    /// All that the request needs, without a long wait: for threads that were promised not to wait.
    case promptly
    /// The same, however long it takes to read and check it: on a worker's thread.
    case whole

    /// How long a payload may be that is read in order to check it.
    fileprivate var mostChecked: Int { self == .whole ? .max : Reader.mostChecked }
  }

  /// The same for a thread that was promised not to wait: it takes a few hundredths of a millisecond.
  static let mostChecked = 256 << 10

  let store: Store
  let clock: WallClock

  var thumbnails: Thumbnails { Thumbnails(store: store) }

  /// What is stored for a request, whether the request may be given it or not (`StoredAnswer.isAdmitted`). What can't be
  /// read is not there.
  func read(_ plan: RequestPlan, _ depth: Depth = .whole) -> StoredAnswer? {
    // Before the record: a removal between the two is noticed. Only what is read whole may be asked about.
    let seen = depth == .whole || depth == .promptly ? removalsNow(plan) : nil
    guard let (record, marks) = record(plan) else { return nil }
    let isAdmitted = plan.admits(record.reach)
    if isAdmitted { touchLink(plan) }
    var answer = StoredAnswer.Parts()
    if isAdmitted || depth == .facts, let content = record.content {
      readParts(content, plan, depth, &answer)
    }
    let now = clock.coarseSeconds
    return StoredAnswer(
      record, marks: marks, seen: seen, isAdmitted: isAdmitted, second: now,
      record.freshness(for: plan, now: now), answer)
  }

  /// The stored answer that a request may be given, fresh or not.
  func readAdmitted(_ plan: RequestPlan, _ depth: Depth = .whole) -> StoredAnswer? {
    guard plan.readsStore, let stored = read(plan, depth), stored.isAdmitted else { return nil }
    return stored
  }

  /// What is stored for a request, if it may be given at once: it is fresh, but perhaps a worker has to read it first. Redirects
  /// that are stored are followed; what is wrong with one is told to the request that goes that way.
  func readHit(_ plan: RequestPlan) -> (RequestPlan, StoredAnswer)? {
    guard !plan.asksForHeaders, let stored = readAdmitted(plan, .atHand) else { return nil }
    switch Decision(stored, plan) {
    case .hit, .checkFirst: return (plan, stored)
    case .follow(revalidates: false): return (try? plan.following(stored)).flatMap { readHit($0) }
    default: return nil
    }
  }

  private func readParts(
    _ content: Digest, _ plan: RequestPlan, _ depth: Depth, _ parts: inout StoredAnswer.Parts
  ) {
    var isIncomplete = false
    var isInMemory = plan.wantsPictures
    for recipe in plan.recipes {
      let found =
        depth == .facts
        ? thumbnails.findRecord(content, recipe)
        : thumbnails.find(content, recipe, checking: depth.mostChecked, &parts.isUnchecked)
      // What is there and unchecked may be all that is wanted.
      if found == nil, !parts.isUnchecked { isIncomplete = true }
      if case .inMemory(let kept) = found, kept.picture.ownsPixels {} else { isInMemory = false }
      parts.thumbnails[recipe] = found
    }
    parts.isInMemory = isInMemory
    // Looked up only where it is needed, because a use is what keeps a record.
    guard !plan.wantsPictures || isIncomplete else { return }
    let key = RecordKey(.body, content.bytes)
    if depth == .atHand, plan.wantsPictures { return }
    switch (try? store.lookup(key, checking: depth.mostChecked)) ?? .nothing {
    case .nothing: break
    case .found(let body): (parts.body, parts.bodyCount) = (body, Int64(body.count))
    case .unchecked(let count): (parts.isUnchecked, parts.bodyCount) = (depth != .facts, Int64(count))
    }
    guard plan.wantsPictures, parts.bodyCount == nil else { return }
    let missing = plan.recipes.filter { parts.thumbnails[$0] == nil }
    let most = depth == .facts ? Int.max : depth.mostChecked
    thumbnails.findLarger(content, missing, &parts.thumbnails, checking: most, &parts.isUnchecked)
  }

  private func removalsNow(_ plan: RequestPlan) -> Moment? {
    let groups = plan.groups
    return store.removalsNow(groups.own, groups.ofURL)
  }

  /// Every answer that is stored, and what it is good for by these rules, until `body` returns false.
  func forEach(
    _ rules: FreshnessRules, now: Int64, _ body: (RecordKey, AnswerRecord, Freshness) -> Bool
  ) throws(StoreFault) {
    try store.forEach { key, lease in
      guard key.kind == .answer || key.kind == .meta, lease.shape.form == RecordForm.answer,
        let record = lease.reading({ AnswerRecord($0) }), !record.isVaryRecord
      else { return true }
      return body(key, record, record.answer.freshness(for: HeaderFields(), rules, now: now))
    }
  }

  /// What is known about the answer to a request, whether it may be given to it or not, and by which records.
  func record(_ plan: RequestPlan) -> (AnswerRecord, AnswerMarks)? {
    // Marks first: what changes after them is noticed when they are compared.
    let isEarlier = isEarlier(plan.name)
    let name = plan.name.key(isEarlier: isEarlier)
    guard let firstMark = mark(name), let first = record(at: name) else { return nil }
    guard first.isVaryRecord else { return (first, AnswerMarks(key: name, mark: firstMark)) }
    let key = plan.name.key(
      variant: Caching.variant(first.varied, of: first.number, plan), isEarlier: isEarlier)
    guard let ownMark = mark(key), let variant = record(at: key) else { return nil }
    return (variant, AnswerMarks(key: key, mark: ownMark, varyRecord: (name, firstMark)))
  }

  /// The record under a key: an answer's, or one that says by which fields answers vary.
  func record(at key: RecordKey) -> AnswerRecord? {
    lookup(key).flatMap { $0.reading { AnswerRecord($0) } }
  }

  /// Whether a request finds the same at this moment as before, when it found `stored`. Reads no record. False also where
  /// the record has only been moved.
  func isUnchanged(_ plan: RequestPlan, _ stored: StoredAnswer?) -> Bool {
    if let stored { return stored.marks?.isCurrent(store) ?? false }
    return !store.isThere(plan.name.key(isEarlier: isEarlier(plan.name)))
  }

  /// Whether an answer is there under the name that version 0.1 gave it, and under no other.
  private func isEarlier(_ name: AnswerName) -> Bool {
    store.hasEarlierAnswers && !store.isThere(name.key()) && store.isThere(name.key(isEarlier: true))
  }

  // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.

  private func mark(_ key: RecordKey) -> RecordMark? { (try? store.mark(key)) ?? nil }

  private func lookup(_ key: RecordKey) -> Lease? { (try? store.lookup(key)) ?? nil }

  /// Keeps the link to an answer that is used: without it the answer would outlive its URL's removal.
  private func touchLink(_ plan: RequestPlan) {
    guard let link = plan.link else { return }
    _ = try? store.touch(link)
  }
}

extension AnswerRecord {
  /// What it is good for at a moment, for a request.
  func freshness(for plan: RequestPlan, now: Int64) -> Freshness {
    answer.freshness(for: plan.headers, plan.freshness, now: now)
  }
}
