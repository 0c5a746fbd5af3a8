import Glibc
import NuthatchCore

// Structs of the ABI begin with their size, so that a program and a library of different versions work together: members that one side
// doesn't know are 0.

/// Returns the number of bytes of a struct of this size that belong to complete fields: half a pointer doesn't count. A field never
/// crosses a boundary of the struct's alignment, unless it begins at one.
private func wholeFields<Struct: BitwiseCopyable>(_ size: Int, of _: Struct.Type) -> Int {
  min(size / MemoryLayout<Struct>.alignment * MemoryLayout<Struct>.alignment, MemoryLayout<Struct>.size)
}

/// Returns the size that the caller has set.
private func structSize(at bytes: UnsafeRawPointer, _ name: String) throws(NuthatchError) -> Int {
  let size = Int(bytes.loadUnaligned(as: UInt32.self))
  guard size >= MemoryLayout<UInt32>.size else {
    throw NuthatchError(.invalid, "struct_size of \(name) is not set")
  }
  guard size <= 65_536 else {
    throw NuthatchError(.invalid, "struct_size of \(name) is \(size), which no version has")
  }
  return size
}

/// Returns the caller's struct; members that an older caller doesn't have are zero.
func readSized<Struct: BitwiseCopyable>(_ pointer: UnsafePointer<Struct>, zero: Struct, _ name: String)
  throws(NuthatchError) -> Struct
{
  let bytes = UnsafeRawPointer(pointer)
  let size = try structSize(at: bytes, name)
  let known = MemoryLayout<Struct>.size
  // Accept the struct of a newer caller if its newer members are all 0.
  for offset in min(known, size)..<size where bytes.load(fromByteOffset: offset, as: UInt8.self) != 0 {
    throw .newerMember(of: name, at: offset)
  }
  var copy = zero
  withUnsafeMutableBytes(of: &copy) { target in
    target.copyMemory(
      from: UnsafeRawBufferPointer(start: bytes, count: wholeFields(size, of: Struct.self)))
  }
  return copy
}

extension NuthatchError {
  /// Returns the error for a member that only newer versions have. Python and C++ read the byte offset from the message and
  /// find the option's name in their own table.
  static func newerMember(of name: String, at offset: Int) -> NuthatchError {
    NuthatchError(
      .invalid,
      "\(name) has a value at byte \(offset), where Nuthatch \(Version.string) has no member: it is of a newer version, or the "
        + "struct wasn't zeroed")
  }
}

/// Writes the members of a result struct that the caller has space for, and doesn't change its `struct_size`.
func writeSized<Struct: BitwiseCopyable>(
  _ value: Struct, to pointer: UnsafeMutablePointer<Struct>, _ name: String
) throws(NuthatchError) {
  let bytes = UnsafeMutableRawPointer(pointer)
  let size = try structSize(at: bytes, name)
  withUnsafeBytes(of: value) { source in
    let start = MemoryLayout<UInt32>.size
    let count = wholeFields(size, of: Struct.self) - start
    if count > 0, let base = source.baseAddress { memcpy(bytes + start, base + start, count) }
    if size > source.count { memset(bytes + source.count, 0, size - source.count) }
  }
}
