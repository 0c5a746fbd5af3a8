import CSystem

/// Decodes pictures in another process, which has no rights. The room above starts it.
package protocol IsolatedDecoder: Sendable {
  /// Makes the pictures of a job in stored orientation. Waits for the other process.
  func decode(_ bytes: UnsafeRawBufferPointer, _ work: IsolatedWork) throws(ImageFault) -> IsolatedResult
}

/// What the other process is asked for.
package struct IsolatedWork: Sendable {
  package var request: nhs_decoder_request
  /// The sizes of the pictures, in the request's order.
  package let targets: [ImageSize]
  /// The libraries that the decoder needs and that its process only loads when it is told to (`NHS_DECODER_SVG` and others).
  package let libraries: Int32

  /// The bytes of all pictures together.
  package var outputBytes: Int { targets.reduce(0) { $0 + $1.area * 4 } }
}

package struct IsolatedResult {
  package var pictures: [PixelBuffer]
  package var report: DecodeReport

  package init(pictures: [PixelBuffer], report: DecodeReport) {
    (self.pictures, self.report) = (pictures, report)
  }
}

extension Job {
  /// Whether another process must decode this picture: its decoder is a library that isn't loaded here, or the caller wants
  /// it so.
  private func isDecodedElsewhere(_ format: any PictureFormat) -> Bool {
    options.limits.isIsolated || format.libraries != 0
  }

  /// Returns a decoder of the format. This is the only place that decides in which process it works.
  func decoder() throws(ImageFault) -> any PictureDecoder {
    guard let format = PictureFormats.of(info.format) else {
      throw ImageFault(.internal, "there is no decoder for \(info.format.rawValue)")
    }
    guard isDecodedElsewhere(format), !options.isDecoderProcess else { return try format.decoder(self) }
    guard let process = options.isolatedDecoder else {
      throw ImageFault(
        .decoderFailed(refusedFor: nil),
        "\(format.kind(info)) is decoded in a process of its own, and there is none")
    }
    let work = IsolatedWork(self, format)
    return CollectingDecoder { (bytes) throws(ImageFault) in
      let result = try process.decode(bytes, work)
      return CollectingDecoder.Decoded(pictures: result.pictures, report: result.report)
    }
  }
}
