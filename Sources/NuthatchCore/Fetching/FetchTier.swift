/// Where an answer may be that this process doesn't have: searched once for each fetch, for all that wait for it, before the
/// origin is asked. `OtherProcesses` is the first one; those of other machines stand behind it.
protocol FetchTier: Sendable {
  /// What one fetch has to do with the tier. Called on the loop's thread.
  func request(for fetch: Fetch) -> any TierRequest
}

/// What one fetch has to do with a tier.
protocol TierRequest: AnyObject, Sendable {
  /// Looks for an answer. Called once, on the loop's thread.
  ///
  /// - Parameters:
  ///   - base: what is known to be stored already.
  ///   - done: to be called once, on the loop's thread, at any time after this has returned.
  /// - Returns: whether `done` will be called. False: there is nothing, and nothing to wait for.
  func find(besides base: StoredAnswer?, done: @escaping @Sendable (TierAnswer) -> Void) -> Bool

  /// Is given an answer that was stored just now, if any user may have it. Called on a worker's thread, before `ended`. Returns
  /// at once; nothing waits for what the tier does with it.
  func offer(_ record: AnswerRecord, _ body: SharedBytes)

  /// The fetch has ended, as far as others can see: what it leaves is in the store, if anything. Called exactly once, and before
  /// pictures are decoded where bodies are kept; also while `find` is under way, of which nothing is heard any more then.
  ///
  /// `notStored` and `failed` come on a worker's thread, where the tier may wait for a disk. The others may come on the loop's.
  func ended(_ end: FetchEnd)
}

/// What a tier knows.
enum TierAnswer: Sendable {
  case nothing
  /// The store may have changed. This is what it has now.
  case storeNowHas(StoredAnswer?)
}

/// How a fetch ended for a tier.
enum FetchEnd: Sendable {
  /// Its answer is stored.
  case stored
  /// There is an answer, but not in the store.
  case notStored
  case failed
  /// Nothing waits for it any more, or the cache is being closed.
  case cancelled
}
