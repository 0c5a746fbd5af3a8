/// First in, first out. What has been taken is let go of at once.
///
/// Public, because the compiler makes code for a room's own elements only of what is: the workers take each job from one.
public struct Fifo<Element> {
  @usableFromInline var places: [Element?] = []
  @usableFromInline var start = 0

  /// Empty.
  @inlinable public init() {}

  /// Whether there is none.
  @inlinable public var isEmpty: Bool { start == places.count }
  /// The one that was added before all others.
  @inlinable public var first: Element? { isEmpty ? nil : places[start] }

  /// Adds one behind all others.
  @inlinable
  public mutating func append(_ element: Element) { places.append(element) }

  /// Takes the first one out.
  @inlinable
  public mutating func popFirst() -> Element? {
    guard let first else { return nil }
    places[start] = nil
    start += 1
    if start > 64, start > places.count / 2 {
      places.removeFirst(start)
      start = 0
    }
    return first
  }
}
