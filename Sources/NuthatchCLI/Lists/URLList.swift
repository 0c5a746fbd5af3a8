import Glibc
import NuthatchCore

/// A URL of a list, and its place there.
struct ListedURL: Sendable {
  /// The number of the URL, from 0. Counts all URLs of all lists, also those of other shards.
  var index: Int
  /// The number of its line, from 1.
  var line: Int
  var url: String
  /// Why the line has no URL; nil if it has one.
  var fault: String?
  /// The attempts of a deferred URL: its request was cancelled because it kept failing, or no bytes came, while others were
  /// answered or waited. 0 if it isn't deferred.
  var earlierAttempts = 0

  /// Whether the URL was taken out of turn, because those before it get no good answers (`Backlog`).
  var isScout = false

  var isDeferred: Bool { earlierAttempts > 0 }
  var failure: NuthatchError? { fault.map { NuthatchError(.badURL, "line \(line): \($0)") } }
}

/// Reads the URLs of several files, one after the other.
final class URLList {
  enum Format: String {
    case auto, lines, csv, tsv, jsonl
  }

  enum Step {
    case url(ListedURL)
    /// There is no URL yet.
    case idle
    case end
  }

  /// The names of all files, and those that haven't been opened yet.
  private let names: [String]
  private var paths: ArraySlice<String>
  private let format: Format
  private let field: String?
  private var reader: LineReader?
  private var rows: RowFormat?
  private var index = 0
  private var bytesBefore: Int64 = 0
  private let totalBytes: Int64?
  /// A record of several lines that isn't complete yet, and the number of its first line.
  private var pending: (bytes: [UInt8], line: Int)?
  /// A record that may have more URLs.
  private var open: (fields: JSONFields, record: [UInt8], line: Int)?
  /// The most bytes of a record that are shown in place of a missing URL: at its first failure, and at each later one.
  private static let (mostShown, mostShownAgain) = (2000, 80)
  /// The URLs that `hold` has read and `next` has not returned yet; nil if `hold` wasn't called.
  private var held: ArraySlice<ListedURL>?

  /// - Parameter field: the name of the field or column; nil: the usual names.
  init(_ paths: [String], format: Format, field: String?) throws(ListFault) {
    names = paths.isEmpty ? ["-"] : paths
    self.paths = names[...]
    self.format = format
    self.field = field
    var total: Int64? = 0
    // Check all files first, so that a misspelt name is reported at once.
    for path in names where path != "-" {
      let size = try ListSource.check(path)
      total = total.flatMap { sum in size.map { sum + $0 } }
    }
    totalBytes = names.contains("-") ? nil : total
  }

  /// Returns whether a file is one of the list's, also under another name.
  func has(_ path: String) -> Bool {
    var file = stat()
    guard stat(path, &file) == 0, file.st_mode & S_IFMT == S_IFREG else { return false }
    return names.contains { name in
      var own = stat()
      let isThere = name == "-" ? fstat(STDIN_FILENO, &own) == 0 : stat(name, &own) == 0
      return isThere && own.isSameFile(as: file)
    }
  }

  /// The number of URLs that `next` has returned.
  var count: Int { index - (held?.count ?? 0) }

  /// Reads all files to their ends, and keeps the URLs in memory for `next`.
  ///
  /// - Returns: the URLs.
  func hold() throws(ListFault) -> [String] {
    var all: [ListedURL] = []
    reading: while true {
      switch try next(within: 1000) {
      case .idle: continue
      case .end: break reading
      case .url(let listed): all.append(listed)
      }
    }
    held = all[...]
    return all.filter { $0.fault == nil }.map(\.url)
  }

  /// The part of all files that has been read, from 0 to 1; nil if it is unknown.
  var share: Double? {
    if held != nil { return index > 0 ? Double(count) / Double(index) : 1 }
    guard let totalBytes, totalBytes > 0 else { return nil }
    return min(1, Double(bytesBefore + (reader?.bytesUsed ?? 0)) / Double(totalBytes))
  }

  /// After this number of lines without a URL, `next` returns `idle`, so that the caller can check for a signal.
  private static let mostSkipped = 65_536

  func next(within milliseconds: Int32) throws(ListFault) -> Step {
    if held != nil { return held?.popFirst().map { .url($0) } ?? .end }
    for _ in 0..<Self.mostSkipped {
      if let found = open?.fields.next(), let (_, record, line) = open {
        if case .failure = found { open?.record = Array(record.prefix(Self.mostShownAgain)) }
        return .url(listed(found, record, line))
      }
      open = nil
      guard let reader = try current() else { return .end }
      switch try reader.next(within: milliseconds, endedBy: rows?.lineEnds ?? .guessed) {
      case .idle: return .idle
      case .end:
        bytesBefore += reader.bytesRead
        self.reader = nil
        if let pending { throw neverClosed(pending.line, reader) }
      case .line(let bytes):
        if let listed = try listed(bytes, reader) { return .url(listed) }
      }
    }
    return .idle
  }

  private func current() throws(ListFault) -> LineReader? {
    if let reader { return reader }
    guard let path = paths.popFirst() else { return nil }
    let opened = try LineReader(path)
    reader = opened
    rows = RowFormat(named: format == .auto ? Self.format(of: path) : format, field)
    return opened
  }

  private func listed(_ bytes: [UInt8], _ reader: LineReader) throws(ListFault) -> ListedURL? {
    if pending == nil {
      if RowFormat.skips(bytes, by: rows) { return nil }
      if rows == nil { rows = RowFormat(guessedFrom: bytes, field) }
    }
    let lineBreak = reader.lineBreak.bytes
    let isOpen = rows?.isOpen(after: bytes, endedBy: lineBreak) == true
    if isOpen || pending != nil { try goOn(with: isOpen ? bytes + lineBreak : bytes, reader) }
    if isOpen { return nil }
    let (record, line) = pending.map { ($0.bytes, $0.line) } ?? (bytes, reader.number)
    pending = nil
    do throws(RowFormat.Fault) {
      switch try rows?.find(in: record) {
      case .header, nil: return nil
      case .url(let found): return listed(found, record, line)
      case .fields(let fields):
        open = (fields, record, line)
        return nil
      }
    } catch {
      throw ListFault("\(reader.name): \(error.reason)")
    }
  }

  private func listed(_ found: RowFormat.Outcome, _ record: [UInt8], _ line: Int) -> ListedURL {
    defer { index += 1 }
    switch found {
    case .success(let url): return ListedURL(index: index, line: line, url: url)
    case .failure(let none):
      return ListedURL(
        index: index, line: line, url: String(decoding: record.prefix(Self.mostShown), as: UTF8.self),
        fault: none.reason)
    }
  }

  /// Adds a line to a record of several lines.
  private func goOn(with bytes: [UInt8], _ reader: LineReader) throws(ListFault) {
    if pending == nil { pending = ([], reader.number) }
    pending?.bytes += bytes
    // With one quote too many, the rest of the list would be one record.
    if let pending, pending.bytes.count > LineReader.longest { throw neverClosed(pending.line, reader) }
  }

  private func neverClosed(_ line: Int, _ reader: LineReader) -> ListFault {
    ListFault("\(reader.name): the quotes of line \(line) are never closed")
  }

  private static func format(of path: String) -> Format {
    let name = path.lowercased()
    let packed = Packing.allCases.flatMap(\.suffixes).first { name.hasSuffix($0) }
    let plain = String(name.dropLast(packed?.count ?? 0))
    if plain.hasSuffix(".csv") { return .csv }
    if plain.hasSuffix(".tsv") { return .tsv }
    return plain.hasSuffix(".jsonl") || plain.hasSuffix(".ndjson") ? .jsonl : .auto
  }
}
