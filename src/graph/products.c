/* products.c - sparse products and the transpose, cut into tasks by size.
 *
 * A task is a run of rows with about GRAIN multiply-adds, found by binary search in the
 * offsets, so that nothing is allocated and the cut depends on the matrix alone. Work
 * below SMALL stays on the calling thread: waking others would take longer.
 *
 * The dense matrix is read once per entry, in no order. When it is too large for the
 * second-level cache but a strip of its columns is not, the product goes strip by strip. */
#include "graph/products.h"
#include "graph/kernels.h"
#include <assert.h>
#include <string.h>

enum {
    GRAIN = 1 << 17, /* multiply-adds of a task */
    SMALL = 1 << 20, /* multiply-adds that are not worth a second thread */
    FLOOR = 16,      /* an entry costs at least as much as so many of them */
    NEAR = 3 << 19,  /* bytes of a dense matrix that need no strips */
    FAR = 3 << 20    /* bytes of a strip that would not stay in the cache either */
};

typedef struct product {
    const graphss_i_kernels *kernels;
    const graphss_i_csr *m;
    float *out;
    const float *a, *b;
    size_t k;
    size_t grain;  /* cost of a run of rows, as below */
    size_t runs;   /* of rows */
    size_t strips; /* of columns */
} product;

/* ---- cutting ---- */

/* Entries and rows before row i; a row costs about as much as an entry. */
static size_t cost_before(const graphss_i_csr *m, size_t i)
{
    return (size_t)m->offset[i] + i;
}

/* The first row before which the cost is at least want. */
static size_t row_at_cost(const graphss_i_csr *m, size_t want)
{
    size_t low = 0, high = m->n_rows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (cost_before(m, middle) >= want)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Columns are cut at multiples of half a cache line, or of a whole one where rows begin on
 * one; a strip is at most five of the former or four of the latter. */
static size_t column_unit(size_t k)
{
    return k % 16 == 0 ? 16 : 8;
}

static size_t strip_columns(size_t k)
{
    return k % 16 == 0 ? 64 : 40;
}

static size_t count_strips(size_t k)
{
    return (k + strip_columns(k) - 1) / strip_columns(k);
}

static size_t first_column(const product *p, size_t strip)
{
    const size_t unit = column_unit(p->k), units = (p->k + unit - 1) / unit;
    const size_t c = units * strip / p->strips * unit;
    return c < p->k ? c : p->k;
}

static bool is_small(const product *p)
{
    const size_t entry = p->k > FLOOR ? p->k : FLOOR;
    return cost_before(p->m, p->m->n_rows) <= SMALL / entry;
}

static void cut_rows(product *p)
{
    const size_t cost = cost_before(p->m, p->m->n_rows);
    const size_t columns = p->k / p->strips, entry = columns > FLOOR ? columns : FLOOR;
    p->grain = is_small(p) ? cost : GRAIN / entry + 1;
    p->runs = (cost + p->grain - 1) / p->grain;
}

static size_t first_row(const product *p, size_t run)
{
    return row_at_cost(p->m, run * p->grain);
}

/* ---- products ---- */

static void spmm_task(void *arg, size_t task)
{
    const product *p = arg;
    const graphss_i_csr *m = p->m;
    const size_t strip = task / p->runs, run = task % p->runs;
    p->kernels->spmm(p->out, m->offset, m->column, m->value, p->a, p->k, first_row(p, run),
                     first_row(p, run + 1), first_column(p, strip),
                     first_column(p, strip + 1));
}

void graphss_i_spmm(graphss_ctx *ctx, float *y, const graphss_i_csr *m, const float *x,
                    size_t k)
{
    if (m->n_rows == 0 || k == 0)
        return;
    product p = {.kernels = graphss_i_ctx_kernels(ctx), .m = m, .out = y, .a = x, .k = k};
    const size_t column_bytes = m->n_cols * sizeof *x;
    const bool cut =
        !is_small(&p) && column_bytes * k > NEAR && column_bytes * strip_columns(k) <= FAR;
    p.strips = cut ? count_strips(k) : 1;
    cut_rows(&p);
    graphss_i_parallel(ctx, p.runs * p.strips, spmm_task, &p);
}

static void sddmm_task(void *arg, size_t task)
{
    const product *p = arg;
    const graphss_i_csr *m = p->m;
    p->kernels->sddmm(p->out, m->offset, m->column, p->a, p->b, p->k, first_row(p, task),
                      first_row(p, task + 1));
}

void graphss_i_sddmm(graphss_ctx *ctx, float *out, const graphss_i_csr *m, const float *a,
                     const float *b, size_t k)
{
    if (m->n_rows == 0 || k == 0)
        return;
    product p = {.kernels = graphss_i_ctx_kernels(ctx),
                 .m = m,
                 .out = out,
                 .a = a,
                 .b = b,
                 .k = k,
                 .strips = 1};
    cut_rows(&p);
    graphss_i_parallel(ctx, p.runs, sddmm_task, &p);
}

/* Each task owns a strip of columns of y. */
static void transposed_task(void *arg, size_t task)
{
    const product *p = arg;
    const graphss_i_csr *m = p->m;
    p->kernels->spmm_transposed(p->out, m->offset, m->column, m->value, p->a, p->k, m->n_rows,
                                first_column(p, task), first_column(p, task + 1));
}

void graphss_i_spmm_transposed(graphss_ctx *ctx, float *y, const graphss_i_csr *m,
                               const float *x, size_t k)
{
    if (m->n_rows == 0 || k == 0)
        return;
    product p = {.kernels = graphss_i_ctx_kernels(ctx), .m = m, .out = y, .a = x, .k = k};
    const size_t strips = count_strips(k);
    p.strips = strips == 1 || is_small(&p) ? 1 : (strips + 1) / 2 * 2; /* for two threads */
    graphss_i_parallel(ctx, p.strips, transposed_task, &p);
}

/* ---- the matrices themselves ---- */

void graphss_i_csr_destroy(graphss_ctx *ctx, graphss_i_csr *m)
{
    if (!m->borrowed) {
        graphss_release(ctx, m->offset);
        graphss_release(ctx, m->column);
    }
    graphss_release(ctx, m->value);
    *m = (graphss_i_csr){0};
}

/* Room for nnz entries; on failure what was allocated stays in m, for csr_destroy. */
static graphss_status csr_reserve(graphss_ctx *ctx, graphss_i_csr *m, size_t nnz, bool valued)
{
    m->column = graphss_i_alloc(ctx, nnz, sizeof *m->column);
    if (!m->column)
        return GRAPHSS_ERR_NOMEM;
    if (!valued)
        return GRAPHSS_OK;
    m->value = graphss_i_alloc(ctx, nnz, sizeof *m->value);
    return m->value ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* Counting sort by column: rows are walked in order, so columns of the result ascend. */
static void transpose_fill(graphss_i_csr *out, const graphss_i_csr *m)
{
    const size_t nnz = (size_t)m->offset[m->n_rows];
    /* offset[c + 1] is where the next entry of column c goes, in the end its end. */
    for (size_t e = 0; e < nnz; e++)
        if ((size_t)m->column[e] + 2 <= m->n_cols)
            out->offset[m->column[e] + 2]++;
    for (size_t c = 2; c <= m->n_cols; c++)
        out->offset[c] += out->offset[c - 1];
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const int64_t to = out->offset[m->column[e] + 1]++;
            out->column[to] = (int32_t)i;
            if (m->value)
                out->value[to] = m->value[e];
        }
}

graphss_status graphss_i_csr_transpose(graphss_ctx *ctx, graphss_i_csr *out,
                                       const graphss_i_csr *m)
{
    if (m->n_rows > INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
                              "transpose: %zu rows, at most %d become columns", m->n_rows,
                              INT32_MAX);
    const size_t nnz = m->n_rows ? (size_t)m->offset[m->n_rows] : 0;
    graphss_i_csr t = {.n_rows = m->n_cols, .n_cols = m->n_rows};
    graphss_status st = GRAPHSS_ERR_NOMEM;

    t.offset = graphss_i_calloc(ctx, t.n_rows + 1, sizeof *t.offset);
    if (!t.offset)
        goto done;
    st = csr_reserve(ctx, &t, nnz, m->value);
    if (st)
        goto done;
    if (nnz)
        transpose_fill(&t, m);
    *out = t;
    t = (graphss_i_csr){0};
done:
    graphss_i_csr_destroy(ctx, &t);
    return st;
}

/* In the order of its rows the entries (i, j) come to each column j in the order of row j. */
void graphss_i_csr_places(int64_t *place, int64_t *next, const graphss_i_csr *m)
{
    memcpy(next, m->offset, m->n_rows * sizeof *next);
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            place[next[m->column[e]]++] = e;
}

/* ---- sparse times sparse, row by row (Gustavson 1978) ----
 *
 * One row of the result is a set of columns and a dense row of sums. The set is a bitmap
 * under a bitmap of its words that are not zero: adding is constant time, and walking gives
 * the columns in order without sorting, 4096 of them to a look at the upper bitmap. */

typedef struct column_set {
    uint64_t *bits;   /* [words] */
    uint64_t *filled; /* [words / 64 + 1]; bit w: bits[w] != 0 */
    size_t low, high; /* words of filled in use: [low, high) */
} column_set;

static bool set_add(column_set *set, int32_t column)
{
    const size_t word = (size_t)column / 64, upper = word / 64;
    const uint64_t bit = UINT64_C(1) << (column % 64);
    if (set->bits[word] & bit)
        return false;
    set->bits[word] |= bit;
    set->filled[upper] |= UINT64_C(1) << (word % 64);
    if (upper < set->low)
        set->low = upper;
    if (upper >= set->high)
        set->high = upper + 1;
    return true;
}

/* Writes the columns in ascending order unless column is NULL, and empties the set. */
static size_t set_drain(column_set *set, int32_t *column)
{
    size_t n = 0;
    for (size_t upper = set->low; upper < set->high; upper++) {
        for (uint64_t f = set->filled[upper]; f; f &= f - 1) {
            const size_t word = upper * 64 + (size_t)__builtin_ctzll(f);
            for (uint64_t b = set->bits[word]; b; b &= b - 1, n++)
                if (column)
                    column[n] = (int32_t)(word * 64 + (size_t)__builtin_ctzll(b));
            set->bits[word] = 0;
        }
        set->filled[upper] = 0;
    }
    set->low = SIZE_MAX;
    set->high = 0;
    return n;
}

/* out.offset from the number of columns in each row; false when over max_nnz. */
static bool multiply_count(graphss_i_csr *out, column_set *set, const graphss_i_csr *a,
                           const graphss_i_csr *b, size_t max_nnz)
{
    for (size_t i = 0; i < a->n_rows; i++) {
        for (int64_t e = a->offset[i]; e < a->offset[i + 1]; e++) {
            const size_t j = (size_t)a->column[e];
            for (int64_t f = b->offset[j]; f < b->offset[j + 1]; f++)
                set_add(set, b->column[f]);
        }
        out->offset[i + 1] = out->offset[i] + (int64_t)set_drain(set, NULL);
        if ((size_t)out->offset[i + 1] > max_nnz)
            return false;
    }
    return true;
}

/* out[i][c] = sum_j a[i][j] b[j][c], over the stored j in order; sum [b.n_cols] */
static void multiply_fill(graphss_i_csr *out, column_set *set, float *sum,
                          const graphss_i_csr *a, const graphss_i_csr *b)
{
    for (size_t i = 0; i < a->n_rows; i++) {
        for (int64_t e = a->offset[i]; e < a->offset[i + 1]; e++) {
            const size_t j = (size_t)a->column[e];
            const float w = a->value ? a->value[e] : 1.0f;
            for (int64_t f = b->offset[j]; f < b->offset[j + 1]; f++) {
                const int32_t c = b->column[f];
                const float term = w * (b->value ? b->value[f] : 1.0f);
                sum[c] = set_add(set, c) ? term : sum[c] + term;
            }
        }
        set_drain(set, out->column + out->offset[i]);
        for (int64_t e = out->offset[i]; e < out->offset[i + 1]; e++)
            out->value[e] = sum[out->column[e]];
    }
}

graphss_status graphss_i_csr_multiply(graphss_ctx *ctx, graphss_i_csr *out,
                                      const graphss_i_csr *a, const graphss_i_csr *b,
                                      size_t max_nnz)
{
    assert(a->n_cols == b->n_rows);
    const size_t words = b->n_cols / 64 + 1;
    graphss_i_csr p = {.n_rows = a->n_rows, .n_cols = b->n_cols};
    column_set set = {.low = SIZE_MAX};
    float *sum = NULL; /* [b.n_cols] of the row at hand */
    graphss_status st = GRAPHSS_ERR_NOMEM;

    p.offset = graphss_i_calloc(ctx, a->n_rows + 1, sizeof *p.offset);
    set.bits = graphss_i_calloc(ctx, words, sizeof *set.bits);
    set.filled = graphss_i_calloc(ctx, words / 64 + 1, sizeof *set.filled);
    sum = graphss_i_alloc(ctx, b->n_cols, sizeof *sum);
    if (!p.offset || !set.bits || !set.filled || !sum)
        goto done;
    if (!multiply_count(&p, &set, a, b, max_nnz)) {
        st = graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
                            "sparse product of %zu rows: more than %zu entries", a->n_rows,
                            max_nnz);
        goto done;
    }
    st = csr_reserve(ctx, &p, (size_t)p.offset[p.n_rows], true);
    if (st)
        goto done;
    multiply_fill(&p, &set, sum, a, b);
    *out = p;
    p = (graphss_i_csr){0};
done:
    graphss_release(ctx, sum);
    graphss_release(ctx, set.filled);
    graphss_release(ctx, set.bits);
    graphss_i_csr_destroy(ctx, &p);
    return st;
}
