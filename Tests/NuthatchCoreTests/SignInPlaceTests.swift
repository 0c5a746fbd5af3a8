import Testing

@testable import NuthatchCore

@Suite("Places of a password")
struct SignInPlaceTests {
  @Test(
    "a sign-in place is a host over http and https, or one origin",
    arguments: [
      ("a.example", "http://a.example/x", true), ("a.example", "https://A.example:443/x", true),
      ("a.example", "http://a.example:8080/x", false), ("a.example:8080", "http://a.example:8080/", true),
      ("a.example:8080", "https://a.example/", false), ("https://a.example", "https://a.example/x", true),
      ("https://a.example", "http://a.example/x", false), ("https://a.example/", "https://a.example/", true),
      ("a.example", "http://a.example.evil/", false), ("a.example", "http://a.example@evil/", false),
      ("a.example", "http://evil/a.example", false), ("[::1]:80", "http://[::1]/", true),
      ("a.example", "nonsense", false), ("a.example", "data:,a.example", false),
    ])
  func places(text: String, url: String, isThere: Bool) throws {
    let place = try #require(SignInPlace(text))
    #expect(place.has(url) == isThere)
  }

  @Test(
    "a text that is neither a host nor an origin is no sign-in place",
    arguments: [
      "", " ", "a b", "a/", "a/b", "https://a/b", "https://a?b", "a?b", "a#b", "u@a", "https://u:p@a", "a:x",
      "ftp://a", "://", "https://", "\na", "a:99999",
    ])
  func nonsense(text: String) { #expect(SignInPlace(text) == nil) }
}
