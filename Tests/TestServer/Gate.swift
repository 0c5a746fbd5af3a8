/// A place in scripts where answers wait until the test lets them go on: `.wait("name")`.
public struct Gate: Sendable {
  let name: String
  let core: Core

  /// The step that waits here.
  public var step: Script.Step { .wait(name) }

  /// Lets everybody pass, those who wait and those who come.
  public func open() { change { $0.isOpen = true } }

  /// Closes it again.
  public func close() { change { $0.isOpen = false } }

  /// Lets so many pass, waiting or still to come, and stays closed for the others.
  public func admit(_ count: Int = 1) { change { $0.permits += count } }

  /// How many have come so far.
  public var reached: Int { core.monitor.access { $0.gates[name]?.reached ?? 0 } }

  /// How many wait now.
  public var waiting: Int { core.monitor.access { $0.gates[name]?.waiting.count ?? 0 } }

  /// Waits until so many have come in all; false when the time is over.
  public func waitUntilReached(_ count: Int = 1, seconds: Double = 30) -> Bool {
    core.monitor.wait(seconds: seconds) { ($0.gates[name]?.reached ?? 0) >= count }
  }

  private func change(_ body: (inout GateState) -> Void) {
    core.monitor.access { state in
      body(&state.gates[name, default: GateState()])
      state.wakeWaiters(at: name)
    }
  }
}

extension TestServer {
  /// The gate of that name, closed until it is opened. `reset` forgets it.
  public func gate(_ name: String) -> Gate { Gate(name: name, core: core) }
}
