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
        if source.copy(row: fanOut.rows + row, to: target) {
          found += 1
          continue
        }
        // Its text is made once, not for each missing row: there may be a million.
        let fault = passedOver ?? source.fault
        guard job.options.allowDamaged, fault.leavesPixels else { throw fault }
        passedOver = fault
        target.update(repeating: 0, count: size.width)
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
