/// The connection of a transfer: whether the request may go over it, and what is known of it.
///
/// Confined to the loop's thread.
struct TransferConnection {
  private(set) var facts = ConnectionFacts()
  /// Whether the transfer is to begin again with a connection of its own: a kept one that the guard refuses leaves other
  /// addresses of the host untried, and one over which a body was announced and rejected is in the middle of a request.
  var wantsNew = false
  /// Whether the server wants none of the protocols that it was offered, or knows nothing of such offers.
  private(set) var isOfferDeclined = false
  /// Why the guard has refused the last address that it did refuse.
  private(set) var denial: String?
  let sockets: OpenSockets
  /// Those that this transfer has opened itself; some may be closed again.
  private var opened: [Int32] = []
  /// That of its connection; -1 while it isn't known.
  private var socket: Int32 = -1
  /// Whether this transfer has wanted a socket of its own, so that its connection isn't a kept one.
  private var hasOpenedSocket = false
  private var onceOnly: OnceOnly

  init(_ sockets: OpenSockets, _ pending: PendingTransfer) {
    self.sockets = sockets
    onceOnly = OnceOnly(method: pending.request.method)
    facts.isProxied = pending.route.proxy != nil
    facts.addressClass = pending.route.knownClass
  }

  mutating func mayOpenSocket(to address: IPAddress?, _ request: TransferRequest) -> Bool {
    hasOpenedSocket = true
    // Through a proxy, the socket's address says nothing about the origin's.
    guard !facts.isProxied else { return true }
    guard let address else { return request.addressGuard == .any }
    return isAllowed(address, request)
  }

  mutating func note(opened socket: Int32) { opened.append(socket) }

  /// Whether the connection that libcurl has found may carry the request. It may have been opened for another
  /// request, under another guard.
  ///
  /// - Throws: what ends the transfer. False lets it begin again.
  mutating func mayUse(
    _ ends: OpenSockets.Ends, _ request: TransferRequest, isHTTP1: Bool
  ) throws(TransportFault) -> Bool {
    facts.address = ends.there
    facts.isReused = !hasOpenedSocket
    if !facts.isProxied { try check(ends.there, request) }
    if isOfferDeclined, isHTTP1 { return false }
    socket = facts.isReused ? sockets.find(ends) : sockets.note(ends, opened)
    if facts.isReused, sockets.hasUnsolicited(socket) {
      wantsNew = true
      return false
    }
    if onceOnly.maySend() { return true }
    throw TransportFault(
      .reset, "the connection broke before the answer, and a \(request.method) isn't sent twice")
  }

  private mutating func check(_ address: IPAddress?, _ request: TransferRequest) throws(TransportFault) {
    // Under `any`, too: nothing can be sent to who isn't there.
    guard let address else { throw TransportFault(.reset, "the connection broke before anything was sent") }
    facts.addressClass = AddressClass(address)
    if isAllowed(address, request) { return }
    wantsNew = !hasOpenedSocket
    throw TransportFault(.denied, denial ?? "")
  }

  private mutating func isAllowed(_ address: IPAddress, _ request: TransferRequest) -> Bool {
    let kind = AddressClass(address)
    guard request.addressGuard.refuses(kind, sentByPublic: request.isSentByPublic) else { return true }
    denial = request.addressGuard.reason(address, kind, sentByPublic: request.isSentByPublic)
    return false
  }

  mutating func note(remark: UnsafeRawBufferPointer) {
    if remark.starts(with: OnceOnly.refusedStream.utf8) { onceOnly.noteRejection() }
    if remark.starts(with: Self.offerDeclined.utf8) { isOfferDeclined = true }
  }

  /// What libcurl says when the server hasn't chosen one of the protocols that were offered (ALPN).
  private static let offerDeclined = "ALPN: server did not agree"

  /// An answer has begun: what follows isn't a repetition out of ignorance.
  mutating func noteAnswer() { onceOnly.noteRejection() }

  /// Its requests take turns: it has one answer after the other.
  func noteTurns() { sockets.noteTurns(of: socket) }

  /// The transfer begins again.
  mutating func forget(_ knownClass: AddressClass?) {
    wantsNew = false
    facts.address = nil
    facts.addressClass = knownClass
  }
}
