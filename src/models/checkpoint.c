/* checkpoint.c - see checkpoint.h.
 *
 * The file: "graphss checkpoint 1\n", a head of 64-bit numbers, the arrays as floats, all in
 * this machine's byte order, and the SHA-256 of all that as text. It is written whole or not
 * at all. Weights are the same on every rank, so it does not matter how many there are. */
#include "models/checkpoint.h"
#include "base/context_private.h"
#include "base/ranks.h"
#include "data/digest.h"
#include <dirent.h>
#include <errno.h>
#include <graphss/model.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const char magic[] = "graphss checkpoint 1\n";

typedef struct head {
    char of[64];
    uint64_t epoch, count, step, best_step, best_epoch, epochs, moments;
    double best_accuracy, best_loss;
} head;

graphss_status graphss_ctx_checkpoint(
    graphss_ctx *ctx, const char *path, const char *of, double seconds)
{
    if (path && GRAPHSS_I_LACKS(ctx, {"what the checkpoint is of", of}))
        return GRAPHSS_ERR_INVALID;
    if (path && strlen(path) > GRAPHSS_I_CHECKPOINT_PATH - 16)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "the path of the checkpoint has %zu bytes, at most %d are allowed", strlen(path),
            GRAPHSS_I_CHECKPOINT_PATH - 16);
    char *copy = path ? graphss_i_strdup(ctx, path) : NULL;
    char *text = path ? graphss_i_strdup(ctx, of) : NULL;
    if (path && (!copy || !text)) {
        graphss_release(ctx, copy);
        graphss_release(ctx, text);
        return GRAPHSS_ERR_NOMEM;
    }
    graphss_release(ctx, ctx->checkpoint);
    graphss_release(ctx, ctx->checkpoint_of);
    ctx->checkpoint = copy;
    ctx->checkpoint_of = text;
    ctx->checkpoint_every = seconds;
    return GRAPHSS_OK;
}

graphss_status graphss_checkpoint_remove(graphss_ctx *ctx, const char *path)
{
    if (GRAPHSS_I_LACKS(ctx, {"path", path}))
        return GRAPHSS_ERR_INVALID;
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        unsigned rank;
        char rest, file[GRAPHSS_I_CHECKPOINT_PATH];
        if (sscanf(entry->d_name, "rank-%5u%c", &rank, &rest) != 1)
            continue;
        snprintf(file, sizeof file, GRAPHSS_I_CHECKPOINT_RANK, path, (size_t)rank);
        (void)unlink(file);
    }
    if (folder)
        closedir(folder);
    if ((folder ? rmdir(path) : unlink(path)) == 0 || errno == ENOENT)
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "%s: cannot remove: %s", path, strerror(errno));
}

graphss_status graphss_i_checkpoint_open(
    graphss_ctx *ctx, graphss_i_checkpointing *c, const void *what, size_t bytes)
{
    graphss_i_digest d;
    if (!ctx->checkpoint)
        return GRAPHSS_OK;
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, ctx->checkpoint_of, strlen(ctx->checkpoint_of));
    graphss_i_digest_add(&d, what, bytes);
    graphss_i_digest_end(&d, c->of);
    c->path = ctx->checkpoint;
    c->every = ctx->checkpoint_every;
    c->last = graphss_i_seconds();
    ctx->checkpoint = NULL; /* that differ between two trainings */
    graphss_release(ctx, ctx->checkpoint_of);
    ctx->checkpoint_of = NULL;
    return GRAPHSS_OK;
}

void graphss_i_checkpoint_destroy(graphss_ctx *ctx, graphss_i_checkpointing *c)
{
    graphss_release(ctx, c->path);
    *c = (graphss_i_checkpointing){0};
}

/* The arrays in the order of the file, and their lengths. */
enum { ARRAYS = 8 };
typedef struct array {
    float *x;
    size_t n;
} array;

static void arrays_of(array out[ARRAYS], const graphss_i_progressing *p)
{
    const size_t n = p->params->count, kept = p->best_m ? n : 0;
    const array list[ARRAYS] = {{p->params->value, n}, {p->adam->m, n}, {p->adam->v, n},
        {p->best, n}, {p->best_m, kept}, {p->best_v, kept}, {p->loss, p->epoch},
        {p->val_acc, p->epoch}};
    memcpy(out, list, sizeof list);
}

/* ---- writing ---- */

static graphss_status put(
    graphss_ctx *ctx, graphss_i_output *out, graphss_i_digest *d, const void *bytes, size_t n)
{
    graphss_i_digest_add(d, bytes, n);
    return graphss_i_output_write(ctx, out, bytes, n);
}

static graphss_status write_file(
    graphss_ctx *ctx, const graphss_i_checkpointing *c, const graphss_i_progressing *p)
{
    graphss_i_output out;
    graphss_i_digest d;
    char hex[65];
    array list[ARRAYS];
    head h = {.epoch = p->epoch,
        .count = p->params->count,
        .step = p->adam->step,
        .best_step = p->best_step,
        .best_epoch = p->best_epoch,
        .epochs = p->epochs,
        .moments = p->best_m != NULL,
        .best_accuracy = p->best_accuracy,
        .best_loss = p->best_loss};
    memcpy(h.of, c->of, sizeof h.of);
    graphss_status st = graphss_i_output_open(ctx, &out, c->path);
    if (st)
        return st;
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    arrays_of(list, p);
    st = put(ctx, &out, &d, magic, sizeof magic - 1);
    if (!st)
        st = put(ctx, &out, &d, &h, sizeof h);
    for (size_t i = 0; i < ARRAYS && !st; i++)
        st = put(ctx, &out, &d, list[i].x, list[i].n * sizeof *list[i].x);
    graphss_i_digest_end(&d, hex);
    if (!st)
        st = graphss_i_output_write(ctx, &out, hex, 64);
    if (!st)
        return graphss_i_output_commit(ctx, &out);
    graphss_i_output_abandon(ctx, &out);
    return st;
}

void graphss_i_checkpoint_write(
    graphss_ctx *ctx, graphss_i_checkpointing *c, const graphss_i_progressing *p, bool now)
{
    const double waited = graphss_i_seconds() - c->last;
    if (!c->path || graphss_i_rank(ctx) != 0 || (!now && waited < c->every))
        return;
    if (write_file(ctx, c, p) && !c->complained) {
        graphss_i_log(ctx, GRAPHSS_LOG_WARN, "no checkpoint is kept: %s", ctx->error);
        c->complained = true;
    }
    c->last = graphss_i_seconds(); /* as long between two of them */
}

/* ---- reading ---- */

static graphss_status take(graphss_ctx *ctx, const graphss_i_checkpointing *c,
    graphss_i_progressing *p, const char *text, size_t n)
{
    const size_t least = sizeof magic - 1 + sizeof(head) + 64;
    graphss_i_digest d;
    char hex[65];
    head h;
    array list[ARRAYS];
    if (n < least || memcmp(text, magic, sizeof magic - 1) != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: is no checkpoint", c->path);
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, text, n - 64);
    graphss_i_digest_end(&d, hex);
    if (memcmp(text + n - 64, hex, 64) != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: its SHA-256 is not the one it ends with: it is damaged", c->path);
    memcpy(&h, text + sizeof magic - 1, sizeof h);
    if (memcmp(h.of, c->of, sizeof h.of) != 0 || h.count != p->params->count ||
        h.epochs != p->epochs || h.epoch > p->epochs ||
        (h.moments != 0) != (p->best_m != NULL))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: a checkpoint of another training: want one with the same "
            "dataset, split, options and seed, or no file",
            c->path);
    p->epoch = (size_t)h.epoch;
    arrays_of(list, p);
    size_t floats = 0;
    for (size_t i = 0; i < ARRAYS; i++)
        floats += list[i].n;
    if (n != least + floats * sizeof(float))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: %zu bytes, want %zu", c->path, n,
            least + floats * sizeof(float));
    const char *from = text + sizeof magic - 1 + sizeof h;
    for (size_t i = 0; i < ARRAYS; i++) {
        if (list[i].n)
            memcpy(list[i].x, from, list[i].n * sizeof *list[i].x);
        from += list[i].n * sizeof *list[i].x;
    }
    p->adam->step = (size_t)h.step;
    p->best_step = (size_t)h.best_step;
    p->best_epoch = (size_t)h.best_epoch;
    p->best_accuracy = h.best_accuracy;
    p->best_loss = h.best_loss;
    return GRAPHSS_OK;
}

graphss_status graphss_i_checkpoint_read(
    graphss_ctx *ctx, const graphss_i_checkpointing *c, graphss_i_progressing *p)
{
    char *text = NULL;
    size_t n = 0;
    graphss_i_pieces all = {0};
    graphss_status st = GRAPHSS_OK;
    if (!c->path)
        return GRAPHSS_OK;
    if (graphss_i_rank(ctx) == 0)
        st = graphss_i_file_read(ctx, &text, &n, c->path, UINT64_MAX);
    if (st == GRAPHSS_ERR_NOT_FOUND)
        st = GRAPHSS_OK; /* the training begins */
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &all, text, n);
    if (!st && all.bytes[0])
        st = take(ctx, c, p, all.block, all.bytes[0]);
    if (!st && all.bytes[0])
        graphss_i_log(ctx, GRAPHSS_LOG_INFO, "continues at epoch %zu of %zu, from %s",
            p->epoch, p->epochs, c->path);
    graphss_i_pieces_destroy(ctx, &all);
    graphss_release(ctx, text);
    return st;
}
