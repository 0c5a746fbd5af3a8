import NuthatchHTTP

/// What an answer cost on its way from the network; nothing of it for what was stored.
public struct Journey: Sendable, Equatable {
  /// How many attempts were made; 0 when the network wasn't asked.
  public var attempts = 0
  /// Microseconds for which places in the queue were waited for, pauses between attempts among them.
  public var queued: Int64 = 0
  /// Microseconds that decoding took, thumbnails being kept among them.
  public var decoding: Int64 = 0
  /// Microseconds that it took to keep the answer.
  public var storing: Int64 = 0

  /// Nothing.
  public init() {}
}

extension Image {
  /// The status of the answer that it was made of; nil when that isn't known any more.
  public var status: Int? { provenance.head?.status ?? provenance.status }
  /// Bytes of the answer that it was made of.
  public var sourceBytes: Int64 { provenance.bodyBytes }
  /// How many redirects were followed.
  public var redirects: Int { provenance.redirects }
  /// Where the time of the last hop went; all 0 for what comes from the cache.
  public var timings: Response.Timings { provenance.timings }
  /// What its answer cost on its way from the network.
  public var journey: Journey { provenance.journey }

  /// The first value of a header of the answer that it was made of, its name compared without regard to case.
  public func header(_ name: String) -> String? { provenance.head?.fields[name] }

  /// Every value of a header.
  public func headers(_ name: String) -> [String] { provenance.head?.fields.values(name) ?? [] }
}
