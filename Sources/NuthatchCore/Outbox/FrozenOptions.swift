/// The options that a frozen request stores by name, as texts. So a new option needs no new format. A name that this version
/// doesn't know is ignored.
extension RequestPlan {
  /// The name that marks that the certificate options come from a site.
  fileprivate static let trustOfSite = "trust_of_site"
  fileprivate static let kept = "keep_headers_across_origins"

  var frozenOptions: [(name: String, value: String)] {
    // Store these two even if they are the default, because the cache that sends the request may have other values.
    var options = [("redirects", String(terms.redirects))]
    if terms.extras?.trust != .unchecked { options.append(("insecure", "no")) }
    if !terms.travelling.isEmpty {
      options.append((Self.kept, terms.travelling.sorted().joined(separator: ",")))
    }
    if let extras = terms.extras, let trust = extras.trust {
      switch trust {
      case .authorities(let file, let folder):
        if let file { options.append(("ca_file", file)) }
        if let folder { options.append(("ca_dir", folder)) }
      case .unchecked: options.append(("insecure", "yes"))
      }
      if extras.trustElsewhere != trust { options.append((Self.trustOfSite, "1")) }
    }
    return options
  }
}

extension FrozenRequest {
  func applyOptions(to request: inout Request) {
    for (name, value) in options {
      switch name {
      case "redirects": request.redirects = Int(value)
      case RequestPlan.kept: request.keepHeadersAcrossOrigins = value.split(separator: ",").map { String($0) }
      case "ca_file": request.caFile = value
      case "ca_dir": request.caDir = value
      case "insecure": request.insecure = value == "yes"
      case RequestPlan.trustOfSite: request.isTrustOfSite = true
      default: break
      }
    }
  }
}
