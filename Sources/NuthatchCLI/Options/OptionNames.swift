/// Finds the option that a name on the command line means: whole, cut short, or as version 0.1 had it.
struct OptionNames {
  private let known: [Option]
  private let command: String

  init(_ known: [Option], _ command: String) { (self.known, self.command) = (known, command) }

  /// - Returns: the option, and the name in full: its own, or that of version 0.1.
  func option(_ text: String) throws(UsageError) -> (Option, String) {
    if let exact = named(text) { return exact }
    let before = meantBefore(text)
    let matches = known.filter { !text.isEmpty && $0.name.hasPrefix(text) }
    let meant = before ?? (matches.count == 1 ? (matches[0], matches[0].name) : nil)
    if let foreign = ForeignOption.named(text), foreign.name == text || meant != nil {
      let ours = meant?.0.name ?? matches.first?.name
      throw UsageError(
        "\(command): " + (ours.map { foreign.refusal(of: text, for: $0) } ?? foreign.absence(of: text)))
    }
    if let meant { return meant }
    if matches.count > 1 {
      let names = matches.map { "--\($0.name)" }.joined(separator: ", ")
      throw UsageError("\(command): the option --\(text) could be any of \(names)")
    }
    throw UsageError(
      "\(command): there is no option --\(text)\(hint(text)) See 'nuthatch help \(command)'.")
  }

  private func named(_ name: String) -> (Option, String)? {
    known.first { $0.name == name || $0.old.keys.contains(name) }.map { ($0, name) }
  }

  /// What version 0.1 took a name for that is cut short. So a new option takes no name away from an older one.
  private func meantBefore(_ text: String) -> (Option, String)? {
    let matches = (Self.before[command] ?? []).filter { $0.hasPrefix(text) }
    return matches.count == 1 ? named(String(matches[0])) : nil
  }

  /// What was probably meant: an option of another command, or one that is written much like it.
  private func hint(_ name: String) -> String {
    let others = Program.commands(with: name)
    if !others.isEmpty {
      return "; \(others.joined(separator: ", ")) \(others.count == 1 ? "has" : "have") it."
    }
    return Spelling.nearest(to: name, among: known.map(\.name)).map { "; did you mean --\($0)?" } ?? "."
  }

  private static let fetching = """
    progress quiet verbose user delivery mode enlarge quality allow-truncated early-stop max-pixels header user-agent accept \
    policy validator-ttl image-ttl no-cache-ttl heuristic guard deny-private allow-private allow-files timeout deadline \
    retries max-bytes netrc netrc-file proxy partition ignore-query priority concurrency per-host rate inflight-bytes cache \
    disk-bytes memory-bytes memory-items spill store keep-source size help
    """

  private static let naming = "cache user header partition proxy ignore-query help"

  /// The names of version 0.1, for good. `--key` isn't among them: it is refused, as curl's is another.
  private static let before: [String: [Substring]] = [
    "prefetch": """
    \(fetching) input url-field format report failed-out min-success dry-run shard shard-by respect-noai give-up-after
    """,
    "get": """
    \(fetching) output append no-resume method data json form freezable durable queue handler tag attempts longest \
    key-lifetime secret password sign-in bearer cert cert-key cookies
    """,
    "stat": "format count cache help",
    "ls": "format policy cache help",
    "explain": "\(naming) format size mode policy",
    "rm": "\(naming) format",
    "verify": "format cache help",
    "trim": "format to cache help",
    "clear": "format cache help",
    "export": "\(naming) size as name resume format input url-field mode enlarge quality",
    "outbox": "format deadline cache help",
    "help": "help",
  ].mapValues { $0.split(separator: " ") }
}
