import NuthatchBase

/// Finds the option for a name on the command line: a full name, a shortened name, or a name of version 0.1.
struct OptionNames {
  private let known: [Option]
  private let command: String

  init(_ known: [Option], _ command: String) { (self.known, self.command) = (known, command) }

  /// Returns the option, and the full name that was meant: its own, or that of version 0.1.
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

  /// Returns the option that version 0.1 would read a shortened name as. New options don't change the meaning of short names.
  private func meantBefore(_ text: String) -> (Option, String)? {
    let matches = (LibraryOptions.before[command] ?? []).filter { $0.hasPrefix(text) }
    return matches.count == 1 ? named(matches[0]) : nil
  }

  /// Returns a hint for an unknown name: another command that has it, or a similar name.
  private func hint(_ name: String) -> String {
    let others = Program.commands(with: name)
    if !others.isEmpty {
      return "; \(others.joined(separator: ", ")) \(others.count == 1 ? "has" : "have") it."
    }
    return Spelling.nearest(to: name, among: known.map(\.name)).map { "; did you mean --\($0)?" } ?? "."
  }
}
