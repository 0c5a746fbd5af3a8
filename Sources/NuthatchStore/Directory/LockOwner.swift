import CSystem
import Glibc

/// The process that holds a lock: its number and the 16 bytes of its program's name, as it has written them to the lock file.
struct LockOwner {
  private let process: UInt32
  private let program: (UInt64, UInt64)
  static let unknown = "another process"

  private init(process: UInt32, program: (UInt64, UInt64)) {
    (self.process, self.program) = (process, program)
  }

  /// Reads the owner from the mapped lock file.
  init(at place: UnsafeRawPointer) {
    process = nhs_load32(place)
    program = (nhs_load64(place + 8), nhs_load64(place + 16))
  }

  func store(at place: UnsafeMutableRawPointer) {
    nhs_store32(place, process)
    nhs_store64(place + 8, program.0)
    nhs_store64(place + 16, program.1)
  }

  /// This process.
  static var own: LockOwner {
    var program: (UInt64, UInt64) = (0, 0)
    withUnsafeMutableBytes(of: &program) {
      nhs_program_name($0.baseAddress?.assumingMemoryBound(to: CChar.self))
    }
    return LockOwner(process: UInt32(bitPattern: getpid()), program: program)
  }

  var words: String {
    // The owner hasn't written its number yet.
    if process == 0 { return Self.unknown }
    let name = withUnsafeBytes(of: program) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }.map { 0x20..<0x7F ~= $0 ? $0 : 0x3F }, as: UTF8.self)
    }
    return "process \(process)\(name.isEmpty ? "" : " (\(name))")"
  }
}
