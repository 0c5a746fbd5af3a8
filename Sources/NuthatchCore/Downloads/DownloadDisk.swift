import Glibc
import NuthatchTransport
import Synchronization

/// What of a download needs a disk: the file that it grows in, the copies of it, and descriptors of files. A disk may not answer,
/// so that all of it is done on a line of jobs; the loop's thread only asks for it.
final class DownloadDisk: @unchecked Sendable {
  /// What becomes of what has come.
  enum Ending { case named, kept, dropped }

  /// Whether there is anything to write.
  let isWanted: Bool
  private let loop: EventLoop
  private let line: SerialLine
  /// Bytes that are to be written still, and 1 for whatever else is to be done.
  private let waiting = Atomic(0)

  // Confined to the line.
  private let files: [Sink]
  private var descriptors: [NamedDescriptor]
  private var partial: PartialFile?
  /// Why nothing more is done.
  private var failure: NuthatchError?

  /// Called on the loop's thread, which also sets it, when more may be written again, or nothing can be.
  var whenMoved: (NuthatchError?) -> Void = { _ in }

  /// So many bytes may wait; more of them hold the transfer up.
  private static let most = 256 << 10

  init(_ files: [Sink], _ descriptors: [NamedDescriptor], _ runtime: Runtime) {
    self.files = files
    self.descriptors = descriptors
    isWanted = !files.isEmpty || !descriptors.isEmpty
    loop = runtime.loop
    line = SerialLine(runtime.writers)
  }

  deinit { for descriptor in descriptors { Glibc.close(descriptor.number) } }

  /// Whether the disk has something to do still.
  var isBehind: Bool { waiting.load(ordering: .relaxed) > 0 }

  var isFull: Bool { waiting.load(ordering: .relaxed) > Self.most }

  /// Has `job` done, which writes `count` bytes, unless something failed before.
  func submit(_ count: Int = 0, _ job: @escaping @Sendable (DownloadDisk) throws(NuthatchError) -> Void) {
    waiting.add(count, ordering: .relaxed)
    line.submit {
      let hadFailed = self.failure != nil
      _ = self.attempt(job)
      let (before, after) = self.waiting.subtract(count, ordering: .relaxed)
      let (failure, limit) = (self.failure, Self.most / 2)
      guard before > limit && after <= limit || !hadFailed && failure != nil else { return }
      self.loop.post { self.whenMoved(failure) }
    }
  }

  /// The same of a job that has a result, which the loop's thread hears.
  func ask<Value: Sendable>(
    _ job: @escaping @Sendable (DownloadDisk) throws(NuthatchError) -> Value,
    then: @escaping @Sendable (Result<Value, NuthatchError>) -> Void
  ) {
    waiting.add(1, ordering: .relaxed)
    line.submit {
      let result = self.attempt(job)
      self.waiting.subtract(1, ordering: .relaxed)
      self.loop.post { then(result) }
    }
  }

  /// The last job. `then` hears what failed: on the loop's thread, as long as there is one.
  func close(_ ending: Ending, then: @escaping @Sendable (NuthatchError?) -> Void = { _ in }) {
    line.submit {
      if ending == .named {
        _ = self.attempt { (disk) throws(NuthatchError) in try disk.partial?.appear(as: disk.files) }
      }
      let failure = self.failure
      if ending == .kept, failure == nil { self.partial?.keep() }
      if ending == .dropped || failure != nil { self.partial?.discard() }
      self.partial = nil
      for descriptor in self.descriptors { Glibc.close(descriptor.number) }
      self.descriptors = []
      if !self.loop.post({ then(failure) }) { then(failure) }
    }
  }
}

// MARK: - On the line

extension DownloadDisk {
  private func attempt<Value>(
    _ job: (DownloadDisk) throws(NuthatchError) -> Value
  ) -> Result<Value, NuthatchError> {
    if let failure { return .failure(failure) }
    do throws(NuthatchError) {
      return .success(try job(self))
    } catch {
      failure = error
      return .failure(error)
    }
  }

  /// What a download of the same answer has left to be gone on with.
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

  /// - Returns: its bytes, if they are streamed, too.
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
}

/// A descriptor, and what messages call it.
struct NamedDescriptor: Sendable {
  let number: Int32
  let name: String

  /// Whether what is written to it goes to a disk. What that isn't, takes no more than it has room for.
  var isOnDisk: Bool {
    var status = stat()
    guard fstat(number, &status) == 0 else { return true }
    return ![S_IFIFO, S_IFSOCK, S_IFCHR].contains(status.st_mode & S_IFMT)
  }
}

/// Where a download begins.
struct DownloadStart: Sendable {
  var count: Int64 = 0
  var total: Int64?
  var validator: Validator?
}
