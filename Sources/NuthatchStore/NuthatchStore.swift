/// # NuthatchStore: records that several processes share
///
/// `Store.open` gives the store of a directory. Records verify themselves and lie in packs (`Pack`, `PackWriter`). A shared
/// index finds them without a lock (`Index`). A caller gets a record without a copy (`Lease`). `docs/FORMAT.md` describes every
/// byte.
///
/// A record or an index that fails a check, or can't be read now, counts as a miss. That is why records and packs are read with
/// `try?`. Only a commit that can't be stored is an error.
///
/// `Journal` is for data that can't be fetched again: records in a file of their own that survive a loss of power, in their
/// order.
///
/// All system calls go through `SystemCalls`. This room knows nothing of URLs, pictures or the network.

/// The content type of a record. It is part of the key.
public enum RecordKind: UInt8, Sendable, CaseIterable {
  /// Metadata of something other than an answer; in packs of version 2, also of an answer.
  case meta = 1
  /// An answer's bytes.
  case body = 2
  /// A picture made from a body.
  case thumb = 3
  /// Metadata of an answer. Its key begins with its group (`RecordGroup`).
  case answer = 4

  var family: Family { self == .body ? .bulk : .small }
}

/// Packs of a family hold values of one size class and are dropped together.
enum Family: UInt16, CaseIterable, Sendable {
  case small = 1
  case bulk = 2

  var place: Int { self == .small ? 0 : 1 }
}
