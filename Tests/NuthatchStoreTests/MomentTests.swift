import Glibc
import Testing

@testable import NuthatchStore

@Suite("Answers that are kept with the moment of their question") struct MomentTests: SeveralUsers {
  let folder: Folder
  init() throws { folder = try Folder() }

  private func group(_ name: String) -> RecordGroup {
    Array(name.utf8).withUnsafeBytes { RecordGroup($0) }
  }

  private func key(_ name: String, _ variant: UInt8 = 0) -> RecordKey {
    RecordKey(group(name), [variant] + Array(name.utf8))
  }

  private func moment(_ name: String, _ user: Store) throws -> Moment {
    try #require(try user.moment(group(name)))
  }

  private func keep(_ name: String, _ payload: [UInt8], _ asked: Moment, _ user: Store) throws -> Bool {
    try user.commit(answer: key(name), payload, asked: asked) != nil
  }

  /// The ways in which a store removes an answer.
  enum Removal: CaseIterable { case group, clear }

  @Test(
    "an answer isn't kept if its group was removed after its question, by any store",
    arguments: Removal.allCases, [false, true])
  func removedOnTheWay(_ removal: Removal, _ isPrivate: Bool) throws {
    let (own, other) = (try user(spill: isPrivate ? .pressure : .eager), try user())
    for remover in [own, other] {
      let asked = try moment("a", own)
      let bystander = try moment("b", own)
      switch removal {
      case .group: _ = try remover.remove([group("a")], [])
      case .clear: try remover.clear()
      }
      #expect(try !keep("a", [1], asked, own))
      #expect(bytes(key("a"), own) == nil)
      #expect(try keep("b", [2], bystander, own) == (removal == .group))
      #expect(try keep("a", [3], moment("a", own), own))
      #expect(bytes(key("a"), own) == [3])
    }
    for user in [own, other] { user.finish() }
  }

  @Test("an answer in one store's memory is gone when another store removes its group or clears")
  func privateOnes() throws {
    let (own, other) = (try user(spill: .pressure), try user())
    for removal in Removal.allCases {
      #expect(try keep("a", [1], moment("a", own), own))
      #expect(try keep("b", [2], moment("b", own), own))
      switch removal {
      case .group: _ = try other.remove([group("a")], [])
      case .clear: try other.clear()
      }
      #expect(bytes(key("a"), own) == nil)
      #expect(bytes(key("b"), own) == (removal == .group ? [2] : nil))
      try own.flush()
      #expect(bytes(key("a"), other) == nil)
    }
    for user in [own, other] { user.finish() }
  }

  @Test("an answer in memory gives way to a later one that another store kept, also in a flush")
  func laterOne() throws {
    let (own, other) = (try user(spill: .pressure), try user())
    #expect(try keep("a", [1], moment("a", own), own))
    #expect(try keep("a", [2], moment("a", other), other))
    #expect(bytes(key("a"), own) == [2])
    try own.flush()
    for user in [own, other] { #expect(bytes(key("a"), user) == [2]) }
    for user in [own, other] { user.finish() }
  }

  /// A name whose group shares its counter of removals with another's.
  private func name(besides other: String) throws -> String {
    try #require((0...).lazy.map { "n\($0)" }.first { group($0).counter == group(other).counter })
  }

  @Test("losing an answer from memory doesn't bring an earlier one back", arguments: [false, true])
  func earlierOne(isPressed: Bool) throws {
    let (own, other) = (try user(spill: .pressure), try user())
    #expect(try keep("a", [1], moment("a", other), other))
    #expect(try keep("a", [2], moment("a", own), own))
    // The counter is shared, so this counts as a removal of the answer's group, too.
    _ = try other.remove([group(name(besides: "a"))], [])
    if isPressed { own.relieve(.critical) }
    for user in [own, other] { #expect(bytes(key("a"), user) != [1]) }
    for user in [own, other] { user.finish() }
  }

  @Test("an answer doesn't replace the answer to a later question", arguments: [false, true])
  func overtaken(_ isPrivate: Bool) throws {
    let (own, other) = (try user(spill: isPrivate ? .pressure : .eager), try user())
    let early = try moment("a", own)
    #expect(try keep("a", [2], moment("a", other), other))
    #expect(try !keep("a", [1], early, own))
    #expect(bytes(key("a"), own) == [2])
    #expect(try keep("a", [3], moment("a", own), own))
    #expect(bytes(key("a"), own) == [3])
    for user in [own, other] { user.finish() }
  }

  @Test("an answer in memory isn't found while a later one in the packs is being deleted")
  func laterOneGoes() throws {
    let (own, other) = (try user(spill: .pressure), try user())
    #expect(try keep("a", [1], try moment("a", own), own))
    #expect(bytes(key("a"), own) == [1])
    #expect(try keep("a", [2], try moment("a", other), other))
    // In the middle of a clear: the packs go before the index.
    for name in folder.files() { try folder.remove("packs/" + name) }
    #expect(bytes(key("a"), own) == nil)
    for user in [own, other] { user.finish() }
  }

  @Test("an answer in memory stays while a pack that may have a later one can't be read")
  func untold() throws {
    let (own, other) = (try user(spill: .pressure), try user())
    let early = try moment("a", other)
    #expect(try keep("a", [2], try moment("a", own), own))
    #expect(try keep("a", [1], early, other))
    // As while a pack is dropped, and what was used in it is moved.
    let (path, away) = (folder.path + "/packs/" + (folder.files().first ?? ""), folder.path + "/away")
    #expect(rename(path, away) == 0)
    #expect(bytes(key("a"), own) == nil)
    #expect(rename(away, path) == 0)
    #expect(bytes(key("a"), own) == [2])
    try own.flush()
    #expect(bytes(key("a"), other) == [2])
    for user in [own, other] { user.finish() }
  }

  @Test("removing a group removes all its answers and no others, also from an index that has grown")
  func group() throws {
    let own = try user()
    for variant in 0..<200 {
      for name in ["a", "b"] {
        let asked = try moment(name, own)
        #expect(
          try own.commit(answer: key(name, UInt8(variant)), form: 7, [UInt8(variant)], asked: asked) != nil)
      }
    }
    for number in 0..<3000 { _ = try own.commit(RecordKey(.meta, "other \(number)"), []) }
    let removed = try own.remove([group("a")], [])
    #expect(removed.count == 200)
    #expect(removed.allSatisfy { $0.form == 7 && $0.payload == [$0.key.name.first ?? 0] })
    for variant in 0..<200 {
      #expect(bytes(key("a", UInt8(variant)), own) == nil)
      #expect(bytes(key("b", UInt8(variant)), own) == [UInt8(variant)])
    }
    try folder.remove("index")
    own.finish()
    let later = try user()
    #expect(bytes(key("a", 3), later) == nil)
    #expect(bytes(key("b", 3), later) == [3])
    later.finish()
  }

  @Test("a moment stays current when the index grows, not when the index is made anew")
  func counters() throws {
    let own = try user()
    let asked = try moment("a", own)
    for number in 0..<3000 { _ = try own.commit(RecordKey(.meta, "other \(number)"), []) }
    #expect(own.disk.moments.isCurrent(asked))
    #expect(try keep("a", [1], asked, own))
    let other = try user()
    try folder.remove("index")
    try folder.remove("locks")
    let third = try user()
    #expect(!third.disk.moments.isCurrent(asked))
    for user in [own, other, third] { user.finish() }
  }
}
