/* errands.c - work that allocates and may fail, on the context's threads. Each errand has a
 * context of its own with one thread, so that errors do not meet; the caller's allocator and
 * log are used one errand at a time, and his progress function on his own thread alone. */
#include "base/context_private.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct crew {
    graphss_ctx *ctx;
    graphss_i_errand fn;
    void *arg;
    graphss_ctx *own;       /* [errands] */
    graphss_status *result; /* [errands] */
    pthread_mutex_t lock;
    pthread_t caller;
    atomic_bool stopped; /* an errand failed or the caller wants no more */
} crew;

static void *locked_alloc(void *user, size_t bytes)
{
    crew *c = user;
    const graphss_allocator *a = &c->ctx->opt.allocator;
    pthread_mutex_lock(&c->lock);
    void *block = a->alloc(a->user, bytes);
    pthread_mutex_unlock(&c->lock);
    return block;
}

static void locked_release(void *user, void *block)
{
    crew *c = user;
    const graphss_allocator *a = &c->ctx->opt.allocator;
    pthread_mutex_lock(&c->lock);
    a->release(a->user, block);
    pthread_mutex_unlock(&c->lock);
}

static void locked_log(void *user, graphss_log_level level, const char *line)
{
    crew *c = user;
    pthread_mutex_lock(&c->lock);
    c->ctx->opt.log(c->ctx->opt.user, level, line);
    pthread_mutex_unlock(&c->lock);
}

static bool progress(void *user, const char *stage, size_t done, size_t total,
                     const char *note)
{
    crew *c = user;
    const graphss_ctx_options *opt = &c->ctx->opt;
    if (pthread_equal(pthread_self(), c->caller) &&
        !opt->progress(opt->user, stage, done, total, note))
        atomic_store(&c->stopped, true);
    return !atomic_load(&c->stopped);
}

static void run_errand(void *arg, size_t errand)
{
    crew *c = arg;
    graphss_ctx *own = &c->own[errand];
    memset(own, 0, sizeof *own);
    own->kernels = c->ctx->kernels;
    own->opt = (graphss_ctx_options){.threads = 1,
                                     .allocator = {locked_alloc, locked_release, c},
                                     .user = c,
                                     .log = c->ctx->opt.log ? locked_log : NULL,
                                     .progress = c->ctx->opt.progress ? progress : NULL};
    /* Errands are handed out in order: those before one that failed have begun. */
    c->result[errand] = atomic_load(&c->stopped)
                            ? graphss_i_fail(own, GRAPHSS_ERR_CANCELLED, "cancelled")
                            : c->fn(own, c->arg, errand);
    if (c->result[errand])
        atomic_store(&c->stopped, true);
}

/* An errand that was told to stop is not the reason; the first that was not, is. */
static graphss_status first_failure(const crew *c, size_t n)
{
    size_t first = n;
    for (size_t j = 0; j < n; j++)
        if (c->result[j] && (first == n || (c->result[first] == GRAPHSS_ERR_CANCELLED &&
                                            c->result[j] != GRAPHSS_ERR_CANCELLED)))
            first = j;
    if (first == n)
        return GRAPHSS_OK;
    const graphss_status st = c->result[first];
    const char *text = c->own[first].error;
    return graphss_i_fail(c->ctx, st, "%s", *text ? text : graphss_status_text(st));
}

graphss_status graphss_i_errands(graphss_ctx *ctx, size_t n, graphss_i_errand fn, void *arg)
{
    graphss_status st = GRAPHSS_OK;
    if (!ctx->pool || n < 2) {
        for (size_t j = 0; j < n && !st; j++)
            st = fn(ctx, arg, j);
        return st;
    }
    crew c = {.ctx = ctx,
              .fn = fn,
              .arg = arg,
              .own = graphss_i_alloc(ctx, n, sizeof *c.own),
              .result = graphss_i_alloc(ctx, n, sizeof *c.result),
              .caller = pthread_self()};
    if (c.own && c.result && pthread_mutex_init(&c.lock, NULL) == 0) {
        graphss_i_pool_run(ctx->pool, n, run_errand, &c);
        st = first_failure(&c, n);
        pthread_mutex_destroy(&c.lock);
    } else {
        st = GRAPHSS_ERR_NOMEM;
    }
    graphss_release(ctx, c.result);
    graphss_release(ctx, c.own);
    return st;
}
