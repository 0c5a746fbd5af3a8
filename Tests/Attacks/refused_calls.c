/* refused_calls CACHE URL SLOW WHAT: uses the library while a seccomp filter refuses system calls. Prints a line for each failed
   call: its name, the word of the status, and the message. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nuthatch.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, nh_status status) {
    printf("%s: %s: %s\n", what, nh_status_name(status), status ? nh_error_message() : "");
    fflush(stdout);
}

/* Applies to all threads of this process from now on. Exits with 77 if that isn't permitted. */
static void refuse(const int *calls, size_t count, int error) {
    struct sock_filter filter[20];
    unsigned short used = 0;
    filter[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        filter[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], 0, 1);
        filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error);
    }
    filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = used, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
        printf("no filter: %s\n", strerror(errno));
        exit(77);
    }
}

#ifndef SYS_epoll_wait
#define SYS_epoll_wait SYS_epoll_pwait
#endif

static const int waits[] = {SYS_epoll_wait, SYS_epoll_pwait, 441};
static const int controls[] = {SYS_epoll_ctl};
static const int makes[] = {SYS_epoll_create1};
static const int bells[] = {SYS_eventfd2};
/* clone3, and the call that the C library uses if there is none. */
static const int threads[] = {435, SYS_clone};

static int log_lines;

static void note(nh_log_level level, const char *text, void *user) {
    (void)user;
    log_lines += level == NH_LOG_ERROR && strstr(text, "epoll") != NULL;
}

/* The loop's wait starts to fail while a request is under way. */
static void lose_the_loop(const char *folder, const char *url, const char *slow, const int *calls, int error) {
    nh_cache *cache = NULL, *other = NULL;
    nh_request *request = NULL;
    nh_ticket *tickets[3] = {NULL};
    nh_response *response = NULL;
    nh_event event;
    nh_log_set(NH_LOG_ERROR, note, NULL);
    if (nh_open(folder, NULL, &cache) != NH_OK) exit(2);
    if (nh_get(cache, url, NULL, &response) != NH_OK) exit(2);
    nh_response_release(response);
    for (int i = 0; i < 3; i++) {
        char one[1000];
        snprintf(one, sizeof one, "%s?%d", slow, i);
        nh_request_create(one, &request);
        nh_submit_request(cache, request, &tickets[i]);
        nh_request_free(request);
        nh_ticket_status state = NH_TICKET_QUEUED;
        while (nh_ticket_state(tickets[i], &state) == NH_OK && state == NH_TICKET_QUEUED) usleep(1000);
    }
    refuse(calls, calls == waits ? 3 : 1, error);
    /* Wakes the loop, and needs its own connection. */
    say("get", nh_get(cache, slow, NULL, &response));
    for (int i = 0; i < 3; i++) {
        nh_status status;
        do status = nh_wait(tickets[i], 20000, &event, sizeof event);
        while (status == NH_OK && !event.is_final && nh_event_clear(&event) == NH_OK);
        printf("ticket: %s: %s\n", nh_status_name(status ? status : event.code), status ? nh_error_message() : event.message);
        nh_event_clear(&event);
        nh_ticket_release(tickets[i]);
    }
    say("again", nh_get(cache, slow, NULL, &response));
    say("idle", nh_wait_idle(cache, -1));
    say("drain", nh_drain(cache, -1));
    say("another handle", nh_open(folder, NULL, &other));
    nh_log_dispatch();
    printf("lines of the log: %d\n", log_lines);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        say("handle of the child", nh_get(cache, url, NULL, &response));
        say("open in the child", nh_open(folder, NULL, &other));
        if (other) say("get in the child", nh_get(other, slow, NULL, &response));
        _exit(0);
    }
    waitpid(child, NULL, 0);
    say("close", nh_close(cache, 2000));
    say("open after the close", nh_open(folder, NULL, &other));
}

static void open_without(const char *folder, const int *calls, size_t count, int error) {
    nh_cache *cache = NULL;
    refuse(calls, count, error);
    say("open", nh_open(folder, NULL, &cache));
    if (cache) say("close", nh_close(cache, 2000));
}

/* The cache can open, but no further thread can start. */
static void without_a_thread(const char *folder, const char *url, int is_local) {
    nh_cache *cache = NULL;
    nh_response *response = NULL;
    /* There is also no thread to send requests of the outbox. */
    nh_options options = {.struct_size = sizeof options, .outbox = NH_OUTBOX_OFF};
    if (nh_open(folder, &options, &cache) != NH_OK) exit(2);
    refuse(threads, 2, EAGAIN);
    say("get", nh_get(cache, is_local ? "data:,x" : url, NULL, &response));
    say("close", nh_close(cache, 2000));
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    const char *folder = arguments[1], *url = arguments[2], *slow = arguments[3], *what = arguments[4];
    /* If a call hangs, end the program after some time. */
    alarm(60);
    if (!strcmp(what, "wait")) lose_the_loop(folder, url, slow, waits, EPERM);
    if (!strcmp(what, "wait, unknown")) lose_the_loop(folder, url, slow, waits, ENOSYS);
    if (!strcmp(what, "watch")) lose_the_loop(folder, url, slow, controls, EACCES);
    if (!strcmp(what, "open without waiting")) open_without(folder, waits, 3, EPERM);
    if (!strcmp(what, "open without watching")) open_without(folder, controls, 1, EPERM);
    if (!strcmp(what, "open without epoll")) open_without(folder, makes, 1, ENOSYS);
    if (!strcmp(what, "open without eventfd")) open_without(folder, bells, 1, EPERM);
    if (!strcmp(what, "open without a thread")) open_without(folder, threads, 2, EAGAIN);
    if (!strcmp(what, "worker")) without_a_thread(folder, url, 0);
    if (!strcmp(what, "worker for what is here")) without_a_thread(folder, url, 1);
    if (!strcmp(what, "name")) without_a_thread(folder, "http://no-such-name.invalid/", 0);
    return 0;
}
