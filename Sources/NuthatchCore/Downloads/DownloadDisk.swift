import Glibc

/// The part of a download on disks: the file that it grows in, its copies, and descriptors of files. Confined to the jobs of
/// `queue`, hence Sendable.
final class DownloadDisk: @unchecked Sendable {
  /// The end of the saved file: it gets its name, stays hidden to be continued, or is removed.
  enum Ending { case named, kept, dropped }

  /// Whether there is anything to write.
  let isWanted: Bool
  var hasFiles: Bool { !files.isEmpty }
  let queue: DiskQueue
  private let files: [Sink]
  private var descriptors: [NamedDescriptor]
  private var partial: PartialFile?

  init(_ files: [Sink], _ descriptors: [NamedDescriptor], _ runtime: Runtime) {
    self.files = files
    self.descriptors = descriptors
    isWanted = !files.isEmpty || !descriptors.isEmpty
    queue = DiskQueue(runtime)
  }

  deinit { closeDescriptors() }

  /// Opens the partial file. Returns the state that an earlier download of the same answer has left.
  func open(resumes: Bool, key: String) throws(NuthatchError) -> DownloadStart {
    guard let path = files.first?.path else { return DownloadStart() }
    let partial = try PartialFile(for: path, resumes: resumes, key: key)
    self.partial = partial
    return DownloadStart(count: partial.count, total: partial.total, validator: partial.validator)
  }

  func expect(_ total: Int64?, _ validator: Validator?) throws(NuthatchError) {
    partial?.validator = validator
    partial?.total = total
    if let total { try partial?.reserve(total) }
  }

  func reset() throws(NuthatchError) { try partial?.reset() }

  func write(_ bytes: UnsafeRawBufferPointer) throws(NuthatchError) {
    try partial?.append(bytes)
    for descriptor in descriptors where !NewFile.write(bytes, to: descriptor.number, at: nil) {
      throw NewFile.failure(descriptor.name)
    }
  }

  /// Saves a whole answer, such as one from the cache.
  ///
  /// - Returns: its bytes if they are also streamed; else none.
  func save(_ response: Response, isStreamed: Bool) throws(NuthatchError) -> [UInt8] {
    let copy = try response.withBody { (bytes) throws(NuthatchError) in
      try partial?.reserve(Int64(bytes.count))
      try write(bytes)
      return isStreamed ? Array(bytes) : []
    }
    try response.checkBody()
    return copy
  }

  func bytesSoFar() -> SavedBytes? { partial?.bytesSoFar() }

  /// - Returns: `failure`, or an error of this call; nil if there is none.
  func close(_ ending: Ending, after failure: NuthatchError?) -> NuthatchError? {
    var failure = failure
    if ending == .named, failure == nil {
      do throws(NuthatchError) { try partial?.appear(as: files) } catch { failure = error }
    }
    if ending == .kept, failure == nil { partial?.keep() }
    if ending == .dropped || failure != nil { partial?.discard() }
    partial = nil
    closeDescriptors()
    return failure
  }

  private func closeDescriptors() {
    for descriptor in descriptors { Glibc.close(descriptor.number) }
    descriptors = []
  }
}

/// A descriptor, and its name for messages.
struct NamedDescriptor: Sendable {
  let number: Int32
  let name: String

  /// Whether writes to it go to a disk. A pipe, socket or character device accepts no more than it has space for.
  var isOnDisk: Bool {
    var status = stat()
    guard fstat(number, &status) == 0 else { return true }
    return ![S_IFIFO, S_IFSOCK, S_IFCHR].contains(status.st_mode & S_IFMT)
  }
}

/// The state in which a download starts.
struct DownloadStart: Sendable {
  var count: Int64 = 0
  var total: Int64?
  var validator: Validator?
}
