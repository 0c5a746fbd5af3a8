import NuthatchCore
import Testing

@Suite("Error codes") struct ErrorCodeTests {
  @Test("error codes have exactly the stable words")
  func words() {
    let stable = """
      timeout dns refused reset tls http too_large too_many_pixels not_an_image unsupported_format corrupt truncated \
      denied bad_url bad_header too_many_redirects offline circuit_open cancelled closed forked frozen \
      secret_needs_provider invalid conflict no_space io out_of_memory internal wrong_format busy unsafe_file \
      decoder_failed
      """
    #expect(ErrorCode.allCases.map(\.word) == stable.split(separator: " ").map(String.init))
  }

  @Test("error codes are numbered from 1, in their order")
  func numbers() {
    #expect(ErrorCode.allCases.map(\.rawValue) == Array(1...Int32(ErrorCode.allCases.count)))
  }
}
