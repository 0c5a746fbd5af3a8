// Generated from options.toml by Scripts/make-header; edit that instead.

/// What is taken for fresh.
public enum Policy: Int32, Sendable, CaseIterable {
  /// Pictures stay fresh for days unless the server says otherwise. Whatever else comes without a lifetime is asked for
  /// again each time.
  case kit = 1
  /// RFC 9111, to the letter.
  case rfc9111 = 2
  /// Whatever is stored is fresh, however old; the network is never asked.
  case offline = 3
  /// Nothing that is stored answers; what comes is stored.
  case reload = 4

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .kit: "kit"
    case .rfc9111: "rfc9111"
    case .offline: "offline"
    case .reload: "reload"
    }
  }
}

/// Which addresses may be connected to. Judged on the address really connected to, for every hop.
public enum Addresses: Int32, Sendable, CaseIterable {
  /// No link-local ones (cloud metadata), and no private ones by redirect from a public one.
  case guarded = 1
  /// Public ones only.
  case `public` = 2
  /// All.
  case any = 3

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .guarded: "guarded"
    case .public: "public"
    case .any: "any"
    }
  }
}

/// How a request shows user and password.
public enum SignIn: Int32, Sendable, CaseIterable {
  /// Basic, with the first request, unasked.
  case basic = 1
  /// Digest, after the server has asked. Of a server that wants a body proven, too (`auth-int` and not `auth`), a request
  /// with a body is the error `http`, with the status 401.
  case digest = 2
  /// NTLM, after the server has asked.
  case ntlm = 3
  /// Negotiate (Kerberos), where libcurl has it; without user and password, as whom the system knows.
  case negotiate = 4
  /// The strongest that the server asks for, Basic being the weakest; Negotiate, which uses no password, where there is
  /// none.
  case any = 5

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .basic: "basic"
    case .digest: "digest"
    case .ntlm: "ntlm"
    case .negotiate: "negotiate"
    case .any: "any"
    }
  }
}

/// Whether a site's cookies are sent back to its servers, and where they are kept meanwhile.
public enum CookieJarMode: Int32, Sendable, CaseIterable {
  /// They are ignored.
  case off = 1
  /// In memory, as long as the directory is open in this process.
  case memory = 2
  /// In the cache's directory, too, for other processes and later ones: readable for its owner only, and in clear.
  case disk = 3

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .off: "off"
    case .memory: "memory"
    case .disk: "disk"
    }
  }
}

/// When answers from the cache are delivered (docs/HTTP.md of the sources has a table).
public enum Delivery: Int32, Sendable, CaseIterable {
  /// A stale one at once, and after it the fresh one, or why there is none.
  case twice = 1
  /// One answer, a stale one too; it is revalidated behind. Where the program judges answers (a verdict) it is as fresh.
  case first = 2
  /// One answer, which holds now, or which its server lets be shown while it is asked (`stale-while-revalidate`). Where the
  /// server can't be asked, fails (429, 5xx), or takes longer than the deadline, a stale one is given in its place.
  case fresh = 3

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .twice: "twice"
    case .first: "first"
    case .fresh: "fresh"
    }
  }
}

/// When what comes is written to disk.
public enum Spill: Int32, Sendable, CaseIterable {
  /// At once: it survives this process however it ends, and other processes find it.
  case eager = 1
  /// When memory is short, or when the cache is closed. Until then it is this process's: lost with it, and out of reach of
  /// what other processes remove (not of their clear).
  case pressure = 2

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .eager: "eager"
    case .pressure: "pressure"
    }
  }
}

/// When what is read from the disk is compared with its checksum.
public enum ByteCheck: Int32, Sendable, CaseIterable {
  /// When it is read for the first time while any process has the directory open, by whichever of them. Disks say by
  /// themselves when they fail.
  case first = 1
  /// Each time it is read: for disks, and file systems, that change bytes without a word.
  case always = 2

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .first: "first"
    case .always: "always"
    }
  }
}

/// How thumbnails are kept on disk. Those of at most 16 KiB are kept raw in any case.
public enum ThumbStore: Int32, Sendable, CaseIterable {
  /// As JPEG of quality 92 where they are opaque, else as PNG: a tenth of the room.
  case packed = 1
  /// As PNG: the same pixels every time.
  case lossless = 2
  /// As pixels, used where they lie.
  case raw = 3

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .packed: "packed"
    case .lossless: "lossless"
    case .raw: "raw"
    }
  }
}

/// Whether a process sends what is in an outbox.
public enum OutboxMode: Int32, Sendable, CaseIterable {
  /// In its turn, when no other process does.
  case auto = 1
  /// Requests may be frozen, and looked at, but are sent by others.
  case off = 2

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .auto: "auto"
    case .off: "off"
    }
  }
}
