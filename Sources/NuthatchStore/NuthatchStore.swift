/// # NuthatchStore: records that several processes share
///
/// `Store.open` gives the store of a directory: self-verifying records in packs (`Pack`, `PackWriter`), found through
/// a shared index without a lock (`Index`), handed out without a copy (`Lease`). `docs/FORMAT.md` describes every byte.
///
/// Whatever doesn't match is a miss: no record is trusted because the index says so, no index because it is there.
/// That is also why `try?` stands where records and packs are looked at: what can't be read now is passed over like what
/// isn't there, and only a commit that can't be kept is an error.
///
/// `Journal` is for what is no cache: records in a file of their own that survive a loss of power, in their order.
///
/// Every system call goes through `SystemCalls`. This room knows nothing of URLs, pictures or the network.

/// What a record holds, which is part of its key.
public enum RecordKind: UInt8, Sendable, CaseIterable {
  /// What is known about something else than an answer; in packs of version 2, about an answer.
  case meta = 1
  /// An answer's bytes.
  case body = 2
  /// A picture made from a body.
  case thumb = 3
  /// What is known about an answer. Its key begins with its group (`RecordGroup`).
  case answer = 4

  var family: Family { self == .body ? .bulk : .small }
}

/// Packs of a family hold values of one size class and are dropped together.
enum Family: UInt16, CaseIterable, Sendable {
  case small = 1
  case bulk = 2

  var place: Int { self == .small ? 0 : 1 }
}
