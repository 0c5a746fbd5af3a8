import Testing

@testable import NuthatchHTTP

@Suite("Challenges") struct ChallengeTests {
  @Test(
    "are told from their parameters, and from what stands in quotes",
    arguments: [
      (["Basic realm=\"x\""], [Challenge("basic", ["realm": "x"])]),
      (["NTLM", "Negotiate abc=="], [Challenge("ntlm"), Challenge("negotiate", ["abc": "="])]),
      (
        ["Basic realm=\"a, Digest b\" , charset=UTF-8,Digest  nonce = \"n\",qop=auth, NTLM"],
        [
          Challenge("basic", ["realm": "a, Digest b", "charset": "UTF-8"]),
          Challenge("digest", ["nonce": "n", "qop": "auth"]), Challenge("ntlm"),
        ]
      ),
      (
        ["Digest realm=\"say \\\"x\\\", qop=\\\"auth-int\\\" \\\\\", qop=\"auth\""],
        [Challenge("digest", ["realm": "say \"x\", qop=\"auth-int\" \\", "qop": "auth"])]
      ),
      // What is no challenge, and what ends too early.
      ([", ,", "=x", ""], []),
      (["Digest realm=\"x"], [Challenge("digest", ["realm": "x"])]),
      (["Digest realm=\"x\\"], [Challenge("digest", ["realm": "x"])]),
      (["Digest realm="], [Challenge("digest", ["realm": ""])]),
    ])
  func reading(values: [String], expected: [Challenge]) {
    var head = ResponseHead(status: 401)
    for value in values { head.fields.append("www-authenticate", value) }
    #expect(head.challenges == expected)
  }

  @Test(
    "of Digest cover the body where they don't go without",
    arguments: [
      ("auth-int", true), ("Auth-Int", true), ("auth-int, other", true), ("auth,auth-int", false),
      ("auth-int , AUTH", false), ("auth", false), ("", false),
    ])
  func bodies(ways: String, isCovered: Bool) {
    #expect(Challenge("digest", ["qop": ways]).coversBody == isCovered)
    #expect(!Challenge("basic", ["qop": ways]).coversBody)
    #expect(!Challenge("digest").coversBody)
  }
}
