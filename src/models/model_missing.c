/* model_missing.c - see model_missing.h. */
#include "models/model_missing.h"
#include "base/ranks.h"
#include "data/build.h"
#include "graph/rows.h"

graphss_status graphss_i_column_means(graphss_ctx *ctx, float **out,
                                      const graphss_features *features)
{
    const size_t d = features->n_cols;
    float *mean = graphss_i_alloc(ctx, d, sizeof *mean);
    double *sum = graphss_i_calloc(ctx, d, sizeof *sum);
    if (!mean || !sum) {
        graphss_release(ctx, mean);
        graphss_release(ctx, sum);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0; i < features->n_rows; i++) {
        const graphss_i_row row = graphss_i_row_of(features, i);
        for (size_t j = 0; j < row.n; j++)
            sum[graphss_i_row_at(row, j)] += (double)row.value[j];
    }
    double n_rows = (double)features->n_rows;
    graphss_status st = graphss_i_ranks_sum(ctx, sum, d);
    if (!st)
        st = graphss_i_ranks_sum(ctx, &n_rows, 1);
    for (size_t c = 0; c < d; c++)
        mean[c] = (float)(sum[c] / n_rows);
    graphss_release(ctx, sum);
    if (st)
        graphss_release(ctx, mean);
    else
        *out = mean;
    return st;
}

const float *graphss_i_model_means(const graphss_model *model)
{
    if (model->column_mean)
        return model->column_mean;
    return model->scaling.row_normalise ? NULL : model->scaling.mean;
}

/* to [columns of the data]: their numbers to the model, -1: none. */
static graphss_status find_columns(graphss_ctx *ctx, int32_t *to, const graphss_model *model,
                                   const graphss_dataset *data)
{
    const graphss_names *own = &data->column_names, *known = &model->column_names;
    graphss_i_intern table = {
        .list = {.count = known->count, .start = known->start, .text = known->text}};
    const graphss_status st = graphss_i_intern_index(ctx, &table); /* the list is borrowed */
    for (size_t c = 0; c < data->features.n_cols && !st; c++) {
        if (own->count && known->count) {
            const char *name = graphss_names_get(own, c);
            to[c] = (int32_t)graphss_i_intern_find(&table, name, strlen(name));
        } else {
            to[c] = c < model->n_features ? (int32_t)c : -1;
        }
    }
    graphss_release(ctx, table.slot);
    return st;
}

/* The missing columns of each node: start [nodes + 1] into column. */
static void sort_by_node(size_t *start, int32_t *column, const graphss_dataset *data,
                         const int32_t *to)
{
    const graphss_missing_cells *m = &data->missing;
    const size_t n = data->features.n_rows;
    for (size_t i = 0; i <= n; i++)
        start[i] = 0;
    for (size_t e = 0; e < m->count; e++)
        start[m->node[e] + 1] += to[m->column[e]] >= 0;
    for (size_t i = 0; i < n; i++)
        start[i + 1] += start[i];
    const size_t all = start[n];
    for (size_t e = m->count;
         e-- > 0;) /* from the back: start[i + 1] moves down to start[i] */
        if (to[m->column[e]] >= 0)
            column[--start[m->node[e] + 1]] = m->column[e];
    for (size_t i = 0; i < n; i++)
        start[i] = start[i + 1];
    start[n] = all;
}

static bool is_listed(const int32_t *list, size_t n, size_t column)
{
    for (size_t i = 0; i < n; i++)
        if ((size_t)list[i] == column)
            return true;
    return false;
}

graphss_status graphss_i_model_fill(graphss_ctx *ctx, graphss_features *out, size_t *filled,
                                    const graphss_model *model, const graphss_dataset *data)
{
    const graphss_features *x = &data->features;
    const float *mean = graphss_i_model_means(model);
    *filled = 0;
    if (!mean || data->missing.count == 0)
        return GRAPHSS_OK;
    const size_t room = graphss_features_stored(x) + data->missing.count;
    int32_t *to = graphss_i_alloc(ctx, x->n_cols, sizeof *to);
    size_t *start = graphss_i_alloc(ctx, x->n_rows + 1, sizeof *start);
    int32_t *gap = graphss_i_alloc(ctx, data->missing.count, sizeof *gap);
    int64_t *offset = graphss_i_alloc(ctx, x->n_rows + 1, sizeof *offset);
    int32_t *column = graphss_i_alloc(ctx, room, sizeof *column);
    float *value = graphss_i_alloc(ctx, room, sizeof *value);
    graphss_status st = to && start && gap && offset && column && value
                            ? find_columns(ctx, to, model, data)
                            : GRAPHSS_ERR_NOMEM;
    if (st) {
        graphss_release(ctx, offset);
        graphss_release(ctx, column);
        graphss_release(ctx, value);
        goto done;
    }
    size_t n = 0;
    sort_by_node(start, gap, data, to);
    for (size_t i = 0; i < x->n_rows; i++) {
        const graphss_i_row row = graphss_i_row_of(x, i);
        const size_t end = start[i + 1];
        offset[i] = (int64_t)n;
        for (size_t j = 0; j < row.n; j++) {
            const size_t c = graphss_i_row_at(row, j);
            if (row.value[j] == 0 || is_listed(gap + start[i], end - start[i], c))
                continue;
            column[n] = (int32_t)c;
            value[n++] = row.value[j];
        }
        for (size_t g = start[i]; g < end; g++) {
            column[n] = gap[g];
            value[n++] = mean[to[gap[g]]];
            ++*filled;
        }
    }
    offset[x->n_rows] = (int64_t)n;
    st = graphss_i_features_from_rows(ctx, out, x->n_rows, x->n_cols, offset, column, value, n,
                                      "features");
done:
    graphss_release(ctx, gap);
    graphss_release(ctx, start);
    graphss_release(ctx, to);
    return st;
}
