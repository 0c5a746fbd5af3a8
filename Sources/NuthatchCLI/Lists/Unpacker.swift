import CUnpacking

/// The compression formats of a list.
enum Packing: CaseIterable {
  case gzip, zstd, xz

  var name: String {
    switch self {
    case .gzip: "gzip"
    case .zstd: "zstd"
    case .xz: "xz"
    }
  }

  /// Endings of file names.
  var suffixes: [String] {
    switch self {
    case .gzip: [".gz"]
    case .zstd: [".zst", ".zstd"]
    case .xz: [".xz"]
    }
  }

  /// Magic numbers at the beginning of a stream.
  private var marks: [[UInt8]] {
    switch self {
    case .gzip: [[0x1f, 0x8b]]
    // A frame, or one of 16 kinds of skippable frames: some programs write one first.
    case .zstd: [[0x28, 0xb5, 0x2f, 0xfd]] + (0x50...0x5f).map { [$0, 0x2a, 0x4d, 0x18] }
    case .xz: [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]]
    }
  }

  init?(of head: some Collection<UInt8>) {
    guard let packing = Self.allCases.first(where: { $0.marks.contains { head.starts(with: $0) } }) else {
      return nil
    }
    self = packing
  }

  /// Returns whether the bytes may be the beginning of a longer magic number.
  static func mayBegin(_ head: some Collection<UInt8>) -> Bool {
    allCases.contains { $0.marks.contains { $0.count > head.count && $0.starts(with: head) } }
  }

  fileprivate var kind: Int {
    switch self {
    case .gzip: NHP_GZIP
    case .zstd: NHP_ZSTD
    case .xz: NHP_XZ
    }
  }
}

/// Decompresses one stream after the other, piece by piece.
final class Unpacker {
  enum State {
    /// All input was consumed.
    case more
    /// The output buffer is full. There may be more output.
    case full
    case fault(String)
  }

  private let packing: Packing
  private let unpacker: OpaquePointer

  /// Returns nil if there is not enough memory.
  init?(_ packing: Packing) {
    guard let unpacker = nhp_unpacker_new(Int32(packing.kind)) else { return nil }
    self.packing = packing
    self.unpacker = unpacker
  }

  deinit { nhp_unpacker_free(unpacker) }

  /// Removes the consumed bytes from `input`, and adds the number of written bytes to `count`.
  func unpack(
    _ input: inout ArraySlice<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int
  ) -> State {
    var left = input.count
    let state = input.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      return nhp_unpack(unpacker, &next, &left, output.baseAddress, output.count, &count)
    }
    input = input.suffix(left)
    switch Int(state) {
    case NHP_MORE: return .more
    case NHP_FULL: return .full
    case NHP_FOLLOWED: return .fault(followed)
    case NHP_TOO_LARGE:
      let advice = packing == .zstd ? "zstd --long=27" : "xz -9"
      return .fault(
        "the \(packing.name) stream needs more than \(NHP_MOST_MIB) MiB of memory; compress it with \(advice)"
      )
    case NHP_NO_MEMORY: return .fault("there is not enough memory to decompress the \(packing.name) stream")
    default: return .fault("the \(packing.name) stream is damaged")
    }
  }

  /// The fault at the end of the input; nil if the stream is complete.
  var faultAtEnd: String? {
    guard nhp_unpacker_is_whole(unpacker) != 0 else {
      return "the list ends in the middle of its \(packing.name) stream"
    }
    // Report data after the stream: it may be the rest of the list.
    return nhp_unpacker_left_something(unpacker) != 0 ? followed : nil
  }

  private var followed: String {
    "there is other data after the end of the \(packing.name) stream; decompress the file and pass the plain list"
  }
}
