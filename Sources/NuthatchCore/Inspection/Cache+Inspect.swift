import CSystem
import NuthatchHTTP
import NuthatchStore

extension Cache {
  /// What is stored for a request, without asking the network or decoding anything; nil when nothing is.
  ///
  /// What it looks up counts as used. A request without sizes is about the body.
  ///
  /// - Throws: as `submit`.
  public func inspect(_ request: Request) throws(NuthatchError) -> StoredAnswerInfo? {
    try checkPeekable()
    // Of what needs no server no answer is stored.
    guard try LocalRequest(request, options) == nil else { return nil }
    return shared.inspect(try RequestPlan(request, options))
  }

  /// As `inspect`, and, where what it finds isn't enough, as `submit`: the request is looked through once.
  package func submit(
    _ request: Request, unless isEnough: (StoredAnswerInfo) -> Bool
  ) throws(NuthatchError) -> (stored: StoredAnswerInfo?, ticket: Ticket?) {
    try checkPeekable()
    guard try LocalRequest(request, options) == nil else { return (nil, try submit(request)) }
    let plan = try RequestPlan(request, options, shelf)
    if let stored = shared.inspect(plan), isEnough(stored) { return (stored, nil) }
    return (nil, try submit(request, plan))
  }

  /// Calls `body` with everything that is stored, in the order in which it was kept, until it returns false. Answers that
  /// `Vary` tells apart come one by one.
  ///
  /// - Throws: `io`; `closed`; `forked`.
  public func forEachAnswer(_ body: (ListedAnswer) -> Bool) throws(NuthatchError) {
    let rules = options.policy.freshnessRules
    let now = shared.clock.seconds
    try upkeep { (store) throws(StoreFault) in
      try store.forEach { key, lease in
        guard key.kind == .answer || key.kind == .meta, lease.shape.form == RecordForm.answer,
          let meta = lease.reading({ AnswerRecord($0) }), !meta.isVaryRecord, let name = AnswerName.Parts(key)
        else {
          return true
        }
        let verdict = meta.answer.freshness(for: HeaderFields(), rules, now: now)
        return body(
          ListedAnswer(
            address: name.address, isPrivate: name.isPrivate, isFresh: verdict.grade == .fresh,
            info: StoredAnswerInfo(meta, key, verdict, rules, now: now)))
      }
    }
  }

  /// Reads everything that is stored and compares it with its checksums; what is damaged is taken out, unless the cache can
  /// only be read.
  ///
  /// Without it each record is checked when it is used for the first time since a process has opened the directory. Bits that flip
  /// later, in memory or on the disk, are given as they are until the next check.
  ///
  /// - Throws: `io`; `closed`; `forked`.
  public func verify() throws(NuthatchError) -> VerifyReport {
    try upkeep { (store) throws(StoreFault) in try store.verify() }
  }
}

/// What `Cache.verify` found.
public typealias VerifyReport = NuthatchStore.VerifyReport

/// An answer in the list of what is stored.
public struct ListedAnswer: Sendable {
  /// The URL, without userinfo, or what the caller put in its place. Of very long ones the beginning.
  public let address: String
  /// Whether it is kept for certain credentials, cookies or a partition only.
  public let isPrivate: Bool
  /// Whether it would be given without asking the server.
  public let isFresh: Bool
  /// The answer; thumbnails aren't looked for.
  public let info: StoredAnswerInfo
}

extension AnswerName {
  /// What a key says of itself.
  struct Parts {
    let address: String
    let isPrivate: Bool

    init?(_ key: RecordKey) {
      let bytes = Array(key.name)
      guard let first = bytes.first, bytes.count > 2 else { return nil }
      // The mark of a key that was too long: its digest, then the beginning of it.
      let plain = first == 255 ? Array(bytes.dropFirst(1 + Digest.size)) : bytes
      guard plain.count > 2 else { return nil }
      let start = 2 + Int(plain[0]) + Int(plain[1])
      guard plain.count >= start else { return nil }
      isPrivate = plain[0] > 0
      address = String(decoding: plain[start...], as: UTF8.self)
    }
  }
}

extension SharedCache {
  func inspect(_ plan: RequestPlan) -> StoredAnswerInfo? {
    guard let (meta, key) = metaWithKey(plan) else { return nil }
    let now = clock.coarseSeconds
    let verdict = Caching.judge(meta, plan, now: now)
    var info = StoredAnswerInfo(meta, key, verdict, plan.policy.freshnessRules, now: now)
    if let content = meta.content {
      for recipe in plan.recipes { note(recipe, of: content, &info) }
      let isWhole = plan.wantsPictures && info.thumbs.count == plan.recipes.count
      // A hit is what keeps a record: bodies that nobody wants are left to go.
      if !isWhole { info.hasBody = (try? store.lookup(RecordKey(.body, content.bytes))) ?? nil != nil }
    }
    info.prospect = prospect(meta, verdict, info, plan)
    return info
  }

  private func prospect(
    _ meta: AnswerRecord, _ verdict: Freshness, _ info: StoredAnswerInfo, _ plan: RequestPlan
  ) -> StoredAnswerInfo.Prospect {
    guard plan.readsStore, plan.guardGrade.admits(meta.reach), meta.bodyLength <= plan.maxBytes else {
      return .fetch
    }
    let isThere: Bool
    if plan.wantsPictures {
      isThere =
        (200..<300).contains(meta.head.status)
        && (info.hasBody || info.undecodable != nil || info.thumbs.count == plan.recipes.count)
    } else {
      isThere = info.hasBody || meta.bodyLength == 0
    }
    guard isThere else { return .fetch }
    if let source = info.originalSize, Picture.pixels(source.width, source.height) > plan.maxPixels {
      return .fetch
    }
    switch verdict.grade {
    case .fresh: return .hit
    case .staleWhileRevalidate: return plan.delivery == .twice || plan.wantsVerdict ? .revalidate : .hit
    case .stale: return plan.delivery == .first && !plan.wantsVerdict ? .hit : .revalidate
    case .mustValidate: return .revalidate
    }
  }

  private func note(_ recipe: Recipe, of content: Digest, _ info: inout StoredAnswerInfo) {
    let key = ThumbRecord.key(content, recipe)
    info.thumbHashes.append(key.hash)
    if let stored = ((try? store.lookup(key)) ?? nil).flatMap({ ThumbRecord.Stored($0) }) {
      info.thumbs.append(
        StoredAnswerInfo.Thumb(
          box: recipe.box, width: Int(stored.lease.shape.width), height: Int(stored.lease.shape.height),
          form: "\(stored.form)", bytes: stored.lease.count))
      info.originalSize = (stored.originalWidth, stored.originalHeight)
    } else if let kept = ((try? store.recall(key)) ?? nil)?.owner as? MemoryPicture {
      // Nothing is on disk yet, or any more.
      info.thumbs.append(
        StoredAnswerInfo.Thumb(
          box: recipe.box, width: kept.picture.width, height: kept.picture.height, form: "memory", bytes: 0))
      info.originalSize = (kept.picture.originalWidth, kept.picture.originalHeight)
    } else if let fault = DecodeFailure.read(content, recipe, in: store) {
      info.undecodable = fault.description
    }
  }

  private func metaWithKey(_ plan: RequestPlan) -> (AnswerRecord, RecordKey)? {
    let isEarlier = isEarlier(plan.name)
    let name = plan.name.key(isEarlier: isEarlier)
    guard let first = storedMeta(name) else { return nil }
    guard first.isVaryRecord else { return (first, name) }
    let key = plan.name.key(
      variant: Caching.variant(first.varied, of: first.number, plan), isEarlier: isEarlier)
    return storedMeta(key).map { ($0, key) }
  }

  private func storedMeta(_ key: RecordKey) -> AnswerRecord? {
    // A store that is closed, or was forked away, has nothing; its caller hears of it elsewhere.
    ((try? store.lookup(key)) ?? nil).flatMap { $0.reading { AnswerRecord($0) } }
  }
}
