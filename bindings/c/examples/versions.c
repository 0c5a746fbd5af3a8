/* Prints which libraries are in use, for a report of a fault:  ./versions */
#include <nuthatch.h>
#include <stdio.h>

int main(void) {
    fprintf(stderr, "Nuthatch %s, compiled for %s\n", nh_version(), NH_VERSION);
    /* JSON that any reader of JSON understands; it needs no free. */
    puts(nh_build_info());
    return 0;
}
