"""The C ABI for ctypes. Made by `make header`; edit the sources that it names instead."""

import ctypes
from typing import Any, Dict, List, Tuple

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
}

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

# nh_source
SOURCE_NONE = 0
SOURCE_MEMORY = 1
SOURCE_DISK = 2
SOURCE_REVALIDATED = 3
SOURCE_NETWORK = 4

# nh_mode
MODE_FIT = 0
MODE_FILL = 1
MODE_EXACT = 2

# nh_quality
QUALITY_BEST = 0
QUALITY_FAST = 1

# nh_format
FORMAT_PNG = 1
FORMAT_JPEG = 2


class nh_options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("timeout_ms", ctypes.c_int64),
        ("deadline_ms", ctypes.c_int64),
        ("max_bytes", ctypes.c_int64),
        ("user_agent", ctypes.c_char_p),
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
    ]


class nh_image_options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("mode", ctypes.c_uint32),
        ("quality", ctypes.c_uint32),
        ("enlarge", ctypes.c_int32),
        ("allow_truncated", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
        ("max_pixels", ctypes.c_int64),
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
    ]


class nh_event(ctypes.Structure):
    _fields_ = [
        ("ticket", ctypes.c_void_p),
        ("user_data", ctypes.c_void_p),
        ("kind", ctypes.c_uint32),
        ("is_final", ctypes.c_int32),
        ("is_in_cache", ctypes.c_int32),
        ("source", ctypes.c_uint32),
        ("code", ctypes.c_uint32),
        ("http_status", ctypes.c_int32),
        ("bytes_done", ctypes.c_int64),
        ("bytes_total", ctypes.c_int64),
        ("message", ctypes.c_void_p),
        ("response", ctypes.c_void_p),
    ]


# name: (result, arguments), as ctypes wants them.
FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "nh_version": (
        ctypes.c_char_p,
        [],
    ),
    "nh_abi_version": (
        ctypes.c_uint32,
        [],
    ),
    "nh_status_name": (
        ctypes.c_char_p,
        [
            ctypes.c_uint32,
        ],
    ),
    "nh_error_message": (
        ctypes.c_char_p,
        [],
    ),
    "nh_open": (
        ctypes.c_uint32,
        [
            ctypes.c_char_p,
            ctypes.POINTER(nh_options),
            ctypes.POINTER(ctypes.c_void_p),
        ],
    ),
    "nh_close": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
        ],
    ),
    "nh_request_new": (
        ctypes.c_uint32,
        [
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_void_p),
        ],
    ),
    "nh_request_set_method": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
        ],
    ),
    "nh_request_add_header": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_char_p,
        ],
    ),
    "nh_request_set_body": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
        ],
    ),
    "nh_request_set_user": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_char_p,
        ],
    ),
    "nh_request_set_timeout": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
        ],
    ),
    "nh_request_set_deadline": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
        ],
    ),
    "nh_request_set_max_bytes": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
        ],
    ),
    "nh_request_set_user_data": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
    ),
    "nh_request_release": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
        ],
    ),
    "nh_get": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_void_p),
        ],
    ),
    "nh_perform": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_void_p),
        ],
    ),
    "nh_submit": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_void_p),
        ],
    ),
    "nh_wait": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_int64,
            ctypes.POINTER(nh_event),
            ctypes.c_size_t,
        ],
    ),
    "nh_event_clear": (
        ctypes.c_uint32,
        [
            ctypes.POINTER(nh_event),
        ],
    ),
    "nh_cancel": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
        ],
    ),
    "nh_ticket_state": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_uint32),
        ],
    ),
    "nh_ticket_release": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
        ],
    ),
    "nh_response_get_info": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(nh_response_info),
        ],
    ),
    "nh_response_header": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_char_p),
        ],
    ),
    "nh_response_header_at": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_char_p),
            ctypes.POINTER(ctypes.c_char_p),
        ],
    ),
    "nh_response_release": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
        ],
    ),
    "nh_thumbnail": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_void_p),
        ],
    ),
    "nh_response_image": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(nh_image_options),
            ctypes.POINTER(ctypes.c_void_p),
        ],
    ),
    "nh_image_get_info": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.POINTER(nh_image_info),
        ],
    ),
    "nh_image_encode": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
            ctypes.c_uint32,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_void_p),
            ctypes.POINTER(ctypes.c_size_t),
        ],
    ),
    "nh_image_release": (
        ctypes.c_uint32,
        [
            ctypes.c_void_p,
        ],
    ),
}

# name: the C types of result and arguments, for those who check the functions one by one.
SIGNATURES: Dict[str, Tuple[str, List[str]]] = {
    "nh_version": (
        "const char *",
        [],
    ),
    "nh_abi_version": (
        "uint32_t",
        [],
    ),
    "nh_status_name": (
        "const char *",
        [
            "nh_status",
        ],
    ),
    "nh_error_message": (
        "const char *",
        [],
    ),
    "nh_open": (
        "nh_status",
        [
            "const char *",
            "const nh_options *",
            "nh_cache **",
        ],
    ),
    "nh_close": (
        "nh_status",
        [
            "nh_cache *",
        ],
    ),
    "nh_request_new": (
        "nh_status",
        [
            "const char *",
            "nh_request **",
        ],
    ),
    "nh_request_set_method": (
        "nh_status",
        [
            "nh_request *",
            "const char *",
        ],
    ),
    "nh_request_add_header": (
        "nh_status",
        [
            "nh_request *",
            "const char *",
            "const char *",
        ],
    ),
    "nh_request_set_body": (
        "nh_status",
        [
            "nh_request *",
            "const void *",
            "size_t",
        ],
    ),
    "nh_request_set_user": (
        "nh_status",
        [
            "nh_request *",
            "const char *",
            "const char *",
        ],
    ),
    "nh_request_set_timeout": (
        "nh_status",
        [
            "nh_request *",
            "int64_t",
        ],
    ),
    "nh_request_set_deadline": (
        "nh_status",
        [
            "nh_request *",
            "int64_t",
        ],
    ),
    "nh_request_set_max_bytes": (
        "nh_status",
        [
            "nh_request *",
            "int64_t",
        ],
    ),
    "nh_request_set_user_data": (
        "nh_status",
        [
            "nh_request *",
            "void *",
        ],
    ),
    "nh_request_release": (
        "nh_status",
        [
            "nh_request *",
        ],
    ),
    "nh_get": (
        "nh_status",
        [
            "nh_cache *",
            "const char *",
            "nh_response **",
        ],
    ),
    "nh_perform": (
        "nh_status",
        [
            "nh_cache *",
            "nh_request *",
            "nh_response **",
        ],
    ),
    "nh_submit": (
        "nh_status",
        [
            "nh_cache *",
            "nh_request *",
            "nh_ticket **",
        ],
    ),
    "nh_wait": (
        "nh_status",
        [
            "nh_ticket *",
            "int64_t",
            "nh_event *",
            "size_t",
        ],
    ),
    "nh_event_clear": (
        "nh_status",
        [
            "nh_event *",
        ],
    ),
    "nh_cancel": (
        "nh_status",
        [
            "nh_ticket *",
        ],
    ),
    "nh_ticket_state": (
        "nh_status",
        [
            "nh_ticket *",
            "nh_ticket_status *",
        ],
    ),
    "nh_ticket_release": (
        "nh_status",
        [
            "nh_ticket *",
        ],
    ),
    "nh_response_get_info": (
        "nh_status",
        [
            "nh_response *",
            "nh_response_info *",
        ],
    ),
    "nh_response_header": (
        "nh_status",
        [
            "nh_response *",
            "const char *",
            "const char **",
        ],
    ),
    "nh_response_header_at": (
        "nh_status",
        [
            "nh_response *",
            "int32_t",
            "const char **",
            "const char **",
        ],
    ),
    "nh_response_release": (
        "nh_status",
        [
            "nh_response *",
        ],
    ),
    "nh_thumbnail": (
        "nh_status",
        [
            "nh_cache *",
            "const char *",
            "int32_t",
            "nh_image **",
        ],
    ),
    "nh_response_image": (
        "nh_status",
        [
            "nh_response *",
            "const nh_image_options *",
            "nh_image **",
        ],
    ),
    "nh_image_get_info": (
        "nh_status",
        [
            "nh_image *",
            "nh_image_info *",
        ],
    ),
    "nh_image_encode": (
        "nh_status",
        [
            "nh_image *",
            "nh_format",
            "int32_t",
            "const void **",
            "size_t *",
        ],
    ),
    "nh_image_release": (
        "nh_status",
        [
            "nh_image *",
        ],
    ),
}


def declare(library: ctypes.CDLL) -> None:
    """Tells ctypes what every function takes and gives."""
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
