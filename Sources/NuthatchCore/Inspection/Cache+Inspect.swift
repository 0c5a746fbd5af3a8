import CSystem
import NuthatchHTTP
import NuthatchStore

extension Cache {
  /// Returns the stored answer to a request, without using the network or decoding anything; nil if nothing is stored.
  ///
  /// If a config file names a command that signs in at the host, it may run first. The records that are read count as used. The body
  /// is looked for only if the request has no sizes or a size isn't stored.
  ///
  /// - Throws: like `submit`.
  public func inspect(_ request: Request) throws(NuthatchError) -> StoredAnswerInfo? {
    try instant.check()
    // Answers to local requests (`file:`, `data:`) aren't stored.
    guard try LocalRequest(request, options) == nil else { return nil }
    return shared.inspect(try signedInPlan(for: request))
  }

  /// Returns what the stored body says of itself as a picture, which no thumbnail may say; nil if there is no body, or if it is no
  /// picture.
  package func facts(ofBodyFor request: Request) throws(NuthatchError) -> PictureFacts? {
    let reader = shared.reader
    let stored = reader.read(try signedInPlan(for: request), .facts)
    let body = stored?.record.content.flatMap { reader.thumbnails.body($0) }
    return body?.withBytes { PictureFacts(of: $0) }
  }

  /// Returns what a request would get now, and why it would be refused, also if nothing is stored.
  package func prospect(
    of request: Request
  ) throws(NuthatchError) -> (StoredAnswerInfo.Prospect, StoredAnswerInfo.Refusal?) {
    try instant.check()
    guard try LocalRequest(request, options) == nil else { return (.fetch, nil) }
    let plan = try signedInPlan(for: request)
    let met = shared.prospect(shared.reader.read(plan, .facts), plan)
    return (met.prospect, met.refusal)
  }

  /// Like `inspect`. If nothing is stored, or `isEnough` returns false, submits the request. Both use the same plan.
  package func submit(
    _ request: Request, unless isEnough: (StoredAnswerInfo) -> Bool
  ) throws(NuthatchError) -> (stored: StoredAnswerInfo?, ticket: Ticket?) {
    try instant.check()
    guard try LocalRequest(request, options) == nil else { return (nil, try submit(request)) }
    let plan = try RequestPlan(request, options, instant.termsCache)
    // What is stored isn't known before the command has run that signs in.
    let known = plan.awaited == nil ? shared.inspect(plan) : nil
    if let known, isEnough(known) { return (known, nil) }
    // If nothing is stored, no second read is needed.
    return (nil, try submit(request, plan, known == nil ? nil : storedAnswer(to: plan)))
  }

  /// Calls `body` with every stored answer, in the order in which they were stored, until it returns false. Answers that differ
  /// in `Vary` fields come one by one.
  ///
  /// - Throws: `io`; `closed`; `forked`.
  public func forEachAnswer(_ body: (ListedAnswer) -> Bool) throws(NuthatchError) {
    let rules = FreshnessRules(options)
    let now = shared.clock.seconds
    try upkeep { (store) throws(StoreFault) in
      try shared.reader.forEach(rules, now: now) { key, record, freshness in
        guard let name = AnswerName.Parts(key) else { return true }
        return body(
          ListedAnswer(
            address: name.address, isPrivate: name.isPrivate, isFresh: !freshness.isStale,
            info: StoredAnswerInfo(record, key, freshness, rules, now: now)))
      }
    }
  }

  /// Reads every record and compares it with its checksum. Damaged records are removed, unless the cache can only be read.
  ///
  /// Without it each record is checked at its first use since a process has opened the directory. Bits that flip later, in
  /// memory or on the disk, aren't noticed until the next check.
  ///
  /// - Throws: `io`; `closed`; `forked`.
  public func verify() throws(NuthatchError) -> VerifyReport {
    try upkeep { (store) throws(StoreFault) in try store.verify() }
  }
}

/// The result of `Cache.verify`.
public typealias VerifyReport = NuthatchStore.VerifyReport

/// A stored answer in the list.
public struct ListedAnswer: Sendable {
  /// The URL, without userinfo, or the caller's cache key. Very long ones are cut.
  public let address: String
  /// Whether it is stored for certain credentials, cookies or a partition only.
  public let isPrivate: Bool
  /// Whether it is fresh, by the cache's policy.
  public let isFresh: Bool
  /// The answer, without thumbnails.
  public let info: StoredAnswerInfo
}

extension AnswerName {
  /// The parts of a record's key.
  struct Parts {
    let address: String
    let isPrivate: Bool

    init?(_ key: RecordKey) {
      let bytes = Array(key.name)
      guard let first = bytes.first, bytes.count > 2 else { return nil }
      // 255 marks a long key: a digest follows, then the beginning of the key.
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
    guard let stored = reader.read(plan, .facts), let key = stored.marks?.key else { return nil }
    var info = StoredAnswerInfo(stored, key, plan.freshness)
    if let content = stored.record.content {
      for recipe in plan.recipes { info.note(stored.thumbnails[recipe], content, recipe) }
    }
    (info.prospect, info.refusal, info.revalidates) = prospect(stored, plan)
    info.isRedirect = plan.followsRedirect(in: stored)
    return info
  }

  /// Returns what a ticket would get, why it would be refused, and whether the server would be asked in the background.
  fileprivate func prospect(
    _ stored: StoredAnswer?, _ plan: RequestPlan
  ) -> (prospect: StoredAnswerInfo.Prospect, refusal: StoredAnswerInfo.Refusal?, revalidates: Bool) {
    let decision = decide(stored, plan).decision
    switch decision {
    case .hit, .hitAndRevalidate, .checkFirst: return (.hit, nil, decision == .hitAndRevalidate)
    case .showThenFetch: return (.revalidate, nil, false)
    case .fetch: return (Decision.Finding(stored, plan).isOfUse ? .revalidate : .fetch, nil, false)
    case .follow(let revalidates):
      guard let next = stored.flatMap({ try? plan.following($0) }) else {
        return (.refuse, .badRedirect, false)
      }
      var met = prospect(reader.read(next, .facts), next)
      met.revalidates = met.revalidates || revalidates
      return met
    case .refuse(let refusal): return (.refuse, refusal, false)
    }
  }
}

extension StoredAnswerInfo {
  /// Adds a requested size.
  fileprivate mutating func note(_ thumbnail: StoredThumbnail?, _ content: Digest, _ recipe: Recipe) {
    thumbHashes.append(ThumbRecord.key(content, recipe).hash)
    switch thumbnail {
    case .record(let stored):
      originalSize = (stored.originalSize.width, stored.originalSize.height)
      facts = stored.facts
      // This is a larger thumbnail, which belongs to another size.
      guard stored.smaller == nil else { return }
      thumbs.append(
        Thumb(
          box: recipe.box, width: Int(stored.lease.shape.width), height: Int(stored.lease.shape.height),
          form: stored.form.word, bytes: stored.lease.count))
    case .inMemory(let kept):
      // The thumbnail isn't on disk yet, or was dropped there.
      let picture = kept.picture
      thumbs.append(
        Thumb(box: recipe.box, width: picture.width, height: picture.height, form: "memory", bytes: 0))
      originalSize = (picture.originalSize.width, picture.originalSize.height)
      facts = picture.facts
    case .undecodable(let fault): undecodable = fault.description
    case nil: break
    }
  }
}
