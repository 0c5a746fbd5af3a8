/// JPEG: decoded as it arrives, at 1:1, 1:2, 1:4 or 1:8.
struct JPEGFormat: PictureFormat {
  let format = ImageFormat.jpeg

  func greatestReduction(_ info: ImageInfo) -> Int { info.greatestReduction }

  func headerParser(collectsProfile: Bool) -> any HeaderParser {
    JPEGHeaderParser(collectsProfile: collectsProfile)
  }

  func kind(_ info: ImageInfo) -> String {
    if info.isProgressive { return "a progressive JPEG" }
    return info.wholePictureBytes > 0 ? "a JPEG of several scans" : "a JPEG"
  }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    // One bit for each scale.
    let scales = plans.reduce(0) { $0 | $1.denominator }
    for denominator in [1, 2, 4, 8] where scales & denominator != 0 {
      // For each component, two rows of MCUs inside the codec, before and after upsampling. Also the batch of finished rows.
      sum.add((info.size.width + denominator - 1) / denominator, 4 * 64)
      sum.add(info.size.width, 64)
    }
    // Each further scale has a codec. All share the coefficients of one row of MCUs, each of at most ten blocks.
    sum.add(scales.nonzeroBitCount - 1, 128 << 10)
    if scales.nonzeroBitCount > 1 { sum.add(info.size.width + 64, 160) }
    // A progressive JPEG at 1:8 may need only the blocks' means (jpeg_means.c).
    let isAtEighth = plans.allSatisfy { $0.denominator == 8 }
    sum.add(earlyStop && isAtEighth ? info.meansBytes ?? info.wholePictureBytes : info.wholePictureBytes, 1)
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder { try JPEGRowDecoder(job) }

  func earlyEnd(_ info: ImageInfo, _ boxes: [ThumbnailBox]) -> (any EarlyEndWatch)? {
    ScanWatch(info, boxes: boxes)
  }
}
