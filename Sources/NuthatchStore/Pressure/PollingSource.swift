/// Checks the available memory every 5 s, for kernels without pressure stall information.
package final class PollingSource: PressureSource {
  package let origin = PressureOrigin.polling
  package let descriptor: (fd: Int32, events: UInt32)? = nil
  package let interval: Int64? = 5_000_000_000
  private let gauge: MemoryGauge

  package init(_ gauge: MemoryGauge) { self.gauge = gauge }

  package func look(_ events: UInt32) -> PressureSign { gauge.level.map { .pressure($0) } ?? .nothing }
}
