#ifndef NH_TABLE_H
#define NH_TABLE_H

#include <stddef.h>
#include <stdint.h>

/** What an option is, in nh_options: a number of milliseconds, of bytes, of things; a share (0 to 1) or a rate, which are doubles; an
 *  nh_choice; an enumeration; texts; lists; and what only programs in C have. */
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
    /** A text that is shown and written nowhere. */
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

/** Where an option may be said. The numbers are bits. */
typedef enum nh_option_level {
    NH_LEVEL_CACHE = 1,
    NH_LEVEL_SITE = 2,
    NH_LEVEL_REQUEST = 4,
    NH_LEVEL_IMAGE = 8,
    NH_LEVEL_PROCESS = 16
} nh_option_level;

/** What an option has a part in. The numbers are bits. */
typedef enum nh_option_reach {
    /** Which stored answer is given, and whether it is. */
    NH_REACHES_HIT = 1,
    /** Which requests share one transfer. */
    NH_REACHES_FETCH = 2,
    /** What an answer is kept under. */
    NH_REACHES_NAME = 4,
    /** What is frozen with a request in the outbox. */
    NH_REACHES_OUTBOX = 8
} nh_option_reach;

/** An option of nh_options. Set struct_size before the call. Texts live as long as the process, and are empty where there is nothing
 *  to say. */
typedef struct nh_option {
    uint32_t struct_size;
    nh_option_kind kind;
    /** Its name in every face; in nh_options durations have _ms behind it. */
    const char *name;
    /** One line, and more. */
    const char *help;
    const char *doc;
    /** What holds where nobody says it, in words. */
    const char *by_default;
    /** What a number may be, in words, and its bounds: milliseconds of a duration. 0 and 0 where there are none. */
    const char *range;
    double least;
    double greatest;
    /** What NH_NONE or NH_OFF means: "unlimited", "zero", "off"; empty where it is refused. */
    const char *none;
    /** What an empty text means; empty where it is refused. */
    const char *empty;
    /** The words of an enumeration, with commas between them: their numbers begin with 1. */
    const char *words;
    /** The version that brought it. */
    const char *since;
    /** Bits of nh_option_level, and of nh_option_reach. */
    uint32_t levels;
    uint32_t reaches;
    /** Where its (first) member is in nh_options. */
    size_t offset;
} nh_option;

#endif
