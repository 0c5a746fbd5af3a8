import CSystem
import Glibc

/// Why a transfer brought no complete answer.
package struct TransportFault: Error, Equatable, Sendable {
  package enum Kind: Sendable {
    case timeout, dns, refused, reset, tls
    /// The server violated the protocol.
    case http
    /// The connection ended before the announced end of the body.
    case truncated
    /// More bytes than `maxBytes` or `boundsExpansion` allows.
    case tooLarge
    /// The guard refused the server's address.
    case denied
    /// The sink ended the transfer.
    case stopped
    case badURL, outOfMemory, `internal`
    /// A value from the environment can't be used.
    case invalid
    /// A file can't be read or has changed, or the process can't open more files.
    case io
    /// A file with secrets of the user isn't safe (`NamedFile`).
    case unsafeFile
  }

  package var kind: Kind
  /// A description, without the URL.
  package var message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }
}

extension TransportFault {
  /// Whether this machine lacks descriptors or memory; then the server has refused nothing.
  static func isShortage(_ errno: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) }

  init(shortage errno: Int32, _ what: String) {
    let kind: Kind =
      switch errno {
      case EMFILE, ENFILE: .io
      case ENOMEM, ENOBUFS, EAGAIN: .outOfMemory
      default: .internal
      }
    self.init(kind, "\(what): \(String(cString: strerror(errno)))")
  }

  /// - Parameter errno: the error of starting the thread.
  package init(noThread errno: Int32) {
    self.init(
      .outOfMemory,
      "no thread could be started: \(String(cString: strerror(errno))); the process, its user or its control group has "
        + "reached its limit (RLIMIT_NPROC, pids.max), or there is no memory for another thread")
  }

  /// Converts libcurl's result. `detail`: the text of its error buffer. `errno`: the error number of the failed connection.
  init(code: CURLcode, detail: String, errno: Int) {
    let text = String(cString: curl_easy_strerror(code))
    // It may contain a proxy's URL with its password.
    let message = detail.isEmpty ? text : WebURL.redacted(detail)
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      // libcurl uses this code also for a malformed proxy in the environment and for a thread that couldn't be started.
      let kind: Kind =
        detail.contains("proxy syntax") ? .invalid : detail.contains("thread failed") ? .outOfMemory : .dns
      self.init(kind, message)
    case CURLE_COULDNT_CONNECT:
      let kind: Kind = detail.contains("proxy scheme") ? .invalid : .refused
      self.init(errno == Int(ETIMEDOUT) ? .timeout : kind, message)
    case CURLE_OPERATION_TIMEDOUT:
      self.init(.timeout, message)
    case CURLE_PARTIAL_FILE:
      self.init(.truncated, message)
    case CURLE_GOT_NOTHING, CURLE_SEND_ERROR:
      self.init(.reset, message)
    case CURLE_RECV_ERROR:
      // libcurl uses this code for a broken connection and for wrong framing of the body; only the texts differ.
      self.init(detail.contains("chunk") || detail.contains("exadecimal") ? .http : .reset, message)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT:
      self.init(.tls, message)
    case CURLE_URL_MALFORMAT:
      self.init(.badURL, message)
    case CURLE_OUT_OF_MEMORY:
      self.init(.outOfMemory, message)
    case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_BAD_CONTENT_ENCODING,
      CURLE_PROXY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_FUNCTION_ARGUMENT:
      // The URL's scheme was checked before, so these codes are about the answer. CURLE_UNSUPPORTED_PROTOCOL: it is HTTP/0.9.
      // CURLE_BAD_FUNCTION_ARGUMENT: a header line has no colon.
      self.init(.http, message)
    default:
      self.init(.internal, "\(message) (libcurl's error \(code.rawValue))")
    }
  }
}
