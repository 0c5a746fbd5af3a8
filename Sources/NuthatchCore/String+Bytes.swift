extension String {
  /// Calls `use` with the string's own bytes, without a copy.
  @inline(__always)
  package func withBytes<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try utf8.span.bytes.withUnsafeBytes(use)
  }
}
