import Glibc

/// The lines of a list, read as they are needed.
final class LineReader {
  enum Step {
    /// Without its line break.
    case line([UInt8])
    /// None is complete yet.
    case idle
    case end
  }

  /// What ends a line.
  enum LineEnds {
    /// LF, and CR LF.
    case lineFeed
    /// Also a lone CR.
    case any
    /// Also a lone CR, but of a line that begins as JSON, where CR is a blank.
    case guessed
  }

  enum LineBreak {
    case none, feed, loneReturn, returnAndFeed

    var bytes: [UInt8] {
      switch self {
      case .none: []
      case .feed: [10]
      case .loneReturn: [13]
      case .returnAndFeed: [13, 10]
      }
    }
  }

  /// A file with longer lines is no list.
  static let longest = 16 << 20

  /// The line that came last, from 1.
  private(set) var number = 0
  /// What ended it, which is part of a field in quotes.
  private(set) var lineBreak = LineBreak.none

  private let source: ListSource
  private var text = ListText()
  private var content: [UInt8] = []
  private var place = 0
  private var feeds = ByteFinder(10)
  private var returns = ByteFinder(13)
  /// Line breaks that have come.
  private var breaks = 0
  /// Editors of today don't count the lone CRs of a list whose lines end in LF.
  private var countsReturns: Bool?
  /// How many bytes the last piece took.
  private var lastTaken: Int64 = 0
  private var isAtEnd = false

  /// `-` is standard input.
  init(_ path: String) throws(ListFault) { source = try ListSource(path) }

  var name: String { source.name }

  /// Bytes of the file that have been read.
  var bytesRead: Int64 { source.bytesTaken }

  /// Of `bytesRead`, those that the lines so far took, as far as that can be known of what was packed.
  var bytesUsed: Int64 {
    let left = Double(content.count - place) / Double(max(1, content.count))
    return bytesRead - Int64(left * Double(lastTaken))
  }

  /// The next line; `idle` when none came within `milliseconds`.
  func next(within milliseconds: Int32, endedBy ends: LineEnds = .lineFeed) throws(ListFault) -> Step {
    while true {
      if let line = takeLine(ends) { return .line(line) }
      if let fault = text.fault { throw listFault(fault) }
      if isAtEnd {
        guard place < content.count else { return .end }
        return .line(take(upTo: content.count, .none))
      }
      guard content.count - place < Self.longest else {
        throw ListFault("\(name): line \(breaks + 1) is longer than \(Self.longest >> 20) MiB")
      }
      guard try fill(within: milliseconds) else { return .idle }
    }
  }

  private func takeLine(_ ends: LineEnds) -> [UInt8]? {
    let feed = feeds.next(in: content, from: place)
    if hasReturns(ends), let lone = returns.next(in: content, from: place), lone < feed ?? content.count {
      // Its LF may be the next byte to come.
      if lone + 1 == content.count, !isAtEnd { return nil }
      return take(upTo: lone, feed == lone + 1 ? .returnAndFeed : .loneReturn)
    }
    guard let feed else { return nil }
    let isAfterReturn = feed > place && content[feed - 1] == 13
    return isAfterReturn ? take(upTo: feed - 1, .returnAndFeed) : take(upTo: feed, .feed)
  }

  private func hasReturns(_ ends: LineEnds) -> Bool {
    switch ends {
    case .lineFeed: false
    case .any: true
    case .guessed: !RowFormat.isJSON(content[place...])
    }
  }

  /// Takes a line that ends before `end`, and its line break there.
  private func take(upTo end: Int, _ lineBreak: LineBreak) -> [UInt8] {
    let line = Array(content[place..<end])
    self.lineBreak = lineBreak
    number = breaks + 1
    let isReturn = lineBreak == .loneReturn
    if countsReturns == nil, lineBreak != .none { countsReturns = isReturn }
    if !isReturn || countsReturns == true { breaks += 1 }
    place =
      switch lineBreak {
      case .none: end
      case .feed, .loneReturn: end + 1
      case .returnAndFeed: end + 2
      }
    return line
  }

  /// False when nothing came.
  private func fill(within milliseconds: Int32) throws(ListFault) -> Bool {
    let before = source.bytesTaken
    switch try source.next(within: milliseconds) {
    case .idle: return false
    case .end:
      isAtEnd = true
      text.end(into: &content)
    case .bytes(let bytes):
      if place > 0 {
        content.removeFirst(place)
        feeds.forget(place)
        returns.forget(place)
        place = 0
      }
      text.take(bytes, into: &content)
      lastTaken = source.bytesTaken - before
    }
    return true
  }

  private func listFault(_ fault: ListText.Fault) -> ListFault {
    switch fault {
    case .noList(let why): ListFault("\(name) is no list: \(why)")
    case .broken(let why): ListFault("\(name): line \(breaks + 1): \(why)")
    }
  }
}

/// Finds one byte after the other, and looks at none twice.
private struct ByteFinder {
  private let byte: UInt8
  private var found: Int?
  /// Before this place there is none but `found`.
  private var searched = 0

  init(_ byte: UInt8) { self.byte = byte }

  mutating func next(in content: [UInt8], from place: Int) -> Int? {
    if let found, found >= place { return found }
    let start = max(place, searched)
    found = content.withUnsafeBufferPointer { bytes -> Int? in
      guard let base = bytes.baseAddress, start < bytes.count,
        let hit = memchr(base + start, Int32(byte), bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(base).distance(to: UnsafeRawPointer(hit))
    }
    searched = found.map { $0 + 1 } ?? content.count
    return found
  }

  /// The first bytes have gone.
  mutating func forget(_ count: Int) {
    found = found.flatMap { $0 < count ? nil : $0 - count }
    searched = max(0, searched - count)
  }
}
