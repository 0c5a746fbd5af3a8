import Glibc

/// Helpers of all harnesses. Each harness, with this file and the room's own sources, is compiled into an executable.

/// Returns options with small limits, so that a run can try many inputs.
func fuzzOptions(_ variant: UInt8) -> DecodeOptions {
  var options = DecodeOptions()
  options.limits.pixels = 1 << 20
  options.limits.memory = 64 << 20
  options.limits.scans = 40
  options.limits.scanBlocks = 200_000
  options.allowDamaged = variant & 1 == 1
  options.earlyStop = variant & 2 == 0
  return options
}

/// Reads every pixel, so that the sanitizers find pixels that were never written or are out of bounds.
func digest(_ pictures: [PixelBuffer]) -> UInt64 {
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for picture in pictures {
    picture.withUnsafeBytes { bytes in
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
  }
  return hash
}

/// Returns a digest of each picture, or nil after a fault.
func eachDigest(_ body: () throws(ImageFault) -> DecodeResult) -> [UInt64]? {
  do throws(ImageFault) {
    return try body().pictures.map { digest([$0]) }
  } catch {
    demand(error.kind != .internal && !error.message.isEmpty, "\(error)")
    return nil
  }
}

nonisolated(unsafe) private var decodedCount = 0

/// Counts decodes that gave pixels. The number is printed at the end: a harness whose seeds all fail would try next to nothing.
private func noteDecoded() {
  if decodedCount == 0 { atexit { say("stat::decoded_to_pixels:        \(decodedCount)\n") } }
  decodedCount += 1
}

/// The result of a decode: a digest of the pixels, or the fault.
enum Outcome: Equatable {
  case pixels(UInt64)
  case fault(String)

  init(_ body: () throws(ImageFault) -> DecodeResult) {
    do throws(ImageFault) {
      self = .pixels(digest(try body().pictures))
      noteDecoded()
    } catch {
      demand(error.kind != .internal && !error.message.isEmpty, "\(error)")
      self = .fault(error.word)
    }
  }
}

/// Splits an input into its first byte, which chooses among variants, and the rest.
func split(_ start: UnsafePointer<UInt8>, _ count: Int) -> (variant: UInt8, rest: UnsafeRawBufferPointer) {
  (start[0], UnsafeRawBufferPointer(start: start + 1, count: count - 1))
}

/// Feeds pieces until the decoder has enough. Returns its result.
func feed(
  _ decoder: IncrementalThumbnailer, _ bytes: UnsafeRawBufferPointer, _ size: Int
) throws(ImageFault) -> DecodeResult {
  var at = 0
  while at < bytes.count {
    let end = min(bytes.count, at + size)
    if try decoder.feed(UnsafeRawBufferPointer(rebasing: bytes[at..<end])) == .enough { break }
    at = end
  }
  return try decoder.finish()
}

/// As `precondition`, but prints the message in optimised builds, too.
func demand(_ condition: Bool, _ message: @autoclosure () -> String) {
  if condition { return }
  say("demand failed: \(message())\n")
  abort()
}

private func say(_ text: String) { text.withCString { _ = write(2, $0, strlen($0)) } }
