/* part.c - train and predict with a shard to each rank.
 *
 * The arithmetic is that of one machine: the same tape, kernels and training loop. Ranks meet
 * in four places: the sparse product (graph/part.c), dropout (tape/drop.c), sums of gradients
 * and losses (fit.c), and the scaling of features (input.c). This file reads a part and joins
 * the parts' answers.
 *
 * What grows with the whole graph on every rank: labels and names, 4 bytes a node and the
 * texts. */
#include "graph/part.h"
#include "data/build.h"
#include "graph/rows.h"
#include "models/model_private.h"
#include "models/part_private.h"
#include <graphss/engine.h>
#include <graphss/labels.h>
#include <string.h>

/* ---- what every rank stores of all nodes ---- */

/* Walks over the names of rank r: start gets their lengths, and text the names once start is
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

static graphss_status gather_names(
    graphss_ctx *ctx, graphss_names *out, const graphss_i_part *p, const graphss_names *own)
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
    const graphss_i_part *p, const graphss_i_manifest *m, const graphss_i_shard *shard,
    const char *folder)
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
        st = graphss_i_part_gather(ctx, t.label, p, shard->label, sizeof *t.label);
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

static graphss_status check_ranks(
    graphss_ctx *ctx, const graphss_i_manifest *m, const char *folder)
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

/* Reads the shard of this rank, and what every rank stores of the dataset. */
graphss_status graphss_i_part_read(graphss_ctx *ctx, graphss_i_shard *shard, size_t *n_all,
    graphss_dataset *table, const char *folder)
{
    graphss_i_manifest m = {0};
    graphss_i_shard read = {0};
    graphss_status st = graphss_i_manifest_read(ctx, &m, folder);
    if (!st)
        st = check_ranks(ctx, &m, folder);
    if (!st)
        st = graphss_i_shard_read(ctx, &read, &m, graphss_i_rank(ctx), folder);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st) {
        const graphss_i_part own = {
            .n_own = read.n_nodes, .n_all = m.n_nodes, .id = read.node};
        *n_all = m.n_nodes;
        st = make_table(ctx, table, &own, &m, &read, folder);
    }
    graphss_i_manifest_destroy(ctx, &m);
    if (st)
        graphss_i_shard_destroy(ctx, &read);
    else
        *shard = read;
    return st;
}

graphss_status graphss_i_part_fill(
    graphss_ctx *ctx, graphss_i_part *out, graphss_i_shard *shard, size_t n_all)
{
    const graphss_status st = graphss_i_part_make(
        ctx, out, shard->node, shard->n_nodes, shard->offset, shard->target, n_all);
    if (st)
        return st;
    out->features = shard->features;
    out->entry = shard->entry;
    shard->features = (graphss_features){0};
    shard->entry = NULL;
    return GRAPHSS_OK;
}

static graphss_status open_part(
    graphss_ctx *ctx, graphss_part *part, graphss_dataset *table, const char *folder)
{
    graphss_i_shard shard = {0};
    size_t n_all = 0;
    graphss_status st = graphss_i_part_read(ctx, &shard, &n_all, table, folder);
    if (!st)
        st = graphss_i_part_fill(ctx, &part->own, &shard, n_all);
    graphss_i_shard_destroy(ctx, &shard);
    return st;
}

graphss_status graphss_part_open(
    graphss_ctx *ctx, graphss_part **out, graphss_dataset *table, const char *folder)
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
    part->own.whole_most = GRAPHSS_I_WHOLE_MOST;
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
    graphss_release(ctx, part->before);
    graphss_release(ctx, part->after);
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

/* The nodes of a list that this rank has, by its own numbers. */
static size_t own_nodes(int32_t *node, int32_t *label, const graphss_i_part *part,
    const int32_t *all, const int32_t *all_label, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t at = graphss_i_part_find(part, all[i]);
        if (at < 0)
            continue;
        node[found] = (int32_t)at;
        label[found++] = all_label[i];
    }
    return found;
}

graphss_status graphss_i_part_split(graphss_ctx *ctx, graphss_split *out,
    const graphss_i_part *part, const graphss_split *split)
{
    const graphss_status st = graphss_split_copy(ctx, out, split);
    if (st)
        return st;
    out->n_train = own_nodes(
        out->train, out->train_label, part, split->train, split->train_label, split->n_train);
    if (split->n_val)
        out->n_val = own_nodes(
            out->val, out->val_label, part, split->val, split->val_label, split->n_val);
    return GRAPHSS_OK;
}

void graphss_part_options_init(
    graphss_train_options *opt, const char *model, graphss_mode mode, const graphss_part *part)
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

/* ---- a graph that one rank trains ---- */

/* The size of rank 0's model, before its column means, gains and weights. */
typedef struct learned {
    double scale, train_accuracy, val_accuracy;
    int32_t row_normalise, scaled;
    uint64_t best_epoch;
} learned;

/* bytes [*n]: all that the others need; to be released. */
static graphss_status pack_model(graphss_ctx *ctx, char **bytes, size_t *n,
    const graphss_model *model, const graphss_training *run)
{
    const graphss_i_scaling *s = &model->scaling;
    const learned head = {s->scale, run->train_accuracy, run->val_accuracy, s->row_normalise,
        s->mean != NULL, run->best_epoch};
    const size_t columns = s->mean ? model->n_features * sizeof *s->mean : 0;
    const size_t weights = model->params.count * sizeof *model->params.value;
    *n = sizeof head + 2 * columns + weights;
    char *at = *bytes = graphss_i_alloc(ctx, *n, 1);
    if (!at)
        return GRAPHSS_ERR_NOMEM;
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    if (s->mean) {
        memcpy(at, s->mean, columns);
        memcpy(at + columns, s->gain, columns);
    }
    memcpy(at + 2 * columns, model->params.value, weights);
    return GRAPHSS_OK;
}

static graphss_status unpack_model(graphss_ctx *ctx, graphss_model **out,
    graphss_training *run, const char *bytes, const graphss_train_input *in,
    const graphss_train_options *opt)
{
    learned head;
    graphss_model *model = NULL;
    graphss_status st =
        graphss_i_model_new(ctx, &model, opt, in->features->n_cols, in->n_classes, in->seed);
    if (!st)
        st = graphss_split_copy(ctx, &model->split, in->split);
    if (st) {
        graphss_model_free(ctx, model);
        return st;
    }
    memcpy(&head, bytes, sizeof head);
    const size_t columns = head.scaled ? model->n_features : 0;
    const float *number = (const float *)(const void *)(bytes + sizeof head);
    model->scaling.row_normalise = head.row_normalise;
    model->scaling.scale = head.scale;
    if (head.scaled) {
        model->scaling.mean = graphss_i_copy(ctx, number, 2 * columns, sizeof *number);
        st = model->scaling.mean ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
        model->scaling.gain = st ? NULL : model->scaling.mean + columns;
    }
    memcpy(model->params.value, number + 2 * columns, model->params.count * sizeof *number);
    run->train_accuracy = head.train_accuracy;
    run->val_accuracy = head.val_accuracy;
    run->best_epoch = head.best_epoch;
    if (st)
        graphss_model_free(ctx, model);
    else
        *out = model;
    return st;
}

/* Rank 0 trains on the whole graph as one machine does, to the bit, and the others wait. Of a
 * graph that is small to each of them a part saves nothing, and where validation nodes are few
 * the last digits of a loss may choose another epoch. */
static graphss_status train_whole(graphss_ctx *ctx, graphss_model **out, graphss_training *run,
    graphss_i_part *p, const graphss_train_input *given,
    const graphss_train_options *given_opt)
{
    graphss_graph graph = {0};
    graphss_features features = {0};
    graphss_i_pieces all = {0};
    graphss_train_options opt;
    char *bytes = NULL;
    size_t n = 0;
    const bool leads = graphss_i_rank(ctx) == 0;
    int64_t *id = graphss_i_alloc(ctx, p->n_all, sizeof *id);
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &p->features);
    graphss_status st =
        id ? GRAPHSS_I_TAKE(ctx, graphss_train_options, &opt, given_opt) : GRAPHSS_ERR_NOMEM;
    st = graphss_engine_agree(ctx, st, NULL);
    for (size_t i = 0; i < p->n_all && !st; i++)
        id[i] = (int64_t)i;
    if (!st)
        st = graphss_i_part_share(ctx, &graph, &features, p, &p->features, id, p->n_all);
    graphss_release(ctx, id);
    graphss_train_input in = *given;
    in.graph = &graph;
    in.features = &features;
    if (!st && leads) {
        const graphss_engine *engine = graphss_i_ranks_pause(ctx);
        graphss_i_ctx_set_part(ctx, NULL);
        st = graphss_i_train(ctx, out, run, &in, &opt);
        graphss_i_ctx_set_part(ctx, p);
        graphss_i_ranks_resume(ctx, engine);
        if (!st)
            st = pack_model(ctx, &bytes, &n, *out, run);
    }
    graphss_graph_destroy(ctx, &graph);
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &all, bytes, n);
    if (!st && !leads)
        st = unpack_model(ctx, out, run, all.block, &in, &opt);
    graphss_i_pieces_destroy(ctx, &all);
    graphss_features_destroy(ctx, &features);
    graphss_release(ctx, bytes);
    return st;
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
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st && graphss_i_ranks(ctx) > 1 && p->n_all <= p->whole_most)
        st = train_whole(ctx, &made, &run, graphss_i_ctx_part(ctx), &in, opt);
    else if (!st)
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
static graphss_status predict_own(
    graphss_ctx *ctx, float **out, const graphss_model *model, const graphss_part *part)
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

graphss_status graphss_part_predict(
    graphss_ctx *ctx, float *prob, const graphss_model *model, const graphss_part *part)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"part", part},
            {"place for the probabilities",
                graphss_i_rank(ctx) == 0 ? (const void *)prob : ""}))
        return GRAPHSS_ERR_INVALID;
    float *own = NULL;
    graphss_status st = predict_own(ctx, &own, model, part);
    if (!st)
        st =
            graphss_i_part_collect(ctx, prob, &part->own, own, model->n_classes * sizeof *own);
    graphss_release(ctx, own);
    return st;
}

graphss_status graphss_part_label(
    graphss_ctx *ctx, int32_t *label, const graphss_model *model, const graphss_part *part)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"model", model}, {"part", part}, {"place for the labels", label}))
        return GRAPHSS_ERR_INVALID;
    float *prob = NULL;
    graphss_status st = predict_own(ctx, &prob, model, part);
    if (st)
        return st;
    int32_t *own = graphss_i_alloc(ctx, part->own.n_own, sizeof *own);
    st = graphss_engine_agree(ctx, own ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st) {
        graphss_labels_argmax(own, prob, part->own.n_own, model->n_classes);
        st = graphss_i_part_gather(ctx, label, &part->own, own, sizeof *own);
    }
    graphss_release(ctx, own);
    graphss_release(ctx, prob);
    return st;
}

/* ---- rows for every rank ---- */

/* Places the rows of a few nodes by their numbers; from: row i belongs to node[i]. */
static void spread(
    int64_t *offset, size_t n_all, const int32_t *node, size_t n, const int64_t *length)
{
    for (size_t i = 0; i < n; i++)
        offset[node[i] + 1] = length[i];
    for (size_t v = 0; v < n_all; v++)
        offset[v + 1] += offset[v];
}

static graphss_status put_edges(graphss_ctx *ctx, graphss_graph *out, size_t n_all,
    const graphss_graph *from, const int32_t *node, int64_t *length)
{
    const size_t n = from->n_nodes;
    graphss_graph g = {.n_nodes = n_all,
        .offset = graphss_i_calloc(ctx, n_all + 1, sizeof *g.offset),
        .target = graphss_i_alloc(ctx, (size_t)from->offset[n], sizeof *g.target)};
    if (!g.offset || !g.target) {
        graphss_graph_destroy(ctx, &g);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        length[i] = from->offset[i + 1] - from->offset[i];
    spread(g.offset, n_all, node, n, length);
    for (size_t i = 0; i < n; i++)
        memcpy(g.target + g.offset[node[i]], from->target + from->offset[i],
            (size_t)length[i] * sizeof *g.target);
    graphss_graph_destroy(ctx, out);
    *out = g;
    return GRAPHSS_OK;
}

static graphss_status put_entries(graphss_ctx *ctx, graphss_features *out, size_t n_all,
    const graphss_features *from, const int32_t *node, int64_t *length)
{
    const size_t n = from->n_rows;
    graphss_features x = {.n_rows = n_all, .n_cols = from->n_cols, .kind = from->kind};
    size_t stored = 0;
    for (size_t i = 0; i < n; i++) {
        length[i] = (int64_t)graphss_i_row_of(from, i).n;
        stored += (size_t)length[i];
    }
    x.offset = graphss_i_calloc(ctx, n_all + 1, sizeof *x.offset);
    x.column = graphss_i_alloc(ctx, stored, sizeof *x.column);
    x.value = graphss_i_alloc(ctx, stored, sizeof *x.value);
    if (!x.offset || !x.column || !x.value) {
        graphss_features_destroy(ctx, &x);
        return GRAPHSS_ERR_NOMEM;
    }
    spread(x.offset, n_all, node, n, length);
    for (size_t i = 0; i < n; i++) {
        const graphss_i_row row = graphss_i_row_of(from, i);
        const int64_t at = x.offset[node[i]];
        for (size_t j = 0; j < row.n; j++)
            x.column[at + (int64_t)j] = (int32_t)graphss_i_row_at(row, j);
        memcpy(x.value + at, row.value, row.n * sizeof *x.value);
    }
    graphss_features_destroy(ctx, out);
    *out = x;
    return GRAPHSS_OK;
}

graphss_status graphss_part_rows(graphss_ctx *ctx, graphss_dataset *table,
    const graphss_part *part, const int32_t *node, size_t n)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"table", table}, {"part", part}, {"nodes", GRAPHSS_I_FILLED(node, n)}))
        return GRAPHSS_ERR_INVALID;
    const graphss_i_part *p = &part->own;
    graphss_graph graph = {0};
    graphss_features features = {0};
    int64_t *id = graphss_i_alloc(ctx, n, sizeof *id);
    graphss_status st = graphss_engine_agree(ctx, id ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    for (size_t i = 0; i < n && !st; i++)
        id[i] = node[i];
    if (!st)
        st = graphss_i_part_share(ctx, &graph, &features, p, &p->features, id, n);
    if (!st)
        st = put_edges(ctx, &table->graph, p->n_all, &graph, node, id);
    if (!st)
        st = put_entries(ctx, &table->features, p->n_all, &features, node, id);
    graphss_release(ctx, id);
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &features);
    return graphss_engine_agree(ctx, st, NULL);
}
