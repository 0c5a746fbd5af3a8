/* Signs in by a form, uploads a file with the cookie of the answer, reads JSON, signs out:
 * ./session BASE USER PASSWORD FILE */
#include <nuthatch.h>
#include <stdio.h>

static int show(nh_status status, nh_response *response) {
    const char *json;
    size_t size;
    if (status == NH_OK) status = nh_response_json(response, &json, &size);
    if (status == NH_OK) printf("%.*s\n", (int)size, json);
    else fprintf(stderr, "%s\n", nh_error_message());
    nh_response_release(response);
    return status != NH_OK;
}

int main(int count, char **arguments) {
    if (count != 5) return fprintf(stderr, "usage: session BASE USER PASSWORD FILE\n"), 2;

    nh_cache *cache;
    nh_site *site;
    nh_request *request;
    nh_response *response = NULL;
    const nh_options *keeping = NH_OPTIONS(.cookie_jar = NH_COOKIE_JAR_MEMORY);
    if (nh_open(NULL, NULL, &cache) != NH_OK || nh_site_open(cache, arguments[1], keeping, &site) != NH_OK) return puts(nh_error_message()), 1;

    nh_request_create("login", &request);
    nh_request_set(request, NH_OPTIONS(.method = "POST", .site = site));
    nh_request_add_field(request, "user", arguments[2]);
    nh_request_add_field(request, "password", arguments[3]);
    nh_status status = nh_perform(cache, request, &response);
    int failed = show(status, response);
    nh_request_free(request);

    nh_request_create("files", &request);
    nh_request_set(request, NH_OPTIONS(.method = "PUT", .site = site));
    nh_request_add_header(request, "Content-Type", "application/octet-stream");
    nh_request_set_body_file(request, arguments[4]); /* read while it is sent */
    status = nh_perform(cache, request, &response);
    failed |= show(status, response);
    nh_request_free(request);

    nh_site_clear_cookies(site);
    nh_site_close(site);
    return nh_close(cache, 2000) | failed;
}
