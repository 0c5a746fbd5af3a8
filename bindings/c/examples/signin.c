/* Replies to questions of a request: the credentials, and whether an answer is good:  ./signin URL USER PASSWORD */
#include <nuthatch.h>
#include <stdio.h>

/* Called on the thread that waits in nh_get. With nh_poll the same questions come as events. */
static void answer(nh_event *event, void *user) {
    char **names = user;
    nh_reply reply = {.struct_size = sizeof reply};
    if (event->question == NH_ASK_CREDENTIALS) {
        reply.user = names[0];
        reply.password = names[1];
    } else if (event->question == NH_ASK_VERDICT) {
        nh_response_info info = {.struct_size = sizeof info};
        nh_response_get_info(event->response, &info);
        reply.verdict = info.body_size > 0 ? NH_VERDICT_ACCEPT : NH_VERDICT_REJECT;
        reply.reason = "the answer is empty";
    }
    if (event->kind == NH_EVENT_QUESTION) nh_answer(event->ticket, &reply);
}

int main(int count, char **arguments) {
    if (count != 4) return fprintf(stderr, "usage: signin URL USER PASSWORD\n"), 2;

    nh_cache *cache;
    nh_response *response;
    nh_response_info info = {.struct_size = sizeof info};
    if (nh_open(NULL, NULL, &cache) != NH_OK) return fprintf(stderr, "%s\n", nh_error_message()), 1;
    const nh_options *asking =
        NH_OPTIONS(.asks = NH_ASK_CREDENTIALS | NH_ASK_VERDICT, .callback = answer, .user_data = &arguments[2]);
    if (nh_get(cache, arguments[1], asking, &response) != NH_OK) fprintf(stderr, "%s\n", nh_error_message());
    else if (nh_response_get_info(response, &info) == NH_OK) printf("%d, %zu bytes\n", info.status, info.body_size);
    nh_response_release(response);
    nh_close(cache, 2000);
    return info.status != 200;
}
