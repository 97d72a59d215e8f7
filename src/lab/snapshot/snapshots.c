/* snapshots.c - makes groups, draws victims, and derives the previous snapshot. */
#include "data/build.h"
#include <graphss_lab/snapshot.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const settings[] = {"seen", "new", "growing", NULL};

const char *graphss_setting_text(graphss_setting setting)
{
    const bool known = (int)setting >= 0 && setting <= GRAPHSS_SETTING_GROWING;
    return known ? settings[setting] : "?";
}

void graphss_snapshot_options_init(graphss_snapshot_options *opt)
{
    *opt = (graphss_snapshot_options){.struct_size = sizeof(graphss_snapshot_options),
        .victims = 0.2,
        .missing = 0.5,
        .groups = 1,
        .attacked_groups = 1};
}

const graphss_option *graphss_snapshot_options_table(void)
{
#define AT(field) offsetof(graphss_snapshot_options, field)
    static const graphss_option table[] = {
        {"setting", GRAPHSS_OPTION_CHOICE, AT(setting), 0, 0, settings, "SETTING",
            "seen: the previous snapshot has all nodes; new: it lacks the victims; growing: "
            "it lacks some links",
            0},
        {"victims", GRAPHSS_OPTION_REAL, AT(victims), 0, 1, NULL, "SHARE",
            "share of the test nodes (of each attacked group) to attack", 0},
        {"missing", GRAPHSS_OPTION_REAL, AT(missing), 0, 1, NULL, "SHARE",
            "setting growing: share of the links the previous snapshot lacks", 0},
        {"groups", GRAPHSS_OPTION_INT, AT(groups), 1, 1e6, NULL, "N",
            "number of groups the test nodes are divided into", 0},
        {"attacked-groups", GRAPHSS_OPTION_INT, AT(attacked_groups), 0, 1e6, NULL, "N",
            "number of groups with attacked nodes", 0},
        {"background", GRAPHSS_OPTION_BOOL, AT(background), 0, 0, NULL, NULL,
            "apply benign change of the same size to the other groups", 0},
        {0}};
#undef AT
    return table;
}

void graphss_snapshots_destroy(graphss_ctx *ctx, graphss_snapshots *s)
{
    if (!s)
        return;
    graphss_flips_destroy(ctx, &s->flips);
    graphss_release(ctx, s->churned);
    graphss_release(ctx, s->victim);
    graphss_release(ctx, s->attacked);
    graphss_release(ctx, s->group_node);
    graphss_release(ctx, s->group_start);
    graphss_split_destroy(ctx, &s->split);
    graphss_split_destroy(ctx, &s->previous_split);
    graphss_dataset_destroy(ctx, &s->current);
    graphss_dataset_destroy(ctx, &s->previous);
    *s = (graphss_snapshots){0};
}

/* ---- groups and victims ---- */

static int compare_nodes(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort_nodes(int32_t *node, size_t n)
{
    if (n > 1)
        qsort(node, n, sizeof *node, compare_nodes);
}

/* Deals shuffled test nodes into even groups, chooses the attacked ones at random, and
 * takes the first share of each group before it is sorted. */
static graphss_status deal(graphss_ctx *ctx, graphss_snapshots *s, const graphss_split *split,
    uint64_t seed, const graphss_snapshot_options *opt)
{
    const size_t n = split->n_test, groups = (size_t)opt->groups;
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_VICTIMS);
    int32_t *order = graphss_i_alloc(ctx, groups, sizeof *order);
    s->group_start = graphss_i_calloc(ctx, groups + 1, sizeof *s->group_start);
    s->group_node = graphss_i_copy(ctx, split->test, n, sizeof *s->group_node);
    s->attacked = graphss_i_calloc(ctx, groups, sizeof *s->attacked);
    s->victim = graphss_i_alloc(ctx, n, sizeof *s->victim);
    s->churned = graphss_i_alloc(ctx, n, sizeof *s->churned);
    if (!order || !s->group_start || !s->group_node || !s->attacked || !s->victim ||
        !s->churned) {
        graphss_release(ctx, order);
        return GRAPHSS_ERR_NOMEM;
    }
    s->n_groups = groups;
    graphss_rng_shuffle(&rng, s->group_node, n);
    for (size_t g = 0; g < groups; g++)
        order[g] = (int32_t)g;
    graphss_rng_shuffle(&rng, order, groups);
    for (size_t i = 0; i < (size_t)opt->attacked_groups; i++)
        s->attacked[order[i]] = 1;
    graphss_release(ctx, order);
    for (size_t g = 0; g < groups; g++) {
        const size_t from = n * g / groups, to = n * (g + 1) / groups;
        size_t share = (size_t)floor(opt->victims * (double)(to - from) + 0.5);
        if (share == 0)
            share = 1;
        s->group_start[g + 1] = (int64_t)to;
        int32_t *const list = s->attacked[g] ? s->victim : s->churned;
        size_t *const count = s->attacked[g] ? &s->n_victims : &s->n_churned;
        if (s->attacked[g] || opt->background) {
            memcpy(list + *count, s->group_node + from, share * sizeof *list);
            *count += share;
        }
        sort_nodes(s->group_node + from, to - from);
    }
    sort_nodes(s->victim, s->n_victims);
    sort_nodes(s->churned, s->n_churned);
    return GRAPHSS_OK;
}

/* ---- the past ---- */

/* Keeps all but `missing` of m pairs, each set of survivors equally likely (Knuth's
 * algorithm S). Returns how many. */
static size_t strike(int32_t *from, int32_t *to, size_t m, double missing, graphss_rng *rng)
{
    const size_t wanted = m - (size_t)floor(missing * (double)m + 0.5);
    size_t kept = 0;
    for (size_t i = 0; i < m && wanted < m; i++)
        if (graphss_rng_below(rng, m - i) < wanted - kept) {
            from[kept] = from[i];
            to[kept++] = to[i];
        }
    return wanted;
}

/* Edges between kept nodes that survive the draw, with the new numbers. */
static graphss_status thin_graph(graphss_ctx *ctx, graphss_graph *out, const graphss_graph *g,
    const int32_t *number, size_t n_kept, double missing, graphss_rng *rng)
{
    const size_t edges = graphss_graph_edges(g);
    int32_t *from = graphss_i_alloc(ctx, edges, sizeof *from);
    int32_t *to = graphss_i_alloc(ctx, edges, sizeof *to);
    graphss_status st = GRAPHSS_ERR_NOMEM;
    if (from && to) {
        size_t m = 0;
        for (size_t i = 0; i < g->n_nodes; i++)
            for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
                if ((size_t)g->target[e] > i && number[i] >= 0 && number[g->target[e]] >= 0) {
                    from[m] = number[i];
                    to[m++] = number[g->target[e]];
                }
        m = strike(from, to, m, missing, rng);
        st = graphss_graph_build(ctx, out, NULL, n_kept, from, to, m);
    }
    graphss_release(ctx, to);
    graphss_release(ctx, from);
    return st;
}

static graphss_status keep_rows(graphss_ctx *ctx, graphss_features *out,
    const graphss_features *f, const int32_t *number, size_t n_kept)
{
    graphss_features made = {.n_rows = n_kept, .n_cols = f->n_cols, .kind = f->kind};
    if (f->n_cols == 0) {
        *out = made;
        return GRAPHSS_OK;
    }
    if (!f->offset) {
        made.value = graphss_i_alloc(ctx, n_kept * f->n_cols, sizeof *made.value);
        if (!made.value)
            return GRAPHSS_ERR_NOMEM;
        for (size_t i = 0; i < f->n_rows; i++)
            if (number[i] >= 0)
                memcpy(made.value + (size_t)number[i] * f->n_cols, f->value + i * f->n_cols,
                    f->n_cols * sizeof *made.value);
        return graphss_i_features_from_dense(
            ctx, out, n_kept, f->n_cols, made.value, "features");
    }
    const size_t nnz = (size_t)f->offset[f->n_rows];
    made.offset = graphss_i_alloc(ctx, n_kept + 1, sizeof *made.offset);
    made.column = graphss_i_alloc(ctx, nnz, sizeof *made.column);
    made.value = graphss_i_alloc(ctx, nnz, sizeof *made.value);
    if (!made.offset || !made.column || !made.value) {
        graphss_features_destroy(ctx, &made);
        return GRAPHSS_ERR_NOMEM;
    }
    int64_t at = 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        if (number[i] < 0)
            continue;
        made.offset[number[i]] = at;
        for (int64_t e = f->offset[i]; e < f->offset[i + 1]; e++) {
            made.column[at] = f->column[e];
            made.value[at++] = f->value[e];
        }
    }
    made.offset[n_kept] = at;
    return graphss_i_features_from_rows(ctx, out, n_kept, f->n_cols, made.offset, made.column,
        made.value, (size_t)at, "features");
}

static graphss_status keep_names(
    graphss_ctx *ctx, graphss_names *out, const graphss_names *names, const int32_t *number)
{
    graphss_i_name_list list = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < names->count && !st; i++) {
        const char *name = graphss_names_get(names, i);
        if (number[i] >= 0)
            st = graphss_i_name_list_add(ctx, &list, name, strlen(name));
    }
    if (!st)
        st = graphss_i_name_list_finish(ctx, out, &list);
    graphss_i_name_list_destroy(ctx, &list);
    return st;
}

/* number [n_nodes]: in the past, or -1. Numbers rise with the nodes. */
static graphss_status make_previous(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_dataset *data, const int32_t *number, size_t n_kept, double missing,
    graphss_rng *rng)
{
    memcpy(out->name, data->name, sizeof out->name);
    memcpy(out->format, data->format, sizeof out->format);
    out->n_classes = data->n_classes;
    graphss_status st =
        thin_graph(ctx, &out->graph, &data->graph, number, n_kept, missing, rng);
    if (!st)
        st = keep_rows(ctx, &out->features, &data->features, number, n_kept);
    if (!st)
        st = keep_names(ctx, &out->node_names, &data->node_names, number);
    if (!st)
        st = graphss_i_names_copy(ctx, &out->class_names, &data->class_names);
    if (!st)
        st = graphss_i_names_copy(ctx, &out->column_names, &data->column_names);
    if (!st && data->label) {
        out->label = graphss_i_alloc(ctx, n_kept, sizeof *out->label);
        if (!out->label)
            return GRAPHSS_ERR_NOMEM;
        for (size_t i = 0; i < data->graph.n_nodes; i++)
            if (number[i] >= 0)
                out->label[number[i]] = data->label[i];
    }
    return st ? st : graphss_dataset_refresh(ctx, out);
}

/* Drops the nodes that the past lacks, with their labels. Returns the new length. */
static size_t renumber(int32_t *node, int32_t *label, size_t n, const int32_t *number)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (number[node[i]] < 0)
            continue;
        if (label)
            label[kept] = label[i];
        node[kept++] = number[node[i]];
    }
    return kept;
}

static graphss_status check(graphss_ctx *ctx, const graphss_dataset *data,
    const graphss_split *split, const graphss_snapshot_options *opt)
{
    graphss_status st = graphss_options_check(ctx, opt, graphss_snapshot_options_table());
    if (st)
        return st;
    if (!(opt->victims > 0))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "--victims 0, want a share above 0");
    if (opt->missing >= 1)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "--missing 1, want a share below 1");
    if (opt->attacked_groups > opt->groups)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--attacked-groups %lld of --groups %lld, want at most as many",
            (long long)opt->attacked_groups, (long long)opt->groups);
    if ((uint64_t)opt->groups > split->n_test)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%zu test nodes for %lld groups, want one each at least", split->n_test,
            (long long)opt->groups);
    st = graphss_i_dataset_check(ctx, data);
    return st ? st : graphss_i_split_check(ctx, split, data->graph.n_nodes);
}

graphss_status graphss_snapshots_plan(graphss_ctx *ctx, graphss_snapshots *out,
    const graphss_dataset *data, const graphss_split *split, uint64_t seed,
    const graphss_snapshot_options *opt)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"dataset", data}, {"split", split}, {"place for the snapshots", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_snapshot_options standard;
    graphss_snapshot_options_init(&standard);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_snapshot_options, &standard, opt);
    opt = &standard;
    if (!st)
        st = check(ctx, data, split, opt);
    if (st)
        return st;
    const size_t n = data->graph.n_nodes;
    graphss_snapshots made = {0};
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_BENIGN);
    int32_t *number = graphss_i_calloc(ctx, n, sizeof *number);
    st = number ? deal(ctx, &made, split, seed, opt) : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_dataset_copy(ctx, &made.current, data);
    if (!st && made.current.node_names.count == 0)
        st = graphss_i_names_number(ctx, &made.current.node_names, n);
    if (!st)
        st = graphss_split_copy(ctx, &made.split, split);
    if (!st)
        st = graphss_split_copy(ctx, &made.previous_split, split);
    if (st)
        goto done;
    /* The files carry their split beside them. */
    graphss_split_destroy(ctx, &made.current.split);
    for (size_t i = 0; i < made.n_victims && opt->setting == GRAPHSS_SETTING_NEW; i++)
        number[made.victim[i]] = -1;
    int32_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (number[i] >= 0)
            number[i] = kept++;
    st = make_previous(ctx, &made.previous, &made.current, number, (size_t)kept,
        opt->setting == GRAPHSS_SETTING_GROWING ? opt->missing : 0, &rng);
    graphss_split *past = &made.previous_split;
    past->n_train = renumber(past->train, past->train_label, past->n_train, number);
    past->n_val = renumber(past->val, past->val_label, past->n_val, number);
    past->n_test = renumber(past->test, NULL, past->n_test, number);
done:
    graphss_release(ctx, number);
    if (st)
        graphss_snapshots_destroy(ctx, &made);
    else
        *out = made;
    return st;
}

graphss_status graphss_snapshots_change(
    graphss_ctx *ctx, graphss_snapshots *s, const graphss_flips *flips)
{
    if (GRAPHSS_I_LACKS(ctx, {"snapshots", s}, {"list of changes", flips}))
        return GRAPHSS_ERR_INVALID;
    graphss_dataset now = {0};
    graphss_flips all = s->flips;
    graphss_status st = graphss_flips_apply(ctx, &now, &s->current, flips, NULL);
    if (st)
        return st;
    const size_t before = s->flips.count;
    if (before == 0) { /* its texts, and a list of our own */
        all = *flips;
        all.item = s->flips.item;
        all.count = s->flips.count;
        all.room = s->flips.room;
        memcpy(all.hash, s->current.hash, sizeof all.hash);
    } else if (strcmp(all.method, flips->method) != 0) {
        char method[sizeof all.method];
        snprintf(method, sizeof method, "%.14s+%.14s", all.method, flips->method);
        memcpy(all.method, method, sizeof method);
    }
    for (size_t i = 0; i < flips->count && !st; i++)
        st = graphss_flips_add(ctx, &all, flips->item[i]);
    if (st) {
        all.count = before;
        s->flips.item = all.item;
        s->flips.room = all.room;
        graphss_dataset_destroy(ctx, &now);
        return st;
    }
    s->flips = all;
    graphss_dataset_destroy(ctx, &s->current);
    s->current = now;
    return GRAPHSS_OK;
}
