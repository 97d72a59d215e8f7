/* blocks.c - fills blocks and multiplies with them. */
#include "graph/blocks.h"
#include "kernels/kernels.h"
#include <string.h>

enum {
    ROWS = 1024,       /* rows of a block, doubled if the second-level cache is large */
    MOST = UINT16_MAX, /* rows of a block, by the type of its entries */
    FULL = 4,          /* entries wanted in a block for each column: offsets cost too */
    COLUMNS = 112,     /* columns of g in a task, at most: 14 vectors of 8, 7 cache lines */
    LINE = 16,         /* floats in a cache line */
    SMALL = 1 << 20    /* multiply-adds; below this a second thread does not pay */
};

static size_t entries(const graphss_i_csr *m)
{
    return m->n_rows ? (size_t)m->offset[m->n_rows] : 0;
}

/* Rows of a block; 0: a block of as many rows as possible would have too few entries, or it
 * could have more than its offsets count. */
static size_t block_rows(const graphss_i_csr *m)
{
    const double wanted = (double)FULL * (double)m->n_cols;
    const size_t least = graphss_i_roomy_cache() ? 2 * ROWS : ROWS;
    for (size_t rows = least; rows <= MOST && rows <= INT32_MAX / (m->n_cols + 1); rows *= 2)
        if ((double)entries(m) * (double)rows >= wanted * (double)m->n_rows)
            return rows;
    return 0;
}

bool graphss_i_blocks_suit(const graphss_i_csr *m)
{
    return m->value && entries(m) > 0 && block_rows(m) > 0;
}

graphss_status graphss_i_blocks_room(
    graphss_ctx *ctx, graphss_i_blocks *out, const graphss_i_csr *m)
{
    graphss_i_blocks b = {.n_rows = m->n_rows, .n_cols = m->n_cols, .rows = block_rows(m)};
    b.n = (m->n_rows + b.rows - 1) / b.rows;
    b.first = graphss_i_alloc(ctx, b.n, sizeof *b.first);
    b.offset = graphss_i_alloc(ctx, b.n * (m->n_cols + 1), sizeof *b.offset);
    b.row = graphss_i_alloc(ctx, entries(m), sizeof *b.row);
    b.value = graphss_i_alloc(ctx, entries(m), sizeof *b.value);
    if (!b.first || !b.offset || !b.row || !b.value) {
        graphss_i_blocks_destroy(ctx, &b);
        return GRAPHSS_ERR_NOMEM;
    }
    *out = b;
    return GRAPHSS_OK;
}

graphss_status graphss_i_blocks_make(
    graphss_ctx *ctx, graphss_i_blocks *out, const graphss_i_csr *m)
{
    const graphss_status st = graphss_i_blocks_room(ctx, out, m);
    if (!st)
        graphss_i_blocks_fill(ctx, out, m, 0, m->n_rows);
    return st;
}

void graphss_i_blocks_destroy(graphss_ctx *ctx, graphss_i_blocks *b)
{
    graphss_release(ctx, b->first);
    graphss_release(ctx, b->offset);
    graphss_release(ctx, b->row);
    graphss_release(ctx, b->value);
    *b = (graphss_i_blocks){0};
}

typedef struct filling {
    graphss_i_blocks *b;
    const graphss_i_csr *m;
    size_t begin; /* block */
} filling;

/* Counting sort by column, rows in order. */
static void fill_block(void *arg, size_t task)
{
    const filling *f = arg;
    const graphss_i_csr *m = f->m;
    graphss_i_blocks *b = f->b;
    const size_t block = f->begin + task, i0 = block * b->rows;
    const size_t i1 = i0 + b->rows < b->n_rows ? i0 + b->rows : b->n_rows;
    const int64_t first = m->offset[i0], end = m->offset[i1];
    int32_t *offset = b->offset + block * (b->n_cols + 1);
    b->first[block] = first;
    memset(offset, 0, (b->n_cols + 1) * sizeof *offset);
    /* offset[c + 1] is the position of the next entry of column c, and in the end its end. */
    for (int64_t e = first; e < end; e++)
        if ((size_t)m->column[e] + 2 <= b->n_cols)
            offset[m->column[e] + 2]++;
    for (size_t c = 2; c <= b->n_cols; c++)
        offset[c] += offset[c - 1];
    for (size_t i = i0; i < i1; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const int64_t to = first + offset[m->column[e] + 1]++;
            b->row[to] = (uint16_t)(i - i0);
            b->value[to] = m->value[e];
        }
}

/* Blocks that meet rows [from, to). */
static size_t blocks_in(const graphss_i_blocks *b, size_t from, size_t to)
{
    return from < to ? (to + b->rows - 1) / b->rows - from / b->rows : 0;
}

void graphss_i_blocks_fill(
    graphss_ctx *ctx, graphss_i_blocks *b, const graphss_i_csr *m, size_t from, size_t to)
{
    filling f = {b, m, from / b->rows};
    graphss_i_parallel(ctx, blocks_in(b, from, to), fill_block, &f);
}

typedef struct product {
    const graphss_i_kernels *kernels;
    const graphss_i_blocks *b;
    float *y;
    const float *x;
    size_t k, begin, end, strips;
} product;

static size_t first_column(const product *p, size_t strip)
{
    const size_t unit = p->k % LINE == 0 ? LINE : p->kernels->width;
    const size_t units = (p->k + unit - 1) / unit;
    const size_t c = units * strip / p->strips * unit;
    return c < p->k ? c : p->k;
}

/* A task owns some columns of y. */
static void multiply_task(void *arg, size_t task)
{
    const product *p = arg;
    const graphss_i_blocks *b = p->b;
    for (size_t j = p->begin; j < p->end; j++)
        p->kernels->spmm_block(p->y, b->offset + j * (b->n_cols + 1), b->row + b->first[j],
            b->value + b->first[j], p->x + j * b->rows * p->k, p->k, b->n_cols,
            first_column(p, task), first_column(p, task + 1));
}

void graphss_i_blocks_multiply(graphss_ctx *ctx, float *y, const graphss_i_blocks *b,
    size_t from, size_t to, const float *x, size_t k)
{
    if (from >= to || k == 0)
        return;
    product p = {.kernels = graphss_i_ctx_kernels(ctx), .b = b, .y = y, .x = x, .k = k};
    p.begin = from / b->rows;
    p.end = p.begin + blocks_in(b, from, to);
    const size_t last = p.end - 1;
    const int64_t count =
        b->first[last] - b->first[p.begin] + b->offset[(last + 1) * (b->n_cols + 1) - 1];
    const size_t strips = (k + COLUMNS - 1) / COLUMNS;
    p.strips = strips == 1 || (size_t)count * k <= SMALL ? 1 : (strips + 1) / 2 * 2;
    graphss_i_parallel(ctx, p.strips, multiply_task, &p);
}
