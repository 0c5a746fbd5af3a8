import CSystem
import NuthatchBase

/// The environment of all transfers, read once.
struct TransportEnvironment: Sendable {
  var proxies: ProxyRules
  /// A file of trusted certificates that replaces the system's, unless the request has its own: `CURL_CA_BUNDLE`, else
  /// `SSL_CERT_FILE`.
  var certificateFile: String?
  /// A folder of trusted certificates that replaces the system's: `SSL_CERT_DIR`.
  var certificateFolder: String?
  /// The system's certificates, if libcurl doesn't know where they are: the wheel's libcurl. Else nil.
  var system: SystemCertificates?

  init(environment: (String) -> String?, system: SystemCertificates? = nil) {
    self.system = system
    proxies = ProxyRules(environment: environment)
    certificateFile = environment("CURL_CA_BUNDLE") ?? environment("SSL_CERT_FILE")
    certificateFolder = environment("SSL_CERT_DIR")
  }

  /// Reads the environment of this process.
  static func current() -> TransportEnvironment {
    TransportEnvironment(
      environment: Environment.variable,
      system: nhs_curl_knows_certificates() == 0 ? SystemCertificates.found() : nil)
  }
}
