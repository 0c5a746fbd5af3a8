// nuthatch.h 14: Sites
//
//     const nh_header token = {"Authorization", "Bearer hazel"};
//     nh_site_open(cache, "https://api.example.org/v1/", NH_OPTIONS(.headers = &token, .header_count = 1), &site);
//     if (nh_get(cache, "nuts?page=2", NH_OPTIONS(.site = site), &response) == NH_OK) nh_response_release(response);
//     nh_site_close(site);

import CNuthatch
import NuthatchCore

/// Makes a site: a base URL, and what the requests below it have in common. Requests name it in nh_options.site, and may be said
/// relative to its URL then. A site belongs to its cache's handle and is of no use once that is closed.
///
/// User and password go to the base URL's origin only, also when a request of the site names another, and so do all headers
/// but harmless ones and those that options->keep_headers_across_origins names.
///
/// @param base_url  Absolute. What requests name is resolved against it, as links on a page at this URL would be: with
///                  "https://example.org/api/" (mind the last slash) "statuses" is https://example.org/api/statuses.
/// @param options   What its requests inherit; allow_files and the directory's own must not be given. NULL for nothing.
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

/// Tells what holds for the requests of a site at its origin, what it has from its cache and the defaults among it, as
/// nh_cache_get_options does, and as little to be passed on. User and password, and passwords of certificates, aren't told.
///
/// @param options  Gets them. Set options->struct_size to sizeof *options before the call. Texts live as long as the handle.
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

/// Forgets the cookies of a site, in memory and in the cache's directory. May wait for the disk.
///
/// @return NH_OK, also when it keeps none; NH_INVALID.
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

/// Tells whether a site's host could be reached of late, as the last connection to it showed.
///
/// @param reachable  Gets NH_YES or NH_NO; NH_UNSAID when nobody has tried.
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

/// Has changes of what nh_site_reachable tells come as NH_EVENT_REACHABILITY, from now on until the cache's handle is closed; of
/// several that nobody took the newest is kept. Sites of one handle with the same base URL share one listener, the last.
///
/// @param callback   Called by nh_dispatch; NULL for events that nh_poll gives.
/// @param user_data  What the events carry.
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

/// What a handle of a site stands for.
final class SiteView: @unchecked Sendable {
  let site: Site
  let completions: CompletionQueue
  let listeners: Listeners
  let hooks: Draft.Hooks
  let told = ToldTexts()
  // Written while it is made only, hence Sendable. A site doesn't keep its cache's handle.
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
