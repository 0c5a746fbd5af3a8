/// Stores the position of an element in a heap. An element in two heaps at once needs two orders.
public protocol HeapOrder {
  associatedtype Element: AnyObject
  /// -1 if it isn't in the heap.
  static func position(of element: Element) -> Int32
  static func setPosition(of element: Element, to position: Int32)
}

/// A binary heap, least key first. Its elements store their positions, so each can be moved or removed in logarithmic time.
/// Adding in rising order takes constant time.
///
/// Public, so that the compiler specialises it for other modules' orders: it is called for each request.
public struct PositionedHeap<Order: HeapOrder> {
  @usableFromInline var items: [(key: UInt64, element: Order.Element)] = []

  /// An empty heap.
  @inlinable public init() {}

  /// Whether the heap is empty.
  @inlinable public var isEmpty: Bool { items.isEmpty }
  /// The number of elements.
  @inlinable public var count: Int { items.count }
  /// The element with the least key.
  @inlinable public var first: Order.Element? { items.first?.element }
  /// The least key.
  @inlinable public var firstKey: UInt64? { items.first?.key }
  /// All elements, in no order.
  @inlinable public var elements: [Order.Element] { items.map(\.element) }

  /// Returns an element that meets `condition`, or nil if none is found. Looks at about 64 elements, late ones first, spread
  /// over the heap. Another `shift` gives others.
  @inlinable
  public func search(shift: Int, _ condition: (Order.Element) -> Bool) -> Order.Element? {
    let step = max(1, items.count / 64)
    var place = items.count - 1 - shift % step
    while place >= 0, !condition(items[place].element) { place -= step }
    return place >= 0 ? items[place].element : nil
  }

  /// Returns whether the element is in a heap of this order.
  @inlinable
  public func contains(_ element: Order.Element) -> Bool { Order.position(of: element) >= 0 }

  /// Adds `element`, or changes its key.
  @inlinable
  public mutating func set(_ element: Order.Element, key: UInt64) {
    let position = Int(Order.position(of: element))
    guard position >= 0 else {
      items.append((key, element))
      return siftUp(items.count - 1)
    }
    let old = items[position].key
    items[position].key = key
    if key < old { siftUp(position) } else if key > old { siftDown(position) }
  }

  /// Removes `element` if it is in the heap.
  @inlinable
  public mutating func remove(_ element: Order.Element) {
    let position = Int(Order.position(of: element))
    guard position >= 0 else { return }
    Order.setPosition(of: element, to: -1)
    let last = items.removeLast()
    guard position < items.count else { return giveBackRoom() }
    items[position] = last
    siftUp(position)
    siftDown(Int(Order.position(of: last.element)))
    giveBackRoom()
  }

  /// Frees memory after a burst.
  @inlinable
  mutating func giveBackRoom() {
    guard items.capacity > 64, items.count < items.capacity / 4 else { return }
    var smaller: [(key: UInt64, element: Order.Element)] = []
    smaller.reserveCapacity(items.count * 2)
    smaller.append(contentsOf: items)
    items = smaller
  }

  @inlinable
  mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard items[child].key < items[parent].key else { break }
      items.swapAt(child, parent)
      Order.setPosition(of: items[child].element, to: Int32(truncatingIfNeeded: child))
      child = parent
    }
    Order.setPosition(of: items[child].element, to: Int32(truncatingIfNeeded: child))
  }

  @inlinable
  mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      let left = 2 * parent + 1
      guard left < items.count else { break }
      let least = left + 1 < items.count && items[left + 1].key < items[left].key ? left + 1 : left
      guard items[least].key < items[parent].key else { break }
      items.swapAt(least, parent)
      Order.setPosition(of: items[parent].element, to: Int32(truncatingIfNeeded: parent))
      parent = least
    }
    Order.setPosition(of: items[parent].element, to: Int32(truncatingIfNeeded: parent))
  }
}

/// Keys as times at which elements are due.
extension PositionedHeap {
  /// The time of the next element; nil if the heap is empty.
  @inlinable public var nextDue: Int64? { firstKey.map { Int64(clamping: $0) } }

  /// Adds `element`, or changes its time.
  @inlinable
  public mutating func set(_ element: Order.Element, at time: Int64) {
    set(element, key: UInt64(max(0, time)))
  }

  /// Returns whether `element` is in the heap and due by `now`.
  @inlinable
  public func isDue(_ element: Order.Element, by now: Int64) -> Bool {
    contains(element) && items[Int(Order.position(of: element))].key <= UInt64(max(0, now))
  }

  /// Removes and returns the next element that is due by `now`.
  @inlinable
  public mutating func takeDue(by now: Int64) -> Order.Element? {
    guard let due = nextDue, due <= now, let element = first else { return nil }
    remove(element)
    return element
  }
}
