/// A place in a text, for messages. Lines and columns count from 1, columns in Unicode scalars.
package struct TOMLPlace: Equatable, Sendable {
  package let line: Int
  package let column: Int
}

/// A mistake in a TOML text. The message shows names of keys, and never a value: it may be a secret.
package struct TOMLFault: Error, Equatable {
  package let message: String
  package let place: TOMLPlace
}

/// A value with its place.
package struct TOMLValue {
  package enum Form {
    case text(String)
    case integer(Int64)
    /// A number that isn't whole, without underscores. `1e3` is an integer.
    case decimal(String)
    case flag(Bool)
    case array([TOMLValue])
    case table(TOMLTable)
  }

  package let form: Form
  package let place: TOMLPlace
}

/// A table: keys with their values, in the order of the text.
package final class TOMLTable {
  package struct Entry {
    package let key: String
    package let place: TOMLPlace
    package let value: TOMLValue
  }

  /// What made the table. It decides whether the table may be written again or extended.
  enum Origin {
    /// `[a.b]` made `a`.
    case parent
    /// `[a]`
    case header
    /// `a.b = 1` made `a`.
    case dotted
    /// `{}`
    case inline
  }

  package private(set) var entries: [Entry] = []
  private var places: [String: Int] = [:]
  var origin: Origin

  init(_ origin: Origin) { self.origin = origin }

  package subscript(key: String) -> TOMLValue? { places[key].map { entries[$0].value } }

  /// Returns the table under a key; nil if there is another value, or none.
  func table(_ key: String) -> TOMLTable? {
    guard case .table(let table)? = self[key]?.form else { return nil }
    return table
  }

  /// Adds a key that the table doesn't have.
  func add(_ key: String, at place: TOMLPlace, _ value: TOMLValue) {
    places[key] = entries.count
    entries.append(Entry(key: key, place: place, value: value))
  }
}
