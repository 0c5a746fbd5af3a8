import CSystem

/// Decodes the picture of an AVIF to thumbnails, when its last byte has come.
final class AVIFDecoder: KeepsInput {
  let input = KeptInput()
  private let job: Job
  private var picture: AVIFPicture?
  private var stored: [PixelBuffer] = []
  private var isDone = false
  private(set) var report = DecodeReport()
  private(set) var warnings: [String] = []

  init(_ job: Job) {
    self.job = job
  }

  func advance() throws(ImageFault) -> DecodeProgress {
    if isDone { return .done }
    let bytes = input.bytes
    let picture = try located(in: bytes)
    let end = job.options.earlyStop ? picture.end : Self.fileEnd(picture, bytes)
    guard bytes.count >= end else {
      guard input.isAtEnd else { return .needMore }
      throw ImageFault(.truncated, "the AVIF ends too early", at: bytes.count)
    }
    try decode(picture, bytes)
    isDone = true
    report.bytesUsed = end
    report.denominator = job.plans.map(\.denominator).min() ?? 1
    return .done
  }

  private func located(in bytes: UnsafeRawBufferPointer) throws(ImageFault) -> AVIFPicture {
    if let picture { return picture }
    let found = try AVIFPicture.found(in: bytes)
    picture = found
    return found
  }

  /// Returns the end of the last box that has bytes of the picture, as far as the boxes are known.
  private static func fileEnd(_ picture: AVIFPicture, _ bytes: UnsafeRawBufferPointer) -> Int {
    var place = 0
    while place < picture.end, place <= bytes.count - 16 {
      var size = bytes.bigEndian32(at: place)
      if size == 1 { size = bytes.bigEndian32(at: place + 8) << 32 | bytes.bigEndian32(at: place + 12) }
      guard size >= 8, size < 1 << 60 else { break }
      place += size
    }
    return max(place, picture.end)
  }

  /// A thumbnail that is much smaller is decoded without the filters that it doesn't need. So it has the same pixels whether it is
  /// made alone or with a larger one.
  private func decode(_ picture: AVIFPicture, _ bytes: UnsafeRawBufferPointer) throws(ImageFault) {
    var found = [PixelBuffer?](repeating: nil, count: job.plans.count)
    for isSmall in [false, true] {
      let places = job.plans.indices.filter { job.plans[$0].isMuchSmaller == isSmall }
      guard !places.isEmpty else { continue }
      let planes = try AVIFPlanes(picture, bytes, job, withoutFilters: isSmall)
      for denominator in Set(places.map { job.plans[$0].denominator }) {
        let scaled = places.filter { job.plans[$0].denominator == denominator }
        let scale = try AVIFScale(denominator, scaled.map { job.plans[$0] }, picture, planes)
        for (place, made) in zip(scaled, try scale.pictures()) { found[place] = made }
      }
    }
    stored = found.compactMap { $0 }
    guard stored.count == job.plans.count else { throw ImageFault(.internal, "a thumbnail wasn't made") }
  }

  func finish() throws(ImageFault) -> [PixelBuffer] {
    guard isDone else { throw ImageFault(.internal, "decoding ended before the last row") }
    try job.profile?.withUnsafeBufferPointer { (profile) throws(ImageFault) in
      try ColorConverter.make(
        UnsafeRawBufferPointer(profile),
        for: job.info.color == .gray && Self.isOfGrey(profile) ? .gray : .rgb,
        most: job.options.limits.profileMemory, warnings: &warnings)
    }?.convert(stored)
    report.warningCount = warnings.count
    return stored
  }

  /// A grey picture may have a profile of grey or one of colours.
  private static func isOfGrey(_ profile: UnsafeBufferPointer<UInt8>) -> Bool {
    profile.count > 20 && profile[16..<20].elementsEqual("GRAY".utf8)
  }
}
