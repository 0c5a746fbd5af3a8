import CSystem
import Glibc
import NuthatchBase

/// The event loop that a `PressureWatch` needs. All calls, in both directions, are on one thread.
package protocol PressureHost: AnyObject {
  /// The monotonic clock, in ns.
  var now: Int64 { get }
  /// Calls `handler` with epoll's events whenever the descriptor has some of `events`.
  func watch(_ descriptor: Int32, _ events: UInt32, _ handler: @escaping (UInt32) -> Void)
  func unwatch(_ descriptor: Int32)
  func at(_ due: Int64, _ action: @escaping () -> Void) -> LoopTimer
  func cancelTimer(_ timer: LoopTimer)
}

/// Listens to the sources of memory pressure and makes every open store of the process free memory. One for each process.
///
/// An event of a source without levels is a warning. It is critical if it comes again within `persistence` after a relief, or
/// if almost no memory is available. For 2 s after each relief only a higher level has an effect: the measurements are
/// delayed.
///
/// After `init` only its loop's thread uses it, hence Sendable. Call `stop` before the loop is discarded.
package final class PressureWatch: @unchecked Sendable {
  package static let holdOff: Int64 = 2_000_000_000
  /// If another event comes within this time after a relief, the relief wasn't enough. In ns.
  package static let persistence: Int64 = 10_000_000_000

  /// The delay in ns before the kernel is asked for events. Closing such a file takes the kernel 5 to 20 ms; a program that ends
  /// before the delay never opens one.
  package static let startDelay: Int64 = 2_000_000_000

  private let makeSources: () -> [any PressureSource]
  private var sources: [any PressureSource] = []
  private var beginning: LoopTimer?
  private let isShort: () -> Bool
  private let relieve: (MemoryPressure, PressureOrigin) -> Void
  private var host: (any PressureHost)?
  private var timers: [Int: LoopTimer] = [:]
  private var last: (level: MemoryPressure, at: Int64)?
  /// Events that were ignored because memory had just been freed.
  package private(set) var heldOff = 0

  /// - Parameters:
  ///   - sources: the sources of this process, or a test's own.
  ///   - isShort: returns whether almost no memory is available.
  ///   - relieve: frees memory. It may take some tenths of a second, and may pass the work to another thread.
  package init(
    sources: @autoclosure @escaping () -> [any PressureSource] = PressureWatch.standardSources(),
    isShort: @escaping () -> Bool = { MemoryGauge().level == .critical },
    relieve: @escaping (MemoryPressure, PressureOrigin) -> Void
  ) {
    makeSources = sources
    self.isShort = isShort
    self.relieve = relieve
  }

  /// The kernel's pressure stall information: of the control group whose `memory.pressure` file `$MEMORY_PRESSURE_WATCH` names,
  /// as systemd sets it, else of the process's own group, else of the machine. If the kernel has none, a check of the available
  /// memory every 5 s. No source if the variable is empty or names `/dev/null`.
  ///
  /// - Parameters: for tests.
  ///   - root: a prefix for the paths of system files.
  ///   - named: the value of the variable.
  package static func standardSources(
    _ root: String = "", named: String? = nhs_environment("MEMORY_PRESSURE_WATCH").map { String(cString: $0) }
  ) -> [any PressureSource] {
    if named == "" || named == "/dev/null" { return [] }
    let named = named.flatMap { isOfKernel($0) ? $0 : nil }
    for file in [named, Cgroups(root).pressureFile, root + "/proc/pressure/memory"].compactMap({ $0 }) {
      // Events at 0.2 s of 2 s lost by some tasks, and by all tasks. An unprivileged process may only use multiples of 2 s as
      // the window.
      if let some = StallSource(file, .some, stall: 200_000, window: 2_000_000) {
        return [some] + [StallSource(file, .full, stall: 200_000, window: 2_000_000)].compactMap { $0 }
      }
    }
    return [PollingSource(MemoryGauge(root))]
  }

  /// Returns whether a file is on a file system of the kernel. Other files aren't opened: opening a pipe would steal its data,
  /// and a plain file would be written to.
  private static func isOfKernel(_ path: String) -> Bool {
    guard path.hasPrefix("/") else { return false }
    // O_PATH, a macro that Swift does not see.
    let found = nhs_openat(AT_FDCWD, path, 0o10000000 | O_CLOEXEC, 0)
    guard found >= 0 else { return false }
    defer { close(found) }
    let (cgroup2, proc): (Int64, Int64) = (0x6367_7270, 0x9fa0)
    return [cgroup2, proc].contains(nhs_file_system(found))
  }

  /// Begins to listen, `delay` nanoseconds from now. Call it on the loop's thread.
  package func start(on host: any PressureHost, after delay: Int64 = 0) {
    guard self.host == nil else { return }
    self.host = host
    guard delay > 0 else { return listen(on: host) }
    beginning = host.at(host.now + delay) { [weak self] in
      guard let self, let host = self.host else { return }
      self.beginning = nil
      self.listen(on: host)
    }
  }

  private func listen(on host: any PressureHost) {
    sources = makeSources()
    for (number, source) in sources.enumerated() {
      if let (fd, events) = source.descriptor {
        host.watch(fd, events) { [weak self] events in self?.look(number, events) }
      }
      lookLater(number)
    }
  }

  /// Stops listening. Call it on the loop's thread.
  package func stop() {
    guard let host else { return }
    self.host = nil
    for source in sources {
      if let (fd, _) = source.descriptor { host.unwatch(fd) }
    }
    for timer in timers.values { host.cancelTimer(timer) }
    if let beginning { host.cancelTimer(beginning) }
    beginning = nil
    timers = [:]
    sources = []
  }

  private func lookLater(_ number: Int) {
    guard let host, let interval = sources[number].interval else { return }
    timers[number] = host.at(host.now + interval) { [weak self] in
      self?.look(number, 0)
      self?.lookLater(number)
    }
  }

  private func look(_ number: Int, _ events: UInt32) {
    guard let host else { return }
    let source = sources[number]
    switch source.look(events) {
    case .nothing: break
    case .gone:
      // Its descriptor would be ready forever.
      if let (fd, _) = source.descriptor { host.unwatch(fd) }
    case .pressure(let level): act(level, source.origin, host.now)
    }
  }

  private func act(_ said: MemoryPressure?, _ origin: PressureOrigin, _ now: Int64) {
    let since = last.map { now - $0.at } ?? .max
    let isHeldOff = since < Self.holdOff
    let level: MemoryPressure
    if let said {
      level = said
    } else if !isHeldOff && since < Self.persistence {
      level = .critical
    } else {
      level = isShort() ? .critical : .warning
    }
    if isHeldOff, let last, level <= last.level {
      heldOff += 1
      return
    }
    last = (level, now)
    relieve(level, origin)
  }
}
