/* part.c - train and predict with a shard to each rank.
 *
 * The arithmetic is that of one machine: the same tape, kernels and training loop. They meet
 * other ranks in four places: the sparse product (graph/part.c), dropout (tape/drop.c), sums
 * of gradients and losses (fit.c), and what is learned of features (input.c). Here are the
 * ends: from files to the part, and from the parts' answers to one.
 *
 * What grows with the whole graph on every rank: labels and names, 4 bytes a node and the
 * texts. */
#include "graph/part.h"
#include "data/build.h"
#include "data/columns.h"
#include "data/shards/shard.h"
#include "models/model_private.h"
#include "models/unchecked.h"
#include <graphss/engine.h>
#include <graphss/labels.h>
#include <string.h>

struct graphss_part {
    graphss_i_part own;
};

/* ---- rows of all ranks in the order of the global numbers ---- */

static void put_rows(char *all, const int64_t *id, const char *row, size_t n, size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(all + (size_t)id[i] * size, row + i * size, size);
}

/* all [n_all x size] on every rank. */
static graphss_status gather_rows(graphss_ctx *ctx, void *all, const graphss_i_part *p,
                                  const void *own, size_t size)
{
    graphss_i_pieces ids = {0}, rows = {0};
    graphss_status st = graphss_i_ranks_pieces(ctx, &ids, p->id, p->n_own * sizeof *p->id);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &rows, own, p->n_own * size);
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++)
        put_rows(all, (const int64_t *)(const void *)(ids.block + r * ids.most),
                 rows.block + r * rows.most, ids.bytes[r] / sizeof(int64_t), size);
    graphss_i_pieces_destroy(ctx, &rows);
    graphss_i_pieces_destroy(ctx, &ids);
    return st;
}

/* all [n_all x size] on rank 0 alone. */
static graphss_status collect_rows(graphss_ctx *ctx, void *all, const graphss_i_part *p,
                                   const void *own, size_t size)
{
    const size_t ranks = graphss_i_ranks(ctx), rank = graphss_i_rank(ctx);
    const size_t total = rank == 0 ? p->n_all : 0;
    size_t *in = graphss_i_calloc(ctx, ranks, sizeof *in);
    size_t *out = graphss_i_calloc(ctx, ranks, sizeof *out);
    int64_t *id = graphss_i_alloc(ctx, total, sizeof *id);
    char *row = graphss_i_alloc(ctx, total, size);
    graphss_status st = graphss_engine_agree(
        ctx, in && out && id && row ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st) {
        out[0] = p->n_own;
        st = graphss_i_ranks_counts(ctx, in, out);
    }
    if (!st)
        st = graphss_i_ranks_exchange(ctx, id, in, p->id, out, sizeof *id);
    if (!st)
        st = graphss_i_ranks_exchange(ctx, row, in, own, out, size);
    if (!st)
        put_rows(all, id, row, total, size);
    graphss_release(ctx, row);
    graphss_release(ctx, id);
    graphss_release(ctx, out);
    graphss_release(ctx, in);
    return st;
}

/* ---- what all ranks know ---- */

/* Walks over the names of rank r: start gets their lengths, and text the names where start is
 * ready. */
static void walk_names(size_t *start, char *text, const graphss_i_pieces *ids,
                       const graphss_i_pieces *names, size_t r)
{
    const int64_t *id = (const int64_t *)(const void *)(ids->block + r * ids->most);
    const char *name = names->block + r * names->most;
    for (size_t i = 0; i < ids->bytes[r] / sizeof *id; i++) {
        const size_t n = strlen(name) + 1;
        if (text)
            memcpy(text + start[id[i]], name, n);
        else
            start[id[i] + 1] = n;
        name += n;
    }
}

static graphss_status gather_names(graphss_ctx *ctx, graphss_names *out,
                                   const graphss_i_part *p, const graphss_names *own)
{
    const size_t ranks = graphss_i_ranks(ctx);
    graphss_i_pieces ids = {0}, texts = {0};
    graphss_names made = {.count = p->n_all};
    graphss_status st = graphss_i_ranks_pieces(ctx, &ids, p->id, p->n_own * sizeof *p->id);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &texts, own->text, own->start[own->count]);
    if (!st) {
        made.start = graphss_i_calloc(ctx, p->n_all + 1, sizeof *made.start);
        st = made.start ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    for (size_t r = 0; r < ranks && !st; r++)
        walk_names(made.start, NULL, &ids, &texts, r);
    for (size_t i = 0; i < p->n_all && !st; i++)
        made.start[i + 1] += made.start[i];
    if (!st) {
        made.text = graphss_i_alloc(ctx, made.start[p->n_all], 1);
        st = made.text ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    for (size_t r = 0; r < ranks && !st; r++)
        walk_names(made.start, made.text, &ids, &texts, r);
    graphss_i_pieces_destroy(ctx, &texts);
    graphss_i_pieces_destroy(ctx, &ids);
    st = graphss_engine_agree(ctx, st, NULL);
    if (st)
        graphss_names_destroy(ctx, &made);
    else
        *out = made;
    return st;
}

static graphss_status make_table(graphss_ctx *ctx, graphss_dataset *out,
                                 const graphss_i_part *p, const graphss_i_manifest *m,
                                 const graphss_i_shard *shard, const char *folder)
{
    graphss_dataset t = {.n_classes = m->n_classes, .cleaned = m->cleaned};
    char path[GRAPHSS_I_SHARD_PATH];
    graphss_status st = GRAPHSS_OK;
    t.graph.n_nodes = m->n_nodes;
    t.features =
        (graphss_features){.n_rows = m->n_nodes, .n_cols = m->n_cols, .kind = m->kind};
    memcpy(t.name, m->name, sizeof t.name);
    memcpy(t.format, m->format, sizeof t.format);
    memcpy(t.hash, m->hash, sizeof t.hash);
    if (m->class_names.count)
        st = graphss_i_names_copy(ctx, &t.class_names, &m->class_names);
    if (!st && m->column_names.count)
        st = graphss_i_names_copy(ctx, &t.column_names, &m->column_names);
    if (!st && m->labelled) {
        t.label = graphss_i_alloc(ctx, m->n_nodes, sizeof *t.label);
        st = t.label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st && m->labelled)
        st = gather_rows(ctx, t.label, p, shard->label, sizeof *t.label);
    if (!st && m->named)
        st = gather_names(ctx, &t.node_names, p, &shard->names);
    if (!st && m->has_split) {
        snprintf(path, sizeof path, "%s/split.npz", folder);
        st = graphss_split_read(ctx, &t.split, path, t.label, m->n_nodes, m->n_classes);
    }
    if (st)
        graphss_dataset_destroy(ctx, &t);
    else
        *out = t;
    return st;
}

/* ---- opening ---- */

static graphss_status check_ranks(graphss_ctx *ctx, const graphss_i_manifest *m,
                                  const char *folder)
{
    const size_t ranks = graphss_i_ranks(ctx);
    if (ranks != m->n_parts)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "%s has %zu shards, and there are %zu ranks: want mpiexec -n "
                              "%zu, or graphss shard with --parts %zu",
                              folder, m->n_parts, ranks, m->n_parts, ranks);
    if (m->n_nodes > INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
                              "%s has %zu nodes, at most %d can be trained on: lists of nodes "
                              "in model files are 32 bits wide",
                              folder, m->n_nodes, INT32_MAX);
    return GRAPHSS_OK;
}

static graphss_status open_part(graphss_ctx *ctx, graphss_part *part, graphss_dataset *table,
                                const char *folder)
{
    graphss_i_manifest m = {0};
    graphss_i_shard shard = {0};
    graphss_i_part *p = &part->own;
    graphss_status st = graphss_i_manifest_read(ctx, &m, folder);
    if (!st)
        st = check_ranks(ctx, &m, folder);
    if (!st)
        st = graphss_i_shard_read(ctx, &shard, &m, graphss_i_rank(ctx), folder);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_part_make(ctx, p, shard.node, shard.n_nodes, shard.offset, shard.target,
                                 m.n_nodes);
    if (!st) {
        p->features = shard.features;
        p->entry = shard.entry;
        shard.features = (graphss_features){0};
        shard.entry = NULL;
        st = make_table(ctx, table, p, &m, &shard, folder);
    }
    graphss_i_shard_destroy(ctx, &shard);
    graphss_i_manifest_destroy(ctx, &m);
    return st;
}

graphss_status graphss_part_open(graphss_ctx *ctx, graphss_part **out, graphss_dataset *table,
                                 const char *folder)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the part", out}, {"place for the table", table},
                        {"folder", folder}))
        return GRAPHSS_ERR_INVALID;
    if (graphss_i_ctx_part(ctx))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "the context works on a part already");
    graphss_dataset made = {0};
    graphss_part *part = graphss_i_calloc(ctx, 1, sizeof *part);
    graphss_status st = part ? open_part(ctx, part, &made, folder) : GRAPHSS_ERR_NOMEM;
    st = graphss_engine_agree(ctx, st, NULL);
    if (st) {
        graphss_dataset_destroy(ctx, &made);
        graphss_part_close(ctx, part);
        return st;
    }
    graphss_i_ctx_set_part(ctx, &part->own);
    *table = made;
    *out = part;
    return GRAPHSS_OK;
}

void graphss_part_close(graphss_ctx *ctx, graphss_part *part)
{
    if (!part)
        return;
    if (graphss_i_ctx_part(ctx) == &part->own)
        graphss_i_ctx_set_part(ctx, NULL);
    graphss_i_part_destroy(ctx, &part->own);
    graphss_release(ctx, part);
}

graphss_part_sizes graphss_part_measure(const graphss_part *part)
{
    if (!part)
        return (graphss_part_sizes){0};
    const graphss_i_part *p = &part->own;
    return (graphss_part_sizes){.nodes = p->n_own,
                                .ghosts = p->n_ghost,
                                .edges = p->entries_all / 2,
                                .halo_bytes = p->received,
                                .dense = graphss_features_dense(&p->features)};
}

/* ---- the work ---- */

void graphss_part_options_init(graphss_train_options *opt, const char *model,
                               graphss_mode mode, const graphss_part *part)
{
    graphss_train_options_init(opt, model, mode, part ? &part->own.features : NULL);
}

static graphss_status check_type(graphss_ctx *ctx, const char *name)
{
    const graphss_i_model_type *type = graphss_i_model_type_find(name);
    if (!type)
        return graphss_i_model_unknown(ctx, name);
    if (type->norm != GRAPHSS_I_NORM_LEARNED)
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                          "%s does not run on several ranks: its weights of edges depend on "
                          "both ends",
                          name);
}

graphss_status graphss_part_train(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
                                  const graphss_part *part, const graphss_train_input *given,
                                  const graphss_train_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the model", out}, {"part", part}, {"input", given}) ||
        GRAPHSS_I_TAKE(ctx, graphss_train_input, NULL, given) ||
        GRAPHSS_I_LACKS(ctx, {"split", given->split}))
        return GRAPHSS_ERR_INVALID;
    const graphss_i_part *p = &part->own;
    graphss_train_input in = *given;
    in.graph = &p->graph;
    in.features = &p->features;
    graphss_model *made = NULL;
    graphss_training run = {0};
    graphss_status st = check_type(ctx, opt ? opt->model : "gcn");
    if (!st)
        st = graphss_i_split_check(ctx, in.split, p->n_all);
    if (!st)
        st = graphss_i_columns_check_range(ctx, &p->features, NULL, NULL);
    if (!st)
        st = graphss_i_train(ctx, &made, &run, &in, opt);
    st = graphss_engine_agree(ctx, st, NULL);
    if (st) {
        graphss_model_free(ctx, made);
        graphss_training_destroy(ctx, &run);
        return st;
    }
    *out = made;
    if (log)
        *log = run;
    else
        graphss_training_destroy(ctx, &run);
    return GRAPHSS_OK;
}

graphss_status graphss_part_describe(graphss_ctx *ctx, graphss_model *model,
                                     const graphss_part *part, const graphss_dataset *table)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"part", part}, {"table", table}))
        return GRAPHSS_ERR_INVALID;
    graphss_dataset seen = *table;
    seen.features = part->own.features;
    return graphss_engine_agree(ctx, graphss_model_set_dataset(ctx, model, &seen), NULL);
}

/* prob [n_own x k] of the own nodes, to be released. */
static graphss_status predict_own(graphss_ctx *ctx, float **out, const graphss_model *model,
                                  const graphss_part *part)
{
    const graphss_i_part *p = &part->own;
    float *prob = graphss_i_alloc(ctx, p->n_own, model->n_classes * sizeof *prob);
    graphss_status st = prob ? check_type(ctx, model->opt.model) : GRAPHSS_ERR_NOMEM;
    if (!st && model->predictor)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                            "a predictor answers on one machine, not on several ranks");
    if (!st)
        st = graphss_i_predict(ctx, prob, model, &p->graph, &p->features);
    st = graphss_engine_agree(ctx, st, NULL);
    if (st)
        graphss_release(ctx, prob);
    else
        *out = prob;
    return st;
}

graphss_status graphss_part_predict(graphss_ctx *ctx, float *prob, const graphss_model *model,
                                    const graphss_part *part)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"part", part},
                        {"place for the probabilities",
                         graphss_i_rank(ctx) == 0 ? (const void *)prob : ""}))
        return GRAPHSS_ERR_INVALID;
    float *own = NULL;
    graphss_status st = predict_own(ctx, &own, model, part);
    if (!st)
        st = collect_rows(ctx, prob, &part->own, own, model->n_classes * sizeof *own);
    graphss_release(ctx, own);
    return st;
}

graphss_status graphss_part_label(graphss_ctx *ctx, int32_t *label, const graphss_model *model,
                                  const graphss_part *part)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"part", part},
                        {"place for the labels", label}))
        return GRAPHSS_ERR_INVALID;
    float *prob = NULL;
    graphss_status st = predict_own(ctx, &prob, model, part);
    if (st)
        return st;
    int32_t *own = graphss_i_alloc(ctx, part->own.n_own, sizeof *own);
    st = graphss_engine_agree(ctx, own ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st) {
        graphss_labels_argmax(own, prob, part->own.n_own, model->n_classes);
        st = gather_rows(ctx, label, &part->own, own, sizeof *own);
    }
    graphss_release(ctx, own);
    graphss_release(ctx, prob);
    return st;
}
