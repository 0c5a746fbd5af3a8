/// PNG: collected and decoded at the end.
struct PNGFormat: PictureFormat {
  let format = ImageFormat.png

  func headerParser(collectsProfile: Bool) -> any HeaderParser { PNGHeaderParser() }

  func kind(_ info: ImageInfo) -> String { info.isProgressive ? "an interlaced PNG" : "a PNG" }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    // A ring of rows of up to eight bytes a pixel, and the batch.
    sum.add(info.size.width, 4 * 60)
    sum.add(info.wholePictureBytes, 1)
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder {
    CollectingDecoder { (bytes) throws(ImageFault) in try PNGDecoder.decode(bytes, job) }
  }
}
