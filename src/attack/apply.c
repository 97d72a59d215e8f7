/* apply.c - a dataset with a list of changes made, or taken back.
 *
 * The changes are sorted by row and column, keeping their order within a cell, so that each
 * cell's history is one run: its first old value must be what the data holds, each next
 * one what the last change left, and the last new value is merged into the row. An edge is
 * two cells. Of several misfits the first in the list is reported. */
#include "attack/attack_method.h"
#include "base/base.h"
#include "data/build.h"
#include "graph/check.h"
#include <stdlib.h>
#include <string.h>

typedef struct cell {
    int32_t row, column;
    float old, new;
    size_t order; /* position in the sequence of changes */
    size_t flip;  /* index into the list */
} cell;

static int compare_cells(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* "line 7: " or "change 3: " */
static void where_text(char *out, size_t size, const graphss_flips *flips, size_t flip)
{
    if (flips->item[flip].line)
        snprintf(out, size, "line %u", (unsigned)flips->item[flip].line);
    else
        snprintf(out, size, "change %zu", flip);
}

static graphss_status check_flip(
    graphss_ctx *ctx, const graphss_flips *flips, size_t i, size_t n, size_t d)
{
    char where[48];
    const graphss_flip *f = &flips->item[i];
    const bool edge = f->kind == GRAPHSS_FLIP_EDGE;
    const bool known = edge || f->kind == GRAPHSS_FLIP_FEATURE;
    const bool inside = f->node >= 0 && (size_t)f->node < n && f->target >= 0 &&
                        (size_t)f->target < (edge ? n : d);
    const bool switched =
        (f->old_value == 0 && f->new_value == 1) || (f->old_value == 1 && f->new_value == 0);
    if (known && inside && (!edge || (switched && f->node != f->target)))
        return GRAPHSS_OK; /* the check is called often, and formatting is slow */
    where_text(where, sizeof where, flips, i);
    if (!known)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: of no known kind", where);
    if (!inside)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: node %d and %s %d, but the data has %zu nodes and %zu "
            "features",
            where, (int)f->node, edge ? "node" : "column", (int)f->target, n, d);
    if (f->node == f->target)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "%s: node %d linked to itself", where, (int)f->node);
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%s: a link from %g to %g, want 0 to 1 or 1 to 0", where, (double)f->old_value,
        (double)f->new_value);
}

/* The cells of one kind, sorted. The caller releases *out. */
static graphss_status make_cells(graphss_ctx *ctx, cell **out, size_t *n_out,
    const graphss_flips *flips, graphss_flip_kind kind, const graphss_apply_options *opt)
{
    const size_t sides = kind == GRAPHSS_FLIP_EDGE ? 2 : 1;
    cell *made = graphss_i_alloc(ctx, graphss_flips_count(flips, kind), sides * sizeof *made);
    if (!made)
        return GRAPHSS_ERR_NOMEM;
    size_t n = 0;
    for (size_t i = 0; i < flips->count; i++) {
        const graphss_flip *f = &flips->item[i];
        if (f->kind != kind || (opt->one_only && f->victim != opt->victim))
            continue;
        cell c = {f->node, f->target, f->old_value, f->new_value, i, i};
        if (opt->undo) {
            c.old = f->new_value;
            c.new = f->old_value;
            c.order = flips->count - i;
        }
        made[n++] = c;
        if (sides == 2) {
            c.row = f->target;
            c.column = f->node;
            made[n++] = c;
        }
    }
    qsort(made, n, sizeof *made, compare_cells);
    *out = made;
    *n_out = n;
    return GRAPHSS_OK;
}

/* The value of a row in a column. Entries [from, to) ascend; value NULL: all ones. */
static float held(
    const int32_t *column, const float *value, int64_t from, int64_t to, int32_t wanted)
{
    while (from < to) {
        const int64_t middle = from + (to - from) / 2;
        if (column[middle] == wanted)
            return value ? value[middle] : 1;
        if (column[middle] < wanted)
            from = middle + 1;
        else
            to = middle;
    }
    return 0;
}

static graphss_status misfit(
    graphss_ctx *ctx, const graphss_flips *flips, const cell *c, float found)
{
    char where[48], has[40], wants[40];
    where_text(where, sizeof where, flips, c->flip);
    if (flips->item[c->flip].kind == GRAPHSS_FLIP_EDGE)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%s: nodes %d and %d are %s; the list does not fit the data", where,
            (int)flips->item[c->flip].node, (int)flips->item[c->flip].target,
            found != 0 ? "joined already" : "not joined");
    graphss_i_double_text(has, sizeof has, (double)found);
    graphss_i_double_text(wants, sizeof wants, (double)c->old);
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "%s: node %d, feature %d is %s, want %s; the list does not fit the "
        "data",
        where, (int)c->row, (int)c->column, has, wants);
}

/* Checks each cell's history against the rows, and squeezes each run into its last change.
 * dense: value is n x d and offset NULL. */
static graphss_status squeeze(graphss_ctx *ctx, cell *c, size_t *n, const graphss_flips *flips,
    const int64_t *offset, const int32_t *column, const float *value, size_t n_cols)
{
    const cell *first = NULL;
    cell misfitting;
    float found = 0;
    size_t kept = 0;
    for (size_t i = 0; i < *n;) {
        float now =
            offset ? held(column, value, offset[c[i].row], offset[c[i].row + 1], c[i].column)
                   : value[(size_t)c[i].row * n_cols + (size_t)c[i].column];
        size_t end = i;
        for (; end < *n && c[end].row == c[i].row && c[end].column == c[i].column; end++) {
            if (c[end].old != now && (!first || c[end].order < first->order)) {
                misfitting = c[end];
                first = &misfitting;
                found = now;
            }
            now = c[end].new;
        }
        c[kept++] = c[end - 1];
        i = end;
    }
    if (first)
        return misfit(ctx, flips, first, found);
    *n = kept;
    return GRAPHSS_OK;
}

/* Compressed rows with the cells' new values in them; zeros vanish from rows that have cells.
 * out_value NULL: ones. */
static void merge(int64_t *out_offset, int32_t *out_column, float *out_value, size_t n_rows,
    const int64_t *offset, const int32_t *column, const float *value, const cell *c,
    size_t n_cells)
{
    int64_t at = 0;
    size_t next = 0;
    out_offset[0] = 0;
    for (size_t i = 0; i < n_rows; i++) {
        int64_t e = offset[i];
        if (next == n_cells || c[next].row != (int32_t)i) {
            const size_t length = (size_t)(offset[i + 1] - e);
            if (length)
                memcpy(out_column + at, column + e, length * sizeof *column);
            if (length && out_value)
                memcpy(out_value + at, value + e, length * sizeof *value);
            out_offset[i + 1] = at += (int64_t)length;
            continue;
        }
        for (;;) {
            const bool more = e < offset[i + 1];
            const bool cells = next < n_cells && c[next].row == (int32_t)i;
            if (!more && !cells)
                break;
            const bool take_cell = cells && (!more || c[next].column <= column[e]);
            const int32_t col = take_cell ? c[next].column : column[e];
            const float v = take_cell ? c[next].new : (value ? value[e] : 1);
            e += more && col == column[e];
            next += take_cell;
            if (v == 0)
                continue;
            out_column[at] = col;
            if (out_value)
                out_value[at] = v;
            at++;
        }
        out_offset[i + 1] = at;
    }
}

static graphss_status apply_edges(graphss_ctx *ctx, graphss_graph *out,
    const graphss_graph *graph, const graphss_flips *flips, const graphss_apply_options *opt)
{
    cell *c = NULL;
    size_t n = 0;
    graphss_graph made = {.n_nodes = graph->n_nodes};
    graphss_status st = make_cells(ctx, &c, &n, flips, GRAPHSS_FLIP_EDGE, opt);
    if (!st)
        st = squeeze(ctx, c, &n, flips, graph->offset, graph->target, NULL, 0);
    if (st)
        goto done;
    made.offset = graphss_i_alloc(ctx, graph->n_nodes + 1, sizeof *made.offset);
    made.target =
        graphss_i_alloc(ctx, (size_t)graph->offset[graph->n_nodes] + n, sizeof *made.target);
    if (!made.offset || !made.target) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    merge(made.offset, made.target, NULL, graph->n_nodes, graph->offset, graph->target, NULL,
        c, n);
    *out = made;
    made = (graphss_graph){0};
done:
    graphss_graph_destroy(ctx, &made);
    graphss_release(ctx, c);
    return st;
}

/* The new entries go through the builder, so that sparse or dense storage is chosen as when
 * data are read. */
static graphss_status apply_features(graphss_ctx *ctx, graphss_features *out,
    const graphss_features *f, const graphss_flips *flips, const graphss_apply_options *opt)
{
    cell *c = NULL;
    size_t n = 0;
    int64_t *offset = NULL;
    int32_t *column = NULL;
    float *value = NULL;
    graphss_status st = make_cells(ctx, &c, &n, flips, GRAPHSS_FLIP_FEATURE, opt);
    if (!st)
        st = squeeze(ctx, c, &n, flips, f->offset, f->column, f->value, f->n_cols);
    if (st)
        goto done;
    if (!f->offset) {
        value = graphss_i_copy(ctx, f->value, f->n_rows * f->n_cols, sizeof *value);
        if (!value) {
            st = GRAPHSS_ERR_NOMEM;
            goto done;
        }
        for (size_t i = 0; i < n; i++)
            value[(size_t)c[i].row * f->n_cols + (size_t)c[i].column] = c[i].new;
        st = graphss_i_features_from_dense(ctx, out, f->n_rows, f->n_cols, value, "features");
        value = NULL;
        goto done;
    }
    const size_t room = (size_t)f->offset[f->n_rows] + n;
    offset = graphss_i_alloc(ctx, f->n_rows + 1, sizeof *offset);
    column = graphss_i_alloc(ctx, room, sizeof *column);
    value = graphss_i_alloc(ctx, room, sizeof *value);
    if (!offset || !column || !value) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    merge(offset, column, value, f->n_rows, f->offset, f->column, f->value, c, n);
    const size_t nnz = (size_t)offset[f->n_rows];
    st = graphss_i_features_from_rows(
        ctx, out, f->n_rows, f->n_cols, offset, column, value, nnz, "features");
    offset = NULL;
    column = NULL;
    value = NULL;
done:
    graphss_release(ctx, value);
    graphss_release(ctx, column);
    graphss_release(ctx, offset);
    graphss_release(ctx, c);
    return st;
}

graphss_status graphss_i_apply(graphss_ctx *ctx, graphss_graph *out_graph,
    graphss_features *out_features, const graphss_graph *graph,
    const graphss_features *features, const graphss_flips *flips,
    const graphss_apply_options *opt)
{
    const graphss_apply_options standard = {.struct_size = sizeof standard};
    opt = opt ? opt : &standard;
    graphss_graph made_graph = {0};
    graphss_features made = {0}, divided = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < flips->count && !st; i++)
        st = check_flip(ctx, flips, i, graph->n_nodes, features->n_cols);
    if (st)
        return st;
    if (flips->normalised_rows && !opt->undo) {
        st = graphss_features_normalise_rows(ctx, &divided, features);
        features = &divided;
    }
    if (!st)
        st = graph->offset ? apply_edges(ctx, &made_graph, graph, flips, opt)
                           : graphss_graph_copy(ctx, &made_graph, graph);
    if (!st)
        st = features->n_cols ? apply_features(ctx, &made, features, flips, opt)
                              : graphss_features_copy(ctx, &made, features);
    if (!st) {
        *out_graph = made_graph;
        *out_features = made;
        made_graph = (graphss_graph){0};
    }
    graphss_graph_destroy(ctx, &made_graph);
    graphss_features_destroy(ctx, &divided);
    return st;
}

/* Features without columns may have no rows either. */
static graphss_status check_data(
    graphss_ctx *ctx, const graphss_graph *graph, const graphss_features *features)
{
    if (features->n_cols && features->n_rows != graph->n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "features of %zu nodes, a graph of %zu: want the same", features->n_rows,
            graph->n_nodes);
    return graphss_i_check_snapshot(ctx, graph, features);
}

graphss_status graphss_flips_apply_parts(graphss_ctx *ctx, graphss_graph *out_graph,
    graphss_features *out_features, const graphss_graph *graph,
    const graphss_features *features, const graphss_flips *flips,
    const graphss_apply_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"graph", graph}, {"features", features},
            {"list of changes", flips}, {"place for the graph", out_graph},
            {"place for the features", out_features}) ||
        GRAPHSS_I_LACKS(ctx, {"changes", GRAPHSS_I_FILLED(flips->item, flips->count)}) ||
        GRAPHSS_I_TAKE(ctx, graphss_apply_options, NULL, opt))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = check_data(ctx, graph, features);
    return st ? st
              : graphss_i_apply(ctx, out_graph, out_features, graph, features, flips, opt);
}

void graphss_apply_options_init(graphss_apply_options *opt)
{
    *opt = (graphss_apply_options){.struct_size = sizeof *opt};
}

graphss_status graphss_flips_apply(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_dataset *data, const graphss_flips *flips, const graphss_apply_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}, {"list of changes", flips},
            {"place for the dataset", out}) ||
        GRAPHSS_I_TAKE(ctx, graphss_apply_options, NULL, opt))
        return GRAPHSS_ERR_INVALID;
    const graphss_apply_options standard = {.struct_size = sizeof standard};
    opt = opt ? opt : &standard;
    const bool judged = flips->hash[0] && !opt->force;
    if (judged && !opt->undo && strcmp(flips->hash, data->hash) != 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "the list is for data of hash %.12s..., this has %.12s...: "
            "want the data it was made for",
            flips->hash, data->hash);
    graphss_graph graph = {0};
    graphss_features features = {0};
    graphss_dataset made = {0};
    graphss_status st = graphss_flips_apply_parts(
        ctx, &graph, &features, &data->graph, &data->features, flips, opt);
    if (!st)
        st = graphss_dataset_copy(ctx, &made, data);
    if (st)
        goto done;
    graphss_graph_destroy(ctx, &made.graph);
    graphss_features_destroy(ctx, &made.features);
    made.graph = graph;
    made.features = features;
    graph = (graphss_graph){0};
    features = (graphss_features){0};
    st = graphss_dataset_refresh(ctx, &made);
    if (st)
        goto done;
    if (judged && opt->undo && !opt->one_only && !flips->normalised_rows &&
        strcmp(flips->hash, made.hash) != 0) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "taking the changes back gives data of hash %.12s..., want "
            "%.12s...: this is not the data they were made in",
            made.hash, flips->hash);
        goto done;
    }
    *out = made;
    made = (graphss_dataset){0};
done:
    graphss_dataset_destroy(ctx, &made);
    graphss_features_destroy(ctx, &features);
    graphss_graph_destroy(ctx, &graph);
    return st;
}
