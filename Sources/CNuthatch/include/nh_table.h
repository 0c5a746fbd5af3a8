#ifndef NH_TABLE_H
#define NH_TABLE_H

#include <stddef.h>
#include <stdint.h>

/** The type of an option in nh_options. DURATION is a number of milliseconds, BYTES and COUNT are other numbers. SHARE (0 to 1) and
 *  RATE are doubles. FLAG is an nh_choice, WORDS an enumeration. The others are texts and lists; POINTER, FUNCTION and HANDLE exist
 *  only in C. */
typedef enum nh_option_kind {
    NH_OPTION_DURATION = 1,
    NH_OPTION_BYTES = 2,
    NH_OPTION_COUNT = 3,
    NH_OPTION_SHARE = 4,
    NH_OPTION_RATE = 5,
    NH_OPTION_FLAG = 6,
    NH_OPTION_WORDS = 7,
    NH_OPTION_TEXT = 8,
    NH_OPTION_PATH = 9,
    /** A text that is never shown or written. */
    NH_OPTION_SECRET = 10,
    NH_OPTION_HEADERS = 11,
    NH_OPTION_NAMES = 12,
    NH_OPTION_SIZES = 13,
    NH_OPTION_SECRETS = 14,
    NH_OPTION_QUESTIONS = 15,
    NH_OPTION_POINTER = 16,
    NH_OPTION_FUNCTION = 17,
    NH_OPTION_HANDLE = 18
} nh_option_kind;

/** The levels at which an option can be set. The numbers are bits. */
typedef enum nh_option_level {
    NH_LEVEL_CACHE = 1,
    NH_LEVEL_SITE = 2,
    NH_LEVEL_REQUEST = 4,
    NH_LEVEL_IMAGE = 8,
    NH_LEVEL_PROCESS = 16
} nh_option_level;

/** What an option affects. The numbers are bits. */
typedef enum nh_option_reach {
    /** Which stored answer a request gets, if any. */
    NH_REACHES_HIT = 1,
    /** Which requests share one transfer. */
    NH_REACHES_FETCH = 2,
    /** The cache key of an answer. */
    NH_REACHES_NAME = 4,
    /** What the outbox stores of a request. */
    NH_REACHES_OUTBOX = 8
} nh_option_reach;

/** An option of nh_options. Set struct_size before the call. Texts are valid as long as the process, and empty if the option has none. */
typedef struct nh_option {
    uint32_t struct_size;
    nh_option_kind kind;
    /** Its name in all interfaces; the members of nh_options for durations end in _ms. */
    const char *name;
    /** One line of help, and the details. */
    const char *help;
    const char *doc;
    /** The value if no level sets the option, in words. */
    const char *by_default;
    /** The range of a number, in words, and its bounds; for durations in milliseconds. 0 and 0 without a range. */
    const char *range;
    double least;
    double greatest;
    /** The meaning of NH_NONE or NH_OFF: "unlimited", "zero", "off"; empty if the option refuses it. */
    const char *none;
    /** The meaning of an empty text; empty if the option refuses it. */
    const char *empty;
    /** The words of an enumeration, separated by commas: their numbers begin with 1. */
    const char *words;
    /** The first version that has it. */
    const char *since;
    /** Bits of nh_option_level, and of nh_option_reach. */
    uint32_t levels;
    uint32_t reaches;
    /** The offset of its (first) member in nh_options. */
    size_t offset;
} nh_option;

#endif
