@testable import NuthatchStore

extension Store {
  /// Takes out of memory what `keep` was given. False when there was nothing.
  func forget(_ key: RecordKey) throws(StoreFault) -> Bool {
    try check()
    return shared.memory.remove(.value, key)
  }

  /// As `relieveAll` does for every store of the process.
  func relieve(_ level: MemoryPressure) throws(StoreFault) {
    try check()
    Patience.lasting(Patience.writing) { shared.relieve(level) }
  }
}
