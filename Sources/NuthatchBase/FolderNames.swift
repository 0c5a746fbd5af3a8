import CSystem
import Glibc

/// The names of all that is in a folder, in no order; nil when it can't be read.
package func folderNames(_ path: String) -> [String]? {
  let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard folder >= 0 else { return nil }
  defer { close(folder) }
  return folderNames(in: folder)
}

/// The same of an open folder, with the reason in `errno` where it can't be read.
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
