/* fetch.c - the files of a dataset: each is checked first, downloaded if needed, and put in
 * place only if its checksum is right.
 *
 * A download grows in FILE.part, which is kept if the connection or the run breaks off, and
 * continued by the next run. It is locked while it grows, so two runs do not mix their bytes.
 */
#include "lab/fetch/fetch_private.h"
#include <errno.h>
#include <fcntl.h>
#include <graphss/dataset.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* State shared by the files of one call. */
typedef struct fetch_job {
    const graphss_fetch_options *opt;
    const graphss_i_fetch_limits *limits;
    char *dir;                    /* without a slash at its end */
    graphss_i_transfer *transfer; /* made for the first download */
} fetch_job;

static graphss_status io_error(graphss_ctx *ctx, const char *verb, const char *path)
{
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_IO, "%s: cannot %s: %s", path, verb, strerror(errno));
}

static graphss_status wrong_checksum(graphss_ctx *ctx, const char *path,
    const graphss_fetch_item *item, const graphss_i_digests *found, const char *outcome)
{
    const char *digest = graphss_i_digests_like(found, item->checksum);
    return graphss_i_fail(ctx, GRAPHSS_ERR_CHECKSUM, "%s: found %.*s%s, want %s; %s", path,
        (int)strcspn(item->checksum, ":") + 1, item->checksum, digest, item->checksum,
        outcome);
}

/* Opens and locks FILE.part. Another run may have put the file in place between the two;
 * then the lock is on a file that has another name now, and it is tried again. */
static graphss_status open_part(graphss_ctx *ctx, int *out, const char *part)
{
    for (int tries = 0; tries < 10; tries++) {
        struct stat held, named;
        const int fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0)
            return io_error(ctx, "write", part);
        if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno != ENOLCK && errno != ENOTSUP) {
            close(fd);
            break;
        }
        if (fstat(fd, &held) == 0 && stat(part, &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev) {
            *out = fd;
            return GRAPHSS_OK;
        }
        close(fd);
    }
    return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: another run is downloading it", part);
}

static char *url_of(graphss_ctx *ctx, const graphss_fetch_item *item, const char *base)
{
    if (!base)
        return graphss_i_strdup(ctx, item->url);
    size_t n = strlen(base);
    while (n && base[n - 1] == '/')
        n--;
    return graphss_i_format(ctx, "%.*s/%s", (int)n, base, item->file);
}

static graphss_status put_in_place(
    graphss_ctx *ctx, int fd, const char *part, const char *path)
{
    if (fsync(fd) != 0 || rename(part, path) != 0)
        return io_error(ctx, "write", path);
    return GRAPHSS_OK;
}

/* Downloads to fd until its checksum is right. If a continued download turns out wrong, its
 * beginning may be of another file, so it starts once more from nothing. */
static graphss_status fill_part(graphss_ctx *ctx, fetch_job *job, graphss_i_digests *found,
    const graphss_fetch_item *item, int fd, const char *part, const char *url)
{
    struct stat info;
    if (job->opt->force && ftruncate(fd, 0) != 0)
        return io_error(ctx, "write", part);
    if (fstat(fd, &info) != 0)
        return io_error(ctx, "read", part);
    bool continued = info.st_size > 0;
    if (continued) {
        const graphss_status st = graphss_i_file_digests(ctx, found, part);
        if (st || graphss_i_digests_match(found, item->checksum))
            return st;
    }
    if (!job->transfer)
        job->transfer = graphss_i_transfer_new(ctx, job->limits);
    if (!job->transfer)
        return GRAPHSS_ERR_NOMEM;
    for (;;) {
        graphss_status st =
            graphss_i_transfer_run(ctx, job->transfer, fd, url, item->file, part);
        if (!st)
            st = graphss_i_file_digests(ctx, found, part);
        if (st || graphss_i_digests_match(found, item->checksum))
            return st;
        if (!continued)
            return wrong_checksum(ctx, url, item, found, "the download was removed");
        graphss_i_log(ctx, GRAPHSS_LOG_INFO,
            "%s: the continued download is wrong; "
            "starting over",
            url);
        if (ftruncate(fd, 0) != 0)
            return io_error(ctx, "write", part);
        continued = false;
    }
}

static graphss_status download(graphss_ctx *ctx, fetch_job *job, graphss_i_digests *found,
    const graphss_fetch_item *item, const char *path)
{
    graphss_status st = GRAPHSS_ERR_NOMEM;
    int fd = -1;
    char *part = graphss_i_format(ctx, "%s.part", path);
    char *url = url_of(ctx, item, job->opt->base_url);
    if (!part || !url)
        goto done;
    st = open_part(ctx, &fd, part);
    if (st)
        goto done;
    st = fill_part(ctx, job, found, item, fd, part, url);
    if (!st)
        st = put_in_place(ctx, fd, part, path);
    /* Removes a part that cannot be continued. */
    struct stat info;
    if (st == GRAPHSS_ERR_CHECKSUM || st == GRAPHSS_ERR_LIMIT ||
        (st && fstat(fd, &info) == 0 && info.st_size == 0))
        unlink(part);
done:
    if (fd >= 0)
        close(fd);
    graphss_release(ctx, url);
    graphss_release(ctx, part);
    return st;
}

/* Leaves a sound file in place and its digests in found. */
static graphss_status secure_item(graphss_ctx *ctx, fetch_job *job, graphss_i_digests *found,
    bool *fetched, const graphss_fetch_item *item)
{
    char *path = graphss_i_format(ctx, "%s/%s", job->dir, item->file);
    if (!path)
        return GRAPHSS_ERR_NOMEM;
    *fetched = false;
    graphss_status st = graphss_i_progress(ctx, "fetch", 0, 0, item->file);
    if (st)
        goto done;
    st = graphss_i_file_digests(ctx, found, path);
    if (st && st != GRAPHSS_ERR_NOT_FOUND)
        goto done;
    const bool there = !st;
    if (there && graphss_i_digests_match(found, item->checksum) && !job->opt->force)
        goto done;
    if (job->opt->offline) {
        st = there ? wrong_checksum(ctx, path, item, found, "fetch it again")
                   : graphss_i_fail(ctx, GRAPHSS_ERR_NETWORK,
                         "%s: missing, and not downloaded because of offline", path);
        goto done;
    }
    st = download(ctx, job, found, item, path);
    *fetched = !st;
done:
    graphss_release(ctx, path);
    return st;
}

static graphss_status check_arguments(graphss_ctx *ctx, const graphss_fetch_item *items,
    size_t n, const graphss_fetch_options *opt)
{
    static const graphss_i_digests none = {0};
    if (!opt || !opt->dir || !*opt->dir)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "fetch: no folder given");
    if (opt->offline && opt->force)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "fetch: offline and force exclude each other");
    if (opt->base_url && strncmp(opt->base_url, "http://", 7) != 0 &&
        strncmp(opt->base_url, "https://", 8) != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "fetch: base URL %s, want http:// or https://", opt->base_url);
    for (size_t i = 0; i < n; i++)
        if (strchr(items[i].file, '/') || !graphss_i_digests_like(&none, items[i].checksum))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "manifest: %s: a bare file name and a checksum sha256:... "
                "or git:... are wanted",
                items[i].file);
    return n ? GRAPHSS_OK : graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "fetch: no files");
}

graphss_status graphss_i_fetch_items(graphss_ctx *ctx, graphss_fetch_result *out,
    const graphss_fetch_item *items, size_t n, const graphss_fetch_options *opt,
    const graphss_i_fetch_limits *limits)
{
    const graphss_i_fetch_limits standard = graphss_i_fetch_limits_default();
    graphss_status st = check_arguments(ctx, items, n, opt);
    if (st)
        return st;

    fetch_job job = {.opt = opt, .limits = limits ? limits : &standard};
    graphss_fetch_result made = {.files = n};
    graphss_i_digests found = {0};
    char *listing = NULL; /* as sha256sum prints it */
    size_t used = 0, room = 1;
    size_t n_dir = strlen(opt->dir);
    while (n_dir > 1 && opt->dir[n_dir - 1] == '/')
        n_dir--;
    for (size_t i = 0; i < n; i++)
        room += sizeof found.sha256 + strlen(items[i].file) + 2;

    st = GRAPHSS_ERR_NOMEM;
    job.dir = graphss_i_format(ctx, "%.*s", (int)n_dir, opt->dir);
    listing = graphss_i_alloc(ctx, room, 1);
    if (!job.dir || !listing)
        goto done;
    made.path = n == 1 ? graphss_i_format(ctx, "%s/%s", job.dir, items[0].file)
                       : graphss_i_format(ctx, "%s/ind.%s", job.dir, items[0].dataset);
    if (!made.path)
        goto done;
    st = opt->offline ? GRAPHSS_OK : graphss_i_folder_make(ctx, job.dir);
    if (st)
        goto done;
    for (size_t i = 0; i < n; i++) {
        bool fetched;
        st = secure_item(ctx, &job, &found, &fetched, &items[i]);
        if (st)
            goto done;
        made.bytes += found.bytes;
        made.fetched += fetched;
        used += (size_t)snprintf(
            listing + used, room - used, "%s  %s\n", found.sha256, items[i].file);
    }
    if (n == 1)
        memcpy(made.sha256, found.sha256, sizeof made.sha256);
    else
        graphss_i_sha256_text(made.sha256, listing, used);
    *out = made;
    made.path = NULL;
done:
    graphss_i_transfer_free(ctx, job.transfer);
    graphss_release(ctx, made.path);
    graphss_release(ctx, listing);
    graphss_release(ctx, job.dir);
    return st;
}

static graphss_status unknown_dataset(graphss_ctx *ctx, const char *dataset)
{
    char known[256] = "";
    size_t used = 0;
    const char *last = "";
    for (size_t i = 0; graphss_fetch_item_at(i) && used < sizeof known; i++) {
        const char *name = graphss_fetch_item_at(i)->dataset;
        if (strcmp(name, last) != 0)
            used += (size_t)snprintf(
                known + used, sizeof known - used, "%s%s", used ? ", " : "", name);
        last = name;
    }
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_NOT_FOUND, "fetch: no dataset \"%s\"; there are %s", dataset, known);
}

/* ---- files that exist already ---- */

static bool is_in(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    return strncmp(path, dir, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/');
}

/* The files of the manifest, in the folder of a path; their checksums count. */
static graphss_status check_folder(graphss_ctx *ctx, graphss_fetch_result *out,
    const char *path, const graphss_fetch_item *items, size_t n)
{
    char *dir = graphss_i_strdup(ctx, path), *slash = dir ? strrchr(dir, '/') : NULL;
    if (!dir)
        return GRAPHSS_ERR_NOMEM;
    if (slash)
        *slash = '\0';
    const graphss_fetch_options here = {
        .struct_size = sizeof here, .dir = slash ? dir : ".", .offline = true};
    const graphss_status st = graphss_i_fetch_items(ctx, out, items, n, &here, NULL);
    graphss_release(ctx, dir);
    return st;
}

/* Is the dataset in one of opt->data_dirs other than opt->dir? Then it is not downloaded: as
 * files of the manifest it is checked, in another form (FILE.npz in place of Planetoid's) it
 * is taken as it is. A file that does not fit its checksum does not count. */
static graphss_status find_elsewhere(graphss_ctx *ctx, graphss_fetch_result *out, bool *found,
    const graphss_fetch_item *items, size_t n, const graphss_fetch_options *opt)
{
    char *path = NULL;
    graphss_i_digests digests = {0};
    if (!opt || !opt->data_dirs || opt->force || !opt->dir)
        return GRAPHSS_OK;
    graphss_status st = graphss_dataset_locate(ctx, &path, items[0].dataset, opt->data_dirs);
    if (st == GRAPHSS_ERR_NOT_FOUND)
        return GRAPHSS_OK;
    if (st)
        return st;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool ours = !strncmp(name, "ind.", 4);
    for (size_t i = 0; i < n; i++)
        ours = ours || !strcmp(name, items[i].file);
    if (ours && is_in(path, opt->dir))
        goto done; /* to be completed */
    if (ours) {
        st = check_folder(ctx, out, path, items, n);
        *found = !st;
        st = st == GRAPHSS_ERR_CHECKSUM || st == GRAPHSS_ERR_NETWORK ? GRAPHSS_OK : st;
        goto done;
    }
    st = graphss_i_file_digests(ctx, &digests, path);
    if (st == GRAPHSS_ERR_IO || st == GRAPHSS_ERR_DATA || st == GRAPHSS_ERR_NOT_FOUND) {
        st = GRAPHSS_OK; /* for example a folder with tables */
        goto done;
    }
    if (st)
        goto done;
    *out = (graphss_fetch_result){
        .path = path, .bytes = digests.bytes, .files = 1, .unchecked = true};
    memcpy(out->sha256, digests.sha256, sizeof out->sha256);
    *found = true;
    path = NULL;
done:
    graphss_release(ctx, path);
    return st;
}

void graphss_fetch_options_init(graphss_fetch_options *opt)
{
    *opt = (graphss_fetch_options){.struct_size = sizeof *opt};
}

graphss_status graphss_fetch_run(graphss_ctx *ctx, graphss_fetch_result *out,
    const char *dataset, const graphss_fetch_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", dataset}, {"place for the result", out}) ||
        GRAPHSS_I_TAKE(ctx, graphss_fetch_options, NULL, opt))
        return GRAPHSS_ERR_INVALID;
    size_t first = 0, n = 0;
    while (graphss_fetch_item_at(first) &&
           strcmp(graphss_fetch_item_at(first)->dataset, dataset) != 0)
        first++;
    while (graphss_fetch_item_at(first + n) &&
           strcmp(graphss_fetch_item_at(first + n)->dataset, dataset) == 0)
        n++;
    if (!n)
        return unknown_dataset(ctx, dataset);
    bool found = false;
    const graphss_fetch_item *items = graphss_fetch_item_at(first);
    const graphss_status st = find_elsewhere(ctx, out, &found, items, n, opt);
    return st || found ? st : graphss_i_fetch_items(ctx, out, items, n, opt, NULL);
}
