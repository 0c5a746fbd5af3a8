import Glibc

/// The limit of open files and connections of this process.
enum OpenFiles {
  /// Enough for 512 requests at once and for requests that hang, each with a connection and perhaps a file.
  private static let enough: rlim_t = 8192

  /// Raises the soft limit to `enough`, or to the hard limit if that is lower. Most systems start with 1,024.
  static func allowMany() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < enough else { return }
    limit.rlim_cur = min(enough, limit.rlim_max)
    setrlimit(resource, &limit)
  }
}
