/// The control interface: the same server told and asked over HTTP, in JSON. Its requests are neither logged nor
/// counted.
struct Control {
  static let prefix = "/_control/"
  let core: Core

  /// One line a call.
  static let help = """
    POST /_control/on          {"path": "/a" | "GET /a" | "prefix": "/p/", and one of
                               "script": S | "sequence": [S, ...] | "echo": true | "folder": "DIR"}
    POST /_control/off         {"path": "/a"}
    POST /_control/gate        {"gate": "g", "do": "open" | "close" | "admit", "count": 1}
    POST /_control/wait        {"for": "requests" | "answers" | "disconnects" | "gate" | "idle" | "disconnected",
                               "count": 1, "path": "/a" | null, "gate": "g", "seconds": 30} -> {"reached": bool}
    GET  /_control/log[?path=/a]  {"requests": [...]}
    GET  /_control/counts      {"requests", "byPath", "connections", "accepted", "underWay", "highWater",
                               "highWaterByHost", "malformed", "gates": {"g": {"reached", "waiting"}}}
    POST /_control/reset       {"logOnly": false}
    POST /_control/host        {"state": "down" | "up", "resetNext": 1} (down: control connections stay open)
    S: {"status": 200, "reason": "OK", "version": "HTTP/1.1", "headers": [["Name", "value"], ...], "body": DATA,
        "steps": [STEP, ...], "sendsHead": true, "framing": "automatic" | "untilClose" | "keepOpen",
        "answersConditions": false, "answersRanges": false, "readsBody": true, "answersExpect": true}, everything may be left out
    STEP: "head" | "lastChunk" | "reset" | "close" | {"headPart": 9} | {"bytes": DATA} | {"chunk": DATA}
        | {"badChunk": DATA} | {"raw": DATA} | {"fill": {"count": 9, "byte": 0}} | {"lastChunk": HEADERS}
        | {"drip": {"bytes": DATA, "piece": 1, "milliseconds": 9}} | {"dripHead": {"piece": 1, "milliseconds": 9}}
        | {"interim": {"status": 103, "headers": HEADERS}} | {"wait": "gate"} | {"pause": milliseconds}
    DATA: "text" | {"base64": "..."}
    """

  private struct Call: Decodable {
    var path: String?
    var prefix: String?
    var script: Script?
    var sequence: [Script]?
    var echo: Bool?
    var folder: String?
    var gate: String?
    var `do`: String?
    var `for`: String?
    var count: Int?
    var seconds: Double?
    var logOnly: Bool?
    var state: String?
    var resetNext: Int?
  }

  private struct Refusal: Error {
    var text: String
  }

  func answer(_ request: ReceivedRequest) -> Script {
    do {
      let call = try JSON.decoded(Call.self, from: request.body.isEmpty ? Array("{}".utf8) : request.body)
      switch request.path.dropFirst(Self.prefix.count) {
      case "on": try put(call)
      case "off": take(call)
      case "gate": try change(call)
      case "wait": return .json(["reached": try wait(call)])
      case "log": return log(request.queryValue("path"))
      case "counts":
        core.settleConnections()
        return .json(core.monitor.access { Counts($0) })
      case "reset": core.monitor.access { call.logOnly == true ? $0.clearLog() : $0.reset() }
      case "host": try host(call)
      case "help": return .ok(Self.help + "\n")
      default: return .json(["error": "no such call"], status: 404)
      }
      return .json(["done": true])
    } catch let refusal as Refusal {
      return .json(["error": refusal.text], status: 400)
    } catch {
      return .json(["error": "\(error)"], status: 400)
    }
  }

  private func put(_ call: Call) throws {
    let route: Route
    if let script = call.script {
      route = .scripts([script], used: 0)
    } else if let scripts = call.sequence, !scripts.isEmpty {
      route = .scripts(scripts, used: 0)
    } else if let folder = call.folder {
      route = .folder(Folder(path: folder, prefix: call.prefix ?? "/"))
    } else if call.echo == true {
      route = .handler { Answers.echo($0) }
    } else {
      throw Refusal(text: "one of script, sequence, folder, echo is needed")
    }
    if let path = call.path {
      core.monitor.access { $0.routes[path] = route }
    } else if let prefix = call.prefix {
      core.monitor.access { $0.setPrefix(prefix, route) }
    } else {
      throw Refusal(text: "path or prefix is needed")
    }
  }

  private func take(_ call: Call) {
    core.monitor.access { state in
      if let path = call.path { state.routes[path] = nil }
      state.prefixes.removeAll { $0.prefix == call.prefix ?? call.path }
    }
  }

  private func change(_ call: Call) throws {
    guard let name = call.gate else { throw Refusal(text: "gate is needed") }
    let gate = Gate(name: name, core: core)
    switch call.do ?? "open" {
    case "open": gate.open()
    case "close": gate.close()
    case "admit": gate.admit(call.count ?? 1)
    default: throw Refusal(text: "do is open, close or admit")
    }
  }

  private func wait(_ call: Call) throws -> Bool {
    let count = call.count ?? 1
    let seconds = call.seconds ?? 30
    func until(_ holds: @escaping (State) -> Bool) -> Bool {
      core.monitor.wait(seconds: seconds) { $0.isStopping || holds($0) }
    }
    switch call.for ?? "requests" {
    case "requests": return until { $0.tally(call.path).requests >= count }
    case "answers": return until { $0.tally(call.path).answered >= count }
    case "disconnects": return until { $0.tally(call.path).clientLeft >= count }
    case "idle": return until { $0.active.isEmpty }
    case "disconnected": return until { $0.isDisconnected }
    case "gate":
      guard let gate = call.gate else { throw Refusal(text: "gate is needed") }
      return until { ($0.gates[gate]?.reached ?? 0) >= count }
    default: throw Refusal(text: "for is requests, answers, disconnects, gate, idle or disconnected")
    }
  }

  private func log(_ path: String?) -> Script {
    let entries = core.monitor.access { state in
      state.log.filter { path == nil || path == $0.path || path == $0.target }
    }
    return .json(["requests": entries])
  }

  private func host(_ call: Call) throws {
    if let count = call.resetNext { core.monitor.access { $0.refusals = count } }
    switch call.state {
    case nil: break
    case "down": core.goDown()
    case "up": try core.listenAgain()
    default: throw Refusal(text: "state is down or up")
    }
  }
}

private struct Counts: Encodable {
  struct GateCounts: Encodable {
    var reached: Int
    var waiting: Int
  }

  var requests: Int
  var byPath: [String: Int]
  var connections: Int
  var accepted: Int
  var underWay: Int
  var highWater: Int
  var highWaterByHost: [String: Int]
  var malformed: Int
  var gates: [String: GateCounts]

  init(_ state: State) {
    requests = state.log.count
    byPath = state.log.reduce(into: [:]) { $0[$1.path, default: 0] += 1 }
    connections = state.numbered
    accepted = state.accepted
    underWay = state.active.count
    highWater = state.highWater
    highWaterByHost = state.hostHighWater
    malformed = state.malformed
    gates = state.gates.mapValues { GateCounts(reached: $0.reached, waiting: $0.waiting.count) }
  }
}
