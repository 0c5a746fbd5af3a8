/// The bytes of a picture so far: those of the caller, or a copy of the pieces.
final class KeptInput {
  private var collected = ByteStore()
  private var borrowed: UnsafeRawBufferPointer?
  private(set) var isAtEnd = false

  /// Valid until the next piece.
  var bytes: UnsafeRawBufferPointer { borrowed ?? collected.bytes }

  fileprivate func borrow(_ bytes: UnsafeRawBufferPointer) {
    borrowed = bytes
    isAtEnd = true
  }

  fileprivate func begin(_ bytes: consuming ByteStore) { collected = bytes }

  fileprivate func append(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) { try collected.append(bytes) }

  fileprivate func end() { isAtEnd = true }
}

/// A decoder that reads the bytes where they are, from the first on.
protocol KeepsInput: PictureDecoder {
  var input: KeptInput { get }
}

extension KeepsInput {
  func borrow(_ bytes: UnsafeRawBufferPointer) { input.borrow(bytes) }

  func begin(_ bytes: consuming ByteStore) throws(ImageFault) { input.begin(bytes) }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) { try input.append(bytes) }

  func end() { input.end() }
}
