import Glibc

/// The `curl` command, an HTTP client that this project didn't write.
enum Curl {
  private static let places: [String] = ["/usr/bin/curl", "/usr/local/bin/curl"]
  private static let path = places.first { access($0, X_OK) == 0 }

  static var isPresent: Bool { path != nil }

  struct Outcome {
    var output: [UInt8]
    var code: CInt
    var text: String { String(decoding: output, as: UTF8.self) }
  }

  struct Failure: Error {
    var code: CInt
  }

  /// Not by Foundation's Process, which leaks a little and so would hide leaks of ours.
  static func run(_ arguments: String...) throws -> Outcome {
    let words = [path ?? "curl", "--silent", "--max-time", "60", "--noproxy", "*"] + arguments
    var pair: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw Failure(code: errno)
    }
    defer { close(pair[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pair[1], 1)
    var pointers = words.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    var child = pid_t()
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    let status = posix_spawn(&child, words[0], &actions, nil, &pointers, &environment)
    close(pair[1])
    guard status == 0 else { throw Failure(code: status) }
    var output: [UInt8] = []
    var space = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(pair[0], &space, space.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      output += space[..<count]
    }
    var ending: CInt = 0
    while waitpid(child, &ending, 0) < 0 && errno == EINTR {}
    return Outcome(output: output, code: ending & 0x7f == 0 ? ending >> 8 & 0xff : -1)
  }
}
