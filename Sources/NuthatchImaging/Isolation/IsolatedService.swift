import CSystem

/// The side of the decoder process: decodes what a request describes.
package enum IsolatedService {
  /// Returns the reply. Writes the pictures to their place in the shared memory.
  package static func answer(
    _ request: nhs_decoder_request, _ memory: UnsafeMutableRawBufferPointer
  ) -> nhs_decoder_reply {
    var reply: nhs_decoder_reply
    do throws(ImageFault) {
      reply = try decode(request, memory)
    } catch {
      reply = nhs_decoder_reply(error)
    }
    reply.address(to: request)
    return reply
  }

  /// Returns the reply to a request whose memory can't be mapped.
  package static func noMemory(for request: nhs_decoder_request) -> nhs_decoder_reply {
    var reply = nhs_decoder_reply(ImageFault(.outOfMemory, "the decoder can't map the shared memory"))
    reply.address(to: request)
    return reply
  }

  private static func decode(
    _ request: nhs_decoder_request, _ memory: UnsafeMutableRawBufferPointer
  ) throws(ImageFault) -> nhs_decoder_reply {
    guard request.memory_bytes == memory.count, let plans = request.jobPlans else {
      throw ImageFault(.internal, "the decoder process can't read the request: it is of another version")
    }
    let options = request.options
    let bytes = UnsafeRawBufferPointer(rebasing: memory[..<Int(request.input_bytes)])
    let (info, profile) = try Thumbnailer.examine(bytes, nil, options)
    let job = Job(info: info, plans: plans, profile: profile, options: options)
    try job.judge()
    let decoder = try job.decoder()
    decoder.borrow(bytes)
    guard try decoder.advance() == .done else {
      throw ImageFault(.internal, "the decoder waits for more bytes")
    }
    let pictures = try decoder.finish()
    var place = Int(request.output)
    let end = place + Int(request.output_bytes)
    guard pictures.map(\.size) == plans.map(\.target) else {
      throw ImageFault(.internal, "the decoder process's pictures have other sizes than the request's")
    }
    for picture in pictures {
      guard picture.byteCount <= end - place else {
        throw ImageFault(.internal, "the decoder process's pictures need more memory than the request gives")
      }
      let target = UnsafeMutableRawBufferPointer(rebasing: memory[place..<end])
      picture.withUnsafeBytes { target.copyMemory(from: $0) }
      place += picture.byteCount
    }
    return nhs_decoder_reply(decoder.report, pictures)
  }
}
