/* part_past.c - an earlier snapshot, cut as a later one is: a node in both goes to the rank
 * that has it now, so that it can be compared with its past locally. Nodes that are gone stay
 * where they are. */
#include "base/ranks.h"
#include "data/build.h"
#include "graph/part.h"
#include "graph/rows.h"
#include "models/model_private.h"
#include "models/part_private.h"
#include "observation/observation.h"
#include "observation/part_scene.h"
#include <stdlib.h>
#include <string.h>

/* Rows that are exchanged. Each list is sorted by the rank it goes to, and arrives sorted by
 * the rank it comes from. */
typedef struct removal {
    size_t *out, *in;               /* [ranks] nodes; one block with */
    size_t *out_edges, *in_edges;   /* entries of the graph */
    size_t *out_stored, *in_stored; /* and entries of the features */
    int64_t *head, *came;           /* [. x 4] global number, degree, stored, first entry */
    int64_t *target;
    int32_t *column;
    float *value;
} removal;

static void removal_close(graphss_ctx *ctx, removal *m)
{
    void *const block[] = {m->out, m->head, m->came, m->target, m->column, m->value};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
}

enum { HEAD = 4 };

static graphss_status pack(
    graphss_ctx *ctx, removal *m, const graphss_i_shard *s, const int32_t *owner)
{
    const size_t n = s->n_nodes, ranks = graphss_i_ranks(ctx);
    const bool sparse = s->features.offset != NULL;
    m->out = graphss_i_calloc(ctx, ranks, 6 * sizeof *m->out);
    const size_t stored = sparse ? (size_t)s->features.offset[n] : n * s->features.n_cols;
    m->head = graphss_i_alloc(ctx, n, HEAD * sizeof *m->head);
    m->target = graphss_i_alloc(ctx, (size_t)s->offset[n], sizeof *m->target);
    m->column = graphss_i_alloc(ctx, sparse ? stored : 0, sizeof *m->column);
    m->value = graphss_i_alloc(ctx, stored, sizeof *m->value);
    if (!m->out || !m->head || !m->target || !m->column || !m->value)
        return GRAPHSS_ERR_NOMEM;
    m->in = m->out + ranks;
    m->out_edges = m->in + ranks;
    m->in_edges = m->out_edges + ranks;
    m->out_stored = m->in_edges + ranks;
    m->in_stored = m->out_stored + ranks;
    size_t at = 0, edges = 0, entries = 0;
    for (size_t r = 0; r < ranks; r++)
        for (size_t i = 0; i < n; i++) {
            if ((size_t)owner[i] != r)
                continue;
            const graphss_i_row x = graphss_i_row_of(&s->features, i);
            const size_t degree = (size_t)(s->offset[i + 1] - s->offset[i]);
            const int64_t head[HEAD] = {
                s->node[i], (int64_t)degree, (int64_t)x.n, s->entry ? s->entry[i] : 0};
            memcpy(m->head + HEAD * at++, head, sizeof head);
            memcpy(m->target + edges, s->target + s->offset[i], degree * sizeof *m->target);
            memcpy(m->value + entries, x.value, x.n * sizeof *m->value);
            if (sparse)
                memcpy(m->column + entries, x.column, x.n * sizeof *m->column);
            edges += degree;
            entries += x.n;
            m->out[r]++;
            m->out_edges[r] += degree;
            m->out_stored[r] += x.n;
        }
    return GRAPHSS_OK;
}

/* A node that arrived, and where its rows are among those that arrived. */
typedef struct arrival {
    int64_t id;
    size_t at, edges, entries;
} arrival;

static int by_id(const void *a, const void *b)
{
    const arrival *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static graphss_status make_shard(graphss_ctx *ctx, graphss_i_shard *out,
    const graphss_i_shard *like, size_t n, size_t edges, size_t stored)
{
    const bool sparse = like->features.offset != NULL;
    graphss_features *x = &out->features;
    out->n_nodes = n;
    out->node = graphss_i_alloc(ctx, n, sizeof *out->node);
    out->offset = graphss_i_calloc(ctx, n + 1, sizeof *out->offset);
    out->target = graphss_i_alloc(ctx, edges, sizeof *out->target);
    *x = (graphss_features){
        .n_rows = n, .n_cols = like->features.n_cols, .kind = like->features.kind};
    x->value = graphss_i_alloc(ctx, stored, sizeof *x->value);
    bool made = out->node && out->offset && out->target && x->value;
    if (sparse) {
        x->offset = graphss_i_calloc(ctx, n + 1, sizeof *x->offset);
        x->column = graphss_i_alloc(ctx, stored, sizeof *x->column);
        out->entry = graphss_i_alloc(ctx, n + 1, sizeof *out->entry);
        made = made && x->offset && x->column && out->entry;
    }
    return made ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* The rows that came, by global numbers. */
static void put_rows(graphss_i_shard *out, const arrival *list, const int64_t *head,
    const int64_t *target, const int32_t *column, const float *value)
{
    graphss_features *x = &out->features;
    for (size_t i = 0; i < out->n_nodes; i++) {
        const int64_t *own = head + HEAD * list[i].at;
        const size_t degree = (size_t)own[1], stored = (size_t)own[2];
        out->node[i] = own[0];
        memcpy(out->target + out->offset[i], target + list[i].edges, degree * sizeof *target);
        out->offset[i + 1] = out->offset[i] + own[1];
        const size_t to = x->offset ? (size_t)x->offset[i] : i * x->n_cols;
        memcpy(x->value + to, value + list[i].entries, stored * sizeof *value);
        if (!x->offset)
            continue;
        memcpy(x->column + to, column + list[i].entries, stored * sizeof *column);
        x->offset[i + 1] = x->offset[i] + own[2];
        out->entry[i] = own[3];
    }
}

/* Room for the rows that arrive, in the order of arrival. */
typedef struct room {
    int64_t *target;
    int32_t *column;
    float *value;
    arrival *list;
    size_t n, edges, stored;
} room;

static void room_close(graphss_ctx *ctx, room *r)
{
    graphss_release(ctx, r->target);
    graphss_release(ctx, r->column);
    graphss_release(ctx, r->value);
    graphss_release(ctx, r->list);
}

/* The heads have arrived: how much follows, and from which rank. */
static graphss_status room_open(graphss_ctx *ctx, room *r, removal *m, bool sparse)
{
    size_t at = 0;
    r->list = graphss_i_alloc(ctx, r->n, sizeof *r->list);
    for (size_t k = 0; k < graphss_i_ranks(ctx) && r->list; k++)
        for (size_t i = 0; i < m->in[k]; i++, at++) {
            const int64_t *head = m->came + HEAD * at;
            r->list[at] = (arrival){head[0], at, r->edges, r->stored};
            r->edges += (size_t)head[1];
            r->stored += (size_t)head[2];
            m->in_edges[k] += (size_t)head[1];
            m->in_stored[k] += (size_t)head[2];
        }
    r->target = graphss_i_alloc(ctx, r->edges, sizeof *r->target);
    r->column = graphss_i_alloc(ctx, sparse ? r->stored : 0, sizeof *r->column);
    r->value = graphss_i_alloc(ctx, r->stored, sizeof *r->value);
    return r->list && r->target && r->column && r->value ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* Sends each node of the shard to its owner; the shard becomes what arrived. */
static graphss_status move_rows(graphss_ctx *ctx, graphss_i_shard *shard, const int32_t *owner)
{
    const bool sparse = shard->features.offset != NULL;
    removal m = {0};
    room r = {0};
    graphss_i_shard made = {0};
    graphss_status st = graphss_engine_agree(ctx, pack(ctx, &m, shard, owner), NULL);
    if (!st)
        st = graphss_i_ranks_counts(ctx, m.in, m.out);
    for (size_t k = 0; k < graphss_i_ranks(ctx) && !st; k++)
        r.n += m.in[k];
    if (!st) {
        m.came = graphss_i_alloc(ctx, r.n, HEAD * sizeof *m.came);
        st = graphss_engine_agree(ctx, m.came ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    }
    if (!st)
        st = graphss_i_ranks_exchange(ctx, m.came, m.in, m.head, m.out, HEAD * sizeof *m.came);
    if (!st)
        st = graphss_engine_agree(ctx, room_open(ctx, &r, &m, sparse), NULL);
    if (!st)
        st = graphss_i_ranks_exchange(
            ctx, r.target, m.in_edges, m.target, m.out_edges, sizeof *r.target);
    if (!st && sparse)
        st = graphss_i_ranks_exchange(
            ctx, r.column, m.in_stored, m.column, m.out_stored, sizeof *r.column);
    if (!st)
        st = graphss_i_ranks_exchange(
            ctx, r.value, m.in_stored, m.value, m.out_stored, sizeof *r.value);
    if (!st)
        st = make_shard(ctx, &made, shard, r.n, r.edges, r.stored);
    if (!st) {
        qsort(r.list, r.n, sizeof *r.list, by_id);
        put_rows(&made, r.list, m.came, r.target, r.column, r.value);
    }
    room_close(ctx, &r);
    removal_close(ctx, &m);
    st = graphss_engine_agree(ctx, st, NULL);
    graphss_i_shard_destroy(ctx, st ? &made : shard);
    if (!st)
        *shard = made;
    return st;
}

/* ---- the owners of nodes ---- */

/* owner [n]: the rank that has each node of the shard now; nodes that are gone stay here. */
static graphss_status find_owners(graphss_ctx *ctx, int32_t *owner,
    const graphss_i_shard *shard, const graphss_i_part *now, const int32_t *after)
{
    graphss_i_pieces ids = {0};
    int32_t *rank = graphss_i_alloc(ctx, now->n_all, sizeof *rank);
    graphss_status st = graphss_engine_agree(ctx, rank ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_ranks_pieces(ctx, &ids, now->id, now->n_own * sizeof *now->id);
    for (size_t r = 0; r < graphss_i_ranks(ctx) && !st; r++) {
        const int64_t *id = (const int64_t *)(const void *)(ids.block + r * ids.most);
        for (size_t i = 0; i < ids.bytes[r] / sizeof *id; i++)
            rank[id[i]] = (int32_t)r;
    }
    for (size_t i = 0; i < shard->n_nodes && !st; i++)
        owner[i] = after[shard->node[i]] >= 0 ? rank[after[shard->node[i]]]
                                              : (int32_t)graphss_i_rank(ctx);
    graphss_i_pieces_destroy(ctx, &ids);
    graphss_release(ctx, rank);
    return st;
}

/* ---- numbers of both snapshots ---- */

/* A node of the earlier part: its global and its local number. */
typedef struct known {
    int64_t id;
    int32_t node;
} known;

static int by_known(const void *a, const void *b)
{
    const known *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* before [own and ghosts of now]: the local number of the same node here, -1: it was not, or
 * no row of ours refers to it. all [n_all of now]: global numbers. */
static graphss_status find_before(graphss_ctx *ctx, int32_t **before,
    const graphss_i_part *here, const graphss_i_part *now, const int32_t *all)
{
    const size_t n = here->n_own + here->n_ghost, m = now->n_own + now->n_ghost;
    known *list = graphss_i_alloc(ctx, n, sizeof *list);
    *before = graphss_i_alloc(ctx, m, sizeof **before);
    if (!list || !*before) {
        graphss_release(ctx, list);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < n; i++)
        list[i] = (known){here->id[i], (int32_t)i};
    qsort(list, n, sizeof *list, by_known);
    for (size_t i = 0; i < m; i++) {
        const known key = {.id = all[now->id[i]]};
        const known *found = key.id < 0 ? NULL : bsearch(&key, list, n, sizeof key, by_known);
        (*before)[i] = found ? found->node : -1;
    }
    graphss_release(ctx, list);
    return GRAPHSS_OK;
}

static int ascending(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static graphss_status sort_rows(graphss_ctx *ctx, graphss_i_part *p)
{
    const size_t n = p->n_own;
    graphss_graph g = {.n_nodes = n + p->n_ghost};
    g.offset = graphss_i_alloc(ctx, g.n_nodes + 1, sizeof *g.offset);
    g.target =
        graphss_i_copy(ctx, p->graph.target, (size_t)p->graph.offset[n], sizeof *g.target);
    if (!g.offset || !g.target) {
        graphss_graph_destroy(ctx, &g);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i <= g.n_nodes; i++) /* ghosts have no rows here */
        g.offset[i] = p->graph.offset[i < n ? i : n];
    for (size_t i = 0; i < n; i++)
        qsort(g.target + g.offset[i], (size_t)(g.offset[i + 1] - g.offset[i]),
            sizeof *g.target, ascending);
    p->ascending = g;
    return GRAPHSS_OK;
}

/* ---- which node is which ---- */

/* Names of the own nodes of a part. */
static graphss_status name_own(
    graphss_ctx *ctx, graphss_names *out, const graphss_i_part *p, const graphss_names *all)
{
    graphss_i_name_list list = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < p->n_own && !st; i++) {
        const char *name = graphss_names_get(all, (size_t)p->id[i]);
        st = graphss_i_name_list_add(ctx, &list, name, strlen(name));
    }
    if (!st)
        st = graphss_i_name_list_finish(ctx, out, &list);
    graphss_i_name_list_destroy(ctx, &list);
    return st;
}

/* before [n_all of now]: each rank looks up its own nodes in the directory of names of the
 * earlier shards, and sends the result to the others. */
static graphss_status match_names(graphss_ctx *ctx, int32_t **before,
    const graphss_i_part *now, const graphss_names *all, const graphss_i_shard *past)
{
    graphss_names own = {0};
    int64_t *found = graphss_i_alloc(ctx, now->n_own, sizeof *found);
    int32_t *was = graphss_i_alloc(ctx, now->n_own, sizeof *was);
    *before = graphss_i_alloc(ctx, now->n_all, sizeof **before);
    graphss_status st =
        found && was && *before ? name_own(ctx, &own, now, all) : GRAPHSS_ERR_NOMEM;
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = graphss_i_directory_find(ctx, found, &own, &past->names, past->node);
    for (size_t i = 0; i < now->n_own && !st; i++)
        was[i] = (int32_t)found[i];
    if (!st)
        st = graphss_i_part_gather(ctx, *before, now, was, sizeof *was);
    graphss_names_destroy(ctx, &own);
    graphss_release(ctx, was);
    graphss_release(ctx, found);
    return st;
}

/* before [n_all of now] and after [n_all of the past], as graphss_i_match_past has them. */
static graphss_status match_past(graphss_ctx *ctx, int32_t **before, int32_t **after,
    const graphss_part *now, const graphss_dataset *now_table, const graphss_i_shard *past,
    const graphss_dataset *table)
{
    const graphss_observation current = {&now_table->graph, NULL, &now_table->node_names};
    const graphss_observation earlier = {&table->graph, NULL, &table->node_names};
    if (!now_table->node_names.count || !table->node_names.count)
        return graphss_i_match_past(ctx, before, after, &current, &earlier);
    const graphss_status st =
        match_names(ctx, before, &now->own, &now_table->node_names, past);
    return st ? st : graphss_i_match_inverse(ctx, after, *before, &current, &earlier);
}

/* ---- opening the past ---- */

static graphss_status open_past(graphss_ctx *ctx, graphss_part *past, graphss_dataset *table,
    const char *folder, const graphss_part *now, const graphss_dataset *now_table)
{
    graphss_i_shard shard = {0};
    int32_t *all = NULL, *owner = NULL;
    size_t n_all = 0;
    graphss_status st = graphss_i_part_read(ctx, &shard, &n_all, table, folder);
    if (st)
        return st;
    st = match_past(ctx, &all, &past->after, now, now_table, &shard, table);
    if (!st) {
        owner = graphss_i_alloc(ctx, shard.n_nodes, sizeof *owner);
        st = owner ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    }
    st = graphss_engine_agree(ctx, st, NULL);
    if (!st)
        st = find_owners(ctx, owner, &shard, &now->own, past->after);
    if (!st)
        st = move_rows(ctx, &shard, owner);
    if (!st)
        st = graphss_i_part_fill(ctx, &past->own, &shard, n_all);
    if (!st)
        st = find_before(ctx, &past->before, &past->own, &now->own, all);
    if (!st && graphss_i_ranks(ctx) > 1)
        st = sort_rows(ctx, &past->own);
    past->now = &now->own;
    graphss_release(ctx, owner);
    graphss_release(ctx, all);
    graphss_i_shard_destroy(ctx, &shard);
    return st;
}

graphss_status graphss_part_open_past(graphss_ctx *ctx, graphss_part **out,
    graphss_dataset *table, const char *folder, const graphss_part *now,
    const graphss_dataset *now_table)
{
    if (GRAPHSS_I_LACKS(ctx, {"place for the part", out}, {"place for the table", table},
            {"folder", folder}, {"later part", now}, {"table of the later part", now_table}))
        return GRAPHSS_ERR_INVALID;
    graphss_dataset made = {0};
    graphss_part *part = graphss_i_calloc(ctx, 1, sizeof *part);
    graphss_status st =
        part ? open_past(ctx, part, &made, folder, now, now_table) : GRAPHSS_ERR_NOMEM;
    st = graphss_engine_agree(ctx, st, NULL);
    if (st) {
        graphss_dataset_destroy(ctx, &made);
        graphss_part_close(ctx, part);
        return st;
    }
    *table = made;
    *out = part;
    return GRAPHSS_OK;
}

/* See part_scene.h. */
void graphss_i_scene_close(graphss_ctx *ctx, graphss_i_scene *s)
{
    if (s->now)
        s->now->past = NULL;
    graphss_split_destroy(ctx, &s->split);
    graphss_split_destroy(ctx, &s->previous_split);
    *s = (graphss_i_scene){0};
}

static graphss_status check_columns(graphss_ctx *ctx, const graphss_i_part *part,
    const graphss_model *model, const char *which)
{
    if (part->features.n_cols == 0)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "the nodes of the %s snapshot have no features", which);
    if (part->features.n_cols == graphss_model_features(model))
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
        "the %s snapshot has %zu features, the model was trained on %zu", which,
        part->features.n_cols, graphss_model_features(model));
}

static graphss_status check(
    graphss_ctx *ctx, const graphss_i_scene *s, const graphss_part_input *in)
{
    graphss_status st = check_columns(ctx, s->now, in->model, "current");
    if (!st && s->past)
        st = check_columns(ctx, s->past, in->model, "previous");
    if (st)
        return st;
    if (in->model->predictor)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "a predictor answers on one machine, not on several ranks");
    if (in->model->type->norm == GRAPHSS_I_NORM_LEARNED)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s does not run on several ranks: its weights of edges depend "
            "on both ends",
            in->model->type->name);
    if (graphss_i_ctx_part(ctx) != s->now)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "the context does not work on the part that is given");
    if (in->previous && in->previous->now != s->now)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "the earlier snapshot was opened for another part");
    st = graphss_i_split_check(ctx, in->split, s->n_all);
    return st ? st
              : graphss_i_check_split(
                    ctx, in->split, s->n_all, graphss_model_classes(in->model), "current");
}

static graphss_status open_previous(
    graphss_ctx *ctx, graphss_i_scene *s, const graphss_part_input *in)
{
    graphss_split all = {0};
    graphss_status st =
        graphss_split_translate(ctx, &all, in->split, in->previous->after, s->n_all_past);
    if (!st)
        st = graphss_i_part_split(ctx, &s->previous_split, s->past, &all);
    graphss_split_destroy(ctx, &all);
    s->before = in->previous->before;
    s->now->past = s->past;
    /* With one rank the rows are ascending already, and there is no other copy. */
    s->previous.graph = s->past->ascending.offset ? &s->past->ascending : &s->past->graph;
    s->previous.features = &s->past->features;
    s->in.previous = &s->previous;
    return st;
}

void graphss_part_input_init(graphss_part_input *in)
{
    *in = (graphss_part_input){.struct_size = sizeof *in};
}

graphss_status graphss_i_scene_open(
    graphss_ctx *ctx, graphss_i_scene *s, const graphss_part_input *in)
{
    if (GRAPHSS_I_TAKE(ctx, graphss_part_input, NULL, in) ||
        GRAPHSS_I_LACKS(ctx, {"part", in->current}, {"table", in->table}, {"model", in->model},
            {"split", in->split}))
        return GRAPHSS_ERR_INVALID;
    /* Callers see parts as constant; only their counters change. */
    graphss_i_part *now = graphss_i_ctx_part(ctx);
    *s = (graphss_i_scene){.now = now, .table = in->table, .whole = in->split};
    if (!now || &in->current->own != now)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "the context does not work on the part that is given");
    s->n_all = now->n_all;
    if (in->previous) {
        s->past = (graphss_i_part *)(uintptr_t)&in->previous->own;
        s->n_all_past = s->past->n_all;
    }
    graphss_status st = check(ctx, s, in);
    if (!st)
        st = graphss_i_part_split(ctx, &s->split, now, in->split);
    s->split.n_test = 0;
    s->in = (graphss_defence_input){.struct_size = sizeof s->in,
        .current = {&now->graph, &now->features, NULL},
        .model = in->model,
        .split = &s->split,
        .seed = in->seed};
    if (!st && in->previous)
        st = open_previous(ctx, s, in);
    st = graphss_engine_agree(ctx, st, NULL);
    if (st)
        graphss_i_scene_close(ctx, s);
    return st;
}
