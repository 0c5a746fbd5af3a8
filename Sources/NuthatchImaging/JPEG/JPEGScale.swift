import CSystem

/// A JPEG's rows at one scale, on their way to the thumbnails that are made from them.
final class JPEGScale {
  private static let batch = 16

  let handle: OpaquePointer
  /// One to that many: 1, 2, 4 or 8.
  let denominator: Int
  /// The thumbnails' places among all that are made.
  let places: [Int]
  private let plans: [StoredPlan]
  private var rowSize = ImageSize(width: 0, height: 0)
  private var rows: RowBatch?
  private var fanOut: RowFanOut?

  /// For those of `plans` that want this scale.
  init(_ denominator: Int, of plans: [StoredPlan], limits: nhs_jpeg_limits) throws(ImageFault) {
    var limits = limits
    guard let handle = nhs_jpeg_new(&limits) else {
      throw ImageFault(.outOfMemory, "no memory for a JPEG decoder")
    }
    self.handle = handle
    self.denominator = denominator
    places = plans.indices.filter { plans[$0].denominator == denominator }
    self.plans = plans.filter { $0.denominator == denominator }
  }

  deinit { nhs_jpeg_free(handle) }

  /// Starts decoding: by itself, or along with the scale that reads the input.
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

  /// Whether rows can be read: the scans that they need are there.
  var hasRows: Bool { nhs_jpeg_has_rows(handle) != 0 }

  /// Whether all rows were read.
  var isOver: Bool { fanOut.map { $0.rows >= rowSize.height } ?? false }

  /// Rows that were read.
  var rowCount: Int { fanOut?.rows ?? 0 }

  /// Reads some rows; none where they need more input. `convert` changes each row's pixels where they lie.
  func readSome(_ convert: (UnsafeMutablePointer<UInt8>, Int) -> Void) throws(ImageFault) -> Int {
    let (rows, fanOut) = try opened()
    var got: Int32 = 0
    let status = nhs_jpeg_rows(handle, rows.base, rows.stride, Int32(Self.batch), &got)
    for i in 0..<Int(got) { convert(rows.base + i * rows.stride, rowSize.width) }
    try fanOut.push(rows: rows.base, count: Int(got), stride: rows.stride)
    try check(status)
    return Int(got)
  }

  /// Reads all the rows that can be read.
  func readOn(_ convert: (UnsafeMutablePointer<UInt8>, Int) -> Void) throws(ImageFault) {
    while !isOver, try readSome(convert) > 0 {}
  }

  /// The thumbnails as stored.
  func finish() throws(ImageFault) -> [PixelBuffer] { try opened().1.finish() }

  /// Whether it went well; false asks for more input.
  @discardableResult
  func check(_ status: Int32) throws(ImageFault) -> Bool {
    if status == NHS_FAILED { throw ImageFault(nhs_jpeg_fault(handle), format: .jpeg) }
    return status == NHS_OK
  }

  /// What rows go through, made when they begin: a scale that waits for its scans holds none of it.
  private func opened() throws(ImageFault) -> (RowBatch, RowFanOut) {
    if let rows, let fanOut { return (rows, fanOut) }
    guard rowSize.height > 0 else { throw ImageFault(.internal, "rows without a header") }
    let fanOut = try RowFanOut(plans, rowSize: rowSize, denominator: denominator, opaque: true)
    let rows = try RowBatch(width: rowSize.width, rows: Self.batch)
    self.fanOut = fanOut
    self.rows = rows
    return (rows, fanOut)
  }
}
