/* data_dirs.c - the folders that names of datasets are looked up in. Nothing else of the
 * library reads the environment. */
#include "data/files/readers.h"
#include <stdlib.h>
#include <string.h>

/* Folders of a list with colons between; their texts go to *text, one behind the other. */
static size_t cut(const char **dir, char *text, const char *list)
{
    size_t n = 0;
    for (const char *at = list; *at;) {
        const size_t length = strcspn(at, ":");
        if (length) {
            memcpy(text, at, length);
            text[length] = '\0';
            dir[n++] = text;
            text += length + 1;
        }
        at += length + (at[length] == ':');
    }
    return n;
}

graphss_status graphss_dataset_dirs(graphss_ctx *ctx, const char ***out)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the folders", out}))
        return GRAPHSS_ERR_INVALID;
    const char *listed = getenv("GRAPHSS_DATA"), *xdg = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    const bool given = xdg && xdg[0] == '/';
    const char *base = given ? xdg : home && *home ? home : ".";
    const char *rest = given ? "/graphss" : "/.local/share/graphss";
    size_t most = 3; /* of GRAPHSS_DATA, the last one, NULL */
    if (!listed)
        listed = "";
    for (const char *c = listed; *c; c++)
        most += *c == ':';
    /* One block: the pointers, then the texts. */
    const size_t letters = strlen(listed) + strlen(base) + strlen(rest) + 2;
    const char **dir = graphss_i_alloc(ctx, most * sizeof *dir + letters, 1);
    if (!dir)
        return GRAPHSS_ERR_NOMEM;
    char *text = (char *)(dir + most);
    size_t n = cut(dir, text, listed);
    text += strlen(listed) + 1;
    snprintf(text, letters - strlen(listed) - 1, "%s%s", base, rest);
    dir[n++] = text;
    dir[n] = NULL;
    *out = dir;
    return GRAPHSS_OK;
}
