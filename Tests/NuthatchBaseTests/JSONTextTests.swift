import NuthatchBase
import Testing

@Suite("JSON that is written") struct JSONTextTests {
  @Test("JSON text has names, commas and nested values")
  func values() {
    var json = JSONText()
    json.object { json in
      json.put("text", "a")
      json.put("none", String?.none)
      json.put("no number", Int?.none)
      json.put("number", UInt64.max)
      json.put("below", Int64.min)
      json.put("yes", true)
      json.list("list", [1, 2]) { $0.put(nil, $1) }
      json.object("empty") { _ in }
    }
    json.endLine()
    json.list(nil, ["b"]) { json, text in json.put(nil, text) }
    let first = """
      {"text":"a","none":null,"no number":null,"number":18446744073709551615,"below":-9223372036854775808,\
      "yes":true,"list":[1,2],"empty":{}}
      """
    #expect(json.text == first + "\n[\"b\"]")
    json.removeAll()
    #expect(json.bytes.isEmpty)
  }

  @Test("JSON text escapes control characters, quotes, backslashes and <")
  func strings() {
    var json = JSONText()
    json.put(nil, "ü \"\\\n\u{1f}\u{7f}</script>")
    #expect(json.text == #""ü \"\\\u000a\u001f\u007f\u003c/script>""#)
  }

  @Test(
    "JSON text gives whole numbers of every width and sign",
    arguments: [(0, "0"), (7, "7"), (-7, "-7"), (1230, "1230"), (.max, "9223372036854775807")]
      + [(.min, "-9223372036854775808")] as [(Int64, String)])
  func whole(_ number: Int64, _ text: String) {
    var json = JSONText()
    json.put(nil, number)
    #expect(json.text == text)
  }

  @Test("JSON text gives numbers beyond 64 bits with a sign")
  func large() {
    var json = JSONText()
    json.put(nil, UInt64.max)
    json.put(nil, nil as Int?)
    #expect(json.text == "18446744073709551615,null")
  }

  @Test(
    "JSON text gives thousandths at most three digits after the point",
    arguments: [
      (0, "0"), (-5, "0"), (1, "0.001"), (20, "0.02"), (300, "0.3"), (1000, "1"), (12_000, "12"),
      (12_034, "12.034"), (999_999_999_999, "999999999.999"), (1_000_000_000_000_010, "1000000000000.01"),
    ] as [(Int64, String)])
  func thousandths(_ count: Int64, _ text: String) {
    var json = JSONText()
    json.put(thousandths: count)
    #expect(json.text == text)
  }
}
