import Glibc

/// How many files and connections the process may have open.
enum OpenFiles {
  /// Enough for 512 requests at once beside those that hang, each with a connection and perhaps a file.
  private static let enough: rlim_t = 8192

  /// Raises the soft limit as far as the hard one allows: most systems begin with 1,024. A large one stays.
  static func allowMany() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < enough else { return }
    limit.rlim_cur = min(enough, limit.rlim_max)
    setrlimit(resource, &limit)
  }
}
