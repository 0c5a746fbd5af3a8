// Fetches URLs (one a line on standard input) through the transport alone and discards the bytes. Prints the same as limit.c:
// requests, failures, bytes, seconds, CPU microseconds.

import CSystem
import Glibc
import NuthatchTransport

/// Keeps a number of transfers under way until there are no more URLs. After the start, only the loop's thread uses it.
final class Driver: @unchecked Sendable {
  private let transport: CurlTransport
  private let requests: [TransferRequest]
  private let end: @Sendable () -> Void
  private var next = 0
  private var done = 0
  var failed = 0
  var bytes = 0

  init(_ transport: CurlTransport, _ requests: [TransferRequest], end: @escaping @Sendable () -> Void) {
    self.transport = transport
    self.requests = requests
    self.end = end
  }

  func start(atOnce: Int) {
    transport.loop.post { for _ in 0..<atOnce { self.startNext() } }
  }

  fileprivate func startNext() {
    guard next < requests.count else { return }
    next += 1
    _ = transport.start(requests[next - 1], sink: Sink(self))
  }

  fileprivate func finished(_ fault: TransportFault?) {
    if fault != nil { failed += 1 }
    done += 1
    if done == requests.count { end() } else { startNext() }
  }
}

final class Sink: TransferSink {
  private let driver: Driver
  init(_ driver: Driver) { self.driver = driver }

  func interim(_ head: ResponseHead) {}
  func head(_ head: ResponseHead) -> TransferVerdict { .goOn }
  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict {
    driver.bytes += bytes.count
    return .goOn
  }
  func finished(_ fault: TransportFault?, _ timings: TransferTimings) { driver.finished(fault) }
}

func seconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func cpuMicroseconds() -> Int {
  var usage = rusage()
  getrusage(RUSAGE_SELF.rawValue, &usage)
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000 + usage.ru_utime.tv_usec
    + usage.ru_stime.tv_usec
}

let atOnce = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 6 : 6
var requests: [TransferRequest] = []
while let line = readLine() {
  var request = TransferRequest(url: try WebURL(line))
  request.silence = 30_000_000_000
  requests.append(request)
}
let transport = try CurlTransport(readers: { _ in false })
let over = eventfd(0, 0)
let driver = Driver(transport, requests) { eventfd_write(over, 1) }
let begin = seconds()
driver.start(atOnce: atOnce)
var count: eventfd_t = 0
eventfd_read(over, &count)
let taken = seconds() - begin
transport.stop()
print(requests.count, driver.failed, driver.bytes, taken, cpuMicroseconds())
exit(driver.failed == 0 ? 0 : 1)
