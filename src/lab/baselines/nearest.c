/* nearest.c - the most alike by an inverted index: for each column the nodes that have it.
 * The scores of one node against all are the only array that is as long as `among`; a few
 * rows are a task, each with scores of its own, and a round of tasks ends with progress. */
#include "lab/baselines/baselines.h"
#include <math.h>
#include <string.h>

enum { TASKS = 16, ROWS = 16 }; /* of a round; rows of a task */

typedef struct search {
    const graphss_features *features;
    const graphss_graph *graph; /* or NULL */
    const int32_t *from, *among;
    size_t n_from, n_among, each, first; /* first row of this round */
    int32_t *near;
    int32_t *at;     /* [n] position of a node in among, or -1 */
    int64_t *offset; /* [columns + 1] the index: places in among, and values over lengths */
    int32_t *transposed_at;
    float *value;
    float *score; /* [TASKS x n_among] */
    float *heap;  /* [TASKS x each] scores of the places in near */
} search;

/* Iterates over the entries of a row and skips zeros of a dense row. */
typedef struct entries {
    const graphss_features *f;
    int64_t e, end;
    size_t row;
} entries;

static entries row_of(const graphss_features *f, size_t row)
{
    return (entries){f, f->offset ? f->offset[row] : 0,
        f->offset ? f->offset[row + 1] : (int64_t)f->n_cols, row};
}

static bool next(entries *x, size_t *column, float *value)
{
    for (; x->e < x->end; x->e++) {
        *column = x->f->offset ? (size_t)x->f->column[x->e] : (size_t)x->e;
        *value = x->f->offset ? x->f->value[x->e]
                              : x->f->value[x->row * x->f->n_cols + (size_t)x->e];
        if (*value != 0) {
            x->e++;
            return true;
        }
    }
    return false;
}

static size_t count_columns(search *s)
{
    size_t column;
    float value;
    memset(s->offset, 0, (s->features->n_cols + 1) * sizeof *s->offset);
    for (size_t j = 0; j < s->n_among; j++)
        for (entries x = row_of(s->features, (size_t)s->among[j]); next(&x, &column, &value);)
            s->offset[column + 1]++;
    for (size_t c = 0; c < s->features->n_cols; c++)
        s->offset[c + 1] += s->offset[c];
    return (size_t)s->offset[s->features->n_cols];
}

/* Fills the lists; offset[c] moves to the end of list c and is moved back. */
static void fill_lists(search *s)
{
    size_t column;
    float value;
    for (size_t j = 0; j < s->n_among; j++) {
        double squares = 0;
        for (entries x = row_of(s->features, (size_t)s->among[j]); next(&x, &column, &value);)
            squares += (double)value * value;
        const double scale = 1 / sqrt(squares);
        for (entries x = row_of(s->features, (size_t)s->among[j]);
             next(&x, &column, &value);) {
            const int64_t e = s->offset[column]++;
            s->transposed_at[e] = (int32_t)j;
            s->value[e] = (float)(value * scale);
        }
    }
    for (size_t c = s->features->n_cols; c > 0; c--)
        s->offset[c] = s->offset[c - 1];
    s->offset[0] = 0;
}

/* True if the first of two positions ranks lower. */
static bool worse(float score_a, int32_t a, float score_b, int32_t b)
{
    return score_a < score_b || (score_a == score_b && a > b);
}

/* Puts (score, place) into the root, or into the hole at `hole`, and sinks it. */
static void sink(
    float *heap, int32_t *near, size_t n, size_t hole, float score, int32_t transposed_at)
{
    for (;;) {
        size_t child = 2 * hole + 1;
        if (child >= n)
            break;
        if (child + 1 < n && worse(heap[child + 1], near[child + 1], heap[child], near[child]))
            child++;
        if (!worse(heap[child], near[child], score, transposed_at))
            break;
        heap[hole] = heap[child];
        near[hole] = near[child];
        hole = child;
    }
    heap[hole] = score;
    near[hole] = transposed_at;
}

static void rise(float *heap, int32_t *near, size_t hole, float score, int32_t transposed_at)
{
    while (hole > 0) {
        const size_t parent = (hole - 1) / 2;
        if (!worse(score, transposed_at, heap[parent], near[parent]))
            break;
        heap[hole] = heap[parent];
        near[hole] = near[parent];
        hole = parent;
    }
    heap[hole] = score;
    near[hole] = transposed_at;
}

/* The best of the scores into near, as places in among; the worst of them is the root. */
static void choose(int32_t *near, float *heap, const float *score, size_t n, size_t each)
{
    size_t held = 0;
    for (size_t j = 0; j < n; j++) {
        if (!(score[j] > 0))
            continue;
        if (held < each)
            rise(heap, near, held++, score[j], (int32_t)j);
        else if (score[j] > heap[0]) /* later places lose ties */
            sink(heap, near, each, 0, score[j], (int32_t)j);
    }
    for (; held < each; held++)
        near[held] = -1;
}

/* score[j] = sum_c x[i][c] y[j][c] / |y_j|, which orders as the cosine does */
static void score_row(float *score, const search *s, size_t node)
{
    size_t column;
    float value;
    memset(score, 0, s->n_among * sizeof *score);
    for (entries x = row_of(s->features, node); next(&x, &column, &value);)
        for (int64_t e = s->offset[column]; e < s->offset[column + 1]; e++)
            score[s->transposed_at[e]] += value * s->value[e];
    if (s->at[node] >= 0)
        score[s->at[node]] = 0;
    if (!s->graph)
        return;
    for (int64_t e = s->graph->offset[node]; e < s->graph->offset[node + 1]; e++)
        if (s->at[s->graph->target[e]] >= 0)
            score[s->at[s->graph->target[e]]] = 0;
}

static void search_rows(void *arg, size_t task)
{
    const search *s = arg;
    float *score = s->score + task * s->n_among, *heap = s->heap + task * s->each;
    const size_t start = s->first + task * ROWS;
    for (size_t i = start; i < start + ROWS && i < s->n_from; i++) {
        int32_t *near = s->near + i * s->each;
        score_row(score, s, (size_t)s->from[i]);
        choose(near, heap, score, s->n_among, s->each);
        for (size_t k = 0; k < s->each && near[k] >= 0; k++)
            near[k] = s->among[near[k]];
    }
}

graphss_status graphss_i_nearest(graphss_ctx *ctx, int32_t *near, size_t each,
    const graphss_features *features, const graphss_graph *graph, const int32_t *from,
    size_t n_from, const int32_t *among, size_t n_among, const char *stage)
{
    search s = {.features = features,
        .graph = graph,
        .from = from,
        .among = among,
        .n_from = n_from,
        .n_among = n_among,
        .each = each,
        .near = near};
    graphss_status st = GRAPHSS_ERR_NOMEM;
    if (each == 0 || n_from == 0)
        return GRAPHSS_OK;
    s.at = graphss_i_alloc(ctx, features->n_rows, sizeof *s.at);
    s.offset = graphss_i_alloc(ctx, features->n_cols + 1, sizeof *s.offset);
    s.score = graphss_i_alloc(ctx, n_among, TASKS * sizeof *s.score);
    s.heap = graphss_i_alloc(ctx, each, TASKS * sizeof *s.heap);
    if (!s.at || !s.offset || !s.score || !s.heap)
        goto done;
    const size_t stored = count_columns(&s);
    s.transposed_at = graphss_i_alloc(ctx, stored, sizeof *s.transposed_at);
    s.value = graphss_i_alloc(ctx, stored, sizeof *s.value);
    if (!s.transposed_at || !s.value)
        goto done;
    fill_lists(&s);
    for (size_t i = 0; i < features->n_rows; i++)
        s.at[i] = -1;
    for (size_t j = 0; j < n_among; j++)
        s.at[among[j]] = (int32_t)j;
    st = GRAPHSS_OK;
    for (s.first = 0; s.first < n_from && !st; s.first += TASKS * ROWS) {
        const size_t left = graphss_i_tasks(n_from - s.first, ROWS);
        st = graphss_i_parallel_checked(ctx, left < TASKS ? left : TASKS, search_rows, &s);
        const size_t done = s.first + TASKS * ROWS;
        st = st ? st
                : graphss_i_progress(ctx, stage, done < n_from ? done : n_from, n_from, NULL);
    }
done:
    graphss_release(ctx, s.at);
    graphss_release(ctx, s.offset);
    graphss_release(ctx, s.transposed_at);
    graphss_release(ctx, s.value);
    graphss_release(ctx, s.score);
    graphss_release(ctx, s.heap);
    return st;
}
