extension Array {
  /// In a sorted array, the place of the first element for which `isBefore` is false.
  @inlinable
  package func place(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
