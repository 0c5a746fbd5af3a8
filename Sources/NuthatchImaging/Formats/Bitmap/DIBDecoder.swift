/// Decodes a device-independent bitmap of a complete input.
enum DIBDecoder {
  private static let batch = 16

  static func decode(
    _ header: DIBHeader, _ bytes: UnsafeRawBufferPointer, _ places: DIBRows.Places, _ job: Job
  ) throws(ImageFault) -> CollectingDecoder.Decoded {
    let source = try DIBRows(header, bytes, places)
    let size = header.size
    let fanOut = try RowFanOut(job.plans, rowSize: size, denominator: 1, opaque: source.isOpaque)
    let rows = try RowBatch(width: size.width, rows: batch)
    var passedOver: ImageFault?
    var found = 0
    while fanOut.rows < size.height {
      let count = min(batch, size.height - fanOut.rows)
      for row in 0..<count {
        let place = UnsafeMutableRawPointer(rows.base + row * rows.stride)
        let target = place.assumingMemoryBound(to: UInt32.self)
        // A fault with its text for each missing row would take longer than all rows.
        if passedOver != nil, !source.has(row: fanOut.rows + row) {
          target.update(repeating: 0, count: size.width)
          continue
        }
        do throws(ImageFault) {
          try source.copy(row: fanOut.rows + row, to: target)
          found += 1
        } catch {
          guard job.options.allowDamaged, error.leavesPixels else { throw error }
          passedOver = passedOver ?? error
          target.update(repeating: 0, count: size.width)
        }
      }
      try fanOut.push(rows: rows.base, count: count, stride: rows.stride)
    }
    if let passedOver, found == 0 { throw passedOver }
    var report = DecodeReport()
    report.bytesUsed = bytes.count
    report.isPartial = passedOver != nil
    report.fault = passedOver
    return CollectingDecoder.Decoded(pictures: try fanOut.finish(), report: report)
  }
}
