extension String {
  /// Calls `use` with its own bytes, not with a copy of them.
  @inline(__always)
  package func withBytes<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var own = self
    return try own.withUTF8 { utf8 in
      Swift.Result { () throws(Failure) in try use(UnsafeRawBufferPointer(utf8)) }
    }.get()
  }
}
