/* Made by `make header`; edit the sources that it names instead. From ErrorCode.swift. */
#ifndef NH_STATUS_H
#define NH_STATUS_H

/** The result of a call. The words are those of nh_status_name: the name in small letters, without NH_. */
typedef enum nh_status {
    /** Success. */
    NH_OK = 0,
    /** No byte came for timeout, or the request's deadline passed. */
    NH_TIMEOUT = 1,
    /** The host name has no address, or its name server doesn't answer. */
    NH_DNS = 2,
    /** No connection could be made: no server listens there, or the network has no route to it. */
    NH_REFUSED = 3,
    /** The connection broke before the answer was complete. */
    NH_RESET = 4,
    /** The TLS handshake or the check of the certificate failed. */
    NH_TLS = 5,
    /** The answer isn't a success, or the server broke the HTTP protocol. */
    NH_HTTP = 6,
    /** The answer or the picture has more bytes than max_bytes, or a compressed answer that is saved decodes to far too many bytes. */
    NH_TOO_LARGE = 7,
    /** The picture has more pixels than max_pixels, or decoding it needs more memory than there is: the message has the numbers. */
    NH_TOO_MANY_PIXELS = 8,
    /** The bytes are not a picture. The first bytes decide, also for an answer that is incomplete. */
    NH_NOT_AN_IMAGE = 9,
    /** A picture of a format that can't be decoded. */
    NH_UNSUPPORTED_FORMAT = 10,
    /** The picture is damaged. */
    NH_CORRUPT = 11,
    /** The answer or the picture ends too early. */
    NH_TRUNCATED = 12,
    /** The address guard refused the address; a file: URL isn't allowed; other users own or may write to a cache's directory. */
    NH_DENIED = 13,
    /** The URL can't be used; the message says at which byte. */
    NH_BAD_URL = 14,
    /** A method, or the name or value of a header, can't be sent. */
    NH_BAD_HEADER = 15,
    /** More redirects in a row than redirects allows. */
    NH_TOO_MANY_REDIRECTS = 16,
    /** The network must not be used, and the cache has no answer. */
    NH_OFFLINE = 17,
    /** The host failed too often in a row, and requests to it fail at once for a while. */
    NH_CIRCUIT_OPEN = 18,
    /** The request was cancelled. */
    NH_CANCELLED = 19,
    /** The cache was closed. */
    NH_CLOSED = 20,
    /** The handle belongs to the process that this one was forked from. */
    NH_FORKED = 21,
    /** The request is in the outbox and is sent later: its server can't be reached, others of its queue wait, or a secret is missing. */
    NH_FROZEN = 22,
    /** A secret can't be stored with a frozen request; it needs a named provider. */
    NH_SECRET_NEEDS_PROVIDER = 23,
    /** An argument is not valid: null, out of range, or a handle that is closed or of another kind. */
    NH_INVALID = 24,
    /** Other options are in force for the same directory. */
    NH_CONFLICT = 25,
    /** The disk is full. */
    NH_NO_SPACE = 26,
    /** A file or directory can't be read or written. */
    NH_IO = 27,
    /** There is not enough memory. */
    NH_OUT_OF_MEMORY = 28,
    /** A defect of Nuthatch itself; please report it with the message. */
    NH_INTERNAL = 29,
    /** The answer isn't in the format that the program asked for. */
    NH_WRONG_FORMAT = 30,
    /** Another process has held a lock of the directory for too long; it may be stopped. The message names it. */
    NH_BUSY = 31,
    /** A file isn't used because another user may have made or changed it. The message says which file, and why. */
    NH_UNSAFE_FILE = 32,
    /** The process that decodes the picture was killed, took too long, or can't be started. Another try may succeed. */
    NH_DECODER_FAILED = 33
} nh_status;

#endif
