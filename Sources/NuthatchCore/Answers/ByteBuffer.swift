import CSystem
import Glibc

/// Bytes that grow while they arrive and then stay where they are.
///
/// Memory comes from `realloc`, checked, because a server chooses the size and Swift can't recover from a failed
/// allocation. What all buffers together may hold is limited (`ReceiveBudget`): one that finds no room goes on in a file without
/// a name. Written by one thread; once shared it is only read, which is why it is Sendable.
final class ByteBuffer: @unchecked Sendable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0
  /// The file that `base` is mapped from, to be read; -1 for private memory.
  private var file: Int32 = -1
  private var mapping = nhs_mapping()
  private let inFlight: ReceiveBudget?
  /// Where a file may be made; where that can only be read, one is made where temporary files are.
  private let folder: String

  /// What is reserved on a server's word alone; more only when that much has come.
  private static let trust = 1 << 20

  /// Bytes that count for nothing.
  init() {
    inFlight = nil
    folder = ""
  }

  /// Bytes on their way.
  init(_ inFlight: ReceiveBudget, else folder: String) {
    self.inFlight = inFlight
    self.folder = folder
  }

  var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Whether they lie in a file.
  var isInFile: Bool { file >= 0 }

  /// Whether some of them couldn't be read from the file: they are zeros then. To be asked after reading.
  var isBroken: Bool { isInFile && nhs_is_broken(mapping.broken) != 0 }

  /// Makes room in memory for an announced length.
  func reserve(announced: Int64) {
    // What can't be had now is asked for again when bytes come.
    _ = grow(to: Int(min(max(announced, 0), Int64(Self.trust))), staysInMemory: true)
  }

  /// 0, or the number of the fault: ENOMEM, ENOSPC, or what else became of the file.
  ///
  /// - Parameter staysInMemory: nothing is done that may wait for a disk; EAGAIN where that has to be.
  func append(_ bytes: UnsafeRawBufferPointer, staysInMemory: Bool = false) -> Int32 {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return 0 }
    let (needed, overflow) = count.addingReportingOverflow(bytes.count)
    guard !overflow, needed <= Int.max / 2 else { return ENOMEM }
    if needed > capacity {
      let fault = grow(to: max(needed, capacity + capacity / 2), staysInMemory: staysInMemory)
      guard fault == 0 else { return fault }
    }
    if isInFile {
      // By a system call, which has an error where memory that belongs to a file has a signal.
      let fault = nhs_write_at(file, source, bytes.count, Int64(count))
      guard fault == 0 else { return fault }
    } else {
      guard let base else { return ENOMEM }
      memcpy(base + count, source, bytes.count)
    }
    count = needed
    return 0
  }

  /// No more will come: what was reserved too much is given back.
  func trim() {
    guard !isInFile, count > 0, count < capacity else { return }
    // Nothing is lost when a smaller one can't be had.
    _ = resize(to: count)
  }

  /// They are on their way no more, and count for nothing.
  func arrive() {
    guard !isInFile else { return }
    inFlight?.give(charged)
    charged = 0
  }

  private var charged = 0

  private func grow(to wanted: Int, staysInMemory: Bool) -> Int32 {
    guard wanted > capacity else { return 0 }
    if isInFile { return staysInMemory ? EAGAIN : lengthen(to: wanted) }
    guard let inFlight else { return resize(to: wanted) }
    guard inFlight.take(wanted - charged) else { return staysInMemory ? EAGAIN : moveToFile(wanted) }
    charged = wanted
    return resize(to: wanted)
  }

  private func resize(to wanted: Int) -> Int32 {
    guard let moved = realloc(base, wanted) else { return ENOMEM }
    base = moved
    capacity = wanted
    if wanted < charged {
      inFlight?.give(charged - wanted)
      charged = wanted
    }
    return 0
  }

  private func moveToFile(_ wanted: Int) -> Int32 {
    var new = nhs_unlinked_file(folder)
    if new < 0, errno == EROFS || errno == EACCES {
      // On the disk, if possible.
      new = nhs_unlinked_file("/var/tmp")
      if new < 0 { new = nhs_unlinked_file("/tmp") }
      // Nowhere can a file be made: then it stays in memory, which no limit counts.
      if new < 0, errno == EROFS || errno == EACCES || errno == ENOENT { return resize(to: wanted) }
    }
    guard new >= 0 else { return errno }
    let size = Self.rounded(wanted)
    var fault = nhs_map_longer(new, size, &mapping)
    if fault == 0, base != nil { fault = nhs_write_at(new, base, count, 0) }
    guard fault == 0 else {
      if mapping.base != nil { nhs_unmap_file(&mapping) }
      mapping = nhs_mapping()
      close(new)
      return fault
    }
    free(base)
    arrive()
    (base, capacity, file) = (mapping.base, size, new)
    return 0
  }

  private func lengthen(to wanted: Int) -> Int32 {
    let size = Self.rounded(wanted)
    let fault = nhs_map_longer(file, size, &mapping)
    guard fault == 0 else { return fault }
    (base, capacity) = (mapping.base, size)
    return 0
  }

  /// Files grow by a mebibyte at least.
  private static func rounded(_ size: Int) -> Int { (size + trust - 1) & ~(trust - 1) }

  deinit {
    if isInFile {
      // The disk frees a file without a name with its last descriptor, and may take its time.
      nonisolated(unsafe) var (mapping, file) = (mapping, file)
      let release: @Sendable () -> Void = {
        nhs_unmap_file(&mapping)
        close(file)
      }
      if let inFlight { inFlight.onDisk(release) } else { release() }
    } else {
      arrive()
      free(base)
    }
  }
}
