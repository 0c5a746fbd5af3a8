import CSystem
import Glibc
import NuthatchBase
import NuthatchImaging

/// A started decoder and its lanes.
///
/// Its state is guarded by the lock of `DecoderProcess`, hence Sendable.
final class RunningDecoder: @unchecked Sendable {
  /// How it ended.
  enum End {
    /// Something from outside, such as the kernel's memory killer.
    case killed
    /// A fault of its own: a signal, or a picture that took too long. The text says which.
    case own(String)
  }

  /// It is replaced after so much time of decoding.
  static let mostSpent: Int64 = 3_600_000_000_000

  /// The libraries that it was told to load.
  let libraries: Int32
  private(set) var process: nhs_decoder_process
  var idle: [DecoderLane] = []
  /// The pictures that it decodes.
  var busy = 0
  /// The time of all pictures together, in nanoseconds.
  var spent: Int64 = 0
  /// How it ended, and whether it had one picture then.
  private(set) var end: (how: End, wasAlone: Bool)?

  /// Waits until the decoder is in its sandbox.
  ///
  /// - Parameter memory: the bytes that its pictures may take together.
  init(_ program: String, libraries: Int32, lanes: Int, memory: Int, wait: Int64) throws(ImageFault) {
    self.libraries = libraries
    process = nhs_decoder_process()
    let failure = Self.withEnvironment { environment in
      nhs_decoder_start(program, String(libraries), String(memory), environment, Int32(lanes), &process)
    }
    guard failure == 0 else {
      throw Self.fault("can't be started: \(String(cString: strerror(failure)))")
    }
    let sockets = withUnsafeBytes(of: process.lanes) { Array($0.bindMemory(to: Int32.self).prefix(lanes)) }
    var hello = nhs_decoder_hello()
    let (deadline, _) = nhs_monotonic_ns().addingReportingOverflow(wait)
    nhs_release_forks()
    let received = nhs_decoder_receive(
      sockets[0], &hello, MemoryLayout<nhs_decoder_hello>.size, nil, deadline)
    nhs_hold_forks()
    guard received == 0, hello.magic == UInt32(NHS_DECODER_MAGIC) else {
      nhs_decoder_kill(&process)
      nhs_decoder_close(&process)
      throw Self.fault(
        received == ETIMEDOUT
          ? "isn't ready after \(wait / 1_000_000_000) s"
          : "has ended at its start: it needs libnuthatch.so.1 of the same version, and seccomp")
    }
    idle = sockets.map { DecoderLane($0) }
  }

  private static func fault(_ what: String) -> ImageFault {
    ImageFault(.decoderFailed(refusedFor: nil), "the program nuthatch-decoder \(what)")
  }

  /// Only what finds libraries and fonts is passed on.
  private static func withEnvironment(
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) -> Int32 {
    let names = [
      "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "FONTCONFIG_FILE", "FONTCONFIG_PATH",
      "LD_LIBRARY_PATH",
    ]
    var lines = ["LANG=en_US.UTF-8", "SWIFT_BACKTRACE=enable=no", "RAYON_NUM_THREADS=1"]
    for name in names { if let value = Environment.variable(name) { lines.append("\(name)=\(value)") } }
    let copies: [UnsafeMutablePointer<CChar>?] = lines.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeBufferPointer { $0.baseAddress.map(body) ?? EINVAL }
  }

  /// Notes the end. Only the first call decides; the process is killed then if it hasn't ended by itself.
  func settle(_ outcome: DecoderLane.Outcome) {
    guard end == nil else { return }
    let how: End
    switch outcome {
    case .tooSlow: how = .own("a picture took too long")
    case .forged: how = .own("the decoder sent a message that it can't send")
    default:
      // The guard tells it right after the end.
      let status = nhs_decoder_status(&process, 2000)
      how = Self.meaning(of: status)
    }
    end = (how, busy <= 1)
    nhs_decoder_kill(&process)
  }

  private static func meaning(of status: Int32) -> End {
    let signal = status & 0x7F
    // Without a status, the guard was killed.
    if status < 0 || signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP {
      return .killed
    }
    return .own(
      signal == 0 ? "the decoder ended with status \(status >> 8)" : "the decoder got signal \(signal)")
  }

  /// Call it when no picture is in it.
  func close() {
    nhs_decoder_kill(&process)
    idle = []
    nhs_decoder_close(&process)
  }
}
