import Glibc
import NuthatchCore

// Structs of the ABI begin with their size, so that a program and a library of different versions understand each
// other: what one side doesn't know is 0.

/// How many bytes of a struct have whole fields when it is so long: half a pointer is none. All of a field is in the same unit of the
/// struct's alignment, or begins with one.
private func wholeFields<Struct: BitwiseCopyable>(_ size: Int, of _: Struct.Type) -> Int {
  min(size / MemoryLayout<Struct>.alignment * MemoryLayout<Struct>.alignment, MemoryLayout<Struct>.size)
}

/// The caller's options, with zeros for what an older caller doesn't have.
func readSized<Struct: BitwiseCopyable>(_ pointer: UnsafePointer<Struct>, zero: Struct, _ name: String)
  throws(NuthatchError) -> Struct
{
  let bytes = UnsafeRawPointer(pointer)
  let size = Int(bytes.loadUnaligned(as: UInt32.self))
  guard size >= MemoryLayout<UInt32>.size else {
    throw NuthatchError(.invalid, "struct_size of \(name) is not set")
  }
  let known = MemoryLayout<Struct>.size
  guard size <= 65_536 else {
    throw NuthatchError(.invalid, "struct_size of \(name) is \(size), which no version has")
  }
  // A newer caller that leaves its new fields 0 wants nothing that we don't know.
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
  /// Of what only a newer program says. Python and C++ take the byte out of the message, and name the option by their own table.
  static func newerMember(of name: String, at offset: Int) -> NuthatchError {
    NuthatchError(
      .invalid,
      "\(name) says something at byte \(offset), where Nuthatch \(Version.string) has no member: it is of a newer version, or the "
        + "struct wasn't zeroed")
  }
}

/// Fills in as much of a result struct as the caller has room for, and leaves its `struct_size` as it was.
func writeSized<Struct: BitwiseCopyable>(
  _ value: Struct, to pointer: UnsafeMutablePointer<Struct>, _ name: String
) throws(NuthatchError) {
  let bytes = UnsafeMutableRawPointer(pointer)
  let size = Int(bytes.loadUnaligned(as: UInt32.self))
  guard size >= MemoryLayout<UInt32>.size, size <= 65_536 else {
    throw NuthatchError(.invalid, "struct_size of \(name) is not set")
  }
  withUnsafeBytes(of: value) { source in
    let start = MemoryLayout<UInt32>.size
    let count = wholeFields(size, of: Struct.self) - start
    if count > 0, let base = source.baseAddress { memcpy(bytes + start, base + start, count) }
    if size > source.count { memset(bytes + source.count, 0, size - source.count) }
  }
}
