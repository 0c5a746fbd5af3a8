import Glibc
import NuthatchCore

/// Writes an answer to the files of the command line: the body as received, or a picture made from it.
struct ResponseWriter {
  enum Outcome {
    case written
    case notAPicture(NuthatchError)
    case notWritten(NuthatchError)
    /// Standard output can't be written, or it is a terminal and the bytes are not text. If a message is due, it was printed.
    case ended(ExitCode)
  }

  private let files: [(name: String, format: EncodedFormat)]
  private let image: ImageOptions?
  /// Whether standard output gets text only.
  private let isTextOnly: Bool

  init(_ arguments: ParsedArguments, _ said: ParsedOptions) throws(UsageError) {
    image = said.boxes.first.map { ImageOptions($0, as: said.request) }
    isTextOnly = TerminalText.isRequired(arguments)
    guard image == nil || !isTextOnly else {
      throw UsageError(
        "get: a picture is not text, and standard output is a terminal: \(TerminalText.advice)")
    }
    var files: [(name: String, format: EncodedFormat)] = []
    for name in Self.names(arguments) {
      files.append((name, image == nil ? .png() : try ResponseWriter.format(of: name)))
    }
    self.files = files
  }

  static func names(_ arguments: ParsedArguments) -> [String] {
    guard arguments.has("output") else { return ["-"] }
    return arguments.values("output").map { OutputFile.ownDescriptor($0) == STDOUT_FILENO ? "-" : $0 }
  }

  /// Whether the answer goes to standard output, and that is a terminal.
  var writesToTerminal: Bool { files.contains { $0.name == "-" } && isatty(STDOUT_FILENO) == 1 }

  func write(_ response: Response) -> Outcome {
    guard let image else {
      let outcome = response.withBody { body in
        isTextOnly && !TerminalText.isText(body)
          ? .ended(TerminalText.refuse()) : each { (_, write) in write(body) }
      }
      guard case .written = outcome else { return outcome }
      do throws(NuthatchError) { try response.checkBody() } catch { return .notWritten(error) }
      return .written
    }
    do throws(NuthatchError) {
      return write(try response.image(image))
    } catch {
      return .notAPicture(error)
    }
  }

  func write(_ picture: Image) -> Outcome {
    do throws(NuthatchError) {
      // Encode all files before writing one, so that an error leaves no file.
      var encoded: [EncodedImage] = []
      for file in files { encoded.append(try picture.encoded(as: file.format)) }
      return each { (index, write) in encoded[index].withBytes { write($0) } }
    } catch {
      return .notAPicture(error)
    }
  }

  /// Writes the body of a failed answer to standard output, if that is one of the files; never to another file.
  func writeErrorPage(_ response: Response) -> Outcome {
    guard image == nil, files.contains(where: { $0.name == "-" }) else { return .written }
    return response.withBody { body in
      isTextOnly && !TerminalText.isText(body) ? .written : ResponseWriter.write(body, to: "-")
    }
  }

  /// Calls `body` for each file until one can't be written.
  private func each(
    _ body: (Int, (UnsafeRawBufferPointer) -> Outcome) -> Outcome
  ) -> Outcome {
    for (index, file) in files.enumerated() {
      let outcome = body(index) { ResponseWriter.write($0, to: file.name) }
      guard case .written = outcome else { return outcome }
    }
    return .written
  }

  private static func write(_ bytes: UnsafeRawBufferPointer, to file: String) -> Outcome {
    if file == "-" { return Terminal.write(bytes).map { .ended($0) } ?? .written }
    do throws(NuthatchError) {
      try OutputFile.write(bytes, to: file)
      return .written
    } catch {
      return .notWritten(error)
    }
  }

  private static func format(of name: String) throws(UsageError) -> EncodedFormat {
    let name = name.lowercased()
    if name == "-" || name.hasSuffix(".png") { return .png() }
    if name.hasSuffix(".jpg") || name.hasSuffix(".jpeg") { return .jpeg() }
    if name.hasSuffix(".webp") { return .webp() }
    throw UsageError("get: with --size, '\(name)' must end in .png, .jpg, .jpeg or .webp")
  }
}
