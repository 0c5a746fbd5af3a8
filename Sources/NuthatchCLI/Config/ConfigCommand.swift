import NuthatchBase
import NuthatchCore

/// `nuthatch config`: shows and checks the options of config files.
enum ConfigCommand: Command {
  static let name = "config"
  static let summary = "show which options hold, and where each comes from"
  static let usage = "[OPTION…] [check [FILE]]"
  static let options =
    [InspectionOptions.format, CommonOptions.cache]
    + LibraryOptions.all.filter { option in
      ConfigRows.all.contains { $0.name == option.library?.row && $0.isWide }
    }
  /// Some options of other commands go with `--size`, which this one doesn't have.
  static let assumed = ["size"]
  /// A file with mistakes must not keep `config check` from naming them.
  static let readsFiles = false
  static let details = """
    Each line has the name of an option in the file, its value, and where the value comes from: the command line, the
    environment, a line of a file, or the default. Options of hosts stand below their section. Values of headers and
    passwords are shown as …. An option on the command line of config is shown as it would hold for another command; what it
    overrides in sections is left out.

    check reads FILE, or without FILE the files that other commands read, and prints a line for each mistake, with file, line
    and column. It ignores the command's other options.

    $XDG_CONFIG_HOME/nuthatch/config.toml, else ~/.config/nuthatch/config.toml, is the user's file,
    /etc/nuthatch/config.toml the system's. The order is: command line, environment, user's file, system's file, default.

    Exit status: 0 done; 1 FILE is missing or can't be read; 2 a file has mistakes, or wrong usage; 141 standard output was
    closed.

    Examples:
      nuthatch config
      nuthatch config --format json | python3 -m json.tool
      nuthatch config check

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    switch arguments.operands.first {
    case nil: return try show(arguments)
    case "check":
      guard arguments.operands.count <= 2 else { throw UsageError("config: check takes one FILE") }
      return try check(arguments)
    case let action?:
      throw UsageError("config: there is no '\(action)'. See 'nuthatch help config'.")
    }
  }

  // MARK: check

  private static func check(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    let files =
      arguments.operands.count == 2
      ? [ConfigFile(.named, arguments.operands[1])] : try arguments.configFiles
    var exit = ExitCode.success
    for file in files {
      do throws(ConfigFile.Mistake) {
        guard let content = try file.read() else {
          Terminal.print("\(file.path.printable): there is no such file\n")
          continue
        }
        for mistake in content.mistakes { Terminal.complain(file.line(mistake) + "\n") }
        if content.mistakes.isEmpty {
          Terminal.print("\(file.path.printable): no mistakes\n")
        } else {
          exit = .usage
        }
      } catch {
        Terminal.complain(file.line(error) + "\n")
        if exit == .success || error.place != nil { exit = error.code == .io ? .failure : .usage }
      }
    }
    return exit
  }

  // MARK: show

  private static func show(_ given: ParsedArguments) throws(UsageError) -> ExitCode {
    let line = try given.said()
    var arguments = given
    try arguments.readFiles()
    // Refuse values that the command would refuse.
    _ = try arguments.said()
    let values = ConfigReport.values(arguments, under: line)
    Terminal.print(try arguments.wantsJSON ? json(values) : text(values))
    return .success
  }

  private static func text(_ values: [ConfigReport.Value]) -> String {
    func width(_ part: (ConfigReport.Value) -> String) -> Int {
      min(40, values.map { part($0).count }.max() ?? 0)
    }
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    let (name, value) = (width(\.name), width(\.shown))
    var host: String?
    var lines: [String] = []
    for line in values {
      if line.host != host, let section = line.host {
        lines += ["", "[host.\"\(section.printable)\"]"]
        host = section
      }
      lines.append("\(padded(line.name, name))  \(padded(line.shown, value))  \(line.origin)")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func json(_ values: [ConfigReport.Value]) -> String {
    var json = JSONText()
    json.objects(nil, values) { json, value in
      json.put("name", value.name)
      json.put("host", value.host)
      json.put("value", value.value)
      json.put("source", value.source.word)
      json.put("variable", value.variable)
      json.put("file", value.setting?.file.path)
      json.put("line", value.setting?.place.line)
    }
    json.endLine()
    return json.text
  }
}
