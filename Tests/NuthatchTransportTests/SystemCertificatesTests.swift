import Glibc
import Testing

@testable import NuthatchTransport

@Suite("Places of certificates") struct SystemCertificatesTests {
  @Test(
    "a system's file of certificates is found",
    arguments: [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
      "/etc/ssl/ca-bundle.pem", "/var/lib/ca-certificates/ca-bundle.pem",
    ])
  func files(_ path: String) throws {
    let root = try Root()
    try root.write(path)
    try root.write("/site/certifi/cacert.pem")
    #expect(root.found == SystemCertificates(file: root.path + path, folder: nil))
  }

  @Test("an empty file doesn't count")
  func emptyFile() throws {
    let root = try Root()
    try root.write("/etc/ssl/certs/ca-certificates.crt", "")
    #expect(root.found == SystemCertificates(file: nil, folder: nil))
    try root.write("/etc/pki/tls/certs/ca-bundle.crt")
    #expect(root.found.file == root.path + "/etc/pki/tls/certs/ca-bundle.crt")
  }

  @Test("a folder counts if it has hashed names")
  func folder() throws {
    let root = try Root()
    try root.write("/etc/ssl/certs/java/cacerts")
    #expect(root.found == SystemCertificates(file: nil, folder: nil))
    try root.write("/etc/ssl/certs/ca6e4ad9.0")
    #expect(root.found == SystemCertificates(file: nil, folder: root.path + "/etc/ssl/certs"))
    try root.write("/etc/ssl/certs/ca-certificates.crt")
    #expect(
      root.found
        == SystemCertificates(
          file: root.path + "/etc/ssl/certs/ca-certificates.crt", folder: root.path + "/etc/ssl/certs"))
  }

  @Test("certifi is the last place")
  func certifi() throws {
    let root = try Root()
    try root.write("/site/certifi/cacert.pem")
    #expect(root.found == SystemCertificates(file: root.path + "/site/certifi/cacert.pem", folder: nil))
    #expect(SystemCertificates.found(below: root.path, library: nil).file == nil)
    #expect(SystemCertificates.found(below: root.path, library: "libnuthatch.so.1").file == nil)
  }

  @Test("the environment comes first")
  func environment() throws {
    let system = SystemCertificates(file: "/system", folder: "/systems")
    let set = ["SSL_CERT_FILE": "/own"]
    let environment = TransportEnvironment(environment: { set[$0] }, system: system)
    #expect(environment.certificateFile == "/own")
    #expect(environment.certificateFolder == nil)
  }
}

/// A folder that stands for the root of a system.
private final class Root {
  let path: String

  init() throws {
    var template = Array("/tmp/nuthatch-certificates-XXXXXX".utf8CString)
    path = String(cString: try #require(mkdtemp(&template)))
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { remove(path + "/" + name) }
      }
      closedir(folder)
    }
    _ = Glibc.remove(path)
  }

  var found: SystemCertificates {
    SystemCertificates.found(below: path, library: path + "/site/nuthatch/libnuthatch.so.1")
  }

  func write(_ name: String, _ text: String = "a certificate") throws {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/" + part
      mkdir(folder, 0o755)
    }
    let file = try #require(fopen(path + name, "w"))
    fputs(text, file)
    fclose(file)
  }
}
