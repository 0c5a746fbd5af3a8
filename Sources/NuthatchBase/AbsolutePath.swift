import Glibc

/// Returns the absolute path, which stays valid when the process changes its working directory.
package func absolute(_ path: String) -> String {
  guard !path.hasPrefix("/"), let bytes = getcwd(nil, 0) else { return path }
  defer { free(bytes) }
  return String(cString: bytes) + "/" + path
}
