// # NuthatchHTTP: URLs, header fields and caching rules
//
// URLs and origins, header fields, the head of a response. Everything here is pure: bytes and times come in as arguments, and
// values come out. So tests can run thousands of cases. This room must not use sockets, files, caches or the clock. It
// uses libcurl only to convert internationalised host names.
//
// Start at `WebURL` and at `HeaderFields`.

/// Why a URL was refused, and where.
package struct URLFault: Error, Equatable {
  /// The byte offset in the URL that was passed.
  package var position: Int
  package var reason: String

  package init(at position: Int, _ reason: String) {
    self.position = position
    self.reason = reason
  }
}
