/*
 * Nuthatch: fetches URLs once, stores the answers, and returns them as they came or as thumbnails.
 *
 *     cc app.c $(pkg-config --cflags --libs nuthatch)
 *
 * Overview
 * ========
 *
 *     nh_cache *cache;
 *     nh_image *image;
 *     nh_image_info info = {.struct_size = sizeof info};
 *
 *     if (nh_open("thumbs.cache", NULL, &cache) != NH_OK) die(nh_error_message());
 *     if (nh_thumbnail(cache, "https://example.org/a.jpg", NH_OPTIONS(.size = 256), &image) == NH_OK) {
 *         nh_image_get_info(image, &info);
 *         show(info.pixels, info.width, info.height, info.stride);
 *         nh_image_release(image);
 *     }
 *     nh_close(cache, 2000);
 *
 * A cache belongs to a directory. A request is a URL, and options if there is more to set: sizes of thumbnails, headers, limits. The
 * struct nh_options holds the options of a request, of a site (a base URL and options that its requests share) and of a cache. Set
 * only the members that you need; 0 leaves an option to the level above. In C, NH_OPTIONS is short for the struct with its size:
 *
 *     nh_get(cache, url, NULL, &response);
 *     nh_get(cache, url, &(nh_options){.struct_size = sizeof(nh_options), .deadline_ms = 5000, .retries = NH_NONE}, &response);
 *     nh_thumbnail(cache, url, NH_OPTIONS(.size = 256, .site = site), &image);
 *
 * An nh_request describes a request with more parts: a body, a form, places where the answer is saved. Fetched answers are stored in
 * the directory, which any number of processes and handles share. is_in_cache tells whether an answer was there before the request.
 *
 * There are four ways to get an answer:
 *
 *   - nh_get and nh_thumbnail wait for it; nh_perform and nh_perform_images wait for the answer to an nh_request.
 *   - nh_submit returns at once. nh_poll takes the events of all requests of the handle, and nh_fd is readable while there are some;
 *     nh_wait takes the events of one ticket. Every ticket has exactly one final event.
 *   - For requests with a callback (nh_options), nh_dispatch calls it, always on the thread that called nh_dispatch.
 *   - nh_peek returns a thumbnail that is fresh and can be shown within the next microsecond, or nothing; nh_peek_response returns a
 *     body within a few microseconds.
 *
 * A loop over events, together with other descriptors of the program:
 *
 *     struct pollfd ready = {.fd = nh_fd(cache), .events = POLLIN};
 *     nh_event event;
 *     while (poll(&ready, 1, -1) > 0) {
 *         while (nh_poll(cache, &event, 1, sizeof event) == 1) {
 *             if (event.is_final) end(event.user_data, event.code, event.images, event.image_count);
 *             nh_event_clear(&event);
 *         }
 *     }
 *
 * A request can ask its program a question while it runs (nh_answer). A request that can't reach its server can wait in the outbox
 * (nh_options.freezable). Each section of nuthatch.h begins with an example; bindings/c/examples in the sources has whole
 * programs. C++ has nuthatch.hpp.
 *
 * Caveats
 * =======
 *
 * Errors.    Functions that can fail return an nh_status: NH_OK (0) or a stable number with a stable word (nh_status_name).
 *            Functions that return a number return the negated status on failure: -NH_CLOSED. nh_error_message describes the last
 *            failure of this thread: what happened, to which URL, and what to do; nh_error_get_info has more. A result parameter
 *            gets NULL (or zeros) on failure. Passwords in URLs are shown as ***.
 * Ownership. A handle that you get through a result parameter is yours until you call its release function. The contents of an event
 *            belong to the event until nh_event_clear; to keep a handle, set its member to NULL. Strings and bytes of an object are
 *            valid as long as the object, also after the cache was closed. Arguments are copied before the call returns. Release
 *            objects with functions of the library; never call free() on one.
 * Handles.   Every function returns NH_INVALID for a handle that is NULL, released, never issued or of another kind. The library never
 *            dereferences it. So releasing a handle twice does no harm.
 * Threads.   Every function may be called from any thread, at any time. Callbacks never run on a thread of the library. Its threads
 *            block all signals but SIGBUS, so your signal handlers run on your threads. Don't release an object while another thread
 *            reads its bytes; the library can't prevent this race, as with free().
 * Events.    Events belong to the handle that the request was submitted with: two handles on one directory don't take each other's.
 *            Events of requests with a callback go to nh_dispatch only, of other requests to nh_poll only; nh_wait takes its
 *            ticket's events before either. Events that aren't taken hold their answers until nh_close: a program that never polls
 *            sets nh_options.quiet.
 * Closing.   nh_shutdown ends all requests, and their last events can still be taken; nh_close discards them. With both, blocked
 *            calls of other threads return NH_CLOSED. Stop polling nh_fd before nh_close, which closes it.
 * Outbox.    A request is reported as frozen (NH_EVENT_FROZEN, NH_FROZEN) only when it would survive a loss of power. It is sent at
 *            least once: if the process is killed between the answer and its record, it is sent again, with the same Idempotency-Key
 *            and the same bytes. Outcomes come at least once: call nh_outbox_drop after you have processed one, not before. nh_clear
 *            and nh_trim never change the outbox. Damaged parts of the outbox are moved to a file, outbox/damaged-..., and reported
 *            in the log (nh_log_set); the rest is sent.
 * Limits.    A URL may have 65,536 bytes (a data: URL up to max_bytes), a method 64. The headers of a request, and the head of an
 *            answer, may have 1,000 lines with 262,144 bytes. A path may have 4,095 bytes, other names, users and passwords 65,536.
 *            Beyond the limit the error is NH_BAD_URL, NH_BAD_HEADER, NH_HTTP for answers, and NH_INVALID for the rest.
 * Refusals.  If the system refuses a thread, the error is NH_OUT_OF_MEMORY. If it refuses to wait for events (a filter of system
 *            calls can do that), every request, also those under way, ends with NH_INTERNAL and the cause, and so does nh_open.
 * Options.   0, NULL and NH_UNSAID mean "use the value of the level above". NH_NONE is a number that means none: no limit, no retry.
 *            NH_FOREVER is the greatest number, NH_OFF a text that is off. A number out of its option's range is NH_INVALID.
 *            nh_option_next lists all options.
 * Blocking.  Only nh_get, nh_thumbnail, nh_perform and nh_perform_images wait for the network, and, up to their timeout_ms, nh_wait,
 *            nh_dispatch, nh_wait_idle, nh_drain and nh_close. A function that may wait for the disk says so. Functions that decode
 *            or encode work on the calling thread. All others wait for neither.
 * Waits.     timeout_ms of a call that waits (nh_wait, nh_dispatch, nh_close) is not an option: 0 checks without waiting, a negative
 *            value has no limit. A signal doesn't end a wait: its handler runs, and the wait goes on. To end waits on Ctrl-C, block
 *            SIGINT in all threads and let one of your threads call sigwait() and then nh_shutdown.
 * Fork.      After fork() the caches and tickets that the child inherits return NH_FORKED; responses and images stay readable; the
 *            child can open the cache again. Close or release inherited handles in the child as you like: that doesn't affect the
 *            parent.
 * Exec.      No connection of the library survives exec(). (A pair of sockets that libcurl uses internally does.)
 * Exit.      exit() with requests under way is safe: the library's thread ends first. No final events are delivered.
 * Sizes.     Structs begin with struct_size; set it with sizeof, and set unused members to zero. This way programs and libraries of
 *            different versions work together. The library sets the struct_size of nh_event; nh_poll and nh_wait take the size as an
 *            argument. An option that is newer than the library is NH_INVALID; check with nh_option_next first.
 * Text.      All strings are UTF-8, terminated by NUL. URLs are returned byte for byte as they were passed.
 * Files.     The directory must be on a local file system, because its files are mapped. If the disk can't read or write (it is
 *            full, it fails, a file was cut), the result is a cache miss, NH_NO_SPACE or NH_IO, never wrong bytes. But a body or
 *            pixels that you already hold, and that are in such a file, read as zeros where they are missing (nh_response_check).
 *            Each record is checked at its first use since a process has opened the directory. Bits that flip later, in memory or on
 *            the disk, aren't noticed (750 of 99,024 in a test that flips them on purpose); nuthatch verify checks everything again.
 *            Some files aren't used, with NH_UNSAFE_FILE: files of the library that another user could have made or changed, and a
 *            netrc, certificate or key that doesn't belong to you or to root, or that other users may write to.
 * Pictures.  They are decoded in your process, by libjpeg-turbo, libpng, libwebp, dav1d, ISA-L and Little CMS, after checks of size,
 *            pixels, scans and memory. SECURITY.md of the sources says what was fuzzed and what isn't promised.
 * Setuid.    A program with more rights than the user that started it ignores all environment variables, such as NUTHATCH_CACHE,
 *            NETRC, http_proxy and SSLKEYLOGFILE. Then ~ is the home directory, from the system's user database, of the user whose
 *            rights the program has.
 * Log.       The environment variable NUTHATCH_LOG=debug writes the log to standard error (nh_log_set).
 * Unload.    The library stays loaded: dlclose() does nothing.
 *
 * What can still end a process
 * ============================
 *
 * The first nh_open that maps a file installs a handler of SIGBUS. It handles pages of the cache's files that can't be read, and
 * passes every other SIGBUS on to the handler that was there before, or to the default action. It stays installed. The library never
 * ends a process on purpose. These can:
 *
 *   - A handler of SIGBUS that is installed later and doesn't call the one before it: it then gets the SIGBUS of a full or failing
 *     disk. Python's faulthandler is one if it is enabled after the first cache was opened; before is fine. Install your handler
 *     before nh_open, or pass on other SIGBUS signals with their siginfo_t and context.
 *   - A call from a thread that blocks SIGBUS: the kernel ends the process for a page that can't be read. Don't block SIGBUS in
 *     threads that use the library, or that read bodies and pixels.
 *   - No memory for small objects. Bodies, pictures, and everything else whose size a server, a file or the program chooses is
 *     checked and fails with NH_OUT_OF_MEMORY. But if the Swift runtime can't allocate a few bytes, it ends the process. The
 *     kernel's out-of-memory killer ends processes without a warning. If the kernel doesn't overcommit memory (vm.overcommit_memory
 *     is 2), an index that can't be read needs memory for its zeros.
 *   - A stack that is too small for a call. The default size of a thread's stack is enough.
 *   - Errors that C can't prevent: reading bytes of an object after its release, writing into foreign memory, calls in a signal
 *     handler, or in a child of vfork().
 *   - A defect of the library, or of libcurl, libcrypto, libjpeg, libpng, libwebp, dav1d, lcms2 or ISA-L.
 */
