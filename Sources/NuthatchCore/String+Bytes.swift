extension String {
  /// Calls `use` with its own bytes, not with a copy of them.
  @inline(__always)
  package func withBytes<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try utf8.span.bytes.withUnsafeBytes(use)
  }
}
