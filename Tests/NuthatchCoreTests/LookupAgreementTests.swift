import Testing

@testable import NuthatchCore

/// Several ways lead to one stored answer: a ticket, a peek, an inspection, each by any handle on the directory. For every
/// stored state and every request all of them are asked, and what they say is compared.
@Suite("Agreement of all ways to look up an answer") struct LookupAgreementTests {
  @Test(
    "tickets, peeks and inspections agree on a stored answer, except for known differences",
    arguments: StoredState.all.enumerated().filter { !isSanitized || $0.offset % 5 == 0 }.map(\.element))
  func agreement(state: StoredState) throws {
    var found = try problems(of: state)
    // Other tests of this process have a part in its memory and its queue: what doesn't come again was theirs.
    if !found.isEmpty {
      let again = Set(try problems(of: state).map(\.place))
      found.removeAll { !again.contains($0.place) }
    }
    for problem in found { Issue.record("\(problem.place): \(problem.words)") }
  }

  /// Returns the differences that aren't in the table, and those of the table that don't show.
  private func problems(of state: StoredState) throws -> [(place: String, words: String)] {
    let cells = try #require(try cells(of: state), "memory was short again and again")
    let ones = cells.filter { $0.request.form == .one }
    var problems: [(place: String, words: String)] = []
    for cell in cells {
      let one = ones.first { cell.request.form == .two && $0.request.name == cell.request.name }
      let found = cell.differences(one: one)
      for difference in LookupDifference.allCases {
        let known = KnownDifference.all.filter {
          $0.difference == difference && $0.shows(state, cell.request)
        }
        let place = "\(state.name) / \(cell.request.title): \(difference.rawValue)"
        if let words = found[difference], known.isEmpty {
          problems.append((place, words))
        } else if found[difference] == nil, !known.isEmpty {
          let why = known.map(\.why).joined(separator: " ")
          problems.append(
            (place, "this doesn't show any more, take it out of the table: \(why) Now they say: \(cell)"))
        }
      }
    }
    return problems
  }

  @Test("every known difference between the ways to look up an answer is tested")
  func tableIsUsed() {
    for known in KnownDifference.all {
      let isUsed = StoredState.all.contains { state in
        LookupRequest.asked(of: state).contains { known.shows(state, $0) }
      }
      #expect(isUsed, "shows nowhere: \(known.why)")
    }
  }

  /// nil when memory was short each time.
  private func cells(of state: StoredState) throws -> [LookupCell]? {
    for _ in 0..<20 {
      if let cells = try LookupBench(state).cells() { return cells }
    }
    return nil
  }
}
