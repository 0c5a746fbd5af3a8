import CSystem
import Glibc
import NuthatchBase
import NuthatchCore

/// Writes the report of a run while it goes on: one HTML file. It needs no network, and its Content-Security-Policy forbids it.
///
/// Pictures are embedded up to a budget; the others are links. Of a long list, the page has the first ten thousand successes and
/// the first ten thousand failures.
struct ReportPage {
  /// The most bytes of embedded pictures.
  private static let budget = 24 << 20
  private static let most = 10_000
  /// If the PNG of a transparent picture has more bytes, the picture is drawn on white and becomes a JPEG.
  private static let mostOfPNG = 32 << 10
  /// The wanted width or height of a thumbnail in the grid, in pixels. Large enough for screens of high density.
  private static let side = 160

  private let file: DraftFile
  private var left = Self.budget
  private var shown = 0
  private var shownFailures = 0

  init(_ path: String) throws(NuthatchError) {
    file = try DraftFile(path)
    file.write(ReportTemplate.head)
    file.write("<script type=\"application/x-ndjson\" id=\"items\">\n")
  }

  /// Returns whether a report may be written to the path: the file is missing, empty, an earlier report, or not a plain file.
  static func mayReplace(_ path: String) -> Bool {
    var status = stat()
    // A file that a shell has opened is not replaced. The report is written into it.
    guard OutputFile.ownDescriptor(path) == nil, stat(path, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
    else { return true }
    let head = WholeFile.content(of: path, atMost: 4096) ?? []
    return String(decoding: head.prefix(4096), as: UTF8.self).contains(ReportTemplate.title)
  }

  /// Returns whether the page has room for the record.
  func wants(_ record: Record) -> Bool { (record.isOK ? shown : shownFailures) < Self.most }

  /// Whether the next picture would be embedded.
  var hasRoom: Bool { left > 0 }

  /// Returns the box of the thumbnail to show: the smallest that is large enough, or else the largest.
  static func box(of boxes: [ThumbnailBox]) -> ThumbnailBox? {
    let sorted = boxes.sorted { max($0.width, $0.height) < max($1.width, $1.height) }
    return sorted.first { max($0.width, $0.height) >= side } ?? sorted.last
  }

  mutating func add(_ record: Record, _ image: Image?) {
    if record.isOK { shown += 1 } else { shownFailures += 1 }
    var json = JSONText()
    json.object { json in
      json.put("i", record.listed.index)
      json.put("line", record.listed.line)
      json.put("url", short(ShownURL.of(record.listed.url)))
      if let final = record.finalURL, final != record.listed.url { json.put("final", short(final)) }
      json.put("host", HostName.of(record.listed.url))
      json.put("state", record.kind.rawValue)
      if record.isStale { json.put("stale", true) }
      json.put("status", record.isOK ? nil : record.status)
      if let size = record.originalSize {
        json.put("w", size.width)
        json.put("h", size.height)
      }
      json.put("sizes", record.thumbs.map { "\($0.width)×\($0.height)" }.joined(separator: ", "))
      json.put("bytes", record.bytes)
      json.put("type", record.contentType)
      json.put("format", record.facts.format?.rawValue)
      json.put("kind", record.facts.text)
      json.put("attempts", record.attempts)
      if let error = record.error {
        json.put("error", error.code.word)
        json.put("message", short(error.message))
      }
      record.writeTimes(to: &json)
    }
    file.write(json.bytes)
    if let picture = embedded(image) {
      file.write("\t")
      file.write(picture)
    }
    file.write("\n")
  }

  /// Shortens a text to 2,000 bytes: a data: URL may be as long as a picture.
  private func short(_ text: String) -> String {
    text.utf8.count <= 2000 ? text : String(decoding: text.utf8.prefix(2000), as: UTF8.self) + "…"
  }

  private mutating func embedded(_ image: Image?) -> String? {
    // If a picture can't be encoded because memory is short, the page has only a link to it.
    guard left > 0, let image else { return nil }
    // A transparent picture becomes a PNG, unless that fails or is too large.
    if image.showsThrough, let encoded = try? image.encoded(as: .png()), encoded.count <= Self.mostOfPNG {
      left -= encoded.count
      return encoded.withBytes { "data:image/png;base64," + Base64.encoded($0) }
    }
    guard let encoded = try? image.encoded(as: .jpeg(quality: 75)) else { return nil }
    left -= encoded.count
    return encoded.withBytes { "data:image/jpeg;base64," + Base64.encoded($0) }
  }

  func finish(_ summary: Summary) throws(NuthatchError) {
    file.write("</script>\n<script type=\"application/json\" id=\"summary\">\n")
    file.write(summary.forPage(made: Int64(time(nil))))
    file.write("</script>\n<script>\(ReportScript.text)</script>\n</html>\n")
    try file.finish()
  }
}

/// The parts that every report has.
enum ReportTemplate {
  /// The title of every report. `mayReplace` recognizes a report by it.
  static let title = "<title>nuthatch prefetch</title>"

  /// The page may load and send nothing, and run only its own script.
  private static var policy: String {
    "default-src 'none'; img-src data:; style-src '\(hash(ReportStyle.text))'; script-src '\(hash(ReportScript.text))'; "
      + "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
  }

  private static func hash(_ text: String) -> String {
    let bytes = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: Int(nhs_sha256_size))
    nhs_sha256(bytes, bytes.count, &digest)
    return "sha256-" + digest.withUnsafeBytes { Base64.encoded($0) }
  }

  static var head: String {
    """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="\(policy)">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="referrer" content="no-referrer">
    \(title)
    <link rel="icon" href="data:,">
    <style>\(ReportStyle.text)</style>
    <a class="skip" id="skip" href="#pictures">skip to the pictures</a>
    <main>
    <header><h1>nuthatch prefetch</h1><div class="soft" id="line"></div></header>
    <noscript><p class="bad">This page needs JavaScript to show its pictures. It needs no network.</p></noscript>
    <ul class="tiles" id="tiles" aria-label="the run in numbers"></ul>
    <div class="bar" id="outcome" role="presentation"></div>
    <div class="soft" id="notes"></div>
    <details class="panel" id="times" hidden><summary><b>Time by phase</b><span class="soft" id="timingLine"></span></summary>
    <div id="timing"></div></details>
    <section class="filters" aria-label="filters"><div class="chips" id="states" role="group" aria-label="outcome"></div>
    <select id="reason" aria-label="reason of failure"></select><select id="format" aria-label="format"></select><select id="host" aria-label="host"></select>
    <select id="order" aria-label="order"><option value="list">as in the list</option><option value="slowest">slowest first</option>
    <option value="largest">largest first</option></select>
    <input id="text" type="search" placeholder="part of the URL" aria-label="part of the URL" autocomplete="off" spellcheck="false">
    <span class="soft" id="count" role="status"></span></section>
    <section id="failures" aria-labelledby="failuresHead" hidden><h2 id="failuresHead">Failures
    <span class="soft">and what to do about them</span></h2><div class="panel" id="groups"></div></section>
    <section id="pictures" aria-labelledby="picturesHead"><h2 id="picturesHead">Pictures</h2>
    <p class="soft none" id="none" hidden>No picture matches the filters.</p><div id="grid"></div></section>
    </main>
    <dialog id="look" aria-labelledby="name"><div class="look" id="picture"></div><div class="body"><h2 id="name"></h2>
    <dl id="facts"></dl><div id="phases"></div><div class="steps"><button type="button" id="before">Previous</button>
    <button type="button" id="after">Next</button><button type="button" id="close" autofocus>Close</button></div></div></dialog>

    """
  }
}

extension Image {
  /// Whether any pixel isn't opaque.
  fileprivate var showsThrough: Bool {
    withPixels { pixels in Swift.stride(from: 3, to: pixels.count, by: 4).contains { pixels[$0] != 255 } }
  }
}

enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encoded(_ bytes: UnsafeRawBufferPointer) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group: UInt32 = 0
      for place in 0..<3 { group = group << 8 | (place < count ? UInt32(bytes[start + place]) : 0) }
      for place in 0..<4 {
        text.append(place <= count ? digits[Int(group >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
