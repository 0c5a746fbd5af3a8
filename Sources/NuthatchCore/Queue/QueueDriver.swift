import CSystem
import NuthatchTransport

/// Connects the queue to the loop: its timer, and the watch of the default route. Only the loop's thread uses it, hence
/// Sendable.
final class QueueDriver: @unchecked Sendable {
  let queue: FetchQueue
  private let loop: EventLoop
  private var link: LinkWatch?

  init(_ loop: EventLoop, mostAtOnce: Int) {
    self.loop = loop
    var settings = QueueSettings()
    settings.mostAtOnce = mostAtOnce
    let alarm = Alarm(loop)
    queue = FetchQueue(settings, wake: { alarm.ring(at: $0) })
    alarm.queue = queue
  }

  /// Applies the program's options for the queue.
  func adoptOptions() {
    var settings = queue.settings.adopting(ProcessQueue.inForce)
    settings.rates = ProcessQueue.rates
    queue.change(settings, now: loop.now)
  }

  /// Applies the program's options, and begins to watch links, addresses and routes. `touched` is called for every change of
  /// them.
  func start(touched: @escaping () -> Void) {
    adoptOptions()
    let watch = LinkWatch(
      touched: { [weak self] in
        guard let self else { return }
        self.queue.networkChanged(now: self.loop.now)
        touched()
      },
      changed: { [weak self] link in
        guard let self else { return }
        self.queue.linkChanged(to: link.kind, now: self.loop.now)
      })
    link = watch
    queue.linkChanged(to: watch.link.kind, now: loop.now)
    guard watch.descriptor >= 0 else { return }
    loop.watch(watch.descriptor, UInt32(EPOLLIN.rawValue)) { [weak watch] _ in watch?.readMessages() }
  }

  /// Stops watching the default route. Call it before the loop ends.
  func stop() {
    guard let watch = link else { return }
    if watch.descriptor >= 0 { loop.unwatch(watch.descriptor) }
    watch.stop()
    link = nil
  }

  /// Calls `tick` at the times that the queue asks for. The queue retains the alarm, so the alarm must not retain the queue.
  private final class Alarm {
    private let loop: EventLoop
    weak var queue: FetchQueue?

    init(_ loop: EventLoop) { self.loop = loop }

    func ring(at time: Int64) {
      _ = loop.at(time) { [weak self] in
        guard let self else { return }
        self.queue?.tick(now: self.loop.now)
      }
    }
  }
}
