# Generated from options.toml by Scripts/make-header; edit that instead.
"""A line on each option, and all the rest; and which of them each kind of call takes."""

from typing import Dict


def _entries(text: str) -> Dict[str, str]:
    entries = ("\n" + text).split("\n:param ")[1:]
    return {entry.partition(":")[0]: entry for entry in entries}


HELP = _entries("""\
:param policy: what is taken for fresh: "kit", "rfc9111", "offline" or "reload". Default: kit.
:param validator_ttl: kit: how long pictures with a validator and no lifetime are fresh. Default: 1d.
:param image_ttl: kit: how long pictures without any word on caching are fresh. Default: 7d.
:param no_cache_ttl: kit: how long answers marked no-cache are fresh. Default: 60s.
:param heuristic: rfc9111: share of the time since Last-Modified for which an answer without a lifetime is
    fresh. Default: 0.1.
:param timeout: longest silence: connecting, waiting, between two bytes. Default: 30s. None: no limit.
:param deadline: longest time for all of a request. Default: two minutes for pictures, else none. None: no
    limit.
:param retries: further attempts after one that failed. Default: 3.
:param give_up_after: how long a host may be out of reach before its requests fail. Default: five minutes
    for requests of a batch, else none. None: no limit.
:param max_bytes: largest body. Default: 64MiB. None: no limit.
:param max_pixels: most pixels that a picture may have. Default: 100,000,000. None: no limit.
:param addresses: which addresses may be connected to: "guarded", "public" or "any". Default: guarded.
:param proxy: the way of all requests; empty for none. Default: what the environment says. "": none.
:param method: the method, such as POST. Default: GET.
:param headers: headers that are sent, in this order. Default: none.
:param keep_headers_across_origins: names of headers that go along to other origins. Default: none.
:param user_agent: what the User-Agent header says. Default: nuthatch/VERSION. "": an empty header.
:param accept: what the Accept header says. Default: anything; for pictures, first of all what is decoded.
    "": an empty header.
:param user: user and password, for one origin. Default: nobody. None: don't sign in, even if the site or
    netrc has a user.
:param bearer: sign in with a token, sent to the origin of the URL and to no other. Default: none.
:param sign_in: how user and password are shown: "basic", "digest", "ntlm", "negotiate" or "any". Default:
    basic.
:param cert: a certificate that says who asks, in a file in PEM. Default: none.
:param netrc: a file with users and passwords by host. Default: none. True: $NETRC, else ~/.netrc; False or
    None: none.
:param partition: a name for whose answers these are, in place of the credentials that are sent. Default:
    the credentials.
:param cookie_jar: whether cookies that the servers set are sent back, and where they are kept: "off",
    "memory" or "disk". Default: off.
:param cache_key: what the answer is kept under, instead of the URL. Default: the URL.
:param ignore_query: keep the answer under the URL without its query. Default: no.
:param fit: how pictures are made to fit their boxes: "inside", "cover" or "stretch". Default: inside.
:param enlarge: make smaller pictures larger. Default: no.
:param scaling: how much of a picture is decoded before it is scaled down: "best" or "fast". Default: best.
:param allow_damaged: take what can be decoded of a damaged picture. Default: no.
:param early_stop: end the transfer of a progressive JPEG when the thumbnails are done. Default: no.
:param delivery: when answers from the cache are delivered: "twice", "first" or "fresh". Default: twice.
:param priority: place in the queue, higher ones first. Default: 0.
:param tag: a word to cancel by. Default: none.
:param progress_events: tell of progress, of what is sent and of what comes. Default: no.
:param resume: keep a file whose transfer broke off, hidden, to be gone on with. Default: yes.
:param freezable: keep it in the outbox, and send it when its server can be reached again. Default: no.
:param outbox_durable: write it down before the first attempt, so that not even a kill in the middle loses
    it. Default: no.
:param outbox_queue: requests of one queue are sent one after the other. Default: the URL's origin.
:param outbox_handler: who gets the outcome. Default: none: the outcome waits to be collected.
:param secrets: where the values of secret headers come from when it is sent later. Default: none.
:param password_provider: who knows the password of user. Default: none.
:param outbox_attempts: how often a server may answer that it can't now, before the request is put aside.
    Default: 25. None: no limit.
:param outbox_max_age: for how long it is tried at all. Default: 7d. None: no limit.
:param outbox_key_lifetime: for how long the server knows the Idempotency-Key. Default: 24h. None: no limit.
:param memory_bytes: what this process may keep in memory, decoded thumbnails mostly. Default: the smaller
    of 64 MiB and an eighth of the memory.
:param memory_items: how many things this process may keep in memory. Default: as many as fit. None: no
    limit.
:param disk_bytes: what the directory may take on disk, the outbox apart. Default: what the directory was
    given before, else 4 GiB.
:param spill: when what comes is written to disk: "eager" or "pressure". Default: as the directory's first
    open in this process says, else eager.
:param thumb_store: how thumbnails are kept on disk: "packed", "lossless" or "raw". Default: as the
    directory's first open in this process says, else packed.
:param keep_source: keep bodies of pictures, so that other sizes can be made of them. Default: as the
    directory's first open in this process says, else yes.
:param allow_files: read file: URLs: any file that this process may read. Default: no.
:param outbox: whether this process sends what is in the directory's outbox: "auto" or "off". Default: auto.
:param outbox_bytes: what the outbox may take on disk; more is refused. Default: as the directory's first
    open in this process says, else 256 MiB. None: no limit.
:param outbox_items: how many requests the outbox may hold, those among them whose outcome waits. Default:
    as the directory's first open in this process says, else 10,000. None: no limit.
:param redirects: how many redirects are followed. Default: 10.
:param ca_file: certificates that servers are checked by, in a file in PEM. Default: what the environment
    says, else the system's. "": as if nothing were said.
:param ca_dir: a folder of certificates that servers are checked by, one a file, named by their hashes
    (`openssl rehash`). Default: what the environment says, else the system's. "": as if nothing were said.
:param insecure: certificates aren't checked: anybody on the way can read and change what is sent and what
    comes. Default: no.
:param check_bytes: when what is read from the disk is compared with its checksum: "first" or "always".
    Default: as the directory's first open in this process says, else first.
:param expire_after: how long answers are fresh since they came, whatever their headers say. Default: what
    headers and policy say.
:param body: what is sent: bytes, or a Path, which is read while it is sent.
:param json: a value to send as JSON, in which NaN and infinity are Invalid.
:param form: fields to send as a form does, without those that are None.
:param files: files to send, by the names of their fields: bytes, paths, open files, or tuples (file name,
    one of these[, type]).
:param save_to: where the answer goes while it comes: a path, an open file or descriptor, a function, or a
    list of these.
:param append: add to the files that save_to names.
:param ask_headers: a function that is called with the URL before anything is looked up or sent, and gives
    headers to add.
:param ask_credentials: a function that is called with a 401 of the URL's own origin, and gives user and
    password, or None.
:param ask_challenge: a function that is called with a 401 of the URL's own origin, and gives headers for
    another attempt, or None.
:param ask_verdict: a function that is called with an answer from the network before it is stored: True,
    False (it fails), or "retry".
""")

MORE = _entries("""\
:param policy:
    "kit": Pictures stay fresh for days unless the server says otherwise. Whatever else comes without a
    lifetime is asked for again each time.
    "rfc9111": RFC 9111, to the letter.
    "offline": Whatever is stored is fresh, however old; the network is never asked.
    "reload": Nothing that is stored answers; what comes is stored.
:param timeout:
    An answer that drips may take any time: `deadline` limits the whole.
:param deadline:
    One that is said counts from the call, the wait for its turn in the queue included, and from the first
    attempt for requests of a batch (`batched`); it runs on while the server has asked to be left alone
    (Retry-After). The default for pictures counts neither.
:param retries:
    Of what may be sent twice: GET, HEAD, OPTIONS, TRACE, PUT and DELETE, and not POST and PATCH. After a
    fault of the connection (`timeout`, `dns`, `refused`, `reset`, `truncated`), and after the statuses 408,
    425, 429, 500, 502, 503 and 504. Each waits for a random time: up to 250 ms, 500 ms and so on, up to 20
    s; or for as long as Retry-After says, and where that is more than five minutes there is none. The last
    one of a request of a batch (`batched`) waits 5 s where the host refused or broke the connection.
:param give_up_after:
    For how long the host may be out of reach, or have too much to do (429, 503), since its last good
    answer. Until then the request waits for the host, whatever `retries` says, and what it waits is no part
    of its deadline; after that it fails with the fault or the status. A millisecond is as good as no wait.
    A request that must not be sent twice, or that is freezable, doesn't wait either. A host that has never
    answered is out of reach once five requests to it have failed in a row. Before that, `retries` counts.
:param max_bytes:
    What is saved while it comes may be of any size unless its request says a number.
:param addresses:
    "guarded": No link-local ones (cloud metadata), and no private ones by redirect from a public one.
    "public": Public ones only.
    "any": All.
:param proxy:
    `http://`, `https://`, `socks4://`, `socks5://` or `socks5h://`. Answers that came by a proxy are kept
    for it alone.
    The guard judges addresses in URLs, and names as far as this machine can look them up in a second. What
    only the proxy knows goes through, and what a proxy finds for a name is its business: give it rules of
    its own. With `socks5h://` no name is looked up here.
:param method:
    One that HTTP knows is put into capitals; any other is sent as it is spelled.
:param headers:
    A header replaces those of the same name that a level above, or the library, would send. Said again for
    the same request, they take the place of all those that were said before.
:param keep_headers_across_origins:
    When a redirect, or the URL of a site's request, leads to another origin, headers stay behind, but for
    harmless ones (`Accept`, `Content-Type` and their like: docs/HTTP.md of the sources) and these, whatever
    secrets are in them; `Host` never goes. All levels together name them.
:param user:
    They go to the site's origin, or that of the request's URL, and to no other, also across redirects.
:param sign_in:
    "basic": Basic, with the first request, unasked.
    "digest": Digest, after the server has asked. Of a server that wants a body proven, too (`auth-int` and
    not `auth`), a request with a body is the error `http`, with the status 401.
    "ntlm": NTLM, after the server has asked.
    "negotiate": Negotiate (Kerberos), where libcurl has it; without user and password, as whom the system
    knows.
    "any": The strongest that the server asks for, Basic being the weakest; Negotiate, which uses no
    password, where there is none.
:param netrc:
    Requests sign in by it when nothing else says who asks. It must be yours or root's, and nobody else may
    write to it.
:param partition:
    For tokens that change.
:param cookie_jar:
    "off": They are ignored.
    "memory": In memory, as long as the directory is open in this process.
    "disk": In the cache's directory, too, for other processes and later ones: readable for its owner only,
    and in clear.
    Sites with the same base URL, user and partition share their cookies. What waits in the outbox is sent
    without.
:param cache_key:
    For URLs that carry a signature or a date.
:param fit:
    "inside": All of it is inside of the box.
    "cover": It covers the box; what is beyond is cut off.
    "stretch": It has the sides of the box, whatever its own are.
:param scaling:
    "best": As much as can be told from all of it.
    "fast": As little as will do.
:param allow_damaged:
    Such an image is marked as partial.
:param early_stop:
    Where much of it remains. Other sizes cost another fetch then, because the original isn't kept. Where
    originals aren't kept anyway it always may.
:param delivery:
    "twice": A stale one at once, and after it the fresh one, or why there is none.
    "first": One answer, a stale one too; it is revalidated behind. Where the program judges answers (a
    verdict) it is as fresh.
    "fresh": One answer, which holds now, or which its server lets be shown while it is asked
    (`stale-while-revalidate`). Where the server can't be asked, fails (429, 5xx), or takes longer than the
    deadline, a stale one is given in its place.
    A call that waits for one answer takes twice for fresh.
:param freezable:
    POST, PUT, PATCH and DELETE only. It is sent at once, and kept, body and all, where no answer comes:
    after the first `timeout`, `dns`, `refused`, `reset`, `tls` or `circuit_open`, without a retry, and at
    its deadline. It is kept untried where others of its queue wait (`outbox_queue`), or its secret isn't
    known. An answer to this first attempt is its answer, whatever its status. Later it is sent in its turn,
    by any process that has the directory open. It gets an Idempotency-Key unless it has one, the same for
    every attempt.
    Nothing secret is written: user and password, and headers whose names hold auth, token, key, secret,
    session, cookie, passw, passphrase, credential, bearer or jwt, need a provider (`secrets`,
    `password_provider`), or the request is `secret_needs_provider`. What a .netrc has needs one, too, and
    so does a token that the answer to a question for headers adds; other headers that it adds are kept. A
    site's cookies go with the first attempt only, its proxy is kept, and must have no password. URL and
    body are written as they are, for the directory's owner to read.
:param outbox_queue:
    While one of them waits, those after it are kept untried, also where their server can be reached.
:param outbox_handler:
    An outcome stays in the outbox, and counts to its `outbox_items`, until it is dropped.
:param secrets:
    The values are never written. A provider `env:NAME` is a variable of the environment; others are told by
    the program.
:param password_provider:
    A request without a user that asks its program for one needs a provider; it knows both then, as
    `name:password`. Only the first attempt asks the program; the outbox asks the provider, and sends
    nothing before it has both.
:param outbox_attempts:
    Attempts that reach nobody don't count.
:param outbox_key_lifetime:
    A POST or PATCH that may have arrived isn't sent again later than that; with none it is, however late.
:param disk_bytes:
    Each process that writes may take two 64ths of it more (64 KiB each at the least), because it reserves
    ahead.
:param spill:
    "eager": At once: it survives this process however it ends, and other processes find it.
    "pressure": When memory is short, or when the cache is closed. Until then it is this process's: lost
    with it, and out of reach of what other processes remove (not of their clear).
:param thumb_store:
    "packed": As JPEG of quality 92 where they are opaque, else as PNG: a tenth of the room.
    "lossless": As PNG: the same pixels every time.
    "raw": As pixels, used where they lie.
    Those of at most 16 KiB are kept raw in any case.
:param outbox:
    "auto": In its turn, when no other process does.
    "off": Requests may be frozen, and looked at, but are sent by others.
:param redirects:
    After a 303, and a 301 or 302 to POST, a GET without the body follows; else the method and the body
    stay. With none a redirect is the answer, with its status and its `Location`, and is kept apart from
    what it leads to. One more than are followed is the error `too_many_redirects`. An answer in the cache
    that lies behind more of them is fetched again.
:param ca_file:
    In place of all others: where `ca_file` or `ca_dir` is said, neither the system's certificates nor the
    environment's count. Else the file is `CURL_CA_BUNDLE`, else `SSL_CERT_FILE`, else the system's; the
    folder is `SSL_CERT_DIR`, else the system's. The environment isn't read where a program is privileged.
    An answer that was fetched with certificates of one's own, or unchecked, is kept apart from all others.
    What a site says about them counts at its origin; what a cache or a request says, wherever redirects
    lead. It is about servers, and not about a proxy over `https`.
:param ca_dir:
    As `ca_file`, and beside it where both are said.
:param insecure:
    For servers of one's own that have no certificate that could be named by `ca_file`. The log has a
    warning, once in each process. What is said of a site counts at its origin, as for `ca_file`.
:param check_bytes:
    "first": When it is read for the first time while any process has the directory open, by whichever of
    them. Disks say by themselves when they fail.
    "always": Each time it is read: for disks, and file systems, that change bytes without a word.
    What doesn't match isn't given, and is fetched again. Always costs a copy of what is given, and the time
    to read all of it; then memory holds copies of it, and nothing of the disk's.
:param expire_after:
    For the request that says so, when it looks into the cache; nothing of it is stored, and nothing is
    stored for its sake. Zero: expired at once, so that the server is asked whether an answer still holds.
    What may be done with a stale answer its headers say all the same (`must-revalidate`,
    `stale-while-revalidate`), and the request (`delivery`). Fractions of a second count as whole ones.
:param files:
    A path is read while it is sent, an open file from where it stands.
:param save_to:
    A function is called with each piece, on the thread that waits for the ticket. What has a `write` of its
    own, as `gzip.open(path, "wb")` has, is written to by it; files of text are a TypeError. With AsyncCache
    the function is called on the event loop, may be `async`, and the next piece is received when it is done
    with this one; elsewhere an `async` one is Invalid. Of a plain open file the descriptor is written to,
    past its buffers.
    Files have their names only when they are complete. What is saved may be larger than the cache's
    `max_bytes`; then the response has no body. A transfer that broke off is gone on with, also by the next
    request for the same file, unless `resume` is False.
:param ask_challenge:
    Whatever was sent. The headers take the place of those of the same name. It is called again when these
    are refused, too, up to ten times: for schemes that the library doesn't know, and tokens that have
    expired.
:param ask_verdict:
    What is asked is asked on the thread that waits for the ticket; where no thread waits, the request goes
    on after 30 seconds. What a function raises ends the request, and is raised by who waits for it.
""")

TAKEN = _entries("""\
:param Wishes:
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
    outbox_attempts outbox_max_age outbox_key_lifetime redirects ca_file ca_dir insecure expire_after body
    json form files save_to append ask_headers ask_credentials ask_challenge ask_verdict
:param Prefetching:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries give_up_after max_bytes
    max_pixels addresses headers keep_headers_across_origins user bearer sign_in cert netrc partition
    ignore_query fit enlarge scaling allow_damaged early_stop delivery priority tag progress_events resume
    freezable outbox_durable outbox_queue outbox_handler secrets password_provider outbox_attempts
    outbox_max_age outbox_key_lifetime redirects ca_file ca_dir insecure expire_after body json form files
    save_to append ask_headers ask_credentials ask_challenge ask_verdict
:param Naming:
    headers keep_headers_across_origins user bearer sign_in cert netrc partition cache_key ignore_query
    redirects ca_file ca_dir insecure
:param SiteWishes:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries max_bytes max_pixels
    addresses proxy headers keep_headers_across_origins user_agent accept user sign_in cert netrc partition
    cookie_jar secrets password_provider redirects ca_file ca_dir insecure expire_after ask_headers
    ask_credentials ask_challenge ask_verdict
:param CacheWishes:
    policy validator_ttl image_ttl no_cache_ttl heuristic timeout deadline retries max_bytes max_pixels
    addresses proxy headers keep_headers_across_origins user_agent accept netrc partition secrets
    memory_bytes memory_items disk_bytes spill thumb_store keep_source allow_files outbox outbox_bytes
    outbox_items redirects ca_file ca_dir insecure check_bytes expire_after ask_headers ask_credentials
    ask_challenge ask_verdict
""")
