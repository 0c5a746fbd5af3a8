import Glibc
import NuthatchCore

/// `nuthatch export`: thumbnails as files.
enum ExportCommand: Command {
  static let name = "export"
  static let summary = "write thumbnails out as files; never fetches"
  static let usage = "[OPTION…] DIR [FILE… | -]"
  static let options =
    [
      Option("as", value: "jpg|png|webp", "the format of the files (jpg)"),
      Option(
        "name", value: "index|hash",
        "name files by the place in the list, or by the SHA-256 of the URL (index)"),
      Option(
        "skip-existing", "keep existing files that the manifest proves, to continue an interrupted run",
        old: ["resume": nil]),
      Option("format", value: "text|json", "how the summary is written (text)"),
    ] + CommonOptions.list + [CommonOptions.cache] + [Option].ofLibrary(for: name).forList
  static let assumed = ["size"]
  static let details = """
    FILE is a list of URLs, read as prefetch reads it. Give the same options as for prefetch. Without FILE, all public pictures
    in the cache are written; with --user, --partition or --header, only those of these credentials or this partition. Stored
    answers are used however old they are. A size that isn't stored is made from the stored original. DIR is created if it
    is missing, and nothing is written outside of it.

    A file appears when it is complete, and DIR/manifest.jsonl when all files are. The manifest has a line for each file,
    with file, url, index, width and height, and with made, record, content, bytes and sha256, by which --skip-existing
    recognizes the file. For a URL without a file the line has url, index, error and message. Without FILE, url is the name of
    --cache-key, if the answer was stored under one. An interrupted run leaves its lines in DIR/manifest.part.

    Exit status: 0 every URL has its files; 4 some URLs have no file; 1 a file can't be written; 2 wrong usage, or a
    list that can't be read; 129, 130 and 143 interrupted.

    Examples:
      nuthatch export thumbs urls.txt
      nuthatch export --skip-existing --size 128,256 thumbs urls.txt
      nuthatch export --size 128 --as png --name hash thumbs

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard let folder = arguments.operands.first else { throw UsageError("export: a directory is needed") }
    var arguments = arguments
    // Without a list all public answers are written, so the credentials of config files don't count.
    if arguments.operands.count == 1, !arguments.namesAnswers { arguments.forgetFileOptions() }
    var said = try arguments.said(over: .ofList)
    // Take what is stored. Never fetch.
    said.request.policy = .offline
    let input = try arguments.input
    let form = try arguments.word("as", [.jpg, .png, .webp]) ?? ExportedForm.jpg
    let byHash = try arguments.word("name", [false, true]) ?? false
    let skipsExisting = arguments.has("skip-existing")
    let wantsJSON = try arguments.wantsJSON
    let lists = Array(arguments.operands.dropFirst())
    if let key = said.key, lists.isEmpty || key.isFixed {
      throw UsageError(
        lists.isEmpty
          ? "export: --cache-key needs a list of URLs; without a list, all answers are written"
          : "--cache-key: the name is the same for all URLs of the list; use {} for the URL")
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
        cache, said, signIn, folder: folder, form: form, byHash: byHash, skipsExisting: skipsExisting)
      run.exportsPrivateAnswers = arguments.namesAnswers
      return try run.run(list, wantsJSON: wantsJSON)
    }
  }
}

/// Exports one URL after the other.
final class ExportRun {
  private let cache: Cache
  private let said: ParsedOptions
  /// The part of the request that all URLs have in common.
  private let common: Request
  private let folder: String
  private let form: ExportedForm
  private let byHash: Bool
  private let manifest: DraftFile
  /// The files of earlier runs; nil without `--skip-existing`.
  private let earlier: ExportManifest?
  /// Whether options name a partition or credentials. Without a list, only answers of these are exported, else public ones.
  var exportsPrivateAnswers = false
  private var json = JSONText()
  private var written = 0
  private var left = 0
  /// URLs that aren't in the cache.
  private var missing = 0
  /// URLs of which a file couldn't be made, for another reason.
  private var failed = 0

  init(
    _ cache: Cache, _ said: ParsedOptions, _ signIn: ListSignIn?, folder: String, form: ExportedForm,
    byHash: Bool,
    skipsExisting: Bool
  ) throws(NuthatchError) {
    self.cache = cache
    self.said = said
    var common = said.common
    (common.user, common.userPlace) = (signIn?.user, signIn?.place)
    self.common = common
    self.folder = folder
    self.form = form
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
      // The error may come from a write that the signal interrupted.
      if let code = Interruption.exitCode { return interrupted(code) }
      if let fault = error as? ListFault { throw UsageError("export: \(fault.message)") }
      throw error
    }
    if let code = Interruption.exitCode { return interrupted(code) }
    try manifest.finish()
    unlink(folder + "/" + ExportManifest.unfinished)
    Terminal.print(wantsJSON ? summary : text)
    return missing + failed == 0 ? .success : .notFetched
  }

  /// Leaves a partial manifest, with which the next run continues.
  private func interrupted(_ code: ExitCode) -> ExitCode {
    // Ignore a failure: without the manifest, the next run makes the pictures once more and compares them.
    try? manifest.finish(as: folder + "/" + ExportManifest.unfinished)
    return code
  }

  private var text: String {
    let kept = left > 0 ? ", \(Amounts.grouped(left)) were there" : ""
    let others = failed > 0 ? ", \(Amounts.counted(failed, "URL")) failed: see \(ExportManifest.name)" : ""
    let files = Amounts.counted(written, "file") + kept
    return "\(files), \(Amounts.counted(missing, "URL")) not in the cache\(others)\n"
  }

  private var summary: String {
    JSONText.line { json in
      json.put("files", written)
      json.put("left", left)
      json.put("missing", missing)
      json.put("failed", failed)
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
          noteFailure(listed.url, listed.index, failure)
          continue
        }
        let request = try request(for: listed.url, key: said.key?.key(for: listed.url))
        if try isThere(listed.url, listed.index, request) { continue }
        try export(request, as: listed.url, listed.index)
      }
    }
  }

  /// Exports all stored public pictures. If options name a partition or credentials, exports the pictures of these instead.
  private func goThroughAll() throws(NuthatchError) {
    var seen: Set<String> = []
    var kept: [(name: String, url: String)] = []
    try cache.forEachAnswer { answer in
      if answer.info.isPicture, exportsPrivateAnswers || !answer.isPrivate,
        seen.insert(answer.address).inserted
      {
        kept.append((answer.address, answer.info.finalURL))
      }
      return Interruption.signal == nil
    }
    seen.removeAll()
    var index = 0
    for (name, url) in kept where Interruption.signal == nil {
      let request = try request(for: url, key: name)
      // The answer may be public, or of another partition. Then a request with these options doesn't find it.
      if exportsPrivateAnswers, try cache.inspect(request) == nil { continue }
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
      // Inspect before the picture is made. If the answer changes in between, the entry won't match in the next run, and the
      // file is made again.
      files = self.files(of: url, index, try cache.inspect(request))
      guard let event = try cache.submit(request).final() else { return }
      if let error = event.error { throw error }
      images = event.images
    } catch {
      return noteFailure(url, index, error)
    }
    var isWhole = true
    for (made, image) in zip(files, images) {
      var file = made
      (file.width, file.height) = (image.width, image.height)
      let path = folder + "/" + file.name
      let encoded: EncodedImage
      do {
        encoded = try image.encoded(as: form.format)
      } catch {
        note(error, url, index)
        isWhole = false
        continue
      }
      try encoded.withBytes { (bytes) throws(NuthatchError) in
        file.hold(bytes)
        // An existing file may be another picture, or come from a run without a manifest, so compare the bytes.
        if earlier != nil, OutputFile.has(bytes, at: path) {
          left += 1
        } else {
          try OutputFile.write(bytes, to: path, followsLinks: false)
          written += 1
        }
      }
      note { file.write(to: &$0) }
    }
    if !isWhole { failed += 1 }
  }

  private func noteFailure(_ url: String, _ index: Int, _ error: NuthatchError) {
    if error.code == .offline { missing += 1 } else { failed += 1 }
    note(error, url, index)
  }

  private func note(_ error: NuthatchError, _ url: String, _ index: Int) {
    note { json in
      json.put("url", ShownURL.of(url))
      json.put("index", index)
      json.put("error", error.code.word)
      json.put("message", error.message)
    }
  }

  /// Returns whether all files of a URL exist and an earlier manifest proves them. If so, adds them to the new manifest.
  private func isThere(_ url: String, _ index: Int, _ request: Request) throws(NuthatchError) -> Bool {
    guard let earlier else { return false }
    // Ignore an error here: `export` reports it.
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
      ExportedFile(name: name(url, index, $0), url: url, index: index, $0, form, stored)
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
    return "\(base)\(common.boxes.count > 1 ? "-\(size)" : "").\(form.rawValue)"
  }

  private func hash(_ url: String) -> String {
    Array(url.utf8).withUnsafeBytes { ExportedFile.digest(of: $0) }
  }
}
