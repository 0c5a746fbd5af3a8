/// The connection of a transfer: checks whether the request may use it, and collects facts about it.
///
/// Used only on the loop's thread.
struct TransferConnection {
  private(set) var facts = ConnectionFacts()
  /// Whether the transfer must start again on a new connection: the guard refuses a kept one, but other addresses are untried;
  /// a kept one has unread bytes; or the server has answered 417, so that the connection is in the middle of a request.
  var wantsNew = false
  /// Whether the server has chosen none of the protocols offered in the TLS handshake (ALPN).
  private(set) var isOfferDeclined = false
  /// The guard's reason for the latest refused address.
  private(set) var denial: String?
  let sockets: OpenSockets
  /// The sockets that this transfer has opened; some may be closed again.
  private var opened: [Int32] = []
  /// The socket of its connection; -1 while it isn't known.
  private var socket: Int32 = -1
  /// Whether libcurl has asked for a socket for this transfer. If not, the connection is a kept one.
  private var hasAskedForSocket = false
  private var resendGuard: ResendGuard

  init(_ sockets: OpenSockets, _ pending: PendingTransfer) {
    self.sockets = sockets
    resendGuard = ResendGuard(method: pending.request.method)
    facts.isProxied = pending.route.proxy != nil
    facts.addressClass = pending.route.knownClass
  }

  mutating func mayOpenSocket(to address: IPAddress?, _ request: TransferRequest) -> Bool {
    hasAskedForSocket = true
    // Through a proxy, the socket's address isn't the origin's.
    guard !facts.isProxied else { return true }
    guard let address else { return request.addressGuard == .any }
    return isAllowed(address, request)
  }

  mutating func note(opened socket: Int32) { opened.append(socket) }

  /// Returns whether the request may use the connection that libcurl has chosen. An earlier request, with another guard, may
  /// have opened it. False: the transfer starts again.
  ///
  /// - Throws: the error that ends the transfer. If `wantsNew` is set, the transfer starts again instead.
  mutating func mayUse(
    _ ends: OpenSockets.Ends, _ request: TransferRequest, isHTTP1: Bool
  ) throws(TransportFault) -> Bool {
    facts.address = ends.there
    facts.isReused = !hasAskedForSocket
    if !facts.isProxied { try check(ends.there, request) }
    if isOfferDeclined, isHTTP1 { return false }
    socket = facts.isReused ? sockets.find(ends) : sockets.note(ends, opened)
    if facts.isReused, sockets.hasUnsolicited(socket) {
      wantsNew = true
      return false
    }
    if resendGuard.maySend() { return true }
    throw TransportFault(
      .reset, "the connection broke before the answer came; a \(request.method) request isn't sent twice")
  }

  private mutating func check(_ address: IPAddress?, _ request: TransferRequest) throws(TransportFault) {
    // Check this also under `any`: libcurl has no peer's address only if the connection is broken.
    guard let address else { throw TransportFault(.reset, "the connection broke before anything was sent") }
    facts.addressClass = AddressClass(address)
    if isAllowed(address, request) { return }
    wantsNew = !hasAskedForSocket
    throw TransportFault(.denied, denial ?? "")
  }

  private mutating func isAllowed(_ address: IPAddress, _ request: TransferRequest) -> Bool {
    guard
      request.addressGuard.refuses(AddressClass(address), redirectedByPublic: request.isRedirectedByPublic)
    else {
      return true
    }
    denial = request.addressGuard.reason(address)
    return false
  }

  mutating func note(logLine: UnsafeRawBufferPointer) {
    if logLine.starts(with: ResendGuard.refusedStream.utf8) { resendGuard.allowResend() }
    if logLine.starts(with: Self.offerDeclined.utf8) { isOfferDeclined = true }
  }

  /// The line of libcurl's log if the server has chosen none of the offered protocols (ALPN).
  private static let offerDeclined = "ALPN: server did not agree"

  /// An answer has begun, so the request may be sent again.
  mutating func noteAnswer() { resendGuard.allowResend() }

  /// Notes that the connection speaks HTTP/1, so that the server must not send without a request.
  func noteTurns() { sockets.noteTurns(of: socket) }

  /// Forgets the address before a new start.
  mutating func forget(_ knownClass: AddressClass?) {
    wantsNew = false
    facts.address = nil
    facts.addressClass = knownClass
  }
}
