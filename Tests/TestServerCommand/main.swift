import Glibc
import TestServer

let usage = """
  usage: nuthatch-testserver [--ipv6] [--folder DIR] [--urls FILE]

  Serves on loopback, prints its address as the only line on standard output, and ends when standard input does.

    --ipv6         also on [::1], at the same port
    --folder DIR   serves the files of DIR under /files/ (the list of its pictures: /files/)
    --urls FILE    writes the URLs of DIR's pictures to FILE, one a line
    --help         this text

  Paths that answer by themselves:

  \(indented(BuiltinPaths.help))

  Told and asked over HTTP:

  \(indented(TestServer.controlHelp))

  """

func indented(_ text: String) -> String {
  text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
}

func write(_ text: String, to descriptor: CInt) -> Bool {
  let bytes = Array(text.utf8)
  var place = 0
  while place < bytes.count {
    let count = bytes[place...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    guard count > 0 else { return false }
    place += count
  }
  return true
}

func fail(_ text: String, code: CInt) -> Never {
  _ = write("nuthatch-testserver: \(text)\n", to: 2)
  exit(code)
}

var folder: String?
var urlsFile: String?
var hasIPv6 = false
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
  switch argument {
  case "--help", "-h":
    _ = write(usage, to: 1)
    exit(0)
  case "--ipv6": hasIPv6 = true
  case "--folder", "--urls":
    guard let value = arguments.popFirst() else { fail("\(argument) needs a value", code: 2) }
    if argument == "--folder" { folder = value } else { urlsFile = value }
  default: fail("unknown option \(argument); --help lists them", code: 2)
  }
}

signal(SIGPIPE, SIG_IGN)

// A connection that waits at a gate takes two descriptors.
var limit = rlimit()
if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
  limit.rlim_cur = limit.rlim_max
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

do {
  let server = try TestServer.start(ipv6: hasIPv6)
  if let folder { server.serve(folder: folder, at: "/files/") }
  if let urlsFile {
    guard let folder else { fail("--urls needs --folder", code: 2) }
    let descriptor = open(urlsFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    let urls = server.urls(ofFolder: folder, at: "/files/")
    guard descriptor >= 0, write(urls.map { "\($0)\n" }.joined(), to: descriptor) else {
      fail("can't write \(urlsFile)", code: 1)
    }
    close(descriptor)
  }
  guard write("\(server.url(""))\n", to: 1) else { fail("can't write to standard output", code: 1) }
  var rubbish = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = read(0, &rubbish, rubbish.count)
    if count == 0 || count < 0 && errno != EINTR { break }
  }
  server.stop()
} catch {
  fail("\(error)", code: 1)
}
