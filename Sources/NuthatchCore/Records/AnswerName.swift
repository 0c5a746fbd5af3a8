import NuthatchStore

/// The cache key of an answer: URL and partition.
///
/// Userinfo is part of the partition only, as a digest, so that no secret is written to disk.
struct AnswerName: Sendable {
  /// The URL without userinfo and fragment, or the caller's cache key.
  let address: String
  /// Empty for answers that all requests share; else a digest.
  let partition: [UInt8]
  /// The record key of the answer's metadata, or of its vary record. Made once, because each request needs it several times.
  let key: RecordKey

  init(address: String, partition: [UInt8]) {
    (self.address, self.partition) = (address, partition)
    key = RecordKey(Self.group(of: address), Self.bytes(address, partition))
  }

  /// The group of records that are removed together: all with the same address.
  var group: RecordGroup { Self.group(of: address) }

  static func group(of address: String) -> RecordGroup { address.withBytes { RecordGroup($0) } }

  /// Returns the record key of the answer, of a variant (`Vary`) of it, or of either in the form of version 0.1.
  func key(variant: [UInt8] = [], isEarlier: Bool = false) -> RecordKey {
    guard !isEarlier else {
      return RecordKey(.meta, Self.bytes(address, partition, variant, longest: Int(UInt16.max)))
    }
    return variant.isEmpty ? key : RecordKey(group, Self.bytes(address, partition, variant))
  }

  private static func bytes(
    _ address: String, _ partition: [UInt8], _ variant: [UInt8] = [],
    longest: Int = Int(UInt16.max) - RecordGroup.length
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 + partition.count + variant.count + address.utf8.count)
    bytes += [UInt8(partition.count), UInt8(truncatingIfNeeded: variant.count)]
    bytes += partition
    bytes += variant
    bytes += address.utf8
    guard bytes.count > longest else { return bytes }
    // A name that is longer than a key may be gets its digest and its beginning, after a mark that no other key begins with.
    let digest = bytes.withUnsafeBytes { Digest(of: $0).bytes }
    return [255] + digest + bytes.prefix(1024)
  }
}

extension AnswerName: Hashable {
  static func == (left: AnswerName, right: AnswerName) -> Bool {
    left.address == right.address && left.partition == right.partition
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(address)
    hasher.combine(partition)
  }
}

extension AnswerName {
  /// - Parameters:
  ///   - secrets: the values that make the answer private: credentials, cookies, fields with names of secrets.
  ///   - named: the caller's partition name, which replaces all secrets.
  ///   - host: the `Host` of the request, if it isn't the URL's host.
  ///   - proxy: the proxy that an option names, empty for none; nil if the environment decides.
  ///   - further: other values that belong to the key (`RequestTerms.nameParts`).
  ///   - follows: whether redirects are followed, so that the answer may be a redirect's target.
  init(
    address: String, secrets: [(String, [UInt8])], named: String?, host: String?, proxy: String?,
    _ further: [(String, [UInt8])], follows: Bool
  ) {
    var parts = named.map { [("name", Array($0.utf8))] } ?? secrets
    if let host { parts.append(("host", Array(host.utf8))) }
    if let proxy { parts.append(("proxy", Array(proxy.utf8))) }
    parts += further
    if !follows { parts.append(("redirects", [])) }
    self.init(address: address, partition: parts.isEmpty ? [] : Self.digest(parts))
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
