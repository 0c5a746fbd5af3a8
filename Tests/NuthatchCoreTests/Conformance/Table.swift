/// All cases of the public cache test suite that say something about a private cache.
enum Table {
  struct Group: Sendable {
    let name: String
    let cases: [Case]

    init(_ name: String, _ cases: [Case]) {
      self.name = name
      self.cases = cases
    }
  }

  static let groups = [
    cacheControl, cacheControlParsing, age, expires, expiresParsing, heuristic, responseDirectives, statuses,
    fields, notModified, requestDirectives, pragma, methods, vary, varyParsing, invalidation, head,
    conditions,
    conditionsOfTheCaller, ranges, staleAnswers, others, interim,
  ]

  static let cases = groups.flatMap(\.cases)
}
