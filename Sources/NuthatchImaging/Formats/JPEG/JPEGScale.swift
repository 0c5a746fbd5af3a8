import CSystem

/// Decodes a JPEG's rows at one scale and resamples them to the thumbnails of that scale.
final class JPEGScale {
  private static let batch = 16

  let handle: OpaquePointer
  /// The scale is 1 : this number; 1, 2, 4 or 8.
  let denominator: Int
  /// The indices of this scale's thumbnails among all thumbnails.
  let places: [Int]
  private let plans: [StoredPlan]
  private var rowSize = ImageSize(width: 0, height: 0)
  private var rows: RowBatch?
  private var fanOut: RowFanOut?

  /// Uses those of `plans` that have this denominator.
  init(_ denominator: Int, of plans: [StoredPlan], limits: nhs_jpeg_limits) throws(ImageFault) {
    var limits = limits
    guard let handle = nhs_jpeg_new(&limits) else {
      throw ImageFault(.outOfMemory, "there is no memory for a JPEG decoder")
    }
    self.handle = handle
    self.denominator = denominator
    places = plans.indices.filter { plans[$0].denominator == denominator }
    self.plans = plans.filter { $0.denominator == denominator }
  }

  deinit { nhs_jpeg_free(handle) }

  /// Starts decoding. With a `leader`, the leader reads the input.
  func start(behind leader: JPEGScale?, mayStop: Bool) throws(ImageFault) {
    var width: Int32 = 0
    var height: Int32 = 0
    if let leader {
      try check(nhs_jpeg_follow(handle, leader.handle, Int32(denominator), &width, &height))
    } else {
      try check(nhs_jpeg_start(handle, Int32(denominator), mayStop ? 1 : 0, &width, &height))
    }
    rowSize = ImageSize(width: Int(width), height: Int(height))
  }

  /// Whether rows can be read because their scans are complete.
  var hasRows: Bool { nhs_jpeg_has_rows(handle) != 0 }

  var isOver: Bool { fanOut.map { $0.rows >= rowSize.height } ?? false }

  var rowCount: Int { fanOut?.rows ?? 0 }

  /// Reads some rows; returns 0 if more input is needed. `convert` changes each row's pixels in place.
  func readSome(_ convert: (UnsafeMutablePointer<UInt8>, Int) -> Void) throws(ImageFault) -> Int {
    let (rows, fanOut) = try opened()
    var got: Int32 = 0
    let status = nhs_jpeg_rows(handle, rows.base, rows.stride, Int32(Self.batch), &got)
    for i in 0..<Int(got) { convert(rows.base + i * rows.stride, rowSize.width) }
    try fanOut.push(rows: rows.base, count: Int(got), stride: rows.stride)
    try check(status)
    return Int(got)
  }

  func readOn(_ convert: (UnsafeMutablePointer<UInt8>, Int) -> Void) throws(ImageFault) {
    while !isOver, try readSome(convert) > 0 {}
  }

  /// Returns the thumbnails in stored orientation.
  func finish() throws(ImageFault) -> [PixelBuffer] { try opened().1.finish() }

  /// Throws on failure. Returns false if more input is needed.
  @discardableResult
  func check(_ status: Int32) throws(ImageFault) -> Bool {
    if status == NHS_FAILED { throw ImageFault(nhs_jpeg_fault(handle), format: .jpeg) }
    return status == NHS_OK
  }

  /// libjpeg's pixels of 1/8 are averages of blocks, of variance 1/12, and those of 1/4 nearly so. Those of 1/2 keep the contrast of
  /// details. A little less gives the best results, because averages also hold waves that they can't show rightly.
  private static func blur(_ denominator: Int) -> Double { denominator > 2 ? 1 / 14 : 0 }

  /// Allocates the buffers when rows begin, so that a scale that waits for its scans uses no memory for them.
  private func opened() throws(ImageFault) -> (RowBatch, RowFanOut) {
    if let rows, let fanOut { return (rows, fanOut) }
    guard rowSize.height > 0 else { throw ImageFault(.internal, "rows were decoded before the header") }
    let fanOut = try RowFanOut(
      plans, rowSize: rowSize, denominator: denominator, blur: Self.blur(denominator), opaque: true)
    let rows = try RowBatch(width: rowSize.width, rows: Self.batch)
    self.fanOut = fanOut
    self.rows = rows
    return (rows, fanOut)
  }
}
