import Glibc
import NuthatchStore

/// Other processes of this program. In each round, they all start when they get a line, and report their times.
final class Workers {
  private var processes: [(pid: pid_t, toIt: Int32, fromIt: Int32)] = []

  init(_ count: Int, _ role: (Int) -> [String]) {
    for number in 0..<count { start(role(number)) }
    for process in processes { _ = line(process.fromIt) }
  }

  private func start(_ role: [String]) {
    var (toIt, fromIt): ([Int32], [Int32]) = ([0, 0], [0, 0])
    pipe(&toIt)
    pipe(&fromIt)
    for fd in toIt + fromIt { _ = fcntl(fd, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, toIt[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromIt[1], 1)
    var words: [UnsafeMutablePointer<CChar>?] = ([arguments[0], "worker"] + role).map { strdup($0) }
    words.append(nil)
    var pid: pid_t = 0
    posix_spawn(&pid, "/proc/self/exe", &actions, nil, &words, environ)
    for word in words { free(word) }
    close(toIt[0])
    close(fromIt[1])
    processes.append((pid, toIt[1], fromIt[0]))
  }

  private func line(_ fd: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(fd, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Runs one round. Returns the time of the slowest process in nanoseconds.
  func round() -> Double {
    for process in processes { _ = write(process.toIt, "\n", 1) }
    return processes.map { Double(line($0.fromIt)) ?? .infinity }.max() ?? .infinity
  }

  deinit {
    for process in processes {
      close(process.toIt)
      close(process.fromIt)
      waitpid(process.pid, nil, 0)
    }
  }
}

/// Does the work of such a process: `fill`, `hit` or `commit`, with its arguments.
func work(_ words: [String]) throws {
  guard words.count == 5, let size = Int(words[2]), let count = Int(words[3]), let ordinal = Int(words[4])
  else {
    throw Failure(message: "not a role: \(words)")
  }
  let store = try Store.open(words[1], .init(diskBytes: 64 << 30))
  let set = Records(size, count)
  let keys = Keys(words[0] == "hit" ? set : Records(size, 0))
  var number = 0
  for number in 0..<keys.count { _ = try store.lookup(keys.key(number)) }
  print("ready")
  fflush(nil)
  while readLine() != nil {
    let begin = now()
    switch words[0] {
    case "fill": try fill(store, set.keys(), set)
    case "hit": lookUp(store, keys, ordinal, operations, reads: false)
    default:
      let payload = set.payload
      for _ in 0..<set.count {
        number += 1
        try store.commit(RecordKey(.body, "\(ordinal) \(getpid()) \(number)"), payload)
      }
    }
    print(Int(now() - begin))
    fflush(nil)
  }
}
