"""The options. Generated from options.toml by Scripts/make-header; edit that instead."""

from typing import Dict, Mapping, NamedTuple, Optional

CACHE, SITE, REQUEST, IMAGE, PROCESS = 1, 2, 4, 8, 16


class Row(NamedTuple):
    """An option: its kind, its member of the struct, where it may be said, what None is, its words."""

    kind: str
    member: str
    levels: int
    none: Optional[str] = None
    #: Its range, and as messages say it.
    least: float = 0
    greatest: Optional[float] = None
    range: str = ""
    words: Optional[Mapping[str, int]] = None
    #: The version that brought it.
    since: str = "0.1"


ROWS: Dict[str, Row] = {
    "policy": Row(
        "words",
        "policy",
        CACHE | SITE | REQUEST,
        words={"kit": 1, "rfc9111": 2, "offline": 3, "reload": 4},
    ),
    "validator_ttl": Row(
        "duration",
        "validator_ttl_ms",
        CACHE | SITE | REQUEST,
        none="zero",
        range="0 or more, or none",
    ),
    "image_ttl": Row(
        "duration",
        "image_ttl_ms",
        CACHE | SITE | REQUEST,
        none="zero",
        range="0 or more, or none",
    ),
    "no_cache_ttl": Row(
        "duration",
        "no_cache_ttl_ms",
        CACHE | SITE | REQUEST,
        none="zero",
        range="0 or more, or none",
    ),
    "heuristic": Row(
        "share",
        "heuristic",
        CACHE | SITE | REQUEST,
        none="zero",
        greatest=1,
        range="0 to 1, or none",
    ),
    "timeout": Row(
        "duration",
        "timeout_ms",
        CACHE | SITE | REQUEST,
        none="unlimited",
        least=1,
        range="1 ms or more, or none",
    ),
    "deadline": Row(
        "duration",
        "deadline_ms",
        CACHE | SITE | REQUEST,
        none="unlimited",
        least=1,
        range="1 ms or more, or none",
    ),
    "retries": Row(
        "count",
        "retries",
        CACHE | SITE | REQUEST,
        none="zero",
        greatest=1000,
        range="0 to 1000, or none",
    ),
    "give_up_after": Row(
        "duration",
        "give_up_after_ms",
        REQUEST,
        none="unlimited",
        range="0 or more, or none",
    ),
    "max_bytes": Row(
        "bytes",
        "max_bytes",
        CACHE | SITE | REQUEST,
        none="unlimited",
        least=1,
        range="1 or more, or none",
    ),
    "max_pixels": Row(
        "pixels",
        "max_pixels",
        CACHE | SITE | REQUEST | IMAGE,
        none="unlimited",
        least=1,
        range="1 or more, or none",
    ),
    "_batched": Row(
        "flag",
        "batched",
        REQUEST,
    ),
    "addresses": Row(
        "words",
        "addresses",
        CACHE | SITE | REQUEST,
        words={"guarded": 1, "public": 2, "any": 3},
    ),
    "proxy": Row(
        "text",
        "proxy",
        CACHE | SITE,
    ),
    "method": Row(
        "text",
        "method",
        REQUEST,
    ),
    "headers": Row(
        "headers",
        "headers",
        CACHE | SITE | REQUEST,
    ),
    "keep_headers_across_origins": Row(
        "names",
        "keep_headers_across_origins",
        CACHE | SITE | REQUEST,
        since="0.2",
    ),
    "user_agent": Row(
        "text",
        "user_agent",
        CACHE | SITE,
    ),
    "accept": Row(
        "text",
        "accept",
        CACHE | SITE,
    ),
    "user": Row(
        "secret",
        "user",
        SITE | REQUEST,
        none="off",
    ),
    "_user_place": Row(
        "text",
        "user_place",
        REQUEST,
    ),
    "bearer": Row(
        "secret",
        "bearer",
        REQUEST,
    ),
    "sign_in": Row(
        "words",
        "sign_in",
        SITE | REQUEST,
        words={"basic": 1, "digest": 2, "ntlm": 3, "negotiate": 4, "any": 5},
    ),
    "cert": Row(
        "path",
        "cert",
        SITE | REQUEST,
    ),
    "netrc": Row(
        "path",
        "netrc",
        CACHE | SITE | REQUEST,
        none="off",
    ),
    "partition": Row(
        "text",
        "partition",
        CACHE | SITE | REQUEST,
    ),
    "cookie_jar": Row(
        "words",
        "cookie_jar",
        SITE,
        words={"off": 1, "memory": 2, "disk": 3},
    ),
    "cache_key": Row(
        "text",
        "cache_key",
        REQUEST,
    ),
    "ignore_query": Row(
        "flag",
        "ignore_query",
        REQUEST,
    ),
    "fit": Row(
        "words",
        "fit",
        REQUEST | IMAGE,
        words={"inside": 1, "cover": 2, "stretch": 3},
    ),
    "enlarge": Row(
        "flag",
        "enlarge",
        REQUEST | IMAGE,
    ),
    "scaling": Row(
        "words",
        "scaling",
        REQUEST | IMAGE,
        words={"best": 1, "fast": 2},
    ),
    "allow_damaged": Row(
        "flag",
        "allow_damaged",
        REQUEST | IMAGE,
    ),
    "early_stop": Row(
        "flag",
        "early_stop",
        REQUEST,
    ),
    "delivery": Row(
        "words",
        "delivery",
        REQUEST,
        words={"twice": 1, "first": 2, "fresh": 3},
    ),
    "priority": Row(
        "count",
        "priority",
        REQUEST,
        none="zero",
        least=-10,
        greatest=10,
        range="-10 to 10, or none",
    ),
    "tag": Row(
        "text",
        "tag",
        REQUEST,
    ),
    "progress_events": Row(
        "flag",
        "progress_events",
        REQUEST,
    ),
    "resume": Row(
        "flag",
        "resume",
        REQUEST,
    ),
    "freezable": Row(
        "flag",
        "freezable",
        REQUEST,
    ),
    "outbox_durable": Row(
        "flag",
        "outbox_durable",
        REQUEST,
    ),
    "outbox_queue": Row(
        "text",
        "outbox_queue",
        REQUEST,
    ),
    "outbox_handler": Row(
        "text",
        "outbox_handler",
        REQUEST,
    ),
    "secrets": Row(
        "secrets",
        "secrets",
        CACHE | SITE | REQUEST,
    ),
    "password_provider": Row(
        "text",
        "password_provider",
        SITE | REQUEST,
    ),
    "outbox_attempts": Row(
        "count",
        "outbox_attempts",
        REQUEST,
        none="unlimited",
        least=1,
        range="1 or more, or none",
    ),
    "outbox_max_age": Row(
        "duration",
        "outbox_max_age_ms",
        REQUEST,
        none="unlimited",
        least=1,
        range="1 ms or more, or none",
    ),
    "outbox_key_lifetime": Row(
        "duration",
        "outbox_key_lifetime_ms",
        REQUEST,
        none="unlimited",
        least=1,
        range="1 ms or more, or none",
    ),
    "memory_bytes": Row(
        "bytes",
        "memory_bytes",
        CACHE,
        none="zero",
        range="0 or more, or none",
    ),
    "memory_items": Row(
        "count",
        "memory_items",
        CACHE,
        none="unlimited",
        least=1,
        range="1 or more, or none",
    ),
    "disk_bytes": Row(
        "bytes",
        "disk_bytes",
        CACHE,
        least=4194304,
        greatest=70368744177664,
        range="4 MiB to 64 TiB",
    ),
    "spill": Row(
        "words",
        "spill",
        CACHE,
        words={"eager": 1, "pressure": 2},
    ),
    "thumb_store": Row(
        "words",
        "thumb_store",
        CACHE,
        words={"packed": 1, "lossless": 2, "raw": 3},
    ),
    "keep_source": Row(
        "flag",
        "keep_source",
        CACHE,
    ),
    "allow_files": Row(
        "flag",
        "allow_files",
        CACHE,
    ),
    "outbox": Row(
        "words",
        "outbox",
        CACHE,
        words={"auto": 1, "off": 2},
    ),
    "outbox_bytes": Row(
        "bytes",
        "outbox_bytes",
        CACHE,
        none="unlimited",
        least=1,
        range="1 or more, or none",
    ),
    "outbox_items": Row(
        "count",
        "outbox_items",
        CACHE,
        none="unlimited",
        least=1,
        range="1 or more, or none",
    ),
    "concurrency": Row(
        "count",
        "concurrency",
        PROCESS,
        least=1,
        greatest=512,
        range="1 to 512",
    ),
    "per_host": Row(
        "count",
        "per_host",
        PROCESS,
        least=1,
        greatest=512,
        range="1 to 512",
    ),
    "per_host_grows": Row(
        "flag",
        "per_host_grows",
        PROCESS,
    ),
    "rate": Row(
        "rate",
        "rate",
        PROCESS,
        none="unlimited",
        least=1e-06,
        greatest=1000000,
        range="0.000001 to 1000000, or none",
    ),
    "inflight_bytes": Row(
        "bytes",
        "inflight_bytes",
        PROCESS,
        none="zero",
        range="0 or more, or none",
    ),
    "redirects": Row(
        "count",
        "redirects",
        CACHE | SITE | REQUEST,
        none="zero",
        greatest=100,
        range="0 to 100, or none",
        since="0.2",
    ),
    "ca_file": Row(
        "path",
        "ca_file",
        CACHE | SITE | REQUEST,
        since="0.2",
    ),
    "ca_dir": Row(
        "path",
        "ca_dir",
        CACHE | SITE | REQUEST,
        since="0.2",
    ),
    "insecure": Row(
        "flag",
        "insecure",
        CACHE | SITE | REQUEST,
        since="0.2",
    ),
    "check_bytes": Row(
        "words",
        "check_bytes",
        CACHE,
        words={"first": 1, "always": 2},
        since="0.2",
    ),
    "expire_after": Row(
        "duration",
        "expire_after_ms",
        CACHE | SITE | REQUEST,
        none="zero",
        range="0 or more, or none",
        since="0.2",
    ),
    "body": Row(
        "argument",
        "",
        REQUEST,
    ),
    "json": Row(
        "argument",
        "",
        REQUEST,
    ),
    "form": Row(
        "argument",
        "",
        REQUEST,
    ),
    "files": Row(
        "argument",
        "",
        REQUEST,
    ),
    "save_to": Row(
        "argument",
        "",
        REQUEST,
    ),
    "append": Row(
        "argument",
        "",
        REQUEST,
    ),
    "ask_headers": Row(
        "question",
        "ASK_HEADERS",
        CACHE | SITE | REQUEST,
    ),
    "ask_credentials": Row(
        "question",
        "ASK_CREDENTIALS",
        CACHE | SITE | REQUEST,
    ),
    "ask_challenge": Row(
        "question",
        "ASK_CHALLENGE",
        CACHE | SITE | REQUEST,
    ),
    "ask_verdict": Row(
        "question",
        "ASK_VERDICT",
        CACHE | SITE | REQUEST,
    ),
}
