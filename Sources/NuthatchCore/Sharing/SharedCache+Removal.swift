import NuthatchHTTP
import NuthatchStore

/// What the record of an answer's key is. Kept beside its payload.
enum RecordForm: UInt8 {
  case answer = 0
  /// Says by which fields answers are told apart (`Meta.isSignpost`).
  case signpost = 1
  /// Leads from a URL to the key of an answer that is kept under another address.
  case link = 2

  static func == (number: UInt8, form: RecordForm) -> Bool { number == form.rawValue }
}

// Taking out what is stored.
extension SharedCache {
  /// Begins the name of a link, as no answer's name begins (`AnswerName.key`).
  private static let linkMark: UInt8 = 253

  /// Takes out all that is kept under a URL, whoever it is for and whatever it was called. When this returns, no process
  /// gets an answer from the cache that was asked for before.
  ///
  /// - Returns: how many answers there were.
  @discardableResult
  func forget(_ url: WebURL, _ partition: [UInt8] = []) throws(StoreFault) -> Int {
    var earlier: [RecordKey] = []
    if store.hasEarlierAnswers {
      let names = Set([[], partition]).map { AnswerName(address: url.address, partition: $0) }
      earlier = names.map { $0.key(isEarlier: true) }
    }
    let removed = try store.remove([AnswerName.group(of: url.address)], earlier)
    var count = Self.answers(removed)
    // What the links lead to. An answer that has come from another URL since stays.
    let linked = removed.filter { $0.form == RecordForm.link && $0.key.kind == .answer }
      .map { RecordKey(.answer, $0.payload) }
      .filter { key in
        let lease = (try? store.lookup(key)) ?? nil
        return lease?.reading { Meta($0) }?.requestedURL == url.address
      }
    if !linked.isEmpty { count += Self.answers(try store.remove([], linked)) }
    return count
  }

  /// Takes out what is kept under one name, all variants of it with it.
  ///
  /// - Returns: how many answers there were.
  @discardableResult
  func forget(_ name: AnswerName) throws(StoreFault) -> Int {
    var keys = [name.key()]
    if store.hasEarlierAnswers { keys.append(name.key(isEarlier: true)) }
    let removed = try store.remove([], keys)
    // A signpost stands for the answers that it leads to.
    return min(1, removed.count)
  }

  private static func answers(_ removed: [RemovedRecord]) -> Int {
    removed.reduce(0) { $0 + ($1.key.kind == .meta || $1.form == RecordForm.answer ? 1 : 0) }
  }

  /// Takes out what is kept under a name because the server says that there is nothing, or nothing to be kept.
  func takeOut(_ name: AnswerName) {
    // What can't be taken out now is taken out with its pack.
    do throws(StoreFault) { try forget(name) } catch { counts.note(error) }
  }

  /// Keeps a link from the URL of a request to the name that its answer has, unless there is one. False when the answer was
  /// removed since it was asked for.
  func link(_ plan: RequestPlan, _ asked: Moment) throws(StoreFault) -> Bool {
    let target = plan.name.key()
    let link = Self.link(plan, to: target)
    if try store.touch(link) { return true }
    return try store.commit(answer: link, form: RecordForm.link.rawValue, target.bytes, asked: asked) != nil
  }

  /// Keeps the link to an answer that is used: without it the answer would outlive its URL's removal.
  func touchLink(_ plan: RequestPlan) {
    guard plan.name.address != plan.url.address else { return }
    _ = try? store.touch(Self.link(plan, to: plan.name.key()))
  }

  private static func link(_ plan: RequestPlan, to target: RecordKey) -> RecordKey {
    let name = withUnsafeBytes(of: (target.hash.low.littleEndian, target.hash.high.littleEndian)) {
      Array($0)
    }
    return RecordKey(AnswerName.group(of: plan.url.address), [linkMark] + name)
  }
}
