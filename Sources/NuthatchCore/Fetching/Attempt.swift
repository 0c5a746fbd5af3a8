import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// One attempt's way over the network: the hops so far, and what the last of them has brought.
final class Attempt {
  /// What is sent now.
  var hop: TransferRequest
  /// The heads of the redirects that were followed.
  var redirects: [ResponseHead] = []
  /// The 1xx answers before the head; the transport limits how much all heads together may have.
  var interim: [ResponseHead] = []
  var head: ResponseHead?
  /// Where a redirect leads.
  var next: WebURL?
  var body = IncomingBody()
  /// Bytes of a body that nobody wants: of a redirect, or of an error page where pictures are wanted.
  var skipped = 0
  var skipsBody = false
  /// Whether the body is kept here, or only saved.
  var isKept = true
  /// Whether the server is to be asked once more, at once.
  var isToBeRepeated = false
  /// Looks at pictures while they arrive, so that what is none, or too large, is stopped at once.
  var probe: ImageProbe?
  var admitPictures = false
  /// For a picture whose transfer may end before its body does.
  var earlyStop: EarlyStop?
  /// Bytes of the request's body that were sent.
  private var sent: Int64 = 0
  /// Whether the server was asked if what is stored still holds.
  var isConditional = false
  /// Why the transfer was stopped by us.
  var refusal: NuthatchError?
  /// Why it can't be decoded, where the first bytes said so.
  var verdict: ImageFault?
  /// Whether a public origin sent the request on (`TransferRequest.isSentByPublic`).
  var isSentByPublic = false
  /// The farthest from public that any hop's address was (`AnswerRecord.reach`).
  var reach = AddressReach.open
  /// Seconds since 1970 at which the request was sent and the head came, for the age of the answer.
  var requestTime: Int64 = 0
  /// When the first hop was sent, in the store's terms; nil when nothing can be stored.
  var asked: Moment?
  /// Whether a worker has told that moment, because the loop could not.
  var isAskedLate = false
  var responseTime: Int64 = 0

  /// How much silence the transfer bears, in nanoseconds; nil for any.
  var silence: Int64?
  /// On the monotonic clock: when those are judged who bear less.
  var silenceIsJudgedAt: Int64 = 0

  /// Of all attempts together.
  var journey = Journey()

  /// An unwanted body is read up to here, because that keeps the connection; a longer one costs more than it.
  static let longestSkip = 65_536

  init(_ first: TransferRequest) {
    hop = first
    isSentByPublic = first.isSentByPublic
  }

  /// Begins anew at the first hop.
  func begin(again first: TransferRequest) {
    hop = first
    redirects = []
    isSentByPublic = first.isSentByPublic
    reach = .open
    clear()
  }

  /// Notes to whom a hop was connected. A private address that a public origin sent us to counts as the farthest.
  func noteConnection(_ facts: ConnectionFacts) {
    let isBehindPublic = isSentByPublic && !facts.reach.countsAsPublic
    reach = max(reach, isBehindPublic ? .link : facts.reach)
    isSentByPublic = isSentByPublic || facts.reach.countsAsPublic
  }

  /// Whether this hop is the one whose answer is stored: only its server can say whether that still holds. Without redirects
  /// it is, whatever the URL: a caller's key may stand for several.
  func isAt(_ meta: AnswerRecord) -> Bool {
    redirects.count == meta.redirects && (redirects.isEmpty || hop.url.address == meta.finalURL)
  }

  /// How many bytes more than before were sent, when `total` were in all; of a body that is sent again, from the beginning.
  func noteSent(_ total: Int64) -> Int {
    defer { sent = total }
    return Int(clamping: total < sent ? total : total - sent)
  }

  /// Where the answer of this hop comes from.
  func origin(_ timings: TransferTimings) -> Provenance {
    Provenance(
      finalURL: hop.url.address, source: .network, isInCache: false, isStored: false,
      isTruncated: timings.isCutOff,
      timings: Response.Timings(timings), redirects: redirects.count, interim: interim, head: head,
      bodyBytes: Int64(body.count), journey: journey)
  }

  /// Forgets what the last hop brought.
  func clear() {
    interim = []
    head = nil
    next = nil
    body = IncomingBody()
    sent = 0
    skipped = 0
    skipsBody = false
    isKept = true
    isToBeRepeated = false
    probe = nil
    earlyStop = nil
    refusal = nil
    verdict = nil
  }
}
