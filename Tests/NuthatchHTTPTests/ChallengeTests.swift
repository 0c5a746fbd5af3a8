import Testing

@testable import NuthatchHTTP

@Suite("Challenges") struct ChallengeTests {
  @Test(
    "challenges are told from their parameters and from text in quotes",
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
      // Values without a challenge, and challenges that end too early.
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
    "a Digest challenge covers the body only if it offers no other qop than auth-int",
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
