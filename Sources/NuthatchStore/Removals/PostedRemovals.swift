import CSystem

/// Pending removals that all processes see, in the file `locks` (docs/FORMAT.md). No process finds the affected records, and
/// the next process that stores an answer does the removals, even if the process that requested them has ended. Posting needs
/// no lock.
struct PostedRemovals: Sendable {
  /// A group that is to be removed.
  struct Post {
    fileprivate let place: Int
    /// Random. It distinguishes this post from a later one of the same group, which must stay when this removal is done.
    let token: UInt64
    let group: RecordGroup
  }

  private static let places = 64
  private static let placeSize = 24
  static let size = 16 + places * placeSize

  // The first word has a bit for each post, the second one a bit for each taken place. Then come the places, each with a token
  // (0: no post) and a group.
  nonisolated(unsafe) private let posts: UnsafeMutableRawPointer
  private var claims: UnsafeMutableRawPointer { posts + 8 }

  init(at base: UnsafeMutableRawPointer) { posts = base }

  var address: UInt { UInt(bitPattern: posts) }

  @inline(__always)
  var areAny: Bool { nhs_load64_acquire(posts) != 0 }

  private func place(_ number: Int) -> UnsafeMutableRawPointer { posts + (16 + number * Self.placeSize) }

  private func post(at number: Int) -> Post? {
    let place = place(number)
    let token = nhs_load64_acquire(place)
    let group = RecordGroup(low: nhs_load64(place + 8), high: nhs_load64(place + 16))
    nhs_fence_acquire()
    // Another post may have replaced this one meanwhile; the next call sees it.
    return token == 0 || nhs_load64(place) != token ? nil : Post(place: number, token: token, group: group)
  }

  /// Returns whether `body` returns true for a posted group.
  func contains(_ body: (RecordGroup) -> Bool) -> Bool {
    var bits = nhs_load64_acquire(posts)
    while bits != 0 {
      if let post = post(at: bits.trailingZeroBitCount), body(post.group) { return true }
      bits &= bits - 1
    }
    return false
  }

  var all: [Post] {
    guard areAny else { return [] }
    return (0..<Self.places).compactMap { post(at: $0) }
  }

  /// Posts a group. Returns its token, or nil if no place is free.
  func post(_ group: RecordGroup) -> UInt64? {
    let token = UInt64.random(in: 1 ... .max)
    // Another process may be doing this removal now, for an earlier request. A new token makes the post stay.
    for known in all where known.group == group && nhs_swap64(place(known.place), known.token, token) == 1 {
      return token
    }
    for _ in 0..<2 * Self.places {
      let free = ~nhs_load64(claims)
      guard free != 0 else { return nil }
      let number = free.trailingZeroBitCount
      guard nhs_or64(claims, 1 << UInt64(number)) & 1 << UInt64(number) == 0 else { continue }
      nhs_store64(place(number) + 8, group.low)
      nhs_store64(place(number) + 16, group.high)
      nhs_store64_release(place(number), token)
      _ = nhs_or64(posts, 1 << UInt64(number))
      return token
    }
    return nil
  }

  /// Deletes a post whose removal was done, unless the group was posted again since.
  func takeBack(_ post: Post) {
    guard nhs_swap64(place(post.place), post.token, 0) == 1 else { return }
    free(post.place)
  }

  private func free(_ number: Int) {
    _ = nhs_and64(posts, ~(1 << UInt64(number)))
    _ = nhs_and64(claims, ~(1 << UInt64(number)))
  }

  /// Repairs places that a process left half written when it was killed. Call it only while no other process uses the directory.
  func mend() {
    guard nhs_load64(posts) | nhs_load64(claims) != 0 else { return }
    for number in 0..<Self.places {
      if nhs_load64(place(number)) == 0 {
        free(number)
      } else {
        _ = nhs_or64(claims, 1 << UInt64(number))
        _ = nhs_or64(posts, 1 << UInt64(number))
      }
    }
  }
}
