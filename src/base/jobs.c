/* jobs.c - runs work that allocates and may fail on the context's threads. Each job has its
 * own context with one thread, so that errors stay apart. The caller's allocator and log are
 * used by one job at a time, and the progress callback runs on the caller's thread only. */
#include "base/context_private.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* User data of a job's context. */
typedef struct job_slot {
    struct batch *batch;
    size_t job;
} job_slot;

typedef struct batch {
    graphss_ctx *ctx;
    graphss_i_parallel_job fn;
    void *arg;
    graphss_ctx *own;       /* [jobs] */
    job_slot *job_slot;     /* [jobs] */
    graphss_status *result; /* [jobs] */
    pthread_mutex_t lock;
    pthread_t caller;
    const char *stage; /* last progress reported to the caller */
    size_t done, total;
    double told;
    atomic_bool stopped;  /* the progress callback asked to stop */
    atomic_size_t failed; /* lowest number of a failed job so far */
} batch;

/* Jobs before a failed one continue, so that the reported failure does not depend on
 * timing. */
static bool needless(batch *c, size_t job)
{
    return atomic_load(&c->stopped) || atomic_load(&c->failed) < job;
}

static void fail_at(batch *c, size_t job)
{
    size_t first = atomic_load(&c->failed);
    while (job < first && !atomic_compare_exchange_weak(&c->failed, &first, job)) {
    }
}

static void *locked_alloc(void *user, size_t bytes)
{
    batch *c = ((job_slot *)user)->batch;
    const graphss_allocator *a = &c->ctx->opt.allocator;
    pthread_mutex_lock(&c->lock);
    void *block = a->alloc(a->user, bytes);
    pthread_mutex_unlock(&c->lock);
    return block;
}

static void locked_release(void *user, void *block)
{
    batch *c = ((job_slot *)user)->batch;
    const graphss_allocator *a = &c->ctx->opt.allocator;
    pthread_mutex_lock(&c->lock);
    a->release(a->user, block);
    pthread_mutex_unlock(&c->lock);
}

static void locked_log(void *user, graphss_log_level level, const char *line)
{
    batch *c = ((job_slot *)user)->batch;
    pthread_mutex_lock(&c->lock);
    c->ctx->opt.log(c->ctx->opt.user, level, line);
    pthread_mutex_unlock(&c->lock);
}

static bool progress(
    void *user, const char *stage, size_t done, size_t total, const char *note)
{
    const job_slot *own = user;
    batch *c = own->batch;
    const graphss_ctx_options *opt = &c->ctx->opt;
    if (pthread_equal(pthread_self(), c->caller) && !atomic_load(&c->stopped) &&
        !opt->progress(opt->user, stage, done, total, note))
        atomic_store(&c->stopped, true);
    return !needless(c, own->job);
}

/* Called while the caller's thread is idle and other threads still work. */
static void ask_caller(void *arg)
{
    batch *c = arg;
    if (!atomic_load(&c->stopped) && graphss_i_pulse(c->ctx))
        atomic_store(&c->stopped, true);
}

static void run_job(void *arg, size_t job)
{
    batch *c = arg;
    graphss_ctx *own = &c->own[job];
    c->job_slot[job] = (job_slot){c, job};
    memset(own, 0, sizeof *own);
    own->kernels = c->ctx->kernels;
    own->stage = c->stage;
    own->done = c->done;
    own->total = c->total;
    own->told = c->told;
    own->opt = (graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options),
        .threads = 1,
        .allocator = {locked_alloc, locked_release, &c->job_slot[job]},
        .user = &c->job_slot[job],
        .log = c->ctx->opt.log ? locked_log : NULL,
        .progress = c->ctx->opt.progress ? progress : NULL};
    graphss_status st = graphss_i_pulse(own);
    if (!st && needless(c, job))
        st = graphss_i_fail(own, GRAPHSS_ERR_CANCELLED, "cancelled");
    c->result[job] = st ? st : c->fn(own, c->arg, job);
    if (c->result[job])
        fail_at(c, job);
}

/* A cancelled job is not the cause of the failure; the first other failure is. */
static graphss_status first_failure(const batch *c, size_t n)
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

graphss_status graphss_i_parallel_jobs(
    graphss_ctx *ctx, size_t n, graphss_i_parallel_job fn, void *arg)
{
    graphss_status st = GRAPHSS_OK;
    if (!ctx->pool || n < 2) {
        for (size_t j = 0; j < n && !st; j++) {
            st = graphss_i_pulse(ctx);
            st = st ? st : fn(ctx, arg, j);
        }
        return st;
    }
    batch c = {.ctx = ctx,
        .fn = fn,
        .arg = arg,
        .own = graphss_i_alloc(ctx, n, sizeof *c.own),
        .job_slot = graphss_i_alloc(ctx, n, sizeof *c.job_slot),
        .result = graphss_i_alloc(ctx, n, sizeof *c.result),
        .caller = pthread_self(),
        .stage = ctx->stage,
        .done = ctx->done,
        .total = ctx->total,
        .told = ctx->told,
        .failed = n};
    if (c.own && c.job_slot && c.result && pthread_mutex_init(&c.lock, NULL) == 0) {
        graphss_i_pool_run(ctx->pool, n, run_job, &c, ask_caller);
        st = first_failure(&c, n);
        pthread_mutex_destroy(&c.lock);
    } else {
        st = GRAPHSS_ERR_NOMEM;
    }
    graphss_release(ctx, c.result);
    graphss_release(ctx, c.job_slot);
    graphss_release(ctx, c.own);
    return st;
}
