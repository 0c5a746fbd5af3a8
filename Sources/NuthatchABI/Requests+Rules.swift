// nuthatch.h 10: Requests: rules and limits

import CNuthatch
import NuthatchCore

/// Sets what is taken for fresh. NH_POLICY_UNSAID: the cache's.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_policy")
public func nhRequestSetPolicy(_ request: nh_request_ref?, _ policy: nh_policy) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.policy = try given(policy, "policy")
  }
}

/// Sets the numbers of the policy, which nh_options explain. 0: the cache's; negative: none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_lifetimes")
public func nhRequestSetLifetimes(
  _ request: nh_request_ref?, _ validator_ttl: Int64, _ image_ttl: Int64, _ no_cache_ttl: Int64,
  _ heuristic: Double
) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.heuristic = try given(share: heuristic, "heuristic")
    draft.request.validatorTTL = given(lifetime: validator_ttl)
    draft.request.imageTTL = given(lifetime: image_ttl)
    draft.request.noCacheTTL = given(lifetime: no_cache_ttl)
  }
}

/// Sets which addresses may be connected to. NH_GUARD_UNSAID: the cache's.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_guard")
public func nhRequestSetGuard(_ request: nh_request_ref?, _ guard: nh_guard) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in
    draft.request.addresses = try given(`guard`, "guard")
  }
}

/// Sets what the answer is kept under instead of the URL: for URLs that carry a signature or a date. NULL: the URL.
///
/// @return NH_OK; NH_INVALID. An empty key is NH_INVALID when the request is used: all URLs would have one answer.
@_cdecl("nh_request_set_cache_key")
public func nhRequestSetCacheKey(_ request: nh_request_ref?, _ key: UnsafePointer<CChar>?) -> nh_status {
  changing(request) { (draft) throws(NuthatchError) in draft.request.cacheKey = try given(key, "key") }
}

/// Sets whether the query is left out of what the answer is kept under: 1 for yes, 0, the default, for no.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_ignore_query")
public func nhRequestSetIgnoreQuery(_ request: nh_request_ref?, _ ignore: Int32) -> nh_status {
  changing(request) { $0.request.ignoreQuery = ignore != 0 }
}

/// Sets the longest silence in milliseconds. 0: the cache's; negative: none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_timeout")
public func nhRequestSetTimeout(_ request: nh_request_ref?, _ milliseconds: Int64) -> nh_status {
  changing(request) { $0.request.timeout = given(milliseconds: milliseconds) }
}

/// Sets the longest time for all of it, from the call on, in milliseconds: the wait for its turn in the queue, redirects and
/// further attempts. While its server has asked to be left alone (Retry-After) it runs on, too: then retry_after of the event
/// says for how long that is still so. For requests of a batch see nh_request_set_batched. 0: the cache's; negative: none.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_deadline")
public func nhRequestSetDeadline(_ request: nh_request_ref?, _ milliseconds: Int64) -> nh_status {
  changing(request) { $0.request.deadline = given(milliseconds: milliseconds) }
}

/// Sets whether it is one of many that are submitted at once: 1 for yes, 0, the default, for no. The deadline of such a request
/// counts from its first attempt: the waits for its turn in the queue are left out, unless it is freezable. It waits for a host
/// that is away or has too much to do for five minutes, unless nh_request_set_give_up_after says otherwise.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_batched")
public func nhRequestSetBatched(_ request: nh_request_ref?, _ batched: Int32) -> nh_status {
  changing(request) { $0.request.isBatched = batched != 0 }
}

/// Sets for how long its host may be out of reach, or have too much to do (429, 503), since its last good answer, in milliseconds.
/// Until then the request waits for the host, whatever its retries are, and its deadline doesn't count that; after it the request
/// fails with the fault or the status. 0: five minutes for a request of a batch (nh_request_set_batched), no wait for others;
/// negative: without an end. 1 is as good as no wait. A request that must not be sent twice, or that is freezable, doesn't wait.
/// A host that has never answered is out of reach once five requests to it have failed in a row. Before that, a request has its
/// retries; the last one waits 5 s when the host refused or broke the connection.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_give_up_after")
public func nhRequestSetGiveUpAfter(_ request: nh_request_ref?, _ milliseconds: Int64) -> nh_status {
  changing(request) { $0.request.giveUpAfter = given(milliseconds: milliseconds) }
}

/// Sets how often a failed attempt is followed by another. 0: the cache's; negative: never.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_retries")
public func nhRequestSetRetries(_ request: nh_request_ref?, _ retries: Int32) -> nh_status {
  changing(request) { $0.request.retries = given(amount: Int64(retries)).map { Int($0) } }
}

/// Sets the largest body, in bytes. 0: the cache's; negative: no limit.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_request_set_max_bytes")
public func nhRequestSetMaxBytes(_ request: nh_request_ref?, _ bytes: Int64) -> nh_status {
  changing(request) { $0.request.maxBytes = given(limit: bytes) }
}
