import CSystem
import Glibc
import NuthatchImaging
import NuthatchTransport

/// The program nuthatch-decoder: decodes what another process asks for, in a sandbox.
package enum DecoderService {
  /// - Parameter arguments: two decimal numbers, as `nhs_decoder_start` passes them. Libraries can't be loaded later.
  package static func run(_ arguments: [String]) -> Int32 {
    nhs_decoder_guard()
    var lanes: [Int32] = []
    while case let lane = nhs_decoder_lane(Int32(lanes.count)), lane >= 0 { lanes.append(lane) }
    guard let first = lanes.first, arguments.count == 2, let wanted = Int32(arguments[0]),
      let memory = UInt64(arguments[1])
    else { return 64 }
    if wanted & Int32(NHS_DECODER_SVG) != 0 { _ = nhs_svg_load() }
    if wanted & Int32(NHS_DECODER_HEIC) != 0 { _ = nhs_heic_load() }
    guard nhs_decoder_enter_sandbox(Int32(lanes.count), memory) == 0 else { return 69 }
    var hello = nhs_decoder_hello(magic: UInt32(NHS_DECODER_MAGIC), libraries: UInt32(wanted))
    guard nhs_decoder_send(first, &hello, MemoryLayout<nhs_decoder_hello>.size, -1) == 0 else { return 0 }
    // Swift's runtime still has the id that this thread had before the fork. Two threads would wait for each other for ever.
    guard DetachedThread.start("lanes", { [lanes] in serve(lanes) }) == 0 else { return 71 }
    while true { poll(nil, 0, -1) }
  }

  private static func serve(_ lanes: [Int32]) {
    for lane in lanes.dropFirst() {
      guard DetachedThread.start("lane", { serve(lane) }) == 0 else { _exit(71) }
    }
    serve(lanes[0])
  }

  /// Answers requests until the process that sends them has ended.
  private static func serve(_ lane: Int32) {
    var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    var request = nhs_decoder_request()
    while true {
      var descriptor: Int32 = -1
      let failure = nhs_decoder_receive(
        lane, &request, MemoryLayout<nhs_decoder_request>.size, &descriptor, .max)
      guard failure == 0 else { _exit(0) }
      if descriptor >= 0 {
        if let base = memory.baseAddress { nhs_decoder_unmap(base, memory.count) }
        let size = Int(clamping: request.memory_bytes)
        memory = UnsafeMutableRawBufferPointer(start: nhs_decoder_map(descriptor, size), count: size)
        close(descriptor)
      }
      var reply =
        memory.baseAddress == nil
        ? IsolatedService.noMemory(for: request) : IsolatedService.answer(request, memory)
      guard nhs_decoder_send(lane, &reply, MemoryLayout<nhs_decoder_reply>.size, -1) == 0 else { _exit(0) }
    }
  }
}
