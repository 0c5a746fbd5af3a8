// What becomes of the signal of a failed touch: `nuthatch-storecrash signal NAME FILE`. Ends with status 9 if the handler that
// was installed before got it, 0 if everything was as it should be, 3 if it wasn't.

import CSystem
import Glibc

private func mapped(_ fd: Int32) -> nhs_mapping {
  var mapping = nhs_mapping()
  guard nhs_map_file(fd, 0, 16384, NHS_MAP_SHARED, &mapping) == 0 else { exit(4) }
  return mapping
}

/// A mapping that `nhs_map_file` did not make.
private func foreign(_ fd: Int32) -> UnsafeMutableRawPointer {
  guard let base = mmap(nil, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), base != MAP_FAILED else {
    exit(4)
  }
  return base
}

private func install(_ handler: @convention(c) @escaping (Int32) -> Void) {
  var action = sigaction()
  action.__sigaction_handler.sa_handler = handler
  sigaction(SIGBUS, &action, nil)
}

private func touch(_ base: UnsafeMutableRawPointer) -> UInt8 { (base + 4096).load(as: UInt8.self) }

private func expect(_ isSo: Bool) { if !isSo { exit(3) } }

func receiveSignal(_ name: String, _ path: String) {
  let fd = open(path, O_RDWR | O_CREAT, 0o600)
  ftruncate(fd, 16384)
  switch name {
  case "earlier", "earlier-own": install { _ in _exit(9) }
  case "ignored", "ignored-sent": signal(SIGBUS, SIG_IGN)
  default: break
  }
  let (own, other) = (mapped(fd), foreign(fd))
  own.base.storeBytes(of: 5, toByteOffset: 4096, as: UInt8.self)
  guard ftruncate(fd, 0) == 0 else { exit(4) }
  switch name {
  case "earlier", "ignored", "foreign":
    // No handler got the signal. The status depends on the byte, or an optimised program wouldn't read it.
    exit(touch(other) == 0 ? 3 : 4)
  case "sent", "ignored-sent", "earlier-sent":
    kill(getpid(), SIGBUS)
    exit(name == "ignored-sent" ? 0 : 3)
  case "forked":
    let child = forked()
    var status: Int32 = 0
    // The child makes the file longer for a moment. A touch at that moment wouldn't fail.
    if child != 0 { waitpid(child, &status, 0) }
    expect(touch(own.base) == 0 && nhs_is_broken(own.broken) != 0)
    if child == 0 {
      ftruncate(fd, 16384)
      let made = mapped(fd)
      ftruncate(fd, 0)
      expect(touch(made.base) == 0 && nhs_is_broken(made.broken) != 0 && nhs_failed_touches() == 2)
      _exit(0)
    }
    exit(status == 0 ? 0 : 3)
  default:
    expect(touch(own.base) == 0 && nhs_is_broken(own.broken) != 0)
    // The other pages are zeros, too, and nothing that is written reaches the file.
    own.base.storeBytes(of: 9, as: UInt8.self)
    var status = stat()
    expect(fstat(fd, &status) == 0 && status.st_size == 0)
    exit(0)
  }
}
