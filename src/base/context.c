/* context.c - creates contexts, reports errors and progress. The error text has a fixed
 * buffer, so that running out of memory can be reported without memory. */
#include "base/context_private.h"
#include "kernels/kernels.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *graphss_version(void)
{
    return GRAPHSS_VERSION;
}

const char *graphss_status_text(graphss_status status)
{
    switch (status) {
    case GRAPHSS_OK:
        return "fine";
    case GRAPHSS_ERR_INVALID:
        return "invalid argument";
    case GRAPHSS_ERR_DATA:
        return "bad data";
    case GRAPHSS_ERR_SHAPE:
        return "parts do not fit";
    case GRAPHSS_ERR_NOT_FOUND:
        return "not found";
    case GRAPHSS_ERR_NOMEM:
        return "out of memory";
    case GRAPHSS_ERR_IO:
        return "input or output failed";
    case GRAPHSS_ERR_LIMIT:
        return "limit reached";
    case GRAPHSS_ERR_NETWORK:
        return "network failed";
    case GRAPHSS_ERR_CHECKSUM:
        return "wrong checksum";
    case GRAPHSS_ERR_CANCELLED:
        return "cancelled";
    case GRAPHSS_ERR_INTERNAL:
        return "internal error";
    }
    return "unknown status";
}

int graphss_status_exit_code(graphss_status status)
{
    switch (status) {
    case GRAPHSS_OK:
        return 0;
    case GRAPHSS_ERR_INVALID:
        return 2;
    case GRAPHSS_ERR_DATA:
    case GRAPHSS_ERR_SHAPE:
    case GRAPHSS_ERR_NOT_FOUND:
        return 3;
    case GRAPHSS_ERR_NOMEM:
    case GRAPHSS_ERR_IO:
    case GRAPHSS_ERR_LIMIT:
        return 4;
    case GRAPHSS_ERR_NETWORK:
    case GRAPHSS_ERR_CHECKSUM:
        return 5;
    case GRAPHSS_ERR_CANCELLED:
        return 130;
    case GRAPHSS_ERR_INTERNAL:
        break;
    }
    return 70;
}

static size_t cores(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n < GRAPHSS_THREADS_MOST ? (size_t)n : GRAPHSS_THREADS_MOST;
}

void graphss_ctx_options_init(graphss_ctx_options *opt)
{
    *opt = (graphss_ctx_options){.struct_size = sizeof *opt};
}

graphss_ctx *graphss_ctx_new(const graphss_ctx_options *given)
{
    graphss_ctx_options opt = {.struct_size = sizeof opt};
    if (given && given->struct_size != sizeof opt)
        return NULL;
    if (given)
        opt = *given;
    if (!opt.allocator.alloc != !opt.allocator.release || opt.threads > GRAPHSS_THREADS_MOST)
        return NULL;
    if (!opt.allocator.alloc)
        opt.allocator = graphss_i_standard_allocator;
    if (opt.threads == 0)
        opt.threads = cores();

    graphss_ctx *ctx = opt.allocator.alloc(opt.allocator.user, sizeof *ctx);
    if (!ctx)
        return NULL;
    memset(ctx, 0, sizeof *ctx);
    ctx->opt = opt;
    ctx->kernels = graphss_i_kernels_choose();
    if (opt.threads > 1) {
        ctx->pool = graphss_i_pool_new(ctx, opt.threads);
        if (!ctx->pool) {
            graphss_ctx_free(ctx);
            return NULL;
        }
    }
    return ctx;
}

void graphss_ctx_free(graphss_ctx *ctx)
{
    if (!ctx)
        return;
    const graphss_allocator a = ctx->opt.allocator;
    graphss_i_pool_free(ctx, ctx->pool);
    graphss_release(ctx, ctx->meeting);
    graphss_release(ctx, ctx->checkpoint);
    graphss_release(ctx, ctx->checkpoint_of);
    a.release(a.user, ctx);
}

const char *graphss_ctx_error(const graphss_ctx *ctx)
{
    return ctx ? ctx->error : "no context: out of memory, or options it cannot be made of";
}

graphss_status graphss_ctx_status(const graphss_ctx *ctx)
{
    return ctx ? ctx->status : GRAPHSS_ERR_NOMEM;
}

size_t graphss_ctx_threads(const graphss_ctx *ctx)
{
    return ctx->pool ? graphss_i_pool_threads(ctx->pool) : 1;
}

const char *graphss_ctx_instruction_set(const graphss_ctx *ctx)
{
    return ctx->kernels->name;
}

const struct graphss_i_kernels *graphss_i_ctx_kernels(const graphss_ctx *ctx)
{
    return ctx->kernels;
}

void graphss_i_parallel(graphss_ctx *ctx, size_t n_tasks, graphss_i_task fn, void *arg)
{
    if (ctx->pool && n_tasks > 1) {
        graphss_i_pool_run(ctx->pool, n_tasks, fn, arg, NULL);
        return;
    }
    for (size_t t = 0; t < n_tasks; t++)
        fn(arg, t);
}

/* Runs tasks until the progress callback asks to stop. The callback is called on the caller's
 * thread only. */
typedef struct checked {
    graphss_ctx *ctx;
    graphss_i_task fn;
    void *arg;
    pthread_t caller;
    atomic_bool stopped;
} checked;

static void ask_caller(void *arg)
{
    checked *c = arg;
    if (!atomic_load(&c->stopped) && graphss_i_pulse(c->ctx))
        atomic_store(&c->stopped, true);
}

static void run_checked(void *arg, size_t task)
{
    checked *c = arg;
    if (pthread_equal(pthread_self(), c->caller))
        ask_caller(c);
    if (!atomic_load(&c->stopped))
        c->fn(c->arg, task);
}

graphss_status graphss_i_parallel_checked(
    graphss_ctx *ctx, size_t n_tasks, graphss_i_task fn, void *arg)
{
    checked c = {.ctx = ctx, .fn = fn, .arg = arg, .caller = pthread_self()};
    if (ctx->pool && n_tasks > 1)
        graphss_i_pool_run(ctx->pool, n_tasks, run_checked, &c, ask_caller);
    else
        for (size_t t = 0; t < n_tasks; t++)
            run_checked(&c, t);
    return atomic_load(&c.stopped) ? GRAPHSS_ERR_CANCELLED : GRAPHSS_OK;
}

graphss_status graphss_i_fail(graphss_ctx *ctx, graphss_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ctx->error, sizeof ctx->error, format, args);
    va_end(args);
    ctx->status = status;
    return status;
}

graphss_status graphss_i_fail_in(graphss_ctx *ctx, graphss_status status, const char *where)
{
    char inner[sizeof ctx->error];
    memcpy(inner, ctx->error, sizeof inner);
    return graphss_i_fail(ctx, status, "%s: %s", where, inner);
}

graphss_status graphss_i_nomem(graphss_ctx *ctx, size_t bytes)
{
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_NOMEM, "out of memory: %zu bytes were wanted", bytes);
}

bool graphss_i_lacks(graphss_ctx *ctx, const graphss_i_argument *argument)
{
    while (argument->name && argument->given)
        argument++;
    return argument->name &&
           graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "no %s given: NULL", argument->name);
}

void graphss_i_log(graphss_ctx *ctx, graphss_log_level level, const char *format, ...)
{
    if (!ctx->opt.log)
        return;
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    ctx->opt.log(ctx->opt.user, level, line);
}

graphss_status graphss_i_progress(
    graphss_ctx *ctx, const char *stage, size_t done, size_t total, const char *note)
{
    if (!ctx->opt.progress)
        return GRAPHSS_OK;
    ctx->stage = stage;
    ctx->done = done;
    ctx->total = total;
    ctx->told = graphss_i_seconds();
    if (ctx->opt.progress(ctx->opt.user, stage, done, total, note))
        return GRAPHSS_OK;
    if (total)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_CANCELLED, "%s cancelled at %zu of %zu", stage, done, total);
    return graphss_i_fail(ctx, GRAPHSS_ERR_CANCELLED, "%s cancelled", stage);
}

graphss_status graphss_i_pulse(graphss_ctx *ctx)
{
    const double patience = 0.1;
    if (!ctx->opt.progress || graphss_i_seconds() - ctx->told < patience)
        return GRAPHSS_OK;
    if (!ctx->stage || ctx->done == ctx->total) /* of a finished operation */
        return graphss_i_progress(ctx, "prepare", 0, 0, NULL);
    return graphss_i_progress(ctx, ctx->stage, ctx->done, ctx->total, NULL);
}

double graphss_i_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
