import NuthatchImaging
import Testing

@testable import NuthatchCore

@Suite("Messages of errors")
struct ErrorTextTests {
  @Test("an error of a picture shows no password of its URL")
  func pictures() {
    let url = "http://ann:sesame@example.org/a.png"
    for answer in [ImageProbe.Answer.notAnImage, .needMore] {
      let message = NuthatchError(Picture.fault(answer), url: url).message
      #expect(!message.contains("sesame") && message.contains("ann:***@example.org"))
    }
    let fault = NuthatchError(ImageFault(.corrupt, "broken", at: 3), url: url)
    #expect(!fault.message.contains("sesame") && fault.message.contains("ann:***@example.org"))
  }
}
