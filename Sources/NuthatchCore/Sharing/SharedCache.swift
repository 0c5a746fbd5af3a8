import NuthatchImaging
import NuthatchStore
import NuthatchTransport
import Synchronization

/// Everything that the handles of one directory share in a process: the store, the fetches under way, remembered failures.
// Its parts are Sendable or confined to the loop's thread, hence Sendable.
final class SharedCache: @unchecked Sendable {
  /// The options that belong to the directory, not to a handle.
  struct Settings: Equatable, Sendable {
    var thumbs: ThumbStore
    var keepsSource: Bool
    var outboxBytes: Int64
    var outboxItems: Int

    init(_ options: Options) {
      thumbs = options.thumbStore ?? .packed
      keepsSource = options.keepSource ?? true
      outboxBytes = options.outboxBytes ?? 256 << 20
      outboxItems = options.outboxItems ?? 10_000
    }
  }

  let store: Store
  let reader: Reader
  let path: String
  let settings: Settings
  /// The tiers that are searched before the origin server is asked, in this order.
  let tiers: [any FetchTier]
  let rememberedFailures = RememberedFailures()
  let counts = CacheCounts()
  let revalidations = Revalidations()
  /// The answers that workers are reading and verifying for peeks.
  private let checking = Locked<Set<AnswerName>>([])
  let runtime: Runtime
  let transport: any Transport
  let clock: WallClock
  let retryPolicy: RetryPolicy
  private let keepsPixels: Bool
  let outbox: DirectoryOutbox
  let cookies: CookieJars
  /// Whether a retry of due removals is planned.
  let waitsToRemove = Atomic(false)
  // `fetches` and `decodes` are confined to the loop's thread.
  let fetches = FetchTable()
  let decodes: PendingDecodes

  init(
    _ path: String, _ options: Options, _ seams: CacheSeams, _ runtime: Runtime
  ) throws(NuthatchError) {
    self.path = path
    store = try Self.openStore(path, options)
    reader = Reader(store: store, clock: seams.clock)
    settings = Settings(options)
    let locks = FetchLocks(directory: path, beforeNotes: seams.beforeNotes)
    tiers = [OtherProcesses(locks, runtime)] + seams.tiers
    self.runtime = runtime
    transport = seams.transport?(runtime.loop) ?? runtime.transport
    clock = seams.clock
    retryPolicy = seams.retryPolicy
    keepsPixels = seams.keepsPixels
    outbox = DirectoryOutbox(path, settings, seams, runtime)
    cookies = CookieJars(path, seams.clock, runtime.writers)
    decodes = PendingDecodes(runtime)
  }

  private static func openStore(_ path: String, _ options: Options) throws(NuthatchError) -> Store {
    do throws(StoreFault) {
      return try Store.open(
        path, storeOptions(options),
        following: { (store, groups, removed) throws(StoreFault) in
          _ = try forgetLinked(groups, removed, store)
        })
    } catch {
      throw NuthatchError(error, path: path)
    }
  }

  private static func storeOptions(_ options: Options) -> Store.Options {
    Store.Options(
      diskBytes: options.diskBytes.map { Int($0) }, memoryBytes: options.memoryBytes.map { Int($0) },
      memoryItems: options.memoryItems,
      spill: options.spill.map { $0 == .eager ? .eager : .pressure },
      checksAlways: options.checkBytes.map { $0 == .always })
  }

  /// - Throws: `conflict` if an option differs from the value with which the directory was opened. Options that aren't set
  ///   never conflict. `invalid` for an option that the store refuses.
  func check(_ options: Options) throws(NuthatchError) {
    func conflict(_ what: String) -> NuthatchError {
      NuthatchError(.conflict, "this process has opened the directory before with another \(what): \(path)")
    }
    if let thumbs = options.thumbStore, thumbs != settings.thumbs { throw conflict("thumb_store") }
    if let keeps = options.keepSource, keeps != settings.keepsSource { throw conflict("keep_source") }
    if let bytes = options.outboxBytes, bytes != settings.outboxBytes { throw conflict("outbox_bytes") }
    if let items = options.outboxItems, items != settings.outboxItems { throw conflict("outbox_items") }
    let other: String?
    do throws(StoreFault) { other = try store.conflict(with: Self.storeOptions(options)) } catch {
      throw NuthatchError(error, path: path)
    }
    if let other { throw conflict(other) }
  }

  func maker(_ limits: ImageLimits) -> PictureMaker {
    PictureMaker(
      workers: runtime.workers, thumbnails: reader.thumbnails, keeping: settings.thumbs,
      keepsPixels: keepsPixels, limits: limits, counts: counts)
  }

  /// Makes a worker read and verify an answer, because that takes too long for a peek. A later peek finds the result.
  func check(_ plan: RequestPlan) {
    guard checking.withLock({ $0.insert(plan.name).inserted }) else { return }
    let isSubmitted = runtime.workers.submit(priority: plan.priority) {
      _ = self.reader.readAdmitted(plan)
      self.checking.withLock { _ = $0.remove(plan.name) }
    }
    if !isSubmitted { checking.withLock { _ = $0.remove(plan.name) } }
  }

  /// Counts the end of a fetch.
  func note(_ outcome: FetchOutcome) {
    switch outcome {
    case .answered: counts.fetched.count()
    case .unchanged: counts.revalidated.count()
    case .failed: counts.failed.count()
    case .fetchedElsewhere: break
    }
  }

  // MARK: Failures

  /// Decides what to do with a stored answer. Also returns the remembered failure, if there is one.
  func decide(_ stored: StoredAnswer?, _ plan: RequestPlan) -> (
    decision: Decision, remembered: NuthatchError?
  ) {
    var remembered: NuthatchError?
    func remembersFailure() -> Bool {
      guard plan.remembersFailures else { return false }
      remembered = rememberedFailures.failure(
        of: plan.name, plan.failureLimits, now: runtime.loop.now, isCurrent: store.isCurrent)
      return remembered != nil
    }
    let decision = Decision(stored, plan, remembersFailure: remembersFailure())
    return (decision, remembered)
  }

  /// Remembers an error, if it is of a kind that is remembered. Later requests for the same answer then fail without a fetch.
  func remember(_ error: NuthatchError, status: Int?, _ plan: RequestPlan) {
    guard plan.remembersFailures, let seconds = RememberedFailures.lifetime(of: error.code, status: status)
    else { return }
    rememberedFailures.note(
      plan.name, error, plan.failureLimits, seconds: seconds, now: runtime.loop.now, began: momentNow(plan))
  }
}

extension NuthatchError {
  init(_ fault: StoreFault, path: String) {
    let code: ErrorCode =
      switch fault.kind {
      case .io, .readOnly: .io
      case .noSpace: .noSpace
      case .outOfMemory: .outOfMemory
      case .denied: .denied
      case .unsafeFile: .unsafeFile
      case .invalid: .invalid
      case .conflict: .conflict
      case .tooLarge: .tooLarge
      case .busy: .busy
      case .forked: .forked
      case .closed: .closed
      }
    self.init(code, "\(fault.message): \(path)")
  }
}
