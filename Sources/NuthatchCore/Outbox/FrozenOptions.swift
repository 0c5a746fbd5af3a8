/// Options that a frozen request keeps by their names, as texts. So a further one needs no other format; what a later version has
/// written, and this one doesn't know, is passed over.
extension RequestPlan {
  /// Beside what is said of trust: that it is a site's word.
  fileprivate static let trustOfSite = "trust_of_site"
  fileprivate static let kept = "keep_headers_across_origins"

  var frozenOptions: [(name: String, value: String)] {
    // Also what is usual: the cache that sends it may say something else.
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
