/* Prints the options of the loaded library, as a binding for another language reads them:  ./options [NAME] */
#include <nuthatch.h>
#include <stdio.h>
#include <string.h>

static const struct { uint32_t bit; const char *name; } levels[] = {
    {NH_LEVEL_CACHE, "cache"}, {NH_LEVEL_SITE, "site"}, {NH_LEVEL_REQUEST, "request"},
    {NH_LEVEL_IMAGE, "image"}, {NH_LEVEL_PROCESS, "process"},
};

static void show(const nh_option *option) {
    printf("%s: %s (", option->name, option->help);
    const char *between = "";
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (option->levels & levels[i].bit) printf("%s%s", between, levels[i].name), between = ", ";
    }
    printf(")\n    default: %s\n", option->by_default);
    if (*option->words) printf("    one of: %s\n", option->words);
    if (*option->range) printf("    range: %s\n", option->range);
    if (*option->none) printf("    none: %s\n", option->none);
}

int main(int count, char **arguments) {
    int shown = 0;
    /* An older library than the header may lack options. A newer one has all of them. */
    if (nh_version_num() < NH_VERSION_NUM) fprintf(stderr, "compiled for %s, runs with %s\n", NH_VERSION, nh_version());

    nh_option option = {.struct_size = sizeof option};
    while (nh_option_next(option.name, &option) == NH_OK && option.name != NULL) {
        if (count > 1 && strcmp(option.name, arguments[1]) != 0) continue;
        show(&option);
        shown++;
    }
    return shown == 0;
}
