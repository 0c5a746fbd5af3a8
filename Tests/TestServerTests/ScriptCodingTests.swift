import Testing

@testable import TestServer

@Suite("Scripts of the test server in JSON")
struct ScriptCodingTests {
  @Test("A script with steps of every kind is the same after encoding and decoding")
  func roundTrip() throws {
    let script = Script(
      status: 299, reason: "Odd", version: "HTTP/1.0", headers: ["A": "1", "A": "2"],
      steps: [
        .head, .headPart(3), .dripHead(piece: 2, milliseconds: 5), .text("text"), .bytes([0, 255, 128, 1]),
        .fill(count: 9, byte: 7), .drip([1, 200], piece: 1, milliseconds: 2), .chunk(text: "c"),
        .lastChunk(["T": "1"]), .badChunk(text: "zz"), .raw([13, 10]), .interim(103, ["L": "x"]), .wait("g"),
        .pause(milliseconds: 4), .reset, .close,
      ],
      sendsHead: false, framing: .keepOpen, answersConditions: true, answersRanges: true, readsBody: false,
      answersExpect: false)
    let text = String(decoding: try JSON.encoded(script), as: UTF8.self)
    #expect(try Script(json: text) == script)
  }

  @Test("JSON may leave out a script's defaults and use short forms of body, headers and steps")
  func shortForms() throws {
    #expect(try Script(json: "{}") == Script())
    #expect(try Script(json: #"{"body": "x"}"#) == Script(steps: [.text("x")]))
    #expect(
      try Script(
        json: #"{"headers": {"B": "2", "A": "1"}, "steps": ["head", "lastChunk", "reset", "close"]}"#)
        == Script(headers: ["A": "1", "B": "2"], steps: [.head, .lastChunk, .reset, .close]))
  }

  @Test(
    "JSON with an unknown step, or a value of another form, is refused",
    arguments: [
      #"{"steps": ["nonsense"]}"#, #"{"steps": [{}]}"#, #"{"steps": [{"head": true, "reset": true}]}"#,
      #"{"headers": [["one"]]}"#, #"{"body": {"base64": "!!!"}}"#, "[]", "",
    ])
  func refusesWhatItDoesNotKnow(text: String) {
    #expect(throws: (any Error).self) { try Script(json: text) }
  }

  @Test("Base64 gives the known encodings, and decodes to the bytes that were encoded")
  func base64() {
    let known = ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foobar": "Zm9vYmFy"]
    for (plain, coded) in known {
      #expect(encodedBase64(Array(plain.utf8)) == coded)
      #expect(decodedBase64(coded) == Array(plain.utf8))
    }
    let all = (0...255).map { UInt8($0) }
    #expect(decodedBase64(encodedBase64(all)) == all)
  }
}
