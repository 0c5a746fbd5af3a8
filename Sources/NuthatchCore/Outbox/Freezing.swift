extension Request {
  /// The outbox options of a request. If its server can't be reached, the request is stored in the cache's outbox, and sent when the
  /// network is back, in its turn, also after a restart.
  public struct Freezing: Sendable {
    /// Whether the request is stored before the first attempt, so that it survives a kill during that attempt. Default: off.
    public var isDurable = false
    /// The queue; its requests are sent one after the other. nil: one queue for each origin.
    public var queue: String?
    /// The handler that gets the outcome (`Outbox.attach`). nil: the outcome waits to be collected.
    public var handler: String?
    /// Secret headers and the providers of their values, for later attempts. The values are never written to the disk. The
    /// provider `env:NAME` reads an environment variable; `Outbox.provide` sets the values of others.
    public var secrets: [Secret] = []
    /// The provider of the password of `user`. A request without a user that asks its program for credentials
    /// (`Question.Kind.credentials`) needs it; the provider then gives both, as `name:password`.
    public var passwordProvider: String?
    /// Whether the program has given the user in its answer to a question.
    var isAnswered = false
    /// The number of attempts after which the request is put aside. Attempts count if the server has answered or may have
    /// received the request. Default: 25.
    public var attempts = 25
    /// The longest time from the freeze, or the last replay, to the last attempt. Default: 7 days.
    public var longest = Limit.milliseconds(7 * 86_400_000)
    /// How long the server remembers the `Idempotency-Key`. A POST or PATCH that may have arrived isn't sent again after this
    /// time. `none`: no limit. Default: 24 hours.
    public var keyLifetime = Limit.milliseconds(86_400_000)

    /// The default options.
    public init() {}

    /// A header whose value is never written to the disk.
    public struct Secret: Sendable, Equatable {
      /// The header's name.
      public var header: String
      /// The text before the secret, such as `Bearer `.
      public var prefix: String
      /// The provider of the secret.
      public var provider: String

      /// A header with its provider.
      public init(_ header: String, prefix: String = "", provider: String) {
        self.header = header
        self.prefix = prefix
        self.provider = provider
      }
    }
  }

  /// Whether the request is stored in the outbox if its server can't be reached; POST, PUT, PATCH and DELETE only.
  public var freezable: Bool {
    get { freezing != nil }
    set { freezing = newValue ? freezing ?? Freezing() : nil }
  }
}
