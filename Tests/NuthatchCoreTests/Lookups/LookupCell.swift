@testable import NuthatchCore

/// What a handle says before and by a ticket.
struct LookupSaid: CustomStringConvertible {
  var glance: GlanceFacts
  var ticket: TicketFacts

  var description: String { "\(glance); ticket: \(ticket)" }
}

/// What all say of one state and one request.
struct LookupCell: CustomStringConvertible {
  let state: StoredState
  let request: LookupRequest
  var said: [LookupBench.Handle: LookupSaid] = [:]
  /// What the first handle says after the ticket.
  var again: GlanceFacts?
  /// What the later handle's peek unpacks, where the ticket changed nothing.
  var unpacked: AnswerFacts?
  /// Whether the server saw a request though none was submitted.
  var isSeen = false

  var description: String {
    LookupBench.Handle.allCases.compactMap { handle in said[handle].map { "\n    \(handle): \($0)" } }
      .joined()
  }

  /// What doesn't agree, and what each said.
  ///
  /// - Parameter one: what is said of the same request for one size, where this is for two.
  func differences(one: LookupCell?) -> [LookupDifference: String] {
    var found: [LookupDifference: String] = [:]
    func note(_ difference: LookupDifference, _ words: String) {
      found[difference, default: ""] += "\n    " + words
    }
    if isSeen { note(.lookIsSeen, "the server saw a request") }
    for (handle, said) in said {
      let words = "\(handle): \(said)"
      for peek in [said.glance.peek, said.glance.barePeek].compactMap(\.self) {
        if let hit = said.ticket.hit {
          if peek != hit { note(.peekSaysOtherwise, words) }
        } else {
          note(.peekGivesMore, words)
        }
      }
      if !said.ticket.prospects.contains(said.glance.prospect) { note(.inspectionSaysOtherwise, words) }
      if handle != .later, said.ticket.hit != nil, isReady, givesTooLittle(said.glance) {
        note(.peekGivesLess, words)
      }
    }
    guard let first = said[.first] else { return found }
    for (handle, difference) in [
      (LookupBench.Handle.second, LookupDifference.secondHandleSaysOtherwise),
      (.unnamed, .netrcSaysOtherwise),
    ] {
      if let other = said[handle], !first.agrees(with: other) {
        note(difference, "first: \(first)\n    \(handle): \(other)")
      }
    }
    if let named = said[.named], !named.isOfNothing { note(.userGetsOthers, "named: \(named)") }
    if let later = said[.later] {
      let words = "first: \(first)\n    later: \(later)"
      if !first.agreesButForMemory(with: later) { note(.laterHandleSaysOtherwise, words) }
      if later.ticket.hit != nil, first.glance.peek?.anywhere != unpacked?.anywhere, isReady {
        note(.unpackedSaysOtherwise, "\(words)\n    unpacked: \(unpacked.map { "\($0)" } ?? "nil")")
      }
    }
    if let again, first.ticket.hit != nil, first.glance.hasPeek, !first.glance.agrees(with: again) {
      note(.ticketChangesPeek, "before: \(first.glance)\n    after: \(again)")
    }
    if let one = one?.said[.first],
      one.ticket.ofAnySizes != first.ticket.ofAnySizes || one.glance.prospect != first.glance.prospect
    {
      note(.twoSizesSayOtherwise, "one size: \(one)\n    two sizes: \(first)")
    }
    return found
  }

  /// Whether nothing has to be decoded for it while it is in memory.
  private var isReady: Bool {
    switch request.form {
    case .bytes: request.isBare
    case .one: state.hasThumbs && !request.name.hasPrefix("damaged")
    case .two: false
    }
  }

  private func givesTooLittle(_ glance: GlanceFacts) -> Bool {
    request.form == .one && glance.peek == nil || request.isBare && glance.barePeek == nil
  }
}

extension LookupSaid {
  func agrees(with other: LookupSaid) -> Bool {
    glance.agrees(with: other.glance) && ticket.anywhere == other.ticket.anywhere
  }

  /// A peek may find less where nothing is in memory.
  func agreesButForMemory(with other: LookupSaid) -> Bool {
    for (mine, its) in [(glance.peek, other.glance.peek), (glance.barePeek, other.glance.barePeek)] {
      if let its, mine?.anywhere != its.anywhere { return false }
    }
    return glance.prospect == other.glance.prospect && ticket.anywhere == other.ticket.anywhere
  }
}

extension LookupSaid {
  /// Whether nothing was found.
  var isOfNothing: Bool {
    !glance.hasPeek && !glance.isStored && !ticket.events.contains { $0.answer?.isInCache == true }
  }
}

extension GlanceFacts {
  var hasPeek: Bool { peek != nil || barePeek != nil }

  func agrees(with other: GlanceFacts) -> Bool {
    peek?.anywhere == other.peek?.anywhere && barePeek?.anywhere == other.barePeek?.anywhere
      && prospect == other.prospect && isStored == other.isStored
  }
}
