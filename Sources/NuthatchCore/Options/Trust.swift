import NuthatchBase
import NuthatchTransport

extension Options {
  /// By which certificates servers are checked, where options say so.
  var trust: TransferExtras.Trust? {
    TransferExtras.Trust(file: caFile, folder: caDir, isUnchecked: insecure == true)
  }
}

extension Request {
  /// The same at another origin than its site's: what a site says counts at its own.
  func trustElsewhere(_ cache: Options) -> TransferExtras.Trust? {
    let own = options
    guard isTrustOfSite else {
      return TransferExtras.Trust(
        file: own.caFile ?? cache.caFile, folder: own.caDir ?? cache.caDir,
        isUnchecked: (own.insecure ?? cache.insecure) == true)
    }
    // It was frozen: the cache that sends it makes nothing unchecked.
    return TransferExtras.Trust(file: cache.caFile, folder: cache.caDir, isUnchecked: false)
  }
}

extension TransferExtras {
  /// What an answer is kept under as far as trust goes; nothing for the usual one.
  var trustParts: [(String, [UInt8])] {
    let own = trust.map { [("trust", $0.bytes)] } ?? []
    return trustElsewhere == trust ? own : own + [("trust elsewhere", trustElsewhere?.bytes ?? [])]
  }
}

extension TransferExtras.Trust {
  /// Nil where nothing is said: an empty text says nothing.
  fileprivate init?(file: String?, folder: String?, isUnchecked: Bool) {
    if isUnchecked {
      self = .unchecked
    } else {
      // Wherever the process is when the request is sent.
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
