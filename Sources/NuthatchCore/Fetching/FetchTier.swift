/// A place outside this process that may have an answer. It is searched once for each fetch, for all its waiters,
/// before the origin server is asked. `OtherProcesses` is the first tier; tiers on other machines come after it.
protocol FetchTier: Sendable {
  /// Makes the object that searches this tier for one fetch. Called on the loop's thread.
  func request(for fetch: Fetch) -> any TierRequest
}

/// Searches a tier for one fetch.
protocol TierRequest: AnyObject, Sendable {
  /// Looks for an answer. Called once, on the loop's thread.
  ///
  /// - Parameters:
  ///   - base: the answer that is known to be stored.
  ///   - done: call it once, on the loop's thread, at any time after this method has returned.
  /// - Returns: whether `done` will be called. False: the tier has no answer, and there is nothing to wait for.
  func find(besides base: StoredAnswer?, done: @escaping @Sendable (TierAnswer) -> Void) -> Bool

  /// Receives an answer that was just stored, if every user may get it. Called on a worker's thread, before `ended`. Must
  /// return at once; the fetch doesn't wait for the tier.
  func offer(_ record: AnswerRecord, _ body: SharedBytes)

  /// The fetch has ended as far as others can see: if it has an answer to store, the store has it. Called exactly once. If
  /// bodies are stored, it is called before pictures are decoded. If it is called while `find` is under way, `done` is ignored.
  ///
  /// `notStored` and `failed` come on a worker's thread, where the tier may wait for a disk. The others may come on the loop's
  /// thread.
  func ended(_ end: FetchEnd)
}

/// The answer of a tier.
enum TierAnswer: Sendable {
  case nothing
  /// The store may have changed. The value is what it has now.
  case storeNowHas(StoredAnswer?)
}

/// The end of a fetch, as a tier sees it.
enum FetchEnd: Sendable {
  /// Its answer is stored.
  case stored
  /// There is an answer, but it isn't stored.
  case notStored
  case failed
  /// No request waits for it any more, or the cache is being closed.
  case cancelled
}
