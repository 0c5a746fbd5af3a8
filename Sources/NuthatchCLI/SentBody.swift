import Glibc
import NuthatchCore

/// The body that `get` sends: --data, --json or --form. A plain file is read while it is sent, unless --data is repeated.
enum SentBody {
  static func add(_ arguments: ParsedArguments, to request: inout Request) throws {
    let kinds = ["data", "json", "form"].filter { arguments.has($0) }
    guard let kind = kinds.first else { return }
    guard kinds.count == 1 else {
      throw UsageError("get: --\(kinds.joined(separator: " and --")) exclude each other")
    }
    if !arguments.has("method") { request.method = "POST" }
    switch kind {
    case "data":
      try addData(arguments.values("data"), to: &request)
      request.setMissing("Content-Type", "application/x-www-form-urlencoded")
    case "json":
      try addData(Array(arguments.values("json").suffix(1)), to: &request)
      request.setMissing("Content-Type", "application/json")
      request.setMissing("Accept", "application/json, */*;q=0.1")
    default:
      for field in arguments.values("form") { request.addToForm(try part(field)) }
    }
  }

  private static func addData(_ values: [String], to request: inout Request) throws {
    if values.count == 1, let file = values.first.flatMap(fileName), isPlainFile(file) {
      request.upload = .file(file)
      return
    }
    var bytes: [UInt8] = []
    for value in values {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
      bytes += try fileName(value).map { try InputFile.read($0) } ?? Array(value.utf8)
    }
    request.body = bytes
  }

  private static func fileName(_ value: String) -> String? {
    value.hasPrefix("@") ? String(value.dropFirst()) : nil
  }

  /// Returns whether the path is a plain file. Pipes and standard input are read into memory first, because their length is
  /// unknown.
  private static func isPlainFile(_ path: String) -> Bool {
    var status = stat()
    return path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private static func part(_ field: String) throws -> FormPart {
    guard let equals = field.firstIndex(of: "="), equals != field.startIndex else {
      throw UsageError("--form: '\(field)' is not NAME=VALUE or NAME=@FILE")
    }
    let name = String(field[..<equals])
    let value = String(field[field.index(after: equals)...])
    guard let file = fileName(value) else { return FormPart(name, value) }
    var words = file.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
    var (type, called): (String?, String?) = (nil, nil)
    while words.count > 1, let last = words.last {
      if last.hasPrefix("type=") {
        type = String(last.dropFirst(5))
      } else if last.hasPrefix("filename=") {
        called = String(last.dropFirst(9))
      } else {
        break
      }
      words.removeLast()
    }
    let path = words.joined(separator: ";")
    if path == "-" || !isPlainFile(path) {
      return FormPart(name, bytes: try InputFile.read(path), fileName: called ?? path, type: type)
    }
    return FormPart(name, file: path, fileName: called, type: type)
  }
}
