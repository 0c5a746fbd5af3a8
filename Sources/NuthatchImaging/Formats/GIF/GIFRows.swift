import Glibc

/// Turns the indices of a GIF's first frame into rows of the canvas, and passes them to the thumbnails.
final class GIFRows {
  private static let batch = 16
  /// Indices that are collected before they are turned into rows, if the frame isn't interlaced.
  private static let collected = 32_768

  /// Indices that aren't passed on yet. `limit` says how many there may be.
  let indices: HeapArray<UInt8>
  /// Of `indices`; more than `limit` if the last string is longer.
  var count = 0

  private let frame: GIFFrame
  private let fanOut: RowFanOut
  private let rows: RowBatch
  private let colors: HeapArray<UInt32>
  /// The rows of the frame that were passed on.
  private var passed = 0

  init(_ frame: GIFFrame, _ plans: [StoredPlan]) throws(ImageFault) {
    self.frame = frame
    indices = try HeapArray(Self.held(frame) + LZWReader.overhang)
    colors = try HeapArray(256)
    frame.fill(colors.base)
    fanOut = try RowFanOut(plans, rowSize: frame.canvas, denominator: 1, opaque: frame.isOpaque)
    rows = try RowBatch(width: frame.canvas.width, rows: Self.batch)
    // The frame's columns are overwritten. The others stay transparent.
    for row in 0..<Self.batch { memset(rows.base + row * rows.stride, 0, frame.canvas.width * 4) }
  }

  private static func held(_ frame: GIFFrame) -> Int {
    let width = frame.size.width
    return width
      * (frame.isInterlaced ? frame.size.height : max(1, min(frame.size.height, collected / width)))
  }

  /// The indices to collect before `pass` is called.
  var limit: Int { min(Self.held(frame), (frame.size.height - passed) * frame.size.width) }

  /// The pixels of the frame.
  var allPixels: Int { frame.size.area }

  /// Those that were decoded.
  var pixels: Int { min(allPixels, passed * frame.size.width + count) }

  var isComplete: Bool { pixels == allPixels }

  /// The frame's complete rows so far.
  var completeRows: Int { pixels / frame.size.width }

  /// Passes the complete rows on. Of an interlaced frame none is passed before all are there.
  func pass() throws(ImageFault) {
    if frame.isInterlaced && !isComplete { return }
    let (width, complete) = (frame.size.width, completeRows - passed)
    try pass(complete) { frame.storedRow($0) }
    count = max(0, count - complete * width)
    // Both are in `indices`, and the rest is shorter than a row unless the frame is complete.
    memmove(indices.base, indices.base + complete * width, isComplete ? 0 : count)
  }

  /// Passes on what is there, and returns the thumbnails.
  func finish() throws(ImageFault) -> [PixelBuffer] {
    let complete = completeRows
    if frame.isInterlaced && passed < complete {
      // A row that is missing is shown as the one above it, until it comes. The first row comes first.
      var last = 0
      try pass(frame.size.height) { row in
        let stored = frame.storedRow(row)
        if stored < complete { last = stored }
        return last
      }
    }
    // Rows below the frame count as transparent.
    return try fanOut.finish()
  }

  /// Passes on the next rows of the frame; `stored` says where they are in `indices`.
  private func pass(_ count: Int, _ stored: (Int) -> Int) throws(ImageFault) {
    if passed == 0 && frame.y > 0 && count > 0 { try passRowsAbove() }
    let width = frame.size.width
    let first = frame.isInterlaced ? 0 : passed
    let end = passed + count
    while passed < end {
      let some = min(Self.batch, end - passed)
      for row in 0..<some {
        let source = indices.base + (stored(passed + row) - first) * width
        let place = UnsafeMutableRawPointer(rows.base + row * rows.stride + frame.x * 4)
        let target = place.assumingMemoryBound(to: UInt32.self)
        for x in 0..<width { target[x] = colors.base[Int(source[x])] }
      }
      try fanOut.push(rows: rows.base, count: some, stride: rows.stride)
      passed += some
    }
  }

  private func passRowsAbove() throws(ImageFault) {
    let blank = try HeapArray<UInt8>(zeroed: frame.canvas.width * 4)
    try fanOut.push(rows: blank.base, count: frame.y, stride: 0)
  }
}
