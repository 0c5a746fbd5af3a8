/// AVIF: the primary item, or the first picture of a sequence. It is decoded when all its bytes are there.
struct AVIFFormat: PictureFormat {
  let format = ImageFormat.avif

  func greatestReduction(_ info: ImageInfo) -> Int {
    min(info.greatestReduction, PlaneReduction.greatest(info))
  }

  func headerParser(collectsProfile: Bool) -> any HeaderParser {
    AVIFHeaderParser(collectsProfile: collectsProfile)
  }

  func kind(_ info: ImageInfo) -> String {
    info.isAnimated ? "an AVIF sequence" : info.hasAlpha ? "an AVIF with alpha" : "an AVIF"
  }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    // dav1d's tables, and what it notes of a row of blocks. Also rows of samples, and batches of finished rows.
    sum.add(1, 2 << 20)
    sum.add(info.size.width, 512 + 80 * plans.count)
    sum.add(info.wholePictureBytes, 1)
  }

  func earlyEnd(_ info: ImageInfo, _ boxes: [ThumbnailBox]) -> (any EarlyEndWatch)? {
    info.pixelsEnd.map { FirstFrameWatch(end: $0) }
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder { AVIFDecoder(job) }
}
