import CSystem

// Writes and reads the messages of nhs_decoder.h. A picture may have taken over the process, so no value of a reply is trusted.
// A false reply can give wrong pixels or a wrong fault for its own picture, and nothing else.

extension IsolatedWork {
  init(_ job: Job, _ format: any PictureFormat) {
    let options = job.options
    var request = nhs_decoder_request()
    request.magic = UInt32(NHS_DECODER_MAGIC)
    for (isSet, flag) in [
      (options.allowDamaged, NHS_DECODER_ALLOWS_DAMAGE), (options.earlyStop, NHS_DECODER_STOPS_EARLY),
      (options.convertColors, NHS_DECODER_CONVERTS_COLORS),
    ] where isSet { request.flags |= UInt32(flag) }
    let limits = options.limits
    request.pixels = Int64(limits.pixels)
    request.side = Int64(limits.side)
    request.bytes = Int64(limits.bytes)
    request.memory = Int64(limits.memory)
    request.scans = Int64(limits.scans)
    request.scan_blocks = Int64(limits.scanBlocks)
    request.plan_count = UInt32(job.plans.count)
    withUnsafeMutableBytes(of: &request.plans) { bytes in
      for (plan, slot) in zip(job.plans, bytes.bindMemory(to: nhs_decoder_plan.self).indices) {
        bytes.bindMemory(to: nhs_decoder_plan.self)[slot] = nhs_decoder_plan(plan)
      }
    }
    self.request = request
    targets = job.plans.map(\.target)
    libraries = format.libraries
  }
}

extension nhs_decoder_plan {
  fileprivate init(_ plan: StoredPlan) {
    self.init(
      x: plan.crop.x, y: plan.crop.y, width: plan.crop.width, height: plan.crop.height,
      target_width: Int32(clamping: plan.target.width), target_height: Int32(clamping: plan.target.height),
      denominator: Int32(plan.denominator), unused: 0)
  }

  /// Nil for one that no picture has.
  fileprivate var plan: StoredPlan? {
    let most = Double(Int32.max)
    guard [x, y].allSatisfy({ $0 >= 0 && $0 <= most }), [width, height].allSatisfy({ $0 > 0 && $0 <= most }),
      target_width > 0, target_height > 0, [1, 2, 4, 8].contains(denominator)
    else { return nil }
    return StoredPlan(
      crop: ImageRect(x: x, y: y, width: width, height: height),
      target: ImageSize(width: Int(target_width), height: Int(target_height)), denominator: Int(denominator))
  }
}

extension nhs_decoder_request {
  /// Returns the plans; nil if the request isn't one of this version.
  var jobPlans: [StoredPlan]? {
    guard magic == UInt32(NHS_DECODER_MAGIC), (1...UInt32(NHS_DECODER_MOST_PICTURES)).contains(plan_count),
      output <= memory_bytes, output_bytes <= memory_bytes - output, input_bytes <= output
    else { return nil }
    let all = withUnsafeBytes(of: plans) { bytes in
      bytes.bindMemory(to: nhs_decoder_plan.self).prefix(Int(plan_count)).compactMap(\.plan)
    }
    return all.count == Int(plan_count) ? all : nil
  }

  /// The options of the job; it decodes where it is.
  var options: DecodeOptions {
    func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
    var options = DecodeOptions()
    options.isDecoderProcess = true
    options.allowDamaged = has(NHS_DECODER_ALLOWS_DAMAGE)
    options.earlyStop = has(NHS_DECODER_STOPS_EARLY)
    options.convertColors = has(NHS_DECODER_CONVERTS_COLORS)
    options.limits.pixels = Int(pixels)
    options.limits.side = Int(side)
    options.limits.bytes = Int(bytes)
    options.limits.memory = Int(memory)
    options.limits.scans = Int(scans)
    options.limits.scanBlocks = Int(scan_blocks)
    return options
  }
}

extension nhs_decoder_reply {
  /// Reads a reply.
  ///
  /// - Returns: the report and which pictures are opaque; nil if our code never writes such a reply.
  /// - Throws: the fault that it tells.
  package func read(for request: nhs_decoder_request) throws(ImageFault) -> (DecodeReport, opaque: UInt64)? {
    guard magic == UInt32(NHS_DECODER_MAGIC), number == request.number else { return nil }
    let isPartial = flags & UInt32(NHS_DECODER_IS_PARTIAL) != 0
    let told = fault.kind == 0 ? nil : ImageFault(fault, inputBytes: request.input_bytes)
    guard fault.kind == 0 || told != nil, isPartial == (isPartial && told != nil) else { return nil }
    if let told, !isPartial { throw told }
    guard [1, 2, 4, 8].contains(denominator), bytes_used >= 0, bytes_used <= request.input_bytes,
      scans_used >= 0,
      scans_used <= request.input_bytes, warning_count >= 0
    else { return nil }
    var report = DecodeReport()
    report.bytesUsed = Int(bytes_used)
    report.scansUsed = Int(scans_used)
    report.denominator = Int(denominator)
    report.stoppedEarly = flags & UInt32(NHS_DECODER_STOPPED_EARLY) != 0
    report.isPartial = isPartial
    report.fault = told
    report.warningCount = Int(clamping: warning_count)
    return (report, opaque)
  }

  init(_ report: DecodeReport, _ pictures: [PixelBuffer]) {
    self.init()
    if report.stoppedEarly { flags |= UInt32(NHS_DECODER_STOPPED_EARLY) }
    if report.isPartial { flags |= UInt32(NHS_DECODER_IS_PARTIAL) }
    for (place, picture) in pictures.enumerated() where picture.isOpaque { opaque |= 1 << UInt64(place) }
    bytes_used = Int64(report.bytesUsed)
    scans_used = Int64(report.scansUsed)
    denominator = Int32(report.denominator)
    warning_count = Int64(report.warningCount)
    if report.isPartial {
      fault = nhs_decoder_fault(report.fault ?? ImageFault(.corrupt, "the picture is damaged"))
    }
  }

  mutating func address(to request: nhs_decoder_request) {
    magic = UInt32(NHS_DECODER_MAGIC)
    number = request.number
  }

  init(_ fault: ImageFault) {
    self.init()
    self.fault = nhs_decoder_fault(fault)
  }
}

// MARK: - Faults

/// The numbers of the kinds, from 1 on.
private let kinds: [ImageFault.Kind] = [
  .notAnImage, .unsupportedFormat(""), .corrupt, .truncated, .tooLarge, .tooManyPixels, .outOfMemory,
  .invalid, .internal,
]

extension nhs_decoder_fault {
  fileprivate init(_ fault: ImageFault) {
    self.init()
    var kind = fault.kind
    if case .unsupportedFormat(let name) = kind {
      kind = .unsupportedFormat("")
      put(name, into: &self.name)
    }
    self.kind = Int32((kinds.firstIndex(of: kind) ?? kinds.count - 1) + 1)
    offset = Int64(fault.offset ?? -1)
    put(fault.message, into: &message)
  }
}

extension ImageFault {
  /// Nil for a kind that doesn't exist, and for one without a message.
  fileprivate init?(_ fault: nhs_decoder_fault, inputBytes: UInt64) {
    guard fault.kind >= 1, fault.kind <= kinds.count else { return nil }
    var kind = kinds[Int(fault.kind) - 1]
    if case .unsupportedFormat = kind { kind = .unsupportedFormat(text(fault.name)) }
    let message = text(fault.message)
    guard !message.isEmpty else { return nil }
    let isInside = fault.offset >= 0 && fault.offset <= inputBytes
    self.init(kind, message, at: isInside ? Int(fault.offset) : nil)
  }
}

private func put<Text>(_ text: String, into field: inout Text) {
  withUnsafeMutableBytes(of: &field) { bytes in
    // The last byte stays NUL.
    let utf8 = Array(text.utf8.prefix(bytes.count - 1))
    bytes.copyBytes(from: utf8)
  }
}

/// Returns a text of a field, without control characters and invisible ones: they could falsify the output of a terminal.
private func text<Text>(_ field: Text) -> String {
  withUnsafeBytes(of: field) { bytes in
    let scalars = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self).unicodeScalars
    let unseen: [ClosedRange<UInt32>] = [
      0...0x1F, 0x7F...0x9F, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
    ]
    return String(
      String.UnicodeScalarView(scalars.filter { scalar in !unseen.contains { $0.contains(scalar.value) } }))
  }
}
