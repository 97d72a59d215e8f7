/* feature_index.c - features by node and by column. The rows by node stay where they are until
 * a node is changed, which happens only to victims; the rows by column are built once. */
#include "attack/feature_index.h"
#include <math.h>
#include <string.h>

/* Dense features as compressed rows of their non-zeros. */
static graphss_status compress(
    graphss_ctx *ctx, graphss_i_feature_index *x, const graphss_features *f)
{
    size_t nnz = 0;
    for (size_t e = 0; e < f->n_rows * f->n_cols; e++)
        nnz += f->value[e] != 0;
    x->sparse_start = graphss_i_alloc(ctx, f->n_rows + 1, sizeof *x->sparse_start);
    x->sparse_column = graphss_i_alloc(ctx, nnz, sizeof *x->sparse_column);
    x->sparse_value = graphss_i_alloc(ctx, nnz, sizeof *x->sparse_value);
    if (!x->sparse_start || !x->sparse_column || !x->sparse_value)
        return GRAPHSS_ERR_NOMEM;
    int64_t at = 0;
    for (size_t i = 0; i < f->n_rows; i++) {
        x->sparse_start[i] = at;
        for (size_t c = 0; c < f->n_cols; c++)
            if (f->value[i * f->n_cols + c] != 0) {
                x->sparse_column[at] = (int32_t)c;
                x->sparse_value[at++] = f->value[i * f->n_cols + c];
            }
    }
    x->sparse_start[f->n_rows] = at;
    return GRAPHSS_OK;
}

/* The nodes that have each feature, ascending. */
static graphss_status invert(graphss_ctx *ctx, graphss_i_feature_index *x)
{
    graphss_graph *g = &x->inverted;
    g->n_nodes = x->d;
    g->offset = graphss_i_calloc(ctx, x->d + 2, sizeof *g->offset);
    g->target = graphss_i_alloc(ctx, (size_t)x->start[x->n], sizeof *g->target);
    if (!g->offset || !g->target)
        return GRAPHSS_ERR_NOMEM;
    /* Counts are stored two positions ahead, so that filling leaves each offset at the start
     * of its row. */
    for (size_t i = 0; i < x->n; i++)
        for (int32_t e = 0; e < x->length[i]; e++)
            g->offset[x->column[i][e] + 2]++;
    for (size_t j = 0; j < x->d; j++)
        g->offset[j + 2] += g->offset[j + 1];
    for (size_t i = 0; i < x->n; i++)
        for (int32_t e = 0; e < x->length[i]; e++)
            g->target[g->offset[x->column[i][e] + 1]++] = (int32_t)i;
    return graphss_i_rows_init(ctx, &x->holders, g);
}

graphss_status graphss_i_feature_index_rows(
    graphss_ctx *ctx, graphss_i_feature_index *x, const graphss_features *features)
{
    *x = (graphss_i_feature_index){.n = features->n_rows, .d = features->n_cols};
    graphss_status st = GRAPHSS_OK;
    int32_t *column = features->column;
    x->start = features->offset;
    x->value = features->value;
    if (!features->offset) {
        st = compress(ctx, x, features);
        column = x->sparse_column;
        x->start = x->sparse_start;
        x->value = x->sparse_value;
    }
    x->column = graphss_i_alloc(ctx, x->n, sizeof *x->column);
    x->length = graphss_i_alloc(ctx, x->n, sizeof *x->length);
    x->changed = graphss_i_calloc(ctx, x->n, sizeof *x->changed);
    if (!st && (!x->column || !x->length || !x->changed))
        st = GRAPHSS_ERR_NOMEM;
    if (st)
        goto fail;
    for (size_t i = 0; i < x->n; i++) {
        x->column[i] = column + x->start[i];
        x->length[i] = (int32_t)(x->start[i + 1] - x->start[i]);
    }
    return GRAPHSS_OK;
fail:
    graphss_i_feature_index_destroy(ctx, x);
    return st;
}

graphss_status graphss_i_feature_index_init(
    graphss_ctx *ctx, graphss_i_feature_index *x, const graphss_features *features)
{
    graphss_status st = graphss_i_feature_index_rows(ctx, x, features);
    if (st)
        return st;
    st = invert(ctx, x);
    if (st)
        graphss_i_feature_index_destroy(ctx, x);
    return st;
}

graphss_status graphss_i_feature_index_share(
    graphss_ctx *ctx, graphss_i_feature_index *x, const graphss_i_feature_index *from)
{
    *x = *from;
    x->shared = true;
    x->holders = (graphss_i_rows){0};
    x->column = graphss_i_copy(ctx, from->column, x->n, sizeof *x->column);
    x->length = graphss_i_copy(ctx, from->length, x->n, sizeof *x->length);
    x->changed = graphss_i_calloc(ctx, x->n, sizeof *x->changed);
    graphss_status st = x->column && x->length && x->changed
                            ? graphss_i_rows_init(ctx, &x->holders, &from->inverted)
                            : GRAPHSS_ERR_NOMEM;
    if (st)
        graphss_i_feature_index_destroy(ctx, x);
    return st;
}

void graphss_i_feature_index_destroy(graphss_ctx *ctx, graphss_i_feature_index *x)
{
    for (size_t i = 0; x->changed && i < x->n; i++)
        if (x->changed[i]) {
            graphss_release(ctx, x->changed[i]);
            graphss_release(ctx, x->column[i]);
        }
    graphss_i_rows_destroy(ctx, &x->holders);
    graphss_release(ctx, x->changed);
    graphss_release(ctx, x->length);
    graphss_release(ctx, x->column);
    if (!x->shared) {
        graphss_graph_destroy(ctx, &x->inverted);
        graphss_release(ctx, x->sparse_value);
        graphss_release(ctx, x->sparse_column);
        graphss_release(ctx, x->sparse_start);
    }
    *x = (graphss_i_feature_index){0};
}

void graphss_i_feature_index_product(
    double *xw, const graphss_i_feature_index *x, size_t node, const float *w, size_t k)
{
    for (size_t c = 0; c < k; c++)
        xw[c] = 0;
    for (int32_t e = 0; e < x->length[node]; e++) {
        const float *row = w + (size_t)x->column[node][e] * k;
        const double v = graphss_i_feature_index_value(x, node, (size_t)e);
        for (size_t c = 0; c < k; c++)
            xw[c] += v * (double)row[c];
    }
}

/* Removes `node` from, or adds it to, the holders of the features that only one of two
 * ascending lists has. */
static bool move_holder(graphss_ctx *ctx, graphss_i_feature_index *x, size_t node,
    const int32_t *a, size_t n_a, const int32_t *b, size_t n_b)
{
    size_t i = 0, j = 0;
    if (!x->inverted.offset)
        return true;
    while (i < n_a || j < n_b) {
        if (j == n_b || (i < n_a && a[i] < b[j])) {
            if (!graphss_i_rows_remove(ctx, &x->holders, (size_t)a[i++], (int32_t)node))
                return false;
        } else if (i == n_a || b[j] < a[i]) {
            if (!graphss_i_rows_insert(ctx, &x->holders, (size_t)b[j++], (int32_t)node))
                return false;
        } else {
            i++;
            j++;
        }
    }
    return true;
}

size_t graphss_i_feature_index_find(
    bool *there, const graphss_i_feature_index *x, size_t node, int32_t word)
{
    const int32_t *column = x->column[node];
    const size_t n = (size_t)x->length[node];
    size_t from = 0, to = n;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (column[middle] < word)
            from = middle + 1;
        else
            to = middle;
    }
    *there = from < n && column[from] == word;
    return from;
}

/* The capacity of a changed row is its length rounded up, so it is not stored. */
enum { ROOM = 64 };

static size_t room_for(size_t n)
{
    return (n + ROOM - 1) / ROOM * ROOM;
}

graphss_status graphss_i_feature_index_replace(graphss_ctx *ctx, graphss_i_feature_index *x,
    size_t node, const int32_t *column, const double *value, size_t n)
{
    int32_t *new_column = graphss_i_alloc(ctx, room_for(n), sizeof *column);
    double *new_value = graphss_i_alloc(ctx, room_for(n), sizeof *value);
    if (!new_column || !new_value ||
        !move_holder(ctx, x, node, x->column[node], (size_t)x->length[node], column, n)) {
        graphss_release(ctx, new_value);
        graphss_release(ctx, new_column);
        return GRAPHSS_ERR_NOMEM;
    }
    if (x->changed[node]) {
        graphss_release(ctx, x->changed[node]);
        graphss_release(ctx, x->column[node]);
    }
    memcpy(new_column, column, n * sizeof *column);
    memcpy(new_value, value, n * sizeof *value);
    x->column[node] = new_column;
    x->changed[node] = new_value;
    x->length[node] = (int32_t)n;
    return GRAPHSS_OK;
}

/* Gives the node its own row, with room for one more feature. */
static graphss_status make_room(graphss_ctx *ctx, graphss_i_feature_index *x, size_t node)
{
    const size_t n = (size_t)x->length[node];
    if (x->changed[node] && n % ROOM)
        return GRAPHSS_OK;
    int32_t *column = graphss_i_alloc(ctx, room_for(n + 1), sizeof *column);
    double *value = graphss_i_alloc(ctx, room_for(n + 1), sizeof *value);
    if (!column || !value) {
        graphss_release(ctx, value);
        graphss_release(ctx, column);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t e = 0; e < n; e++) {
        column[e] = x->column[node][e];
        value[e] = graphss_i_feature_index_value(x, node, e);
    }
    if (x->changed[node]) {
        graphss_release(ctx, x->changed[node]);
        graphss_release(ctx, x->column[node]);
    }
    x->column[node] = column;
    x->changed[node] = value;
    return GRAPHSS_OK;
}

graphss_status graphss_i_feature_index_set(
    graphss_ctx *ctx, graphss_i_feature_index *x, size_t node, int32_t word, double value)
{
    const size_t n = (size_t)x->length[node];
    bool there;
    const size_t at = graphss_i_feature_index_find(&there, x, node, word);
    if (!there && value == 0)
        return GRAPHSS_OK;
    graphss_status st = make_room(ctx, x, node);
    if (st)
        return st;
    int32_t *column = x->column[node];
    double *held = x->changed[node];
    if (there && value != 0) {
        held[at] = value;
        return GRAPHSS_OK;
    }
    if (x->inverted.offset && !(there ? graphss_i_rows_remove : graphss_i_rows_insert)(
                                  ctx, &x->holders, (size_t)word, (int32_t)node))
        return GRAPHSS_ERR_NOMEM;
    const size_t from = at + there, moved = n - from;
    memmove(column + at + !there, column + from, moved * sizeof *column);
    memmove(held + at + !there, held + from, moved * sizeof *held);
    if (!there) {
        column[at] = word;
        held[at] = value;
    }
    x->length[node] = (int32_t)(there ? n - 1 : n + 1);
    return GRAPHSS_OK;
}

graphss_status graphss_i_feature_index_on(graphss_ctx *ctx, float *on,
    const graphss_i_feature_index *x, graphss_feature_domain domain)
{
    for (size_t j = 0; j < x->d; j++)
        on[j] = 1;
    if (domain != GRAPHSS_DOMAIN_COUNTS && domain != GRAPHSS_DOMAIN_REAL)
        return GRAPHSS_OK;
    /* Groups values by feature, then takes the median of each group. */
    float *group = graphss_i_alloc(ctx, (size_t)x->start[x->n], sizeof *group);
    int64_t *offset = graphss_i_calloc(ctx, x->d + 2, sizeof *offset);
    if (!group || !offset) {
        graphss_release(ctx, offset);
        graphss_release(ctx, group);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < x->n; i++)
        for (int32_t e = 0; e < x->length[i]; e++)
            offset[x->column[i][e] + 2]++;
    for (size_t j = 0; j < x->d; j++)
        offset[j + 2] += offset[j + 1];
    for (size_t i = 0; i < x->n; i++)
        for (int32_t e = 0; e < x->length[i]; e++)
            group[offset[x->column[i][e] + 1]++] = x->value[x->start[i] + e];
    for (size_t j = 0; j < x->d; j++) {
        const int64_t count = offset[j + 1] - offset[j];
        float *value = group + offset[j];
        if (count == 0)
            continue;
        const float low = graphss_i_select(value, (size_t)count, (size_t)(count - 1) / 2);
        float high = low;
        if (count % 2 == 0) {
            high = value[count / 2];
            for (int64_t i = count / 2 + 1; i < count; i++)
                high = fminf(high, value[i]);
        }
        on[j] = domain == GRAPHSS_DOMAIN_COUNTS ? low : (float)(0.5 * ((double)low + high));
    }
    graphss_release(ctx, offset);
    graphss_release(ctx, group);
    return GRAPHSS_OK;
}
