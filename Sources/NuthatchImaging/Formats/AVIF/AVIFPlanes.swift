import CSystem

extension AVIFPicture.Coding {
  /// The bytes that dav1d holds for it.
  var frameBytes: Int {
    let (width, height) = (Int32(clamping: size.width), Int32(clamping: size.height))
    let planes = nhs_av1_frame_bytes(width, height, Int32(config.depth), Int32(config.chroma))
    // What it notes of each block: half a byte a pixel, and some more.
    let blocks = ((size.width + 127) / 128) * ((size.height + 127) / 128)
    return Int(clamping: planes).addingSaturating(blocks.multiplyingSaturating(12 << 10))
  }
}

extension AVIFPicture.Layer {
  /// A sample has one byte or two.
  fileprivate var sampleBytes: Int { (codings.first?.config.depth ?? 8) > 8 ? 2 : 1 }

  /// The samples of all planes for two pixels.
  fileprivate var samplesOfTwo: Int { [2, 3, 4, 6][codings.first?.config.chroma ?? 3] }

  /// Upper bound of the bytes of a grid's planes.
  fileprivate var gridBytes: Int {
    let (width, height) = (size.width + size.width % 2, size.height + size.height % 2)
    return width.multiplyingSaturating(height).multiplyingSaturating(samplesOfTwo * sampleBytes) / 2
  }

  /// The bytes to decode it, and to hold it.
  fileprivate var decoderBytes: Int {
    let frame = codings.first?.frameBytes ?? 0
    return grid == nil ? frame : frame.addingSaturating(gridBytes)
  }
}

extension AVIFPicture {
  /// The bytes that are held while it is decoded.
  var decoderBytes: Int {
    let parts = codings(isJoined: true)
    // Parts that aren't in one piece are joined.
    return color.decoderBytes.addingSaturating(alpha?.decoderBytes ?? 0).addingSaturating(parts)
  }

  private func codings(isJoined: Bool) -> Int {
    var most = 0
    for coding in color.codings + (alpha?.codings ?? []) where coding.extents.count > 1 {
      most = max(most, coding.count)
    }
    return most
  }

  /// Reduced rows begin with whole samples of chroma. Averages of HDR are another light than that of their samples, so more of them
  /// would show. Colours that were multiplied before they were encoded may be brighter than alpha allows. A full decode cuts that off
  /// in each pixel; an average doesn't.
  var greatestReduction: Int {
    let chroma = color.codings.first?.config.chroma ?? 0
    let isWhole = (crop.x % 2 == 0 || chroma == 0 || chroma == 3) && (crop.y % 2 == 0 || chroma != 1)
    guard isWhole, !isPremultiplied else { return 1 }
    return !hasProfile && color.colors?.isHDR == true ? 2 : 8
  }
}

extension Int {
  fileprivate func addingSaturating(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? Int.max : sum
  }

  fileprivate func multiplyingSaturating(_ other: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? Int.max : product
  }
}

/// The decoded planes of a picture, with its alpha.
final class AVIFPlanes {
  private(set) var samples: nhs_samples
  /// Of the container, else of the bitstream.
  let colors: AVIFColors
  let isAlphaLimited: Bool
  private var isMultiplied = false
  // They hold the planes.
  private let parts: [DecodedLayer]

  /// Decodes the colours, then alpha.
  init(_ picture: AVIFPicture, _ bytes: UnsafeRawBufferPointer, _ job: Job, withoutFilters: Bool)
    throws(ImageFault)
  {
    let color = try DecodedLayer(picture.color, bytes, job, withoutFilters: withoutFilters)
    samples = color.picture.samples
    colors =
      picture.color.colors
      ?? AVIFColors(
        primaries: Int(color.picture.primaries), transfer: Int(color.picture.transfer),
        matrix: Int(color.picture.matrix), isFullRange: color.picture.is_full_range != 0)
    guard let layer = picture.alpha else {
      isAlphaLimited = false
      parts = [color]
      return
    }
    let alpha = try DecodedLayer(layer, bytes, job, withoutFilters: withoutFilters)
    samples.a = alpha.picture.samples.y
    samples.a_stride = alpha.picture.samples.y_stride
    samples.a_depth = alpha.picture.samples.depth
    isAlphaLimited = layer.colors.map { !$0.isFullRange } ?? (alpha.picture.is_full_range == 0)
    parts = [color, alpha]
  }

  /// Multiplies the samples by alpha, because those of invisible pixels must not count in averages. Rows of full size can't be
  /// made of them any more.
  func multiplyByAlpha(_ colors: inout nhs_colors) throws(ImageFault) {
    guard !isMultiplied else { return }
    let spare = try HeapArray<UInt8>(nhs_samples_spare(samples.width))
    nhs_samples_multiply(&samples, &colors, spare.base)
    isMultiplied = true
  }
}

/// The planes of one layer: dav1d's, or those that its tiles were copied to.
private final class DecodedLayer {
  private(set) var picture = nhs_av1_picture()
  private var codec: AV1Codec?
  private var joined: JoinedTiles?

  init(_ layer: AVIFPicture.Layer, _ bytes: UnsafeRawBufferPointer, _ job: Job, withoutFilters: Bool)
    throws(ImageFault)
  {
    guard let first = layer.codings.first else { throw ImageFault(.internal, "a layer has no bitstream") }
    let limits = job.options.limits
    try Self.judge(first, limits)
    let spare = max(0, limits.memory - job.memoryNeed.least)
    // A further frame is made of the filtered one before it.
    let withoutFilters = withoutFilters && layer.codings.allSatisfy { $0.hasOneFrame(bytes) }
    var codec: AV1Codec?
    let tiles = try layer.grid.map { (place) throws(ImageFault) in try JoinedTiles(layer, place, bytes) }
    for (index, coding) in layer.codings.enumerated() {
      let opened: AV1Codec
      if let codec, codec.isFor(coding) {
        opened = codec
      } else {
        codec = nil
        opened = try AV1Codec(coding, spare: spare, withoutFilters: withoutFilters)
        codec = opened
      }
      let decoded = try opened.decode(coding, bytes, limits)
      if let tiles { try tiles.take(decoded, tile: index) } else { picture = decoded }
    }
    if let tiles {
      picture = tiles.picture
      joined = tiles
    } else {
      self.codec = codec
    }
  }

  private static func judge(_ coding: AVIFPicture.Coding, _ limits: ImageLimits) throws(ImageFault) {
    if let refusal = limits.refusal(of: coding.size) { throw refusal }
  }
}

extension AVIFPicture.Coding {
  fileprivate func hasOneFrame(_ file: UnsafeRawBufferPointer) -> Bool {
    extents.count == 1 && AVIFUnits.frames(UnsafeRawBufferPointer(rebasing: file[extents[0]])) == 1
  }
}

/// dav1d's decoder for codings of one size.
private final class AV1Codec {
  private let handle: OpaquePointer
  private let coding: AVIFPicture.Coding

  /// - Parameter spare: bytes that frames may take beyond the first one.
  init(_ coding: AVIFPicture.Coding, spare: Int, withoutFilters: Bool) throws(ImageFault) {
    var options = nhs_av1_options()
    options.width = Int32(clamping: coding.size.width)
    options.height = Int32(clamping: coding.size.height)
    options.operating_point = Int32(coding.operatingPoint)
    options.layer = coding.layer.map { Int32($0) } ?? -1
    options.without_filters = withoutFilters ? 1 : 0
    options.frames = Int32(AVIFUnits.mostFrames)
    options.memory = coding.frameBytes &+ spare
    guard let handle = nhs_av1_new(&options) else {
      throw ImageFault(.outOfMemory, "there is no memory for an AV1 decoder")
    }
    self.handle = handle
    self.coding = coding
  }

  deinit { nhs_av1_free(handle) }

  func isFor(_ other: AVIFPicture.Coding) -> Bool {
    coding.size == other.size && coding.operatingPoint == other.operatingPoint && coding.layer == other.layer
  }

  /// The planes are valid until the next call.
  func decode(_ coding: AVIFPicture.Coding, _ file: UnsafeRawBufferPointer, _ limits: ImageLimits)
    throws(ImageFault) -> nhs_av1_picture
  {
    guard coding.extents.count != 1 else {
      return try decode(UnsafeRawBufferPointer(rebasing: file[coding.extents[0]]), coding, limits)
    }
    var joined = ByteStore()
    for extent in coding.extents { try joined.append(UnsafeRawBufferPointer(rebasing: file[extent])) }
    return try decode(joined.bytes, coding, limits)
  }

  private func decode(_ bytes: UnsafeRawBufferPointer, _ coding: AVIFPicture.Coding, _ limits: ImageLimits)
    throws(ImageFault) -> nhs_av1_picture
  {
    let place = coding.extents.first?.lowerBound
    let frames = AVIFUnits.frames(bytes)
    guard frames <= AVIFUnits.mostFrames else {
      throw ImageFault(
        .tooLarge, "a picture of the AVIF has \(frames) frames; the limit is \(AVIFUnits.mostFrames)",
        at: place)
    }
    var picture = nhs_av1_picture()
    guard nhs_av1_decode(handle, bytes.baseAddress, bytes.count, &picture) == Int32(NHS_OK) else {
      let fault = ImageFault(nhs_av1_fault(handle), format: .avif)
      throw ImageFault(fault.kind, fault.message, at: place)
    }
    return picture
  }
}

/// The planes of a grid: the tiles are copied next to each other.
private final class JoinedTiles {
  private let layer: AVIFPicture.Layer
  private let columns: Int
  private let memory: HeapArray<UInt8>
  private(set) var picture = nhs_av1_picture()

  /// Reads the description of a grid: version, flags, rows, columns and size.
  init(_ layer: AVIFPicture.Layer, _ place: [Range<Int>], _ bytes: UnsafeRawBufferPointer) throws(ImageFault)
  {
    self.layer = layer
    let start = place.first?.lowerBound
    var description: [UInt8] = []
    for range in place where description.count < 12 { description += bytes[range].prefix(12) }
    func fault(_ message: String) -> ImageFault {
      ImageFault(.corrupt, "the AVIF's grid \(message)", at: start)
    }
    guard description.count >= 8, description[0] == 0 else { throw fault("has no description that is known") }
    let isWide = description[1] & 1 == 1
    guard description.count >= (isWide ? 12 : 8) else { throw fault("has a description that ends too early") }
    let rows = Int(description[2]) + 1
    columns = Int(description[3]) + 1
    let size = description.withUnsafeBytes { bytes in
      isWide
        ? ImageSize(width: bytes.bigEndian32(at: 4), height: bytes.bigEndian32(at: 8))
        : ImageSize(width: bytes.bigEndian16(at: 4), height: bytes.bigEndian16(at: 6))
    }
    guard size == layer.size else { throw fault("is \(size), but \(layer.size) is announced") }
    guard rows * columns == layer.codings.count, let tile = layer.codings.first else {
      throw fault("has \(rows) rows and \(columns) columns, but \(layer.codings.count) tiles")
    }
    // The last row and the last column may be cut off, but not left out.
    guard (columns - 1) * tile.size.width < size.width, columns * tile.size.width >= size.width,
      (rows - 1) * tile.size.height < size.height, rows * tile.size.height >= size.height
    else { throw fault("of \(size) isn't covered by its tiles") }
    // Tiles begin with whole samples of chroma.
    guard tile.config.chroma == 0 || tile.config.chroma == 3 || columns == 1 || tile.size.width % 2 == 0,
      tile.config.chroma != 1 || rows == 1 || tile.size.height % 2 == 0
    else { throw fault("has tiles of odd sides") }
    memory = try HeapArray(layer.gridBytes)
  }

  private func half(_ side: Int, _ isHalf: Bool) -> Int { isHalf ? side / 2 + side % 2 : side }

  /// Copies a decoded tile to its place.
  func take(_ tile: nhs_av1_picture, tile index: Int) throws(ImageFault) {
    if index == 0 { try lay(tile) }
    let (from, to) = (tile.samples, picture.samples)
    guard from.depth == to.depth, (from.u == nil) == (to.u == nil), from.halves_columns == to.halves_columns,
      from.halves_rows == to.halves_rows
    else {
      throw ImageFault(
        .corrupt, "the AVIF's grid has tiles of several kinds",
        at: layer.codings[index].extents.first?.lowerBound)
    }
    let x = index % columns * Int(from.width)
    let y = index / columns * Int(from.height)
    let bytes = from.depth > 8 ? 2 : 1
    for (plane, isChroma) in [(from.y, false), (from.u, true), (from.v, true)] {
      guard let plane else { continue }
      let (halvesColumns, halvesRows) = (
        isChroma && from.halves_columns != 0, isChroma && from.halves_rows != 0
      )
      let (left, top) = (half(x, halvesColumns), half(y, halvesRows))
      let width = min(half(Int(from.width), halvesColumns), half(Int(to.width), halvesColumns) - left)
      let height = min(half(Int(from.height), halvesRows), half(Int(to.height), halvesRows) - top)
      guard width > 0, height > 0, let base = plane == from.y ? to.y : plane == from.u ? to.u : to.v else {
        continue
      }
      let (fromStride, toStride) = isChroma ? (from.uv_stride, to.uv_stride) : (from.y_stride, to.y_stride)
      let target = UnsafeMutableRawPointer(mutating: base) + top * toStride + left * bytes
      for row in 0..<height {
        (target + row * toStride).copyMemory(from: plane + row * fromStride, byteCount: width * bytes)
      }
    }
  }

  /// Divides the memory into planes as the first tile has them.
  private func lay(_ first: nhs_av1_picture) throws(ImageFault) {
    picture = first
    let (config, samples) = (layer.codings[0].config, first.samples)
    let chroma = samples.u == nil ? 0 : samples.halves_rows != 0 ? 1 : samples.halves_columns != 0 ? 2 : 3
    // The memory is for these.
    guard config.depth == Int(samples.depth), config.chroma == chroma else {
      throw ImageFault(
        .corrupt, "the AVIF's grid has other samples than announced",
        at: layer.codings[0].extents.first?.lowerBound)
    }
    let bytes = first.samples.depth > 8 ? 2 : 1
    let width = half(layer.size.width, first.samples.halves_columns != 0)
    let height = half(layer.size.height, first.samples.halves_rows != 0)
    picture.samples.width = Int32(clamping: layer.size.width)
    picture.samples.height = Int32(clamping: layer.size.height)
    picture.samples.y_stride = layer.size.width * bytes
    picture.samples.uv_stride = width * bytes
    picture.samples.y = UnsafeRawPointer(memory.base)
    guard first.samples.u != nil else { return }
    let luma = picture.samples.y_stride * layer.size.height
    picture.samples.u = UnsafeRawPointer(memory.base + luma)
    picture.samples.v = UnsafeRawPointer(memory.base + luma + picture.samples.uv_stride * height)
  }
}
