import CSystem
import Glibc

/// Bytes that grow while they arrive, and then never move.
///
/// Memory comes from `realloc`, with a check, because a server chooses the size and Swift can't recover from a failed
/// allocation. All buffers together have a limit (`ReceiveBudget`): a buffer beyond it continues in a file without a name. One
/// thread writes it; once shared it is only read, hence Sendable.
final class ByteBuffer: @unchecked Sendable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0
  /// The file that `base` is mapped from, for reading; -1 for private memory.
  private var file: Int32 = -1
  private var mapping = nhs_mapping()
  private let inFlight: ReceiveBudget?
  /// The folder for a file; if it is read-only, the file is created in a folder for temporary files.
  private let folder: String

  /// The most bytes that are reserved for an announced length. More are reserved only when these have arrived.
  private static let trust = 1 << 20

  /// A buffer that doesn't count against the limit.
  init() {
    inFlight = nil
    folder = ""
  }

  /// A buffer for bytes that are being received.
  init(_ inFlight: ReceiveBudget, else folder: String) {
    self.inFlight = inFlight
    self.folder = folder
  }

  var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Whether the bytes are in a file.
  var isInFile: Bool { file >= 0 }

  /// Whether some bytes couldn't be read from the file, and are zeros. Check it after reading.
  var isBroken: Bool { isInFile && nhs_is_broken(mapping.broken) != 0 }

  /// Reserves memory for an announced length.
  func reserve(announced: Int64) {
    // If this fails, the memory is requested again when bytes arrive.
    _ = grow(to: Int(min(max(announced, 0), Int64(Self.trust))), staysInMemory: true)
  }

  /// Appends bytes. Returns 0, or an error number: ENOMEM, ENOSPC, or another error of the file.
  ///
  /// - Parameter staysInMemory: does nothing that may wait for a disk; returns EAGAIN if that is necessary.
  func append(_ bytes: UnsafeRawBufferPointer, staysInMemory: Bool = false) -> Int32 {
    guard let source = bytes.baseAddress, !bytes.isEmpty else { return 0 }
    let (needed, overflow) = count.addingReportingOverflow(bytes.count)
    guard !overflow, needed <= Int.max / 2 else { return ENOMEM }
    if needed > capacity {
      let fault = grow(to: max(needed, capacity + capacity / 2), staysInMemory: staysInMemory)
      guard fault == 0 else { return fault }
    }
    if isInFile {
      // Use a system call, because it returns errors. A write to mapped memory would raise a signal instead.
      let fault = nhs_write_at(file, source, bytes.count, Int64(count))
      guard fault == 0 else { return fault }
    } else {
      guard let base else { return ENOMEM }
      memcpy(base + count, source, bytes.count)
    }
    count = needed
    return 0
  }

  /// Frees memory that was reserved beyond the received bytes. Call it after the last byte.
  func trim() {
    guard !isInFile, count > 0, count < capacity else { return }
    // If the smaller block can't be allocated, the larger one stays.
    _ = resize(to: count)
  }

  /// Stops counting these bytes against the limit, because all are received.
  func stopCounting() {
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
      // Try /var/tmp first, because /tmp may be in memory.
      new = nhs_unlinked_file("/var/tmp")
      if new < 0 { new = nhs_unlinked_file("/tmp") }
      // If no file can be created anywhere, the bytes stay in memory, beyond the limit.
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
    stopCounting()
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

  /// Files grow by at least a mebibyte.
  private static func rounded(_ size: Int) -> Int { (size + trust - 1) & ~(trust - 1) }

  deinit {
    if isInFile {
      // Closing the last descriptor frees the file on the disk, which can take long.
      nonisolated(unsafe) var (mapping, file) = (mapping, file)
      let release: @Sendable () -> Void = {
        nhs_unmap_file(&mapping)
        close(file)
      }
      if let inFlight { inFlight.onDisk(release) } else { release() }
    } else {
      stopCounting()
      free(base)
    }
  }
}
