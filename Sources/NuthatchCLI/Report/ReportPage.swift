import NuthatchCore

/// The page of a run: one file that needs no network, written as the run goes.
///
/// Pictures are embedded up to a budget; what comes beyond it is shown as a link. Of a long list the first ten thousand
/// successes and the first ten thousand failures are on the page.
struct ReportPage {
  /// Bytes of embedded pictures.
  private static let budget = 24 << 20
  private static let most = 10_000

  private let file: DraftFile
  private var left = Self.budget
  private var shown = 0
  private var shownFailures = 0

  init(_ path: String) throws(NuthatchError) {
    file = try DraftFile(path)
    file.write(ReportTemplate.head)
    file.write("<script>\nconst items = [\n")
  }

  /// Whether there is a place for it on the page.
  func wants(_ record: Record) -> Bool { (record.isOK ? shown : shownFailures) < Self.most }

  /// Whether its picture would be embedded.
  var hasRoom: Bool { left > 0 }

  mutating func add(_ record: Record, _ image: Image?) {
    if record.isOK { shown += 1 } else { shownFailures += 1 }
    let picture = embedded(image)
    var json = JSONText()
    json.object { json in
      json.put("i", record.listed.index)
      json.put("line", record.listed.line)
      json.put("url", record.listed.url)
      json.put("host", HostName.of(record.listed.url))
      json.put("state", record.kind.rawValue)
      if let size = record.originalSize {
        json.put("w", size.width)
        json.put("h", size.height)
      }
      json.put("sizes", record.thumbs.map { "\($0.width)×\($0.height)" }.joined(separator: ", "))
      json.put("bytes", record.bytes)
      json.put("attempts", record.attempts)
      if let error = record.error {
        json.put("error", error.code.word)
        json.put("message", error.message)
      }
      record.writeTimes(to: &json)
      if let picture { json.put("thumb", picture) }
    }
    file.write(json.bytes)
    file.write(",\n")
  }

  private mutating func embedded(_ image: Image?) -> String? {
    // A picture that can't be encoded is a link, as those beyond the budget are.
    guard left > 0, let image, let encoded = try? image.encoded(as: .jpeg(quality: 80)) else { return nil }
    left -= encoded.count
    return encoded.withBytes { "data:image/jpeg;base64," + Base64.encoded($0) }
  }

  func finish(_ summary: Summary) throws(NuthatchError) {
    file.write("];\nconst summary = \(summary.json);\n")
    file.write(ReportTemplate.script)
    file.write("</script>\n</html>\n")
    try file.finish()
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
