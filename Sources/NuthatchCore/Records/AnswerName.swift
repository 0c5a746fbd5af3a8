import NuthatchStore

/// What an answer is kept under: the URL, and for whom it was made.
///
/// Userinfo takes part in the partition only, as a digest, so that nothing secret is ever written.
struct AnswerName: Hashable, Sendable {
  /// The URL without userinfo and fragment, or what the caller put in its place.
  let address: String
  /// Nothing for what everybody gets; else a digest.
  let partition: [UInt8]

  /// What is removed together with it: all that is kept under its address.
  var group: RecordGroup { Self.group(of: address) }

  static func group(of address: String) -> RecordGroup { address.withBytes { RecordGroup($0) } }

  /// The key of what is known about the answer. `variant` tells apart those that `Vary` makes.
  ///
  /// - Parameter isEarlier: whether the key is wanted that version 0.1 gave it.
  func key(variant: [UInt8] = [], isEarlier: Bool = false) -> RecordKey {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 + partition.count + variant.count + address.utf8.count)
    bytes += [UInt8(partition.count), UInt8(truncatingIfNeeded: variant.count)]
    bytes += partition
    bytes += variant
    bytes += address.utf8
    let longest = Int(UInt16.max) - (isEarlier ? 0 : RecordGroup.length)
    guard bytes.count > longest else { return key(bytes, isEarlier: isEarlier) }
    // Longer than a key may be: its digest, with a mark that no other key begins with.
    let digest = bytes.withUnsafeBytes { Digest(of: $0).bytes }
    return key([255] + digest + bytes.prefix(1024), isEarlier: isEarlier)
  }

  private func key(_ bytes: [UInt8], isEarlier: Bool) -> RecordKey {
    isEarlier ? RecordKey(.meta, bytes) : RecordKey(group, bytes)
  }
}

extension AnswerName {
  /// - Parameters:
  ///   - secrets: what makes the answer one for somebody: credentials, cookies, fields named like secrets.
  ///   - named: the caller's own name for whom the answer is, which stands for all secrets.
  ///   - host: whose answer it is, where that isn't the URL's host.
  ///   - proxy: the proxy that an option names, empty for none; nil where the environment decides.
  ///   - further: what else makes it another answer than the usual one.
  ///   - follows: whether it may be what a redirect leads to, and not the redirect.
  init(
    address: String, secrets: [(String, [UInt8])], named: String?, host: String?, proxy: String?,
    _ further: [(String, [UInt8])], follows: Bool
  ) {
    self.address = address
    var parts = named.map { [("name", Array($0.utf8))] } ?? secrets
    if let host { parts.append(("host", Array(host.utf8))) }
    if let proxy { parts.append(("proxy", Array(proxy.utf8))) }
    parts += further
    if !follows { parts.append(("redirects", [])) }
    partition = parts.isEmpty ? [] : Self.digest(parts)
  }

  private static func digest(_ parts: [(String, [UInt8])]) -> [UInt8] {
    var encoder = RecordEncoder()
    for (name, value) in parts {
      encoder.put(name)
      encoder.put(value)
    }
    return encoder.bytes.withUnsafeBytes { Digest(of: $0).bytes }
  }
}
