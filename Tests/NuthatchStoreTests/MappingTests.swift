import CSystem
import Foundation
import Synchronization
import Testing

/// All files are mapped through `nhs_map_file`.
@Suite("Mappings of files (nhs_map_file)") struct MappingTests {
  /// A file of some pages, each of which begins with its number + 1.
  private final class Pages: Sendable {
    static let size = 4096
    let fd: Int32
    let count: Int

    init(_ count: Int) throws {
      self.count = count
      let path = NSTemporaryDirectory() + "/nuthatch-pages-" + UUID().uuidString
      fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      try #require(fd >= 0)
      unlink(path)
      fill()
    }

    deinit { close(fd) }

    func fill() {
      for page in 0..<count {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        bytes[0] = UInt8(page + 1)
        pwrite(fd, bytes, bytes.count, off_t(page * Self.size))
      }
    }

    /// Truncates the file to this number of pages.
    func cut(to pages: Int) { ftruncate(fd, off_t(pages * Self.size)) }

    func map(isWritable: Bool) throws -> nhs_mapping {
      var mapping = nhs_mapping()
      try #require(
        nhs_map_file(fd, 0, count * Self.size, isWritable ? NHS_MAP_SHARED : NHS_MAP_READ, &mapping) == 0)
      return mapping
    }

    /// Returns the first byte of a page of the file.
    func byte(_ page: Int) -> UInt8 {
      var byte: UInt8 = 0
      pread(fd, &byte, 1, off_t(page * Self.size))
      return byte
    }
  }

  private func begin(_ mapping: nhs_mapping, _ page: Int) -> UInt8 {
    (mapping.base + page * Pages.size).load(as: UInt8.self)
  }

  private func isBroken(_ mapping: nhs_mapping) -> Bool { nhs_is_broken(mapping.broken) != 0 }

  @Test("an unreadable page of a mapped file reads as zeros and marks the mapping as broken")
  func read() throws {
    let pages = try Pages(4)
    var mapping = try pages.map(isWritable: false)
    defer { nhs_unmap_file(&mapping) }
    #expect(begin(mapping, 2) == 3 && !isBroken(mapping))
    pages.cut(to: 2)
    let before = nhs_failed_touches()
    #expect(begin(mapping, 2) == 0 && isBroken(mapping))
    #expect(nhs_failed_touches() > before)
    #expect(begin(mapping, 1) == 2)
    #expect(begin(mapping, 3) == 0)
  }

  @Test("after a failed write a mapping takes no more writes, on any page")
  func write() throws {
    let pages = try Pages(4)
    var mapping = try pages.map(isWritable: true)
    defer { nhs_unmap_file(&mapping) }
    mapping.base.storeBytes(of: 50, as: UInt8.self)
    #expect(!isBroken(mapping) && pages.byte(0) == 50)
    pages.cut(to: 3)
    mapping.base.storeBytes(of: 51, toByteOffset: 3 * Pages.size, as: UInt8.self)
    #expect(isBroken(mapping))
    mapping.base.storeBytes(of: 52, as: UInt8.self)
    #expect(pages.byte(0) == 50)
    #expect(begin(mapping, 1) == 0)
  }

  @Test("a broken mapping is whole after it is mapped again, if the file is")
  func again() throws {
    let pages = try Pages(2)
    var mapping = try pages.map(isWritable: true)
    defer { nhs_unmap_file(&mapping) }
    pages.cut(to: 1)
    #expect(begin(mapping, 1) == 0 && isBroken(mapping))
    #expect(nhs_map_again(&mapping, pages.fd, 0) == 0)
    #expect(begin(mapping, 0) == 1 && !isBroken(mapping))
    #expect(begin(mapping, 1) == 0 && isBroken(mapping))
    pages.fill()
    #expect(nhs_map_again(&mapping, pages.fd, 0) == 0)
    #expect(begin(mapping, 0) == 1 && begin(mapping, 1) == 2 && !isBroken(mapping))
  }

  @Test("a new mapping isn't marked as broken for an earlier one at its address")
  func reuse() throws {
    let pages = try Pages(2)
    for round in 0..<200 {
      pages.fill()
      var mapping = try pages.map(isWritable: round % 2 == 0)
      #expect(!isBroken(mapping) && begin(mapping, 1) == 2)
      pages.cut(to: 1)
      // A page that is mapped already stays for some file systems: it is taken away by cutting.
      #expect(begin(mapping, 1) == 0 && isBroken(mapping))
      nhs_unmap_file(&mapping)
    }
  }

  @Test("of 1500 mappings only those break whose missing page is touched")
  func many() throws {
    let pages = try Pages(2)
    let other = try Pages(2)
    var mappings = try (0..<1500).map { try ($0 % 3 == 0 ? other : pages).map(isWritable: false) }
    pages.cut(to: 1)
    for number in stride(from: 0, to: mappings.count, by: 7) { _ = begin(mappings[number], 1) }
    for number in mappings.indices {
      #expect(isBroken(mappings[number]) == (number % 7 == 0 && number % 3 != 0), "mapping \(number)")
    }
    for number in mappings.indices { nhs_unmap_file(&mappings[number]) }
  }

  @Test(
    "threads that touch a mapping while its file is truncated read right bytes, or zeros",
    arguments: [true, false])
  func threads(_ isWritable: Bool) throws {
    for _ in 0..<20 {
      let pages = try Pages(8)
      let mapping = try pages.map(isWritable: isWritable)
      let wrong = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        if number == 0 { pages.cut(to: 0) }
        for _ in 0..<50 {
          for page in 0..<8 {
            let seen = (mapping.base + page * Pages.size).load(as: UInt8.self)
            if seen != UInt8(page + 1), seen != 0 || nhs_is_broken(mapping.broken) == 0 {
              // A page may be cut away between two touches, and then be found missing by this one.
              wrong.wrappingAdd(1, ordering: .relaxed)
            }
          }
        }
      }
      #expect(wrong.load(ordering: .relaxed) == 0)
      #expect(nhs_is_broken(mapping.broken) != 0)
      withUnsafePointer(to: mapping) { nhs_unmap_file($0) }
    }
  }

  @Test(
    "SIGBUS outside of mapped files goes to the earlier handler, or ends the process",
    arguments: [
      ("own", 0, false), ("forked", 0, false), ("earlier-own", 0, false), ("ignored-sent", 0, false),
      ("earlier", 9, false), ("foreign", SIGBUS, true), ("ignored", SIGBUS, true), ("sent", SIGBUS, true),
    ])
  func others(_ name: String, _ status: Int32, _ isSignal: Bool) throws {
    let path = NSTemporaryDirectory() + "/nuthatch-signal-" + UUID().uuidString
    defer { unlink(path) }
    let victim = try Victim(["signal", name, path], isPlain: true)
    _ = victim.end()
    #expect(victim.process.terminationStatus == status)
    #expect((victim.process.terminationReason == .uncaughtSignal) == isSignal)
  }
}
