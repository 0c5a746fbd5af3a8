import Glibc
import NuthatchTransport

/// A body that is being received. It is in memory; if the memory budget is used up, it continues in a file, which a `DiskQueue`
/// writes. Confined to the loop's thread, which never waits for a disk, hence Sendable.
final class IncomingBody: @unchecked Sendable {
  /// While a file is written, don't use it before `settle`.
  let buffer: ByteBuffer
  private(set) var count = 0
  /// The error that stopped it.
  private(set) var failure: NuthatchError?
  private let runtime: Runtime?
  private let url: WebURL?
  private var queue: DiskQueue?
  /// Called when it accepts bytes again, or after a failure.
  private let whenMoved: () -> Void

  /// A body that doesn't count against the memory budget.
  init() { (buffer, runtime, url, whenMoved) = (ByteBuffer(), nil, nil, {}) }

  /// - Parameters:
  ///   - folder: the folder for a file.
  ///   - url: for messages.
  init(_ runtime: Runtime, else folder: String, _ url: WebURL, whenMoved: @escaping () -> Void) {
    buffer = ByteBuffer(runtime.inFlight, else: folder)
    (self.runtime, self.url, self.whenMoved) = (runtime, url, whenMoved)
  }

  /// Whether it continues in a file.
  var isFiled: Bool { queue != nil }

  var isFull: Bool { queue?.isFull ?? false }

  /// Whether all bytes are in the buffer, or a failure has stopped it.
  private(set) var isSettled = true

  /// Calls `then` when `isSettled` has become true. Call it only while `isSettled` is false.
  func settle(_ then: @escaping @Sendable () -> Void) {
    queue?.submit({}) { result in
      self.isSettled = true
      if case .failure(let error) = result { self.failure = error }
      then()
    }
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(NuthatchError) {
    if let failure { throw failure }
    count += bytes.count
    if queue == nil {
      let fault = buffer.append(bytes, staysInMemory: true)
      guard fault == EAGAIN, let runtime else { return try check(fault) }
      let new = DiskQueue(runtime)
      new.whenMoved = { [weak self] failure in
        self?.failure = failure
        self?.whenMoved()
      }
      (queue, isSettled) = (new, false)
    }
    let (copy, count) = (Array(bytes), count)
    queue?.submit(copy.count) { [buffer, url] () throws(NuthatchError) in
      let fault = copy.withUnsafeBytes { buffer.append($0) }
      if fault != 0 { throw NuthatchError(roomFault: fault, count, url) }
    }
  }

  private func check(_ fault: Int32) throws(NuthatchError) {
    if fault != 0 { throw NuthatchError(roomFault: fault, count, url) }
  }
}

extension NuthatchError {
  /// - Parameter roomFault: an error number.
  fileprivate init(roomFault: Int32, _ count: Int, _ url: WebURL?) {
    let name = url?.description ?? ""
    switch roomFault {
    case ENOMEM: self.init(.outOfMemory, "no memory for \(count) bytes of: \(name)")
    case ENOSPC, EDQUOT:
      self.init(.noSpace, "the disk is full: no room for \(count) received bytes of: \(name)")
    default:
      let reason = String(cString: strerror(roomFault))
      self.init(.io, "no temporary file for \(count) received bytes (\(reason)) of: \(name)")
    }
  }
}
