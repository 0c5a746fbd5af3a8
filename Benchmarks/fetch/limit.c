/*
 * The limit: fetches URLs (one a line on standard input) with only libcurl's multi interface and epoll, and discards the
 * bytes. Prints requests, failures, bytes, seconds and CPU microseconds.
 *
 *   limit [at once, 6] < urls
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

static int epoll_fd;
static long timer_ms = -1;
static size_t bytes;

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known) {
    (void)easy;
    CURLM *multi = context;
    struct epoll_event event = {.data.fd = socket};
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, socket, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, socket, &event);
    curl_multi_assign(multi, socket, &epoll_fd);
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context) {
    (void)multi;
    (void)context;
    timer_ms = timeout_ms;
    return 0;
}

static size_t on_bytes(char *data, size_t size, size_t count, void *context) {
    (void)data;
    (void)context;
    bytes += size * count;
    return size * count;
}

static char **urls;
static int url_count, next_url, done, failed;

static void start(CURLM *multi, CURL *easy) {
    if (next_url >= url_count) return;
    curl_easy_setopt(easy, CURLOPT_URL, urls[next_url++]);
    curl_multi_add_handle(multi, easy);
}

int main(int count, char **words) {
    int at_once = count > 1 ? atoi(words[1]) : 6;
    const char *trusted = getenv("CURL_CA_BUNDLE");
    char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = 0;
        urls = realloc(urls, (size_t)(url_count + 1) * sizeof *urls);
        urls[url_count++] = strdup(line);
    }
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    curl_global_init(CURL_GLOBAL_ALL);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, multi);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < at_once; i++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_PROXY, "");
        curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
        if (trusted) curl_easy_setopt(easy, CURLOPT_CAINFO, trusted);
        start(multi, easy);
    }
    int running = 0;
    while (done < url_count) {
        struct epoll_event ready[64];
        int found = epoll_wait(epoll_fd, ready, 64, timer_ms < 0 ? 5000 : (int)timer_ms);
        if (found == 0 && timer_ms < 0) {
            fprintf(stderr, "stalled: %d of %d done\n", done, url_count);
            return 1;
        }
        if (found == 0) {
            timer_ms = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int i = 0; i < found; i++) {
            int mask = 0;
            if (ready[i].events & EPOLLIN) mask |= CURL_CSELECT_IN;
            if (ready[i].events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
            if (ready[i].events & (EPOLLERR | EPOLLHUP)) mask |= CURL_CSELECT_ERR;
            curl_multi_socket_action(multi, ready[i].data.fd, mask, &running);
        }
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(multi, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *easy = message->easy_handle;
            failed += message->data.result != CURLE_OK;
            done++;
            curl_multi_remove_handle(multi, easy);
            start(multi, easy);
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    printf("%d %d %zu %.6f %.0f\n", done, failed, bytes, seconds, cpu);
    return failed != 0;
}
