import CSystem
import Glibc

/// Returns the names in a folder, in no order; nil if it can't be read.
package func folderNames(_ path: String) -> [String]? {
  let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard folder >= 0 else { return nil }
  defer { close(folder) }
  return folderNames(in: folder)
}

/// Returns the names in an open folder, in no order; nil if it can't be read, with the reason in `errno`.
package func folderNames(in folder: Int32) -> [String]? {
  var names: [String] = []
  let status = withUnsafeMutablePointer(to: &names) { names in
    nhs_list(
      folder,
      { names, name in
        guard let names, let name else { return }
        names.assumingMemoryBound(to: [String].self).pointee.append(String(cString: name))
      }, names)
  }
  guard status == 0 else {
    errno = -status
    return nil
  }
  return names
}
