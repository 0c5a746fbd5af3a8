/// What the environment says to every transfer, read once.
struct TransportSurroundings: Sendable {
  var proxies: ProxyRules
  /// Certificates to trust, where no option names any, in place of the system's file: `CURL_CA_BUNDLE`, else `SSL_CERT_FILE`.
  var certificateFile: String?
  /// The same in place of the system's folder: `SSL_CERT_DIR`.
  var certificateFolder: String?

  init(environment: (String) -> String?) {
    proxies = ProxyRules(environment: environment)
    certificateFile = environment("CURL_CA_BUNDLE") ?? environment("SSL_CERT_FILE")
    certificateFolder = environment("SSL_CERT_DIR")
  }

  /// Those of this process.
  static func current() -> TransportSurroundings { TransportSurroundings(environment: Environment.variable) }
}
