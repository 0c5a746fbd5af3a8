import CUnpacking

/// What a packed list can be packed with.
enum Packing: CaseIterable {
  case gzip, zstd, xz

  var name: String {
    switch self {
    case .gzip: "gzip"
    case .zstd: "zstd"
    case .xz: "xz"
    }
  }

  /// How the names of such files end.
  var suffixes: [String] {
    switch self {
    case .gzip: [".gz"]
    case .zstd: [".zst", ".zstd"]
    case .xz: [".xz"]
    }
  }

  /// What a stream can begin with.
  private var marks: [[UInt8]] {
    switch self {
    case .gzip: [[0x1f, 0x8b]]
    // A frame, or one of 16 kinds that the unpacker passes over: some packers begin with one.
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

  /// Whether bytes may be the beginning of a mark, so that more of them are needed.
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

/// Unpacks one stream after the other, piece by piece.
final class Unpacker {
  enum State {
    /// All input is taken.
    case more
    /// The output is full, and there may be more.
    case full
    case fault(String)
  }

  private let packing: Packing
  private let unpacker: OpaquePointer

  /// Nil when there is no memory.
  init?(_ packing: Packing) {
    guard let unpacker = nhp_unpacker_new(Int32(packing.kind)) else { return nil }
    self.packing = packing
    self.unpacker = unpacker
  }

  deinit { nhp_unpacker_free(unpacker) }

  /// Takes what it can from `input`, and adds how much it wrote to `count`.
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
        "the \(packing.name) stream needs more than \(NHP_MOST_MIB) MiB of memory; \(advice) makes one that needs less"
      )
    case NHP_NO_MEMORY: return .fault("there is no memory to unpack the \(packing.name) stream")
    default: return .fault("the \(packing.name) stream is damaged")
    }
  }

  /// What is wrong when nothing follows; nil when all is whole.
  var faultAtEnd: String? {
    guard nhp_unpacker_is_whole(unpacker) != 0 else {
      return "the list ends in the middle of its \(packing.name) stream"
    }
    // It may have been the rest of the list.
    return nhp_unpacker_left_something(unpacker) != 0 ? followed : nil
  }

  private var followed: String { "what follows the \(packing.name) stream is none" }
}
