import NuthatchBase
import Testing

@Suite("Digits") struct DigitsTests {
  @Test("a number is padded with zeros to its width, and never cut")
  func width() {
    #expect(7.digits(3) == "007" && 0.digits(1) == "0" && 1234.digits(3) == "1234")
    #expect(
      UInt64(0xAB).digits(4, radix: 16) == "00ab" && UInt64.max.digits(16, radix: 16) == "ffffffffffffffff")
  }
}
