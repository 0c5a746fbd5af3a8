/// From a request to its script.
enum Answers {
  /// The route of a request, its next script taken from the sequence. Exact targets first, then paths, then the
  /// longest prefix; at each, one for the method goes before one for all.
  static func takeRoute(for request: ReceivedRequest, in state: inout State) -> Route? {
    let target = String(ReceivedRequest.local(request.target))
    let path = request.path
    for key in ["\(request.method) \(target)", target, "\(request.method) \(path)", path] {
      if state.routes[key] != nil { return state.routes[key]?.next() }
    }
    guard let place = state.prefixes.firstIndex(where: { path.hasPrefix($0.prefix) }) else { return nil }
    return state.prefixes[place].route.next()
  }

  static func script(for request: ReceivedRequest, route: Route?) -> Script {
    switch route {
    case .scripts(let scripts, _): scripts.first ?? .status(500)
    case .handler(let handler): handler(request)
    case .folder(let folder): folder.answer(request)
    case nil:
      BuiltinPaths.script(for: request)
        ?? .status(404, headers: ["Content-Type": "text/plain"], body: "nothing at \(request.path)\n")
    }
  }

  static func echo(_ request: ReceivedRequest) -> Script { .json(request) }
}

extension State {
  /// Longest prefix first.
  mutating func setPrefix(_ prefix: String, _ route: Route) {
    prefixes.removeAll { $0.prefix == prefix }
    let place = prefixes.firstIndex { $0.prefix.utf8.count < prefix.utf8.count } ?? prefixes.endIndex
    prefixes.insert((prefix, route), at: place)
  }
}
