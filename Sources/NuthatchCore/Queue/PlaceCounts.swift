/// How many running requests take a place, and how many lend theirs to others.
struct PlaceCounts {
  /// Requests of priority zero or above that take a place.
  private(set) var foreground = 0
  /// Requests of priority below zero that take a place.
  private(set) var background = 0
  private(set) var lent = 0
  /// The part of `lent` that belongs to requests with a slow body.
  private(set) var lentForSlowBodies = 0

  var taken: Int { foreground + background }

  /// Adds `number` (1 or -1) to the count that fits the present state of `entry`.
  mutating func add(_ number: Int, of entry: QueueEntry) {
    if entry.isLending {
      lent += number
      if entry.isAnswered { lentForSlowBodies += number }
    } else if entry.isBackground {
      background += number
    } else {
      foreground += number
    }
  }

  /// Adds all counts of `others`, `number` (1 or -1) times.
  mutating func add(_ number: Int, of others: PlaceCounts) {
    foreground += number * others.foreground
    background += number * others.background
    lent += number * others.lent
    lentForSlowBodies += number * others.lentForSlowBodies
  }
}
