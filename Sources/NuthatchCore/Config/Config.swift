import NuthatchBase
import NuthatchTransport

/// The settings of all config files that are read.
package struct Config: Sendable {
  /// Of the system's file, then of the user's file: later ones override earlier ones.
  package private(set) var settings: [ConfigSetting] = []

  package init() {}

  /// - Parameter files: later ones override earlier ones.
  /// - Throws: the first mistake of each file that has one: `invalid`, `unsafe_file`, `io`.
  package init(_ files: [ConfigFile]) throws(NuthatchError) {
    for file in files {
      do throws(ConfigFile.Mistake) {
        guard let content = try file.read() else { continue }
        if let mistake = content.mistakes.first { throw mistake }
        settings += content.settings
      } catch {
        throw NuthatchError(error.code, file.line(error))
      }
    }
  }

  /// - Parameter named: the option `config`: a path, or empty for the usual places.
  init(named path: String) throws(NuthatchError) {
    try self.init(path.isEmpty ? ConfigFile.standard : [ConfigFile(.named, path)])
  }

  /// Returns the settings of these options, and `cache`.
  package func only(_ isWanted: (ConfigRow) -> Bool) -> Config {
    var result = self
    result.settings.removeAll { $0.name != ConfigRows.cache.name && !isWanted($0.row) }
    return result
  }

  /// The directory of the cache. The environment overrides it.
  package var cache: ConfigSetting? {
    Self.variable(for: ConfigRows.cache.name) == nil
      ? settings.last { $0.name == ConfigRows.cache.name } : nil
  }

  /// Returns the program's options, with those of the files that neither the program nor the environment decides.
  ///
  /// - Parameters:
  ///   - options: the program's options of the cache.
  ///   - process: the program's options of the process.
  package func under(
    _ options: Options, process: Options
  ) throws(NuthatchError) -> (options: Options, process: Options) {
    let settings = settings.filter { $0.counts(under: options, process: process) }
    var (ofCache, ofProcess) = (ConfigDraft(), ConfigDraft())
    (ofCache.options, ofProcess.options) = (options, process)
    for layer in Self.layers(settings.filter { $0.host == nil && Self.variable(for: $0.name) == nil }) {
      try layer.filter { !$0.row.isOfProcess }.take(&ofCache)
      try layer.filter(\.row.isOfProcess).take(&ofProcess)
    }
    // Sections override the environment: it doesn't know of hosts.
    var sections: [HostSection] = []
    for layer in Self.layers(settings.filter { $0.host != nil }) {
      guard let host = layer[0].host, let place = SignInPlace(host) else { continue }
      var draft = ConfigDraft()
      try layer.take(&draft)
      let command =
        draft.command.isEmpty
        ? nil
        : SignInCommand(
          draft.command, for: host, lifetime: draft.commandLifetime, timeLimit: draft.commandTime)
      sections.append(
        HostSection(place: place, options: draft.ofSite, command: command, rate: draft.options.rate))
    }
    ofCache.options.hosts = HostSections(sections)
    return (ofCache.options, ofProcess.options)
  }

  /// Divides settings by file and section: first the files, then general sections before special ones.
  private static func layers(_ settings: [ConfigSetting]) -> [[ConfigSetting]] {
    var layers: [[ConfigSetting]] = []
    for setting in settings {
      if let place = layers.firstIndex(where: {
        $0[0].file.path == setting.file.path && $0[0].host == setting.host
      }) {
        layers[place].append(setting)
      } else {
        layers.append([setting])
      }
    }
    let files = settings.map(\.file.path)
    func rank(_ layer: [ConfigSetting]) -> (Int, Int) {
      (files.firstIndex(of: layer[0].file.path) ?? 0, specificity(layer[0].host ?? ""))
    }
    return layers.sorted { rank($0) < rank($1) }
  }

  /// `host`, `host:port`, `https://host`.
  private static func specificity(_ host: String) -> Int {
    if host.contains("://") { return 2 }
    return host.split(separator: "]").last?.contains(":") == true ? 1 : 0
  }

  /// Returns the variable of the environment that decides in place of the option, if it is set.
  package static func variable(for row: String) -> String? {
    let names =
      switch row {
      case "proxy": ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
      // With either option, all of these variables would be ignored.
      case "ca_file": ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"]
      case "ca_dir": ["SSL_CERT_DIR", "CURL_CA_BUNDLE", "SSL_CERT_FILE"]
      case "cache": ["NUTHATCH_CACHE"]
      default: [String]()
      }
    return names.first { Environment.variable($0) != nil }
  }
}
