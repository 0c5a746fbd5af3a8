import Foundation
import NuthatchTransport
import Testing

@testable import NuthatchCore

@Suite("Cost of many entries in the queue", .serialized) struct QueueWeightTests {
  /// Work as a pipeline would have it: a callback with something to remember.
  private final class Callback: QueuedWork {
    let start: (QueueEntry) -> Void
    init(_ start: @escaping (QueueEntry) -> Void) { self.start = start }
    func putOff(_ entry: QueueEntry) {}
    func begin(_ entry: QueueEntry) { start(entry) }
    func refused(_ entry: QueueEntry, _ refusal: HostRefusal) {}
  }

  enum Shape: CaseIterable {
    case oneHost, hundredHosts, hostEach, anyPriority
  }

  private func origins(_ shape: Shape, _ count: Int) -> [Origin] {
    let hosts =
      switch shape {
      case .oneHost: 1
      case .hundredHosts, .anyPriority: 100
      case .hostEach: count
      }
    return (0..<hosts).map { QueueBench.origin("some.pictures.host-\($0).example") }
  }

  private func fill(_ queue: FetchQueue, _ count: Int, _ shape: Shape, _ origins: [Origin]) {
    for index in 0..<count {
      let (a, b) = (index, index * 7)
      queue.submit(
        Callback { entry in precondition(a * 7 == b && entry.arrival > 0) },
        to: origins[index % origins.count],
        priority: shape == .anyPriority ? (index * 7919) % 21 - 10 : 0, now: Int64(index))
    }
  }

  /// Bytes that malloc has given out. nil where another malloc is in charge, as under the sanitizers.
  private func allocated() -> Int? {
    typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>?) -> Int32
    guard let symbol = dlsym(nil, "malloc_info") else { return nil }
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    guard let stream = open_memstream(&text, &length) else { return nil }
    let result = unsafeBitCast(symbol, to: MallocInfo.self)(0, stream)
    fclose(stream)
    defer { free(text) }
    guard result == 0, let text else { return nil }
    // The totals stand behind the heaps.
    guard let totals = String(cString: text).components(separatedBy: "</heap>").last else { return nil }
    func size(_ line: String) -> Int? {
      let rest = totals.components(separatedBy: line).dropFirst().first
      return rest?.components(separatedBy: "size=\"").dropFirst().first.flatMap {
        Int($0.prefix { $0.isNumber })
      }
    }
    guard let system = size("<system type=\"current\""), let mapped = size("<total type=\"mmap\""),
      let fast = size("<total type=\"fast\""), let rest = size("<total type=\"rest\"")
    else { return nil }
    return system + mapped - fast - rest
  }

  private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  @Test(
    "an entry of the queue takes less than 1 KiB, with its callback and host",
    arguments: [Shape.hundredHosts, .hostEach])
  func memory(shape: Shape) {
    let count = shape == .hostEach ? 20_000 : 100_000
    let origins = origins(shape, count)
    // All tests of the process share what is counted: what others take or give back makes a round wrong, but hardly all.
    var rounds: [Int] = []
    for _ in 0..<5 {
      let queue = FetchQueue(.fixed(1), wake: { _ in })
      let before = allocated()
      fill(queue, count, shape, origins)
      #expect(queue.activity == count)
      guard let before, let after = allocated(), before > 0 else { return }
      rounds.append((after - before) / count)
    }
    // Something is counted at all, and not too much.
    let each = rounds.sorted()[2]
    #expect((50..<1024).contains(each), "\(shape): \(rounds) bytes")
    if getenv("NUTHATCH_SHOW_FIGURES") != nil { print("queue, \(shape): \(each) bytes an entry") }
  }

  @Test("submitting and ending entries takes linear time", arguments: Shape.allCases)
  func time(shape: Shape) {
    // Ten times as many take a hundred times as long, when a step looks at all that wait.
    var times: [Double] = []
    for count in [1_500, 15_000] {
      let origins = origins(shape, count)
      var running: [QueueEntry] = []
      let queue = FetchQueue(.fixed(8), wake: { _ in })
      let begin = processorTime()
      for index in 0..<count {
        queue.submit(
          Callback { running.append($0) }, to: origins[index % origins.count],
          priority: shape == .anyPriority ? (index * 7919) % 21 - 10 : 0, now: Int64(index))
      }
      let submitted = processorTime()
      while let entry = running.popLast() { queue.finished(entry, .done, now: Int64(count)) }
      let done = processorTime()
      #expect(queue.activity == 0)
      times.append(done - begin)
      if getenv("NUTHATCH_SHOW_FIGURES") != nil {
        let (first, second) = (
          (submitted - begin) / Double(count) * 1e9, (done - submitted) / Double(count) * 1e9
        )
        print("queue, \(shape), \(count): \(Int(first)) ns to submit, \(Int(second)) ns to start and end")
      }
    }
    #expect(times[1] < 35 * max(times[0], 0.001), "\(shape): \(times)")
  }
}
