import CSystem
import Glibc
import NuthatchBase

/// An event loop, as far as a `PressureWatch` needs one. All is called, and calls, on one thread.
package protocol PressureHost: AnyObject {
  /// Nanoseconds of the monotonic clock.
  var now: Int64 { get }
  /// Calls `handler` with epoll's events whenever the descriptor has some of `events`.
  func watch(_ descriptor: Int32, _ events: UInt32, _ handler: @escaping (UInt32) -> Void)
  func unwatch(_ descriptor: Int32)
  func at(_ due: Int64, _ action: @escaping () -> Void) -> LoopTimer
  func cancelTimer(_ timer: LoopTimer)
}

/// Listens to the sources of memory pressure and makes every open store of the process give up memory. One a process.
///
/// An event of a source that knows no grades is a warning, and critical when it comes again soon although room was
/// made, or when hardly anything is available. After each relief nothing is done for 2 s but for a higher grade, since
/// what is measured lags behind what was done.
///
/// After `init` it is its loop's thread's business alone, hence Sendable. `stop` is due before the loop forgets it.
package final class PressureWatch: @unchecked Sendable {
  package static let holdOff: Int64 = 2_000_000_000
  /// For so long after a relief another event means that it wasn't enough.
  package static let persistence: Int64 = 10_000_000_000

  /// When the kernel is asked to tell. Who stops listening waits for the kernel, 5 to 20 ms for each file: programs that
  /// are over by then never began.
  package static let patience: Int64 = 2_000_000_000

  private let makeSources: () -> [any PressureSource]
  private var sources: [any PressureSource] = []
  private var beginning: LoopTimer?
  private let isShort: () -> Bool
  private let relieve: (MemoryPressure, PressureOrigin) -> Void
  private var host: (any PressureHost)?
  private var timers: [Int: LoopTimer] = [:]
  private var last: (level: MemoryPressure, at: Int64)?
  /// Events after which nothing was done, because something had just been done.
  package private(set) var heldOff = 0

  /// - Parameters:
  ///   - sources: those of this process, unless a test brings its own.
  ///   - isShort: whether hardly any memory is available.
  ///   - relieve: makes room. It may take some tenths of a second, and may be told to another thread.
  package init(
    sources: @autoclosure @escaping () -> [any PressureSource] = PressureWatch.standardSources(),
    isShort: @escaping () -> Bool = { MemoryGauge().level == .critical },
    relieve: @escaping (MemoryPressure, PressureOrigin) -> Void
  ) {
    makeSources = sources
    self.isShort = isShort
    self.relieve = relieve
  }

  /// The kernel's pressure stall information: of the control group whose `memory.pressure` `$MEMORY_PRESSURE_WATCH` names, as
  /// systemd does, else of the own one, else of the machine; where there is none, a look at what is available every few
  /// seconds. Nothing at all when the variable is empty or names `/dev/null`.
  ///
  /// - Parameters: for tests.
  ///   - root: before the names of system files.
  ///   - named: what the variable says.
  package static func standardSources(
    _ root: String = "", named: String? = nhs_environment("MEMORY_PRESSURE_WATCH").map { String(cString: $0) }
  ) -> [any PressureSource] {
    if named == "" || named == "/dev/null" { return [] }
    let named = named.flatMap { isOfKernel($0) ? $0 : nil }
    for file in [named, Cgroups(root).pressureFile, root + "/proc/pressure/memory"].compactMap({ $0 }) {
      // 0.2 s of 2 s lost by somebody, and by everybody. Windows of others than root are multiples of 2 s.
      if let some = StallSource(file, .some, stall: 200_000, window: 2_000_000) {
        return [some] + [StallSource(file, .full, stall: 200_000, window: 2_000_000)].compactMap { $0 }
      }
    }
    return [PollingSource(MemoryGauge(root))]
  }

  /// Whether a file is on a file system that the kernel makes up. Anything else isn't even opened: a pipe's reader would miss what
  /// was read here, and a plain file would be written to.
  private static func isOfKernel(_ path: String) -> Bool {
    guard path.hasPrefix("/") else { return false }
    // O_PATH, a macro that Swift does not see.
    let found = nhs_openat(AT_FDCWD, path, 0o10000000 | O_CLOEXEC, 0)
    guard found >= 0 else { return false }
    defer { close(found) }
    let (cgroup2, proc): (Int64, Int64) = (0x6367_7270, 0x9fa0)
    return [cgroup2, proc].contains(nhs_file_system(found))
  }

  /// Begins to listen, `delay` nanoseconds from now. To be called on the loop's thread.
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

  /// Stops listening. To be called on the loop's thread.
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
      // It would be ready for ever.
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
