/// A first-in, first-out queue. Removed elements are released at once.
///
/// Public, so that the compiler specialises it for other modules' elements: the workers take each job from one.
public struct Fifo<Element> {
  @usableFromInline var places: [Element?] = []
  @usableFromInline var start = 0

  /// An empty queue.
  @inlinable public init() {}

  /// Whether the queue is empty.
  @inlinable public var isEmpty: Bool { start == places.count }
  /// The oldest element.
  @inlinable public var first: Element? { isEmpty ? nil : places[start] }

  /// Adds an element at the end.
  @inlinable
  public mutating func append(_ element: Element) { places.append(element) }

  /// Removes and returns the oldest element.
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
