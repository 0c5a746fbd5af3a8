"""The C ABI for ctypes. Made by `make header`; edit the sources that it names instead."""

import ctypes
from typing import Any, Dict, Tuple

# Special values of options: for numbers, and OFF for texts.
NONE = -(2**63)
FOREVER = 2**63 - 1
OFF = 2 ** (8 * ctypes.sizeof(ctypes.c_void_p)) - 1

# Status numbers and their stable words.
OK = 0
TIMEOUT = 1
DNS = 2
REFUSED = 3
RESET = 4
TLS = 5
HTTP = 6
TOO_LARGE = 7
TOO_MANY_PIXELS = 8
NOT_AN_IMAGE = 9
UNSUPPORTED_FORMAT = 10
CORRUPT = 11
TRUNCATED = 12
DENIED = 13
BAD_URL = 14
BAD_HEADER = 15
TOO_MANY_REDIRECTS = 16
OFFLINE = 17
CIRCUIT_OPEN = 18
CANCELLED = 19
CLOSED = 20
FORKED = 21
FROZEN = 22
SECRET_NEEDS_PROVIDER = 23
INVALID = 24
CONFLICT = 25
NO_SPACE = 26
IO = 27
OUT_OF_MEMORY = 28
INTERNAL = 29
WRONG_FORMAT = 30
BUSY = 31
UNSAFE_FILE = 32
DECODER_FAILED = 33

WORDS: Dict[int, str] = {
    0: "ok",
    1: "timeout",
    2: "dns",
    3: "refused",
    4: "reset",
    5: "tls",
    6: "http",
    7: "too_large",
    8: "too_many_pixels",
    9: "not_an_image",
    10: "unsupported_format",
    11: "corrupt",
    12: "truncated",
    13: "denied",
    14: "bad_url",
    15: "bad_header",
    16: "too_many_redirects",
    17: "offline",
    18: "circuit_open",
    19: "cancelled",
    20: "closed",
    21: "forked",
    22: "frozen",
    23: "secret_needs_provider",
    24: "invalid",
    25: "conflict",
    26: "no_space",
    27: "io",
    28: "out_of_memory",
    29: "internal",
    30: "wrong_format",
    31: "busy",
    32: "unsafe_file",
    33: "decoder_failed",
}

# nh_choice
UNSAID = 0
YES = 1
NO = 2

# nh_source
SOURCE_NONE = 0
SOURCE_MEMORY = 1
SOURCE_DISK = 2
SOURCE_REVALIDATED = 3
SOURCE_NETWORK = 4

# nh_ticket_status
TICKET_QUEUED = 1
TICKET_RUNNING = 2
TICKET_DONE = 3
TICKET_CANCELLED = 4

# nh_event_kind
EVENT_NONE = 0
EVENT_PROGRESS = 1
EVENT_CACHED = 2
EVENT_UNCHANGED = 3
EVENT_FRESH = 4
EVENT_FAILED = 5
EVENT_CANCELLED = 6
EVENT_FROZEN = 7
EVENT_QUESTION = 8
EVENT_DATA = 9
EVENT_OUTCOME = 10
EVENT_REACHABILITY = 11
EVENT_BUSY = 12
EVENT_IDLE = 13

# nh_question
ASK_NOTHING = 0
ASK_HEADERS = 1
ASK_CREDENTIALS = 2
ASK_VERDICT = 4
ASK_SECRET = 8
ASK_CHALLENGE = 16

# nh_policy
POLICY_UNSAID = 0
POLICY_KIT = 1
POLICY_RFC9111 = 2
POLICY_OFFLINE = 3
POLICY_RELOAD = 4

# nh_addresses
ADDRESSES_UNSAID = 0
ADDRESSES_GUARDED = 1
ADDRESSES_PUBLIC = 2
ADDRESSES_ANY = 3

# nh_sign_in
SIGN_IN_UNSAID = 0
SIGN_IN_BASIC = 1
SIGN_IN_DIGEST = 2
SIGN_IN_NTLM = 3
SIGN_IN_NEGOTIATE = 4
SIGN_IN_ANY = 5

# nh_cookie_jar
COOKIE_JAR_UNSAID = 0
COOKIE_JAR_OFF = 1
COOKIE_JAR_MEMORY = 2
COOKIE_JAR_DISK = 3

# nh_delivery
DELIVERY_UNSAID = 0
DELIVERY_TWICE = 1
DELIVERY_FIRST = 2
DELIVERY_FRESH = 3

# nh_spill
SPILL_UNSAID = 0
SPILL_EAGER = 1
SPILL_PRESSURE = 2

# nh_check_bytes
CHECK_BYTES_UNSAID = 0
CHECK_BYTES_FIRST = 1
CHECK_BYTES_ALWAYS = 2

# nh_thumb_store
THUMB_STORE_UNSAID = 0
THUMB_STORE_PACKED = 1
THUMB_STORE_LOSSLESS = 2
THUMB_STORE_RAW = 3
THUMB_STORE_SMALL = 4

# nh_outbox
OUTBOX_UNSAID = 0
OUTBOX_AUTO = 1
OUTBOX_OFF = 2

# nh_fit
FIT_UNSAID = 0
FIT_INSIDE = 1
FIT_COVER = 2
FIT_STRETCH = 3

# nh_scaling
SCALING_UNSAID = 0
SCALING_BEST = 1
SCALING_FAST = 2

# nh_decoding
DECODING_UNSAID = 0
DECODING_HERE = 1
DECODING_ISOLATED = 2

# nh_format
FORMAT_PNG = 1
FORMAT_JPEG = 2
FORMAT_WEBP = 3
FORMAT_WEBP_LOSSLESS = 4

# nh_pixels
PIXELS_RGBA = 1
PIXELS_BGRA = 2
PIXELS_RGBA_PREMULTIPLIED = 3
PIXELS_BGRA_PREMULTIPLIED = 4
PIXELS_RGB = 5
PIXELS_BGR = 6
PIXELS_GREY = 7

# nh_verdict
VERDICT_UNSAID = 0
VERDICT_ACCEPT = 1
VERDICT_REJECT = 2
VERDICT_RETRY = 3

# nh_sink_kind
SINK_FILE = 1
SINK_APPEND = 2
SINK_DESCRIPTOR = 3
SINK_EVENTS = 4

# nh_frozen_state
FROZEN_WAITING = 1
FROZEN_SENDING = 2
FROZEN_PAUSED = 3
FROZEN_DONE = 4
FROZEN_DEAD = 5

# nh_pressure
PRESSURE_WARNING = 1
PRESSURE_CRITICAL = 2

# nh_log_level
LOG_NONE = 0
LOG_ERROR = 1
LOG_WARNING = 2
LOG_INFO = 3
LOG_DEBUG = 4

# nh_url_form
URL_REDACTED = 1
URL_ORIGIN = 2

# nh_option_kind
OPTION_DURATION = 1
OPTION_BYTES = 2
OPTION_COUNT = 3
OPTION_SHARE = 4
OPTION_RATE = 5
OPTION_FLAG = 6
OPTION_WORDS = 7
OPTION_TEXT = 8
OPTION_PATH = 9
OPTION_SECRET = 10
OPTION_HEADERS = 11
OPTION_NAMES = 12
OPTION_SIZES = 13
OPTION_SECRETS = 14
OPTION_QUESTIONS = 15
OPTION_POINTER = 16
OPTION_FUNCTION = 17
OPTION_HANDLE = 18

# nh_option_level
LEVEL_CACHE = 1
LEVEL_SITE = 2
LEVEL_REQUEST = 4
LEVEL_IMAGE = 8
LEVEL_PROCESS = 16

# nh_option_reach
REACHES_HIT = 1
REACHES_FETCH = 2
REACHES_NAME = 4
REACHES_OUTBOX = 8


class nh_header(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("value", ctypes.c_char_p),
    ]


class nh_size(ctypes.Structure):
    _fields_ = [
        ("width", ctypes.c_int64),
        ("height", ctypes.c_int64),
    ]


class nh_secret(ctypes.Structure):
    _fields_ = [
        ("header", ctypes.c_char_p),
        ("prefix", ctypes.c_char_p),
        ("provider", ctypes.c_char_p),
    ]


class nh_event(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("ticket", ctypes.c_void_p),
        ("user_data", ctypes.c_void_p),
        ("is_final", ctypes.c_int32),
        ("is_in_cache", ctypes.c_int32),
        ("is_stale", ctypes.c_int32),
        ("is_stored", ctypes.c_int32),
        ("source", ctypes.c_uint32),
        ("code", ctypes.c_uint32),
        ("http_status", ctypes.c_int32),
        ("retry_after", ctypes.c_int32),
        ("bytes_done", ctypes.c_int64),
        ("bytes_total", ctypes.c_int64),
        ("message", ctypes.c_void_p),
        ("response", ctypes.c_void_p),
        ("images", ctypes.c_void_p),
        ("image_count", ctypes.c_size_t),
        ("question", ctypes.c_uint32),
        ("is_upload", ctypes.c_int32),
        ("data", ctypes.c_void_p),
        ("data_size", ctypes.c_size_t),
        ("outbox_id", ctypes.c_uint64),
        ("frozen", ctypes.c_void_p),
        ("is_reachable", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
    ]


class nh_options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("validator_ttl_ms", ctypes.c_int64),
        ("image_ttl_ms", ctypes.c_int64),
        ("no_cache_ttl_ms", ctypes.c_int64),
        ("heuristic", ctypes.c_double),
        ("timeout_ms", ctypes.c_int64),
        ("deadline_ms", ctypes.c_int64),
        ("retries", ctypes.c_int64),
        ("give_up_after_ms", ctypes.c_int64),
        ("max_bytes", ctypes.c_int64),
        ("max_pixels", ctypes.c_int64),
        ("batched", ctypes.c_uint32),
        ("reserved_1", ctypes.c_uint32),
        ("site", ctypes.c_void_p),
        ("addresses", ctypes.c_uint32),
        ("reserved_2", ctypes.c_uint32),
        ("proxy", ctypes.c_char_p),
        ("method", ctypes.c_char_p),
        ("headers", ctypes.c_void_p),
        ("header_count", ctypes.c_size_t),
        ("keep_headers_across_origins", ctypes.c_char_p),
        ("user_agent", ctypes.c_char_p),
        ("accept", ctypes.c_char_p),
        ("user", ctypes.c_char_p),
        ("password", ctypes.c_char_p),
        ("user_place", ctypes.c_char_p),
        ("bearer", ctypes.c_char_p),
        ("sign_in", ctypes.c_uint32),
        ("reserved_3", ctypes.c_uint32),
        ("cert", ctypes.c_char_p),
        ("cert_key", ctypes.c_char_p),
        ("cert_password", ctypes.c_char_p),
        ("netrc", ctypes.c_char_p),
        ("partition", ctypes.c_char_p),
        ("cookie_jar", ctypes.c_uint32),
        ("reserved_4", ctypes.c_uint32),
        ("asks", ctypes.c_uint64),
        ("asks_not", ctypes.c_uint64),
        ("cache_key", ctypes.c_char_p),
        ("ignore_query", ctypes.c_uint32),
        ("reserved_5", ctypes.c_uint32),
        ("size", ctypes.c_int64),
        ("sizes", ctypes.c_void_p),
        ("size_count", ctypes.c_size_t),
        ("fit", ctypes.c_uint32),
        ("enlarge", ctypes.c_uint32),
        ("scaling", ctypes.c_uint32),
        ("allow_damaged", ctypes.c_uint32),
        ("early_stop", ctypes.c_uint32),
        ("decode", ctypes.c_uint32),
        ("delivery", ctypes.c_uint32),
        ("reserved_6", ctypes.c_uint32),
        ("priority", ctypes.c_int64),
        ("tag", ctypes.c_char_p),
        ("progress_events", ctypes.c_uint32),
        ("resume", ctypes.c_uint32),
        ("freezable", ctypes.c_uint32),
        ("outbox_durable", ctypes.c_uint32),
        ("outbox_queue", ctypes.c_char_p),
        ("outbox_handler", ctypes.c_char_p),
        ("secrets", ctypes.c_void_p),
        ("secret_count", ctypes.c_size_t),
        ("password_provider", ctypes.c_char_p),
        ("outbox_attempts", ctypes.c_int64),
        ("outbox_max_age_ms", ctypes.c_int64),
        ("outbox_key_lifetime_ms", ctypes.c_int64),
        ("user_data", ctypes.c_void_p),
        ("callback", ctypes.c_void_p),
        ("quiet", ctypes.c_uint32),
        ("reserved_7", ctypes.c_uint32),
        ("memory_bytes", ctypes.c_int64),
        ("memory_items", ctypes.c_int64),
        ("disk_bytes", ctypes.c_int64),
        ("spill", ctypes.c_uint32),
        ("thumb_store", ctypes.c_uint32),
        ("keep_source", ctypes.c_uint32),
        ("allow_files", ctypes.c_uint32),
        ("outbox", ctypes.c_uint32),
        ("reserved_8", ctypes.c_uint32),
        ("outbox_bytes", ctypes.c_int64),
        ("outbox_items", ctypes.c_int64),
        ("concurrency", ctypes.c_int64),
        ("per_host", ctypes.c_int64),
        ("per_host_grows", ctypes.c_uint32),
        ("reserved_9", ctypes.c_uint32),
        ("rate", ctypes.c_double),
        ("inflight_bytes", ctypes.c_int64),
        ("redirects", ctypes.c_int64),
        ("ca_file", ctypes.c_char_p),
        ("ca_dir", ctypes.c_char_p),
        ("insecure", ctypes.c_uint32),
        ("check_bytes", ctypes.c_uint32),
        ("expire_after_ms", ctypes.c_int64),
        ("config", ctypes.c_char_p),
        ("decoding", ctypes.c_uint32),
        ("reserved_10", ctypes.c_uint32),
    ]


class nh_error_info(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("code", ctypes.c_uint32),
        ("message", ctypes.c_char_p),
        ("http_status", ctypes.c_int32),
        ("retry_after", ctypes.c_int32),
        ("outbox_id", ctypes.c_uint64),
    ]


class nh_response_info(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("status", ctypes.c_int32),
        ("body", ctypes.c_void_p),
        ("body_size", ctypes.c_size_t),
        ("url", ctypes.c_char_p),
        ("final_url", ctypes.c_char_p),
        ("content_type", ctypes.c_char_p),
        ("is_in_cache", ctypes.c_int32),
        ("source", ctypes.c_uint32),
        ("redirects", ctypes.c_int32),
        ("header_count", ctypes.c_int32),
        ("first_byte_us", ctypes.c_int64),
        ("total_us", ctypes.c_int64),
        ("age", ctypes.c_int64),
        ("is_stale", ctypes.c_int32),
        ("is_stored", ctypes.c_int32),
        ("reason", ctypes.c_char_p),
        ("dns_us", ctypes.c_int64),
        ("connect_us", ctypes.c_int64),
        ("tls_us", ctypes.c_int64),
        ("interim_count", ctypes.c_int32),
        ("is_cut", ctypes.c_int32),
        ("is_removal_due", ctypes.c_int32),
        ("is_truncated", ctypes.c_int32),
    ]


class nh_interim(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("status", ctypes.c_int32),
        ("headers", ctypes.c_void_p),
        ("header_count", ctypes.c_size_t),
    ]


class nh_found(ctypes.Structure):
    _fields_ = [
        ("response", ctypes.c_void_p),
        ("body", ctypes.c_void_p),
        ("body_size", ctypes.c_size_t),
    ]


class nh_image_info(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("is_in_cache", ctypes.c_int32),
        ("pixels", ctypes.c_void_p),
        ("stride", ctypes.c_size_t),
        ("original_width", ctypes.c_int32),
        ("original_height", ctypes.c_int32),
        ("source", ctypes.c_uint32),
        ("is_partial", ctypes.c_int32),
        ("url", ctypes.c_char_p),
        ("final_url", ctypes.c_char_p),
        ("age", ctypes.c_int64),
        ("is_stale", ctypes.c_int32),
        ("http_status", ctypes.c_int32),
        ("is_stored", ctypes.c_int32),
        ("depth", ctypes.c_int32),
        ("format", ctypes.c_char_p),
        ("is_animated", ctypes.c_int32),
        ("frame_count", ctypes.c_int32),
    ]


class nh_reply(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("verdict", ctypes.c_uint32),
        ("reason", ctypes.c_char_p),
        ("headers", ctypes.c_void_p),
        ("header_count", ctypes.c_size_t),
        ("user", ctypes.c_char_p),
        ("password", ctypes.c_char_p),
    ]


class nh_part(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("file_name", ctypes.c_char_p),
        ("type", ctypes.c_char_p),
    ]


class nh_sink(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("path", ctypes.c_char_p),
        ("descriptor", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
    ]


class nh_frozen_info(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("state", ctypes.c_uint32),
        ("id", ctypes.c_uint64),
        ("method", ctypes.c_char_p),
        ("url", ctypes.c_char_p),
        ("queue", ctypes.c_char_p),
        ("handler", ctypes.c_char_p),
        ("tag", ctypes.c_char_p),
        ("key", ctypes.c_char_p),
        ("reason", ctypes.c_char_p),
        ("body_size", ctypes.c_int64),
        ("frozen_at", ctypes.c_int64),
        ("wait", ctypes.c_int64),
        ("attempts", ctypes.c_int32),
        ("http_status", ctypes.c_int32),
        ("code", ctypes.c_uint32),
        ("history_count", ctypes.c_int32),
    ]


class nh_frozen_attempt(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("code", ctypes.c_uint32),
        ("time", ctypes.c_int64),
        ("http_status", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
        ("reason", ctypes.c_char_p),
    ]


class nh_statistics(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("requests", ctypes.c_int64),
        ("hits", ctypes.c_int64),
        ("joined", ctypes.c_int64),
        ("transfers", ctypes.c_int64),
        ("revalidated", ctypes.c_int64),
        ("fetched", ctypes.c_int64),
        ("failed", ctypes.c_int64),
        ("decodes", ctypes.c_int64),
        ("stopped", ctypes.c_int64),
        ("filed", ctypes.c_int64),
        ("bytes_received", ctypes.c_int64),
        ("activity", ctypes.c_int64),
        ("metas", ctypes.c_int64),
        ("bodies", ctypes.c_int64),
        ("thumbs", ctypes.c_int64),
        ("disk_bytes", ctypes.c_int64),
        ("disk_limit", ctypes.c_int64),
        ("pinned_bytes", ctypes.c_int64),
        ("dropped", ctypes.c_int64),
        ("memory_items", ctypes.c_int64),
        ("memory_bytes", ctypes.c_int64),
        ("memory_limit", ctypes.c_int64),
        ("memory_hits", ctypes.c_int64),
        ("memory_misses", ctypes.c_int64),
        ("memory_evictions", ctypes.c_int64),
        ("unwritten", ctypes.c_int64),
        ("lost", ctypes.c_int64),
        ("pressure_warnings", ctypes.c_int64),
        ("pressure_criticals", ctypes.c_int64),
        ("spilled", ctypes.c_int64),
        ("spilled_bytes", ctypes.c_int64),
        ("held_up", ctypes.c_int64),
    ]


class nh_option(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("help", ctypes.c_char_p),
        ("doc", ctypes.c_char_p),
        ("by_default", ctypes.c_char_p),
        ("range", ctypes.c_char_p),
        ("least", ctypes.c_double),
        ("greatest", ctypes.c_double),
        ("none", ctypes.c_char_p),
        ("empty", ctypes.c_char_p),
        ("words", ctypes.c_char_p),
        ("since", ctypes.c_char_p),
        ("levels", ctypes.c_uint32),
        ("reaches", ctypes.c_uint32),
        ("offset", ctypes.c_size_t),
    ]


# The ctypes type of each C type.
TYPES: Dict[str, Any] = {
    "void": None,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
    "const char *": ctypes.c_char_p,
    "nh_addresses": ctypes.c_uint32,
    "nh_check_bytes": ctypes.c_uint32,
    "nh_choice": ctypes.c_uint32,
    "nh_cookie_jar": ctypes.c_uint32,
    "nh_decoding": ctypes.c_uint32,
    "nh_delivery": ctypes.c_uint32,
    "nh_event_kind": ctypes.c_uint32,
    "nh_fit": ctypes.c_uint32,
    "nh_format": ctypes.c_uint32,
    "nh_frozen_state": ctypes.c_uint32,
    "nh_log_level": ctypes.c_uint32,
    "nh_option_kind": ctypes.c_uint32,
    "nh_option_level": ctypes.c_uint32,
    "nh_option_reach": ctypes.c_uint32,
    "nh_outbox": ctypes.c_uint32,
    "nh_pixels": ctypes.c_uint32,
    "nh_policy": ctypes.c_uint32,
    "nh_pressure": ctypes.c_uint32,
    "nh_question": ctypes.c_uint32,
    "nh_scaling": ctypes.c_uint32,
    "nh_sign_in": ctypes.c_uint32,
    "nh_sink_kind": ctypes.c_uint32,
    "nh_source": ctypes.c_uint32,
    "nh_spill": ctypes.c_uint32,
    "nh_status": ctypes.c_uint32,
    "nh_thumb_store": ctypes.c_uint32,
    "nh_ticket_status": ctypes.c_uint32,
    "nh_url_form": ctypes.c_uint32,
    "nh_verdict": ctypes.c_uint32,
}

# name: the C types of result and arguments.
SIGNATURES: Dict[str, Tuple[str, Tuple[str, ...]]] = {
    "nh_version": ("const char *", ()),
    "nh_version_num": ("uint32_t", ()),
    "nh_build_info": ("const char *", ()),
    "nh_status_name": ("const char *", ("nh_status",)),
    "nh_error_message": ("const char *", ()),
    "nh_error_get_info": ("nh_status", ("nh_error_info *",)),
    "nh_open": ("nh_status", ("const char *", "const nh_options *", "nh_cache **")),
    "nh_shutdown": ("nh_status", ("nh_cache *",)),
    "nh_close": ("nh_status", ("nh_cache *", "int64_t")),
    "nh_cache_get_options": ("nh_status", ("nh_cache *", "nh_options *")),
    "nh_drain": ("nh_status", ("nh_cache *", "int64_t")),
    "nh_get": ("nh_status", ("nh_cache *", "const char *", "const nh_options *", "nh_response **")),
    "nh_thumbnail": ("nh_status", ("nh_cache *", "const char *", "const nh_options *", "nh_image **")),
    "nh_perform": ("nh_status", ("nh_cache *", "nh_request *", "nh_response **")),
    "nh_perform_images": ("nh_status", ("nh_cache *", "nh_request *", "nh_image **", "size_t")),
    "nh_response_get_info": ("nh_status", ("nh_response *", "nh_response_info *")),
    "nh_response_check": ("nh_status", ("nh_response *",)),
    "nh_response_header": ("nh_status", ("nh_response *", "const char *", "const char **")),
    "nh_response_header_at": ("nh_status", ("nh_response *", "int32_t", "const char **", "const char **")),
    "nh_response_interim_at": ("nh_status", ("nh_response *", "int32_t", "nh_interim *")),
    "nh_response_text": ("nh_status", ("nh_response *", "const char **", "size_t *")),
    "nh_response_json": ("nh_status", ("nh_response *", "const char **", "size_t *")),
    "nh_response_release": ("nh_status", ("nh_response *",)),
    "nh_response_image": ("nh_status", ("nh_response *", "const nh_options *", "nh_image **")),
    "nh_image_decode": ("nh_status", ("const void *", "size_t", "const nh_options *", "nh_image **")),
    "nh_image_get_info": ("nh_status", ("nh_image *", "nh_image_info *")),
    "nh_image_release": ("nh_status", ("nh_image *",)),
    "nh_image_convert": ("nh_status", ("nh_image *", "nh_pixels", "void *", "size_t", "size_t")),
    "nh_image_pixels": ("nh_status", ("nh_image *", "nh_pixels", "const void **", "size_t *")),
    "nh_image_encode": ("nh_status", ("nh_image *", "nh_format", "int32_t", "const void **", "size_t *")),
    "nh_submit": ("nh_status", ("nh_cache *", "const char *", "const nh_options *", "nh_ticket **")),
    "nh_submit_request": ("nh_status", ("nh_cache *", "nh_request *", "nh_ticket **")),
    "nh_wait": ("nh_status", ("nh_ticket *", "int64_t", "nh_event *", "size_t")),
    "nh_event_clear": ("nh_status", ("nh_event *",)),
    "nh_cancel": ("nh_status", ("nh_ticket *",)),
    "nh_cancel_all": ("nh_status", ("nh_cache *", "const nh_options *")),
    "nh_ticket_set_priority": ("nh_status", ("nh_ticket *", "int64_t")),
    "nh_resubmit": ("nh_status", ("nh_cache *", "nh_ticket *", "nh_ticket **")),
    "nh_ticket_state": ("nh_status", ("nh_ticket *", "nh_ticket_status *")),
    "nh_ticket_release": ("nh_status", ("nh_ticket *",)),
    "nh_fd": ("int32_t", ("nh_cache *",)),
    "nh_poll": ("int32_t", ("nh_cache *", "nh_event *", "size_t", "size_t")),
    "nh_dispatch": ("int32_t", ("nh_cache *", "int64_t")),
    "nh_answer": ("nh_status", ("nh_ticket *", "const nh_reply *")),
    "nh_peek": ("nh_image *", ("nh_cache *", "const char *", "const nh_options *")),
    "nh_thumbnail_now": ("nh_image *", ("nh_cache *", "const char *", "const nh_options *")),
    "nh_peek_response": ("nh_status", ("nh_cache *", "const char *", "const nh_options *", "nh_response **")),
    "nh_get_now": ("nh_status", ("nh_cache *", "const char *", "const nh_options *", "nh_found *")),
    "nh_request_create": ("nh_status", ("const char *", "nh_request **")),
    "nh_request_set": ("nh_status", ("nh_request *", "const nh_options *")),
    "nh_request_add_header": ("nh_status", ("nh_request *", "const char *", "const char *")),
    "nh_request_free": ("nh_status", ("nh_request *",)),
    "nh_request_set_body": ("nh_status", ("nh_request *", "const void *", "size_t")),
    "nh_request_set_body_file": ("nh_status", ("nh_request *", "const char *")),
    "nh_request_add_part": ("nh_status", ("nh_request *", "const nh_part *")),
    "nh_request_add_field": ("nh_status", ("nh_request *", "const char *", "const char *")),
    "nh_request_save_to": ("nh_status", ("nh_request *", "const nh_sink *")),
    "nh_site_open": ("nh_status", ("nh_cache *", "const char *", "const nh_options *", "nh_site **")),
    "nh_site_get_options": ("nh_status", ("nh_site *", "nh_options *")),
    "nh_site_clear_cookies": ("nh_status", ("nh_site *",)),
    "nh_site_close": ("nh_status", ("nh_site *",)),
    "nh_site_reachable": ("nh_status", ("nh_site *", "nh_choice *")),
    "nh_site_watch": ("nh_status", ("nh_site *", "nh_callback", "void *")),
    "nh_outbox_next": ("nh_status", ("nh_cache *", "uint64_t", "nh_frozen **")),
    "nh_outbox_get": ("nh_status", ("nh_cache *", "uint64_t", "nh_frozen **")),
    "nh_outbox_response": ("nh_status", ("nh_cache *", "uint64_t", "nh_response **")),
    "nh_outbox_replay": ("int32_t", ("nh_cache *", "uint64_t")),
    "nh_outbox_drop": ("nh_status", ("nh_cache *", "uint64_t")),
    "nh_outbox_attach": ("nh_status", ("nh_cache *", "const char *", "nh_callback", "void *")),
    "nh_outbox_detach": ("nh_status", ("nh_cache *", "const char *")),
    "nh_outbox_ask": ("nh_status", ("nh_cache *", "const char *", "nh_callback", "void *")),
    "nh_outbox_provide": ("nh_status", ("nh_cache *", "const char *", "const char *")),
    "nh_frozen_get_info": ("nh_status", ("nh_frozen *", "nh_frozen_info *")),
    "nh_frozen_attempt_at": ("nh_status", ("nh_frozen *", "int32_t", "nh_frozen_attempt *")),
    "nh_frozen_release": ("nh_status", ("nh_frozen *",)),
    "nh_remove": ("nh_status", ("nh_cache *", "const char *", "const nh_options *")),
    "nh_clear": ("nh_status", ("nh_cache *",)),
    "nh_trim": ("nh_status", ("nh_cache *", "int64_t")),
    "nh_flush": ("nh_status", ("nh_cache *",)),
    "nh_stats": ("nh_status", ("nh_cache *", "nh_statistics *")),
    "nh_stats_json": ("int32_t", ("nh_cache *", "char *", "size_t")),
    "nh_is_held_up": ("int32_t", ("nh_cache *", "int64_t")),
    "nh_activity_watch": ("nh_status", ("nh_cache *", "nh_callback", "void *")),
    "nh_wait_idle": ("nh_status", ("nh_cache *", "int64_t")),
    "nh_queue_set": ("nh_status", ("const nh_options *",)),
    "nh_memory_pressure": ("nh_status", ("nh_pressure",)),
    "nh_log_set": ("nh_status", ("nh_log_level", "nh_log_callback", "void *")),
    "nh_log_dispatch": ("nh_status", ()),
    "nh_url_put": ("int32_t", ("const char *", "nh_url_form", "char *", "size_t")),
    "nh_header_is_secret": ("int32_t", ("const char *",)),
    "nh_option_next": ("nh_status", ("const char *", "nh_option *")),
}


def passed(kind: str) -> Any:
    """Returns the ctypes type of a C type; c_void_p for a pointer to an unknown type."""
    if kind in TYPES:
        return TYPES[kind]
    aimed = kind.replace("const ", "").rstrip(" *")
    if kind.endswith("**"):
        return ctypes.POINTER(ctypes.c_char_p if aimed == "char" else ctypes.c_void_p)
    known = globals().get(aimed) or TYPES.get(aimed)
    return ctypes.POINTER(known) if known else ctypes.c_void_p
