/// The end of a fetch. `indirect`, because it is passed on several times and is then only a pointer.
indirect enum FetchOutcome {
  /// The server sent an answer of any status.
  case answered(FetchedAnswer)
  /// The server has confirmed the stored answer. The value is the renewed answer.
  case unchanged(StoredAnswer)
  /// Another process has fetched it meanwhile.
  case fetchedElsewhere(StoredAnswer)
  case failed(NuthatchError)

  /// The end for the tiers that a worker hasn't told yet. After an `AnswerProcessor`, all have been told.
  var tierEnd: FetchEnd {
    if case .failed(let error) = self { error.isOwnEnd ? .cancelled : .failed } else { .stored }
  }
}
