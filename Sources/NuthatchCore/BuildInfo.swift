import CSystem
import NuthatchBase

/// The versions of the library and of what it uses, as they are in this process.
public struct BuildInfo: Sendable {
  /// A library in use.
  public struct Library: Sendable {
    /// Such as `libcurl`.
    public let name: String
    /// Such as `7.88.1`.
    public let version: String
    /// Whether it is linked in, and not a file of its own.
    public let isInside: Bool
    /// Whether the loaded library said its version. Otherwise it can't, and this is the version that the build was made with.
    public let isTold: Bool
    /// Of libcurl: itself and the libraries that it uses, such as `OpenSSL/3.0.17`.
    public fileprivate(set) var uses: [String] = []
    /// Of libcurl: its features, such as `HTTP2`.
    public fileprivate(set) var features: [String] = []

    package init(_ name: String, _ version: String, isInside: Bool, isTold: Bool) {
      (self.name, self.version, self.isInside, self.isTold) = (name, version, isInside, isTold)
    }
  }

  /// The version of Nuthatch, such as `0.2.0`.
  public let version = Version.string
  /// The instructions that pictures are resampled with: `avx2`, `sse2` or `scalar`.
  public let simd = nhs_resample_kernels_at(Int32(NHS_KERNELS_BEST)).map {
    String(cString: $0.pointee.name)
  }
  /// The libraries in use, those of the system first.
  public private(set) var libraries: [Library] = []

  /// Those of this process.
  public static let current = BuildInfo()

  private init() {
    while let library = Self.library(at: libraries.count) { libraries.append(library) }
    // 6.3.1 is 0x060301. Its description would link half a megabyte of reflection.
    let swift = _SwiftStdlibVersion.current._value
    // The runtime of each 6.3 says 6.3.0, so the compiler is asked for the last number.
    #if compiler(>=6.4) || compiler(<6.3.1)
      let patch = swift & 255
    #elseif compiler(>=6.3.4)
      let patch = 4
    #elseif compiler(>=6.3.3)
      let patch = 3
    #elseif compiler(>=6.3.2)
      let patch = 2
    #else
      let patch = 1
    #endif
    libraries.append(
      Library("Swift", "\(swift >> 16).\(swift >> 8 & 255).\(patch)", isInside: true, isTold: false))
  }

  private static func library(at place: Int) -> Library? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(nhs_version_size)) { version in
      var isInside: Int32 = 0
      var isTold: Int32 = 0
      guard let name = nhs_library_at(place, version.baseAddress, &isInside, &isTold),
        let text = version.baseAddress
      else { return nil }
      var library = Library(
        String(cString: name), String(cString: text), isInside: isInside != 0, isTold: isTold != 0)
      if library.name == "libcurl" { (library.uses, library.features) = (usedByCurl, featuresOfCurl) }
      return library
    }
  }

  private static var usedByCurl: [String] {
    String(cString: curl_version()).split(separator: " ").dropFirst().map(String.init)
  }

  private static var featuresOfCurl: [String] {
    var features: [String] = []
    var place = 0
    while let name = nhs_curl_feature(place) {
      if name.pointee != 0 { features.append(String(cString: name)) }
      place += 1
    }
    return features
  }

  /// Returns the same with more libraries.
  package func adding(_ more: [Library]) -> BuildInfo {
    var info = self
    info.libraries += more
    return info
  }

  /// A JSON object with the members that docs/COMMAND.md lists.
  public var json: String {
    var json = JSONText()
    json.object { json in
      json.put("version", version)
      json.put("simd", simd)
      json.objects("libraries", libraries) { json, library in
        json.put("name", library.name)
        json.put("version", library.version)
        json.put("linked", library.isInside ? "static" : "dynamic")
        json.put("version_from", library.isTold ? "library" : "build")
        if !library.uses.isEmpty { json.list("uses", library.uses) { $0.put(nil, $1) } }
        if !library.features.isEmpty { json.list("features", library.features) { $0.put(nil, $1) } }
      }
    }
    return json.text
  }
}
