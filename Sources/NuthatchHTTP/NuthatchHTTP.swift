// # NuthatchHTTP: what URLs and header fields mean
//
// URLs and origins, header fields, the head of a response. Everything here is pure: bytes and times come in as
// arguments, values go out. It must not know of sockets, libcurl's handles, files, caches or the clock. That is what
// lets tests feed it by the thousand.
//
// Start at `WebURL` for what is asked of whom, at `HeaderFields` for what is said with it.

/// Why a URL was refused, and where.
package struct URLFault: Error, Equatable {
  /// Byte offset into the URL as it was passed.
  package var position: Int
  package var reason: String

  package init(at position: Int, _ reason: String) {
    self.position = position
    self.reason = reason
  }
}
