import Glibc

/// The path from the root on, which leads to the same file when the program works in another folder later.
package func absolute(_ path: String) -> String {
  guard !path.hasPrefix("/"), let bytes = getcwd(nil, 0) else { return path }
  defer { free(bytes) }
  return String(cString: bytes) + "/" + path
}
