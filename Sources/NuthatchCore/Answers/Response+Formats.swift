import CSystem
import Glibc

extension Response {
  /// The body as text. Its charset is that of the `Content-Type`; if that is missing or unknown, UTF-8. Bytes that can't be
  /// decoded become U+FFFD.
  public var text: String {
    withBody { body in
      guard let charset, !["utf-8", "utf8", "us-ascii"].contains(charset.lowercased()) else {
        return String(decoding: body, as: UTF8.self)
      }
      var length = 0
      guard let bytes = nhs_text_to_utf8(charset, body.baseAddress, body.count, &length) else {
        return String(decoding: body, as: UTF8.self)
      }
      defer { free(bytes) }
      return String(decoding: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
    }
  }

  /// Returns the body as JSON.
  ///
  /// - Throws: `wrong_format` if it isn't JSON; the message has the byte position.
  public func json() throws(NuthatchError) -> JSON { try reading(JSONReader.read) }

  /// Checks whether the body is JSON.
  ///
  /// - Throws: `wrong_format` if it isn't JSON; the message has the byte position.
  package func checkJSON() throws(NuthatchError) { try reading(JSONReader.check) }

  private func reading<Result>(
    _ read: (UnsafeRawBufferPointer) throws(JSONReader.Fault) -> Result
  ) throws(NuthatchError) -> Result {
    do throws(JSONReader.Fault) {
      return try withBody { (body) throws(JSONReader.Fault) in try read(body) }
    } catch {
      throw NuthatchError(
        .wrongFormat, "the body is not JSON (\(error.reason), at byte \(error.place)): \(finalURL)")
    }
  }

  /// The charset of the `Content-Type`. Only characters of charset names are accepted, because it is passed to the C library.
  private var charset: String? {
    for parameter in (header("Content-Type") ?? "").split(separator: ";").dropFirst() {
      let pair = parameter.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, pair[0].filter({ $0 != " " }).lowercased() == "charset" else { continue }
      let name = pair[1].filter { $0 != " " && $0 != "\"" }
      let isName = name.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20) || "-_.:+".utf8.contains($0)
      }
      return isName && !name.isEmpty && name.utf8.count <= 40 ? name : nil
    }
    return nil
  }
}
