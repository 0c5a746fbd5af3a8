import NuthatchHTTP

/// The cost of an answer from the network; all values are 0 for a stored answer.
public struct Journey: Sendable, Equatable {
  /// The number of attempts; 0 if the network wasn't used.
  public var attempts = 0
  /// Microseconds in the queue, including pauses between attempts.
  public var queued: Int64 = 0
  /// Microseconds for decoding, including the storing of thumbnails.
  public var decoding: Int64 = 0
  /// Microseconds for storing the answer.
  public var storing: Int64 = 0

  /// No cost.
  public init() {}
}

extension Image {
  /// The status of the answer that it was made from; nil if it is no longer known.
  public var status: Int? { provenance.head?.status ?? provenance.status }
  /// Bytes of the answer that it was made from.
  public var sourceBytes: Int64 { provenance.bodyBytes }
  /// The number of redirects that were followed.
  public var redirects: Int { provenance.redirects }
  /// The times of the last exchange; all 0 for an image from the cache.
  public var timings: Response.Timings { provenance.timings }
  /// The cost of its answer from the network.
  public var journey: Journey { provenance.journey }

  /// Returns the first value of a header of the answer that it was made from. Upper and lower case of the name don't matter.
  public func header(_ name: String) -> String? { provenance.head?.fields[name] }

  /// Returns all values of a header.
  public func headers(_ name: String) -> [String] { provenance.head?.fields.values(name) ?? [] }
}
