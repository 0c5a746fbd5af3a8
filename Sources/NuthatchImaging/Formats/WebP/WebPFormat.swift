/// WebP: lossy pictures are decoded as they arrive, and reduced before they get their colours. Lossless ones are collected. Of an
/// animation, the first frame.
struct WebPFormat: PictureFormat {
  let format = ImageFormat.webp

  /// Averages of pixels with alpha would show the colours of invisible pixels, and lossless pictures have no planes.
  func greatestReduction(_ info: ImageInfo) -> Int {
    info.color == .ycbcr && !info.hasAlpha ? PlaneReduction.greatest(info) : 1
  }

  func headerParser(collectsProfile: Bool) -> any HeaderParser {
    WebPHeaderParser(collectsProfile: collectsProfile)
  }

  func kind(_ info: ImageInfo) -> String {
    if info.isAnimated { return "an animated WebP" }
    if info.color != .ycbcr { return "a lossless WebP" }
    return info.hasAlpha ? "a WebP with alpha" : "a WebP"
  }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    // The rows that libwebp filters, and what it notes of their blocks. Also batches of finished rows.
    sum.add(info.size.width, 256 + 64 * plans.count)
    sum.add(info.wholePictureBytes, WebPPass.count(plans))
  }

  func frames(in bytes: UnsafeRawBufferPointer, isWhole: Bool) -> (count: Int, isAll: Bool) {
    WebPChunks.frameCount(in: bytes).map { ($0, true) } ?? (0, false)
  }

  func earlyEnd(_ info: ImageInfo, _ boxes: [ThumbnailBox]) -> (any EarlyEndWatch)? {
    info.pixelsEnd.map { FirstFrameWatch(end: $0) }
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder { WebPDecoder(job) }
}
