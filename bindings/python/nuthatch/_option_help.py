# Generated from options.toml by Scripts/make-header; edit that instead.
"""Help for each option: one line, more text, and the options of each kind of call."""

from typing import Dict


def _entries(text: str) -> Dict[str, str]:
    entries = ("\n" + text).split("\n:param ")[1:]
    return {entry.partition(":")[0]: entry for entry in entries}


HELP = _entries("""\
:param policy: which stored answers count as fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
:param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
:param image_ttl: kit: how long pictures without any caching header are fresh. Default: 7d.
:param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
:param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
    fresh. Default: 0.1.
:param timeout: longest time without a byte: connecting, waiting, between two bytes. Default: 30s. None: no
    limit.
:param deadline: longest time for the whole request. Default: two minutes for pictures, else none. None: no
    limit.
:param retries: further attempts after a failed one. Default: 3.
:param give_up_after: how long a host may be unreachable before its requests fail. Default: five minutes for
    requests of a batch, else none. None: no limit.
:param max_bytes: largest body. Default: 64MiB. None: no limit.
:param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
:param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
:param proxy: proxy for all requests; empty for none. Default: from the environment. "": none.
:param method: the method, such as POST. Default: GET.
:param headers: headers to send, in this order. Default: none.
:param keep_headers_across_origins: names of headers that are also sent to other origins. Default: none.
:param user_agent: value of the User-Agent header. Default: nuthatch/VERSION. "": an empty header.
:param accept: value of the Accept header, or the word modern. Default: anything; for pictures, JPEG, PNG
    and GIF first. "": an empty header.
:param user: user and password, for one origin. Default: none. None: don't sign in, even if the site or
    netrc has a user.
:param bearer: token to sign in with, sent to the origin of the URL and to no other. Default: none.
:param sign_in: how user and password are sent: "basic", "digest", "ntlm", "negotiate" or "any". Default:
    basic.
:param cert: client certificate, a file in PEM. Default: none.
:param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
    None: none.
:param partition: name that separates these answers from others, instead of the credentials. Default: the
    credentials.
:param cookie_jar: whether cookies that the servers set are sent back, and where they are stored: "off",
    "memory" or "disk". Default: off.
:param cache_key: cache key of the answer, instead of the URL. Default: the URL.
:param ignore_query: store and find the answer by the URL without its query. Default: no.
:param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
:param enlarge: enlarge pictures that are smaller than the box. Default: no.
:param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
:param allow_damaged: take what can be decoded of a damaged picture. Default: no.
:param early_stop: end the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the
    thumbnails are done. Default: no.
:param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
:param priority: place in the queue, higher ones first. Default: 0.
:param tag: word by which requests can be cancelled. Default: none.
:param progress_events: send events about the progress of the upload and the download. Default: no.
:param resume: after a broken transfer keep the hidden partial file, so that a later request can continue
    it. Default: yes.
:param freezable: put the request into the outbox if its server can't be reached, and send it later.
    Default: no.
:param outbox_durable: store the request before the first attempt, so that it survives a kill during it.
    Default: no.
:param outbox_queue: queue in the outbox; its requests are sent one after the other. Default: the URL's
    origin.
:param outbox_handler: name of the handler that gets the outcome. Default: none: the outcome waits to be
    collected.
:param secrets: providers of the values of secret headers, for later attempts. Default: none.
:param password_provider: provider of the password of user. Default: none.
:param outbox_attempts: after how many answers that report a temporary failure (408, 425, 429, 5xx) the
    request is put aside. Default: 25. None: no limit.
:param outbox_max_age: longest time for all attempts. Default: 7d. None: no limit.
:param outbox_key_lifetime: how long the server remembers the Idempotency-Key. Default: 24h. None: no limit.
:param memory_bytes: memory that this process may use for stored things, mostly decoded thumbnails. Default:
    the smaller of 64 MiB and an eighth of the memory.
:param memory_items: how many things this process may keep in memory. Default: as many as fit. None: no
    limit.
:param disk_bytes: disk space of the directory, without the outbox. Default: the limit that was set before,
    else 4 GiB.
:param spill: when new answers are written to disk: "eager" or "pressure". Default: like the directory's
    first open in this process, else eager.
:param thumb_store: how thumbnails are stored on disk: "packed", "lossless", "raw" or "small". Default: like
    the directory's first open in this process, else packed.
:param keep_source: store the bodies of pictures, so that other sizes can be made of them. Default: like the
    directory's first open in this process, else yes.
:param allow_files: allow file: URLs; they can read any file that this process may read. Default: no.
:param outbox: whether this process sends the requests of the directory's outbox: "auto" or "off". Default:
    auto.
:param outbox_bytes: disk space of the outbox; requests beyond it are refused. Default: like the directory's
    first open in this process, else 256 MiB. None: no limit.
:param outbox_items: how many requests the outbox may hold, including those whose outcome waits. Default:
    like the directory's first open in this process, else 10,000. None: no limit.
:param redirects: how many redirects are followed. Default: 10.
:param ca_file: certificates that servers are checked with, in a file in PEM. Default: from the environment,
    else the system's. "": as if not set.
:param ca_dir: folder of certificates that servers are checked with, named by their hashes (`openssl
    rehash`). Default: from the environment, else the system's. "": as if not set.
:param insecure: don't check certificates: anyone on the path can read and change the traffic. Default: no.
:param check_bytes: when bytes read from the disk are compared with their checksum: "first" or "always".
    Default: like the directory's first open in this process, else first.
:param expire_after: how long answers are fresh after they came; replaces their headers. Default: by headers
    and policy.
:param config: a config file with options, and with sections for hosts. Default: none. True: the usual
    files; False or None: none.
:param decode: where pictures are decoded: "here" or "isolated". Default: here.
:param body: body to send: bytes, or a Path, which is read while it is sent.
:param json: a value to send as JSON; NaN and infinity raise Invalid.
:param form: fields to send like a web form, without those that are None.
:param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
    one of these[, type]).
:param save_to: where the answer is saved while it arrives: a path, an open file or descriptor, a function,
    or a list of these.
:param append: add to the end of the files that save_to names.
:param ask_headers: a function that is called with the URL before anything is looked up or sent, and returns
    headers to add.
:param ask_credentials: a function that is called with a 401 of the URL's own origin, and returns user and
    password, or None.
:param ask_challenge: a function that is called with a 401 of the URL's own origin, and returns headers for
    another attempt, or None.
:param ask_verdict: a function that gets an answer from the network before it is stored: returns True, False
    (it fails) or "retry".
""")

MORE = _entries("""\
:param policy:
    "kit": Pictures stay fresh for days unless the server says otherwise. Any other answer without a
    lifetime is revalidated each time.
    "rfc9111": RFC 9111, to the letter.
    "offline": Every stored answer is fresh, however old; the network is never used.
    "reload": No stored answer is used; new answers are stored.
:param timeout:
    A slow answer may take any time as long as bytes come: `deadline` limits the whole request.
:param deadline:
    A deadline that is set counts from the call, and includes the wait in the queue. For requests of a batch
    (`batched`) it counts from the first attempt. It also runs while the request waits because the server
    asked for a pause (Retry-After). The default deadline of pictures excludes both waits.
:param retries:
    Only requests that may be sent twice are retried: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, not POST
    and PATCH. A retry follows a connection fault (`timeout`, `dns`, `refused`, `reset`, `truncated`),
    something else than an answer on a kept connection (`http`), and the statuses 408, 425, 429, 500, 502,
    503 and 504. Each retry waits for a random time: up to 250 ms, 500 ms and so on, up to 20 s. If the
    server sends Retry-After, the retry waits for that time; if it is longer than five minutes, there is no
    retry. The last retry of a batch request (`batched`) waits 5 s if the host refused or broke the
    connection.
:param give_up_after:
    The limit counts from the host's last good answer. A host is unavailable if it can't be reached, or
    answers 429 or 503. The request waits for the host up to the limit, even beyond `retries`, and that wait
    isn't part of its deadline. After the limit it fails with the fault or the status. A millisecond means
    almost no wait. A request that must not be sent twice, or that is freezable, doesn't wait. A host that
    has never answered counts as unreachable after five failed requests in a row. Until then `retries`
    decides.
:param max_bytes:
    An answer that is saved while it arrives has no limit unless its request sets one.
:param addresses:
    "guarded": No link-local addresses (cloud metadata), and no private ones after a redirect from a public
    one.
    "public": Only public addresses.
    "any": All addresses.
:param proxy:
    `http://`, `https://`, `socks4://`, `socks5://` or `socks5h://`. Answers that came through a proxy are
    stored separately, for that proxy only.
    The address guard (`addresses`) checks addresses in URLs, and names that this machine can look up within
    a second. A name that only the proxy can look up passes the guard. The guard can't check which address
    the proxy connects to: give the proxy its own rules. With `socks5h://` this machine looks up no name.
:param method:
    A method that HTTP defines is put into capitals; any other is sent as it is spelled.
:param headers:
    A header replaces the headers of the same name that the library or a level above would send. A later
    value for the same request replaces all earlier values of that name.
:param keep_headers_across_origins:
    A redirect, or the URL of a site's request, can go to another origin. Only harmless headers (`Accept`,
    `Content-Type` and others: docs/HTTP.md of the sources) and the ones named here are sent there, even if
    their values are secret. `Host` is never sent there. The names of all levels are added together.
:param accept:
    `modern` asks for pictures in AVIF and WebP, too: fewer bytes, for links that cost money, and several
    times the time to decode. Requests for anything else are sent as usual.
:param user:
    They are sent to the site's origin, or to the origin of the request's URL, and to no other, also after
    redirects.
:param sign_in:
    "basic": Basic, with the first request.
    "digest": Digest, after the server has asked for it. If the server demands that the body is protected,
    too (`auth-int` and not `auth`), a request with a body fails with the error `http` (status 401).
    "ntlm": NTLM, after the server has asked for it.
    "negotiate": Negotiate (Kerberos), if libcurl supports it; without user and password, with the system's
    Kerberos credentials.
    "any": The strongest scheme that the server offers, Basic is the weakest. Without a password: Negotiate,
    which needs none.
:param netrc:
    It is used if nothing else gives credentials. The file must belong to you or to root, and no other user
    may write to it.
:param partition:
    Useful for tokens that change.
:param cookie_jar:
    "off": Cookies are ignored.
    "memory": In memory, while the directory is open in this process.
    "disk": Also in the cache's directory, for other and later processes: readable for its owner only, and
    not encrypted.
    Sites with the same base URL, user and partition share their cookies. A request that is sent from the
    outbox has no cookies of its site.
:param cache_key:
    For URLs that contain a signature or a date.
:param fit:
    "inside": The whole picture fits into the box.
    "cover": The picture covers the box; the rest is cut off.
    "stretch": The picture gets exactly the sides of the box, even if that distorts it.
:param scaling:
    "best": As much as can improve the result.
    "fast": As little as possible.
:param allow_damaged:
    Such an image is marked as partial.
:param early_stop:
    Only if much of the body is still missing. Other sizes then need another fetch, because the original
    isn't stored. If the cache stores no originals (`keep_source`), transfers always may end early.
:param delivery:
    "twice": A stale answer at once, and then the fresh one, or the error.
    "first": One answer, also a stale one, which is then revalidated in the background. If the program
    judges answers (a verdict), the same as fresh.
    "fresh": One answer, which is fresh, or which its server allows to use during the revalidation
    (`stale-while-revalidate`). If the server can't be asked, fails (429, 5xx), or takes longer than the
    deadline, a stale answer is delivered instead.
    A call that waits for one answer treats twice as fresh.
:param freezable:
    POST, PUT, PATCH and DELETE only. The request is sent at once. If no answer comes, it is stored with its
    body: after the first `timeout`, `dns`, `refused`, `reset`, `tls` or `circuit_open`, without a retry,
    and at its deadline. It is stored without an attempt if other requests of its queue wait
    (`outbox_queue`) or if its secret isn't known. An answer to this first attempt is delivered, with any
    status. Later the outbox sends the request in its turn, from any process that has the directory open.
    The request gets an Idempotency-Key unless it has one; every attempt sends the same key.
    No secret is written to disk. User and password, and headers whose names contain auth, token, key,
    secret, session, cookie, passw, passphrase, credential, bearer or jwt, need a provider (`secrets`,
    `password_provider`); without one the request fails with `secret_needs_provider`. Credentials of a
    .netrc need a provider, too, and so does a token that the answer to a question for headers adds; other
    headers that it adds are stored. Only the first attempt sends a site's cookies. The site's proxy is
    stored, and must have no password. URL and body are written in clear, readable for the directory's owner
    only.
:param outbox_queue:
    While one of them waits, later ones are stored without an attempt, also if their server can be reached.
:param outbox_handler:
    An outcome stays in the outbox, and counts to its `outbox_items`, until it is dropped.
:param secrets:
    The values are never written. The provider `env:NAME` reads an environment variable; the program gives
    the values of other providers.
:param password_provider:
    A request without a user that asks its program for credentials needs a provider, which then gives both,
    as `name:password`. Only the first attempt asks the program. The outbox asks the provider, and sends
    nothing before it has both.
:param outbox_attempts:
    An attempt that the server can't have received doesn't count. One that it may have received counts, also
    without an answer.
:param outbox_key_lifetime:
    A POST or PATCH that may have arrived isn't sent again after this time; with none it is sent again
    without a limit.
:param disk_bytes:
    Each process that writes may take two 64ths more (at least 64 KiB each), because it reserves space
    ahead.
:param spill:
    "eager": At once: they survive the end of this process, and other processes find them.
    "pressure": When memory is short, or when the cache is closed. Until then only this process finds them,
    and they are lost if it is killed. Removals in other processes apply to them, too.
:param thumb_store:
    "packed": As JPEG of quality 92 if they are opaque, else as PNG: a tenth of the space.
    "lossless": As PNG: the same pixels every time.
    "raw": As pixels, which are used without a copy.
    "small": Like packed, but those that aren't opaque as lossy WebP of quality 90: a third of a PNG, with
    exact transparency.
    Thumbnails of at most 16 KiB are always stored raw.
:param outbox:
    "auto": The process sends them if no other process does.
    "off": Requests can be stored and listed, but other processes send them.
:param redirects:
    After a 303, and after a 301 or 302 to a POST, a GET without the body follows; else the method and the
    body stay. With none a redirect is the answer, with its status and its `Location`, and is stored
    separately from the answer at its target. One redirect too many is the error `too_many_redirects`. A
    stored answer that needed more redirects than are allowed is fetched again.
:param ca_file:
    They replace all others: if `ca_file` or `ca_dir` is set, the certificates of the system and of the
    environment don't count. Else the file is `CURL_CA_BUNDLE`, else `SSL_CERT_FILE`, else the system's; the
    folder is `SSL_CERT_DIR`, else the system's. A privileged program doesn't read these environment
    variables.
    An answer that was fetched with your own certificates, or unchecked, is stored separately from all
    others. A site's value counts at the site's origin; the value of a cache or a request counts for all
    servers, also after redirects. It applies to servers, not to a proxy over `https`.
:param ca_dir:
    Like `ca_file`. Both can be set together. A request or a site that sets one of them takes neither from
    its cache.
:param insecure:
    For your own servers that have no certificate that `ca_file` could name. The log gets a warning, once in
    each process. A site's value counts at the site's origin, as for `ca_file`.
:param check_bytes:
    "first": At the first read by any process; this counts anew after all processes have closed the
    directory. Disks report their own failures.
    "always": At each read: for disks, and file systems, that change bytes without an error.
    If they don't match, the answer counts as missing and is fetched again. `always` costs a copy of the
    answer, and the time to read all of it; memory then holds that copy, and no mapping of the file.
:param expire_after:
    It counts when this request looks into the cache; it changes nothing that is stored. Zero: answers
    expire at once, so the server is asked whether a stored answer is still valid. The headers
    (`must-revalidate`, `stale-while-revalidate`) and `delivery` still decide whether a stale answer may be
    delivered. Fractions of a second are rounded up.
:param config:
    docs/CONFIG.md of the sources has its form. Without this option no file is read. The program's own
    options override those of the file, and so do the variables of the environment that name a proxy or
    certificates. Options of the process (`rate` and others) count unless the program has set them. Empty:
    `$XDG_CONFIG_HOME/nuthatch/config.toml`, else `~/.config/nuthatch/config.toml`, and
    `/etc/nuthatch/config.toml`; the first counts before the second, and either may be missing. A program
    with more rights than its user reads only the last one. A mistake is the error `invalid`, with file,
    line and column.
:param decode:
    "here": In this process.
    "isolated": In a process of their own, which has no network and no files: for pictures of strangers. The
    pixels are the same. If the decoder is taken over or crashes there, this process goes on.
    SVG and HEIC are always decoded in the process of their own. docs/ISOLATION.md of the sources says what
    it may do and what it costs. A thumbnail that is stored is used whatever this option says.
:param files:
    A path is read while it is sent, an open file from its current position.
:param save_to:
    A function is called with each piece, on the thread that waits for the ticket. An object with its own
    `write`, such as the result of `gzip.open(path, "wb")`, gets the bytes through `write`; text files raise
    TypeError. With AsyncCache the function is called on the event loop and may be `async`; the next piece
    is received when the function is done with this one. Elsewhere an `async` function raises Invalid. For a
    plain open file the bytes are written to its descriptor, not through its buffers.
    A file appears under its name only when it is complete. The answer may be larger than the cache's
    `max_bytes`; then the response has no body. A broken transfer is continued, also by the next request for
    the same file, unless `resume` is False.
:param ask_challenge:
    It is called even if the request already had credentials. The headers replace those of the same name. If
    the server refuses these, too, the function is called again, up to ten times: for schemes that the
    library doesn't know, and tokens that have expired.
:param ask_verdict:
    These functions run on the thread that waits for the ticket. If no thread waits, the request goes on
    after 30 seconds. An exception in a function ends the request, and is raised in the waiting thread.
""")

TAKEN = _entries("""\
:param Wishes:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries give_up_after max_bytes
    max_pixels addresses method headers keep_headers_across_origins user bearer sign_in cert netrc partition
    cache_key ignore_query fit enlarge scaling allow_damaged early_stop delivery priority tag
    progress_events resume freezable outbox_durable outbox_queue outbox_handler secrets password_provider
    outbox_attempts outbox_max_age outbox_key_lifetime redirects ca_file ca_dir insecure expire_after decode
    body json form files save_to append ask_headers ask_credentials ask_challenge ask_verdict
:param Peeking:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries give_up_after max_bytes
    max_pixels addresses method headers keep_headers_across_origins user bearer sign_in cert netrc partition
    cache_key ignore_query fit enlarge scaling allow_damaged early_stop delivery priority tag
    progress_events resume freezable outbox_durable outbox_queue outbox_handler secrets password_provider
    outbox_attempts outbox_max_age outbox_key_lifetime redirects ca_file ca_dir insecure expire_after body
    json form files save_to append ask_headers ask_credentials ask_challenge ask_verdict
:param Sending:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries give_up_after max_bytes
    max_pixels addresses headers keep_headers_across_origins user bearer sign_in cert netrc partition
    cache_key ignore_query fit enlarge scaling allow_damaged early_stop delivery priority tag
    progress_events resume freezable outbox_durable outbox_queue outbox_handler secrets password_provider
    outbox_attempts outbox_max_age outbox_key_lifetime redirects ca_file ca_dir insecure expire_after decode
    body json form files save_to append ask_headers ask_credentials ask_challenge ask_verdict
:param Prefetching:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries give_up_after max_bytes
    max_pixels addresses headers keep_headers_across_origins user bearer sign_in cert netrc partition
    ignore_query fit enlarge scaling allow_damaged early_stop delivery priority tag progress_events resume
    freezable outbox_durable outbox_queue outbox_handler secrets password_provider outbox_attempts
    outbox_max_age outbox_key_lifetime redirects ca_file ca_dir insecure expire_after decode body json form
    files save_to append ask_headers ask_credentials ask_challenge ask_verdict
:param Naming:
    headers keep_headers_across_origins user bearer sign_in cert netrc partition cache_key ignore_query
    redirects ca_file ca_dir insecure
:param SiteWishes:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries max_bytes max_pixels
    addresses proxy headers keep_headers_across_origins user_agent accept user sign_in cert netrc partition
    cookie_jar secrets password_provider redirects ca_file ca_dir insecure expire_after decode ask_headers
    ask_credentials ask_challenge ask_verdict
:param CacheWishes:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries max_bytes max_pixels
    addresses proxy headers keep_headers_across_origins user_agent accept netrc partition secrets
    memory_bytes memory_items disk_bytes spill thumb_store keep_source allow_files outbox outbox_bytes
    outbox_items redirects ca_file ca_dir insecure check_bytes expire_after config decode ask_headers
    ask_credentials ask_challenge ask_verdict
""")
