/* bench_kernels.c - our kernels against plain loops built for this very machine.
 *
 * The alternative is the loop one would write first, compiled with -O3 -march=native, which
 * the compiler vectorises. Graphs are random, of the size of Cora, Amazon Photo and Coauthor
 * CS, and one that leaves the second-level cache far behind. Times are the best of several
 * rounds; GB/s counts what an ideal cache would move: x once per entry, y once per row. */
#include "graph/bits.h"
#include "graph/products.h"
#include "graph/test/testing_random_csr.h"
#include "kernels/kernels.h"
#include <math.h>
#include <string.h>

typedef void (*job)(void *arg);

typedef struct candidate {
    job run;
    void *arg;
    double seconds; /* out: the best round */
} candidate;

/* Candidates take turns, so that a busy moment of the machine hits them alike. */
static void compare(candidate *c, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        c[j].run(c[j].arg);
        c[j].seconds = 1e9;
    }
    const double start = graphss_i_seconds();
    for (int round = 0; round < 3 || graphss_i_seconds() - start < 0.06; round++)
        for (size_t j = 0; j < n; j++) {
            const double before = graphss_i_seconds();
            c[j].run(c[j].arg);
            const double took = graphss_i_seconds() - before;
            c[j].seconds = took < c[j].seconds ? took : c[j].seconds;
        }
}

/* Aligned as the library's own blocks are. */
static float *numbers(graphss_ctx *ctx, size_t n)
{
    float *x = graphss_i_alloc(ctx, n, sizeof *x);
    if (!x)
        abort();
    for (size_t j = 0; j < n; j++)
        x[j] = (float)(j % 1024) / 512 - 1;
    return x;
}

/* ---- what is compared ---- */

typedef struct sparse_job {
    graphss_ctx *ctx;
    const graphss_i_kernels *kernels;
    const graphss_i_csr *m, *mt;
    float *y, *out;
    const float *x;
    size_t k;
} sparse_job;

static void plain_spmm(void *arg)
{
    const sparse_job *j = arg;
    const graphss_i_csr *m = j->m;
    const size_t k = j->k;
    for (size_t i = 0; i < m->n_rows; i++) {
        float *restrict y = j->y + i * k;
        memset(y, 0, k * sizeof *y);
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const float a = m->value[e];
            const float *restrict x = j->x + (size_t)m->column[e] * k;
            for (size_t c = 0; c < k; c++)
                y[c] += a * x[c];
        }
    }
}

static void set_spmm(void *arg)
{
    const sparse_job *j = arg;
    j->kernels->spmm(
        j->y, j->m->offset, j->m->column, j->m->value, j->x, j->k, 0, j->m->n_rows, 0, j->k);
}

static void our_spmm(void *arg)
{
    const sparse_job *j = arg;
    graphss_i_spmm(j->ctx, j->y, j->m, j->x, j->k);
}

static void plain_transposed(void *arg)
{
    const sparse_job *j = arg;
    const graphss_i_csr *m = j->m;
    const size_t k = j->k;
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const float a = m->value[e];
            float *restrict y = j->y + (size_t)m->column[e] * k;
            const float *restrict x = j->x + i * k;
            for (size_t c = 0; c < k; c++)
                y[c] += a * x[c];
        }
}

static void our_transposed(void *arg)
{
    const sparse_job *j = arg;
    graphss_i_spmm_transposed(j->ctx, j->y, j->m, j->x, j->k);
}

static void our_built_transpose(void *arg)
{
    const sparse_job *j = arg;
    graphss_i_spmm(j->ctx, j->y, j->mt, j->x, j->k);
}

static void plain_sddmm(void *arg)
{
    const sparse_job *j = arg;
    const graphss_i_csr *m = j->m;
    const size_t k = j->k;
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            const float *restrict a = j->x + i * k;
            const float *restrict b = j->x + (size_t)m->column[e] * k;
            float sum = 0;
            for (size_t c = 0; c < k; c++)
                sum += a[c] * b[c];
            j->out[e] += sum;
        }
}

static void our_sddmm(void *arg)
{
    const sparse_job *j = arg;
    graphss_i_sddmm(j->ctx, j->out, j->m, j->x, j->x, j->k);
}

typedef struct bits_job {
    graphss_ctx *ctx;
    const graphss_i_bits *b;
    const graphss_i_csr *m;
    float *y;
    const float *x, *full;
    size_t k;
} bits_job;

static void run_bits(void *arg)
{
    const bits_job *j = arg;
    graphss_i_bits_multiply(j->ctx, j->y, j->b, 0, j->b->n_rows, j->x, j->k);
}

static void run_bits_as_sparse(void *arg)
{
    const bits_job *j = arg;
    graphss_i_spmm(j->ctx, j->y, j->m, j->x, j->k);
}

static void run_bits_as_dense(void *arg)
{
    const bits_job *j = arg;
    graphss_i_gemm(
        j->ctx, j->y, j->full, false, j->x, false, j->b->n_rows, j->k, j->b->n_cols, 0);
}

/* ---- tables ---- */

typedef struct graph_size {
    const char *name;
    size_t rows, cols, mean; /* entries per row */
} graph_size;

static double flops(const sparse_job *j)
{
    return 2e-9 * (double)j->m->offset[j->m->n_rows] * (double)j->k;
}

static double gigabytes(const sparse_job *j)
{
    const double nnz = (double)j->m->offset[j->m->n_rows];
    return 1e-9 * (nnz * (8 + 4 * (double)j->k) + 4 * (double)(j->m->n_rows * j->k));
}

static void table_spmm(graphss_ctx *one, graphss_ctx *two, const graph_size *g, size_t k)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    graphss_i_csr m = random_csr(&rng, g->rows, g->cols, g->mean, true, false);
    float *x = numbers(one, g->cols * k), *y = numbers(one, g->rows * k);
    sparse_job j = {.ctx = one, .m = &m, .x = x, .y = y, .k = k}, jt = j;
    sparse_job generic = j, avx2 = j;
    jt.ctx = two;
    generic.kernels = avx2.kernels = &graphss_i_kernels_generic;
#if defined(__x86_64__)
    if (graphss_i_kernels_choose() != &graphss_i_kernels_generic)
        avx2.kernels = &graphss_i_kernels_avx2;
#endif
    candidate c[] = {{plain_spmm, &j, 0}, {our_spmm, &j, 0}, {set_spmm, &generic, 0},
        {set_spmm, &avx2, 0}, {our_spmm, &jt, 0}};
    compare(c, 5);
    const double plain = c[0].seconds, ours = c[1].seconds;
    printf("%-14s %5zu %9.3f %9.3f %7.2f %7.2f %7.2f %8.1f %7.1f %7.2f\n", g->name, k,
        1e3 * plain, 1e3 * ours, plain / ours, plain / c[2].seconds, plain / c[3].seconds,
        flops(&j) / ours, gigabytes(&j) / ours, ours / c[4].seconds);
    random_csr_free(&m);
    graphss_release(one, x);
    graphss_release(one, y);
}

static void table_transposed(graphss_ctx *one, graphss_ctx *two, const graph_size *g, size_t k)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    graphss_i_csr m = random_csr(&rng, g->rows, g->cols, g->mean, true, false), mt = {0};
    if (graphss_i_csr_transpose(one, &mt, &m) != GRAPHSS_OK)
        abort();
    float *x = numbers(one, g->rows * k), *y = numbers(one, g->cols * k);
    sparse_job j = {.ctx = one, .m = &m, .mt = &mt, .x = x, .y = y, .k = k}, jt = j;
    jt.ctx = two;
    candidate c[] = {{plain_transposed, &j, 0}, {our_transposed, &j, 0},
        {our_built_transpose, &j, 0}, {our_transposed, &jt, 0}, {our_built_transpose, &jt, 0}};
    compare(c, 5);
    const double plain = c[0].seconds, split = c[1].seconds, built = c[2].seconds;
    printf("%-14s %5zu %9.3f %9.3f %7.2f %9.3f %7.2f %9.2f %9.2f\n", g->name, k, 1e3 * plain,
        1e3 * split, plain / split, 1e3 * built, plain / built, split / c[3].seconds,
        built / c[4].seconds);
    graphss_i_csr_destroy(one, &mt);
    random_csr_free(&m);
    graphss_release(one, x);
    graphss_release(one, y);
}

/* 7650 x 745, as Amazon Photo, at several densities: from which one on are bits faster? */
static void table_bits(graphss_ctx *one, graphss_ctx *two, size_t percent, size_t k)
{
    const size_t n = 7650, d = 745;
    graphss_rng rng = graphss_rng_make(1, 1);
    graphss_i_csr m = random_csr(&rng, n, d, d * percent / 100, true, false);
    graphss_i_bits b = {0};
    if (graphss_i_bits_make(one, &b, &m) != GRAPHSS_OK)
        abort();
    float *x = numbers(one, d * k), *y = numbers(one, n * k), *full = numbers(one, n * d);
    bits_job j = {one, &b, &m, y, x, full, k}, jt = j;
    jt.ctx = two;
    candidate c[] = {{run_bits_as_sparse, &j, 0}, {run_bits_as_dense, &j, 0},
        {run_bits, &j, 0}, {run_bits, &jt, 0}};
    compare(c, 4);
    printf("%12zu %% %5zu %9.3f %9.3f %9.3f %7.2f\n", percent, k, 1e3 * c[0].seconds,
        1e3 * c[1].seconds, 1e3 * c[2].seconds, c[2].seconds / c[3].seconds);
    graphss_release(one, full);
    graphss_release(one, x);
    graphss_release(one, y);
    graphss_i_bits_destroy(one, &b);
    random_csr_free(&m);
}

static void table_sddmm(graphss_ctx *one, graphss_ctx *two, const graph_size *g, size_t k)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    graphss_i_csr m = random_csr(&rng, g->rows, g->cols, g->mean, true, false);
    float *x = numbers(one, g->rows * k), *out = numbers(one, (size_t)m.offset[m.n_rows]);
    sparse_job j = {.ctx = one, .m = &m, .x = x, .out = out, .k = k}, jt = j;
    jt.ctx = two;
    candidate c[] = {{plain_sddmm, &j, 0}, {our_sddmm, &j, 0}, {our_sddmm, &jt, 0}};
    compare(c, 3);
    const double plain = c[0].seconds, ours = c[1].seconds;
    printf("%-14s %5zu %9.3f %9.3f %7.2f %8.1f %7.2f\n", g->name, k, 1e3 * plain, 1e3 * ours,
        plain / ours, flops(&j) / ours, ours / c[2].seconds);
    random_csr_free(&m);
    graphss_release(one, x);
    graphss_release(one, out);
}

typedef struct dense_job {
    graphss_ctx *ctx;
    float *c;
    const float *a, *b;
    size_t m, n, k;
    bool ta, tb;
} dense_job;

static void our_gemm(void *arg)
{
    const dense_job *j = arg;
    graphss_i_gemm(j->ctx, j->c, j->a, j->ta, j->b, j->tb, j->m, j->n, j->k, 0);
}

static void table_gemm(graphss_ctx *one, graphss_ctx *two, const char *name, size_t m,
    size_t n, size_t k, bool ta, bool tb)
{
    float *a = numbers(one, m * k), *b = numbers(one, k * n), *y = numbers(one, m * n);
    dense_job j = {one, y, a, b, m, n, k, ta, tb}, jt = {two, y, a, b, m, n, k, ta, tb};
    candidate c[] = {{our_gemm, &j, 0}, {our_gemm, &jt, 0}};
    compare(c, 2);
    const double t1 = c[0].seconds, t2 = c[1].seconds;
    const double work = 2e-9 * (double)m * (double)n * (double)k;
    printf("%-14s %8zu %5zu %8zu %9.3f %8.1f %8.1f %7.2f\n", name, m, n, k, 1e3 * t1,
        work / t1, work / t2, t1 / t2);
    graphss_release(one, a);
    graphss_release(one, b);
    graphss_release(one, y);
}

typedef struct flat_job {
    const graphss_i_kernels *kernels;
    float *w, *m, *v, *g;
    size_t n;
} flat_job;

static void run_adam(void *arg)
{
    flat_job *j = arg;
    j->kernels->adam(j->w, j->m, j->v, j->g, j->n, 5e-4f, 0.9f, 0.999f, 0.01f, 1e-8f);
}

static void run_dropout(void *arg)
{
    flat_job *j = arg;
    j->kernels->dropout(j->w, j->g, 0, j->n, 17, 1 << 15, 2);
}

static void run_relu(void *arg)
{
    flat_job *j = arg;
    j->kernels->bias_relu(j->w, j->w, j->g, 200, 0, j->n / 200);
}

static void run_relu_backward(void *arg)
{
    flat_job *j = arg;
    j->kernels->relu_backward(j->w, j->w, j->g, j->n, 1);
}

static void run_copy(void *arg)
{
    flat_job *j = arg;
    memcpy(j->w, j->g, j->n * sizeof *j->w);
}

static void table_flat(graphss_ctx *ctx, size_t n)
{
    flat_job j = {graphss_i_kernels_choose(), numbers(ctx, n), numbers(ctx, n),
        numbers(ctx, n), numbers(ctx, n), n};
    for (size_t i = 0; i < n; i++)
        j.v[i] = 1;
    candidate c[] = {{run_copy, &j, 0}, {run_relu, &j, 0}, {run_relu_backward, &j, 0},
        {run_dropout, &j, 0}, {run_adam, &j, 0}};
    compare(c, 5);
    printf("%14zu", n);
    for (size_t t = 0; t < 5; t++)
        printf(" %8.2f", 1e-9 * (double)n / c[t].seconds);
    printf("\n");
    graphss_release(ctx, j.w);
    graphss_release(ctx, j.m);
    graphss_release(ctx, j.v);
    graphss_release(ctx, j.g);
}

/* ---- conditional logit ---- */

typedef struct logit_job {
    const graphss_i_kernels *kernels;
    float *x, *p, *left, *weight;
    float w[GRAPHSS_I_ROW], gradient[GRAPHSS_I_ROW], hessian[GRAPHSS_I_ROW * GRAPHSS_I_ROW];
    size_t n, k;
} logit_job;

static void plain_choice(void *arg)
{
    const logit_job *j = arg;
    for (size_t i = 0; i < j->n; i++) {
        float *p = j->p + i * j->k, most = -INFINITY, sum = 0;
        for (size_t c = 0; c < j->k; c++) {
            p[c] = 0;
            for (size_t l = 0; l < GRAPHSS_I_ROW; l++)
                p[c] += j->w[l] * j->x[(i * j->k + c) * GRAPHSS_I_ROW + l];
            most = fmaxf(most, p[c]);
        }
        for (size_t c = 0; c < j->k; c++)
            sum += p[c] = expf(p[c] - most);
        for (size_t c = 0; c < j->k; c++)
            p[c] /= sum;
    }
}

static void our_choice(void *arg)
{
    const logit_job *j = arg;
    j->kernels->choice(j->p, j->w, j->x, j->n, j->k);
}

static void plain_bend(void *arg)
{
    logit_job *j = arg;
    enum { ROW = GRAPHSS_I_ROW };
    memset(j->gradient, 0, sizeof j->gradient);
    memset(j->hessian, 0, sizeof j->hessian);
    for (size_t i = 0; i < j->n; i++) {
        float mean[ROW] = {0}, d[ROW];
        for (size_t c = i * j->k; c < (i + 1) * j->k; c++)
            for (size_t l = 0; l < ROW; l++) {
                mean[l] += j->p[c] * j->x[c * ROW + l];
                j->gradient[l] += j->left[c] * j->x[c * ROW + l];
            }
        for (size_t c = i * j->k; c < (i + 1) * j->k; c++) {
            for (size_t l = 0; l < ROW; l++)
                d[l] = j->x[c * ROW + l] - mean[l];
            for (size_t l = 0; l < ROW; l++)
                for (size_t m = 0; m < ROW; m++)
                    j->hessian[l * ROW + m] += j->weight[i] * j->p[c] * d[l] * d[m];
        }
    }
}

static void our_bend(void *arg)
{
    logit_job *j = arg;
    j->kernels->choice_bend(
        j->gradient, j->hessian, j->x, j->p, j->left, j->weight, j->n, j->k, 0);
}

static void table_logit(graphss_ctx *ctx, size_t n, size_t k)
{
    logit_job j = {.kernels = graphss_i_kernels_choose(),
        .x = numbers(ctx, n * k * GRAPHSS_I_ROW),
        .p = numbers(ctx, n * k),
        .left = numbers(ctx, n * k),
        .weight = numbers(ctx, n),
        .n = n,
        .k = k};
    for (size_t l = 0; l < GRAPHSS_I_ROW; l++)
        j.w[l] = (float)l / 8 - 1;
    candidate c[] = {
        {plain_choice, &j, 0}, {our_choice, &j, 0}, {plain_bend, &j, 0}, {our_bend, &j, 0}};
    compare(c, 4);
    printf("%8zu x %2zu %9.3f %9.3f %7.2f %9.3f %9.3f %7.2f\n", n, k, 1e3 * c[0].seconds,
        1e3 * c[1].seconds, c[0].seconds / c[1].seconds, 1e3 * c[2].seconds,
        1e3 * c[3].seconds, c[2].seconds / c[3].seconds);
    graphss_release(ctx, j.x);
    graphss_release(ctx, j.p);
    graphss_release(ctx, j.left);
    graphss_release(ctx, j.weight);
}

int main(void)
{
    graphss_ctx *one = graphss_ctx_new(
        &(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options), .threads = 1});
    graphss_ctx *two = graphss_ctx_new(
        &(graphss_ctx_options){.struct_size = sizeof(graphss_ctx_options), .threads = 2});
    if (!one || !two)
        return 1;
    const graph_size graphs[] = {{"cora", 2708, 2708, 5}, {"photo", 7650, 7650, 32},
        {"cs", 18333, 18333, 10}, {"large", 100000, 100000, 10}};
    const graph_size features[] = {
        {"cora X", 2708, 1433, 18}, {"photo X", 7650, 745, 259}, {"cs X", 18333, 6805, 60}};
    const size_t ks[] = {7, 16, 64, 208};

    printf("instruction set: %s. Ratios are plain loop / ours: above 1 we win.\n\n",
        graphss_ctx_instruction_set(one));
    printf("sparse x dense     k  plain ms   ours ms   ratio generic    avx2  GFLOP/s    GB/s "
           " 2 thr.\n");
    for (size_t g = 0; g < 4; g++)
        for (size_t t = g < 3 ? 0 : 2; t < 4; t++)
            table_spmm(one, two, &graphs[g], ks[t]);
    for (size_t g = 0; g < 3; g++)
        table_spmm(one, two, &features[g], 208);

    printf("\ntransposed         k  plain ms  split ms   ratio  built ms   ratio   2 thr.  "
           "  2 thr.\n");
    for (size_t g = 0; g < 3; g++)
        table_transposed(one, two, &features[g], 208);

    printf("\nphoto X, filled     k sparse ms   gemm ms   bits ms  2 thr.\n");
    for (size_t percent = 5; percent <= 40; percent *= 2)
        for (size_t k = 64; k <= 208; k += 144)
            table_bits(one, two, percent, k);

    printf("\nsampled dots       k  plain ms   ours ms   ratio  GFLOP/s  2 thr.\n");
    for (size_t g = 0; g < 3; g++)
        for (size_t t = 0; t < 4; t += 3)
            table_sddmm(one, two, &graphs[g], ks[t]);

    printf("\ndense x dense         m     n        k      ms   GFLOP/s  2T GF/s  2 thr."
           "\n");
    table_gemm(one, two, "photo X W0", 7650, 200, 745, false, false);
    table_gemm(one, two, "photo X^T G", 745, 200, 7650, true, false);
    table_gemm(one, two, "cora H W1", 2708, 7, 200, false, false);
    table_gemm(one, two, "cs H W1", 18333, 15, 200, false, false);
    table_gemm(one, two, "cs G W1^T", 18333, 200, 15, false, true);
    table_gemm(one, two, "cs H^T G", 200, 15, 18333, true, false);
    table_gemm(one, two, "large X W0", 100000, 200, 100, false, false);
    table_gemm(one, two, "large X^T G", 100, 200, 100000, true, false);
    table_gemm(one, two, "square", 1024, 1024, 1024, false, false);

    printf("\nnumbers, 10^9/s    copy     relu    relu'  dropout     adam\n");
    table_flat(one, 200 * 1433);
    table_flat(one, 200 * 18333);

    printf("\nlogit         plain ms   ours ms   ratio  bend: plain    ours   ratio\n");
    for (size_t k = 3; k <= 15; k *= 2)
        table_logit(one, 5000, k);
    graphss_ctx_free(one);
    graphss_ctx_free(two);
    return 0;
}
