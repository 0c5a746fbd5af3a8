import Glibc
import NuthatchBase
import NuthatchTransport

/// A file with users and passwords by host (`.netrc`), for requests without credentials. The file must belong to this user or to root,
/// and no other user may write to it.
public enum Netrc: Sendable, Equatable {
  /// `$NETRC`, else `~/.netrc`; if there is none, requests have no credentials.
  case standard
  /// This file; if it can't be read, the request fails with `io`.
  case file(String)
  /// No file, even if the cache or the site has one.
  case off

  /// - Throws: `io` if the given file can't be read; `unsafe_file`; `invalid` for a path with a NUL byte.
  func entry(for url: WebURL) throws(NuthatchError) -> (user: [UInt8], password: [UInt8])? {
    guard let path = try path(url) else { return nil }
    var host = url.host
    // Netrc files have IPv6 addresses without brackets.
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    let bytes: [UInt8]?
    do { bytes = try NamedFile.read(path) } catch {
      throw NuthatchError(ErrorCode(error.kind), "\(error.message): \(url)")
    }
    guard let bytes else {
      if self == .standard { return nil }
      let reason = String(cString: strerror(errno))
      throw NuthatchError(.io, "\(path.printable) can't be read: \(reason): \(url)")
    }
    return NetrcFile.entry(for: host, in: bytes)
  }

  private func path(_ url: WebURL) throws(NuthatchError) -> String? {
    switch self {
    case .off: return nil
    case .file(let path):
      guard !path.utf8.contains(0) else {
        throw NuthatchError(.invalid, "the path of the netrc contains a NUL byte: \(url)")
      }
      return path
    case .standard: return Environment.variable("NETRC") ?? Environment.home.map { $0 + "/.netrc" }
    }
  }
}
