import NuthatchHTTP
import NuthatchStore

/// What the record of an answer's key is. Kept beside its payload.
enum RecordForm: UInt8 {
  case answer = 0
  /// Says by which fields answers are told apart (`AnswerRecord.isVaryRecord`).
  case vary = 1
  /// Leads from a URL to the key of an answer that is kept under another address.
  case link = 2

  static func == (number: UInt8, form: RecordForm) -> Bool { number == form.rawValue }
}

// Taking out what is stored.
extension SharedCache {
  /// Takes out all that is kept under a URL, whoever it is for and whatever it was called. When this returns, no process
  /// gets an answer from the cache that was asked for before.
  ///
  /// - Returns: how many answers there were.
  @discardableResult
  func forget(_ url: WebURL, _ partition: [UInt8] = []) throws(StoreFault) -> Int {
    let groups = [AnswerName.group(of: url.address)]
    let removed = try store.remove(groups, earlierKeys(of: url, partition))
    return Self.answers(removed) + (try Self.forgetLinked(groups, removed, store))
  }

  /// The same because a request has made it invalid. What can't be taken out now is due (`Store.removeOrNote`).
  ///
  /// - Returns: whether it has been taken out.
  func invalidate(_ url: WebURL, _ partition: [UInt8]) -> Bool {
    forgetOrNote([AnswerName.group(of: url.address)], earlierKeys(of: url, partition))
  }

  /// The keys that version 0.1 gave what is kept under a URL.
  private func earlierKeys(of url: WebURL, _ partition: [UInt8]) -> [RecordKey] {
    guard store.hasEarlierAnswers else { return [] }
    return Set([[], partition]).map { AnswerName(address: url.address, partition: $0).key(isEarlier: true) }
  }

  /// Takes out what the links lead to that were kept under a URL, which has this group. An answer that has come from another
  /// URL since stays.
  static func forgetLinked(
    _ groups: [RecordGroup], _ removed: [RemovedRecord], _ store: Store
  ) throws(StoreFault) -> Int {
    let linked = removed.filter { $0.form == RecordForm.link && $0.key.kind == .answer }
      .map { RecordKey(.answer, $0.payload) }
      .filter { key in
        let lease = (try? store.lookup(key)) ?? nil
        let url = lease?.reading { AnswerRecord($0) }?.requestedURL
        return url.map { groups.contains(AnswerName.group(of: $0)) } ?? false
      }
    return linked.isEmpty ? 0 : answers(try store.remove([], linked))
  }

  /// Takes out what is kept under one name, all variants of it with it.
  ///
  /// - Returns: how many answers there were.
  @discardableResult
  func forget(_ name: AnswerName) throws(StoreFault) -> Int {
    // A vary record stands for the answers that it leads to.
    min(1, try store.remove([], keys(of: name)).count)
  }

  private func keys(of name: AnswerName) -> [RecordKey] {
    store.hasEarlierAnswers ? [name.key(), name.key(isEarlier: true)] : [name.key()]
  }

  private static func answers(_ removed: [RemovedRecord]) -> Int {
    removed.reduce(0) { $0 + ($1.key.kind == .meta || $1.form == RecordForm.answer ? 1 : 0) }
  }

  /// Takes out what is kept under a name because the server says that there is nothing, or nothing to be kept.
  func takeOut(_ name: AnswerName) { _ = forgetOrNote([], keys(of: name)) }

  private func forgetOrNote(_ groups: [RecordGroup], _ keys: [RecordKey]) -> Bool {
    guard let fault = store.removeOrNote(groups, keys) else { return true }
    counts.note(fault)
    doWhatIsDueLater(in: Self.firstWait)
    return false
  }

  private static let firstWait: Int64 = 1_000_000_000

  /// Tries again by and by to take out what is due: until then it has every hit looked up the slow way.
  private func doWhatIsDueLater(in nanoseconds: Int64) {
    guard !store.isReading, !waitsToRemove.exchange(true, ordering: .relaxed) else { return }
    runtime.loop.post { [weak self] in
      guard let self else { return }
      _ = self.runtime.loop.at(self.runtime.loop.now &+ nanoseconds) { [weak self] in
        guard let self else { return }
        self.runtime.workers.submit(priority: Priority.least) { [weak self] in
          guard let self else { return }
          self.waitsToRemove.store(false, ordering: .relaxed)
          try? self.store.doWhatIsDue(ofOthers: false)
          if self.store.hasDueRemovals {
            self.doWhatIsDueLater(in: min(30 * Self.firstWait, 2 * nanoseconds))
          }
        }
      }
    }
  }

  /// Keeps a link from the URL of a request to the name that its answer has, unless there is one. False when the answer was
  /// removed since its fetch began.
  func link(_ plan: RequestPlan, _ began: Moment) throws(StoreFault) -> Bool {
    guard let link = plan.link else { return true }
    if try store.touch(link) { return true }
    let form = RecordForm.link.rawValue
    return try store.commit(answer: link, form: form, plan.name.key().bytes, asked: began) != nil
  }
}

extension RequestPlan {
  /// Whose removal takes its answer out: the group that the answer is kept in, and that of the URL where it is another one.
  var groups: (own: RecordGroup, ofURL: RecordGroup?) {
    (name.group, isUnderOtherAddress ? AnswerName.group(of: url.address) : nil)
  }

  /// The link from the URL to the answer's name; nil where the URL is the name.
  var link: RecordKey? { isUnderOtherAddress ? link(to: name.key()) : nil }

  private var isUnderOtherAddress: Bool { name.address != url.address }

  /// Begins the name of a link, as no answer's name begins (`AnswerName.key`).
  private static let linkMark: UInt8 = 253

  private func link(to target: RecordKey) -> RecordKey {
    let hash = withUnsafeBytes(of: (target.hash.low.littleEndian, target.hash.high.littleEndian)) {
      Array($0)
    }
    return RecordKey(AnswerName.group(of: url.address), [Self.linkMark] + hash)
  }
}
