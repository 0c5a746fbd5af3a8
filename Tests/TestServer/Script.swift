/// What the server does with one request, as data: an answer's head, and the steps in which it is played.
///
/// The head goes out by itself before the first step that is body, or at the end. Steps that aren't body
/// (`wait`, `pause`, `raw`, `interim`, `reset`, `close`) don't send it, so their place says when they happen:
///
/// ```swift
/// Script(steps: [.wait("g"), .text("x")])                  // a pause before the head
/// Script(steps: [.headPart(20), .wait("g"), .text("x")])   // in the middle of the head
/// Script(steps: [.head, .wait("g"), .text("x")])           // between head and body
/// Script(steps: [.text("x"), .wait("g"), .text("y")])      // within the body
/// ```
///
/// `Content-Length` is computed from the body's steps unless `headers` has one; with `chunk` steps
/// `Transfer-Encoding: chunked` is added. A body that isn't what was announced ends with a closed connection.
public struct Script: Sendable, Equatable {
  /// The status code, 200 by default.
  public var status: Int
  /// The reason phrase; nil (default) means the usual one.
  public var reason: String?
  /// `HTTP/1.1` by default.
  public var version: String
  /// Header fields in order, before those that are computed.
  public var headers: HeaderLines
  /// What is played, in order.
  public var steps: [Step]
  /// False: no head at all, only what the steps say. True by default.
  public var sendsHead: Bool
  /// How the body ends, `.automatic` by default.
  public var framing: Framing
  /// Answer 304 when the request's If-None-Match or If-Modified-Since matches. False by default.
  public var answersConditions: Bool
  /// Answer 206 or 416 to a Range request, minding If-Range. False by default.
  public var answersRanges: Bool
  /// False: answer without reading the request's body, then close. True by default; functions always get the body.
  public var readsBody: Bool
  /// False: no `100 Continue` for a client that waits for it. True by default.
  public var answersExpect: Bool

  /// Every part has a default.
  public init(
    status: Int = 200, reason: String? = nil, version: String = "HTTP/1.1", headers: HeaderLines = [:],
    steps: [Step] = [], sendsHead: Bool = true, framing: Framing = .automatic,
    answersConditions: Bool = false, answersRanges: Bool = false, readsBody: Bool = true,
    answersExpect: Bool = true
  ) {
    self.status = status
    self.reason = reason
    self.version = version
    self.headers = headers
    self.steps = steps
    self.sendsHead = sendsHead
    self.framing = framing
    self.answersConditions = answersConditions
    self.answersRanges = answersRanges
    self.readsBody = readsBody
    self.answersExpect = answersExpect
  }

  /// How the end of a body is made known.
  public enum Framing: String, Sendable, Codable {
    /// Content-Length or chunks; the connection is kept when the answer is whole and both sides wish it.
    case automatic
    /// No length; the body ends when the connection is closed.
    case untilClose
    /// The connection is kept, whatever was sent.
    case keepOpen
  }

  /// One step of an answer.
  public enum Step: Sendable, Equatable {
    /// The head now, or what is left of it.
    case head
    /// The next so many bytes of the head.
    case headPart(Int)
    /// The rest of the head in pieces, with a pause after each.
    case dripHead(piece: Int, milliseconds: Int)
    /// Body bytes.
    case bytes([UInt8])
    /// Body: one byte repeated.
    case fill(count: Int, byte: UInt8)
    /// Body bytes in pieces, with a pause after each.
    case drip([UInt8], piece: Int, milliseconds: Int)
    /// A well-formed chunk of a chunked body.
    case chunk([UInt8])
    /// The end of a chunked body, with trailers.
    case lastChunk(HeaderLines)
    /// Where a chunk should be: these bytes as they are. The body counts as chunked.
    case badChunk([UInt8])
    /// Any bytes, at any place, counted as nothing.
    case raw([UInt8])
    /// An interim answer (1xx) before the head.
    case interim(Int, HeaderLines)
    /// Pauses until the gate of that name is opened.
    case wait(String)
    /// Pauses for a time. For latency; tests that wait for something use `wait`.
    case pause(milliseconds: Int)
    /// Ends the connection with a TCP reset, after everything before it was delivered.
    case reset
    /// Ends the connection in the orderly way.
    case close

    /// Body bytes from text.
    public static func text(_ text: String) -> Step { .bytes(Array(text.utf8)) }
    /// A chunk from text.
    public static func chunk(text: String) -> Step { .chunk(Array(text.utf8)) }
    /// A bad chunk from text.
    public static func badChunk(text: String) -> Step { .badChunk(Array(text.utf8)) }
    /// Raw bytes from text.
    public static func raw(text: String) -> Step { .raw(Array(text.utf8)) }
    /// The end of a chunked body.
    public static var lastChunk: Step { .lastChunk([:]) }

    /// How many body bytes the step adds to Content-Length.
    var plainCount: Int {
      switch self {
      case .bytes(let bytes), .drip(let bytes, _, _): bytes.count
      case .fill(let count, _): max(0, count)
      default: 0
      }
    }

    var isChunked: Bool {
      switch self {
      case .chunk, .lastChunk, .badChunk: true
      default: false
      }
    }

    var isBody: Bool {
      switch self {
      case .bytes, .fill, .drip: true
      default: isChunked
      }
    }
  }

  var plainCount: Int { steps.reduce(0) { $0 + $1.plainCount } }
  var isChunked: Bool { steps.contains(where: \.isChunked) }
}
