/* rows.h - the entries of a row of features, sparse or dense. Private. */
#ifndef GRAPHSS_ROWS_H
#define GRAPHSS_ROWS_H

#include <graphss/graph.h>
#include <string.h>

typedef struct graphss_i_row {
    const int32_t *column; /* NULL: a dense row, 0, 1, 2 ... */
    const float *value;    /* in a dense row also zeros */
    size_t n;
} graphss_i_row;

static inline graphss_i_row graphss_i_row_of(const graphss_features *x, size_t i)
{
    static const int32_t no_column;
    static const float no_value;
    if (graphss_features_dense(x))
        return (graphss_i_row){NULL, x->value + i * x->n_cols, x->n_cols};
    if (!x->column) /* no row has an entry */
        return (graphss_i_row){&no_column, &no_value, 0};
    const int64_t from = x->offset[i];
    return (graphss_i_row){
        x->column + from, x->value + from, (size_t)(x->offset[i + 1] - from)};
}

/* The column of the j-th entry. */
static inline size_t graphss_i_row_at(graphss_i_row r, size_t j)
{
    return r.column ? (size_t)r.column[j] : j;
}

/* The value in a column. Query columns in ascending order; *at starts at 0. */
static inline float graphss_i_row_value(graphss_i_row r, size_t *at, size_t column)
{
    if (!r.column)
        return r.value[column];
    while (*at < r.n && (size_t)r.column[*at] < column)
        ++*at;
    return *at < r.n && (size_t)r.column[*at] == column ? r.value[*at] : 0;
}

/* True if both rows have the same entries, stored in the same way. */
static inline bool graphss_i_row_same(graphss_i_row a, graphss_i_row b)
{
    return a.n == b.n && !a.column == !b.column &&
           (!a.column || !memcmp(a.column, b.column, a.n * sizeof *a.column)) &&
           !memcmp(a.value, b.value, a.n * sizeof *a.value);
}

enum { GRAPHSS_I_DOTS = 4 };

/* dot[q] = row q . b, b by column, and square[q] = row q . row q of n <= DOTS rows at once:
 * one sum would wait for each addition in turn. */
static inline void graphss_i_row_dots(
    double *dot, double *square, const graphss_i_row *row, size_t n, const float *b)
{
    double sum[GRAPHSS_I_DOTS] = {0}, own[GRAPHSS_I_DOTS] = {0};
    size_t common = n == GRAPHSS_I_DOTS && row[0].column ? row[0].n : 0;
    for (size_t q = 1; q < n; q++)
        common = row[q].n < common ? row[q].n : common;
    for (size_t j = 0; j < common; j++)
        for (size_t q = 0; q < GRAPHSS_I_DOTS; q++) {
            const double x = (double)row[q].value[j];
            sum[q] += x * (double)b[row[q].column[j]];
            own[q] += x * x;
        }
    for (size_t q = 0; q < n; q++) {
        for (size_t j = common; j < row[q].n; j++) {
            const double x = (double)row[q].value[j];
            sum[q] += x * (double)b[graphss_i_row_at(row[q], j)];
            own[q] += x * x;
        }
        dot[q] = sum[q];
        square[q] = own[q];
    }
}

/* Entries that are not zero. */
static inline size_t graphss_i_row_count(graphss_i_row r)
{
    size_t n = 0;
    for (size_t j = 0; j < r.n; j++)
        n += r.value[j] != 0;
    return n;
}

/* Two ascending rows of edges walked together. Private. */

/* A cursor in an ascending row: queries have advanced to this position. */
typedef struct graphss_i_walk {
    const int32_t *at, *end;
} graphss_i_walk;

/* A cursor over the neighbours of a node; over nothing if the node is below 0. */
static inline graphss_i_walk graphss_i_walk_from(const graphss_graph *g, int32_t node)
{
    if (node < 0)
        return (graphss_i_walk){g->target, g->target};
    return (graphss_i_walk){g->target + g->offset[node], g->target + g->offset[node + 1]};
}

/* True if x is in the row. x must not be below the x of the previous query. The step doubles
 * until it passes x, so that long rows are not read completely. */
static inline bool graphss_i_walk_meets(graphss_i_walk *w, int32_t x)
{
    const int32_t *low = w->at;
    ptrdiff_t step = 1;
    for (; w->end - low > step && low[step] < x; step *= 2)
        low += step;
    const int32_t *high = w->end - low > step ? low + step : w->end;
    while (low < high) {
        const int32_t *middle = low + (high - low) / 2;
        if (*middle < x)
            low = middle + 1;
        else
            high = middle;
    }
    w->at = low;
    return low < w->end && *low == x;
}

#endif
