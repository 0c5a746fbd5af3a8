import NuthatchBase
import NuthatchCore

/// The settings of all config files.
struct Configuration: Sendable {
  /// Of the system's file, then of the user's file: later ones override earlier ones.
  private(set) var settings: [Setting] = []

  /// - Parameter files: later ones override earlier ones.
  /// - Throws: the first mistake of each file that has one.
  init(_ files: [ConfigFile]) throws(UsageError) {
    for file in files {
      do throws(ConfigFile.Mistake) {
        guard let content = try file.read() else { continue }
        if let mistake = content.mistakes.first { throw mistake }
        settings += content.settings
      } catch {
        throw UsageError("\(file.line(error)) (--no-config reads no config file)")
      }
    }
  }

  init() {}

  /// The files that a command is to read.
  static func files(_ arguments: ParsedArguments) throws(UsageError) -> [ConfigFile] {
    guard let path = arguments.value("config") else {
      return arguments.has("no-config") ? [] : ConfigFile.standard
    }
    guard !arguments.has("no-config") else {
      throw UsageError("--config and --no-config exclude each other")
    }
    guard !Environment.isPrivileged else {
      throw UsageError("--config: a program with more rights than its user reads no file of the user")
    }
    return [ConfigFile(kind: .named, path: path)]
  }

  /// The setting `cache`. The environment overrides it.
  var cache: Setting? {
    Environment.variable("NUTHATCH_CACHE") == nil
      ? settings.last { $0.option.name == CommonOptions.cache.name && $0.option.library == nil } : nil
  }

  var withCacheOnly: Configuration {
    var result = self
    result.settings.removeAll { $0.option.library != nil }
    return result
  }

  /// Sets the options that the command knows and the command line doesn't have.
  func apply(to said: inout ParsedOptions, known: [Option], given: Set<String>) throws(UsageError) {
    let rows = Set(known.compactMap { $0.library?.row })
    let ours = settings.filter { rows.contains($0.name) }
    for layer in Self.layers(ours.filter { $0.host == nil }) {
      try layer.filter { ($0.isHeader || !given.contains($0.name)) && Self.variable(for: $0.name) == nil }
        .take(&said)
    }
    said.hosts = HostOptions()
    for layer in Self.layers(ours.filter { $0.host != nil }) {
      // Options of a request override those of a site already.
      let settings = layer.filter { setting in
        setting.isHeader || !given.contains(setting.name)
          || setting.option.library?.levels.contains(.cache) == false
      }
      guard let host = layer[0].host, let place = SignInPlace(host), !settings.isEmpty else { continue }
      said.hosts.add(place, try settings.siteOptions())
    }
  }

  /// Divides settings by file and section: first the files, then general sections before special ones.
  private static func layers(_ settings: [Setting]) -> [[Setting]] {
    var layers: [[Setting]] = []
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
    func rank(_ layer: [Setting]) -> (Int, Int) {
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
  static func variable(for row: String) -> String? {
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

/// The options of the sections for hosts.
struct HostOptions: Sendable {
  /// Later ones override earlier ones.
  private var sections: [(place: SignInPlace, options: Options)] = []

  var isEmpty: Bool { sections.isEmpty }

  mutating func add(_ place: SignInPlace, _ options: Options) { sections.append((place, options)) }

  /// Returns the options for the site of a URL; nil if no section is for its host.
  func options(for url: String) -> Options? {
    guard !isEmpty, let origin = SignInPlace(originOf: url) else { return nil }
    var result: Options?
    for section in sections where section.place.covers(origin) {
      result = result.map { section.options.overWider($0) } ?? section.options
    }
    return result
  }
}
