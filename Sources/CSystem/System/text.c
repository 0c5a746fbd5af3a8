#include "nhs_text.h"

#include <errno.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes after `length`. */
static int make_room(char **text, size_t *capacity, size_t length, size_t more) {
    if (*capacity - length >= more) return 1;
    size_t wanted = *capacity;
    while (wanted - length < more) {
        if (wanted > (size_t)-1 / 2) return 0;
        wanted *= 2;
    }
    char *longer = realloc(*text, wanted);
    if (longer == NULL) return 0;
    *text = longer;
    *capacity = wanted;
    return 1;
}

char *nhs_text_to_utf8(const char *charset, const void *bytes, size_t count, size_t *length) {
    iconv_t decoder = iconv_open("UTF-8", charset);
    if (decoder == (iconv_t)-1) return NULL;
    size_t capacity = count + 64, done = 0;
    char *text = capacity > count ? malloc(capacity) : NULL;
    char *from = (char *)(size_t)bytes; /* iconv only reads it */
    size_t left = count;
    int is_whole = 0;
    while (text != NULL && !is_whole) {
        char *to = text + done;
        size_t room = capacity - done;
        /* At the end, stateful charsets may emit more bytes. */
        int is_end = left == 0;
        size_t result = iconv(decoder, is_end ? NULL : &from, is_end ? NULL : &left, &to, &room);
        int reason = result == (size_t)-1 ? errno : 0;
        done = (size_t)(to - text);
        if (reason == 0) {
            is_whole = is_end;
        } else if (reason == E2BIG) {
            if (!make_room(&text, &capacity, done, capacity - done + 256)) break;
        } else {
            /* An invalid byte, or a character that is cut off at the end. */
            if (!make_room(&text, &capacity, done, 64)) break;
            memcpy(text + done, "\xef\xbf\xbd", 3);
            done += 3;
            from += 1;
            left = reason == EINVAL ? 0 : left - 1;
        }
    }
    iconv_close(decoder);
    if (text != NULL && !is_whole) {
        free(text);
        return NULL;
    }
    *length = done;
    return text;
}
