import CSystem
import Glibc
import NuthatchStore
import NuthatchTransport

/// What all handles of one directory share in a process: the store, the fetches under way, the failures remembered.
final class SharedCache: @unchecked Sendable {
  /// The options that belong to the directory, not to a handle.
  struct Settings: Equatable, Sendable {
    var thumbs: Cache.ThumbStore
    var keepsSource: Bool
  }

  let store: Store
  let path: String
  let settings: Settings
  let locks: FlightLocks
  let failures = FailedURLs()
  let flights = Flights()
  let counts = CacheCounts()
  /// Revalidations behind answers that were given already.
  let behind = Revalidations()
  let runtime: Runtime
  let clock: WallClock
  let retryPolicy: RetryPolicy
  // Confined to the loop's thread.
  let fetches = Fetches()
  let decodes: Decodes

  init(_ path: String, _ options: Cache.Options, _ runtime: Runtime) throws(NuthatchError) {
    do throws(StoreFault) {
      store = try Store.open(
        path,
        Store.Options(
          diskBytes: options.diskBytes, memoryBytes: options.memoryBytes, memoryItems: options.memoryItems,
          spill: options.spill.map { $0 == .eager ? .eager : .pressure }))
    } catch {
      throw NuthatchError(error, path: path)
    }
    settings = Settings(thumbs: options.store ?? .packed, keepsSource: options.keepSource ?? true)
    self.path = path
    locks = FlightLocks(directory: path)
    self.runtime = runtime
    clock = options.clock
    retryPolicy = options.retryPolicy
    decodes = Decodes(runtime)
  }

  /// The name of an option that was set otherwise when the directory was opened; what isn't said doesn't differ.
  func conflict(with options: Cache.Options) -> String? {
    if let thumbs = options.store, thumbs != settings.thumbs { return "store" }
    if let keeps = options.keepSource, keeps != settings.keepsSource { return "keep_source" }
    return nil
  }

  func maker(_ plan: RequestPlan) -> PictureMaker {
    PictureMaker(
      workers: runtime.workers, store: store, keeping: settings.thumbs, maxPixels: plan.maxPixels,
      counts: counts)
  }

  /// Counts the end of a fetch.
  func note(_ outcome: FetchOutcome) {
    switch outcome {
    case .answered: counts.fetched.count()
    case .unchanged: counts.revalidated.count()
    case .failed: counts.failed.count()
    case .stored: break
    }
  }

  // MARK: Failures

  func rememberedFailure(_ plan: RequestPlan) -> NuthatchError? {
    guard plan.remembersFailures else { return nil }
    return failures.failure(of: plan.name, plan.failureLimits, now: runtime.loop.now)
  }

  func remember(_ error: NuthatchError, status: Int?, _ plan: RequestPlan) {
    guard plan.remembersFailures, let seconds = FailedURLs.lifetime(of: error.code, status: status) else {
      return
    }
    failures.note(plan.name, error, plan.failureLimits, seconds: seconds, now: runtime.loop.now)
  }
}

extension NuthatchError {
  init(_ fault: StoreFault, path: String) {
    let code: ErrorCode =
      switch fault.kind {
      case .io: .io
      case .noSpace: .noSpace
      case .outOfMemory: .outOfMemory
      case .denied: .denied
      case .invalid: .invalid
      case .conflict: .conflict
      case .tooLarge: .tooLarge
      case .forked: .forked
      case .closed: .closed
      }
    self.init(code, "\(fault.message): \(path)")
  }
}
