/// Runs one measurement for each line of standard input, so that a driver can alternate them with other programs:
///
///   KIND FILE SIZE REPEATS   ->   {"us": best of the repeats, "denominator": …, "bytes_used": …}
///   pixels KIND FILE SIZE OUT   ->   {"width": …, "height": …}, the RGBA in OUT
///   peak KIND FILE SIZE   ->   {"kib": peak resident memory above that of the input and an idle process}
///
/// KIND: best, fast, all_scans (no early stop), limit (the codec alone at the scale that `best` takes),
/// full (the codec alone at full size), encode_jpeg, encode_png, encode_png_small, encode_limit (of a thumbnail of SIZE),
/// store:FORM (encodes a thumbnail of SIZE), load:FORM (decodes it again). A FORM is png, lossless-0 to lossless-9 or lossy-90.
/// The words of a line are separated by tabs.
import CodecLimit
import Glibc
import NuthatchImaging

struct Answer {
  var fields: [(String, Int)] = []
  var microseconds: Double?

  var json: String {
    var parts = fields.map { "\"\($0.0)\": \($0.1)" }
    if let microseconds { parts.append("\"us\": \(microseconds)") }
    return "{" + parts.joined(separator: ", ") + "}"
  }
}

struct Usage: Error { var message: String }

final class Bench {
  private var files: [String: [UInt8]] = [:]

  func file(_ path: String) throws -> [UInt8] {
    if let known = files[path] { return known }
    guard let stream = fopen(path, "rb") else { throw Usage(message: "can't open \(path)") }
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 20)
    while case let count = fread(&part, 1, part.count, stream), count > 0 { bytes += part[0..<count] }
    files[path] = bytes
    return bytes
  }

  func thumbnail(_ kind: String, _ bytes: [UInt8], _ size: Int) throws -> DecodeResult {
    var options = DecodeOptions()
    options.earlyStop = kind != "all_scans"
    // Small pictures are not enlarged.
    let box = ThumbnailBox(size, scaling: kind == "fast" ? .fast : .best)
    return try bytes.withUnsafeBytes { try Thumbnailer.thumbnails(of: $0, boxes: [box], options: options) }
  }

  /// Returns the prepared work of a kind, and facts about it.
  func work(_ kind: String, _ path: String, _ size: Int) throws -> (Answer, () throws -> Void) {
    let bytes = try file(path)
    var answer = Answer()
    if kind.hasPrefix("store:") || kind.hasPrefix("load:") { return try storing(kind, bytes, size) }
    switch kind {
    case "best", "fast", "all_scans":
      let report = try thumbnail(kind, bytes, size).report
      answer.fields = [("denominator", report.denominator), ("bytes_used", report.bytesUsed)]
      return (answer, { _ = try self.thumbnail(kind, bytes, size) })
    case "limit", "full":
      let denominator = kind == "full" ? 1 : try thumbnail("best", bytes, size).report.denominator
      answer.fields = [("denominator", denominator)]
      return (
        answer,
        {
          let done =
            switch bytes.first {
            case 0x89: limit_decode_png(bytes, bytes.count)
            case 0x52: limit_decode_webp(bytes, bytes.count)
            case 0x00: limit_decode_avif(bytes, bytes.count)
            default: limit_decode_jpeg(bytes, bytes.count, Int32(denominator))
            }
          if done == 0 { throw Usage(message: "\(path) isn't decodable") }
        }
      )
    case "encode_jpeg", "encode_png", "encode_png_small", "encode_limit":
      let picture = try thumbnail("best", bytes, size).pictures[0]
      answer.fields = [("width", picture.width), ("height", picture.height)]
      switch kind {
      case "encode_jpeg": return (answer, { _ = try picture.encodedJPEG(quality: 92) })
      case "encode_png": return (answer, { _ = try picture.encodedPNG(.fast) })
      case "encode_png_small": return (answer, { _ = try picture.encodedPNG(.small) })
      default:
        return (
          answer,
          {
            picture.withUnsafeBytes { pixels in
              _ = limit_encode_jpeg(
                pixels.bindMemory(to: UInt8.self).baseAddress, Int32(picture.width), Int32(picture.height), 92
              )
            }
          }
        )
      }
    default: throw Usage(message: "no such kind: \(kind)")
    }
  }

  /// Encodes a thumbnail in a form in which it may be stored.
  private func stored(_ picture: PixelBuffer, _ form: String) throws -> EncodedBytes {
    let words = form.split(separator: "-")
    let number = words.count == 2 ? Int(words[1]) ?? 0 : 0
    switch words.first {
    case "png": return try picture.encodedPNG()
    case "lossless": return try picture.encodedWebP(.lossless(level: number))
    case "lossy": return try picture.encodedWebP(.lossy(quality: number))
    default: throw Usage(message: "no such form: \(form)")
    }
  }

  private func storing(_ kind: String, _ bytes: [UInt8], _ size: Int) throws -> (Answer, () throws -> Void) {
    let picture = try thumbnail("best", bytes, size).pictures[0]
    let form = String(kind.drop { $0 != ":" }.dropFirst())
    let file = try stored(picture, form)
    let answer = Answer(
      fields: [
        ("width", picture.width), ("height", picture.height), ("bytes", file.count),
        ("is_opaque", picture.isFullyOpaque ? 1 : 0),
      ])
    guard kind.hasPrefix("load:") else { return (answer, { _ = try self.stored(picture, form) }) }
    return (answer, { _ = try file.withUnsafeBytes { try Thumbnailer.decode($0) } })
  }

  func measure(_ kind: String, _ path: String, _ size: Int, _ repeats: Int) throws -> Answer {
    var (answer, run) = try work(kind, path, size)
    try run()
    var best = Double.infinity
    for _ in 0..<max(1, repeats) {
      let start = Self.now()
      try run()
      best = min(best, Self.now() - start)
    }
    answer.microseconds = best
    return answer
  }

  func pixels(_ kind: String, _ path: String, _ size: Int, to out: String) throws -> Answer {
    let picture = try thumbnail(kind, file(path), size).pictures[0]
    guard let stream = fopen(out, "wb") else { throw Usage(message: "can't write \(out)") }
    defer { fclose(stream) }
    _ = picture.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, stream) }
    return Answer(fields: [("width", picture.width), ("height", picture.height)])
  }

  /// Returns by how much the peak of resident memory rises. Call it once in a process: memory that an earlier call left would
  /// lower the result.
  func peak(_ kind: String, _ path: String, _ size: Int) throws -> Answer {
    let bytes = try file(path)
    Self.resetPeak()
    let before = Self.peakKiB()
    _ = try thumbnail(kind, bytes, size)
    return Answer(fields: [("kib", Self.peakKiB() - before)])
  }

  private static func resetPeak() {
    guard let stream = fopen("/proc/self/clear_refs", "w") else { return }
    fputs("5", stream)
    fclose(stream)
  }

  private static func peakKiB() -> Int {
    guard let stream = fopen("/proc/self/status", "r") else { return 0 }
    defer { fclose(stream) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, stream) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix("VmHWM:") { return Int(text.filter(\.isNumber)) ?? 0 }
    }
    return 0
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
  }
}

let bench = Bench()
while let line = readLine() {
  let words = line.split(separator: "\t").map(String.init)
  do {
    let answer: Answer
    if words.count == 5, words[0] == "pixels", let size = Int(words[3]) {
      answer = try bench.pixels(words[1], words[2], size, to: words[4])
    } else if words.count == 4, words[0] == "peak", let size = Int(words[3]) {
      answer = try bench.peak(words[1], words[2], size)
    } else if words.count == 4, let size = Int(words[2]), let repeats = Int(words[3]) {
      answer = try bench.measure(words[0], words[1], size, repeats)
    } else {
      throw Usage(message: "not understood: \(line)")
    }
    print(answer.json)
  } catch {
    print("{\"error\": \"\(error)\"}")
  }
  fflush(nil)
}
