/* fetch_transfer.c - one file over HTTP with libcurl.
 *
 * The range is asked for by hand instead of with CURLOPT_RESUME_FROM, because curl makes an
 * error of a server that ignores it; here the status of the answer decides whether bytes are
 * added or the file starts over. curl's set-up is left to curl_easy_init, which is safe from
 * several threads since curl 7.84. TLS is checked as curl does by default, and proxies come
 * from the environment. */
#include "lab/fetch/fetch_private.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_REDIRECTS = 5, STALL_BYTES_PER_SECOND = 64 };

struct graphss_i_transfer {
    CURL *curl;
    graphss_i_fetch_limits limits;
    char error[CURL_ERROR_SIZE];
    /* the file under way */
    graphss_ctx *ctx;
    int fd;
    const char *url, *name, *path;
    uint64_t start;        /* offset of the request */
    uint64_t size;         /* of the file now */
    bool begun;            /* the status was checked */
    graphss_status failed; /* in a callback of ours; its text is set */
};

graphss_i_fetch_limits graphss_i_fetch_limits_default(void)
{
    return (graphss_i_fetch_limits){.max_bytes = (uint64_t)256 << 20,
        .connect_seconds = 20,
        .stall_seconds = 30,
        .attempts = 3,
        .wait_seconds = 0.5};
}

static graphss_status cannot_write(graphss_i_transfer *t)
{
    return graphss_i_fail(
        t->ctx, GRAPHSS_ERR_IO, "%s: cannot write: %s", t->path, strerror(errno));
}

static graphss_status start_over(graphss_i_transfer *t)
{
    if (ftruncate(t->fd, 0) != 0 || lseek(t->fd, 0, SEEK_SET) != 0)
        return cannot_write(t);
    t->size = 0;
    return GRAPHSS_OK;
}

static long http_status(const graphss_i_transfer *t)
{
    long code = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

/* Only these two carry the file; 206 continues at the requested offset. */
static bool carries_file(long code)
{
    return code == 200 || code == 206;
}

static void begin(graphss_i_transfer *t)
{
    t->begun = true;
    if (http_status(t) == 200 && t->size)
        t->failed = start_over(t);
}

static size_t receive(char *bytes, size_t one, size_t n, void *user)
{
    graphss_i_transfer *t = user;
    const size_t stop = SIZE_MAX; /* any number but n ends the transfer */
    (void)one;                    /* curl documents it as always 1 */

    if (!carries_file(http_status(t)))
        return stop;
    if (!t->begun)
        begin(t);
    if (t->failed)
        return stop;
    if (n > t->limits.max_bytes - t->size) {
        t->failed = graphss_i_fail(t->ctx, GRAPHSS_ERR_LIMIT,
            "%s: the server sends more than %llu bytes", t->url,
            (unsigned long long)t->limits.max_bytes);
        return stop;
    }
    for (size_t done = 0; done < n;) {
        const ssize_t k = write(t->fd, bytes + done, n - done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            t->failed = cannot_write(t);
            return stop;
        }
        done += (size_t)k;
        t->size += (uint64_t)k;
    }
    return n;
}

static int report(
    void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now)
{
    graphss_i_transfer *t = user;
    (void)now; /* what curl has received; t->size is what we hold */
    (void)up_total;
    (void)up_now;
    if (t->failed)
        return 1;
    const long code = http_status(t);
    uint64_t all = 0;
    if (total > 0 && carries_file(code))
        all = (uint64_t)total + (code == 206 ? t->start : 0);
    t->failed = graphss_i_progress(t->ctx, "fetch", (size_t)t->size, (size_t)all, t->name);
    return t->failed != GRAPHSS_OK;
}

static bool set_protocols(CURL *curl, const char *first, const char *redirected)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    return !curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, first) &&
           !curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, redirected);
#else
    const long secure = CURLPROTO_HTTPS, any = CURLPROTO_HTTP | CURLPROTO_HTTPS;
    return !curl_easy_setopt(curl, CURLOPT_PROTOCOLS, strchr(first, ',') ? any : secure) &&
           !curl_easy_setopt(
               curl, CURLOPT_REDIR_PROTOCOLS, strchr(redirected, ',') ? any : secure);
#endif
}

static bool set_up(graphss_i_transfer *t)
{
    CURL *c = t->curl;
    const graphss_i_fetch_limits *l = &t->limits;
    return !curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) &&
           !curl_easy_setopt(c, CURLOPT_USERAGENT, "graphss/" GRAPHSS_VERSION) &&
           !curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L) &&
           !curl_easy_setopt(c, CURLOPT_MAXREDIRS, (long)MAX_REDIRECTS) &&
           !curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, l->connect_seconds) &&
           !curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, (long)STALL_BYTES_PER_SECOND) &&
           !curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, l->stall_seconds) &&
           !curl_easy_setopt(c, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)l->max_bytes) &&
           !curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->error) &&
           !curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, receive) &&
           !curl_easy_setopt(c, CURLOPT_WRITEDATA, t) &&
           !curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, report) &&
           !curl_easy_setopt(c, CURLOPT_XFERINFODATA, t) &&
           !curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
}

graphss_i_transfer *graphss_i_transfer_new(
    graphss_ctx *ctx, const graphss_i_fetch_limits *limits)
{
    graphss_i_transfer *t = graphss_i_calloc(ctx, 1, sizeof *t);
    if (!t)
        return NULL;
    t->limits = *limits;
    t->curl = curl_easy_init();
    if (!t->curl || !set_up(t)) {
        graphss_i_fail(ctx, GRAPHSS_ERR_NOMEM, "libcurl cannot be set up");
        graphss_i_transfer_free(ctx, t);
        return NULL;
    }
    return t;
}

void graphss_i_transfer_free(graphss_ctx *ctx, graphss_i_transfer *t)
{
    if (!t)
        return;
    curl_easy_cleanup(t->curl);
    graphss_release(ctx, t);
}

/* True for errors that may pass by themselves; the bytes so far are kept. */
static bool transient(CURLcode result, long code)
{
    switch (result) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return code == 408 || code == 429 || code >= 500;
    }
}

/* *again is true if another attempt may succeed. */
static graphss_status attempt(graphss_i_transfer *t, bool *again)
{
    char range[32];
    *again = false;
    if (t->size >= t->limits.max_bytes) { /* cannot be the beginning of our file */
        const graphss_status st = start_over(t);
        if (st)
            return st;
    }
    t->start = t->size;
    t->begun = false;
    t->failed = GRAPHSS_OK;
    t->error[0] = '\0';
    snprintf(range, sizeof range, "%llu-", (unsigned long long)t->start);
    const char *redirected = strncmp(t->url, "http:", 5) == 0 ? "http,https" : "https";
    if (!set_protocols(t->curl, "http,https", redirected) ||
        curl_easy_setopt(t->curl, CURLOPT_URL, t->url) ||
        curl_easy_setopt(t->curl, CURLOPT_RANGE, t->start ? range : NULL))
        return graphss_i_fail(t->ctx, GRAPHSS_ERR_NOMEM, "libcurl cannot be set up");

    const CURLcode result = curl_easy_perform(t->curl);
    const long code = http_status(t);
    if (!t->failed && result == CURLE_OK && carries_file(code) && !t->begun)
        begin(t); /* an empty file */
    if (t->failed)
        return t->failed;
    if (result == CURLE_OK && carries_file(code))
        return GRAPHSS_OK;

    /* receive() refuses the body of an error page, so a write error is one of those too. */
    if (result == CURLE_OK || result == CURLE_WRITE_ERROR) {
        if (code == 416 && t->start) { /* there is no rest: the next attempt requests all */
            const graphss_status st = start_over(t);
            return st ? st : attempt(t, again);
        }
        *again = transient(CURLE_OK, code);
        return graphss_i_fail(
            t->ctx, GRAPHSS_ERR_NETWORK, "%s: the server answers %ld, want 200", t->url, code);
    }
    if (result == CURLE_OUT_OF_MEMORY)
        return graphss_i_fail(t->ctx, GRAPHSS_ERR_NOMEM, "%s: libcurl has no memory", t->url);
    if (result == CURLE_FILESIZE_EXCEEDED)
        return graphss_i_fail(t->ctx, GRAPHSS_ERR_LIMIT,
            "%s: the server announces more than %llu bytes", t->url,
            (unsigned long long)t->limits.max_bytes);
    *again = transient(result, 0);
    return graphss_i_fail(t->ctx, GRAPHSS_ERR_NETWORK, "%s: %s", t->url,
        t->error[0] ? t->error : curl_easy_strerror(result));
}

static void pause_for(double seconds)
{
    const time_t whole = (time_t)seconds;
    const struct timespec wait = {whole, (long)((seconds - (double)whole) * 1e9)};
    nanosleep(&wait, NULL); /* a signal ends it, and progress may then cancel */
}

graphss_status graphss_i_transfer_run(graphss_ctx *ctx, graphss_i_transfer *t, int fd,
    const char *url, const char *name, const char *path)
{
    const off_t end = lseek(fd, 0, SEEK_END);
    t->ctx = ctx;
    t->fd = fd;
    t->url = url;
    t->name = name;
    t->path = path;
    if (end < 0)
        return cannot_write(t);
    t->size = (uint64_t)end;

    double wait = t->limits.wait_seconds;
    for (unsigned k = 1;; k++) {
        bool again;
        graphss_status st = attempt(t, &again);
        if (!st || !again || k >= t->limits.attempts)
            return st;
        graphss_i_log(ctx, GRAPHSS_LOG_INFO, "%s; trying again from byte %llu",
            graphss_ctx_error(ctx), (unsigned long long)t->size);
        pause_for(wait);
        wait *= 2;
        st = graphss_i_progress(ctx, "fetch", (size_t)t->size, 0, name);
        if (st)
            return st;
    }
}
