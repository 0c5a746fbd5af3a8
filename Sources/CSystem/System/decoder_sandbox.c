#define _GNU_SOURCE
#include "nhs_decoder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifndef __has_feature
#define __has_feature(name) 0
#endif

/* --- Limits */

/* A lower limit of this process stays: most users can't raise one. */
static int limit(int what, rlim_t most) {
    struct rlimit both;
    if (getrlimit((__rlimit_resource_t)what, &both) != 0) return -1;
    if (both.rlim_max > most) both.rlim_max = most;
    both.rlim_cur = both.rlim_max;
    return setrlimit((__rlimit_resource_t)what, &both);
}

/* Returns the bytes of private memory that this process can write to. */
static rlim_t private_bytes(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    int found = file != NULL ? fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) : 0;
    if (file != NULL) fclose(file);
    /* More than the libraries of all formats have. */
    return found == 1 ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : (rlim_t)256 << 20;
}

static int set_limits(int lane_count, uint64_t memory) {
    /* Addresses, not memory in use: libraries, stacks, and for each picture its source, its pixels and the decoder's memory. */
    rlim_t addresses = ((rlim_t)2 << 30) + (rlim_t)lane_count * ((rlim_t)768 << 20);
    /* The threads that start later have stacks. */
    rlim_t private = private_bytes() + (rlim_t)memory + (rlim_t)(lane_count + 2) * ((rlim_t)8 << 20);
    mallopt(M_ARENA_MAX, lane_count);
    /* The sanitizers' own memory takes terabytes of addresses. */
    if (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)) addresses = private = RLIM_INFINITY;
    return limit(RLIMIT_AS, addresses) || limit(RLIMIT_DATA, private) || limit(RLIMIT_CORE, 0) || limit(RLIMIT_FSIZE, 0) ||
        limit(RLIMIT_NOFILE, 128) ||
        /* The process that asks replaces this one long before. */
        limit(RLIMIT_CPU, 24 * 3600);
}

/* --- Files: Landlock */

enum { can_read_file = 1 << 2, can_read_folder = 1 << 3 };

typedef struct rules {
    uint64_t files, network, scopes;
} rules;

static void allow_reading(int set, const char *folder) {
    struct landlock_path_beneath_attr rule = {.allowed_access = can_read_file | can_read_folder};
    rule.parent_fd = open(folder, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) return;
    (void)syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

static void allow_reading_of_user(int set, const char *variable, const char *folder) {
    char path[PATH_MAX];
    const char *base = getenv(variable);
    if (base == NULL || base[0] != '/') return;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", base, folder) < sizeof path) allow_reading(set, path);
}

/* Does nothing where the kernel has no Landlock. Then the filter of system calls forbids writing, and all that needs a network. */
static int leave_only_fonts(void) {
    static const char *const folders[] = {
        "/etc/fonts", "/usr/share/fonts", "/usr/local/share/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig"};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return 0;
    rules all = {.files = (1 << 13) - 1};
    if (version >= 2) all.files |= 1 << 13;
    if (version >= 3) all.files |= 1 << 14;
    if (version >= 4) all.network = 3;
    if (version >= 5) all.files |= 1 << 15;
    if (version >= 6) all.scopes = 3;
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int set = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
    if (set < 0) return -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) allow_reading(set, folders[i]);
    allow_reading_of_user(set, "HOME", ".fonts");
    allow_reading_of_user(set, "HOME", ".local/share/fonts");
    allow_reading_of_user(set, "HOME", ".config/fontconfig");
    allow_reading_of_user(set, "HOME", ".cache/fontconfig");
    allow_reading_of_user(set, "XDG_DATA_HOME", "fonts");
    allow_reading_of_user(set, "XDG_CACHE_HOME", "fontconfig");
    int result = (int)syscall(SYS_landlock_restrict_self, set, 0);
    close(set);
    return result;
}

/* --- System calls: seccomp */

typedef struct filter {
    unsigned short count;
    struct sock_filter lines[512];
} filter;

static void add(filter *filter, struct sock_filter line) { filter->lines[filter->count++] = line; }

static void result(filter *filter, uint32_t value) {
    add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value));
}

static void refuse(filter *filter, int failure) { result(filter, SECCOMP_RET_ERRNO | (uint32_t)failure); }

/* The lower half of an argument, as both processors have it. */
static void load_argument(filter *filter, int place) {
    uint32_t at = (uint32_t)(offsetof(struct seccomp_data, args) + (size_t)place * 8);
    add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
}

/* The next `lines` lines are for this call alone. */
static void only_for(filter *filter, long call, uint8_t lines) {
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, lines));
}

static void allow(filter *filter, long call) {
    only_for(filter, call, 1);
    result(filter, SECCOMP_RET_ALLOW);
}

static void fail(filter *filter, long call, int failure) {
    only_for(filter, call, 1);
    refuse(filter, failure);
}

/* Allows the call if the argument has none of these bits. */
static void allow_without(filter *filter, long call, int argument, uint32_t bits, int failure) {
    only_for(filter, call, 4);
    load_argument(filter, argument);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0));
    result(filter, SECCOMP_RET_ALLOW);
    refuse(filter, failure);
}

/* Allows the call if the argument is this value. */
static void allow_value(filter *filter, long call, int argument, uint32_t value) {
    only_for(filter, call, 4);
    load_argument(filter, argument);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    result(filter, SECCOMP_RET_ALLOW);
    refuse(filter, EPERM);
}

/* Allows the call if the argument is a null pointer. */
static void allow_null(filter *filter, long call, int argument) {
    only_for(filter, call, 6);
    load_argument(filter, argument);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3));
    add(filter, (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct seccomp_data, args) + (size_t)argument * 8 + 4)));
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
    result(filter, SECCOMP_RET_ALLOW);
    refuse(filter, EPERM);
}

static void allow_threads(filter *filter) {
    only_for(filter, SYS_clone, 4);
    load_argument(filter, 0);
    add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
    result(filter, SECCOMP_RET_ALLOW);
    refuse(filter, EPERM);
}

static const long harmless[] = {
    SYS_futex, SYS_recvmsg, SYS_sendmsg, SYS_ppoll, SYS_read, SYS_munmap, SYS_madvise, SYS_brk, SYS_close, SYS_fstat,
    SYS_mremap, SYS_lseek, SYS_pread64, SYS_readv, SYS_write, SYS_writev, SYS_getdents64, SYS_newfstatat, SYS_statx,
    SYS_faccessat, SYS_readlinkat, SYS_fstatfs, SYS_statfs, SYS_getcwd, SYS_exit, SYS_exit_group, SYS_gettid, SYS_getpid,
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigreturn,
    SYS_sigaltstack, SYS_set_robust_list, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_getparam,
    SYS_sched_getscheduler, SYS_getrandom, SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep,
    SYS_gettimeofday, SYS_getrusage, SYS_sysinfo, SYS_uname, SYS_restart_syscall, SYS_membarrier, SYS_eventfd2,
    SYS_pipe2, SYS_dup, SYS_dup3, SYS_getcpu, SYS_getppid, SYS_set_tid_address, SYS_mincore, SYS_msync,
#ifdef SYS_poll
    SYS_poll, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_time,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
};

static int forbid_calls(void) {
    static filter made;
    const uint32_t architecture = offsetof(struct seccomp_data, arch), number = offsetof(struct seccomp_data, nr);
    add(&made, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, architecture));
    add(&made, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0));
    result(&made, SECCOMP_RET_KILL_PROCESS);
    /* The numbers of the x32 calls begin with a bit of their own, so that none of them is in the list. */
    add(&made, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number));
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) allow(&made, harmless[i]);
    /* Each of these ends the filter for its call, since it loads an argument over the number. */
    allow_without(&made, SYS_mmap, 2, PROT_EXEC, EPERM);
    allow_without(&made, SYS_mprotect, 2, PROT_EXEC, EPERM);
    allow_without(&made, SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND, EACCES);
    allow_without(&made, SYS_fcntl, 1, (uint32_t)~(7 | F_DUPFD_CLOEXEC), EPERM);
    allow_threads(&made);
    allow_value(&made, SYS_prctl, 0, PR_SET_NAME);
    allow_null(&made, SYS_prlimit64, 2);
    /* abort() */
    allow_value(&made, SYS_tgkill, 0, (uint32_t)getpid());
    /* The C library then uses clone, whose flags a filter can read. */
    fail(&made, SYS_clone3, ENOSYS);
    fail(&made, SYS_ioctl, ENOTTY);
    fail(&made, SYS_sched_setaffinity, EPERM);
    fail(&made, SYS_sched_setscheduler, EPERM);
    fail(&made, SYS_setpriority, EPERM);
    fail(&made, SYS_fadvise64, EPERM);
    /* GLib asks of what kind its standard error is before it writes a warning there. */
    fail(&made, SYS_getpeername, ENOTSOCK);
    fail(&made, SYS_getsockname, ENOTSOCK);
    fail(&made, SYS_getsockopt, ENOTSOCK);
    fail(&made, SYS_memfd_create, EPERM);
    fail(&made, SYS_unlinkat, EACCES);
    fail(&made, SYS_mkdirat, EACCES);
#ifdef SYS_open
    allow_without(&made, SYS_open, 1, O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND, EACCES);
    fail(&made, SYS_unlink, EACCES);
    fail(&made, SYS_mkdir, EACCES);
#endif
    result(&made, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {.len = made.count, .filter = made.lines};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0 ? 0 : -1;
}

int nhs_decoder_enter_sandbox(int lane_count, uint64_t memory) {
    if (set_limits(lane_count, memory) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return leave_only_fonts() != 0 || forbid_calls() != 0 ? -1 : 0;
}
