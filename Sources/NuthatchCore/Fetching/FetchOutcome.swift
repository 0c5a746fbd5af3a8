/// How a fetch ended. Handed on several times, which is one pointer each time.
indirect enum FetchOutcome {
  /// There is an answer, of any status.
  case answered(FetchedAnswer)
  /// The stored answer still holds; this is it, renewed.
  case unchanged(StoredAnswer)
  /// Another process fetched it meanwhile.
  case fetchedElsewhere(StoredAnswer)
  case failed(NuthatchError)

  var tierEnd: FetchEnd {
    if case .failed(let error) = self { error.isOwnEnd ? .cancelled : .failed } else { .stored }
  }
}
