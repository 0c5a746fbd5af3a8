/// When an answer was asked for, in a directory's own terms: after which removals, and before which other questions.
///
/// Clocks play no part in it, and all processes of a directory count together.
public struct Moment: Sendable, Equatable {
  /// How often something was removed whose counter this is.
  struct Removals: Sendable, Equatable {
    let counter: Int32
    let count: UInt64
  }

  /// Counts the times that the directory was cleared.
  let clears: UInt64
  let first: Removals
  /// Of a second group, whose removal takes the answer out, too.
  let second: Removals?
  /// Rises from question to question. Never 0.
  public let number: UInt64

  /// The same question after these groups were removed once each, and nothing else.
  public func after(removing groups: [RecordGroup]) -> Moment {
    func after(_ removals: Removals) -> Removals {
      let more = groups.reduce(0) { $0 + ($1.counter == Int(removals.counter) ? 1 : 0) }
      return Removals(counter: removals.counter, count: removals.count &+ UInt64(more))
    }
    return Moment(clears: clears, first: after(first), second: second.map { after($0) }, number: number)
  }
}

extension PayloadShape {
  /// The shape of an answer's record. The number of its question stands where pictures have their size.
  init(form: UInt8, question number: UInt64) {
    self.init(
      form: form, width: UInt32(truncatingIfNeeded: number), height: UInt32(truncatingIfNeeded: number >> 32))
  }

  /// The number of the question that an answer's record belongs to.
  var question: UInt64 { UInt64(width) | UInt64(height) << 32 }
}
