import CUnpacking
import NuthatchCore

/// `nuthatch --version`: the version, and with `--verbose` the libraries in use.
enum VersionCommand: Command {
  static let name = "--version"
  static let summary = "show the version; with --verbose or --format json the libraries in use, too"
  static let usage = "[--verbose] [--format text|json]"
  static let options = [
    Option("verbose", letter: "v", "show the libraries in use with their versions, and the SIMD level"),
    InspectionOptions.format,
  ]
  static let details = """
    Exit status: 0 done; 2 wrong usage; 141 standard output was closed.

    Examples:
      nuthatch --version
      nuthatch --version --format json | jq .libraries

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard arguments.operands.isEmpty else {
      throw UsageError("\(name): it takes no arguments. See 'nuthatch \(name) --help'.")
    }
    if try arguments.wantsJSON {
      Terminal.print(info.json + "\n")
    } else {
      let more = arguments.has("verbose") ? Terminal.fitted(table) : ""
      Terminal.print("nuthatch \(Version.string)\n\(more)")
    }
    return .success
  }

  /// With the libraries that only the command has.
  private static var info: BuildInfo {
    BuildInfo.current.adding([
      BuildInfo.Library("Zstandard", String(cString: nhp_zstd_version()), isInside: true, isTold: true),
      BuildInfo.Library("liblzma", String(cString: nhp_xz_version()), isInside: true, isTold: true),
    ])
  }

  private static var table: String {
    let rows = info.libraries.flatMap { library in
      let place = library.isInside ? " (linked in)" : library.isTold ? "" : " (when this was built)"
      return [(library.name, library.version + place)]
        + (library.uses.isEmpty ? [] : [("", "uses \(library.uses.joined(separator: ", "))")])
        + (library.features.isEmpty ? [] : [("", "has \(library.features.joined(separator: ", "))")])
    }
    return ([("SIMD", info.simd ?? "none")] + rows).map { name, words in
      "  \(name)\(String(repeating: " ", count: 15 - name.count))\(words)\n"
    }.joined()
  }
}
