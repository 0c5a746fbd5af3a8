/// A long option of curl or wget that a user may try. In this command it has another meaning or another name, or is missing.
///
/// curl and wget accept shortened names, as this command does. A short name that two of the programs would read differently
/// is refused, so that it can't do the wrong thing.
struct ForeignOption {
  let program: String
  let name: String
  /// The shortest form that curl or wget accepts.
  let shortest: String
  /// What the option does there: a verb with its object.
  let meaning: String
  /// The option that does the same here.
  var here: String?
  /// The option here that had this name in version 0.1.
  var ours: String?

  private init(
    _ program: String, _ name: String, from shortest: String? = nil, _ meaning: String, here: String? = nil,
    ours: String? = nil
  ) {
    self.program = program
    self.name = name
    self.shortest = shortest ?? name
    self.meaning = meaning
    self.here = here
    self.ours = ours
  }

  /// Returns the option that curl or wget would read `text` as, or nil.
  static func named(_ text: String) -> ForeignOption? {
    all.first { $0.name == text } ?? all.first { $0.name.hasPrefix(text) && text.hasPrefix($0.shortest) }
  }

  /// Returns the message for a `text` that could also mean our `option`.
  func refusal(of text: String, for option: String) -> String {
    let alike = here.map { ", which is \($0) here" } ?? ""
    return
      "--\(text) has two meanings. \(program)'s --\(name) \(meaning)\(alike). For --\(ours ?? option), write the "
      + "whole name."
  }

  /// Returns the message for a `text` that is no name here.
  func absence(of text: String) -> String {
    if let ours { return refusal(of: text, for: ours) }
    let alike = here.map { "is \($0) here" } ?? meaning
    return "there is no option --\(text); \(program)'s \(alike)."
  }

  /// Options whose short forms could be mistaken for ours, and options that users often try.
  private static let all = [
    ForeignOption("curl", "basic", from: "b", "signs in by Basic", here: "--sign-in basic"),
    ForeignOption(
      "curl", "connect-timeout", "limits the time to connect", here: "--timeout, for any silence,"),
    ForeignOption("curl", "cookie", "sends cookies", here: "--header 'Cookie: NAME=VALUE'"),
    ForeignOption("curl", "data-ascii", "sends a body", here: "--data"),
    ForeignOption("curl", "data-binary", "sends a body", here: "--data"),
    ForeignOption("curl", "data-raw", "sends a body, also one that begins with @"),
    ForeignOption("curl", "data-urlencode", "sends a body that it encodes first"),
    ForeignOption("curl", "delegation", from: "del", "passes Kerberos credentials on"),
    ForeignOption("curl", "dump-header", from: "du", "writes the answer's headers to a file"),
    ForeignOption("curl", "engine", from: "en", "chooses an engine of OpenSSL"),
    ForeignOption(
      "curl", "fail", "makes a status of 400 or more a failure", here: "always done"),
    ForeignOption("curl", "form", "sends a form", here: "--form of get"),
    ForeignOption("curl", "head", "asks for the headers only", here: "--method HEAD of get"),
    ForeignOption("curl", "ignore-content-length", from: "ig", "ignores the Content-Length"),
    ForeignOption("curl", "keepalive-time", from: "kee", "sets when TCP checks if a connection is alive"),
    ForeignOption(
      "curl", "key", "names the file of the key of a client certificate", here: "--cert-key of get",
      ours: "cache-key"),
    ForeignOption("curl", "key-type", from: "key-", "says how the key of a client certificate is written"),
    ForeignOption("curl", "location", "follows redirects", here: "always done, but for --redirects none,"),
    ForeignOption("curl", "max-filesize", "limits the body", here: "--max-bytes"),
    ForeignOption("curl", "max-redirs", "limits how many redirects are followed", here: "--redirects"),
    ForeignOption("curl", "max-time", "limits the time of all", here: "--deadline"),
    ForeignOption("curl", "metalink", from: "met", "reads the URL as a metalink"),
    ForeignOption("curl", "no-clobber", from: "no-c", "leaves files that are there"),
    ForeignOption("curl", "oauth2-bearer", "signs in with a token", here: "--bearer"),
    ForeignOption("curl", "pass", from: "pas", "has the password of a client certificate's key"),
    ForeignOption("curl", "quote", from: "q", "sends a command to an FTP server"),
    ForeignOption("curl", "referer", "sends the header Referer", here: "--header 'Referer: URL'"),
    ForeignOption("curl", "request", "sets the method", here: "--method"),
    ForeignOption("curl", "resolve", from: "res", "gives a host an address"),
    ForeignOption("curl", "retry", "sets the number of further attempts", here: "--retries"),
    ForeignOption("curl", "service-name", from: "se", "names a service of SPNEGO"),
    ForeignOption("curl", "silent", from: "si", "says nothing", here: "--quiet"),
    ForeignOption("curl", "time-cond", from: "ti", "asks for what is newer than a time"),
    ForeignOption("curl", "url", "is a URL", here: "an argument without an option"),
    ForeignOption("curl", "url-query", from: "url-", "adds to the query of the URL"),
    ForeignOption("wget", "ca-certificate", "names certificates to trust", here: "--cacert"),
    ForeignOption("wget", "delete-after", from: "del", "removes the file when it has come"),
    ForeignOption("wget", "directory-prefix", from: "di", "says where files go", here: "--output of get"),
    ForeignOption("wget", "input-file", "names a list of URLs", here: "an argument without an option"),
    ForeignOption("wget", "keep-session-cookies", from: "k", "keeps cookies of the session"),
    ForeignOption("wget", "mirror", from: "mi", "fetches a whole site"),
    ForeignOption(
      "wget", "no-cache", from: "no-ca", "asks that no cache on the way answers",
      here: "--policy reload"),
    ForeignOption("wget", "no-check-certificate", "checks no certificates", here: "--insecure"),
    ForeignOption("wget", "no-remove-listing", from: "no-r", "leaves the listing of an FTP folder"),
    ForeignOption("wget", "output-document", "names the file that is written", here: "--output"),
    ForeignOption("wget", "post-data", "sends a body", here: "--data"),
    ForeignOption("wget", "random-wait", from: "ra", "varies the time between requests"),
    ForeignOption("wget", "restrict-file-names", from: "res", "says which names files may have"),
    ForeignOption("wget", "secure-protocol", from: "sec", "chooses the version of TLS"),
    ForeignOption("wget", "spider", from: "spi", "checks whether the URL is there, and fetches nothing"),
    ForeignOption(
      "wget", "tries", "sets the number of attempts", here: "--retries, which doesn't count the first,"),
  ]
}
