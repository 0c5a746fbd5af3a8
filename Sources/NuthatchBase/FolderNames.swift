import CSystem
import Glibc

/// The names of all that is in a folder, in no order; nil when it can't be read.
package func folderNames(_ path: String) -> [String]? {
  let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard folder >= 0 else { return nil }
  defer { close(folder) }
  var names: [String] = []
  let status = withUnsafeMutablePointer(to: &names) { names in
    nhs_list(
      folder,
      { names, name in
        guard let names, let name else { return }
        names.assumingMemoryBound(to: [String].self).pointee.append(String(cString: name))
      }, names)
  }
  return status == 0 ? names : nil
}
