#include "base/ranks.h"
#include "base/base.h"
#include "base/context_private.h"
#include <string.h>

/* The next operation. Ranks that differ in it are out of step, which is a bug of ours. */
typedef enum step { AGREE, SUM, SUM_FLOATS, GATHER, EXCHANGE, COUNTS } step;

typedef struct report {
    int32_t status, step;
} report;

enum { TEXT = sizeof((graphss_ctx *)NULL)->error };

size_t graphss_i_ranks(const graphss_ctx *ctx)
{
    return ctx->engine ? (size_t)ctx->engine->ranks : 1;
}

size_t graphss_i_rank(const graphss_ctx *ctx)
{
    return ctx->engine ? (size_t)ctx->engine->rank : 0;
}

graphss_status graphss_i_ranks_status(const graphss_ctx *ctx)
{
    return ctx->left;
}

struct graphss_i_part *graphss_i_ctx_part(const graphss_ctx *ctx)
{
    return ctx->part;
}

void graphss_i_ctx_set_part(graphss_ctx *ctx, struct graphss_i_part *part)
{
    ctx->part = part;
}

const graphss_engine *graphss_i_ranks_pause(graphss_ctx *ctx)
{
    const graphss_engine *engine = ctx->engine;
    ctx->engine = NULL;
    return engine;
}

void graphss_i_ranks_resume(graphss_ctx *ctx, const graphss_engine *engine)
{
    ctx->engine = engine;
}

graphss_status graphss_ctx_join(graphss_ctx *ctx, const graphss_engine *engine)
{
    if (engine && (engine->struct_size != sizeof *engine || engine->ranks < 1 ||
                      engine->rank < 0 || engine->rank >= engine->ranks || !engine->gather ||
                      !engine->exchange || !engine->sum))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "the engine is not initialised, or of another version");
    char *room = engine ? graphss_i_alloc(ctx, (size_t)engine->ranks, TEXT) : NULL;
    if (engine && !room)
        return GRAPHSS_ERR_NOMEM;
    graphss_release(ctx, ctx->meeting);
    ctx->meeting = room;
    ctx->engine = engine;
    ctx->left = GRAPHSS_OK;
    return GRAPHSS_OK;
}

graphss_status graphss_engine_open(graphss_ctx *ctx, graphss_engine *out, const char *name)
{
    if (GRAPHSS_I_LACKS(ctx, {"name of the engine", name}, {"place for the engine", out}))
        return GRAPHSS_ERR_INVALID;
    const char *(*open)(graphss_engine * engine) = NULL;
    graphss_engine made = {.struct_size = sizeof made};
    if (strcmp(name, "mpi") != 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "--engine: found '%.40s', want mpi", name);
    const graphss_status st =
        graphss_i_plugin_find(ctx, &open, sizeof open, name, "graphss_engine_start");
    if (st)
        return st;
    const char *fault = open(&made);
    if (fault)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "mpi: %s", fault);
    *out = made;
    return GRAPHSS_OK;
}

static graphss_status lose(graphss_ctx *ctx)
{
    ctx->left = graphss_i_fail(ctx, GRAPHSS_ERR_IO, "the connection to other ranks is lost");
    return ctx->left;
}

/* All take the text of the lowest rank that failed. */
static graphss_status take_error(graphss_ctx *ctx, int32_t first, bool all, const char *text)
{
    char own[TEXT];
    snprintf(own, sizeof own, "%s", text);
    if (ctx->engine->gather(ctx->engine->user, ctx->meeting, own, TEXT) != 0)
        return lose(ctx);
    const char *said = ctx->meeting + (size_t)first * TEXT;
    for (int32_t r = 0; r < ctx->engine->ranks && all; r++)
        all = strcmp(ctx->meeting + (size_t)r * TEXT, said) == 0;
    if (all)
        return graphss_i_fail(ctx, ctx->left, "%s", said);
    return graphss_i_fail(ctx, ctx->left, "rank %d: %s", (int)first, said);
}

/* Returns OK if all ranks are well and at the same operation. */
static graphss_status meet(graphss_ctx *ctx, graphss_status own, const char *text, step what)
{
    const graphss_engine *e = ctx->engine;
    if (!e)
        return own;
    if (ctx->left)
        return ctx->left;
    const report mine = {(int32_t)own, (int32_t)what};
    if (e->gather(e->user, ctx->meeting, &mine, sizeof mine) != 0)
        return lose(ctx);
    int32_t first = -1;
    bool same = true, all = true;
    for (int32_t r = e->ranks; r-- > 0;) {
        report other;
        memcpy(&other, ctx->meeting + (size_t)r * sizeof other, sizeof other);
        same = same && other.step == mine.step;
        all = all && other.status != GRAPHSS_OK;
        if (other.status != GRAPHSS_OK) {
            first = r;
            ctx->left = (graphss_status)other.status;
        }
    }
    if (first >= 0)
        return take_error(ctx, first, all, own ? text : "");
    if (!same)
        ctx->left = graphss_i_fail(ctx, GRAPHSS_ERR_INTERNAL, "the ranks are not in step");
    return ctx->left;
}

graphss_status graphss_engine_agree(graphss_ctx *ctx, graphss_status own, const char *text)
{
    return meet(ctx, own, text ? text : ctx->error, AGREE);
}

graphss_status graphss_i_ranks_gather(
    graphss_ctx *ctx, void *all, const void *own, size_t bytes)
{
    if (!ctx->engine) {
        memcpy(all, own, bytes);
        return GRAPHSS_OK;
    }
    const graphss_status st = meet(ctx, GRAPHSS_OK, "", GATHER);
    if (st)
        return st;
    return ctx->engine->gather(ctx->engine->user, all, own, bytes) == 0 ? GRAPHSS_OK
                                                                        : lose(ctx);
}

graphss_status graphss_i_ranks_sum(graphss_ctx *ctx, double *x, size_t n)
{
    if (!ctx->engine)
        return GRAPHSS_OK;
    const size_t ranks = (size_t)ctx->engine->ranks;
    double *all = graphss_i_alloc(ctx, n, ranks * sizeof *all);
    graphss_status st = meet(ctx, all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, ctx->error, SUM);
    if (!st && ctx->engine->gather(ctx->engine->user, all, x, n * sizeof *x) != 0)
        st = lose(ctx);
    for (size_t j = 0; j < n && !st; j++) {
        double sum = 0;
        for (size_t r = 0; r < ranks; r++)
            sum += all[r * n + j];
        x[j] = sum;
    }
    graphss_release(ctx, all);
    return st;
}

graphss_status graphss_i_ranks_sum_floats(graphss_ctx *ctx, float *x, size_t n)
{
    if (!ctx->engine)
        return GRAPHSS_OK;
    const graphss_status st = meet(ctx, GRAPHSS_OK, "", SUM_FLOATS);
    if (st)
        return st;
    return ctx->engine->sum(ctx->engine->user, x, n) == 0 ? GRAPHSS_OK : lose(ctx);
}

graphss_status graphss_i_ranks_exchange(graphss_ctx *ctx, void *in, const size_t *in_count,
    const void *out, const size_t *out_count, size_t size)
{
    const size_t ranks = graphss_i_ranks(ctx);
    if (!ctx->engine) {
        memcpy(in, out, in_count[0] * size);
        return GRAPHSS_OK;
    }
    size_t *bytes = graphss_i_alloc(ctx, ranks, 2 * sizeof *bytes);
    graphss_status st =
        meet(ctx, bytes ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, ctx->error, EXCHANGE);
    for (size_t r = 0; r < ranks && !st; r++) {
        bytes[r] = in_count[r] * size;
        bytes[ranks + r] = out_count[r] * size;
    }
    if (!st && ctx->engine->exchange(ctx->engine->user, in, bytes, out, bytes + ranks) != 0)
        st = lose(ctx);
    graphss_release(ctx, bytes);
    return st;
}

graphss_status graphss_i_ranks_counts(
    graphss_ctx *ctx, size_t *in_count, const size_t *out_count)
{
    const size_t ranks = graphss_i_ranks(ctx);
    size_t *all = graphss_i_alloc(ctx, ranks, ranks * sizeof *all);
    graphss_status st = meet(ctx, all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, ctx->error, COUNTS);
    if (!st)
        st = graphss_i_ranks_gather(ctx, all, out_count, ranks * sizeof *all);
    for (size_t r = 0; r < ranks && !st; r++)
        in_count[r] = all[r * ranks + graphss_i_rank(ctx)];
    graphss_release(ctx, all);
    return st;
}

static graphss_status reduce(graphss_ctx *ctx, size_t *n, bool sum)
{
    const size_t ranks = graphss_i_ranks(ctx);
    size_t *all = graphss_i_alloc(ctx, ranks, sizeof *all), out = 0;
    graphss_status st = graphss_engine_agree(ctx, all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_gather(ctx, all, n, sizeof *n);
    for (size_t r = 0; r < ranks && !st; r++)
        out = sum ? out + all[r] : all[r] > out ? all[r] : out;
    if (!st)
        *n = out;
    graphss_release(ctx, all);
    return st;
}

graphss_status graphss_i_ranks_most(graphss_ctx *ctx, size_t *n)
{
    return ctx->engine ? reduce(ctx, n, false) : GRAPHSS_OK;
}

graphss_status graphss_i_ranks_total(graphss_ctx *ctx, size_t *n)
{
    return ctx->engine ? reduce(ctx, n, true) : GRAPHSS_OK;
}

graphss_status graphss_i_ranks_pieces(
    graphss_ctx *ctx, graphss_i_pieces *out, const void *own, size_t bytes)
{
    const size_t ranks = graphss_i_ranks(ctx);
    char *padded = NULL;
    out->bytes = graphss_i_alloc(ctx, ranks, sizeof *out->bytes);
    graphss_status st =
        graphss_engine_agree(ctx, out->bytes ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_gather(ctx, out->bytes, &bytes, sizeof bytes);
    for (size_t r = 0; r < ranks && !st; r++)
        out->most = out->bytes[r] > out->most ? out->bytes[r] : out->most;
    if (st)
        return st;
    out->most = (out->most + 7) / 8 * 8; /* numbers begin where they may */
    out->block = graphss_i_alloc(ctx, out->most, ranks);
    padded = graphss_i_calloc(ctx, out->most, 1);
    st =
        graphss_engine_agree(ctx, out->block && padded ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st) {
        if (bytes)
            memcpy(padded, own, bytes);
        st = graphss_i_ranks_gather(ctx, out->block, padded, out->most);
    }
    graphss_release(ctx, padded);
    return st;
}

void graphss_i_pieces_destroy(graphss_ctx *ctx, graphss_i_pieces *pieces)
{
    graphss_release(ctx, pieces->block);
    graphss_release(ctx, pieces->bytes);
    *pieces = (graphss_i_pieces){0};
}
