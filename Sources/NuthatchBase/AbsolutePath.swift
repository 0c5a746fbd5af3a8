import Glibc

/// Returns the absolute path, which doesn't depend on the working directory. Returns `path` if that folder is gone.
package func absolute(_ path: String) -> String {
  guard !path.hasPrefix("/"), let bytes = getcwd(nil, 0) else { return path }
  defer { free(bytes) }
  return String(cString: bytes) + "/" + path
}
