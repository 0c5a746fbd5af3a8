// nuthatch.h 8: Requests: who asks

import CNuthatch
import NuthatchCore

/// Sets user and password, for the origin of the URL and no other: sent as Basic credentials unless nh_request_set_sign_in
/// says otherwise.
///
/// @param user      NULL, with a password that is NULL, too: nobody signs in, neither as the site says nor by a netrc that
///                  this request doesn't name.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_user")
public func nhRequestSetUser(
  _ request: nh_request_ref?, _ user: UnsafePointer<CChar>?, _ password: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let isNobody = user == nil && password == nil
    draft.request.user = isNobody ? nil : (try string(user, "user"), try string(password, "password"))
    draft.request.isAnonymous = isNobody
  }
}

/// Sets where user and password may go, for programs that send them along with many URLs: to a URL elsewhere they aren't
/// sent.
///
/// @param place  "https://example.org": one origin; "example.org" or "example.org:8080": both over HTTP and over HTTPS. NULL:
///               wherever the URL leads.
/// @return NH_OK; NH_INVALID for what is no host and no origin.
@_cdecl("nh_request_set_user_place")
public func nhRequestSetUserPlace(_ request: nh_request_ref?, _ place: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    guard let text = try given(place, "place") else { return draft.request.userPlace = nil }
    guard let place = SignInPlace(text) else {
      // Without the text, which may be the end of a password.
      throw NuthatchError(.invalid, "what user and password are for is no host, host:port or https://host")
    }
    draft.request.userPlace = place
  }
}

/// Sets how user and password are shown. NH_SIGN_IN_UNSAID: Basic, with the first request.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_sign_in")
public func nhRequestSetSignIn(_ request: nh_request_ref?, _ sign_in: nh_sign_in) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let wanted = SignIn(rawValue: Int32(truncatingIfNeeded: sign_in.rawValue))
    guard wanted != nil || sign_in == NH_SIGN_IN_UNSAID else {
      throw NuthatchError(.invalid, "sign_in is no nh_sign_in")
    }
    draft.request.signIn = wanted
  }
}

/// Signs in with a token, sent as Authorization: Bearer to the origin of the URL and to no other.
///
/// @return NH_OK; NH_INVALID. A token that can't be sent is NH_BAD_HEADER when the request is used.
@_cdecl("nh_request_set_bearer")
public func nhRequestSetBearer(_ request: nh_request_ref?, _ token: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.setBearer(try string(token, "token"))
  }
}

/// Sets a certificate that says who asks, from files in PEM, shown to the origin of the URL and to no other.
///
/// @param certificate  Its file; NULL for none.
/// @param key          Its key's; NULL when that is in the same file.
/// @param password     What the key is encrypted with; NULL when it isn't.
/// @return NH_OK; NH_INVALID. Files that can't be used are NH_TLS when the request is sent.
@_cdecl("nh_request_set_certificate")
public func nhRequestSetCertificate(
  _ request: nh_request_ref?, _ certificate: UnsafePointer<CChar>?, _ key: UnsafePointer<CChar>?,
  _ password: UnsafePointer<CChar>?
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    let (key, password) = (try given(key, "key"), try given(password, "password"))
    draft.request.cert = try given(certificate, "certificate").map {
      ClientCertificate($0, key: key, password: password)
    }
  }
}

/// Has user and password looked up in a file (.netrc), by the host of the URL, when nothing else says who asks.
///
/// @param path  "" for $NETRC, else ~/.netrc, which need not be there; NULL for what the cache says.
/// @return NH_OK; NH_INVALID. A file that can't be read is NH_IO when the request is used.
@_cdecl("nh_request_set_netrc")
public func nhRequestSetNetrc(_ request: nh_request_ref?, _ path: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.netrc = try given(netrc: path, "path")
  }
}

/// Sets whether no .netrc is looked up, not even the one that the site or the cache has: 1 for none, 0, the default, for what
/// the cache says. Of this and nh_request_set_netrc the later call counts.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_no_netrc")
public func nhRequestSetNoNetrc(_ request: nh_request_ref?, _ none: Int32) -> nh_status {
  changing(request) { $0.request.netrc = none != 0 ? .off : nil }
}

/// Sets a name for whose answers these are, in place of the credentials sent: for tokens that change. NULL: the cache's.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_partition")
public func nhRequestSetPartition(_ request: nh_request_ref?, _ partition: UnsafePointer<CChar>?) -> nh_status
{
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.partition = try given(partition, "partition")
  }
}
