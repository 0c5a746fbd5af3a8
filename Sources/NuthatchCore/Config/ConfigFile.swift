import Glibc
import NuthatchBase
import NuthatchTransport

/// A file with options.
package struct ConfigFile: Sendable {
  package enum Kind: Sendable {
    /// A file that the program or the command line names.
    case named
    case user, system
  }

  package let kind: Kind
  package let path: String

  package init(_ kind: Kind, _ path: String) { (self.kind, self.path) = (kind, path) }

  static let system = ConfigFile(.system, "/etc/nuthatch/config.toml")

  /// `$XDG_CONFIG_HOME/nuthatch/config.toml`, else `~/.config/nuthatch/config.toml`. nil without a home, and for a program
  /// with more rights than its user: then the user must not decide for it.
  static var user: ConfigFile? {
    guard !Environment.isPrivileged else { return nil }
    let base = Environment.variable("XDG_CONFIG_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let folder = base ?? Environment.home.map({ $0 + "/.config" }) else { return nil }
    return ConfigFile(.user, folder + "/nuthatch/config.toml")
  }

  /// The files that are read by default. Later ones override earlier ones.
  package static var standard: [ConfigFile] { [system] + (user.map { [$0] } ?? []) }

  /// A mistake in a file.
  package struct Mistake: Error {
    package let code: ErrorCode
    package let message: String
    /// nil: the whole file can't be used.
    package var place: TOMLPlace?

    init(_ message: String, _ place: TOMLPlace?, _ code: ErrorCode = .invalid) {
      (self.message, self.place, self.code) = (message, place, code)
    }
  }

  /// Returns the file's settings; nil if there is no such file.
  ///
  /// - Throws: a mistake, if the file can't be read, isn't safe, or isn't TOML.
  package func read() throws(Mistake) -> (settings: [ConfigSetting], mistakes: [Mistake])? {
    guard let (bytes, isReadableForAll) = try content() else {
      guard kind == .named else { return nil }
      throw Mistake("there is no such config file", nil, .io)
    }
    let table: TOMLTable
    do throws(TOMLFault) { table = try TOMLReader.read(bytes) } catch {
      throw Mistake(error.message, error.place)
    }
    var reader = ConfigReader(self)
    reader.read(table)
    if isReadableForAll { reader.refuseSecrets() }
    return (reader.settings, reader.mistakes)
  }

  /// Reads the file by the rules of a netrc, because it decides where passwords go and which certificates count.
  private func content() throws(Mistake) -> (bytes: [UInt8], isReadableForAll: Bool)? {
    do throws(NuthatchError) { try Lengths.check(path: path, "the path of the config file") } catch {
      throw Mistake(error.message, nil, error.code)
    }
    var mode: mode_t = 0
    let bytes: [UInt8]?
    do throws(TransportFault) { bytes = try NamedFile.read(path, mode: &mode) } catch {
      // The message begins with the path, and so does the line that shows the mistake.
      throw Mistake(String(error.message.dropFirst(path.printable.count + 1)), nil, ErrorCode(error.kind))
    }
    if let bytes { return (bytes, mode & 0o004 != 0) }
    let reason = errno
    if reason == ENOENT || reason == ENOTDIR { return nil }
    throw Mistake("the config file can't be read: \(String(cString: strerror(reason)))", nil, .io)
  }

  /// Returns the line for a mistake: `FILE:LINE:COLUMN: message`.
  package func line(_ mistake: Mistake) -> String {
    let place = mistake.place.map { "\($0.line):\($0.column):" } ?? ""
    return "\(path.printable):\(place) \(mistake.message.printable)"
  }
}
