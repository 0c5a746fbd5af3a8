// The blocks of a sequential JPEG, read faster than libjpeg-turbo reads them: code, run and value of most
// coefficients come from one table, and input comes eight bytes at a time.
//
// It knows sound data only. At the first group of blocks that it doesn't read to the end without a doubt,
// libjpeg's own function reads everything again up to there, and goes on: what becomes of damaged data, which
// pixels, which verdict, is libjpeg's word. It can begin again because it hasn't read anything before.
#include "jpeg_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <jpegint.h>

// So that the state of the reader stays in registers.
#define INLINE static inline __attribute__((always_inline))

enum {
    LOOK = 10,   // bits that are looked up at once
    AT_ONCE = 4, // looked up without looking whether there are bits: after a refill there are enough
    // In place of how far a meaning leads, or added to it: more than a block has.
    END_OF_BLOCK = 128,
    UNKNOWN = 255, // a code, or a code with its value, that is longer than LOOK bits; or has no value
};

// What the next LOOK bits say: up to two values with the zeros before them, and perhaps that the block ends then.
// From the lowest bit on, in bytes: how many bits it is; the zeros before the first value; how far behind it the
// second one is; how far all of it leads; and the values, of 16 bits each.
typedef uint64_t meaning;

typedef struct {
    meaning meanings[1 << LOOK];
    uint32_t ends[17];   // behind the last code of each length, its bits at the top of 16
    int32_t offsets[17]; // from a code to its symbol
    uint8_t symbols[256];
} huffman_table;

typedef struct {
    uint64_t bits; // the next bit is the highest
    int count;     // how many there are; below 0, more was read than there is
    const uint8_t *next;
    const uint8_t *end;
} bit_reader;

struct nhs_jpeg_huffman {
    bit_reader reader;
    int32_t means[MAX_COMPS_IN_SCAN]; // of the blocks before, by component
    size_t groups;                    // read so far
    size_t last_group;
    boolean (*own)(j_decompress_ptr, JBLOCKROW *); // libjpeg's
    const huffman_table *tables[2][NUM_HUFF_TBLS]; // for means, for details
    huffman_table *made[2][NUM_HUFF_TBLS];         // those that are this picture's own
};

static const uint8_t places[DCTSIZE2] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

// Tables

INLINE int extended(uint32_t bits, int size) {
    return (int)bits - (bits < (1u << size >> 1) ? (1 << size) - 1 : 0);
}

// The parts of a meaning.
INLINE int length_of(meaning found) { return (int)(found & 63); }
INLINE int way_of(meaning found) { return (int)(found >> 24 & 255); }

static meaning ending(int length, int way) { return (uint64_t)length | (uint64_t)way << 24; }

static meaning value(int length, int zeros, int value) {
    return ending(length, zeros + 1) | (uint64_t)zeros << 8 | 1 << 16 | (uint64_t)(uint16_t)value << 32;
}

static bool has_value(meaning found) { return found >> 32 != 0; }

static void note_code(meaning *first, int length, uint8_t symbol, bool is_dc) {
    int size = symbol & 15;
    int room = LOOK - length - size;
    if (size == 0 && (is_dc || symbol == 0)) {
        for (int i = 0; i < 1 << (LOOK - length); i++) {
            first[i] = ending(length, is_dc ? 0 : END_OF_BLOCK);
        }
        return;
    }
    if (size == 0 || room < 0) {
        return;
    }
    for (uint32_t bits = 0; bits < 1u << size; bits++) {
        meaning one = value(length + size, is_dc ? 0 : symbol >> 4, extended(bits, size));
        for (int i = 0; i < 1 << room; i++) {
            *first++ = one;
        }
    }
}

// Two values that LOOK bits hold become one meaning, and so does the end of the block behind them.
static void join(meaning *meanings) {
    meaning alone[1 << LOOK];
    memcpy(alone, meanings, sizeof alone);
    for (uint32_t i = 0; i < 1 << LOOK; i++) {
        if (!has_value(alone[i])) {
            continue;
        }
        meaning all = alone[i];
        for (int count = 1; count <= 2; count++) {
            meaning next = alone[i << length_of(all) & ((1 << LOOK) - 1)];
            int length = length_of(all) + length_of(next);
            if (way_of(next) == UNKNOWN || length > LOOK) {
                break;
            }
            if (way_of(next) == END_OF_BLOCK) {
                all += ending(length_of(next), END_OF_BLOCK);
                break;
            }
            if (count == 1) {
                uint64_t distance = (next >> 8 & 255) + 1;
                all = (all & ~((uint64_t)255 << 16)) | distance << 16 | next >> 32 << 48;
                all += ending(length_of(next), way_of(next));
            }
        }
        meanings[i] = all;
    }
}

// libjpeg has looked at them already: no code is too large for its length, and there are 256 symbols at most.
static bool make_table(huffman_table *table, const uint8_t *counts, const uint8_t *symbols, bool is_dc) {
    for (int i = 0; i < 1 << LOOK; i++) {
        table->meanings[i] = ending(0, UNKNOWN);
    }
    uint32_t code = 0;
    int known = 0;
    for (int length = 1; length <= 16; length++) {
        int count = counts[length];
        table->offsets[length] = known - (int32_t)code;
        if (known + count > 256 || code + (uint32_t)count > 1u << length) {
            return false;
        }
        memcpy(table->symbols + known, symbols + known, (size_t)count);
        for (int i = 0; i < count && length <= LOOK; i++) {
            note_code(table->meanings + ((code + (uint32_t)i) << (LOOK - length)), length, symbols[known + i],
                      is_dc);
        }
        known += count;
        code += (uint32_t)count;
        table->ends[length] = code << (16 - length);
        code <<= 1;
    }
    memset(table->symbols + known, 0, (size_t)(256 - known));
    if (!is_dc) {
        join(table->meanings);
    }
    return true;
}

// The tables of most pictures are those that the standard shows (ITU-T T.81, K.3), made once.

typedef struct {
    uint8_t counts[17];
    uint8_t symbols[162];
} usual_codes;

static const usual_codes usual[2][2] = {
    {
        {{0, 0, 1, 5, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {{0, 0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
    },
    {
        {{0, 0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
         {0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07,
          0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42, 0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0,
          0x24, 0x33, 0x62, 0x72, 0x82, 0x09, 0x0A, 0x16, 0x17, 0x18, 0x19, 0x1A, 0x25, 0x26, 0x27, 0x28,
          0x29, 0x2A, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49,
          0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69,
          0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89,
          0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7,
          0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3, 0xC4, 0xC5,
          0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA, 0xE1, 0xE2,
          0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8,
          0xF9, 0xFA}},
        {{0, 0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
         {0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71,
          0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1, 0xC1, 0x09, 0x23, 0x33, 0x52, 0xF0,
          0x15, 0x62, 0x72, 0xD1, 0x0A, 0x16, 0x24, 0x34, 0xE1, 0x25, 0xF1, 0x17, 0x18, 0x19, 0x1A, 0x26,
          0x27, 0x28, 0x29, 0x2A, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3A, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
          0x49, 0x4A, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
          0x69, 0x6A, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
          0x88, 0x89, 0x8A, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0xA2, 0xA3, 0xA4, 0xA5,
          0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8, 0xB9, 0xBA, 0xC2, 0xC3,
          0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8, 0xD9, 0xDA,
          0xE2, 0xE3, 0xE4, 0xE5, 0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8,
          0xF9, 0xFA}},
    },
};

static huffman_table usual_tables[2][2];
static pthread_once_t usual_once = PTHREAD_ONCE_INIT;

static void make_usual(void) {
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < 2; i++) {
            make_table(&usual_tables[kind][i], usual[kind][i].counts, usual[kind][i].symbols, kind == 0);
        }
    }
}

static const huffman_table *usual_table(const JHUFF_TBL *codes, int kind) {
    for (int i = 0; i < 2; i++) {
        if (memcmp(codes->bits + 1, usual[kind][i].counts + 1, 16) == 0 &&
            memcmp(codes->huffval, usual[kind][i].symbols, kind == 0 ? 12 : 162) == 0) {
            return &usual_tables[kind][i];
        }
    }
    return NULL;
}

// Bits

// Sees to it that there are 56 bits, or all that come before the next marker.
INLINE void refill(bit_reader *reader) {
    if (reader->end - reader->next >= 8) {
        uint64_t bytes;
        memcpy(&bytes, reader->next, 8);
        // Whether none of them is 0xFF.
        if ((((~bytes - 0x0101010101010101) & bytes) & 0x8080808080808080) == 0) {
            reader->bits |= __builtin_bswap64(bytes) >> reader->count;
            reader->next += (63 - reader->count) >> 3;
            reader->count |= 56;
            return;
        }
    }
    while (reader->count <= 55 && reader->next < reader->end) {
        uint8_t byte = *reader->next;
        if (byte == 0xFF) {
            if (reader->end - reader->next < 2 || reader->next[1] != 0) {
                return;
            }
            reader->next++;
        }
        reader->next++;
        reader->bits |= (uint64_t)byte << (56 - reader->count);
        reader->count += 8;
    }
}

INLINE uint32_t peek(const bit_reader *reader, int count) {
    return (uint32_t)(reader->bits >> (64 - count));
}

INLINE void drop(bit_reader *reader, int count) {
    reader->bits <<= count;
    reader->count -= count;
}

INLINE int take_value(bit_reader *reader, int size) {
    uint32_t bits = peek(reader, size);
    drop(reader, size);
    return extended(bits, size);
}

// -1 for bits that are no code.
INLINE int take_symbol(bit_reader *reader, const huffman_table *table) {
    uint32_t bits = peek(reader, 16);
    for (int length = 1; length <= 16; length++) {
        if (bits < table->ends[length]) {
            int place = table->offsets[length] + (int)(bits >> (16 - length));
            drop(reader, length);
            return place >= 0 && place < 256 ? table->symbols[place] : -1;
        }
    }
    return -1;
}

// Blocks

// The mean of a block, as its difference from the one before.
INLINE bool read_mean(bit_reader *reader, const huffman_table *table, int32_t *mean) {
    meaning found = table->meanings[peek(reader, LOOK)];
    if (way_of(found) != UNKNOWN) {
        drop(reader, length_of(found));
        *mean += (int16_t)(found >> 32);
    } else {
        int size = take_symbol(reader, table);
        if (size < 0 || size > 15) {
            return false;
        }
        if (size > 0) {
            *mean += take_value(reader, size);
        }
        if (reader->count < 0) {
            return false;
        }
        refill(reader);
    }
    return *mean == (JCOEF)*mean;
}

// One code with its value, whatever it is. Where the next one goes; below 0 for what only libjpeg may judge.
INLINE int read_detail(bit_reader *reader, const huffman_table *table, JCOEF *block, int k) {
    if (reader->count < 0) {
        return -1;
    }
    refill(reader);
    int symbol = take_symbol(reader, table);
    if (symbol == 0) {
        return DCTSIZE2;
    }
    int size = symbol & 15;
    k += symbol >> 4;
    // A code without a value ends the block for libjpeg, but sixteen zeros; no encoder writes one.
    if (symbol < 0 || k >= DCTSIZE2 || (size == 0 && symbol != 0xF0)) {
        return -1;
    }
    if (size > 0) {
        block[places[k]] = (JCOEF)take_value(reader, size);
    }
    return k + 1;
}

INLINE bool read_details(bit_reader *reader, const huffman_table *table, JCOEF *block) {
    int k = 1;
    while (true) {
        for (int i = 0; i < AT_ONCE; i++) {
            bit_reader before = *reader;
            meaning found = table->meanings[peek(reader, LOOK)];
            drop(reader, length_of(found));
            int first = k + (int)(found >> 8 & 255);
            int second = first + (int)(found >> 16 & 255);
            k += way_of(found);
            if (k >= DCTSIZE2) {
                if (k >= END_OF_BLOCK && k < END_OF_BLOCK + DCTSIZE2) {
                    if (has_value(found)) {
                        block[places[first]] = (JCOEF)(found >> 32);
                        block[places[second]] = (JCOEF)(found >> 48);
                    }
                    return true;
                }
                // What is rare, and the end of a block that is full.
                k -= way_of(found);
                *reader = before;
                k = read_detail(reader, table, block, k);
                if (k < 0 || k >= DCTSIZE2) {
                    return k == DCTSIZE2;
                }
                break;
            }
            // Where there is no second value, this writes the zero that is there.
            block[places[first]] = (JCOEF)(found >> 32);
            block[places[second]] = (JCOEF)(found >> 48);
        }
        if (reader->count < 0) {
            return false;
        }
        refill(reader);
    }
}

// Leaves libjpeg behind the last group as if it had read it; false where it might have read otherwise.
static bool end_scan(j_decompress_ptr codec, bit_reader *reader) {
    refill(reader);
    bool is_at_marker = reader->end - reader->next >= 2 && reader->next[0] == 0xFF && reader->next[1] != 0xFF;
    if (reader->count >= 8 || !is_at_marker) {
        return false;
    }
    codec->unread_marker = reader->next[1];
    codec->src->next_input_byte = reader->next + 2;
    codec->src->bytes_in_buffer = (size_t)(reader->end - reader->next) - 2;
    return true;
}

static bool read_group(j_decompress_ptr codec, nhs_jpeg_huffman *huffman, JBLOCKROW *blocks) {
    bit_reader reader = huffman->reader;
    JBLOCK details;
    for (int i = 0; i < codec->blocks_in_MCU; i++) {
        int place = codec->MCU_membership[i];
        const jpeg_component_info *component = codec->cur_comp_info[place];
        JCOEF *block = blocks[i][0];
        refill(&reader);
        int32_t mean = huffman->means[place];
        if (!read_mean(&reader, huffman->tables[0][component->dc_tbl_no], &mean)) {
            return false;
        }
        huffman->means[place] = mean;
        // libjpeg keeps no details where it makes one pixel of a block.
        JCOEF *kept = component->DCT_scaled_size > 1 ? block : details;
        if (!read_details(&reader, huffman->tables[1][component->ac_tbl_no], kept) || reader.count < 0) {
            return false;
        }
        block[0] = (JCOEF)mean;
    }
    if (++huffman->groups == huffman->last_group && !end_scan(codec, &reader)) {
        huffman->groups--;
        return false;
    }
    huffman->reader = reader;
    return true;
}

void nhs_jpeg_free_huffman(nhs_jpeg *j) {
    for (int i = 0; j->huffman && i < NUM_HUFF_TBLS; i++) {
        free(j->huffman->made[0][i]);
        free(j->huffman->made[1][i]);
    }
    free(j->huffman);
    j->huffman = NULL;
}

// libjpeg reads again what was read so far, and everything from then on.
static boolean hand_over(nhs_jpeg *j, JBLOCKROW *blocks) {
    j->decode_mcu = j->huffman->own;
    size_t groups = j->huffman->groups;
    nhs_jpeg_free_huffman(j);
    JBLOCK again[D_MAX_BLOCKS_IN_MCU];
    JBLOCKROW rows[D_MAX_BLOCKS_IN_MCU];
    for (int i = 0; i < D_MAX_BLOCKS_IN_MCU; i++) {
        rows[i] = &again[i];
    }
    for (size_t i = 0; i < groups; i++) {
        memset(again, 0, sizeof again);
        if (!j->decode_mcu(&j->codec, rows)) {
            return FALSE;
        }
    }
    for (int i = 0; i < j->codec.blocks_in_MCU; i++) {
        memset(blocks[i], 0, sizeof(JBLOCK));
    }
    return j->decode_mcu(&j->codec, blocks);
}

static boolean on_decode_mcu(j_decompress_ptr codec, JBLOCKROW *blocks) {
    nhs_jpeg *j = codec->client_data;
    if (read_group(codec, j->huffman, blocks)) {
        return TRUE;
    }
    return hand_over(j, blocks);
}

static bool has_table(nhs_jpeg *j, int kind, int number) {
    if (number < 0 || number >= NUM_HUFF_TBLS) {
        return false;
    }
    JHUFF_TBL *const *all = kind == 0 ? j->codec.dc_huff_tbl_ptrs : j->codec.ac_huff_tbl_ptrs;
    const JHUFF_TBL *codes = all[number];
    if (j->huffman->tables[kind][number] || !codes) {
        return codes;
    }
    const huffman_table *known = usual_table(codes, kind);
    if (!known) {
        huffman_table *made = malloc(sizeof *made);
        j->huffman->made[kind][number] = made;
        if (!made || !make_table(made, codes->bits, codes->huffval, kind == 0)) {
            return false;
        }
        known = made;
    }
    j->huffman->tables[kind][number] = known;
    return true;
}

void nhs_jpeg_read_fast(nhs_jpeg *j) {
    const struct jpeg_decompress_struct *codec = &j->codec;
    // Only with all of the input there can libjpeg begin again. What is small isn't worth the tables.
    if (codec->src->bytes_in_buffer < 2048 || !j->has_ended || j->hit_end || j->is_buffered ||
        codec->arith_code || codec->progressive_mode || codec->restart_interval != 0 ||
        codec->data_precision != 8) {
        return;
    }
    j->huffman = calloc(1, sizeof *j->huffman);
    if (!j->huffman) {
        return; // libjpeg needs no more memory
    }
    pthread_once(&usual_once, make_usual);
    for (int i = 0; i < codec->comps_in_scan; i++) {
        const jpeg_component_info *component = codec->cur_comp_info[i];
        if (!has_table(j, 0, component->dc_tbl_no) || !has_table(j, 1, component->ac_tbl_no)) {
            return nhs_jpeg_free_huffman(j);
        }
    }
    j->huffman->reader.next = codec->src->next_input_byte;
    j->huffman->reader.end = codec->src->next_input_byte + codec->src->bytes_in_buffer;
    j->huffman->last_group = (size_t)codec->MCUs_per_row * codec->MCU_rows_in_scan;
    j->huffman->own = j->decode_mcu;
    j->decode_mcu = on_decode_mcu;
}
