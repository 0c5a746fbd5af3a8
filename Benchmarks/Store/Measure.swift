import Glibc

/// The measurement can't run.
struct Failure: Error { let message: String }

func now(_ clock: clockid_t = CLOCK_MONOTONIC) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// The time of one operation in each round.
struct Times {
  private let sorted: [Double]
  /// The processor time of all threads. Other programs on the machine don't add to it.
  let processor: Double

  init(_ times: [Double], processor: [Double] = []) {
    sorted = times.sorted()
    self.processor = processor.isEmpty ? 0 : processor.sorted()[processor.count / 2]
  }

  var median: Double { sorted[sorted.count / 2] }

  func text(_ goal: Double? = nil) -> String {
    let scale = median < 10_000 ? (1.0, "ns") : median < 1e7 ? (1000.0, "µs") : (1e6, "ms")
    func text(_ time: Double) -> String { rounded(time / scale.0) }
    let verdict =
      goal.map { median <= $0 ? "  (goal \(text($0)): met)" : "  (goal \(text($0)): MISSED)" } ?? ""
    return "\(text(median)) \(scale.1)  [\(text(sorted[0]))–\(text(sorted[sorted.count - 1]))]\(verdict)"
  }
}

func rounded(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

/// Prints a row of the report.
func say(_ name: String, _ text: String) {
  print("  " + name + String(repeating: " ", count: max(1, 58 - name.count)) + text)
  fflush(nil)
}

/// Returns the time of one of `count` operations for each round. The first round warms up and is left out.
func measure(rounds: Int = 5, count: Int, _ body: (Int) throws -> Void) rethrows -> Times {
  var (times, processor): ([Double], [Double]) = ([], [])
  for round in 0...rounds {
    let (begin, used) = (now(), now(CLOCK_PROCESS_CPUTIME_ID))
    try body(round)
    guard round > 0 else { continue }
    times.append((now() - begin) / Double(count))
    processor.append((now(CLOCK_PROCESS_CPUTIME_ID) - used) / Double(count))
  }
  return Times(times, processor: processor)
}

/// Runs `body` on several threads, and returns when all have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Box {
    let body: @Sendable (Int) -> Void, number: Int
    init(_ body: @escaping @Sendable (Int) -> Void, _ number: Int) {
      (self.body, self.number) = (body, number)
    }
  }
  var running = [pthread_t](repeating: pthread_t(), count: count)
  for number in 0..<count {
    let box = Unmanaged.passRetained(Box(body, number))
    pthread_create(
      &running[number], nil,
      { context in
        guard let context else { return nil }
        let box = Unmanaged<Box>.fromOpaque(context).takeRetainedValue()
        box.body(box.number)
        return nil
      }, box.toOpaque())
  }
  for thread in running { pthread_join(thread, nil) }
}

/// Touches memory and page cache before the measurement, so that a virtual machine has really allocated them.
func warmUp(_ folder: String) {
  let fd = open(folder + "/warm", O_CREAT | O_RDWR, 0o600)
  let piece = [UInt8](repeating: 1, count: 1 << 20)
  for _ in 0..<6000 { _ = piece.withUnsafeBytes { write(fd, $0.baseAddress, $0.count) } }
  close(fd)
  unlink(folder + "/warm")
  var load = [0.0, 0.0, 0.0]
  getloadavg(&load, 3)
  print("load of the machine before: \(rounded(load[0])) on \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores")
}
