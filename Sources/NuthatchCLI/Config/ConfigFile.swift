import NuthatchBase
import NuthatchCore

/// A file with options for the command.
struct ConfigFile: Sendable {
  enum Kind: String {
    /// The file of `--config`.
    case named
    case user, system
  }

  let kind: Kind
  let path: String

  static let system = ConfigFile(kind: .system, path: "/etc/nuthatch/config.toml")

  /// `$XDG_CONFIG_HOME/nuthatch/config.toml`, else `~/.config/nuthatch/config.toml`. nil without a home, and for a program
  /// with more rights than its user: then the user must not decide for it.
  static var user: ConfigFile? {
    guard !Environment.isPrivileged else { return nil }
    let base = Environment.variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let folder = base ?? Environment.home.map({ $0 + "/.config" }) else { return nil }
    return ConfigFile(kind: .user, path: folder + "/nuthatch/config.toml")
  }

  /// The files that are read by default. Later ones override earlier ones.
  static var standard: [ConfigFile] { [system] + (user.map { [$0] } ?? []) }

  /// A mistake in a file.
  struct Mistake: Error {
    let message: String
    /// nil: the whole file can't be used.
    var place: TOMLPlace?
    /// Whether the file is missing or can't be read. Otherwise its content must be changed.
    var isUnreadable = false
  }

  /// Returns the file's settings; nil if there is no such file.
  ///
  /// - Throws: a mistake, if the file can't be read, isn't safe, or isn't TOML.
  func read() throws(Mistake) -> (settings: [Setting], mistakes: [Mistake])? {
    guard let bytes = try content() else {
      guard kind == .named else { return nil }
      throw Mistake(message: "there is no such file", isUnreadable: true)
    }
    let table: TOMLTable
    do throws(TOMLFault) { table = try TOMLReader.read(bytes) } catch {
      throw Mistake(message: error.message, place: error.place)
    }
    var reader = SettingReader(self)
    reader.read(table)
    return (reader.settings, reader.mistakes)
  }

  private func content() throws(Mistake) -> [UInt8]? {
    do throws(NuthatchError) { return try ConfigText.read(path) } catch {
      throw Mistake(message: error.message, isUnreadable: error.code != .unsafeFile)
    }
  }

  /// Returns the line for a mistake: `FILE:LINE:COLUMN: message`.
  func line(_ mistake: Mistake) -> String {
    let place = mistake.place.map { "\($0.line):\($0.column):" } ?? ""
    return "\(path.printable):\(place) \(mistake.message.printable)"
  }
}
