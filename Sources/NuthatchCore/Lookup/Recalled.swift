import NuthatchStore

/// An answer as it was given, less its body, and what makes it the right one: who asks the same gets it without its records
/// being read and judged anew.
final class Recalled: Sendable {
  let hash: PeekHash
  private let url: [UInt8]
  /// Without the body, which is leased each time: what is only remembered holds no pack.
  let answer: Response
  /// nil where the body is empty.
  let body: RecordKey?
  /// The second (since 1970) that it is given in, and the one from which on its freshness has to be judged anew.
  let second: Int64
  let freshUntil: Int64
  let marks: AnswerMarks

  init(
    _ url: UnsafeRawBufferPointer, _ answer: Response, body: RecordKey?, second: Int64, freshUntil: Int64,
    _ marks: AnswerMarks
  ) {
    hash = PeekHash(url, 0)
    self.url = Array(url)
    self.answer = answer
    self.body = body
    self.second = second
    self.freshUntil = freshUntil
    self.marks = marks
  }

  /// The same in a later second.
  init(_ old: Recalled, second: Int64) {
    hash = old.hash
    url = old.url
    answer = old.answer.aged(by: second - old.second)
    body = old.body
    self.second = second
    freshUntil = old.freshUntil
    marks = old.marks
  }

  func isFor(_ wanted: UnsafeRawBufferPointer) -> Bool { url.isEqual(to: wanted) }

  /// Whether it is worth its memory: heads of many kilobytes are read anew.
  var isSmall: Bool {
    url.count + answer.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } <= 4096
  }
}
