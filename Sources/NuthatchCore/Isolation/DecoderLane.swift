import CSystem
import Glibc
import NuthatchImaging

/// One of the sockets to the decoder, with memory that both processes share. One picture at a time.
///
/// Its user has it alone, hence Sendable.
final class DecoderLane: @unchecked Sendable {
  enum Outcome {
    case made(IsolatedResult)
    /// The decoder has found a fault of the picture.
    case fault(ImageFault)
    /// The decoder has ended before it got the picture.
    case gone
    /// The decoder has ended.
    case ended
    case tooSlow
    /// The decoder has sent a message that our code never sends.
    case forged
  }

  /// More than this isn't kept for the next picture.
  private static let mostKept = 16 << 20
  private static let granule = 1 << 20

  private let socket: Int32
  private var memory: UnsafeMutableRawBufferPointer?
  private var number: UInt64 = 0

  init(_ socket: Int32) { self.socket = socket }

  deinit { forgetMemory() }

  private func forgetMemory() {
    if let memory { nhs_decoder_unmap(memory.baseAddress, memory.count) }
    memory = nil
  }

  /// - Parameter deadline: monotonic nanoseconds.
  func run(
    _ bytes: UnsafeRawBufferPointer, _ work: IsolatedWork, deadline: Int64
  ) throws(ImageFault) -> Outcome {
    defer { if let memory, memory.count > Self.mostKept { forgetMemory() } }
    var request = work.request
    let output = Self.rounded(bytes.count, to: 4096)
    let needed = output + work.outputBytes
    var descriptor: Int32 = -1
    defer { if descriptor >= 0 { close(descriptor) } }
    if memory.map({ $0.count < needed }) ?? true {
      forgetMemory()
      let size = Self.rounded(needed, to: Self.granule)
      descriptor = nhs_decoder_memory(size)
      guard descriptor >= 0, let base = nhs_decoder_map(descriptor, size) else {
        throw ImageFault(.outOfMemory, "there is no memory of \(size) bytes to share with the decoder")
      }
      memory = UnsafeMutableRawBufferPointer(start: base, count: size)
      request.flags |= UInt32(NHS_DECODER_NEW_MEMORY)
    }
    guard let memory else { throw ImageFault(.internal, "the decoder's memory is missing") }
    memory.copyMemory(from: bytes)
    number += 1
    request.number = number
    request.memory_bytes = UInt64(memory.count)
    request.input_bytes = UInt64(bytes.count)
    request.output = UInt64(output)
    request.output_bytes = UInt64(work.outputBytes)
    let sent = nhs_decoder_send(socket, &request, MemoryLayout<nhs_decoder_request>.size, descriptor)
    guard sent == 0 else { return .gone }
    var reply = nhs_decoder_reply()
    // Other threads may fork meanwhile.
    nhs_release_forks()
    let received = nhs_decoder_receive(
      socket, &reply, MemoryLayout<nhs_decoder_reply>.size, nil, deadline)
    nhs_hold_forks()
    switch received {
    case 0: break
    case ETIMEDOUT: return .tooSlow
    case EBADMSG: return .forged
    default: return .ended
    }
    let read: (report: DecodeReport, opaque: UInt64)?
    do throws(ImageFault) { read = try reply.read(for: request) } catch { return .fault(error) }
    guard let read else { return .forged }
    return .made(try result(work.targets, memory, at: output, read.report, read.opaque))
  }

  /// Copies the pictures: the decoder can still write to the shared memory.
  private func result(
    _ targets: [ImageSize], _ memory: UnsafeMutableRawBufferPointer, at output: Int, _ report: DecodeReport,
    _ opaque: UInt64
  ) throws(ImageFault) -> IsolatedResult {
    var result = IsolatedResult(pictures: [], report: report)
    var place = output
    for (index, size) in targets.enumerated() {
      let end = place + size.area * 4
      result.pictures.append(
        try PixelBuffer(
          size: size, rgba: UnsafeRawBufferPointer(rebasing: memory[place..<end]),
          opaque: opaque >> UInt64(index) & 1 == 1))
      place = end
    }
    return result
  }

  private static func rounded(_ count: Int, to multiple: Int) -> Int {
    (count + multiple - 1) / multiple * multiple
  }
}
