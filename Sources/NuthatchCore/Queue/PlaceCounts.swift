/// How many running requests take a place, and how many lend theirs to others.
struct PlaceCounts {
  /// Those of zero or above that take one.
  private(set) var foreground = 0
  /// Those below zero that take one.
  private(set) var background = 0
  private(set) var lent = 0
  /// How many of them are lent by requests with a slow body.
  private(set) var lentByBodies = 0

  var taken: Int { foreground + background }

  /// Counts `entry` as what it is now; -1 takes that back.
  mutating func add(_ number: Int, of entry: QueueEntry) {
    if entry.isLending {
      lent += number
      if entry.isAnswered { lentByBodies += number }
    } else if entry.isBackground {
      background += number
    } else {
      foreground += number
    }
  }

  /// Counts all of `others`; -1 takes that back.
  mutating func add(_ number: Int, of others: PlaceCounts) {
    foreground += number * others.foreground
    background += number * others.background
    lent += number * others.lent
    lentByBodies += number * others.lentByBodies
  }
}
