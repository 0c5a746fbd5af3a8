// Generated from options.toml by Scripts/make-header; edit that instead.

/// Which stored answers count as fresh.
public enum Policy: Int32, Sendable, CaseIterable {
  /// Pictures stay fresh for days unless the server says otherwise. Any other answer without a lifetime is revalidated each
  /// time.
  case kit = 1
  /// RFC 9111, to the letter.
  case rfc9111 = 2
  /// Every stored answer is fresh, however old; the network is never used.
  case offline = 3
  /// No stored answer is used; new answers are stored.
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

/// Which addresses may be connected to. The address of the actual connection is checked, for every redirect.
public enum Addresses: Int32, Sendable, CaseIterable {
  /// No link-local addresses (cloud metadata), and no private ones after a redirect from a public one.
  case guarded = 1
  /// Only public addresses.
  case `public` = 2
  /// All addresses.
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

/// How user and password are sent.
public enum SignIn: Int32, Sendable, CaseIterable {
  /// Basic, with the first request.
  case basic = 1
  /// Digest, after the server has asked for it. If the server demands that the body is protected, too (`auth-int` and not
  /// `auth`), a request with a body fails with the error `http` (status 401).
  case digest = 2
  /// NTLM, after the server has asked for it.
  case ntlm = 3
  /// Negotiate (Kerberos), if libcurl supports it; without user and password, with the system's Kerberos credentials.
  case negotiate = 4
  /// The strongest scheme that the server offers, Basic is the weakest. Without a password: Negotiate, which needs none.
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

/// Whether a site's cookies are sent back to its servers, and where they are stored.
public enum CookieJarMode: Int32, Sendable, CaseIterable {
  /// Cookies are ignored.
  case off = 1
  /// In memory, while the directory is open in this process.
  case memory = 2
  /// Also in the cache's directory, for other and later processes: readable for its owner only, and not encrypted.
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
  /// A stale answer at once, and then the fresh one, or the error.
  case twice = 1
  /// One answer, also a stale one, which is then revalidated in the background. If the program judges answers (a verdict),
  /// the same as fresh.
  case first = 2
  /// One answer, which is fresh, or which its server allows to use during the revalidation (`stale-while-revalidate`). If
  /// the server can't be asked, fails (429, 5xx), or takes longer than the deadline, a stale answer is delivered instead.
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

/// When new answers are written to disk.
public enum Spill: Int32, Sendable, CaseIterable {
  /// At once: they survive the end of this process, and other processes find them.
  case eager = 1
  /// When memory is short, or when the cache is closed. Until then only this process finds them, and they are lost if it is
  /// killed. Removals in other processes apply to them, too.
  case pressure = 2

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .eager: "eager"
    case .pressure: "pressure"
    }
  }
}

/// When bytes read from the disk are compared with their checksum.
public enum ByteCheck: Int32, Sendable, CaseIterable {
  /// At the first read by any process; this counts anew after all processes have closed the directory. Disks report their
  /// own failures.
  case first = 1
  /// At each read: for disks, and file systems, that change bytes without an error.
  case always = 2

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .first: "first"
    case .always: "always"
    }
  }
}

/// How thumbnails are stored on disk. Those of at most 16 KiB are always stored raw.
public enum ThumbStore: Int32, Sendable, CaseIterable {
  /// As JPEG of quality 92 if they are opaque, else as PNG: a tenth of the space.
  case packed = 1
  /// As PNG: the same pixels every time.
  case lossless = 2
  /// As pixels, which are used without a copy.
  case raw = 3
  /// Like packed, but those that aren't opaque as lossy WebP of quality 90: a third of a PNG, with exact transparency.
  case small = 4

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .packed: "packed"
    case .lossless: "lossless"
    case .raw: "raw"
    case .small: "small"
    }
  }
}

/// Whether a process sends the requests of an outbox.
public enum OutboxMode: Int32, Sendable, CaseIterable {
  /// The process sends them if no other process does.
  case auto = 1
  /// Requests can be stored and listed, but other processes send them.
  case off = 2

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .auto: "auto"
    case .off: "off"
    }
  }
}

/// Where pictures are decoded.
public enum DecodePlace: Int32, Sendable, CaseIterable {
  /// In this process.
  case here = 1
  /// In a process of their own, which has no network and no files: for pictures of strangers. The pixels are the same. If
  /// the decoder is taken over or crashes there, this process goes on.
  case isolated = 2

  /// The word of the command, Python and messages.
  public var word: String {
    switch self {
    case .here: "here"
    case .isolated: "isolated"
    }
  }
}
