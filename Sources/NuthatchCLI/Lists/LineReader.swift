import Glibc

/// The lines of a list, read as they are needed.
final class LineReader {
  enum Step {
    /// A line without its line break.
    case line([UInt8])
    /// No line is complete yet.
    case idle
    case end
  }

  /// The line breaks that end a line.
  enum LineEnds {
    /// LF, and CR LF.
    case lineFeed
    /// LF, CR LF, and a lone CR.
    case any
    /// As `any`. But if the line begins as JSON, a lone CR doesn't end it: in JSON, CR is white space.
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

  /// The longest line, in bytes.
  static let longest = 16 << 20

  /// The number of the last line, from 1.
  private(set) var number = 0
  /// The line break of the last line. In a quoted field of CSV it belongs to the text.
  private(set) var lineBreak = LineBreak.none

  private let source: ListSource
  private var text = ListText()
  private var content: [UInt8] = []
  private var place = 0
  private var feeds = ByteFinder(10)
  private var returns = ByteFinder(13)
  /// The number of line breaks so far.
  private var breaks = 0
  /// Whether a lone CR counts in line numbers; nil before the first line break, which decides: if it has an LF, editors don't
  /// count lone CRs.
  private var countsReturns: Bool?
  /// The bytes of the file in the last piece.
  private var lastTaken: Int64 = 0
  private var isAtEnd = false

  /// `-` is standard input.
  init(_ path: String) throws(ListFault) { source = try ListSource(path) }

  var name: String { source.name }

  /// Bytes of the file that have been read.
  var bytesRead: Int64 { source.bytesTaken }

  /// The bytes of the file that the lines so far took; an estimate.
  var bytesUsed: Int64 {
    let left = Double(content.count - place) / Double(max(1, content.count))
    return bytesRead - Int64(left * Double(lastTaken))
  }

  /// Returns the next line, or `idle` if none is complete within `milliseconds`.
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
      // The next byte may be the LF of a CR LF.
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

  /// Reads more bytes. Returns false if none came in time.
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
    case .noList(let why): ListFault("\(name) is not a list: \(why)")
    case .broken(let why): ListFault("\(name): line \(breaks + 1): \(why)")
    }
  }
}

/// Finds each place of a byte, and reads no byte twice.
private struct ByteFinder {
  private let byte: UInt8
  private var found: Int?
  /// All bytes before this place were searched. The last hit among them is `found`.
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

  /// Moves the places after the first `count` bytes were removed.
  mutating func forget(_ count: Int) {
    found = found.flatMap { $0 < count ? nil : $0 - count }
    searched = max(0, searched - count)
  }
}
