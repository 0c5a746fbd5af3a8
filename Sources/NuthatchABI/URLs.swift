// nuthatch.h 19: What may be shown and kept
// Types: nh_urls.h
//
//     char shown[4096];
//     nh_url_put("http://ann:walnut@example.org/", NH_URL_REDACTED, shown, sizeof shown);
//     puts(shown);  // http://ann:***@example.org/

import CNuthatch
import NuthatchCore

/// Writes a URL in another form.
///
/// @param url       Absolute for NH_URL_ORIGIN; any text for NH_URL_REDACTED.
/// @param buffer    Gets as much of it as fits, terminated by NUL. May be NULL when `capacity` is 0.
/// @param capacity  The bytes of the buffer.
/// @return How many bytes all of it has, without the NUL: more fits when that is less than `capacity`. -NH_INVALID; -NH_BAD_URL
///         where the origin is asked for of what is no URL of HTTP.
@_cdecl("nh_url_put")
public func nhURLPut(
  _ url: UnsafePointer<CChar>?, _ form: nh_url_form, _ buffer: UnsafeMutablePointer<CChar>?, _ capacity: UInt
) -> Int32 {
  counting { () throws(NuthatchError) in
    let url = try string(url, "url")
    switch form {
    case NH_URL_REDACTED: return try put(Request(url).shownURL, into: buffer, capacity)
    case NH_URL_ORIGIN:
      guard let place = SignInPlace(originOf: url) else {
        throw NuthatchError(.badURL, "nobody can sign in there: \(Request(url).shownURL)")
      }
      return try put("\(place)", into: buffer, capacity)
    default: throw NuthatchError(.invalid, "form is no nh_url_form")
    }
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
