@testable import NuthatchStore

extension Store {
  /// Takes out of memory what `keep` was given. False when there was nothing.
  func forget(_ key: RecordKey) throws(StoreFault) -> Bool {
    try check()
    return disk.memory.remove(.value, key)
  }

  func relieve(_ level: MemoryPressure) { Store.relieve([self], level) }
}
