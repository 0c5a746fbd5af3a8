import CSystem
import Glibc
import NuthatchBase

/// The places where systems keep the certificates that servers are checked with.
///
/// The system's libcurl has its system's place built in. The wheel's libcurl runs on each system, and has none.
struct SystemCertificates: Equatable, Sendable {
  /// All certificates in one file.
  var file: String?
  /// A folder of certificates that are named by their hashes.
  var folder: String?

  static let missing = TransportFault(
    .tls,
    "this machine has no certificates to check servers with. Install the system's package ca-certificates, or Python's "
      + "package certifi beside nuthatch, or name a file of certificates by SSL_CERT_FILE or the option ca_file"
  )

  private static let files = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Fedora, from 43
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",  // Arch
    "/etc/ssl/ca-bundle.pem",  // SUSE
    "/var/lib/ca-certificates/ca-bundle.pem",  // SUSE
  ]
  private static let folders = ["/etc/ssl/certs", "/etc/pki/tls/certs"]

  /// Those of this machine. If it has none: the file of Python's package `certifi`, if that is installed beside this library.
  static func found() -> SystemCertificates {
    let library = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { path in
      path.baseAddress.flatMap { nhs_own_file($0, path.count) == 0 ? nil : String(cString: $0) }
    }
    return found(below: "", library: library)
  }

  /// - Parameters:
  ///   - root: a folder that stands for the root; empty for the root itself.
  ///   - library: the path of this library.
  static func found(below root: String, library: String?) -> SystemCertificates {
    let folder = folders.map { root + $0 }.first(where: hasHashedNames)
    if let file = files.map({ root + $0 }).first(where: isUsable) {
      return SystemCertificates(file: file, folder: folder)
    }
    if folder != nil { return SystemCertificates(file: nil, folder: folder) }
    // site-packages/nuthatch/libnuthatch.so.1 and site-packages/certifi/cacert.pem
    let parts = (library ?? "").split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    let certifi = (parts + ["certifi", "cacert.pem"]).joined(separator: "/")
    return SystemCertificates(file: !parts.isEmpty && isUsable(certifi) ? certifi : nil, folder: nil)
  }

  /// Systems without certificates may have an empty file.
  private static func isUsable(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
      && access(path, R_OK) == 0
  }

  /// Whether the folder has a file such as `ca6e4ad9.0`.
  private static func hasHashedNames(_ path: String) -> Bool {
    guard let folder = opendir(path) else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let isHashed = withUnsafeBytes(of: &entry.pointee.d_name) { name in
        name[8] == UInt8(ascii: ".") && name[9] == UInt8(ascii: "0") && name[10] == 0
          && name[..<8].allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
      }
      if isHashed { return true }
    }
    return false
  }
}
