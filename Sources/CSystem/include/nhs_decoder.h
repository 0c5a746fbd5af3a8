/* The process that decodes pictures for another: its start, its end, its messages and its sandbox. */
#ifndef NHS_DECODER_H
#define NHS_DECODER_H

#include <stddef.h>
#include <stdint.h>

/* --- Messages. The process that asks takes the other for hostile after it has seen a picture: it trusts no value of a reply. */

enum { NHS_DECODER_MAGIC = 0x6e686431, NHS_DECODER_MOST_PICTURES = 64, NHS_DECODER_MOST_LANES = 16 };
enum { NHS_DECODER_NAME_BYTES = 32, NHS_DECODER_MESSAGE_BYTES = 320 };

/* Libraries that the process has loaded. */
enum { NHS_DECODER_SVG = 1, NHS_DECODER_HEIC = 2 };

enum {
    NHS_DECODER_ALLOWS_DAMAGE = 1,
    NHS_DECODER_STOPS_EARLY = 2,
    NHS_DECODER_CONVERTS_COLORS = 4,
    /* The message comes with the descriptor of new memory. */
    NHS_DECODER_NEW_MEMORY = 8
};

/* A picture to make: a part of the source, and its size. */
typedef struct nhs_decoder_plan {
    double x, y, width, height;
    int32_t target_width, target_height;
    int32_t denominator, unused;
} nhs_decoder_plan;

/* The source is at the beginning of the shared memory. The pictures go to `output`, one behind the other. */
typedef struct nhs_decoder_request {
    uint32_t magic, flags;
    uint64_t number;
    uint64_t memory_bytes, input_bytes, output, output_bytes;
    int64_t pixels, side, bytes, memory, scans, scan_blocks;
    uint32_t plan_count, unused;
    nhs_decoder_plan plans[NHS_DECODER_MOST_PICTURES];
} nhs_decoder_request;

enum { NHS_DECODER_STOPPED_EARLY = 1, NHS_DECODER_IS_PARTIAL = 2 };

/* A fault; kind 0 is none. The texts end with a NUL. */
typedef struct nhs_decoder_fault {
    int32_t kind, unused;
    int64_t offset;
    char name[NHS_DECODER_NAME_BYTES];
    char message[NHS_DECODER_MESSAGE_BYTES];
} nhs_decoder_fault;

typedef struct nhs_decoder_reply {
    uint32_t magic, flags;
    uint64_t number;
    /* Bit i: picture i has no transparent pixel. */
    uint64_t opaque;
    int64_t bytes_used, scans_used, warning_count;
    int32_t denominator, unused;
    /* Without pictures if it has a kind; with IS_PARTIAL it says what is damaged. */
    nhs_decoder_fault fault;
} nhs_decoder_reply;

/* The first message of the process: it is in its sandbox. */
typedef struct nhs_decoder_hello {
    uint32_t magic, libraries;
} nhs_decoder_hello;

/* --- The process that asks. */

typedef struct nhs_decoder_process {
    /* Of the guard, the process whose child decodes. */
    int pidfd;
    /* Says how the decoder ended; its end of file ends the decoder. */
    int control;
    int lane_count;
    int lanes[NHS_DECODER_MOST_LANES];
} nhs_decoder_process;

/*
 * Starts `program` with `lane_count` lanes, and two decimal numbers as arguments: the libraries to load, and the bytes of memory
 * that its pictures may take. It isn't a child of this process: no signal tells its end, and no wait finds it.
 * Returns 0, or an error number.
 */
int nhs_decoder_start(
    const char *program, const char *libraries, const char *memory, char *const *environment, int lane_count,
    nhs_decoder_process *process);
/* Kills both processes, without waiting. */
void nhs_decoder_kill(const nhs_decoder_process *process);
/* Returns the wait status of the decoder if the guard tells it within the time, else -1. */
int nhs_decoder_status(const nhs_decoder_process *process, int milliseconds);
void nhs_decoder_close(nhs_decoder_process *process);

/* Returns the path of the program for the library that this function is in. Returns 0 if there is none. */
int nhs_decoder_find(char *path, size_t size);

/* Memory of `bytes` that can't shrink or grow. -1 and errno on failure. */
int nhs_decoder_memory(size_t bytes);
/* Maps shared memory. NULL on failure. */
void *nhs_decoder_map(int memory, size_t bytes);
void nhs_decoder_unmap(void *base, size_t bytes);

/* Sends a message, with a descriptor if `memory` isn't -1. Never raises SIGPIPE. Returns 0, or an error number. */
int nhs_decoder_send(int lane, const void *message, size_t bytes, int memory);
/*
 * Receives a message of exactly this size until `deadline_ns` of CLOCK_MONOTONIC. `memory` NULL: refuses descriptors. Returns
 * 0; ETIMEDOUT; ECONNRESET at the end of file; EBADMSG for a message of another form.
 */
int nhs_decoder_receive(int lane, void *message, size_t bytes, int *memory, int64_t deadline_ns);

/* --- The process that decodes. */

/*
 * Becomes the guard, and returns only in its child, which decodes. The guard tells how the child ended, and kills it when the
 * process that asked for it has ended.
 */
void nhs_decoder_guard(void);
/* The lane with this place, or -1 behind the last. */
int nhs_decoder_lane(int place);
/*
 * Gives up all rights but to read fonts, for threads that start later, too. All pictures together may take `memory` bytes.
 * Returns 0; -1 if that isn't possible.
 */
int nhs_decoder_enter_sandbox(int lane_count, uint64_t memory);

#endif
