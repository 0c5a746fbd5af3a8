/// Options that a frozen request stores by name, as texts, so that a new option needs no new format. An option that only a later version
/// knows is ignored.
extension RequestPlan {
  /// Marks that the trust options come from a site.
  fileprivate static let trustOfSite = "trust_of_site"
  fileprivate static let kept = "keep_headers_across_origins"

  var frozenOptions: [(name: String, value: String)] {
    // Stored even if it is the default: the cache that sends it later may have another value.
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
  func sayOptions(of request: inout Request) {
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
