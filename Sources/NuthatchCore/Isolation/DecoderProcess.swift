import CSystem
import NuthatchImaging

/// The process that decodes pictures for this one. It is started when a picture needs it, and again when it has ended.
///
/// Several pictures are decoded at once, each in a lane. If it ends with several pictures in it, each of them is decoded again,
/// alone: so a picture that ends it is found, and no other picture fails for it.
final class DecoderProcess: IsolatedDecoder {
  struct State {
    var running: RunningDecoder?
    /// Pictures in it.
    var busy = 0
    /// Whether a picture has it alone, or it is being started.
    var isTaken = false
    /// Pictures that wait for all others to end; no other begins meanwhile.
    var waitingAlone = 0
    /// The libraries that pictures have needed so far.
    var libraries: Int32 = 0
  }

  private struct Turn {
    let decoder: RunningDecoder
    let lane: DecoderLane
    let isAlone: Bool
  }

  /// How often a picture starts a decoder that ends before it gets the picture.
  private static let mostStarts = 3

  let state = Locked(State())
  private let bell = EventCount()
  private let program: String?
  private let lanes: Int
  /// The bytes that all its pictures may take together.
  private let memory: Int
  /// The longest time for one picture, in nanoseconds.
  private let timeLimit: Int64
  private let epoch = nhs_fork_epoch()
  let refused: RefusedPictures

  // Guarded by the process lock.
  nonisolated(unsafe) private static var current: DecoderProcess?

  /// The one of this process. A forked child has one of its own, which it starts when it needs it.
  static var own: DecoderProcess {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    if let current, current.epoch == nhs_fork_epoch() { return current }
    // Another thread of the parent may have held its lock, so it is never used or freed here.
    if let current { _ = Unmanaged.passRetained(current) }
    let made = DecoderProcess(program: found)
    current = made
    return made
  }

  private static var found: String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { path in
      guard let base = path.baseAddress, nhs_decoder_find(base, path.count) != 0 else { return nil }
      return String(cString: base)
    }
  }

  /// - Parameter program: the path of nuthatch-decoder; nil if there is none.
  init(
    program: String?, lanes: Int = WorkerPool.processors, memory: Int = MemoryBudget.own.decoderProcess,
    timeLimit: Int64 = 30_000_000_000, refused: RefusedPictures = RefusedPictures()
  ) {
    self.program = program
    self.memory = memory
    self.lanes = min(max(2, lanes), Int(NHS_DECODER_MOST_LANES))
    self.timeLimit = timeLimit
    self.refused = refused
  }

  func decode(_ bytes: UnsafeRawBufferPointer, _ work: IsolatedWork) throws(ImageFault) -> IsolatedResult {
    if let seconds = refused.refusal(of: bytes) {
      throw ImageFault(
        .decoderFailed(refusedFor: seconds),
        "the picture has ended the decoder twice; it is tried again in \(seconds) s")
    }
    var mustBeAlone = false
    var starts = 0
    while true {
      let turn = try begin(work.libraries, alone: mustBeAlone)
      let start = nhs_monotonic_ns()
      let outcome: DecoderLane.Outcome
      do throws(ImageFault) {
        outcome = try turn.lane.run(bytes, work, deadline: start &+ timeLimit)
      } catch {
        finish(turn, .fault(error), nhs_monotonic_ns() &- start)
        throw error
      }
      let end = finish(turn, outcome, nhs_monotonic_ns() &- start)
      switch outcome {
      case .made(let result): return result
      case .fault(let fault) where fault.kind == .outOfMemory:
        // Another picture may have taken the memory.
        guard turn.isAlone else {
          mustBeAlone = true
          continue
        }
        throw ImageFault(
          .tooManyPixels,
          "the picture needs more than the \(ImageLimits.mebibytes(memory)) of memory that its decoder may take"
        )
      case .fault(let fault): throw fault
      case .gone where starts < Self.mostStarts: starts += 1
      case .ended where end?.wasAlone == false && !turn.isAlone: mustBeAlone = true
      case .forged where end?.wasAlone == false && !turn.isAlone: mustBeAlone = true
      case .tooSlow: throw failure(.own("it took longer than \(timeLimit / 1_000_000_000) s"), bytes)
      case .gone, .ended, .forged: throw failure(end?.how, bytes)
      }
    }
  }

  private func failure(_ how: RunningDecoder.End?, _ bytes: UnsafeRawBufferPointer) -> ImageFault {
    guard case .own(let what) = how else {
      return ImageFault(.decoderFailed(refusedFor: nil), "the decoder was killed while it had the picture")
    }
    refused.note(bytes)
    return ImageFault(.decoderFailed(refusedFor: nil), "the picture ended the decoder: \(what)")
  }

  // MARK: Turns

  /// Waits for a lane.
  ///
  /// - Parameter alone: whether no other picture may be in the decoder.
  private func begin(_ libraries: Int32, alone: Bool) throws(ImageFault) -> Turn {
    var isWaitingAlone = false
    while true {
      let seen = bell.current
      enum Step {
        case turn(Turn)
        case start(old: RunningDecoder?, libraries: Int32)
        case wait
      }
      let step = state.withLock { state -> Step in
        state.libraries |= libraries
        let isUsable =
          state.running.map {
            $0.end == nil && libraries & ~$0.libraries == 0 && $0.spent < RunningDecoder.mostSpent
          } ?? false
        let needsAll = alone || !isUsable
        if isWaitingAlone { state.waitingAlone -= 1 }
        isWaitingAlone = false
        if state.isTaken || (needsAll ? state.busy > 0 : state.waitingAlone > 0) {
          if needsAll { state.waitingAlone += 1 }
          isWaitingAlone = needsAll
          return .wait
        }
        if !isUsable {
          state.isTaken = true
          return .start(old: state.running, libraries: state.libraries)
        }
        guard let decoder = state.running, let lane = decoder.idle.popLast() else { return .wait }
        state.busy += 1
        decoder.busy += 1
        state.isTaken = alone
        return .turn(Turn(decoder: decoder, lane: lane, isAlone: alone))
      }
      switch step {
      case .turn(let turn):
        // Other pictures waited while this one waited to be alone. They may have a turn now.
        bell.ring()
        return turn
      case .wait:
        nhs_release_forks()
        bell.wait(after: seen, until: .max)
        nhs_hold_forks()
      case .start(let old, let libraries):
        old?.close()
        do throws(ImageFault) {
          let started = try start(libraries)
          state.withLock { state in
            (state.running, state.isTaken) = (started, false)
          }
          bell.ring()
        } catch {
          state.withLock { state in
            (state.running, state.isTaken) = (nil, false)
          }
          bell.ring()
          throw error
        }
      }
    }
  }

  private func start(_ libraries: Int32) throws(ImageFault) -> RunningDecoder {
    guard let program else {
      throw ImageFault(
        .decoderFailed(refusedFor: nil),
        "the program nuthatch-decoder is missing; it is installed with the library")
    }
    return try RunningDecoder(
      program, libraries: libraries, lanes: lanes, memory: memory, wait: max(timeLimit, 30_000_000_000))
  }

  /// Returns how the decoder ended, if it has.
  @discardableResult
  private func finish(
    _ turn: Turn, _ outcome: DecoderLane.Outcome, _ time: Int64
  ) -> (how: RunningDecoder.End, wasAlone: Bool)? {
    let end = state.withLock { state in
      switch outcome {
      case .fault(let fault) where fault.kind == .outOfMemory:
        // What its allocator keeps counts against the limit. The next picture gets a new decoder.
        turn.decoder.spent = RunningDecoder.mostSpent
      case .made, .fault: break
      case .gone, .ended, .tooSlow, .forged: turn.decoder.settle(outcome)
      }
      state.busy -= 1
      if turn.isAlone { state.isTaken = false }
      turn.decoder.busy -= 1
      turn.decoder.spent &+= time
      turn.decoder.idle.append(turn.lane)
      return turn.decoder.end
    }
    bell.ring()
    return end
  }
}
