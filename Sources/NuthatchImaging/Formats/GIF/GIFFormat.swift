/// GIF: the first frame, decoded as it arrives.
struct GIFFormat: PictureFormat {
  let format = ImageFormat.gif

  func headerParser(collectsProfile: Bool) -> any HeaderParser { GIFHeaderParser() }

  func kind(_ info: ImageInfo) -> String { info.isProgressive ? "an interlaced GIF" : "a GIF" }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    // The batch, a blank row, and the collected indices of at least one row.
    sum.add(info.size.width, 4 * 17 + 1)
    sum.add(info.wholePictureBytes, 1)
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder { GIFDecoder(job) }

  func frames(in bytes: UnsafeRawBufferPointer, isWhole: Bool) -> (count: Int, isAll: Bool) {
    GIFBlocks.frames(in: bytes, isWhole: isWhole)
  }

  func earlyEnd(_ info: ImageInfo, _ boxes: [ThumbnailBox]) -> (any EarlyEndWatch)? {
    info.pixelsStart.map { GIFFrameWatch(start: $0) }
  }
}
