import Glibc

/// The path from the root on, for who needs it also when the program works in another folder by then.
package func absolute(_ path: String) -> String {
  guard !path.hasPrefix("/"), let bytes = getcwd(nil, 0) else { return path }
  defer { free(bytes) }
  return String(cString: bytes) + "/" + path
}
