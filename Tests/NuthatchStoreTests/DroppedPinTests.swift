import Testing

@testable import NuthatchStore

/// Records that one holds, whose packs are gone, and what others do to their keys.
@Suite("A pin whose pack was dropped") struct DroppedPinTests: SeveralUsers {
  private static let key = RecordKey(.meta, "key")
  let folder: Folder
  init() throws { folder = try Folder() }

  /// Two users, of whom the first holds a record whose pack was dropped.
  private func held(_ spill: Store.Spill = .eager) throws -> (own: SharedStore, other: SharedStore, pin: Pin)
  {
    let (own, other) = (try user(spill: spill), try user())
    try keep(Self.key, [1], own)
    let pin = try #require(own.pin(Self.key))
    try own.flush()
    try own.trim(to: 0)
    #expect(folder.files().isEmpty)
    #expect(bytes(Self.key, own) == [1])
    #expect(bytes(Self.key, other) == nil)
    return (own, other, pin)
  }

  @Test("gives nothing when another process removes the key", arguments: [Store.Spill.eager, .pressure])
  func removed(_ spill: Store.Spill) throws {
    let (own, other, pin) = try held(spill)
    try keep(RecordKey(.meta, "another"), [2], other)
    #expect(try !other.drop(RecordKey(.meta, "nothing")))
    #expect(bytes(Self.key, own) == [1])
    #expect(try !other.drop(Self.key))
    #expect(bytes(Self.key, own) == nil)
    #expect(pin.lease.copied() == [1])
    for user in [own, other] { user.finish() }
  }

  @Test("gives nothing when another process's record took its place and was dropped as well")
  func replaced() throws {
    let (own, other, pin) = try held()
    try keep(Self.key, [2], other)
    #expect(bytes(Self.key, own) == [2])
    try other.trim(to: 0)
    #expect(bytes(Self.key, own) == nil)
    // A new pin is one of the new record.
    try keep(Self.key, [3], other)
    let later = own.pin(Self.key)
    try other.trim(to: 0)
    #expect(bytes(Self.key, own) == [3])
    #expect(pin.lease.copied() == [1] && later?.lease.copied() == [3])
    for user in [own, other] { user.finish() }
  }

  @Test("is found by an index that grew, and gives nothing by one that was made anew")
  func otherIndex() throws {
    let (own, other, pin) = try held()
    for number in 0..<3000 { try keep(RecordKey(.meta, "\(number)"), [], other) }
    #expect(bytes(Self.key, own) == [1])
    #expect(try !other.drop(Self.key))
    #expect(bytes(Self.key, own) == nil)
    try keep(Self.key, [2], other)
    let second = own.pin(Self.key)
    try other.trim(to: 0)
    #expect(bytes(Self.key, own) == [2])
    try folder.remove("index")
    let third = try user()
    #expect(try !third.drop(Self.key))
    #expect(bytes(Self.key, own) == nil)
    withExtendedLifetime((pin, second)) {}
    for user in [own, other, third] { user.finish() }
  }

  @Test("leaves room for others when it goes, and so does a process that was killed")
  func room() throws {
    let own = try user()
    try keep(Self.key, [1], own)
    for _ in 0..<1000 { #expect(own.pin(Self.key) != nil) }
    var pins: [Pin?] = []
    for number in 0..<300 {
      let key = RecordKey(.meta, "\(number)")
      try keep(key, [UInt8(number & 255)], own)
      pins.append(own.pin(key))
      pins.append(own.pin(key))
    }
    try own.trim(to: 0)
    let found = (0..<300).filter { bytes(RecordKey(.meta, "\($0)"), own) == [UInt8($0 & 255)] }
    #expect(found.count >= IndexLayout.mostPins - 1 && found.count <= IndexLayout.mostPins)
    #expect(pins.allSatisfy { $0?.lease.count == 1 })
    pins = []
    try keep(Self.key, [2], own)
    pins.append(own.pin(Self.key))
    try own.trim(to: 0)
    #expect(bytes(Self.key, own) == [2])
    // Nobody gives these back; whoever opens the directory alone does.
    for number in 0..<300 {
      let key = RecordKey(.meta, "\(number)")
      try keep(key, [1], own)
      _ = own.notePin(key, at: try #require(own.current(key)).location)
    }
    own.finish()
    let later = try user()
    try keep(Self.key, [3], later)
    let pin = later.pin(Self.key)
    try later.trim(to: 0)
    #expect(bytes(Self.key, later) == [3])
    withExtendedLifetime((pin, pins)) {}
    later.finish()
  }
}
