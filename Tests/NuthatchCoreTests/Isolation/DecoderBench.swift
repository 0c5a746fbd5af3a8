import CSystem
import Foundation
import NuthatchImaging
import NuthatchTransport

@testable import NuthatchCore

/// A decoder of a test's own.
final class DecoderBench: Sendable {
  let process: DecoderProcess

  static let program: String = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(
      "nuthatch-testdecoder"
    )
    .path
  }()

  init(
    _ program: String? = DecoderBench.program, lanes: Int = 2, memory: Int = 256 << 20, seconds: Int64 = 60,
    refused: RefusedPictures = RefusedPictures()
  ) {
    process = DecoderProcess(
      program: program, lanes: lanes, memory: memory, timeLimit: seconds * 1_000_000_000, refused: refused)
  }

  deinit {
    process.state.withLock { state in
      state.running?.close()
      state.running = nil
    }
  }

  func options(isolated: Bool = true) -> DecodeOptions {
    var options = DecodeOptions()
    options.limits.isIsolated = isolated
    options.isolatedDecoder = process
    return options
  }

  func decode(
    _ bytes: [UInt8], _ boxes: [ThumbnailBox] = [ThumbnailBox(32)], isolated: Bool = true
  ) -> Result<DecodeResult, ImageFault> {
    bytes.withUnsafeBytes { bytes in
      do throws(ImageFault) {
        return .success(
          try Thumbnailer.thumbnails(of: bytes, boxes: boxes, options: options(isolated: isolated)))
      } catch {
        return .failure(error)
      }
    }
  }

  // MARK: Its processes

  /// The guard, whose child decodes.
  var guardID: pid_t? {
    guard let descriptor = process.state.withLock({ $0.running?.process.pidfd }) else { return nil }
    let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
    let line = text?.split(separator: "\n").first { $0.hasPrefix("Pid:") }
    return line.flatMap { pid_t($0.dropFirst(4).trimmingCharacters(in: .whitespaces)) }
  }

  var decoderID: pid_t? {
    guard let guardID else { return nil }
    let text = try? String(contentsOfFile: "/proc/\(guardID)/task/\(guardID)/children", encoding: .utf8)
    return text.flatMap { pid_t($0.trimmingCharacters(in: .whitespaces)) }
  }

  /// Stops the decoder, begins to decode, and calls `then` with the decoder's ID as soon as the picture waits for it.
  func whileStopped(_ bytes: [UInt8], _ then: (pid_t) -> Void) -> ImageFault? {
    guard case .success = decode(Self.picture(3)), let decoder = decoderID else {
      return ImageFault(.internal, "the decoder didn't start")
    }
    Self.stop(decoder)
    let outcome = Locked<Result<DecodeResult, ImageFault>?>(nil)
    _ = DetachedThread.start("picture") {
      let made = self.decode(bytes)
      outcome.withLock { $0 = made }
    }
    waitUntil { self.process.state.withLock { $0.busy } > 0 }
    // It is stopped, so that it can't have answered; the request is sent right after.
    usleep(100_000)
    then(decoder)
    waitUntil { outcome.withLock { $0 != nil } }
    if case .failure(let fault) = outcome.withLock({ $0 }) { return fault }
    return nil
  }

  /// Stops all threads of a process.
  static func stop(_ id: pid_t) {
    kill(id, SIGSTOP)
    // A thread goes on until another one has taken the signal.
    waitUntil {
      let folder = "/proc/\(id)/task"
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return threads.allSatisfy { thread in
        let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)
        return status?.contains("State:\tT") ?? true
      }
    }
  }

  // MARK: Pictures

  /// A PNG that differs by its number.
  static func picture(_ number: Int, side: Int = 40) -> [UInt8] {
    var rgba: [UInt8] = []
    for at in 0..<side * side {
      rgba += [
        UInt8(at * 7 & 255), UInt8(number & 255), UInt8(at >> 5 & 255), UInt8(at % 3 == 0 ? 255 : 130),
      ]
    }
    let size = ImageSize(width: side, height: side)
    guard let pixels = try? rgba.withUnsafeBytes({ try PixelBuffer(size: size, rgba: $0) }),
      let encoded = try? pixels.encodedPNG()
    else { return [] }
    return encoded.withUnsafeBytes { Array($0) }
  }
}

extension PixelBuffer {
  var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// Waits, at most a minute.
func waitUntil(_ condition: () -> Bool) {
  for _ in 0..<6000 where !condition() { usleep(10_000) }
}
