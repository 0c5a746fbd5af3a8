import NuthatchBase
import NuthatchTransport

extension Options {
  package var namesTrust: Bool { caFile != nil || caDir != nil }

  /// The certificates that servers are checked with; nil if options don't set any.
  var trust: TransferExtras.Trust? {
    TransferExtras.Trust(file: caFile, folder: caDir, isUnchecked: insecure == true)
  }
}

extension Request {
  /// Returns the certificates for other origins than the site's: options of a site count at its own origin only.
  func trustElsewhere(_ cache: Options) -> TransferExtras.Trust? {
    let own = options
    guard isTrustOfSite else {
      let named = own.namesTrust ? own : cache
      return TransferExtras.Trust(
        file: named.caFile, folder: named.caDir, isUnchecked: (own.insecure ?? cache.insecure) == true)
    }
    // The request was frozen. The cache that sends it now must not skip checks because an option was set when it was frozen.
    return TransferExtras.Trust(file: cache.caFile, folder: cache.caDir, isUnchecked: false)
  }
}

extension TransferExtras {
  /// The part of the cache key for certificates; empty for the system's.
  var trustParts: [(String, [UInt8])] {
    let own = trust.map { [("trust", $0.bytes)] } ?? []
    return trustElsewhere == trust ? own : own + [("trust elsewhere", trustElsewhere?.bytes ?? [])]
  }
}

extension TransferExtras.Trust {
  /// Returns nil if no option is set. An empty text counts as not set.
  fileprivate init?(file: String?, folder: String?, isUnchecked: Bool) {
    if isUnchecked {
      self = .unchecked
    } else {
      // Absolute, because the process may change its directory before the request is sent.
      let paths = [file, folder].map { path in path.flatMap { $0.isEmpty ? nil : absolute($0) } }
      if paths[0] == nil, paths[1] == nil { return nil }
      self = .authorities(file: paths[0], folder: paths[1])
    }
  }

  fileprivate var bytes: [UInt8] {
    switch self {
    case .unchecked: Array("unchecked".utf8)
    case .authorities(let file, let folder): Array("\(file ?? "")\0\(folder ?? "")".utf8)
    }
  }
}
