/*
 * Nuthatch: fetches URLs once, keeps them ready, and hands them back.
 *
 *     cc app.c $(pkg-config --cflags --libs nuthatch)
 *
 * Overview
 * ========
 *
 *     nh_cache *cache;
 *     nh_response *response;
 *     nh_response_info info = {.struct_size = sizeof info};
 *
 *     if (nh_open("assets.cache", NULL, &cache) != NH_OK) die(nh_error_message());
 *     if (nh_get(cache, "https://example.org/a.jpg", &response) == NH_OK) {
 *         nh_response_get_info(response, &info);
 *         printf("%d, %zu bytes\n", info.status, info.body_size);
 *         nh_response_release(response);
 *     }
 *     nh_close(cache);
 *
 * A cache belongs to a directory. A request says what to fetch; most need a URL and no more, which nh_get takes. There
 * are two ways to wait: nh_get and nh_perform block; nh_submit returns a ticket at once, and nh_wait takes its event
 * whenever it suits.
 *
 * What was fetched is kept in the directory, which any number of processes and handles may use at the same time: they
 * share what is in it, and fetch nothing twice. is_in_cache says whether an answer was there before it was asked for,
 * source where it came from. A blocking call gives the answer that holds now; a ticket may deliver a stale answer at
 * once (NH_EVENT_CACHED) and the one that holds now after it.
 *
 * Caveats
 * =======
 *
 * Errors.    Functions that can fail return an nh_status: NH_OK (0) or a stable number with a stable word
 *            (nh_status_name). nh_error_message says for this thread's last failure what happened, to which URL, and
 *            what to do. A result place gets NULL (or zeros) on failure. Passwords in URLs are shown as ***.
 * Ownership. What a function gives through a result place is yours until its release function. Strings and bytes
 *            inside an object live as long as the object. What you pass is copied before the call returns. Objects
 *            come from the library and go back to it; never free() one.
 * Handles.   A NULL, released, foreign or made-up handle, and one of another kind, is answered with NH_INVALID by
 *            every function; nothing is followed. Releasing a handle twice is therefore found out.
 * Threads.   Every function may be called from any thread, at any time. No callback ever runs on a thread of the
 *            library. Its threads have all signals blocked, so your handlers run on yours. Releasing an object while
 *            another thread reads bytes out of it is your race, as with free().
 * Fork.      After fork() the child's inherited caches and tickets answer NH_FORKED; responses stay readable; opening a
 *            cache anew works. Close or release inherited handles in the child as you like: the parent isn't touched.
 * Exec.      No connection of the library survives exec(). (A pair of sockets that libcurl talks to itself with does.)
 * Exit.      exit() with requests under way is fine: the library's thread ends first. Nobody hears of their end.
 * Sizes.     Structs begin with struct_size, or are passed with their size (nh_event); set it with sizeof. That is how
 *            programs and libraries of different versions understand each other. Zero what you don't set.
 * Text.      All strings are UTF-8, terminated by NUL. URLs come back byte for byte as they were passed.
 * Files.     The directory must be on a file system of this machine. Its files are mapped: a program that truncates
 *            them while they are in use ends whoever reads them.
 * Unload.    The library stays loaded once it was: dlclose() does nothing.
 */
