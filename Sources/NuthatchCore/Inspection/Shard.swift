import CSystem
import NuthatchHTTP

/// Divides URLs among machines, always in the same way: the first eight bytes of a SHA-256, as a big-endian number, modulo the
/// number of shards. Part of the command's contract, so it never changes.
package enum Shard {
  package enum By: Sendable {
    /// The host in lower case, so that the limits for a host hold for all machines together.
    case host
    /// The URL as it was given.
    case url
  }

  package static func number(of url: String, by: By, among count: Int) -> Int {
    var bytes = Array((by == .host ? host(of: url) ?? url : url).utf8)
    var digest = [UInt8](repeating: 0, count: Int(nhs_sha256_size))
    guard count > 1 else { return 0 }
    nhs_sha256(&bytes, bytes.count, &digest)
    let number = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(number % UInt64(count))
  }

  /// Returns the host of a URL, in lower case; nil if it isn't a URL.
  package static func host(of url: String) -> String? { (try? WebURL(url))?.host }
}
