/// Options that a frozen request keeps by their names, as texts, where they aren't the usual ones. So a further one needs no other
/// format; what a later version has written, and this one doesn't know, is passed over.
extension RequestPlan {
  var frozenOptions: [(name: String, value: String)] {
    var options: [(String, String)] = []
    if terms.redirects != Options.Standard.redirects {
      options.append(("redirects", String(terms.redirects)))
    }
    return options
  }
}

extension Options {
  mutating func take(frozen options: [(name: String, value: String)]) {
    for (name, value) in options {
      switch name {
      case "redirects": redirects = Int(value)
      default: break
      }
    }
  }
}
