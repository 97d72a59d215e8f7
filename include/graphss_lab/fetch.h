/* graphss_lab/fetch.h - the public datasets, downloaded and verified.
 *
 *     graphss_fetch_options opt;
 *     graphss_fetch_options_init(&opt);
 *     opt.dir = "data";
 *     graphss_fetch_result found = {0};
 *     graphss_fetch_run(ctx, &found, "cora", &opt);
 *     graphss_release(ctx, found.path);
 *
 * The list of files, their sources, licences and checksums is built in (from
 * src/lab/fetch/manifest.json). A file that does not match its checksum is refused. */
#ifndef GRAPHSS_LAB_FETCH_H
#define GRAPHSS_LAB_FETCH_H

#include <graphss/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_fetch_options {
    uint32_t struct_size; /* sizeof(graphss_fetch_options) */
    const char *dir;      /* folder for the files; created if missing */
    const char *base_url; /* instead of each file's own, for mirrors and tests; or NULL */
    bool offline;         /* only check the files on disk; NETWORK if one is missing */
    bool force;           /* download even if the file is there and sound */
    /* folders, ended by NULL, which may have the dataset already: then it is not downloaded,
     * unless by force; or NULL */
    const char *const *data_dirs;
} graphss_fetch_options;

GRAPHSS_API void graphss_fetch_options_init(graphss_fetch_options *opt);

typedef struct graphss_fetch_item {
    const char *dataset; /* "cora" */
    const char *file;    /* "ind.cora.x" */
    const char *url;
    const char *licence;
    const char *source;   /* the page that describes it */
    const char *checksum; /* "sha256:..." or "git:..." */
} graphss_fetch_item;

typedef struct graphss_fetch_result {
    char *path;     /* of the dataset, as graphss_dataset_read takes it; release it */
    uint64_t bytes; /* of all its files */
    size_t files;   /* how many make it up */
    size_t fetched; /* how many were downloaded now */
    /* found in data_dirs as a file of another format, so there is no checksum to compare */
    bool unchecked;
    char sha256[65]; /* of its file, or of the sha256sum-style listing if there are several */
    uint64_t reserved[4]; /* 0 */
} graphss_fetch_result;

/* The i-th file of the manifest, or NULL past its end. Constant. */
GRAPHSS_API const graphss_fetch_item *graphss_fetch_item_at(size_t i);

/* Downloads the files of one dataset; sound ones that are there are kept. An interrupted
 * download stays as FILE.part and the next call resumes it. Progress stage is "fetch", in
 * bytes of the file that the note names. Proxies come from the environment.
 *
 * Errors: NOT_FOUND (unknown name), INVALID (no opt, no folder, offline with force, a base_url
 * that is neither http nor https), NETWORK, CHECKSUM (a download is removed; offline leaves
 * the file), LIMIT (a file beyond 256 MiB), IO, NOMEM, CANCELLED. With a libcurl before 7.84,
 * call curl_global_init before the first fetches of several threads. */
GRAPHSS_MUST_CHECK graphss_status graphss_fetch_run(graphss_ctx *ctx,
    graphss_fetch_result *out, const char *dataset, const graphss_fetch_options *opt);

#ifdef __cplusplus
}
#endif
#endif
