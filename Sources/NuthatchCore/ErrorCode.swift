/// Why something failed: stable numbers for C, stable words for everybody else.
///
/// This is the one table. The status enum of `nuthatch.h` and the words of the Python package are made from it by
/// `make header`. A code keeps its number and its word for good; new ones are added at the end.
public enum ErrorCode: Int32, CaseIterable, Sendable {
  /// No byte came for `timeout`, or the request's `deadline` passed.
  case timeout = 1
  /// The host name has no address, or its name server doesn't answer.
  case dns = 2
  /// No connection could be made: nothing listens there, or the network has no way to it.
  case refused = 3
  /// The connection broke before the answer was complete.
  case reset = 4
  /// The TLS handshake or the check of the certificate failed.
  case tls = 5
  /// The answer isn't a success, or the server broke the HTTP protocol.
  case http = 6
  /// The answer or the picture has more bytes than `max_bytes`, or an answer that is saved decodes to too many times what came.
  case tooLarge = 7
  /// The picture has more pixels than `max_pixels`, or decoding it needs more memory than there is: the message has the
  /// numbers.
  case tooManyPixels = 8
  /// The bytes are no picture. The first ones tell, also of an answer that would break off later.
  case notAnImage = 9
  /// A picture, but of a format that isn't decoded.
  case unsupportedFormat = 10
  /// The picture is damaged.
  case corrupt = 11
  /// The answer or the picture ends too early.
  case truncated = 12
  /// The address guard refused the address; a `file:` URL that may not be read; a cache's directory that belongs to somebody else.
  case denied = 13
  /// The URL can't be used; the message says at which byte.
  case badURL = 14
  /// A method, or the name or value of a header, can't be sent.
  case badHeader = 15
  /// More redirects in a row than `redirects` allows.
  case tooManyRedirects = 16
  /// The network isn't to be used, and the cache has no answer.
  case offline = 17
  /// The host failed too often in a row and is left alone for a while.
  case circuitOpen = 18
  /// The request was cancelled.
  case cancelled = 19
  /// The cache was closed.
  case closed = 20
  /// The handle belongs to the process that this one was forked from.
  case forked = 21
  /// The request was put into the outbox, to be sent later: no answer came, others of its queue wait, or its secret isn't known.
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
  /// The answer isn't of the format that it was to be read as.
  case wrongFormat = 30
  /// Another process holds a lock of the directory for too long; it may be stopped. The message names it.
  case busy = 31
  /// A file isn't taken up because others may have made or changed it: the message says which one, and why.
  case unsafeFile = 32
}

extension ErrorCode {
  /// The stable word, as Python's `.code` and the command's records have it.
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
    }
  }
}
