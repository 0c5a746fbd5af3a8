/// The tiers that a fetch has searched. What holds them tells them once how the fetch ended.
struct SearchedTiers: Sendable {
  private var requests: [any TierRequest] = []

  /// Searches those that haven't been searched, in their order. True when the answer of one has to be waited for.
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

  /// The same on the loop's thread, which can't wait for a disk: a worker tells of a failure.
  func ended(_ end: FetchEnd, _ workers: WorkerPool) {
    guard !requests.isEmpty else { return }
    let isTold = end == .failed && workers.submit(priority: Priority.most) { ended(end) }
    if !isTold { ended(end == .failed ? .cancelled : end) }
  }

  /// For something else that tells them.
  mutating func take() -> SearchedTiers {
    defer { requests = [] }
    return self
  }
}
