// nuthatch.h 21: What may be shown and kept

import NuthatchCore

/// A URL as messages and the log show it, its password hidden: "http://ann:***@example.org/". Any text will do.
///
/// @param buffer    Gets as much of it as fits, terminated by NUL. May be NULL when `capacity` is 0.
/// @param capacity  The bytes of the buffer.
/// @return How many bytes all of it has, without the NUL: more fits when that is less than `capacity`. -NH_INVALID.
@_cdecl("nh_url_redacted")
public func nhURLRedacted(
  _ url: UnsafePointer<CChar>?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: UInt
) -> Int32 {
  counting { () throws(NuthatchError) in
    try put(Request(try string(url, "url")).shownURL, into: buffer, capacity)
  }
}

/// The origin of a URL, where its user and password go: "https://example.org", without the scheme's own port.
///
/// @param url       Absolute.
/// @param buffer    Gets as much of it as fits, terminated by NUL. May be NULL when `capacity` is 0.
/// @param capacity  The bytes of the buffer.
/// @return As nh_url_redacted; -NH_BAD_URL for what is no URL of HTTP.
@_cdecl("nh_url_origin")
public func nhURLOrigin(
  _ url: UnsafePointer<CChar>?, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: UInt
) -> Int32 {
  counting { () throws(NuthatchError) in
    let url = try string(url, "url")
    guard let place = SignInPlace(originOf: url) else {
      throw NuthatchError(.badURL, "nobody can sign in there: \(Request(url).shownURL)")
    }
    return try put("\(place)", into: buffer, capacity)
  }
}

/// Tells whether a header of this name holds a secret, as the outbox sees it, so that it had better be written nowhere:
/// credentials and cookies, and whatever is named like one, as X-Api-Key and X-Auth-Token are.
///
/// @return 1 or 0; -NH_INVALID.
@_cdecl("nh_header_is_secret")
public func nhHeaderIsSecret(_ name: UnsafePointer<CChar>?) -> Int32 {
  counting { () throws(NuthatchError) in Request.isSecret(header: try string(name, "name")) ? 1 : 0 }
}
