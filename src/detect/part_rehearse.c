/* part_rehearse.c - the rehearsal of attacks where the snapshot is shared among ranks.
 *
 * Rank 0 rehearses, as one machine does, on all nodes or, of many, on a sample: nodes to
 * rehearse with, drawn by their hash, and what is around them, hop by hop, as far as there is
 * room. Some hundreds of nodes are rehearsed, whatever the graph is, so a sample of this size
 * holds most of their neighbourhood of two hops. The sample does not depend on the number of
 * ranks. */
#include "base/ranks.h"
#include "detect/state_model.h"
#include "detect/tuning.h"
#include "graph/part.h"
#include "models/model_private.h"
#include "models/part_private.h"
#include <graphss/engine.h>
#include <stdlib.h>
#include <string.h>

enum { HOPS = 3 };

/* ---- which nodes ---- */

/* A node, to be ordered by its hash. */
typedef struct hashed {
    uint64_t hash;
    int64_t id;
} hashed;

static hashed hash_of(int64_t id)
{
    graphss_rng rng = graphss_rng_make((uint64_t)id, GRAPHSS_STREAM_DEFENCE + 1);
    return (hashed){graphss_rng_u64(&rng), id};
}

static int by_hash(const void *a, const void *b)
{
    const hashed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash > y->hash ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Adds to in [n_all] the first of the nodes [n] by hash, as long as there is room for *left.
 */
static void add_some(uint8_t *in, hashed *list, size_t n, size_t *left)
{
    qsort(list, n, sizeof *list, by_hash);
    for (size_t i = 0; i < n && *left; i++)
        if (!in[list[i].id]) {
            in[list[i].id] = 1;
            --*left;
        }
}

/* Nodes to rehearse with: the first validation nodes by hash, and training nodes where there
 * are few. wanted [n_all] */
static graphss_status choose_seeds(
    graphss_ctx *ctx, uint8_t *wanted, const graphss_split *split)
{
    const size_t all = split->n_val + split->n_train;
    hashed *list = graphss_i_alloc(ctx, all, sizeof *list);
    size_t left = TUNE_REHEARSED_MOST;
    if (!list)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < split->n_val; i++)
        list[i] = hash_of(split->val[i]);
    add_some(wanted, list, split->n_val, &left);
    for (size_t i = 0; i < split->n_train; i++)
        list[i] = hash_of(split->train[i]);
    add_some(wanted, list, split->n_train, &left);
    graphss_release(ctx, list);
    return GRAPHSS_OK;
}

/* The neighbours of the nodes in [n_all], as far as there is room. */
static graphss_status grow(
    graphss_ctx *ctx, uint8_t *in, const graphss_i_part *part, size_t *left)
{
    const graphss_graph *g = &part->graph;
    graphss_i_pieces all = {0};
    uint8_t *met = graphss_i_calloc(ctx, part->n_own + part->n_ghost, sizeof *met);
    int64_t *own = graphss_i_alloc(ctx, part->n_own + part->n_ghost, sizeof *own);
    hashed *list = NULL;
    size_t m = 0, n = 0;
    graphss_status st =
        graphss_engine_agree(ctx, met && own ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    for (size_t v = 0; v < part->n_own && !st; v++)
        for (int64_t e = g->offset[v]; e < g->offset[v + 1] && in[part->id[v]]; e++) {
            const int32_t u = g->target[e];
            if (!met[u] && !in[part->id[u]])
                own[m++] = part->id[u];
            met[u] = 1;
        }
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &all, own, m * sizeof *own);
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++)
        n += all.bytes[r] / sizeof *own;
    if (!st) {
        list = graphss_i_alloc(ctx, n, sizeof *list);
        st = list ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    n = 0;
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++) {
        const int64_t *id = (const int64_t *)(const void *)(all.block + r * all.most);
        for (size_t i = 0; i < all.bytes[r] / sizeof *id; i++)
            list[n++] = hash_of(id[i]);
    }
    if (!st)
        add_some(in, list, n, left);
    graphss_release(ctx, list);
    graphss_release(ctx, own);
    graphss_release(ctx, met);
    graphss_i_pieces_destroy(ctx, &all);
    return graphss_engine_agree(ctx, st, NULL);
}

/* in [n_all]: the nodes of the sample; seed [n_all]: those to rehearse with. All of them,
 * both, where there is room for all. */
static graphss_status choose(graphss_ctx *ctx, uint8_t *in, uint8_t *seed,
    const graphss_i_part *part, const graphss_split *split, size_t most)
{
    if (part->n_all <= most) {
        memset(in, 1, part->n_all);
        memset(seed, 1, part->n_all);
        return GRAPHSS_OK;
    }
    graphss_status st = choose_seeds(ctx, seed, split);
    size_t left = most;
    memcpy(in, seed, part->n_all);
    for (size_t v = 0; v < part->n_all; v++)
        left -= seed[v] && left;
    st = graphss_engine_agree(ctx, st, NULL);
    for (size_t hop = 0; hop < HOPS && left && !st; hop++)
        st = grow(ctx, in, part, &left);
    return st;
}

/* ---- the sample as a snapshot ---- */

typedef struct sample {
    int64_t *id;     /* [n] global numbers, ascending */
    int32_t *number; /* [n_all] number in the sample, -1: not there */
    size_t n;
    graphss_graph graph;
    graphss_features features;
    graphss_split split;
} sample;

static void sample_close(graphss_ctx *ctx, sample *s)
{
    graphss_release(ctx, s->id);
    graphss_release(ctx, s->number);
    graphss_graph_destroy(ctx, &s->graph);
    graphss_features_destroy(ctx, &s->features);
    graphss_split_destroy(ctx, &s->split);
}

static graphss_status take_nodes(graphss_ctx *ctx, sample *s, const uint8_t *in, size_t n_all)
{
    for (size_t v = 0; v < n_all; v++)
        s->n += in[v];
    s->id = graphss_i_alloc(ctx, s->n, sizeof *s->id);
    s->number = graphss_i_alloc(ctx, n_all, sizeof *s->number);
    if (!s->id || !s->number)
        return GRAPHSS_ERR_NOMEM;
    size_t at = 0;
    for (size_t v = 0; v < n_all; v++) {
        s->number[v] = in[v] ? (int32_t)at : -1;
        if (in[v])
            s->id[at++] = (int64_t)v;
    }
    return GRAPHSS_OK;
}

/* Edges that lead out of the sample go, the others are renumbered. */
static void close_edges(sample *s)
{
    graphss_graph *g = &s->graph;
    int64_t at = 0, from = 0;
    for (size_t v = 0; v < g->n_nodes; v++) {
        const int64_t end = g->offset[v + 1];
        for (int64_t e = from; e < end; e++)
            if (s->number[g->target[e]] >= 0)
                g->target[at++] = s->number[g->target[e]];
        g->offset[v + 1] = at;
        from = end;
    }
}

static size_t keep_nodes(
    int32_t *node, int32_t *label, size_t n, const int32_t *number, const uint8_t *wanted)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (number[node[i]] < 0 || (wanted && !wanted[node[i]]))
            continue;
        label[kept] = label[i];
        node[kept++] = number[node[i]];
    }
    return kept;
}

static graphss_status take_split(
    graphss_ctx *ctx, sample *s, const graphss_split *split, const uint8_t *seed)
{
    const graphss_status st = graphss_split_copy(ctx, &s->split, split);
    if (st)
        return st;
    s->split.n_train =
        keep_nodes(s->split.train, s->split.train_label, s->split.n_train, s->number, NULL);
    if (s->split.n_val)
        s->split.n_val =
            keep_nodes(s->split.val, s->split.val_label, s->split.n_val, s->number, seed);
    s->split.n_test = 0;
    return GRAPHSS_OK;
}

static graphss_status sample_open(graphss_ctx *ctx, sample *s, const graphss_i_part *part,
    const graphss_split *split, size_t most)
{
    uint8_t *in = graphss_i_calloc(ctx, part->n_all, 2 * sizeof *in);
    uint8_t *seed = in ? in + part->n_all : NULL;
    graphss_status st = graphss_engine_agree(ctx, in ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = choose(ctx, in, seed, part, split, most);
    if (!st)
        st = graphss_engine_agree(ctx, take_nodes(ctx, s, in, part->n_all), NULL);
    if (!st)
        st = graphss_i_part_share(
            ctx, &s->graph, &s->features, part, &part->features, s->id, s->n);
    if (!st) {
        close_edges(s);
        st = take_split(ctx, s, split, seed);
    }
    graphss_release(ctx, in);
    return graphss_engine_agree(ctx, st, NULL);
}

/* ---- the rehearsal ---- */

/* Sends what rank 0 learned to all. */
static graphss_status hand_out(graphss_ctx *ctx, graphss_model *model)
{
    graphss_i_model_kept *kept = &model->kept[GRAPHSS_I_KEPT_STATES];
    const size_t size = graphss_i_rank(ctx) == 0 ? kept->rows * kept->cols : 0;
    graphss_i_pieces all = {0};
    graphss_status st =
        graphss_i_ranks_pieces(ctx, &all, kept->value, size * sizeof *kept->value);
    if (!st && graphss_i_rank(ctx) != 0 && all.bytes[0])
        st = graphss_i_model_keep(ctx, model, GRAPHSS_I_KEPT_STATES,
            (const double *)(const void *)all.block, all.bytes[0] / sizeof *kept->value, 1);
    else if (!st && graphss_i_rank(ctx) != 0)
        graphss_i_model_drop(ctx, model, GRAPHSS_I_KEPT_STATES);
    graphss_i_pieces_destroy(ctx, &all);
    return graphss_engine_agree(ctx, st, NULL);
}

/* Rank 0 alone, as if there were no others; they wait for it. */
static graphss_status rehearse(
    graphss_ctx *ctx, graphss_model *model, const sample *s, uint64_t seed)
{
    if (graphss_i_rank(ctx) != 0)
        return GRAPHSS_OK;
    const graphss_defence_input in = {.struct_size = sizeof in,
        .current = {&s->graph, &s->features, NULL},
        .model = model,
        .split = &s->split,
        .seed = seed};
    graphss_i_part *part = graphss_i_ctx_part(ctx);
    const graphss_engine *engine = graphss_i_ranks_pause(ctx);
    graphss_i_ctx_set_part(ctx, NULL);
    const graphss_status st = graphss_i_states_train(ctx, model, &in);
    graphss_i_ctx_set_part(ctx, part);
    graphss_i_ranks_resume(ctx, engine);
    return st;
}

graphss_status graphss_i_part_rehearse(graphss_ctx *ctx, graphss_model *model,
    const graphss_i_part *part, uint64_t seed, size_t most)
{
    sample s = {0};
    graphss_status st = sample_open(ctx, &s, part, graphss_model_split(model), most);
    if (!st)
        st = graphss_engine_agree(ctx, rehearse(ctx, model, &s, seed), NULL);
    sample_close(ctx, &s);
    return st ? st : hand_out(ctx, model);
}

graphss_status graphss_part_rehearse(
    graphss_ctx *ctx, graphss_model *model, const graphss_part *part, uint64_t seed)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"part", part}))
        return GRAPHSS_ERR_INVALID;
    return graphss_i_part_rehearse(ctx, model, &part->own, seed, GRAPHSS_I_WHOLE_MOST);
}
