extension Request {
  /// What becomes of a request whose server can't be reached: it is kept in the cache's outbox, and sent when the network
  /// is back, in its turn, also after a restart.
  public struct Freezing: Sendable {
    /// Whether it is written before the first attempt, so that not even a kill in the middle loses it. Off.
    public var isDurable = false
    /// Requests of one queue are sent one after the other. nil: those to the same origin.
    public var queue: String?
    /// Who gets the outcome (`Outbox.attach`). nil: it waits to be collected.
    public var handler: String?
    /// Where the values of secret headers come from when it is sent later: the headers' names and their providers. They are
    /// never written. A provider `env:NAME` is a variable of the environment; others are given by `Outbox.provide`.
    public var secrets: [Secret] = []
    /// The provider of the password of `user`. A request without a user that asks its program for one
    /// (`Question.Kind.credentials`) needs it; it knows both then, as `name:password`.
    public var passwordProvider: String?
    /// Whether the user is what the program has answered.
    var isAnswered = false
    /// How often a server may answer that it can't now, before the request is put aside. Attempts that reach nobody don't
    /// count. 25.
    public var attempts = 25
    /// For how long it is tried at all. 7 days.
    public var longest = Limit.milliseconds(7 * 86_400_000)
    /// For how long the server knows the `Idempotency-Key`: a POST or PATCH that may have arrived isn't sent again later than
    /// that; none: it is, however late. 24 hours.
    public var keyLifetime = Limit.milliseconds(86_400_000)

    /// As it is by default.
    public init() {}

    /// A header whose value isn't written.
    public struct Secret: Sendable, Equatable {
      /// The header's name.
      public var header: String
      /// What stands before the secret, such as `Bearer `.
      public var prefix: String
      /// Who knows it.
      public var provider: String

      /// A header with its provider.
      public init(_ header: String, prefix: String = "", provider: String) {
        self.header = header
        self.prefix = prefix
        self.provider = provider
      }
    }
  }

  /// Whether it goes to the outbox when its server can't be reached; POST, PUT, PATCH and DELETE only.
  public var freezable: Bool {
    get { freezing != nil }
    set { freezing = newValue ? freezing ?? Freezing() : nil }
  }
}
