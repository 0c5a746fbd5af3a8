import NuthatchBase

/// The environment of all transfers, read once.
struct TransportEnvironment: Sendable {
  var proxies: ProxyRules
  /// A file of trusted certificates that replaces the system's, unless the request has its own: `CURL_CA_BUNDLE`, else
  /// `SSL_CERT_FILE`.
  var certificateFile: String?
  /// A folder of trusted certificates that replaces the system's: `SSL_CERT_DIR`.
  var certificateFolder: String?

  init(environment: (String) -> String?) {
    proxies = ProxyRules(environment: environment)
    certificateFile = environment("CURL_CA_BUNDLE") ?? environment("SSL_CERT_FILE")
    certificateFolder = environment("SSL_CERT_DIR")
  }

  /// Reads the environment of this process.
  static func current() -> TransportEnvironment { TransportEnvironment(environment: Environment.variable) }
}
