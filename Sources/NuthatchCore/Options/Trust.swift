import NuthatchBase
import NuthatchTransport

extension Options {
  /// By which certificates servers are checked, where options say so.
  var trust: TransferExtras.Trust? {
    if insecure == true { return .unchecked }
    // Wherever the process is when the request is sent.
    let (file, folder) = (Self.path(caFile), Self.path(caDir))
    return file == nil && folder == nil ? nil : .authorities(file: file, folder: folder)
  }

  private static func path(_ said: String?) -> String? { said.flatMap { $0.isEmpty ? nil : absolute($0) } }
}

extension Request {
  /// The same at another origin than its site's: what a site says counts at its own.
  func trustElsewhere(_ cache: Options) -> TransferExtras.Trust? {
    guard isTrustOfSite else { return options.over(cache).trust }
    // Frozen, and sent by whoever has the cache open now: that one makes nothing unchecked.
    var checked = cache
    checked.insecure = false
    return checked.trust
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
  fileprivate var bytes: [UInt8] {
    switch self {
    case .unchecked: Array("unchecked".utf8)
    case .authorities(let file, let folder): Array("\(file ?? "")\0\(folder ?? "")".utf8)
    }
  }
}
