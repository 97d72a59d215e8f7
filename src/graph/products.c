/* products.c - sparse products and the transpose, cut into tasks by size.
 *
 * A task is a run of rows with about GRAIN multiply-adds, found by binary search in the
 * offsets, so that nothing is allocated and the cut depends on the matrix alone. Work below
 * SMALL stays on the calling thread, since waking others would take longer.
 *
 * The dense matrix is read once per entry, in no order. When it is too large for the
 * second-level cache but a strip of its columns is not, the product goes strip by strip; but
 * where that cache is small, rows read whole and ahead of time are faster. No cut of this
 * kind changes a bit. */
#include "graph/products.h"
#include "graph/part.h"
#include "kernels/kernels.h"
#include <string.h>
#include <unistd.h>

enum {
    GRAIN = 1 << 17, /* multiply-adds of a task */
    SMALL = 1 << 20, /* multiply-adds; below this a second thread does not pay */
    FLOOR = 16,      /* cost of an entry, in multiply-adds, is at least this */
    ROOMY = 1 << 20  /* bytes of a second-level cache (bench/README.md) */
};

static size_t second_level_cache(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : 0;
#else
    return 0;
#endif
}

bool graphss_i_roomy_cache(void)
{
    return second_level_cache() >= ROOMY;
}

/* True if a product with a dense matrix of this size should go strip by strip: the whole is
 * well beyond the cache, a strip is not. */
static bool strips_pay(size_t whole, size_t strip)
{
    const size_t cache = second_level_cache();
    return cache >= ROOMY && whole > cache / 4 * 3 && strip <= cache / 2 * 3;
}

typedef struct product {
    const graphss_i_kernels *kernels;
    const graphss_i_csr *m;
    float *out;
    const float *a, *b;
    const graphss_i_csr *kept; /* of spmm_both */
    float *kept_out;
    float scale;
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

/* Cuts into runs of rows, and into strips if that pays. */
static void cut_product(product *p)
{
    const size_t column_bytes = p->m->n_cols * sizeof *p->a;
    const bool cut =
        !is_small(p) && strips_pay(column_bytes * p->k, column_bytes * strip_columns(p->k));
    p->strips = cut ? count_strips(p->k) : 1;
    cut_rows(p);
}

/* ---- products ---- */

static void spmm_task(void *arg, size_t task)
{
    const product *p = arg;
    const graphss_i_csr *m = p->m;
    const size_t strip = task / p->runs, run = task % p->runs;
    p->kernels->spmm(p->out, m->offset, m->column, m->value, p->a, p->k, first_row(p, run),
        first_row(p, run + 1), first_column(p, strip), first_column(p, strip + 1));
}

void graphss_i_spmm(
    graphss_ctx *ctx, float *y, const graphss_i_csr *m, const float *x, size_t k)
{
    if (m->part) {
        graphss_i_part_spmm(ctx, y, m, x, k);
        return;
    }
    if (m->n_rows == 0 || k == 0)
        return;
    product p = {.kernels = graphss_i_ctx_kernels(ctx), .m = m, .out = y, .a = x, .k = k};
    cut_product(&p);
    graphss_i_parallel(ctx, p.runs * p.strips, spmm_task, &p);
}

static void both_task(void *arg, size_t task)
{
    const product *p = arg;
    const graphss_i_csr *m = p->m, *kept = p->kept;
    const size_t strip = task / p->runs, run = task % p->runs;
    p->kernels->spmm_both(p->kept_out, p->out, kept->offset, m->offset, kept->column,
        kept->value, p->scale, p->a, p->k, m->n_rows, first_row(p, run), first_row(p, run + 1),
        first_column(p, strip), first_column(p, strip + 1));
}

void graphss_i_spmm_both(graphss_ctx *ctx, float *kept_y, float *y, const graphss_i_csr *kept,
    const graphss_i_csr *all, float scale, const float *x, size_t k)
{
    if (all->n_rows == 0 || k == 0)
        return;
    product p = {.kernels = graphss_i_ctx_kernels(ctx),
        .m = all,
        .out = y,
        .a = x,
        .kept = kept,
        .kept_out = kept_y,
        .scale = scale,
        .k = k};
    cut_product(&p);
    graphss_i_parallel(ctx, p.runs * p.strips, both_task, &p);
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

void graphss_i_spmm_transposed(
    graphss_ctx *ctx, float *y, const graphss_i_csr *m, const float *x, size_t k)
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

/* Counting sort by column: rows are walked in order, so columns of the result ascend. */
static void transpose_fill(graphss_i_csr *out, const graphss_i_csr *m)
{
    const size_t nnz = (size_t)m->offset[m->n_rows];
    /* offset[c + 1] is the position of the next entry of column c, and in the end its end. */
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

graphss_status graphss_i_csr_transpose(
    graphss_ctx *ctx, graphss_i_csr *out, const graphss_i_csr *m)
{
    if (m->n_rows > INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "transpose: %zu rows, at most %d become columns", m->n_rows, INT32_MAX);
    const size_t nnz = m->n_rows ? (size_t)m->offset[m->n_rows] : 0;
    graphss_i_csr t = {.n_rows = m->n_cols, .n_cols = m->n_rows};
    t.offset = graphss_i_calloc(ctx, t.n_rows + 1, sizeof *t.offset);
    t.column = graphss_i_alloc(ctx, nnz, sizeof *t.column);
    t.value = m->value ? graphss_i_alloc(ctx, nnz, sizeof *t.value) : NULL;
    if (!t.offset || !t.column || (m->value && !t.value)) {
        graphss_i_csr_destroy(ctx, &t);
        return GRAPHSS_ERR_NOMEM;
    }
    if (nnz)
        transpose_fill(&t, m);
    *out = t;
    return GRAPHSS_OK;
}

/* Walking rows in order visits the entries of each column j in the order of row j. */
void graphss_i_csr_transposed_at(int64_t *transposed_at, int64_t *next, const graphss_i_csr *m)
{
    memcpy(next, m->offset, m->n_rows * sizeof *next);
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            transposed_at[next[m->column[e]]++] = e;
}
