/// The kind of an error, with stable numbers for C and stable words for all other interfaces.
///
/// This is the only table. `make header` makes the status enum of `nuthatch.h` and the words of the Python package from it. A code never
/// changes its number or its word; new codes are added at the end.
public enum ErrorCode: Int32, CaseIterable, Sendable {
  /// No byte came for `timeout`, or the request's `deadline` passed.
  case timeout = 1
  /// The host name has no address, or its name server doesn't answer.
  case dns = 2
  /// No connection could be made: no server listens there, or the network has no route to it.
  case refused = 3
  /// The connection broke before the answer was complete.
  case reset = 4
  /// The TLS handshake or the check of the certificate failed.
  case tls = 5
  /// The answer isn't a success, or the server broke the HTTP protocol.
  case http = 6
  /// The answer or the picture has more bytes than `max_bytes`, or a compressed answer that is saved decodes to far too many bytes.
  case tooLarge = 7
  /// The picture has more pixels than `max_pixels`, or decoding it needs more memory than there is: the message has the numbers.
  case tooManyPixels = 8
  /// The bytes are not a picture. The first bytes decide, also for an answer that is incomplete.
  case notAnImage = 9
  /// A picture of a format that can't be decoded.
  case unsupportedFormat = 10
  /// The picture is damaged.
  case corrupt = 11
  /// The answer or the picture ends too early.
  case truncated = 12
  /// The address guard refused the address; a `file:` URL isn't allowed; other users own or may write to a cache's directory.
  case denied = 13
  /// The URL can't be used; the message says at which byte.
  case badURL = 14
  /// A method, or the name or value of a header, can't be sent.
  case badHeader = 15
  /// More redirects in a row than `redirects` allows.
  case tooManyRedirects = 16
  /// The network must not be used, and the cache has no answer.
  case offline = 17
  /// The host failed too often in a row, and requests to it fail at once for a while.
  case circuitOpen = 18
  /// The request was cancelled.
  case cancelled = 19
  /// The cache was closed.
  case closed = 20
  /// The handle belongs to the process that this one was forked from.
  case forked = 21
  /// The request is in the outbox and is sent later: its server can't be reached, others of its queue wait, or a secret is missing.
  case frozen = 22
  /// A secret can't be stored with a frozen request; it needs a named provider.
  case secretNeedsProvider = 23
  /// An argument is not valid: null, out of range, or a handle that is closed or of another kind.
  case invalid = 24
  /// Other options are in force for the same directory.
  case conflict = 25
  /// The disk is full.
  case noSpace = 26
  /// A file or directory can't be read or written.
  case io = 27
  /// There is not enough memory.
  case outOfMemory = 28
  /// A defect of Nuthatch itself; please report it with the message.
  case `internal` = 29
  /// The answer isn't in the format that the program asked for.
  case wrongFormat = 30
  /// Another process has held a lock of the directory for too long; it may be stopped. The message names it.
  case busy = 31
  /// A file isn't used because another user may have made or changed it. The message says which file, and why.
  case unsafeFile = 32
  /// The process that decodes the picture was killed, took too long, or can't be started. Another try may succeed.
  case decoderFailed = 33
}

extension ErrorCode {
  /// The stable word, as in Python's `.code` and in the command's records.
  public var word: String {
    switch self {
    case .timeout: "timeout"
    case .dns: "dns"
    case .refused: "refused"
    case .reset: "reset"
    case .tls: "tls"
    case .http: "http"
    case .tooLarge: "too_large"
    case .tooManyPixels: "too_many_pixels"
    case .notAnImage: "not_an_image"
    case .unsupportedFormat: "unsupported_format"
    case .corrupt: "corrupt"
    case .truncated: "truncated"
    case .denied: "denied"
    case .badURL: "bad_url"
    case .badHeader: "bad_header"
    case .tooManyRedirects: "too_many_redirects"
    case .offline: "offline"
    case .circuitOpen: "circuit_open"
    case .cancelled: "cancelled"
    case .closed: "closed"
    case .forked: "forked"
    case .frozen: "frozen"
    case .secretNeedsProvider: "secret_needs_provider"
    case .invalid: "invalid"
    case .conflict: "conflict"
    case .noSpace: "no_space"
    case .io: "io"
    case .outOfMemory: "out_of_memory"
    case .internal: "internal"
    case .wrongFormat: "wrong_format"
    case .busy: "busy"
    case .unsafeFile: "unsafe_file"
    case .decoderFailed: "decoder_failed"
    }
  }
}
