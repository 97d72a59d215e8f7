/* columns.c - see build.h. */
#include "data/build.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float largest_value = 1e19F, least_value = 1e-19F;

void graphss_i_columns_place(
    size_t *row, size_t *column, const graphss_features *f, size_t entry)
{
    if (graphss_features_dense(f)) {
        *row = entry / f->n_cols;
        *column = entry % f->n_cols;
        return;
    }
    *column = (size_t)f->column[entry];
    *row = 0;
    while ((size_t)f->offset[*row + 1] <= entry)
        ++*row;
}

const char *graphss_i_columns_called(char text[96], const graphss_names *names, size_t i)
{
    if (names && names->count)
        snprintf(text, 96, "'%.80s'", graphss_names_get(names, i));
    else
        snprintf(text, 96, "%zu", i);
    return text;
}

graphss_status graphss_i_columns_check_range(graphss_ctx *ctx, const graphss_features *f,
    const graphss_names *node_names, const graphss_names *column_names)
{
    const size_t n = f->n_cols ? graphss_features_stored(f) : 0;
    size_t largest = 0, row, column;
    char node[96], name[96];
    if (n == 0)
        return GRAPHSS_OK;
    for (size_t e = 1; e < n; e++)
        if (fabsf(f->value[e]) > fabsf(f->value[largest]))
            largest = e;
    const float size = fabsf(f->value[largest]);
    const bool small = size > 0 && size < least_value;
    if (!small && !(size > largest_value)) /* a malformed number is reported elsewhere */
        return GRAPHSS_OK;
    graphss_i_columns_place(&row, &column, f, largest);
    graphss_i_columns_called(name, column_names, column);
    graphss_i_columns_called(node, node_names, row);
    if (small)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "all features are too small to compute with: the largest, "
            "feature %s of node %s, is %g, want at least %g; multiply them "
            "by a constant",
            name, node, (double)f->value[largest], (double)least_value);
    return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
        "feature %s of node %s is %g, too large to compute with: want at "
        "most %g; divide the column by a constant",
        name, node, (double)f->value[largest], (double)largest_value);
}

static int by_number(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The columns that have an entry, ascending. *out is the caller's. */
static graphss_status list_used(
    graphss_ctx *ctx, int32_t **out, size_t *n_used, const graphss_features *f)
{
    const size_t n = graphss_features_stored(f);
    int32_t *used = graphss_i_copy(ctx, f->column, n, sizeof *used);
    size_t kept = 0;
    if (!used)
        return GRAPHSS_ERR_NOMEM;
    qsort(used, n, sizeof *used, by_number);
    for (size_t e = 0; e < n; e++)
        if (kept == 0 || used[e] != used[kept - 1])
            used[kept++] = used[e];
    *out = used;
    *n_used = kept;
    return GRAPHSS_OK;
}

/* The names of the used columns; their numbers if there are none. */
static graphss_status name_used(graphss_ctx *ctx, graphss_names *out, const int32_t *used,
    size_t n_used, const graphss_names *names)
{
    graphss_i_name_list list = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n_used && !st; i++) {
        char number[24];
        snprintf(number, sizeof number, "%d", (int)used[i]);
        const char *text = names->count ? graphss_names_get(names, (size_t)used[i]) : number;
        st = graphss_i_name_list_add(ctx, &list, text, strlen(text));
    }
    if (!st)
        st = graphss_i_name_list_finish(ctx, out, &list);
    graphss_i_name_list_destroy(ctx, &list);
    return st;
}

graphss_status graphss_i_columns_drop_unused(
    graphss_ctx *ctx, graphss_dataset *data, const char *where)
{
    graphss_features *f = &data->features;
    const size_t before = f->n_cols;
    int32_t *used = NULL;
    size_t n_used = 0;
    graphss_names names = {0};
    if (!f->offset || before <= GRAPHSS_I_COLUMNS_KEPT ||
        (data->column_names.count && data->column_names.count != before))
        return GRAPHSS_OK;
    graphss_status st = list_used(ctx, &used, &n_used, f);
    if (st || n_used == before)
        goto done;
    st = name_used(ctx, &names, used, n_used, &data->column_names);
    if (st)
        goto done;
    const size_t n = graphss_features_stored(f), n_rows = f->n_rows;
    for (size_t e = 0; e < n; e++) {
        const int32_t *at = bsearch(&f->column[e], used, n_used, sizeof *used, by_number);
        f->column[e] = (int32_t)(at - used);
    }
    const graphss_features old = *f;
    *f = (graphss_features){.n_rows = n_rows};
    st = graphss_i_features_from_rows(
        ctx, f, n_rows, n_used, old.offset, old.column, old.value, n, "features");
    if (st)
        goto done;
    graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
        "%s: %zu of %zu feature columns have no entry and are left out%s", where,
        before - n_used, before,
        n_used && !data->column_names.count ? "; the others keep their numbers as names" : "");
    graphss_names_destroy(ctx, &data->column_names);
    data->column_names = names;
    names = (graphss_names){0};
done:
    graphss_names_destroy(ctx, &names);
    graphss_release(ctx, used);
    return st;
}
