/// The tiers that a fetch has searched. The holder of this value must tell them once how the fetch ended.
struct SearchedTiers: Sendable {
  private var requests: [any TierRequest] = []

  /// Searches the remaining tiers in order. Returns true if the answer of one must be waited for.
  mutating func searchNext(
    for fetch: Fetch, besides base: StoredAnswer?, done: @escaping @Sendable (TierAnswer) -> Void
  ) -> Bool {
    while requests.count < fetch.shared.tiers.count {
      requests.append(fetch.shared.tiers[requests.count].request(for: fetch))
      if requests.last?.find(besides: base, done: done) == true { return true }
    }
    return false
  }

  func offer(_ record: AnswerRecord, _ body: SharedBytes) {
    for request in requests { request.offer(record, body) }
  }

  func ended(_ end: FetchEnd) {
    for request in requests { request.ended(end) }
  }

  /// As `ended`, for the loop's thread, which can't wait for a disk: a worker reports a failure. Without a worker: `cancelled`.
  func ended(_ end: FetchEnd, _ workers: WorkerPool) {
    guard !requests.isEmpty else { return }
    let isTold = end == .failed && workers.submit(priority: Priority.most) { ended(end) }
    if !isTold { ended(end == .failed ? .cancelled : end) }
  }

  /// Returns the tiers and forgets them, because the caller tells them how the fetch ended.
  mutating func take() -> SearchedTiers {
    defer { requests = [] }
    return self
  }
}
