/// Icons and cursors: the largest picture, which is a PNG, or a bitmap with a mask.
struct ICOFormat: PictureFormat {
  let format = ImageFormat.ico

  func headerParser(collectsProfile: Bool) -> any HeaderParser { ICOHeaderParser() }

  func kind(_ info: ImageInfo) -> String { "an icon" }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    // As of a PNG. A bitmap needs less.
    PNGFormat().addMemory(info, plans, earlyStop: earlyStop, to: &sum)
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder {
    CollectingDecoder { (bytes) throws(ImageFault) in
      var parser = ICOHeaderParser()
      _ = try parser.parse(bytes)
      switch parser.picture {
      case .png(let place):
        return try Self.decodePNG(UnsafeRawBufferPointer(rebasing: bytes[place...]), at: place, job)
      case .bitmap(let header, let place, let end):
        let colors = place + header.byteCount
        var places = DIBRows.Places(colors: colors, pixels: colors + header.tableBytes)
        // The mask of a bitmap of runs has no known place.
        if header.compression == .none { places.mask = places.pixels + header.rowBytes * header.size.height }
        places.hasShortMask = end <= bytes.count
        return try DIBDecoder.decode(header, bytes, places, job)
      case nil:
        throw ImageFault(.internal, "the icon's picture was not found")
      }
    }
  }

  private static func decodePNG(
    _ bytes: UnsafeRawBufferPointer, at place: Int, _ job: Job
  ) throws(ImageFault) -> CollectingDecoder.Decoded {
    do throws(ImageFault) {
      var decoded = try PNGDecoder.decode(bytes, job)
      decoded.report.bytesUsed += place
      return decoded
    } catch {
      throw ImageFault(error.kind, error.message, at: error.offset.map { $0 + place })
    }
  }
}
