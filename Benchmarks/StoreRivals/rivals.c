/* A file for each entry, LMDB and SQLite. Each uses its fastest mode that survives SIGKILL, but not power loss. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <lmdb.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { rounds = 5, draws = 20000 };
static char payload[64 << 10], folder[4096], path[5000], other[5000];
static uint64_t sum;

static void check(int fault, const char *what) {
    if (fault) {
        fprintf(stderr, "%s: %d\n", what, fault);
        exit(1);
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void say(const char *name, size_t size, const char *what, double *times, int count) {
    char text[100];
    qsort(times, count, sizeof *times, by_size);
    snprintf(text, sizeof text, "%s, %zu KiB, %s", name, size >> 10, what);
    printf("  %-58s%.2f µs  [%.2f–%.2f]\n", text, times[count / 2] / 1e3, times[0] / 1e3, times[count - 1] / 1e3);
    fflush(stdout);
}

/* Draws from `count` numbers by Zipf's law: the k-th comes 1/k as often as the first. */
static int *zipf(int count) {
    int *drawn = malloc(draws * sizeof *drawn);
    double *sums = malloc(count * sizeof *sums), all = 0;
    for (int i = 0; i < count; i++) sums[i] = all += 1.0 / (i + 1);
    srand48(1);
    for (int i = 0; i < draws; i++) {
        double wanted = drand48() * all;
        int low = 0, high = count - 1;
        while (low < high) {
            int middle = (low + high) / 2;
            if (sums[middle] < wanted) low = middle + 1;
            else high = middle;
        }
        drawn[i] = (int)((uint64_t)low * 7919 % (uint64_t)count);
    }
    free(sums);
    return drawn;
}

typedef void store(int number, size_t size);
typedef void find(int number, size_t size);

static void measure(const char *name, size_t size, int count, const int *drawn, store *keep, find *look) {
    double kept[rounds], found[rounds];
    for (int round = 0; round < rounds; round++) {
        double begin = now();
        for (int i = 0; i < count / rounds; i++) keep(round * (count / rounds) + i, size);
        kept[round] = (now() - begin) / (count / rounds);
    }
    for (int round = -1; round < rounds; round++) {
        double begin = now();
        for (int i = 0; i < draws; i++) look(drawn[i], size);
        if (round >= 0) found[round] = (now() - begin) / draws;
    }
    say(name, size, "found", found, rounds);
    say(name, size, "kept", kept, rounds);
}

static void keep_file(int number, size_t size) {
    snprintf(other, sizeof other, "%s/temporary", folder);
    snprintf(path, sizeof path, "%s/%d", folder, number);
    int fd = open(other, O_CREAT | O_WRONLY | O_EXCL, 0600);
    check(fd < 0 || write(fd, payload, size) != (ssize_t)size, "write");
    close(fd);
    check(rename(other, path), "rename");
}

static void find_file(int number, size_t size) {
    struct stat status;
    snprintf(path, sizeof path, "%s/%d", folder, number);
    int fd = open(path, O_RDONLY);
    check(fd < 0 || fstat(fd, &status) || status.st_size != (off_t)size, "open");
    char *base = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    sum += base[0];
    close(fd);
    munmap(base, size);
}

static MDB_env *environment;
static MDB_dbi table;
static MDB_txn *reader;

static void keep_lmdb(int number, size_t size) {
    MDB_txn *transaction;
    MDB_val key = {sizeof number, &number}, value = {size, payload};
    check(mdb_txn_begin(environment, NULL, 0, &transaction), "mdb_txn_begin");
    check(mdb_put(transaction, table, &key, &value, 0), "mdb_put");
    check(mdb_txn_commit(transaction), "mdb_txn_commit");
}

static void find_lmdb(int number, size_t size) {
    MDB_val key = {sizeof number, &number}, value;
    /* A transaction for each value, because a value is valid only during its transaction. */
    if (reader) check(mdb_txn_renew(reader), "mdb_txn_renew");
    else check(mdb_txn_begin(environment, NULL, MDB_RDONLY, &reader), "mdb_txn_begin");
    check(mdb_get(reader, table, &key, &value) || value.mv_size != size, "mdb_get");
    sum += *(char *)value.mv_data;
    mdb_txn_reset(reader);
}

static sqlite3 *database;
static sqlite3_stmt *insertion, *selection;

static void keep_sqlite(int number, size_t size) {
    sqlite3_bind_int(insertion, 1, number);
    sqlite3_bind_blob(insertion, 2, payload, (int)size, SQLITE_STATIC);
    check(sqlite3_step(insertion) != SQLITE_DONE, "insert");
    sqlite3_reset(insertion);
}

static void find_sqlite(int number, size_t size) {
    sqlite3_bind_int(selection, 1, number);
    check(sqlite3_step(selection) != SQLITE_ROW || sqlite3_column_bytes(selection, 0) != (int)size, "select");
    sum += *(const char *)sqlite3_column_blob(selection, 0);
    sqlite3_reset(selection);
}

int main(int argc, char **argv) {
    static const struct {
        size_t size;
        int count;
    } sets[] = {{1 << 10, 10000}, {16 << 10, 10000}, {64 << 10, 4000}};
    if (argc != 2) return 2;
    memset(payload, 7, sizeof payload);
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++) {
        size_t size = sets[set].size;
        int count = sets[set].count, *drawn = zipf(count);

        snprintf(folder, sizeof folder, "%s/files-%zu", argv[1], size);
        check(mkdir(folder, 0700), "mkdir");
        measure("a file for each", size, count, drawn, keep_file, find_file);

        snprintf(path, sizeof path, "%s/lmdb-%zu", argv[1], size);
        check(mkdir(path, 0700), "mkdir");
        check(mdb_env_create(&environment), "mdb_env_create");
        mdb_env_set_mapsize(environment, (size_t)4 << 30);
        check(mdb_env_open(environment, path, MDB_NOSYNC, 0600), "mdb_env_open");
        MDB_txn *transaction;
        check(mdb_txn_begin(environment, NULL, 0, &transaction), "mdb_txn_begin");
        check(mdb_dbi_open(transaction, NULL, MDB_INTEGERKEY | MDB_CREATE, &table), "mdb_dbi_open");
        check(mdb_txn_commit(transaction), "mdb_txn_commit");
        measure("LMDB", size, count, drawn, keep_lmdb, find_lmdb);
        mdb_txn_abort(reader);
        reader = NULL;
        mdb_env_close(environment);

        snprintf(path, sizeof path, "%s/sqlite-%zu", argv[1], size);
        check(sqlite3_open(path, &database), "sqlite3_open");
        check(sqlite3_exec(database,
                           "pragma journal_mode = wal; pragma synchronous = off; pragma mmap_size = 4294967296;"
                           "create table records (key integer primary key, value blob)",
                           NULL, NULL, NULL),
              "create table");
        sqlite3_prepare_v2(database, "insert into records values (?, ?)", -1, &insertion, NULL);
        sqlite3_prepare_v2(database, "select value from records where key = ?", -1, &selection, NULL);
        measure("SQLite", size, count, drawn, keep_sqlite, find_sqlite);
        sqlite3_finalize(insertion);
        sqlite3_finalize(selection);
        sqlite3_close(database);
        free(drawn);
    }
    return sum == 0;
}
