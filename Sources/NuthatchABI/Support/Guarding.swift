import CNuthatch
import CSystem
import Glibc
import NuthatchCore

/// Runs the body of a C function. An error becomes the returned status and the thread's error message.
func answering(_ body: () throws(NuthatchError) -> Void) -> nh_status {
  do {
    try body()
    return NH_OK
  } catch {
    return fail(error)
  }
}

/// Like `answering`, for a function that returns a handle or nothing. Both failure and nothing are NULL; the thread's last error tells
/// them apart.
func handing(_ body: () throws(NuthatchError) -> OpaquePointer?) -> OpaquePointer? {
  do {
    let handle = try body()
    if handle == nil { forgetError() }
    return handle
  } catch {
    _ = fail(error)
    return nil
  }
}

/// Like `answering`, for a function that returns a number: a failure is the negative status.
func counting(_ body: () throws(NuthatchError) -> Int) -> Int32 {
  do {
    return Int32(clamping: try body())
  } catch {
    return -Int32(bitPattern: fail(error).rawValue)
  }
}

/// Writes as much of a text as fits, terminated by NUL.
///
/// - Returns: the number of bytes of the whole text, without the NUL.
func put(
  _ text: String, into buffer: UnsafeMutablePointer<CChar>?, _ capacity: UInt
) throws(NuthatchError) -> Int {
  guard buffer != nil || capacity == 0 else { throw .null("buffer") }
  let bytes = Array(text.utf8)
  if let buffer, capacity > 0 {
    let count = min(bytes.count, Int(clamping: capacity - 1))
    bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { memcpy(buffer, base, count) }
    }
    buffer[count] = 0
  }
  return bytes.count
}

/// Stores `error` as the thread's last error and returns its status.
func fail(_ error: NuthatchError) -> nh_status {
  setMessage(error.message)
  let code = nh_status(UInt32(error.code.rawValue))
  if let facts = nhs_last_error() {
    facts.pointee.code = code.rawValue
    facts.pointee.http_status = Int32(clamping: error.status ?? 0)
    facts.pointee.retry_after = Int32(clamping: error.retryAfter ?? -1)
    facts.pointee.outbox_id = error.outboxID ?? 0
  }
  return code
}

private func forgetError() {
  guard let facts = nhs_last_error(), facts.pointee.code != 0 else { return }
  facts.pointee = nhs_error_facts()
  setMessage("")
}

private func setMessage(_ message: String) {
  guard let buffer = nhs_message_buffer() else { return }
  var count = 0
  let capacity = nhs_message_capacity - 1
  for scalar in message.unicodeScalars {
    let bytes = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    guard count + bytes.count <= capacity else { break }
    for byte in bytes {
      buffer[count] = CChar(bitPattern: byte)
      count += 1
    }
  }
  buffer[count] = 0
}

extension NuthatchError {
  static func null(_ name: String) -> NuthatchError { NuthatchError(.invalid, "\(name) is NULL") }

  /// - Parameter values: the C enumeration, or a name for the values that are allowed.
  static func unknownValue(_ name: String, _ number: some BinaryInteger, of values: String) -> NuthatchError {
    NuthatchError(.invalid, "\(name) is \(number), which is not a value of \(values)")
  }

  static func notOpen(_ handle: OpaquePointer?, _ kind: HandleKind) -> NuthatchError {
    handle == nil
      ? .null("the \(kind) handle") : NuthatchError(.invalid, "the handle is not an open \(kind)")
  }
}

// MARK: - Arguments

/// Returns the object of a handle.
func find<Object: AnyObject>(_ handle: OpaquePointer?, _ kind: HandleKind, as: Object.Type)
  throws(NuthatchError) -> Object
{
  // The table has checked the kind, so the cast can't fail; it is cheap.
  guard let object = HandleTable.shared.find(handle, kind) as? Object else {
    throw .notOpen(handle, kind)
  }
  return object
}

/// Calls `body` with the object of a handle, for short and frequent calls: see `HandleTable.use`.
@inline(__always)
func use<Object: AnyObject, Result>(
  _ handle: OpaquePointer?, _ kind: HandleKind, as type: Object.Type,
  _ body: (Object) throws(NuthatchError) -> Result
) throws(NuthatchError) -> Result {
  let result = try HandleTable.shared.use(handle, kind) { (object) throws(NuthatchError) in
    try body(unsafeDowncast(object, to: type))
  }
  guard let result else { throw .notOpen(handle, kind) }
  return result
}

func remove(_ handle: OpaquePointer?, _ kind: HandleKind) throws(NuthatchError) {
  guard HandleTable.shared.remove(handle, kind) else { throw .notOpen(handle, kind) }
}

/// Makes a handle and stores it in the caller's variable.
func give(_ object: consuming AnyObject, _ kind: HandleKind, to place: UnsafeMutablePointer<OpaquePointer?>)
  throws(NuthatchError)
{
  guard let handle = HandleTable.shared.add(object, kind) else {
    throw NuthatchError(.outOfMemory, "too many handles are open")
  }
  place.pointee = handle
}

/// Returns the caller's variable for a result, set to nil.
func place<Value>(_ pointer: UnsafeMutablePointer<Value?>?, _ name: String) throws(NuthatchError)
  -> UnsafeMutablePointer<Value?>
{
  guard let pointer else { throw .null(name) }
  // The variable may be uninitialized.
  pointer.initialize(to: nil)
  return pointer
}

private func missing(_ pointer: UnsafePointer<CChar>?, _ name: String) -> NuthatchError {
  pointer == nil ? .null(name) : NuthatchError(.invalid, "\(name) can't be off")
}

/// Returns the bytes of a string argument without making a String.
func bytes(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(NuthatchError) -> UnsafeRawBufferPointer {
  guard let pointer, !isOff(pointer) else { throw missing(pointer, name) }
  return UnsafeRawBufferPointer(start: pointer, count: strlen(pointer))
}

/// Returns a string argument.
func string(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(NuthatchError) -> String {
  guard let pointer, !isOff(pointer) else { throw missing(pointer, name) }
  guard let text = String(validatingCString: pointer) else {
    throw NuthatchError(.invalid, "\(name) is not UTF-8")
  }
  return text
}
