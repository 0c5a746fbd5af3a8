import NuthatchHTTP
import NuthatchStore

/// The form of the record that is stored under an answer's key. The store keeps it beside the payload.
enum RecordForm: UInt8 {
  case answer = 0
  /// Names the request fields by which answers differ (`AnswerRecord.isVaryRecord`).
  case vary = 1
  /// Points from a URL to the key of an answer that is stored under another address.
  case link = 2

  static func == (number: UInt8, form: RecordForm) -> Bool { number == form.rawValue }
}

// Removal of stored answers.
extension SharedCache {
  /// Removes all stored answers of a URL: those of every partition, and those that are stored under another address. When it
  /// returns, no process gets an answer from the cache that was requested before the removal.
  ///
  /// - Returns: the number of answers that were removed.
  @discardableResult
  func forget(_ url: WebURL, _ partition: [UInt8] = []) throws(StoreFault) -> Int {
    let groups = [AnswerName.group(of: url.address)]
    let removed = try store.remove(groups, earlierKeys(of: url, partition))
    return Self.answers(removed) + (try Self.forgetLinked(groups, removed, store))
  }

  /// Removes all stored answers of a URL because a request has made them invalid. A removal that fails now is noted as due
  /// (`Store.removeOrNote`).
  ///
  /// - Returns: whether the answers have been removed.
  func invalidate(_ url: WebURL, _ partition: [UInt8]) -> Bool {
    forgetOrNote([AnswerName.group(of: url.address)], earlierKeys(of: url, partition))
  }

  /// Returns the keys under which version 0.1 stored answers of a URL.
  private func earlierKeys(of url: WebURL, _ partition: [UInt8]) -> [RecordKey] {
    guard store.hasEarlierAnswers else { return [] }
    return Set([[], partition]).map { AnswerName(address: url.address, partition: $0).key(isEarlier: true) }
  }

  /// Removes the answers to which removed links pointed, if the URLs that the answers were stored for are in these groups. If
  /// an answer for another URL was stored meanwhile, it stays.
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

  /// Removes the answer with this name, including all its variants.
  ///
  /// - Returns: the number of answers that were removed.
  @discardableResult
  func forget(_ name: AnswerName) throws(StoreFault) -> Int {
    // A vary record with all its variants counts as one answer.
    min(1, try store.remove([], keys(of: name)).count)
  }

  private func keys(of name: AnswerName) -> [RecordKey] {
    store.hasEarlierAnswers ? [name.key, name.key(isEarlier: true)] : [name.key]
  }

  private static func answers(_ removed: [RemovedRecord]) -> Int {
    removed.reduce(0) { $0 + ($1.key.kind == .meta || $1.form == RecordForm.answer ? 1 : 0) }
  }

  /// Removes the answer with this name, because the server reports that the resource is gone or that its answer may not be
  /// stored. A removal that fails now is noted as due.
  func takeOut(_ name: AnswerName) { _ = forgetOrNote([], keys(of: name)) }

  private func forgetOrNote(_ groups: [RecordGroup], _ keys: [RecordKey]) -> Bool {
    guard let fault = store.removeOrNote(groups, keys) else { return true }
    counts.note(fault)
    retryDueRemovals(in: Self.firstWait)
    return false
  }

  private static let firstWait: Int64 = 1_000_000_000

  /// Retries due removals later, with growing waits. While a removal is due, every hit uses the slow look-up.
  private func retryDueRemovals(in nanoseconds: Int64) {
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
            self.retryDueRemovals(in: min(30 * Self.firstWait, 2 * nanoseconds))
          }
        }
      }
    }
  }

  /// Stores a link from the URL of a request to the name of its answer, unless there is one. Returns false if the answer was
  /// removed since its fetch began.
  func link(_ plan: RequestPlan, _ began: Moment) throws(StoreFault) -> Bool {
    guard let link = plan.link else { return true }
    if try store.touch(link) { return true }
    let form = RecordForm.link.rawValue
    return try store.commit(answer: link, form: form, plan.name.key.bytes, asked: began) != nil
  }
}

extension RequestPlan {
  /// The groups whose removal removes this answer: the group of the name's address, and the URL's group if the URL is another
  /// address.
  var groups: (own: RecordGroup, ofURL: RecordGroup?) {
    (name.group, isUnderOtherAddress ? AnswerName.group(of: url.address) : nil)
  }

  /// The key of the link from the URL to the answer's name. Nil if the name has the URL as its address.
  var link: RecordKey? { isUnderOtherAddress ? link(to: name.key) : nil }

  private var isUnderOtherAddress: Bool { name.address != url.address }

  /// The first byte of a link's name. No answer's name begins with it (`AnswerName.key`).
  private static let linkMark: UInt8 = 253

  private func link(to target: RecordKey) -> RecordKey {
    let hash = withUnsafeBytes(of: (target.hash.low.littleEndian, target.hash.high.littleEndian)) {
      Array($0)
    }
    return RecordKey(AnswerName.group(of: url.address), [Self.linkMark] + hash)
  }
}
