import CSystem
import Glibc
import NuthatchCore

/// A file in the manifest of an export, and what proves to a later run that it is the picture of its URL.
struct ExportedFile {
  let name: String
  /// Without a password.
  let url: String
  let index: Int
  /// In which box, how and in which format it was made.
  let made: String
  /// The answer's place in the store, and the SHA-256 of the source; nil where nothing is stored.
  let record: String?
  let content: String?
  var width = 0
  var height = 0
  private var bytes = 0
  private var digest = ""

  init(
    name: String, url: String, index: Int, _ box: ThumbnailBox, isPNG: Bool, _ stored: StoredAnswerInfo?
  ) {
    self.name = name
    self.url = ShownURL.of(url)
    self.index = index
    made =
      "\(box.width)x\(box.height) \(box.fit) \(box.scaling)\(box.enlarge ? " enlarged" : "") \(isPNG ? "png" : "jpg")"
    record = stored?.record
    content = stored?.content
  }

  /// What the file holds.
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

  /// The same for all entries that say the same of a file, but for its place in the list. Nil for what proves nothing.
  fileprivate var proof: ExportManifest.Proof? {
    ExportManifest.Proof([name, url, made, record, content, String(bytes), digest])
  }
}

/// What earlier runs have written into a folder, by their manifests.
struct ExportManifest {
  static let name = "manifest.jsonl"
  /// That of a run that was interrupted, up to there.
  static let unfinished = "manifest.part"

  /// Sides of files by what proves them. Digests only, because a list may have millions of URLs.
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
      // What can't be read proves nothing: the files are written anew.
    }
  }

  private mutating func add(_ line: [UInt8]) {
    // A damaged line proves nothing: its file is written anew.
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

  /// The file as it is, if a manifest says of it that it is this one.
  func proven(_ file: ExportedFile) -> ExportedFile? {
    guard !sides.isEmpty, let content = OutputFile.content(of: folder + "/" + file.name) else { return nil }
    var file = file
    content.withUnsafeBytes { file.hold($0) }
    guard let known = file.proof.flatMap({ sides[$0] }) else { return nil }
    (file.width, file.height) = (Int(known.width), Int(known.height))
    return file
  }
}
