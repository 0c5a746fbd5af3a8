import NuthatchHTTP
import NuthatchStore

/// What an answer is kept under: the URL, and for whom it was made.
///
/// Userinfo takes part in the partition only, as a digest, so that nothing secret is ever written.
struct AnswerName: Hashable, Sendable {
  /// The URL without userinfo and fragment, or what the caller put in its place.
  let address: String
  /// Nothing for what everybody gets; else a digest.
  let partition: [UInt8]

  init(address: String, partition: [UInt8]) {
    self.address = address
    self.partition = partition
  }

  /// The key of what is known about the answer. `variant` tells apart those that `Vary` makes.
  func key(variant: [UInt8] = []) -> RecordKey {
    let bytes =
      [UInt8(partition.count), UInt8(truncatingIfNeeded: variant.count)] + partition + variant
      + Array(address.utf8)
    guard bytes.count > Int(UInt16.max) else { return RecordKey(.meta, bytes) }
    // Longer than a key may be: its digest, with a mark that no other key begins with.
    let digest = bytes.withUnsafeBytes { Digest(of: $0)?.bytes } ?? []
    return RecordKey(.meta, [255] + digest + bytes.prefix(1024))
  }
}

extension AnswerName {
  /// - Parameters:
  ///   - secrets: what makes the answer one for somebody: credentials, cookies, fields named like secrets.
  ///   - named: the caller's own name for whom the answer is, which stands for all secrets.
  ///   - host: whose answer it is, where that isn't the URL's host.
  init(address: String, secrets: [(String, [UInt8])], named: String?, host: String?) {
    self.address = address
    var parts = named.map { [("name", Array($0.utf8))] } ?? secrets
    if let host { parts.append(("host", Array(host.utf8))) }
    partition = parts.isEmpty ? [] : Self.digest(parts)
  }

  private static func digest(_ parts: [(String, [UInt8])]) -> [UInt8] {
    var encoder = RecordEncoder()
    for (name, value) in parts {
      encoder.put(name)
      encoder.put(value)
    }
    // Without memory for a digest nothing else works either; a partition of its own shares nothing.
    return encoder.bytes.withUnsafeBytes { Digest(of: $0)?.bytes } ?? [0]
  }
}
