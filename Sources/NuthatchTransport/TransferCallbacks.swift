import CSystem
import Glibc

// The callbacks of libcurl whose context is the transfer.

extension Transfer {
  var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  fileprivate static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }
}

/// Gives bytes to the transfer. Returns `count`, or another number to make libcurl end the transfer.
private func pass(
  _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
  _ take: (Transfer, UnsafeRawBufferPointer) -> Bool
) -> Int {
  guard let transfer = Transfer.of(context) else { return 0 }
  return take(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : count &+ 1
}

func headerArrived(
  bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
  pass(bytes, size &* count, context) { $0.takeHeader($1) }
}

func bodyArrived(
  bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
  pass(bytes, size &* count, context) { $0.takeBody($1) }
}

func uploadWanted(
  room: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
  guard let transfer = Transfer.of(context) else { return 0 }
  return transfer.provide(UnsafeMutableRawBufferPointer(start: room, count: size &* count))
}

/// Rewinds the request body. libcurl asks only for its beginning.
func uploadRewound(context: UnsafeMutableRawPointer?, offset: curl_off_t, origin: Int32) -> Int32 {
  guard let transfer = Transfer.of(context), origin == SEEK_SET, offset == 0 else {
    return CURL_SEEKFUNC_FAIL
  }
  transfer.feed?.rewind()
  return CURL_SEEKFUNC_OK
}

func progressMade(
  context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, uploaded: curl_off_t
) -> Int32 {
  Transfer.of(context)?.noteUploaded(Int64(uploaded))
  return 0
}

/// Passes on the lines of libcurl's log. `TransferConnection` uses two of them, because libcurl reports these facts in no other
/// way.
func logLineWritten(
  _: UnsafeMutableRawPointer?, kind: curl_infotype, text: UnsafeMutablePointer<CChar>?, count: Int,
  context: UnsafeMutableRawPointer?
) -> Int32 {
  guard kind == CURLINFO_TEXT else { return 0 }
  Transfer.of(context)?.connection.note(logLine: UnsafeRawBufferPointer(start: text, count: count))
  return 0
}

func socketWanted(
  context: UnsafeMutableRawPointer?, address: UnsafePointer<sockaddr>?, length: UInt32
) -> Int32 {
  guard let transfer = Transfer.of(context), let address else { return 0 }
  return transfer.connection.mayOpenSocket(to: IPAddress(address, length: Int(length)), transfer.request)
    ? 1 : 0
}

func socketOpened(context: UnsafeMutableRawPointer?, socket: Int32) {
  Transfer.of(context)?.connection.note(opened: socket)
}

func connectionReady(
  context: UnsafeMutableRawPointer?, there: UnsafeMutablePointer<CChar>?,
  here: UnsafeMutablePointer<CChar>?, portThere: Int32, portHere: Int32
) -> Int32 {
  guard let transfer = Transfer.of(context), let there, let here else { return CURL_PREREQFUNC_ABORT }
  let ends = OpenSockets.Ends(
    there: IPAddress(cString: there), here: IPAddress(cString: here), portThere: portThere,
    portHere: portHere)
  let isAllowed = transfer.mayUseConnection(ends)
  return isAllowed ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}
