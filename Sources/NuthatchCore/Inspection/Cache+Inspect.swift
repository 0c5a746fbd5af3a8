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
    try instant.check()
    // Of what needs no server no answer is stored.
    guard try LocalRequest(request, options) == nil else { return nil }
    return shared.inspect(try RequestPlan(request, options))
  }

  /// What a request would meet with, and why it would be refused, also where nothing is stored.
  package func prospect(
    of request: Request
  ) throws(NuthatchError) -> (StoredAnswerInfo.Prospect, StoredAnswerInfo.Refusal?) {
    try instant.check()
    guard try LocalRequest(request, options) == nil else { return (.fetch, nil) }
    let plan = try RequestPlan(request, options, instant.termsCache)
    let met = shared.prospect(shared.reader.read(plan, .facts), plan)
    return (met.prospect, met.refusal)
  }

  /// As `inspect`, and, where what it finds isn't enough, as `submit`: the request is looked through once.
  package func submit(
    _ request: Request, unless isEnough: (StoredAnswerInfo) -> Bool
  ) throws(NuthatchError) -> (stored: StoredAnswerInfo?, ticket: Ticket?) {
    try instant.check()
    guard try LocalRequest(request, options) == nil else { return (nil, try submit(request)) }
    let plan = try RequestPlan(request, options, instant.termsCache)
    let known = shared.inspect(plan)
    if let known, isEnough(known) { return (known, nil) }
    // Where nothing is stored, there is nothing to be read once more.
    return (nil, try submit(request, plan, known == nil ? nil : storedAnswer(to: plan)))
  }

  /// Calls `body` with everything that is stored, in the order in which it was kept, until it returns false. Answers that
  /// `Vary` tells apart come one by one.
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
  /// Whether it is within its lifetime, by the cache's policy.
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
    guard let stored = reader.read(plan, .facts), let key = stored.marks?.key else { return nil }
    var info = StoredAnswerInfo(stored, key, plan.freshness)
    if let content = stored.record.content {
      for recipe in plan.recipes { info.note(stored.thumbnails[recipe], content, recipe) }
    }
    (info.prospect, info.refusal, info.revalidates) = prospect(stored, plan)
    info.leadsOn = plan.isLedOn(by: stored)
    return info
  }

  /// What a ticket would meet with, why it would be refused, and whether the server would be asked behind it.
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
  /// Tells of a size that was asked about.
  fileprivate mutating func note(_ thumbnail: StoredThumbnail?, _ content: Digest, _ recipe: Recipe) {
    thumbHashes.append(ThumbRecord.key(content, recipe).hash)
    switch thumbnail {
    case .record(let stored):
      originalSize = (stored.originalSize.width, stored.originalSize.height)
      // A larger one is another size's.
      guard stored.smaller == nil else { return }
      thumbs.append(
        Thumb(
          box: recipe.box, width: Int(stored.lease.shape.width), height: Int(stored.lease.shape.height),
          form: "\(stored.form)", bytes: stored.lease.count))
    case .inMemory(let kept):
      // Nothing is on disk yet, or any more.
      let picture = kept.picture
      thumbs.append(
        Thumb(box: recipe.box, width: picture.width, height: picture.height, form: "memory", bytes: 0))
      originalSize = (picture.originalSize.width, picture.originalSize.height)
    case .undecodable(let fault): undecodable = fault.description
    case nil: break
    }
  }
}
