import CSystem
import Foundation
import Testing

@testable import NuthatchStore

/// A reader that holds texts: "+a" adds the text a, "-a" removes it, "+a body-…" adds it with a body.
final class TextReader: JournalReader {
  struct Entry { let text: String, place: JournalPlace, body: String? }
  private(set) var entries: [Entry] = []
  private(set) var begins = 0

  var texts: [String] { entries.map(\.text) }
  var wanted: [JournalPlace] { entries.map(\.place) }
  var wantedBytes: Int64 { wanted.reduce(0) { $0 + JournalRecord.end(0, $1.length) } }
  var bodies: Set<String> { Set(entries.compactMap(\.body)) }

  func begin() {
    entries = []
    begins += 1
  }

  func take(_ payload: UnsafeRawBufferPointer, at place: JournalPlace) {
    guard let start = payload.baseAddress else { return }
    // Texts may be long. Without optimisation, Swift's own search would take most of these tests' time.
    let end = memchr(start, 0x20, payload.count).map { UnsafeRawPointer($0) - start } ?? payload.count
    let word = String(decoding: UnsafeRawBufferPointer(rebasing: payload[..<end]), as: UTF8.self)
    let text = String(word.dropFirst())
    if word.hasPrefix("+") {
      let body = UnsafeRawBufferPointer(rebasing: payload[end...].dropFirst())
      entries.append(
        Entry(text: text, place: place, body: body.isEmpty ? nil : String(decoding: body, as: UTF8.self)))
    } else {
      entries.removeAll { $0.text == text }
    }
  }
}

/// A journal and what its reader knows.
final class Texts {
  let reader = TextReader()
  let journal: Journal

  init(_ path: String, _ system: any SystemCalls = LinuxCalls()) { journal = Journal(path, reader, system) }

  func write(_ texts: String...) throws {
    try journal.changing(makes: true) { (journal) throws(StoreFault) in
      for text in texts { try journal.append(Array(text.utf8)) }
    }
  }

  /// Returns all texts, after reading the records that others have added.
  func all() throws -> [String] {
    try journal.changing(makes: false) { _ in } ?? ()
    return reader.texts
  }
}

@Suite("Journal, the log of the outbox") struct JournalTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  private func log() throws -> [UInt8] { try folder.read("outbox/log") }
  private func damaged() -> [String] { folder.files("outbox").filter { $0.hasPrefix("damaged-") } }

  @Test("the journal keeps records across openings and creates no file before the first record")
  func keeps() throws {
    #expect(try Texts(folder.path).all() == [])
    #expect(folder.files("") == [])
    let one = Texts(folder.path)
    try one.write("+a", "+b")
    try one.write("-a", "+c")
    #expect(one.reader.texts == ["b", "c"])
    #expect(try Texts(folder.path).all() == ["b", "c"])
    var status = stat()
    for (name, mode) in [("outbox", 0o700), ("outbox/log", 0o600), ("outbox/lock", 0o600)] {
      #expect(stat(folder.path + "/" + name, &status) == 0)
      #expect(Int(status.st_mode & 0o777) == mode, "\(name)")
    }
  }

  @Test("several journals on one file read each other's records in order")
  func shared() throws {
    let (one, other) = (Texts(folder.path), Texts(folder.path))
    try one.write("+a")
    try other.write("+b")
    try one.write("+c")
    #expect(try other.all() == ["a", "b", "c"])
    #expect(one.reader.texts == ["a", "b", "c"])
    let numbers = other.reader.wanted.map(\.sequence)
    #expect(numbers == [1, 2, 3])
  }

  @Test("a truncated journal loses its last record at most", arguments: [1, 7, 20, 33, 39])
  func torn(_ missing: Int) throws {
    try Texts(folder.path).write("+a", "+b")
    let whole = try log()
    let fd = open(folder.path + "/outbox/log", O_WRONLY)
    ftruncate(fd, off_t(whole.count - missing))
    close(fd)
    let again = Texts(folder.path)
    // The padding is no part of the record.
    #expect(try again.all() == (missing < 6 ? ["a", "b"] : ["a"]))
    #expect(damaged() == [] && again.journal.damage == [])
    try again.write("+c")
    #expect(try Texts(folder.path).all().last == "c")
  }

  @Test("a damaged record of the journal is set aside, and all others are read")
  func damage() throws {
    let texts = (0..<8).map { "+text\($0)" }
    let writer = Texts(folder.path)
    for text in texts { try writer.write(text) }
    let whole = try log()
    for offset in stride(from: JournalHead.length, to: whole.count, by: 3) {
      let other = try Folder()
      try FileManager.default.copyItem(atPath: folder.path + "/outbox", toPath: other.path + "/outbox")
      try other.poke("outbox/log", at: offset, [whole[offset] ^ 0x10])
      let reader = Texts(other.path)
      let hit = (offset - JournalHead.length) / 40
      // Padding may be anything.
      let isPadding = (offset - JournalHead.length) % 40 >= 38
      let expected = (0..<8).filter { isPadding || $0 != hit }.map { "text\($0)" }
      #expect(try reader.all() == expected, "\(offset)")
      #expect(reader.journal.damage.count == (isPadding ? 0 : 1), "\(offset)")
      let asides = other.files("outbox").filter { $0.hasPrefix("damaged-") }
      #expect(asides == reader.journal.damage)
      if let aside = asides.first {
        let kept = try other.read("outbox/" + aside)
        #expect(kept.count == 40)
      }
      // The damaged record has been left out of the log; later readers don't find it again.
      let later = Texts(other.path)
      #expect(try later.all() == expected)
      #expect(later.journal.damage == [])
      try later.write("+more")
      #expect(try Texts(other.path).all() == expected + ["more"])
    }
  }

  @Test("a payload that looks like a record isn't taken for one when the journal is damaged")
  func disguise() throws {
    let writer = Texts(folder.path)
    try writer.write("+a")
    let record = Array(try log()[JournalHead.length...])
    _ = try writer.journal.changing(makes: true) { (journal) throws(StoreFault) in
      try journal.append([UInt8](repeating: 0x2B, count: 8) + record + record)
    }
    try writer.write("+b")
    try folder.poke("outbox/log", at: JournalHead.length + 40 + 24, [1, 2, 3])
    #expect(try Texts(folder.path).all() == ["a", "b"])
  }

  @Test("a journal with a damaged head is read by the head's copy; if both are damaged it is set aside")
  func beginning() throws {
    try Texts(folder.path).write("+a")
    // Some of its bytes are random.
    for start in [0, 64] {
      #expect(try Texts(folder.path).all() == ["a"])
      try folder.poke("outbox/log", at: start + 20, [try log()[start + 20] ^ 9])
    }
    let reader = Texts(folder.path)
    #expect(try reader.all() == [])
    #expect(reader.journal.damage.count == 1)
    try reader.write("+b")
    #expect((reader.reader.wanted.first?.sequence ?? 0) > 1_000_000)
    #expect(try Texts(folder.path).all() == ["b"])
  }

  @Test("a journal of another version throws and stays unchanged")
  func otherVersion() throws {
    try Texts(folder.path).write("+a")
    var head = JournalHead(salt: 1, next: 1).bytes
    for start in [0, 64] {
      head[start + 8] = 2
      let sum = head[start..<start + 56].withUnsafeBytes { nhs_hash64($0.baseAddress, 56, 0) }
      withUnsafeBytes(of: sum.littleEndian) { head.replaceSubrange(start + 56..<start + 64, with: $0) }
    }
    try folder.poke("outbox/log", at: 0, head)
    let before = try log()
    #expect(throws: StoreFault.self) { try Texts(folder.path).all() }
    #expect(throws: StoreFault.self) { try Texts(folder.path).write("+b") }
    #expect(try log() == before)
  }

  @Test("a journal is rewritten when most of its records are no longer wanted")
  func rewriting() throws {
    let (writer, other) = (Texts(folder.path), Texts(folder.path))
    let filler = String(repeating: "x", count: 50_000)
    try writer.write("+keep")
    for number in 0..<60 { try writer.write("+\(number)\(filler)", "-\(number)\(filler)") }
    #expect(try log().count < 1_300_000)
    #expect(try other.all() == ["keep"])
    try other.write("+more")
    #expect(try writer.all() == ["keep", "more"])
    let numbers = writer.reader.wanted.map(\.sequence)
    #expect(numbers == [1, 122])
    // Texts that were removed leave no bytes in the log.
    try writer.write("-keep", "-more", "+\(filler)", "-\(filler)")
    #expect(try log().count == JournalHead.length)
    try writer.write("+last")
    #expect(writer.reader.wanted.map(\.sequence) == [127])
  }

  @Test("a journal that was deleted is begun anew by the next write")
  func removed() throws {
    let writer = Texts(folder.path)
    try writer.write("+a")
    try folder.remove("outbox")
    #expect(try writer.all() == ["a"])
    try writer.write("+b")
    #expect(try Texts(folder.path).all() == ["b"])
  }

  @Test("only one journal at a time has the lease, and only one has taken a record")
  func lease() throws {
    let (one, other) = (Texts(folder.path), Texts(folder.path))
    try one.write("+a")
    _ = try other.all()
    #expect(try one.journal.tryLease())
    #expect(try !other.journal.tryLease())
    one.journal.withLocks { $0.releaseLease() }
    #expect(try other.journal.tryLease())
    #expect(try one.journal.tryTake(7) && !(other.journal.tryTake(7)))
    one.journal.withLocks { $0.giveBack(7) }
    #expect(try other.journal.tryTake(7))
  }

  @Test("long bodies are files beside the journal, and files that no record names are swept up")
  func bodies() throws {
    let writer = Texts(folder.path)
    let bytes = content(1, 300_000)
    func add(_ named: Bool) throws -> (String, UInt64) {
      let made = try writer.journal.changing(makes: true) { (journal) throws(StoreFault) in
        try journal.newBody()
      }
      let body = try #require(made)
      try bytes.withUnsafeBytes { try body.append($0) }
      let sum = try body.finish()
      guard named else { return (body.name, sum) }
      // A sweep meanwhile doesn't delete the body.
      _ = try Texts(folder.path).journal.changing(makes: false) { $0.sweep() }
      try writer.write("+a \(body.name)")
      body.keep()
      return (body.name, sum)
    }
    let (lost, _) = try add(false)
    #expect(!folder.files("outbox").contains(lost))
    let (name, sum) = try add(true)
    #expect(try folder.read("outbox/" + name) == bytes)
    func isWhole(_ name: String, _ count: Int64, _ checksum: UInt64) throws -> Bool? {
      try writer.journal.looking { (journal) throws(StoreFault) in
        try journal.body(name, count: count).isWhole(checksum)
      }
    }
    #expect(try isWhole(name, 300_000, sum) == true && isWhole(name, 299_999, sum) == false)
    try folder.poke("outbox/" + name, at: 150_000, [bytes[150_000] ^ 1])
    #expect(try isWhole(name, 300_000, sum) == false)
    #expect(try isWhole("body-0", 0, 0) == false)
    let left = "outbox/body-00000000000000aa"
    _ = FileManager.default.createFile(atPath: folder.path + "/" + left, contents: Data([1]))
    _ = try writer.journal.changing(makes: false) { $0.sweep() }
    #expect(folder.files("outbox") == [name, "lock", "log"])
  }

  @Test(
    "no acknowledged record of the journal is lost when a system call fails",
    arguments: isSanitized ? [EIO] : [ENOSPC, EIO, 0], [false, true])
  func faults(_ number: Int32, _ isLasting: Bool) throws {
    for count in 0..<200 {
      let folder = try Folder()
      let before = Texts(folder.path)
      let filler = String(repeating: "x", count: 600_000)
      try before.write("+a", "+\(filler)", "-\(filler)")
      let calls = FaultyCalls(
        number == 0 ? .short : .number(number), after: count, isLasting: isLasting)
      let faulty = Texts(folder.path, calls)
      var promised = ["a"]
      var open: [String] = []
      for text in ["b", "c", filler, "d"] {
        do {
          try faulty.write("+" + text)
          promised.append(text)
        } catch {
          open.append(text)
        }
      }
      let isClean = calls.failures == 0
      calls.disarm()
      let found = try Texts(folder.path).all()
      #expect(found.filter { promised.contains($0) } == promised, "\(number) \(isLasting) \(count)")
      #expect(found.allSatisfy { promised.contains($0) || open.contains($0) }, "\(number) \(count)")
      // The journal works again.
      try faulty.write("+e")
      #expect(try Texts(folder.path).all().last == "e")
      #expect(folder.files("outbox").filter { $0.hasPrefix("damaged-") } == [])
      if isClean { return }
    }
    Issue.record("no run without a fault")
  }

  @Test(
    "the journal's first write syncs the log and the folders above it, even if they existed",
    arguments: [false, true])
  func names(_ isThere: Bool) throws {
    let directory = folder.path + "/new/newer"
    // A process that was killed may have left the folders like this.
    try FileManager.default.createDirectory(
      atPath: directory + (isThere ? "/outbox" : ""), withIntermediateDirectories: true)
    let calls = FaultyCalls(.number(EIO))
    let texts = Texts(directory, calls)
    #expect(try texts.all() == [])
    try texts.write("+a")
    let synced = calls.synced
    for name in ["", "/new", "/new/newer", "/new/newer/outbox", "/new/newer/outbox/log"] {
      var status = stat()
      #expect(stat(folder.path + name, &status) == 0)
      #expect(synced.contains(UInt64(status.st_ino)), "\(name)")
    }
  }

  @Test("a journal record that couldn't be synced is taken back")
  func syncs() throws {
    let calls = FaultyCalls(.number(EIO))
    let writer = Texts(folder.path, calls)
    try writer.write("+a")
    calls.failSyncs(true)
    #expect(throws: StoreFault.self) { try writer.write("+b") }
    #expect(try Texts(folder.path).all() == ["a"])
    calls.failSyncs(false)
    try writer.write("+c")
    #expect(try Texts(folder.path).all() == ["a", "c"])
  }
}
