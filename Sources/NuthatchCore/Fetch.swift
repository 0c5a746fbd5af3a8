import CSystem
import NuthatchTransport

/// One request's way through the network: hop after hop, until there is an answer or a reason for none.
///
/// Confined to the loop's thread, except for `abort`, which only posts to it; hence Sendable.
final class Fetch: @unchecked Sendable {
  private let plan: FetchPlan
  private let ticket: Ticket
  private let transport: Transport

  // Confined to the loop's thread.
  private var hop: TransferRequest
  private var hops = 0
  private var transfer: UInt64?
  private var deadlineTimer: EventLoop.TimerID?
  private var head: ResponseHead?
  private var next: WebURL?
  private var body = ByteBuffer()
  private var skipped = 0
  private var refusal: NuthatchError?

  /// A redirect's own body is read up to here, because that keeps the connection; a longer one costs more than it.
  private static let longestSkip = 65_536

  private init(_ plan: FetchPlan, _ ticket: Ticket, _ transport: Transport) {
    self.plan = plan
    self.ticket = ticket
    self.transport = transport
    hop = plan.first
  }

  /// Fetches as planned; the ticket gets the outcome.
  static func start(_ plan: FetchPlan, _ ticket: Ticket, _ transport: Transport) {
    let fetch = Fetch(plan, ticket, transport)
    guard ticket.begin(abort: { fetch.abort() }) else { return }
    guard transport.loop.post({ fetch.begin() }) else { return ticket.finish(.failed(.closed)) }
  }

  private func abort() {
    transport.loop.post { self.tidy() }
  }
}

// MARK: - On the loop's thread

extension Fetch {
  private func begin() {
    guard ticket.state == .running else { return }
    if let limit = plan.deadline {
      deadlineTimer = transport.loop.at(transport.loop.now &+ limit) { [unowned self] in
        self.fail(
          NuthatchError(.timeout, "not done after \(Double(limit) / 1e9) s, the deadline: \(self.hop.url)"))
      }
    }
    startHop()
  }

  private func startHop() {
    head = nil
    next = nil
    skipped = 0
    transfer = transport.start(hop, sink: self)
  }

  private func fail(_ error: NuthatchError) {
    ticket.finish(.failed(error))
    tidy()
  }

  /// Ends what is under way; harmless when nothing is.
  private func tidy() {
    if let timer = deadlineTimer { transport.loop.cancelTimer(timer) }
    deadlineTimer = nil
    if let transfer { transport.cancel(transfer) }
    transfer = nil
  }

  private func refuse(_ code: ErrorCode, _ message: String) -> TransferVerdict {
    refusal = NuthatchError(code, "\(message): \(hop.url)")
    return .stop
  }

  private func follow(_ url: WebURL, _ status: Int) {
    hop = hop.redirected(to: url, status: status)
    hops += 1
    startHop()
  }

  private func succeed(_ head: ResponseHead, _ timings: TransferTimings) {
    body.trim()
    let response = Response(
      url: ticket.url, finalURL: hop.url, head: head, body: body, timings: timings, redirects: hops)
    ticket.finish(.fresh(response))
    tidy()
  }
}

extension Fetch: TransferSink {
  func interim(_ head: ResponseHead) {}

  func head(_ head: ResponseHead) -> TransferVerdict {
    self.head = head
    if let location = head.redirection {
      guard hops < FetchPlan.longestChain else {
        return refuse(.tooManyRedirects, "more than \(FetchPlan.longestChain) redirects, the last from")
      }
      do {
        let target = try hop.url.resolving(Array(location.utf8))
        if let (user, password) = target.credentials, (user + password).contains(0) {
          return refuse(.badURL, "a redirect with a NUL in user or password, from")
        }
        next = target
        return .goOn
      } catch {
        let place =
          "\(error.reason), at byte \(error.position) of \(WebURL.redacted(location).quotedForMessage)"
        return refuse(.badURL, "a redirect that can't be followed (\(place)) from")
      }
    }
    // Whoever announces too much is stopped before the first byte.
    let announced = (try? head.contentLength()) ?? 0  // the transport has refused a malformed one already
    guard head.mayHaveBody(method: hop.method) else { return .goOn }
    if announced > plan.maxBytes { return refuse(.tooLarge, tooLarge(announced)) }
    body.reserve(announced: announced)
    return .goOn
  }

  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict {
    if next != nil {
      skipped += bytes.count
      return skipped <= Fetch.longestSkip ? .goOn : .stop
    }
    guard Int64(body.count) + Int64(bytes.count) <= plan.maxBytes else {
      return refuse(.tooLarge, tooLarge(nil))
    }
    return body.append(bytes)
      ? .goOn : refuse(.outOfMemory, "no memory for \(body.count + bytes.count) bytes of")
  }

  func finished(_ fault: TransportFault?, _ timings: TransferTimings) {
    transfer = nil
    if let refusal { return fail(refusal) }
    // A redirect is known by its head; how its body ends is of no interest.
    if let next, let head { return follow(next, head.status) }
    if let fault { return fail(NuthatchError(fault, url: hop.url)) }
    guard let head else { return fail(NuthatchError(.internal, "an answer without a head: \(hop.url)")) }
    succeed(head, timings)
  }

  private func tooLarge(_ announced: Int64?) -> String {
    let size = announced.map { "\($0) bytes announced" } ?? "the body goes on"
    return "\(size), more than max_bytes (\(plan.maxBytes))"
  }
}
