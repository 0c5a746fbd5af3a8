import CSystem

/// A reply of a decoder process that a picture has taken over must give a report within the picture's bounds, a fault with a clean
/// text, or nothing. A request with any values must not lead out of the shared memory.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzIsolation(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let (variant, bytes) = split(start, count)
  if variant & 1 == 0 { reply(bytes) } else { request(bytes) }
  return 0
}

private func fill<Message>(_ message: inout Message, _ bytes: UnsafeRawBufferPointer) {
  withUnsafeMutableBytes(of: &message) { target in
    target.copyBytes(from: bytes.prefix(target.count))
  }
}

private func reply(_ bytes: UnsafeRawBufferPointer) {
  var asked = nhs_decoder_request()
  asked.number = 1
  asked.input_bytes = 1000
  var reply = nhs_decoder_reply()
  fill(&reply, bytes)
  // Else nearly all inputs would end at once.
  reply.magic = UInt32(NHS_DECODER_MAGIC)
  reply.number = 1
  do throws(ImageFault) {
    guard let (report, _) = try reply.read(for: asked) else { return }
    demand((0...1000).contains(report.bytesUsed) && (0...1000).contains(report.scansUsed), "\(report)")
    demand([1, 2, 4, 8].contains(report.denominator) && report.warningCount >= 0, "\(report)")
    demand(report.isPartial == (report.fault != nil), "\(report)")
    if let fault = report.fault { judge(fault) }
  } catch {
    judge(error)
  }
}

private func judge(_ fault: ImageFault) {
  demand(
    !fault.message.isEmpty && fault.message.utf8.count < 4 * Int(NHS_DECODER_MESSAGE_BYTES), fault.message)
  demand(fault.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, fault.message)
  demand(fault.offset.map { (0...1000).contains($0) } ?? true, "\(fault)")
}

private func request(_ bytes: UnsafeRawBufferPointer) {
  var request = nhs_decoder_request()
  fill(&request, bytes)
  request.magic = UInt32(NHS_DECODER_MAGIC)
  let picture = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(128))
  let size = 1 << 16
  let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
  defer { memory.deallocate() }
  memory.copyBytes(from: picture.prefix(size))
  if request.flags & 0x100 != 0 {
    (request.memory_bytes, request.input_bytes) = (UInt64(size), UInt64(min(picture.count, size)))
    (request.output, request.output_bytes) = (request.input_bytes, UInt64(size) - request.input_bytes)
  }
  request.pixels = min(request.pixels, 1 << 16)
  request.memory = min(request.memory, 1 << 26)
  let reply = IsolatedService.answer(request, memory)
  demand(reply.number == request.number && reply.magic == request.magic, "the reply is another request's")
}
