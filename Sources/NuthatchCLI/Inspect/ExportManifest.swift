import CSystem
import Glibc
import NuthatchCore

/// The format of exported files. The word is their ending, and stands in the manifest.
enum ExportedForm: String {
  case jpg, png, webp

  var format: EncodedFormat {
    switch self {
    case .jpg: .jpeg()
    case .png: .png()
    case .webp: .webp()
    }
  }
}

/// A file in the manifest of an export, with the facts that prove to a later run that it is the picture of its URL.
struct ExportedFile {
  let name: String
  /// Without a password.
  let url: String
  let index: Int
  /// How the picture was made: box, fit, scaling and format.
  let made: String
  /// The key of the answer's record, and the SHA-256 of the source; nil if nothing is stored.
  let record: String?
  let content: String?
  var width = 0
  var height = 0
  private var bytes = 0
  private var digest = ""

  init(
    name: String, url: String, index: Int, _ box: ThumbnailBox, _ form: ExportedForm,
    _ stored: StoredAnswerInfo?
  ) {
    self.name = name
    self.url = ShownURL.of(url)
    self.index = index
    made =
      "\(box.width)x\(box.height) \(box.fit) \(box.scaling)\(box.enlarge ? " enlarged" : "") \(form.rawValue)"
    record = stored?.record
    content = stored?.content
  }

  /// Notes the size and the digest of the file's bytes.
  mutating func hold(_ content: UnsafeRawBufferPointer) {
    bytes = content.count
    digest = Self.digest(of: content)
  }

  func write(to json: inout JSONText) {
    json.put("file", name)
    json.put("url", url)
    json.put("index", index)
    json.put("width", width)
    json.put("height", height)
    json.put("made", made)
    json.put("record", record)
    json.put("content", content)
    json.put("bytes", bytes)
    json.put("sha256", digest)
  }

  static func digest(of bytes: UnsafeRawBufferPointer) -> String {
    var digest = [UInt8](repeating: 0, count: Int(nhs_sha256_size))
    nhs_sha256(bytes.baseAddress, bytes.count, &digest)
    return digest.hexadecimal
  }

  /// A digest of the facts, without the index in the list. Nil if a fact is missing.
  fileprivate var proof: ExportManifest.Proof? {
    ExportManifest.Proof([name, url, made, record, content, String(bytes), digest])
  }
}

/// The files that earlier runs wrote into a folder, from their manifests.
struct ExportManifest {
  static let name = "manifest.jsonl"
  /// The manifest of a run that was interrupted.
  static let unfinished = "manifest.part"

  /// The width and height of each file, by its proof. A proof is a digest, because a list may have millions of URLs.
  private var sides: [Proof: (width: Int32, height: Int32)] = [:]
  private let folder: String

  fileprivate struct Proof: Hashable {
    private let high: UInt64
    private let low: UInt64

    init?(_ parts: [String?]) {
      var text: [UInt8] = []
      for part in parts {
        guard let part, !part.isEmpty else { return nil }
        text += Array(part.utf8) + [0]
      }
      let digits = text.withUnsafeBytes { ExportedFile.digest(of: $0) }
      guard let high = UInt64(digits.prefix(16), radix: 16),
        let low = UInt64(digits.dropFirst(16).prefix(16), radix: 16)
      else { return nil }
      (self.high, self.low) = (high, low)
    }
  }

  init(of folder: String) {
    self.folder = folder
    for name in [Self.name, Self.unfinished] { read(folder + "/" + name) }
  }

  private mutating func read(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    do throws(ListFault) {
      let lines = try LineReader(path)
      while case .line(let line) = try lines.next(within: 0) { add(line) }
    } catch {
      // Lines that can't be read prove nothing. Their files are written again.
    }
  }

  private mutating func add(_ line: [UInt8]) {
    // A damaged line proves nothing. Its file is written again.
    guard let entry = try? line.withUnsafeBytes({ try JSONReader.read($0) }) else { return }
    func text(_ name: String) -> String? { entry[name]?.string }
    func number(_ name: String) -> Int? { entry[name]?.number.flatMap { Int(exactly: $0) } }
    guard let width = number("width"), let height = number("height"), let bytes = number("bytes"),
      let proof = Proof([
        text("file"), text("url"), text("made"), text("record"), text("content"), String(bytes),
        text("sha256"),
      ])
    else { return }
    sides[proof] = (Int32(clamping: width), Int32(clamping: height))
  }

  /// Returns the file with its size and digest if a manifest proves it, or nil.
  func proven(_ file: ExportedFile) -> ExportedFile? {
    guard !sides.isEmpty, let content = OutputFile.content(of: folder + "/" + file.name) else { return nil }
    var file = file
    content.withUnsafeBytes { file.hold($0) }
    guard let known = file.proof.flatMap({ sides[$0] }) else { return nil }
    (file.width, file.height) = (Int(known.width), Int(known.height))
    return file
  }
}
