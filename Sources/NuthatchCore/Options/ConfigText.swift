import Glibc
import NuthatchBase
import NuthatchTransport

/// Reads config files. They decide where passwords go and which certificates count, so the rules are those of a netrc.
package enum ConfigText {
  /// Returns the file's contents; nil if there is no such file.
  ///
  /// - Throws: `unsafe_file`; `io` if the file can't be read.
  package static func read(_ path: String) throws(NuthatchError) -> [UInt8]? {
    try Lengths.check(path: path, "the path of the config file")
    let bytes: [UInt8]?
    do { bytes = try NamedFile.read(path) } catch {
      throw NuthatchError(ErrorCode(error.kind), error.message)
    }
    if let bytes { return bytes }
    let reason = errno
    if reason == ENOENT || reason == ENOTDIR { return nil }
    throw NuthatchError(.io, "\(path.printable) can't be read: \(String(cString: strerror(reason)))")
  }
}

extension Options {
  /// Checks options that a site is to have.
  ///
  /// - Throws: `invalid` or `bad_header`.
  package func checkForSite() throws(NuthatchError) {
    try check(.site)
    try checkContents()
  }

  /// Returns these options with those of a wider section where these have none.
  package func overWider(_ options: Options) -> Options { over(options) }
}
