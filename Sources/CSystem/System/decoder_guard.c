#define _GNU_SOURCE
#include "nhs_decoder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* As nhs_decoder_start numbers them. */
enum { control = 3, first_lane = 4 };

int nhs_decoder_lane(int place) {
    int lane = first_lane + place;
    return place >= 0 && place < NHS_DECODER_MOST_LANES && fcntl(lane, F_GETFD) >= 0 ? lane : -1;
}

static void tell(int status) {
    int32_t told = status;
    (void)!send(control, &told, sizeof told, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Ends with the decoder. */
static _Noreturn void watch(pid_t decoder, int signals) {
    int status = 0;
    while (1) {
        struct pollfd ready[] = {{.fd = control, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) break;
        if (ready[0].revents) break;
        if (!ready[1].revents) continue;
        struct signalfd_siginfo came;
        if (read(signals, &came, sizeof came) != sizeof came) continue;
        if (waitpid(decoder, &status, WNOHANG) == decoder) {
            tell(status);
            _exit(0);
        }
        /* To the user, both processes are one. */
        if (came.ssi_signo != SIGCHLD) kill(decoder, (int)came.ssi_signo);
    }
    kill(decoder, SIGKILL);
    waitpid(decoder, &status, 0);
    _exit(0);
}

void nhs_decoder_guard(void) {
    sigset_t all, before;
    pid_t guard = getpid();
    int lanes = 0;
    while (nhs_decoder_lane(lanes) >= 0) lanes++;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int signals = signalfd(-1, &all, SFD_CLOEXEC);
    if (signals < 0) _exit(125);
    pid_t decoder = fork();
    if (decoder < 0) _exit(126);
    if (decoder > 0) {
        prctl(PR_SET_NAME, "nuthatch-guard");
        for (int place = 0; place < lanes; place++) close(first_lane + place);
        watch(decoder, signals);
    }
    /* A guard that ended before this call is seen by the second. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != guard) _exit(125);
    close(signals);
    close(control);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
