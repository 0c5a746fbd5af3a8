import Glibc
import Synchronization
import TestServer
import Testing

@testable import NuthatchCore
@testable import NuthatchStore

/// Has a state stored once for every request and handle, and asks all of them.
final class LookupBench {
  enum Handle: Int, CaseIterable {
    case first
    /// Opened beside the first. It has shown before what is asked for, by URL and size alone.
    case second
    /// Opened beside the first, with a netrc that names no user for the server.
    case unnamed
    /// Opened beside the first, with a netrc that names a user for the server, whose answers are others.
    case named
    /// Opened when all others had been closed.
    case later
  }

  /// The time of day, in seconds, which goes back to store and forth to ask.
  private final class Clock: Sendable {
    let seconds = Atomic<Int64>(0)
  }

  private static let start: Int64 = 1_700_000_000
  private let state: StoredState
  private let requests: [LookupRequest]
  private let clock = Clock()
  private let asks = Collected<Bool>()
  private let server: TestServer
  private let folder: String
  private let copies: [String]
  /// What the handles that are beside each other have in common.
  private weak var shared: SharedCache?

  init(_ state: StoredState) throws {
    self.state = state
    requests = LookupRequest.asked(of: state)
    server = try TestServer.start()
    folder = try Bench.makeFolder()
    copies = Self.copies(requests.count * Handle.allCases.count, of: server)
    server.on(prefix: "/") { [asks] request in
      let copy = request.path.split(separator: "/").first.flatMap { Int($0) } ?? 0
      return state.script(request.path, copy: copy, isLater: !asks.values.isEmpty)
    }
  }

  deinit {
    server.stop()
    removeTree(folder)
  }

  private func open(netrc host: String? = nil) throws -> Cache {
    var options = TestOptions()
    options.clock = WallClock { [clock] in clock.seconds.load(ordering: .relaxed) * 1_000_000_000 }
    options.retries = 0
    options.thumbStore = state.store
    options.keepSource = state.keepsSource
    options.spill = state.isInMemoryOnly ? .pressure : nil
    if let host { options.netrc = .file(try netrc(host)) }
    return try Cache(path: folder, options: options)
  }

  /// The URL of the copy that is this handle's for this request.
  private func url(_ place: Int, _ handle: Handle) -> String {
    copies[place * Handle.allCases.count + handle.rawValue]
  }

  /// URLs, none of which shares its counter of removals with another: what one is asked must not make another's failure
  /// forgotten.
  private static func copies(_ count: Int, of server: TestServer) -> [String] {
    var used: Set<Int> = []
    var copies: [String] = []
    // All of the same length, because it is part of bodies.
    var number = 999
    while copies.count < count {
      number += 1
      let url = server.url("/\(number)")
      let counters = [url, url + "/target"].map { AnswerName.group(of: $0).counter }
      guard used.isDisjoint(with: counters) else { continue }
      used.formUnion(counters)
      copies.append(url)
    }
    return copies
  }

  /// nil when memory was short meanwhile, because another test said so: then it is unknown what is in memory.
  func cells() throws -> [LookupCell]? {
    var cells = requests.map { LookupCell(state: state, request: $0) }
    guard try askBesideEachOther(&cells) else { return nil }
    try askLater(&cells)
    return cells
  }

  /// A netrc that names a user for a host.
  private func netrc(_ host: String) throws -> String {
    let path = "\(folder)/netrc-\(host)"
    let text = "machine \(host) login ann password pw\n"
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    try #require(write(file, text, text.utf8.count) == text.utf8.count)
    return path
  }

  /// False as in `cells`.
  private func askBesideEachOther(_ cells: inout [LookupCell]) throws -> Bool {
    let handles: [(Handle, Cache)] = [
      (.first, try open()), (.second, try open()), (.unnamed, try open(netrc: "elsewhere.example")),
      (.named, try open(netrc: "127.0.0.1")),
    ]
    let first = handles[0].1
    shared = first.shared
    let pressure = try first.storeStatistics().pressure
    try store(first)
    for (place, request) in requests.enumerated() {
      for (handle, cache) in handles where request.handles.contains(handle) {
        try ask(handle, cache, place, &cells[place])
      }
      cells[place].again = try first.glance(url(place, .first), request, state.sides)
    }
    let isAsItWas = try first.storeStatistics().pressure == pressure
    for (_, cache) in handles { cache.close() }
    return isAsItWas
  }

  private func ask(_ handle: Handle, _ cache: Cache, _ place: Int, _ cell: inout LookupCell) throws {
    let url = url(place, handle)
    server.clearLog()
    if handle == .second {
      for side in state.sides { _ = try cache.peek(url, size: side) }
      _ = try cache.peekResponse(url)
    }
    let glance = try cache.glance(url, cell.request, state.sides)
    if server.count() > 0 { cell.isSeen = true }
    let ticket = try cache.facts(url, cell.request, state.sides, server)
    cell.said[handle] = LookupSaid(glance: glance, ticket: ticket)
  }

  private func askLater(_ cells: inout [LookupCell]) throws {
    // Its memory stays as long as it is referenced, for instance by a fetch that is just ending.
    for _ in 0..<30_000 where shared != nil { usleep(1000) }
    try #require(shared == nil)
    let later = try open()
    defer { later.close() }
    for (place, request) in requests.enumerated() where request.handles.contains(.later) {
      try ask(.later, later, place, &cells[place])
      guard cells[place].said[.later]?.ticket.hit != nil else { continue }
      // As it was before the ticket: on disk.
      try later.upkeep { (store) throws(StoreFault) in store.relieve(.critical) }
      cells[place].unpacked = try later.peekFacts(url(place, .later), request, state.sides, decode: true)
    }
  }

  /// Has the state stored for every request and handle.
  private func store(_ cache: Cache) throws {
    let now = Self.start + 100
    clock.seconds.store(state.isMadeLate ? now : Self.start, ordering: .relaxed)
    let urls = requests.enumerated().flatMap { place, request in request.handles.map { url(place, $0) } }
    for making in state.makings {
      let tickets = try urls.map { try cache.submit(making.request($0)) }
      for ticket in tickets { _ = try ticket.final(within: 60_000) }
    }
    if state.isRemoved {
      for url in urls { try cache.remove(state.hop == nil ? url : url + "/target") }
    }
    clock.seconds.store(now, ordering: .relaxed)
    asks.add(true)
  }
}
