/*
 * Nuthatch: fetches URLs once, keeps them ready, and hands them back: as they came, or as thumbnails ready to show.
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
 * A cache belongs to a directory. A request is a URL, and options where there is more to say: sizes of thumbnails, headers, limits.
 * One struct, nh_options, says them for a request, for a site (a base URL with what its requests have in common) and for a cache.
 * Name what you want to say; 0 leaves an option as the level above has it. NH_OPTIONS is short for the struct with its size, in C:
 *
 *     nh_get(cache, url, NULL, &response);
 *     nh_get(cache, url, &(nh_options){.struct_size = sizeof(nh_options), .deadline_ms = 5000, .retries = NH_NONE}, &response);
 *     nh_thumbnail(cache, url, NH_OPTIONS(.size = 256, .site = site), &image);
 *
 * What has more structure is an nh_request: a body, a form, places where the answer goes. What was fetched is kept in the directory,
 * which any number of processes and handles share. is_in_cache says whether an answer was there before it was asked for.
 *
 * There are four ways to an answer:
 *
 *   - nh_get and nh_thumbnail wait for it; nh_perform and nh_perform_images for that of an nh_request.
 *   - nh_submit returns at once. nh_poll takes the events of all requests of the handle, and nh_fd is readable while there are some;
 *     nh_wait takes those of one ticket. Exactly one event of a ticket is final, always.
 *   - For requests with a callback (nh_options) nh_dispatch calls it, on the thread that called nh_dispatch and on no other.
 *   - nh_peek gives a thumbnail that is fresh and can be shown within the next microsecond, or nothing; nh_peek_response a body
 *     within a few.
 *
 * A loop over events, beside whatever else the program waits for:
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
 * A request may ask its program something on its way (nh_answer); one that can't reach its server may wait in the outbox
 * (nh_options.freezable). The sections below begin with an example each; bindings/c/examples in the sources has whole programs.
 * C++ has nuthatch.hpp.
 *
 * Caveats
 * =======
 *
 * Errors.    Functions that can fail return an nh_status: NH_OK (0) or a stable number with a stable word
 *            (nh_status_name). Those that return a number give the status negated: -NH_CLOSED. nh_error_message says for
 *            this thread's last failure what happened, to which URL, and what to do; nh_error_get_info says more. A result
 *            place gets NULL (or zeros) on failure. Passwords in URLs are shown as ***.
 * Ownership. What a function gives through a result place is yours until its release function. What an event holds is the
 *            event's until nh_event_clear; take a handle out of it by setting its place to NULL. Strings and bytes inside an
 *            object live as long as the object, also after the cache was closed. What you pass is copied before the call
 *            returns. Objects come from the library and go back to it; never free() one.
 * Handles.   A NULL, released, foreign or made-up handle, and one of another kind, is answered with NH_INVALID by
 *            every function; nothing is followed. Releasing a handle twice is therefore found out.
 * Threads.   Every function may be called from any thread, at any time. No callback ever runs on a thread of the
 *            library. Its threads have all signals but SIGBUS blocked, so your handlers run on yours. Releasing an object while
 *            another thread reads bytes out of it is your race, as with free().
 * Events.    They belong to the handle that the request was submitted with: two handles on one directory don't take each
 *            other's. Events of requests with a callback go to nh_dispatch only, of those without to nh_poll only, and
 *            nh_wait takes its own ticket's before either. Events that nobody takes hold their answers until nh_close: a
 *            program that never polls says so (nh_options.quiet).
 * Closing.   nh_shutdown ends everything and leaves the last events to be taken; nh_close gives them up. Either tells
 *            threads that are blocked in a call NH_CLOSED. Stop polling nh_fd before nh_close, which closes it.
 * Outbox.    Freezing is acknowledged (NH_EVENT_FROZEN, NH_FROZEN) once the request would survive a loss of power. It is sent at
 *            least once: a kill between answer and record sends it again, with the same Idempotency-Key and the same bytes.
 *            Outcomes come at least once: nh_outbox_drop after you have made something of one, not before. nh_clear and nh_trim
 *            never touch the outbox. What of it is damaged on the disk is set aside in a file, outbox/damaged-..., of which the
 *            log tells (nh_log_set); the rest is sent.
 * Limits.    A URL may have 65,536 bytes (data: URLs what max_bytes allows), a method 64, the headers of a request, and the head of
 *            an answer, 1,000 lines with 262,144 bytes; a path 4,095 bytes, other names, users and passwords 65,536. What is
 *            longer is NH_BAD_URL, NH_BAD_HEADER, NH_HTTP for answers, and NH_INVALID for the rest.
 * Refusals.  A thread that the system refuses is NH_OUT_OF_MEMORY. Where it refuses to wait for events (a filter of system
 *            calls does), every request ends with NH_INTERNAL and the cause, also those under way, and so does nh_open.
 * Options.   0, NULL and NH_UNSAID mean "as the level above has it". NH_NONE is a number that says none: no limit, no retry; NH_FOREVER
 *            the greatest, NH_OFF a text that is off. A number out of its option's range is NH_INVALID. nh_option_next has them all.
 * Blocking.  For the network wait only nh_get, nh_thumbnail, nh_perform and nh_perform_images, and as long as they are told nh_wait,
 *            nh_dispatch, nh_wait_idle, nh_drain and nh_close. For the disk may wait what says so. What decodes and encodes works on
 *            the calling thread. The rest waits for neither.
 * Waits.     timeout_ms of a call that waits (nh_wait, nh_dispatch, nh_close) is no option: 0 looks and doesn't wait, negative waits
 *            for as long as it takes. A signal ends no wait: its handler runs, and the wait goes on. For Ctrl-C block SIGINT in
 *            all threads, and have one of yours call sigwait() and then nh_shutdown, which does end them.
 * Fork.      After fork() the child's inherited caches and tickets answer NH_FORKED; responses and images stay readable;
 *            opening a cache anew works. Close or release inherited handles in the child as you like: the parent isn't
 *            touched.
 * Exec.      No connection of the library survives exec(). (A pair of sockets that libcurl talks to itself with does.)
 * Exit.      exit() with requests under way is fine: the library's thread ends first. Nobody hears of their end.
 * Sizes.     Structs begin with struct_size; set it with sizeof, and zero what you don't set. That is how programs and libraries of
 *            different versions understand each other. Of nh_event the library sets it; nh_poll and nh_wait are told the size. An
 *            option that is newer than the library is NH_INVALID; nh_option_next tells beforehand.
 * Text.      All strings are UTF-8, terminated by NUL. URLs come back byte for byte as they were passed.
 * Files.     The directory must be on a file system of this machine. Its files are mapped. What the disk can't give or take
 *            (it is full, it fails, somebody cut a file) is a miss or NH_NO_SPACE or NH_IO, never wrong bytes; but a body or
 *            pixels that you hold, and that lie in such a file, read as zeros where they are missing (nh_response_check).
 *            Each record is checked when it is used first since a process has opened the directory. Bits that flip later, in
 *            memory or on the disk, are given as they are (750 of 99,024 in a test that flips them on purpose); nuthatch verify
 *            checks everything again. Files of ours that others could have made or changed, and a netrc, certificate or key
 *            that isn't yours or root's, or to which others may write, aren't used: NH_UNSAFE_FILE.
 * Pictures.  They are decoded in your process, by libjpeg-turbo, libpng, ISA-L and Little CMS, behind checks of size, pixels, scans
 *            and memory. SECURITY.md of the sources says what was fuzzed and what isn't promised.
 * Setuid.    In a program that has more rights than who started it, no variable of the environment counts, NUTHATCH_CACHE, NETRC,
 *            http_proxy and SSLKEYLOGFILE among them, and ~ is the folder that the system has for the user whose rights it has.
 * Log.       NUTHATCH_LOG=debug in the environment shows on standard error what happens (nh_log_set).
 * Unload.    The library stays loaded once it was: dlclose() does nothing.
 *
 * What can still end a process
 * ============================
 *
 * The first mapped file, which the first nh_open brings, installs a handler of SIGBUS. It deals with pages of the cache's files
 * that can't be had, and passes every other SIGBUS on to the handler that was there before, or to what the system does. It stays
 * for good. Nothing of the library ends a process on purpose; these do:
 *
 *   - A handler of SIGBUS that is installed later and doesn't call the one before it: the full or failing disk is its then.
 *     Python's faulthandler is one when it is enabled after the first cache was opened (before, all is well). Put the handler
 *     in before nh_open, or pass on what isn't yours with its siginfo_t and context.
 *   - A call from a thread that has SIGBUS blocked: the kernel ends the process for a page that can't be had there. Leave SIGBUS
 *     out of the mask of threads that use the library, or that read bodies and pixels.
 *   - No memory for small things. Bodies, pictures, and whatever else has a size that a server, a file or the program chooses
 *     is checked for and is NH_OUT_OF_MEMORY; but where the Swift runtime gets not even some bytes it ends the process.
 *     The kernel's out-of-memory killer asks nobody. Where nothing may be promised beyond what there is
 *     (vm.overcommit_memory is 2), an index that can't be read needs memory for its zeros.
 *   - A stack that is too small for a call. What the system gives a thread by itself is enough.
 *   - What C lets a program do: reading bytes of an object after its release, writing into memory that isn't its own, calling
 *     in a signal handler, or in a child of vfork().
 *   - A defect of the library, or of libcurl, libcrypto, libjpeg, libpng, lcms2 or ISA-L.
 */
