import NuthatchBase
import NuthatchTransport

/// A body that is read while it is sent, so that files of any size need little memory.
///
/// Files are checked when the request is submitted. The error is `io` if a file is missing or isn't a regular file, and also if
/// it has changed between this check and the transfer.
public struct Upload: Sendable, Equatable {
  enum Content: Sendable, Equatable {
    case file(String)
    case form([FormPart], boundary: String)
  }

  var content: Content

  /// A file's bytes. Set a `Content-Type` header for them.
  public static func file(_ path: String) -> Upload { Upload(content: .file(path)) }

  /// A form of the type `multipart/form-data` (RFC 7578), with fields and files in this order.
  public static func form(_ parts: [FormPart]) -> Upload {
    Upload(content: .form(parts, boundary: newBoundary()))
  }

  /// Adds a part to a form. A body that isn't a form is replaced by one.
  public mutating func add(_ part: FormPart) {
    guard case .form(var parts, let boundary) = content else {
      self = .form([part])
      return
    }
    // Emptied first, because otherwise each part would copy all earlier ones.
    content = .form([], boundary: boundary)
    parts.append(part)
    content = .form(parts, boundary: boundary)
  }

  /// The paths of the files to send.
  var paths: [String] {
    switch content {
    case .file(let path): [path]
    case .form(let parts, _): parts.compactMap { if case .file(let path) = $0.content { path } else { nil } }
    }
  }

  /// Encodes fields like a plain web form: `application/x-www-form-urlencoded`.
  public static func urlEncoded(_ fields: [(name: String, value: String)]) -> [UInt8] {
    Array(fields.map { "\(formEncoded($0.name))=\(formEncoded($0.value))" }.joined(separator: "&").utf8)
  }

  /// Returns a boundary with 128 random bits, so that no file contains it by chance.
  private static func newBoundary() -> String {
    let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
    return "nuthatch-\(digits)"
  }

  private static func formEncoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "*"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: " "): result += "+"
      default: result += byte.percentEncoded
      }
    }
    return result
  }
}

/// A field or a file of a form.
public struct FormPart: Sendable, Equatable {
  enum Content: Sendable, Equatable {
    case bytes([UInt8])
    case file(String)
  }

  /// The field's name.
  public var name: String
  /// The file name in the form; nil for a plain field.
  public var fileName: String?
  /// The part's `Content-Type`; nil for none.
  public var type: String?
  var content: Content

  /// A field with text.
  public init(_ name: String, _ text: String) { self.init(name, bytes: Array(text.utf8)) }

  /// Bytes, as a field or, with a file name, as a file.
  public init(_ name: String, bytes: [UInt8], fileName: String? = nil, type: String? = nil) {
    self.name = name
    content = .bytes(bytes)
    self.fileName = fileName
    self.type = type ?? (fileName == nil ? nil : "application/octet-stream")
  }

  /// A file, read while it is sent.
  ///
  /// - Parameters:
  ///   - fileName: the file name in the form; nil for the file's own name.
  ///   - type: nil for `application/octet-stream`.
  public init(_ name: String, file path: String, fileName: String? = nil, type: String? = nil) {
    self.name = name
    content = .file(path)
    self.fileName =
      fileName ?? String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    self.type = type ?? "application/octet-stream"
  }
}

extension Request {
  /// Makes a form the body, or adds a part to it.
  public mutating func addToForm(_ part: FormPart) {
    if upload == nil { upload = .form([part]) } else { upload?.add(part) }
  }

  /// Sets a header unless the request has it.
  public mutating func setMissing(_ name: String, _ value: String) {
    if !options.headers.contains(where: { $0.name.equalsIgnoringCase(name) }) {
      options.headers.append((name, value))
    }
  }
}

// MARK: - Sending

extension Upload {
  /// Returns the source of the bytes that are sent, and their type if it is known.
  ///
  /// - Throws: `io`; `bad_header`.
  func source(for url: WebURL) throws(NuthatchError) -> (BodySource, type: String?) {
    do throws(TransportFault) {
      switch content {
      case .file(let path): return (BodySource([.file(try BodyFile(path))]), nil)
      case .form(let parts, let boundary):
        if let type = parts.lazy.compactMap(\.type).first(where: {
          $0.utf8.contains { $0 < 0x20 || $0 == 0x7f }
        }) {
          throw TransportFault(
            .http,
            "the type \(type.quotedForMessage) of a form's part has characters that a header can't have")
        }
        return (try Self.framed(parts, boundary), "multipart/form-data; boundary=\(boundary)")
      }
    } catch {
      let code: ErrorCode = error.kind == .http ? .badHeader : ErrorCode(error.kind)
      throw NuthatchError(code, "\(error.message): \(url)")
    }
  }

  private static func framed(_ parts: [FormPart], _ boundary: String) throws(TransportFault) -> BodySource {
    var pieces: [BodySource.Piece] = []
    var text = ""
    for part in parts {
      text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name.quotedForForm)\""
      if let name = part.fileName { text += "; filename=\"\(name.quotedForForm)\"" }
      text += "\r\n"
      if let type = part.type { text += "Content-Type: \(type)\r\n" }
      text += "\r\n"
      pieces.append(.bytes(Array(text.utf8)))
      switch part.content {
      case .bytes(let bytes): pieces.append(.bytes(bytes))
      case .file(let path): pieces.append(.file(try BodyFile(path)))
      }
      text = "\r\n"
    }
    pieces.append(.bytes(Array("\(text)--\(boundary)--\r\n".utf8)))
    return BodySource(pieces)
  }
}

extension String {
  /// The text with line breaks and quotes escaped, as browsers do it in a form.
  fileprivate var quotedForForm: String {
    guard utf8.contains(where: { $0 == 13 || $0 == 10 || $0 == 34 }) else { return self }
    return String(
      decoding: utf8.flatMap { byte -> [UInt8] in
        byte == 13 || byte == 10 || byte == 34 ? Array(byte.percentEncoded.utf8) : [byte]
      }, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var percentEncoded: String {
    "%" + digits(2, radix: 16).uppercased()
  }
}
