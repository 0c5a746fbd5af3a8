import CSystem
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

  /// Nil when there is no memory.
  func unpacker() -> (any Unpacker)? {
    switch self {
    case .gzip: GzipUnpacker()
    case .zstd: StreamUnpacker(self, NHP_ZSTD)
    case .xz: StreamUnpacker(self, NHP_XZ)
    }
  }
}

enum UnpackState {
  /// All input is taken.
  case more
  /// The output is full, and there may be more.
  case full
  case fault(String)
}

/// Unpacks one stream after the other, piece by piece.
protocol Unpacker: AnyObject {
  /// Takes what it can from `input`, and adds how much it wrote to `count`.
  func unpack(
    _ input: inout ArraySlice<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int
  ) -> UnpackState

  /// What is wrong when nothing follows; nil when all is whole.
  var faultAtEnd: String? { get }
}

private func cutOff(_ packing: Packing) -> String {
  "the list ends in the middle of its \(packing.name) stream"
}

private func followed(_ packing: Packing) -> String { "what follows the \(packing.name) stream is none" }

private func damaged(_ packing: Packing) -> String { "the \(packing.name) stream is damaged" }

/// Hands the input to a function of C, and drops what that has used.
private func feed(
  _ input: inout ArraySlice<UInt8>, _ unpack: (inout UnsafePointer<UInt8>?, inout Int) -> Int32
) -> Int {
  var left = input.count
  let state = input.withUnsafeBufferPointer { bytes in
    var next = bytes.baseAddress
    return unpack(&next, &left)
  }
  input = input.suffix(left)
  return Int(state)
}

private final class GzipUnpacker: Unpacker {
  private let unpacker: OpaquePointer

  init?() {
    guard let unpacker = nhs_unpacker_new(Int32(NHS_UNPACK_GZIP)) else { return nil }
    self.unpacker = unpacker
  }

  deinit { nhs_unpacker_free(unpacker) }

  func unpack(
    _ input: inout ArraySlice<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int
  ) -> UnpackState {
    let state = feed(&input) { nhs_unpack(unpacker, &$0, &$1, output.baseAddress, output.count, &count) }
    switch state {
    case Int(NHS_UNPACK_MORE): return .more
    case Int(NHS_UNPACK_FULL): return .full
    default: return .fault(damaged(.gzip))
    }
  }

  var faultAtEnd: String? {
    if nhs_unpacker_is_whole(unpacker) == 0 { return cutOff(.gzip) }
    // It may have been the rest of the list.
    return nhs_unpacker_left_something(unpacker) != 0 ? followed(.gzip) : nil
  }
}

/// zstd and xz.
private final class StreamUnpacker: Unpacker {
  private let packing: Packing
  private let unpacker: OpaquePointer

  init?(_ packing: Packing, _ kind: Int) {
    guard let unpacker = nhp_unpacker_new(Int32(kind)) else { return nil }
    self.packing = packing
    self.unpacker = unpacker
  }

  deinit { nhp_unpacker_free(unpacker) }

  func unpack(
    _ input: inout ArraySlice<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int
  ) -> UnpackState {
    let state = feed(&input) { nhp_unpack(unpacker, &$0, &$1, output.baseAddress, output.count, &count) }
    switch state {
    case Int(NHP_MORE): return .more
    case Int(NHP_FULL): return .full
    case Int(NHP_FOLLOWED): return .fault(followed(packing))
    case Int(NHP_TOO_LARGE):
      let advice = packing == .zstd ? "zstd --long=27" : "xz -9"
      return .fault(
        "the \(packing.name) stream needs more than \(NHP_MOST_MIB) MiB of memory; \(advice) makes one that needs less"
      )
    case Int(NHP_NO_MEMORY): return .fault("there is no memory to unpack the \(packing.name) stream")
    default: return .fault(damaged(packing))
    }
  }

  var faultAtEnd: String? { nhp_unpacker_is_whole(unpacker) == 0 ? cutOff(packing) : nil }
}
