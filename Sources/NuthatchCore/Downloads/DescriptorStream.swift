import CSystem
import Glibc
import NuthatchTransport

/// A pipe, socket or character device that an answer is written to while it arrives. Bytes that it doesn't accept at once wait,
/// and the transfer waits for them. Confined to the loop's thread.
final class DescriptorStream {
  private let descriptor: Int32
  /// The name for messages.
  private let name: String
  private let isSocket: Bool
  private let loop: EventLoop
  private var backlog: [UInt8] = []
  /// The error that stopped it.
  private(set) var failure: NuthatchError?
  /// Called when all bytes were written, or after a failure.
  var whenFree: () -> Void = {}

  /// - Parameter named: this object closes its descriptor.
  init(_ named: NamedDescriptor, _ loop: EventLoop) {
    descriptor = named.number
    name = named.name
    self.loop = loop
    var status = stat()
    // fstat doesn't wait for a disk here, because descriptors on disks aren't streams.
    isSocket = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  deinit { close(descriptor) }

  var isFull: Bool { failure == nil && !backlog.isEmpty }

  func write(_ bytes: [UInt8]) throws(NuthatchError) {
    if let failure { throw failure }
    guard backlog.isEmpty else {
      backlog += bytes
      return
    }
    let count = try writeNow(bytes)
    guard count < bytes.count else { return }
    backlog = Array(bytes[count...])
    loop.watch(descriptor, UInt32(EPOLLOUT.rawValue)) { [weak self] _ in self?.goOn() }
  }

  /// Call it after the last byte.
  func end() { loop.unwatch(descriptor) }

  private func goOn() {
    do throws(NuthatchError) {
      backlog.removeFirst(try writeNow(backlog))
    } catch {
      failure = error
      backlog = []
    }
    guard backlog.isEmpty else { return }
    loop.unwatch(descriptor)
    whenFree()
  }

  /// Writes as much as possible without waiting. Returns the number of bytes.
  private func writeNow(_ bytes: [UInt8]) throws(NuthatchError) -> Int {
    // Raw bytes, because the closure of the array's own method throws untyped errors.
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(NuthatchError) in try writeNow(bytes) }
  }

  private func writeNow(_ bytes: UnsafeRawBufferPointer) throws(NuthatchError) -> Int {
    var done = 0
    while done < bytes.count {
      let left = bytes.count - done
      let place = bytes.baseAddress.map { $0 + done }
      var count = 0
      if isSocket {
        count = send(descriptor, place, left, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
      } else {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&entry, 1, 0) > 0 else { return done }
        // A writable pipe accepts PIPE_BUF bytes without waiting, and so does almost every terminal.
        count = Glibc.write(descriptor, place, min(left, Int(PIPE_BUF)))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN || errno == EWOULDBLOCK { return done }
      guard count > 0 else { throw NewFile.failure(name) }
      done += count
    }
    return done
  }
}
