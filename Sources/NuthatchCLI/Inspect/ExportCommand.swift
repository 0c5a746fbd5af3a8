import Glibc
import NuthatchCore

/// `nuthatch export`: thumbnails as files.
enum ExportCommand: Command {
  static let name = "export"
  static let summary = "write thumbnails out as files; never fetches"
  static let usage = "[OPTION…] DIR [FILE… | -]"
  static let options =
    [
      Option("as", value: "jpg|png", "the format of the files (jpg)"),
      Option(
        "name", value: "index|hash",
        "files are named by the place in the list, or by the URL's SHA-256 (index)"),
      Option(
        "skip-existing", "leave files that are there and proven: a run that was interrupted goes on",
        old: ["resume": nil]),
      Option("format", value: "text|json", "how the summary is written (text)"),
    ] + CommonOptions.list + [CommonOptions.cache] + [Option].ofLibrary(for: name).forList
  static let assumed = ["size"]
  static let details = """
    The URLs come from lists, as those of prefetch, and options that prefetch had must be said again; without FILE all pictures in the
    cache are written that are for everybody, or for whom --user, --partition or --header names. What is stored is taken, however
    old it is. A size that isn't there is made of the stored original. DIR is
    made when it isn't there; nothing is written outside of it. A file gets its name when it is complete, and
    DIR/manifest.jsonl when all are: a line for each file, with file, url, index, width and height, and with made, record,
    content, bytes and sha256, which prove it to --skip-existing; or, for a URL without, url, index, error and message. Without FILE,
    url is what --cache-key put in its place, if anything. A run that is interrupted leaves its lines in DIR/manifest.part.

    Exit status: 0 every URL has its files; 4 some were not in the cache; 1 something can't be written; 2 wrong usage or a
    list that can't be read; 129, 130 and 143 interrupted.

    Examples:
      nuthatch export thumbs urls.txt
      nuthatch export --skip-existing --size 128,256 thumbs urls.txt
      nuthatch export --size 128 --as png --name hash thumbs

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard let folder = arguments.operands.first else { throw UsageError("export: a directory is needed") }
    var said = try arguments.said(over: .ofList)
    // What a limit forbids to fetch isn't in the cache; what is, is taken.
    said.request.policy = .offline
    let input = try arguments.input
    let isPNG = try arguments.word("as", [false, true]) ?? false
    let byHash = try arguments.word("name", [false, true]) ?? false
    let skipsExisting = arguments.has("skip-existing")
    let wantsJSON = try arguments.wantsJSON
    let lists = Array(arguments.operands.dropFirst())
    if let key = said.key, lists.isEmpty || key.isFixed {
      throw UsageError(
        lists.isEmpty
          ? "export: --cache-key is for the URLs of a list; without one all names are found"
          : "--cache-key: one answer would be meant by the whole list; {} stands for the URL")
    }
    let signIn = try said.user.map { text throws(UsageError) in try ListSignIn(text, for: name) }
    var list: URLList?
    do throws(ListFault) {
      if !lists.isEmpty { list = try URLList(lists, format: input, field: arguments.value("url-field")) }
    } catch {
      throw UsageError("export: \(error.message)")
    }
    return try arguments.withCache(name) { cache in
      let run = try ExportRun(
        cache, said, signIn, folder: folder, isPNG: isPNG, byHash: byHash, skipsExisting: skipsExisting)
      run.isForSomebody = arguments.namesAnswers
      return try run.run(list, wantsJSON: wantsJSON)
    }
  }
}

/// A run over a list, one URL after the other.
final class ExportRun {
  private let cache: Cache
  private let said: SaidOptions
  /// Of all URLs, but for what each has for itself.
  private let common: Request
  private let folder: String
  private let isPNG: Bool
  private let byHash: Bool
  private let manifest: DraftFile
  /// What earlier runs have left, for one that leaves it.
  private let earlier: ExportManifest?
  /// Somebody's own answers are meant, too.
  var isForSomebody = false
  private var json = JSONText()
  private var written = 0
  private var left = 0
  private var missing = 0

  init(
    _ cache: Cache, _ said: SaidOptions, _ signIn: ListSignIn?, folder: String, isPNG: Bool, byHash: Bool,
    skipsExisting: Bool
  ) throws(NuthatchError) {
    self.cache = cache
    self.said = said
    var common = said.common
    (common.user, common.userPlace) = (signIn?.user, signIn?.place)
    self.common = common
    self.folder = folder
    self.isPNG = isPNG
    self.byHash = byHash
    if mkdir(folder, 0o777) != 0, errno != EEXIST { throw NewFile.failure(folder) }
    earlier = skipsExisting ? ExportManifest(of: folder) : nil
    manifest = try DraftFile(folder + "/" + ExportManifest.name, followsLinks: false)
  }

  func run(_ list: URLList?, wantsJSON: Bool) throws -> ExitCode {
    Interruption.watch()
    do {
      try list.map { try go(through: $0) } ?? goThroughAll()
    } catch {
      // Also of a file that a signal kept from being written.
      if let code = Interruption.exitCode { return interrupted(code) }
      if let fault = error as? ListFault { throw UsageError("export: \(fault.message)") }
      throw error
    }
    if let code = Interruption.exitCode { return interrupted(code) }
    try manifest.finish()
    unlink(folder + "/" + ExportManifest.unfinished)
    Terminal.print(wantsJSON ? summary : text)
    return missing == 0 ? .success : .notFetched
  }

  /// Leaves what the next run goes on by.
  private func interrupted(_ code: ExitCode) -> ExitCode {
    // Without it, the next run makes the pictures once more, and compares. Nothing is lost, and the signal is what is told.
    try? manifest.finish(as: folder + "/" + ExportManifest.unfinished)
    return code
  }

  private var text: String {
    let kept = left > 0 ? ", \(Amounts.grouped(left)) were there" : ""
    return
      "\(Amounts.grouped(written)) files\(kept), \(Amounts.grouped(missing)) URLs not in the cache\n"
  }

  private var summary: String {
    JSONText.line { json in
      json.put("files", written)
      json.put("left", left)
      json.put("missing", missing)
      json.put("manifest", folder + "/manifest.jsonl")
    }
  }

  private func go(through list: URLList) throws {
    while Interruption.signal == nil {
      switch try list.next(within: 200) {
      case .idle: continue
      case .end: return
      case .url(let listed):
        if let failure = listed.failure {
          noteMissing(listed.url, listed.index, failure)
          continue
        }
        let request = try request(for: listed.url, key: said.key?.key(for: listed.url))
        if try isThere(listed.url, listed.index, request) { continue }
        try export(request, as: listed.url, listed.index)
      }
    }
  }

  /// All that is there for whoever asks so, under whatever name it is kept.
  private func goThroughAll() throws(NuthatchError) {
    var seen: Set<String> = []
    var kept: [(name: String, url: String)] = []
    try cache.forEachAnswer { answer in
      if answer.info.isPicture, isForSomebody || !answer.isPrivate, seen.insert(answer.address).inserted {
        kept.append((answer.address, answer.info.finalURL))
      }
      return Interruption.signal == nil
    }
    seen.removeAll()
    var index = 0
    for (name, url) in kept where Interruption.signal == nil {
      let request = try request(for: url, key: name)
      // Whose it is isn't told by its name.
      if isForSomebody, try cache.inspect(request) == nil { continue }
      try export(request, as: name, index)
      index += 1
    }
  }

  private func request(for url: String, key: String?) throws(NuthatchError) -> Request {
    var request = common
    request.url = url
    request.cacheKey = key
    return try said.request(request, in: cache)
  }

  private func export(_ request: Request, as url: String, _ index: Int) throws(NuthatchError) {
    var images: [Image] = []
    var files: [ExportedFile] = []
    do throws(NuthatchError) {
      // Before the picture: of one that changes between, the entry doesn't fit the next time.
      files = self.files(of: url, index, try cache.inspect(request))
      guard let event = try cache.submit(request).final() else { return }
      if let error = event.error { throw error }
      images = event.images
    } catch {
      return noteMissing(url, index, error)
    }
    for (made, image) in zip(files, images) {
      var file = made
      (file.width, file.height) = (image.width, image.height)
      let path = folder + "/" + file.name
      let encoded = try image.encoded(as: isPNG ? .png() : .jpeg())
      try encoded.withBytes { (bytes) throws(NuthatchError) in
        file.hold(bytes)
        // A file that is there may be another picture's, or another run's of which no manifest tells.
        if earlier != nil, OutputFile.has(bytes, at: path) {
          left += 1
        } else {
          try OutputFile.write(bytes, to: path, followsLinks: false)
          written += 1
        }
      }
      note { file.write(to: &$0) }
    }
  }

  private func noteMissing(_ url: String, _ index: Int, _ error: NuthatchError) {
    missing += 1
    note { json in
      json.put("url", ShownURL.of(url))
      json.put("index", index)
      json.put("error", error.code.word)
      json.put("message", error.message)
    }
  }

  /// Whether all files of a URL are there, and proven to be its; then they are in the manifest now.
  private func isThere(_ url: String, _ index: Int, _ request: Request) throws(NuthatchError) -> Bool {
    guard let earlier else { return false }
    // What is wrong with the URL, or with the disk, is told by who exports it next.
    guard let stored = try? cache.inspect(request) else { return false }
    let files = files(of: url, index, stored)
    let proven = files.compactMap { earlier.proven($0) }
    guard proven.count == files.count else { return false }
    for file in proven { note { file.write(to: &$0) } }
    left += files.count
    return true
  }

  private func files(of url: String, _ index: Int, _ stored: StoredAnswerInfo?) -> [ExportedFile] {
    common.boxes.map {
      ExportedFile(name: name(url, index, $0), url: url, index: index, $0, isPNG: isPNG, stored)
    }
  }

  private func note(_ body: (inout JSONText) -> Void) {
    json.removeAll()
    json.object { body(&$0) }
    json.endLine()
    manifest.write(json.bytes)
  }

  private func name(_ url: String, _ index: Int, _ box: ThumbnailBox) -> String {
    let base = byHash ? hash(url) : index.digits(8)
    let size = box.width == box.height ? "\(box.width)" : "\(box.width)x\(box.height)"
    return "\(base)\(common.boxes.count > 1 ? "-\(size)" : "").\(isPNG ? "png" : "jpg")"
  }

  private func hash(_ url: String) -> String {
    Array(url.utf8).withUnsafeBytes { ExportedFile.digest(of: $0) }
  }
}
