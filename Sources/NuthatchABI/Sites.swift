// nuthatch.h 14: Sites
//
//     const nh_header token = {"Authorization", "Bearer hazel"};
//     nh_site_open(cache, "https://api.example.org/v1/", NH_OPTIONS(.headers = &token, .header_count = 1), &site);
//     if (nh_get(cache, "nuts?page=2", NH_OPTIONS(.site = site), &response) == NH_OK) nh_response_release(response);
//     nh_site_close(site);

import CNuthatch
import NuthatchCore

/// Creates a site: a base URL, and options that its requests share. Requests name the site in nh_options.site; their URLs can then be
/// relative to the base URL. A site belongs to its cache's handle and can't be used after that is closed.
///
/// User and password are sent to the base URL's origin only, also if a request of the site has a URL of another origin. The same is true
/// of all headers except harmless ones and those that options->keep_headers_across_origins names.
///
/// @param base_url  An absolute URL. Relative URLs of requests are resolved like links on a page at this URL: with
///                  "https://example.org/api/" (mind the last slash) "statuses" is https://example.org/api/statuses.
/// @param options   The options that its requests inherit, without allow_files and options of the directory. NULL for none.
/// @param site      Gets the handle; NULL on failure. Close it with nh_site_close.
/// @return NH_OK; NH_BAD_URL; NH_BAD_HEADER; NH_INVALID.
@_cdecl("nh_site_open")
public func nhSiteOpen(
  _ cache: nh_cache_ref?, _ base_url: UnsafePointer<CChar>?, _ options: UnsafePointer<nh_options>?,
  _ site: UnsafeMutablePointer<nh_site_ref?>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let result = try place(site, "site")
    let view = try find(cache, .cache, as: CacheView.self)
    let url = try string(base_url, "base_url")
    let said = try read(options, for: .site)
    guard !isOff(said.raw.user) else {
      throw NuthatchError(.invalid, "user can't be off for a site: leave it out")
    }
    let made = try view.cache.site(url, try Options(said))
    try give(SiteView(made, view, said.raw), .site, to: result)
  }
}

/// Returns the options in force for the requests of a site at its origin, including those of its cache and the defaults, like
/// nh_cache_get_options. Don't pass them to other calls either. User and password, and passwords of certificates, aren't returned.
///
/// @param options  Gets the options. Set options->struct_size to sizeof *options before the call. Texts are valid as long as the handle.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_site_get_options")
public func nhSiteGetOptions(
  _ site: nh_site_ref?, _ options: UnsafeMutablePointer<nh_options>?
) -> nh_status {
  answering { () throws(NuthatchError) in
    guard let options else { throw .null("options") }
    let view = try find(site, .site, as: SiteView.self)
    try writeSized(nh_options(telling: view.site.optionsInForce, .site, view.told), to: options, "options")
  }
}

/// Deletes the cookies of a site, in memory and in the cache's directory. May wait for the disk.
///
/// @return NH_OK, also if it has none; NH_INVALID.
@_cdecl("nh_site_clear_cookies")
public func nhSiteClearCookies(_ site: nh_site_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try find(site, .site, as: SiteView.self).site.clearCookies() }
}

/// Closes a site. Its requests go on.
///
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_site_close")
public func nhSiteClose(_ site: nh_site_ref?) -> nh_status {
  answering { () throws(NuthatchError) in try remove(site, .site) }
}

/// Returns whether the last connection to a site's host succeeded.
///
/// @param reachable  Gets NH_YES or NH_NO; NH_UNSAID if no connection was tried.
/// @return NH_OK; NH_INVALID.
@_cdecl("nh_site_reachable")
public func nhSiteReachable(_ site: nh_site_ref?, _ reachable: UnsafeMutablePointer<nh_choice>?) -> nh_status
{
  answering { () throws(NuthatchError) in
    guard let reachable else { throw .null("reachable") }
    let found = try find(site, .site, as: SiteView.self).site.reachable
    reachable.pointee = found.map { $0 ? NH_YES : NH_NO } ?? NH_UNSAID
  }
}

/// Subscribes to changes of the result of nh_site_reachable, as NH_EVENT_REACHABILITY, from now on until the cache's handle is closed. Of
/// several events that weren't taken only the newest is kept. Sites of one handle with the same base URL share one listener, the last one
/// set.
///
/// @param callback   Called by nh_dispatch; NULL for events that nh_poll returns.
/// @param user_data  The pointer that the events carry.
/// @return NH_OK; NH_CLOSED; NH_FORKED; NH_INVALID.
@_cdecl("nh_site_watch")
public func nhSiteWatch(
  _ site: nh_site_ref?, _ callback: nh_callback?, _ user_data: UnsafeMutableRawPointer?
) -> nh_status {
  answering { () throws(NuthatchError) in
    let view = try find(site, .site, as: SiteView.self)
    view.listeners.watch(view.site.url, Listening(callback, user_data))
    view.opened()?.listen()
    view.site.watchReachability()
  }
}

/// The object of a site handle.
final class SiteView: @unchecked Sendable {
  let site: Site
  let completions: CompletionQueue
  let listeners: Listeners
  let hooks: Draft.Hooks
  let told = ToldTexts()
  // Written in `init` only, hence Sendable. Weak: a site doesn't keep its cache's handle alive.
  private weak let view: CacheView?

  init(_ site: Site, _ view: CacheView, _ raw: nh_options) {
    var hooks = Draft.Hooks()
    hooks.take(raw)
    self.hooks = hooks
    self.site = site
    self.view = view
    completions = view.completions
    listeners = view.listeners
  }

  func opened() -> CacheView? { view }
}
