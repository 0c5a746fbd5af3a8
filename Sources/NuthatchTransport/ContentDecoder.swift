import CSystem

/// Decodes one content coding of a body while it arrives.
///
/// libcurl's own decoding accepts a truncated gzip body and rejects an unknown coding. This one refuses a truncated body and
/// passes an unknown coding on.
final class ContentDecoder {
  /// The value of `Accept-Encoding`.
  static let accepted = "gzip, deflate"

  private let unpacker: OpaquePointer
  private let buffer: UnsafeMutableRawBufferPointer
  private static let piece = 32_768
  /// The numbers of bytes before and after decoding.
  private var (encoded, decoded): (Int64, Int64) = (0, 0)

  enum Failure: Error { case outOfMemory, notCompressed, stopped }

  private init(_ unpacker: OpaquePointer) {
    self.unpacker = unpacker
    buffer = .allocate(byteCount: ContentDecoder.piece, alignment: 64)
  }

  deinit {
    nhs_unpacker_free(unpacker)
    buffer.deallocate()
  }

  /// Returns the decoder for an answer. Nil: the body is passed on as it is, because it has no coding, an unknown coding or
  /// several, or is only a part (206), which can't be decoded alone.
  static func forAnswer(_ head: ResponseHead) throws(Failure) -> ContentDecoder? {
    guard head.status != 206 else { return nil }
    let codings = head.fields.values("Content-Encoding").flatMap { $0.split(separator: ",") }
      .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      .filter { !$0.isEmpty && $0 != "identity" }
    guard codings.count == 1, let coding = codings.first else { return nil }
    let kind: Int
    switch coding {
    case "gzip", "x-gzip": kind = NHS_UNPACK_GZIP
    case "deflate": kind = NHS_UNPACK_DEFLATE
    default: return nil
    }
    guard let unpacker = nhs_unpacker_new(Int32(kind)) else { throw .outOfMemory }
    return ContentDecoder(unpacker)
  }

  /// Decodes `bytes` and passes the result to `take`, at most 32 KiB at a time. If `take` returns false, throws `stopped`.
  func decode(_ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool) throws(Failure) {
    var next = bytes.bindMemory(to: UInt8.self).baseAddress
    var left = bytes.count
    let output = buffer.bindMemory(to: UInt8.self).baseAddress
    while true {
      var written = 0
      let before = left
      let status = Int(nhs_unpack(unpacker, &next, &left, output, buffer.count, &written))
      encoded += Int64(before - left)
      decoded += Int64(written)
      if written > 0, !take(UnsafeRawBufferPointer(rebasing: buffer[..<min(written, buffer.count)])) {
        throw .stopped
      }
      if status == NHS_UNPACK_BAD { throw .notCompressed }
      if status == NHS_UNPACK_MORE { return }
    }
  }

  /// A body may always decode to this many bytes. Without a limit, a few bytes could fill a disk.
  private static let alwaysAllowed: Int64 = 64 << 20
  /// Beyond that, a body must decode to less than this many times its received size.
  private static let mostExpansion: Int64 = 1000

  /// The error message if the body expands too much; nil if it doesn't.
  var excess: String? {
    guard decoded > Self.alwaysAllowed, decoded / Self.mostExpansion >= max(1, encoded) else { return nil }
    return
      "the body expands too much: \(encoded) received bytes decode to \(decoded); "
      + "set max_bytes (--max-bytes) to accept that"
  }

  /// Whether the stream is complete, including its checksum. Also true for a body without a byte.
  var isWhole: Bool { nhs_unpacker_is_whole(unpacker) != 0 }
}
