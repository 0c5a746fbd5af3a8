import NuthatchTransport

/// The hosts that can't be reached or are overloaded. Learns from answers and faults, and refuses the entries whose patience is
/// over.
final class TroubledHosts {
  private let away: AwayHosts
  /// Entries that wait for the call of `refused`.
  private var refused: [QueueEntry] = []

  init(_ away: AwayHosts) { self.away = away }

  /// Notes how an exchange of `entry` ended.
  func learn(
    _ outcome: ExchangeOutcome, _ fault: TransportFault?, from entry: QueueEntry, _ settings: QueueSettings,
    at now: Int64
  ) {
    let host = entry.host
    switch outcome {
    case .done:
      host.circuit.noteAnswer()
      if fault == nil, host.noteWholeAnswer() { away.forget(host.origin) }
    case .unreachable: noteFault(fault, from: entry, settings, at: now)
    case .dropped:
      host.noteOverload(entry, settings, at: now)
      // One bad page must not block the host, so a dropped connection counts as an answer. For a request with patience it
      // counts as a fault, because that request can wait.
      guard entry.patience > 0 else { return host.circuit.noteAnswer() }
      noteFault(fault, from: entry, settings, at: now)
    case .timedOut: if entry.patience > 0 { noteSilence(fault, from: entry, settings, at: now) }
    case .abandoned, .unused: break
    }
  }

  /// Notes that `entry` will be put off because nothing came. If its host has answered others meanwhile, the host isn't silent.
  func learnPutOff(_ entry: QueueEntry, _ settings: QueueSettings, at now: Int64) {
    guard entry.patience > 0, entry.host.lastGoodAnswer ?? .min < entry.since else { return }
    let seconds = (now &- entry.since) / 1_000_000_000
    noteSilence(TransportFault(.timeout, "no byte for \(seconds) s"), from: entry, settings, at: now)
  }

  /// Notes whether the head reports overload. Only answers to requests with patience slow a host down, but then all its
  /// requests.
  func learn(_ overload: Overload?, from entry: QueueEntry, _ settings: QueueSettings, at now: Int64) {
    let host = entry.host
    guard let overload, entry.patience > 0 else {
      if overload == nil {
        host.measures.pace.noteGood(isCure: entry.troubleSince != .min, began: entry.since, at: now)
      }
      if host.noteGoodAnswer(at: now) { away.forget(host.origin) }
      return
    }
    let isOnlyThisRequest = overload.previous.map { $0 < host.lastGoodAnswer ?? .min } ?? false
    // If the host's limit was above the usual one, that may be the reason. Then only lower the limit.
    let wasMore = !isOnlyThisRequest && host.noteOverload(entry, settings, at: now)
    guard !wasMore else { return }
    host.measures.pace.noteOverload(
      overload.status, isOnlyThisRequest: isOnlyThisRequest, began: entry.since, at: now)
    if !isOnlyThisRequest {
      host.noteTrouble(.status(overload.status), of: entry, at: now)
      noteAway(.http, entry, at: now)
    }
    refuseGivenUp(at: host, now)
  }

  /// Tells callers that `entry` and others wait for its host.
  private func noteAway(_ code: ErrorCode, _ entry: QueueEntry, at now: Int64) {
    let host = entry.host
    guard let trouble = host.trouble, entry.patience > 0, !host.isGivenUp(by: entry, at: now) else { return }
    away.note(host.origin, since: trouble.since, code)
  }

  private func noteFault(
    _ fault: TransportFault?, from entry: QueueEntry, _ settings: QueueSettings, at now: Int64
  ) {
    let host = entry.host
    if let fault { host.noteTrouble(.fault(fault), of: entry, at: now) }
    guard host.circuit.noteFault(isProbe: entry.isProbe, at: now, settings.circuit) else { return }
    if let fault { noteAway(ErrorCode(fault.kind), entry, at: now) }
    if let last = host.lastTry, last > now { host.circuit.probe(by: last) }
    refuse(host.takeAll { $0.patience == 0 || host.isGivenUp(by: $0, at: now) })
  }

  /// Notes that nothing came on an established connection. If a host has been silent for the request's patience, its circuit
  /// opens.
  private func noteSilence(
    _ fault: TransportFault?, from entry: QueueEntry, _ settings: QueueSettings, at now: Int64
  ) {
    let host = entry.host
    if let fault { host.noteTrouble(.fault(fault), of: entry, at: now) }
    if host.trouble?.isOfHost == true { noteAway(.timeout, entry, at: now) }
    guard host.isGivenUp(by: entry, at: now) else { return }
    host.circuit.open(at: now, settings.circuit)
    refuseGivenUp(at: host, now)
  }
}

// MARK: - Refusals

extension TroubledHosts {
  var hasRefused: Bool { !refused.isEmpty }

  /// Refuses an entry if nothing may be sent to its host now and the entry doesn't wait for that.
  ///
  /// - Returns: whether it was refused.
  func refuseIfShut(_ entry: QueueEntry, of host: QueueHost, at now: Int64) -> Bool {
    let isBreak = host.breakEnd > now && host.trouble?.isShown == true
    let isShut =
      host.circuit.left(at: now) > 0 || entry.patience > 0 && (host.pausedUntil > now || isBreak)
    guard isShut, entry.patience == 0 || host.isGivenUp(by: entry, at: now) else { return false }
    entry.setState(.refused)
    refused.append(entry)
    return true
  }

  /// Refuses the entries whose patience for a host in trouble is over.
  func refuseGivenUp(at host: QueueHost, _ now: Int64) {
    guard let end = host.givenUpAt, end <= max(now, host.pausedUntil) else { return }
    away.forget(host.origin)
    refuse(host.takeAll { $0.patience > 0 && host.isGivenUp(by: $0, at: now) })
  }

  private func refuse(_ entries: [QueueEntry]) {
    for entry in entries { entry.setState(.refused) }
    refused += entries
  }

  /// Removes and returns the first entries that wait for the call of `refused`.
  func takeRefused(atMost limit: Int) -> ArraySlice<QueueEntry> {
    guard hasRefused else { return [] }
    let portion = refused.prefix(limit)
    refused.removeFirst(portion.count)
    return portion
  }
}
