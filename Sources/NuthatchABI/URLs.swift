// nuthatch.h 19: URLs and secret headers
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
/// @param buffer    Gets as many bytes as fit, terminated by NUL. May be NULL if `capacity` is 0.
/// @param capacity  The bytes of the buffer.
/// @return The number of bytes of the whole text, without the NUL; the text is complete if that is less than `capacity`. -NH_INVALID;
///         -NH_BAD_URL if NH_URL_ORIGIN is asked of a URL that isn't HTTP.
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
        throw NuthatchError(
          .badURL, "the URL has no origin, because it isn't http or https: \(Request(url).shownURL)")
      }
      return try put("\(place)", into: buffer, capacity)
    default: throw .unknownValue("form", form.rawValue, of: "nh_url_form")
    }
  }
}

/// Returns whether the outbox treats a header of this name as secret, so that it should not be written anywhere: credentials and cookies,
/// and headers with similar names, such as X-Api-Key and X-Auth-Token.
///
/// @return 1 or 0; -NH_INVALID.
@_cdecl("nh_header_is_secret")
public func nhHeaderIsSecret(_ name: UnsafePointer<CChar>?) -> Int32 {
  counting { () throws(NuthatchError) in Request.isSecret(header: try string(name, "name")) ? 1 : 0 }
}
