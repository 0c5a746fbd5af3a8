import CSystem

/// SVG: drawn by librsvg, in the decoder process, at the size of each thumbnail.
struct SVGFormat: PictureFormat {
  let format = ImageFormat.svg

  var libraries: Int32 { Int32(NHS_DECODER_SVG) }

  func headerParser(collectsProfile: Bool) -> any HeaderParser { SVGHeaderParser() }

  func kind(_ info: ImageInfo) -> String { "an SVG" }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    // librsvg draws groups with an opacity or a mask on further surfaces.
    for plan in plans { sum.add(plan.target.area, 8) }
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder {
    CollectingDecoder { (bytes) throws(ImageFault) in
      guard nhs_svg_is_loaded() != 0 else {
        throw ImageFault(
          .unsupportedFormat("svg"),
          "SVGs are drawn by librsvg, which isn't installed on this machine (Debian: apt-get install librsvg2-2)",
          at: 0)
      }
      var parser = SVGHeaderParser()
      _ = try parser.parse(bytes)
      guard let drawing = parser.drawing else { throw ImageFault(.internal, "the SVG's size was not found") }
      var decoded = CollectingDecoder.Decoded(pictures: [])
      for plan in job.plans { decoded.pictures.append(try Self.draw(bytes, drawing, plan)) }
      decoded.report.bytesUsed = bytes.count
      return decoded
    }
  }

  private static func draw(
    _ bytes: UnsafeRawBufferPointer, _ drawing: SVGSize, _ plan: StoredPlan
  ) throws(ImageFault) -> PixelBuffer {
    let picture = try PixelBuffer(uninitialized: plan.target, opaque: false)
    // The plan's coordinates are whole pixels; the drawing's sides may be fractions.
    let across = drawing.width / Double(drawing.pixels.width)
    let down = drawing.height / Double(drawing.pixels.height)
    var view = nhs_svg_view(
      width: drawing.width, height: drawing.height, x: plan.crop.x * across, y: plan.crop.y * down,
      part_width: plan.crop.width * across, part_height: plan.crop.height * down,
      columns: Int32(clamping: plan.target.width), rows: Int32(clamping: plan.target.height))
    var fault = nhs_fault()
    guard nhs_svg_draw(bytes.baseAddress, bytes.count, &view, picture.pixels, &fault) == Int32(NHS_OK) else {
      throw ImageFault(&fault, format: .svg)
    }
    return picture
  }
}
