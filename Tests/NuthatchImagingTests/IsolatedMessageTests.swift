import CSystem
import Testing

@testable import NuthatchImaging

@Suite("Messages of the decoder process") struct IsolatedMessageTests {
  private static var request: nhs_decoder_request {
    var request = nhs_decoder_request()
    request.magic = UInt32(NHS_DECODER_MAGIC)
    request.number = 7
    request.input_bytes = 100
    return request
  }

  private static var reply: nhs_decoder_reply {
    var report = DecodeReport()
    report.bytesUsed = 100
    var reply = nhs_decoder_reply(report, [])
    reply.address(to: request)
    return reply
  }

  private func read(_ reply: nhs_decoder_reply) -> Result<DecodeReport?, ImageFault> {
    do throws(ImageFault) {
      return .success(try reply.read(for: Self.request)?.0)
    } catch {
      return .failure(error)
    }
  }

  @Test("a report comes back as it was sent")
  func report() throws {
    var report = DecodeReport()
    (report.bytesUsed, report.scansUsed, report.denominator, report.warningCount) = (99, 3, 4, 5)
    (report.stoppedEarly, report.isPartial) = (true, true)
    report.fault = ImageFault(.truncated, "it ends", at: 98)
    var reply = nhs_decoder_reply(report, [])
    reply.address(to: Self.request)
    #expect(try read(reply).get() == report)
  }

  @Test(
    "each fault comes back as it was sent",
    arguments: [
      ImageFault(.notAnImage, "no", at: 0), ImageFault(.unsupportedFormat("jpeg-12bit"), "no", at: 100),
      ImageFault(.corrupt, "a\u{2019}b"), ImageFault(.truncated, "no", at: 3), ImageFault(.tooLarge, "no"),
      ImageFault(.tooManyPixels, "no"), ImageFault(.outOfMemory, "no"), ImageFault(.invalid, "no"),
      ImageFault(.internal, "no"),
    ])
  func fault(_ fault: ImageFault) {
    var reply = nhs_decoder_reply(fault)
    reply.address(to: Self.request)
    #expect(read(reply) == .failure(fault))
  }

  @Test("what no honest decoder process sends is no reply")
  func forged() throws {
    #expect(try read(Self.reply).get() != nil)
    let changes: [(inout nhs_decoder_reply) -> Void] = [
      { $0.magic = 0 }, { $0.number = 6 }, { $0.bytes_used = 101 }, { $0.bytes_used = -1 },
      { $0.scans_used = -1 }, { $0.scans_used = .max }, { $0.warning_count = -1 }, { $0.denominator = 0 },
      { $0.denominator = 3 }, { $0.denominator = .min }, { $0.fault.kind = -1 }, { $0.fault.kind = 99 },
      { $0.fault.kind = 1 }, { $0.flags = UInt32(NHS_DECODER_IS_PARTIAL) },
    ]
    for (place, change) in changes.enumerated() {
      var reply = Self.reply
      change(&reply)
      #expect(try read(reply).get() == nil, "\(place)")
    }
  }

  @Test("texts without an end, of control characters or of broken UTF-8 are cut and cleaned")
  func texts() {
    for byte: UInt8 in [0x41, 0x07, 0x1B, 0xFF, 0x9B] {
      var reply = Self.reply
      reply.fault.kind = 3
      withUnsafeMutableBytes(of: &reply.fault.message) { bytes in
        for place in bytes.indices { bytes[place] = place == 0 ? 0x42 : byte }
      }
      guard case .failure(let fault) = read(reply) else {
        Issue.record("it isn't a fault")
        continue
      }
      #expect(fault.message.first == "B")
      let isClean = fault.message.unicodeScalars.allSatisfy {
        $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
      }
      #expect(isClean)
    }
  }
}
