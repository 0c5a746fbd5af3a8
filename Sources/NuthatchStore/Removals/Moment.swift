/// When an answer's request was made, as the numbers of removals and of requests before it.
///
/// It uses no clock. All processes of a directory share the counters.
public struct Moment: Sendable, Equatable {
  /// The number of removals that a counter has counted.
  struct Removals: Sendable, Equatable {
    let counter: Int32
    let count: UInt64
  }

  /// The number of times that the directory was cleared.
  let clears: UInt64
  /// The removals of the answer's group.
  let first: Removals
  /// For an answer that belongs to a second group.
  let second: Removals?
  /// Rises with each request. Never 0 in a request's moment.
  public let number: UInt64

  /// Returns the moment of the same request after each of these groups was removed once.
  public func after(removing groups: [RecordGroup]) -> Moment {
    func after(_ removals: Removals) -> Removals {
      let more = groups.reduce(0) { $0 + ($1.counter == Int(removals.counter) ? 1 : 0) }
      return Removals(counter: removals.counter, count: removals.count &+ UInt64(more))
    }
    return Moment(clears: clears, first: after(first), second: second.map { after($0) }, number: number)
  }
}

extension PayloadShape {
  /// The shape of an answer's record. The number of its request is stored in place of a picture's size.
  init(form: UInt8, question number: UInt64) {
    self.init(
      form: form, width: UInt32(truncatingIfNeeded: number), height: UInt32(truncatingIfNeeded: number >> 32))
  }

  /// The number of the request whose answer this is.
  var question: UInt64 { UInt64(width) | UInt64(height) << 32 }
}
