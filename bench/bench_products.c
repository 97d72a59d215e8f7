/* bench_products.c - what each product of an epoch reaches of the machine's own limit.
 *
 *     bench_products [threads] DATASET...
 *
 * First the limits, measured here: multiply-adds by the best of three GEMMs, and bytes read in
 * order from an array that fits the second-level cache, the third, and memory. Then for each
 * dataset the products of a GCN with a hidden width of 200 (208 with the padding): A H, X W,
 * X^T G, and the dense ones behind the hidden layer.
 *
 * A sparse product reads a row of the dense matrix for each entry and writes each row of the
 * result once; `GB/s` counts that and the entries themselves. Its limit is the bandwidth of
 * the cache that holds the dense matrix. Rows that are read often come from a nearer one, so
 * a share can be above 1. The limit of dense products is the GEMM's, and of bits too, which
 * count as the dense product in whose place they are. */
#include "graph/bits.h"
#include "graph/blocks.h"
#include "graph/normalise.h"
#include "graph/products.h"
#include "kernels/kernels.h"
#include "models/input.h"
#include <graphss/graphss.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 208, LEVELS = 3 };

typedef struct limits {
    double gflops;
    double gbs[LEVELS];   /* second-level cache, third, memory */
    double bytes[LEVELS]; /* a matrix up to this size counts as held there */
} limits;

typedef struct job {
    graphss_ctx *ctx;
    const graphss_i_csr *m;
    const graphss_i_bits *bits;
    const graphss_i_blocks *blocks;
    float *y;
    const float *a, *b;
    bool ta, tb;
    size_t rows, cols, inner;
} job;

typedef void (*run)(void *arg);

/* Processor time with one thread, which other work on the machine lengthens least. */
static double seconds(graphss_ctx *ctx)
{
    struct timespec now;
    clock_gettime(
        graphss_ctx_threads(ctx) == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The best of several rounds. */
static double best(graphss_ctx *ctx, run f, void *arg)
{
    double least = 1e30, sum = 0;
    f(arg);
    for (int round = 0; round < 5 || (sum < 0.3 && round < 1000); round++) {
        const double before = seconds(ctx);
        f(arg);
        const double took = seconds(ctx) - before;
        least = took < least ? took : least;
        sum += took;
    }
    return least;
}

static float *numbers(graphss_ctx *ctx, size_t n)
{
    float *x = graphss_i_alloc(ctx, n, sizeof *x);
    if (!x)
        abort();
    for (size_t j = 0; j < n; j++)
        x[j] = (float)(j % 1024) / 512 - 1;
    return x;
}

/* ---- limits ---- */

typedef struct reading {
    graphss_ctx *ctx;
    const float *x;
    float *out;
    size_t n, repeats;
} reading;

/* 64 columns at a time, as the kernels sum columns: loads and additions only. */
static void read_task(void *arg, size_t task)
{
    const reading *r = arg;
    const graphss_i_kernels *k = graphss_i_ctx_kernels(r->ctx);
    const size_t rows = r->n / 32, pieces = graphss_ctx_threads(r->ctx);
    const size_t from = rows * task / pieces, to = rows * (task + 1) / pieces;
    for (size_t i = 0; i < r->repeats; i++)
        k->column_sums(r->out + 256 * task, r->x, 32, from, to);
}

static void read_all(void *arg)
{
    const reading *r = arg;
    graphss_i_parallel(r->ctx, graphss_ctx_threads(r->ctx), read_task, arg);
}

static double bandwidth(graphss_ctx *ctx, size_t bytes)
{
    const size_t n = bytes / sizeof(float),
                 repeats = bytes < 64 << 20 ? (64 << 20) / bytes : 1;
    float out[256 * 8];
    float *x = numbers(ctx, n);
    reading r = {ctx, x, out, n, repeats};
    const double t = best(ctx, read_all, &r);
    graphss_release(ctx, x);
    return 1e-9 * (double)(bytes * repeats) / t;
}

static void multiply_dense(void *arg)
{
    const job *j = arg;
    graphss_i_gemm(j->ctx, j->y, j->a, j->ta, j->b, j->tb, j->rows, j->cols, j->inner, 0);
}

static double dense_seconds(graphss_ctx *ctx, size_t m, size_t n, size_t k, bool ta, bool tb)
{
    float *a = numbers(ctx, m * k), *b = numbers(ctx, k * n), *y = numbers(ctx, m * n);
    job j = {.ctx = ctx, .y = y, .a = a, .b = b, .ta = ta, .tb = tb};
    j.rows = m;
    j.cols = n;
    j.inner = k;
    const double t = best(ctx, multiply_dense, &j);
    graphss_release(ctx, a);
    graphss_release(ctx, b);
    graphss_release(ctx, y);
    return t;
}

static size_t cache_bytes(int name, size_t otherwise)
{
    const long bytes = sysconf(name);
    return bytes > 0 ? (size_t)bytes : otherwise;
}

static limits measure_limits(graphss_ctx *ctx)
{
    static const size_t shape[][3] = {{1024, 1024, 1024}, {4096, 192, 768}, {16384, 96, 192}};
    const size_t second = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20);
    size_t third = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 8 << 20);
    third = third > 2 * second ? third : 2 * second;
    limits l = {.bytes = {(double)second, (double)third, INFINITY}};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) {
        const size_t m = shape[s][0], n = shape[s][1], k = shape[s][2];
        const double t = dense_seconds(ctx, m, n, k, false, false);
        l.gflops = fmax(l.gflops, 2e-9 * (double)m * (double)n * (double)k / t);
    }
    l.gbs[0] = bandwidth(ctx, second / 2);
    l.gbs[1] = bandwidth(ctx, third / 2 > 4 * second ? 4 * second : third / 2);
    l.gbs[2] = bandwidth(ctx, (size_t)512 << 20);
    return l;
}

/* ---- products ---- */

static void print_line(const limits *l, const char *data, const char *what, double t,
    double gflop, double gigabytes, double held)
{
    double gbs = l->gbs[LEVELS - 1];
    for (int level = LEVELS - 1; level >= 0; level--)
        gbs = held <= l->bytes[level] ? l->gbs[level] : gbs;
    const double share = gigabytes > 0 ? gigabytes / t / gbs : gflop / t / l->gflops;
    printf("%s\t%s\t%.3f\t%.1f\t", data, what, 1e3 * t, gflop / t);
    if (gigabytes > 0)
        printf("%.1f", gigabytes / t);
    else
        printf("-");
    printf("\t%.2f\n", share);
}

static void multiply_sparse(void *arg)
{
    const job *j = arg;
    graphss_i_spmm(j->ctx, j->y, j->m, j->b, j->cols);
}

static void multiply_blocks(void *arg)
{
    const job *j = arg;
    graphss_i_blocks_multiply(j->ctx, j->y, j->blocks, 0, j->rows, j->b, j->cols);
}

static void multiply_transposed(void *arg)
{
    const job *j = arg;
    graphss_i_spmm_transposed(j->ctx, j->y, j->m, j->b, j->cols);
}

static void multiply_bits(void *arg)
{
    const job *j = arg;
    graphss_i_bits_multiply(j->ctx, j->y, j->bits, 0, j->bits->n_rows, j->b, j->cols);
}

/* y = m b, or m^T b: b is read in no order, or with the transpose y is written so. */
static void line_sparse(
    graphss_ctx *ctx, const limits *l, const char *data, const char *what, run f, job j)
{
    const double nnz = (double)j.m->offset[j.m->n_rows], k = (double)j.cols;
    const bool transposed = f != multiply_sparse;
    const size_t in = transposed ? j.m->n_rows : j.m->n_cols;
    const size_t out = transposed ? j.m->n_cols : j.m->n_rows;
    float *b = numbers(ctx, in * j.cols), *y = numbers(ctx, out * j.cols);
    j.ctx = ctx;
    j.b = b;
    j.y = y;
    j.rows = j.m->n_rows;
    print_line(l, data, what, best(ctx, f, &j), 2e-9 * nnz * k,
        1e-9 * (nnz * (8 + 4 * k) + 4 * (double)out * k), 4 * (double)in * k);
    graphss_release(ctx, b);
    graphss_release(ctx, y);
}

static void line_bits(graphss_ctx *ctx, const limits *l, const char *data, const char *what,
    const graphss_i_bits *bits)
{
    float *b = numbers(ctx, bits->n_cols * WIDTH), *y = numbers(ctx, bits->n_rows * WIDTH);
    job j = {.ctx = ctx, .bits = bits, .b = b, .y = y, .cols = WIDTH};
    print_line(l, data, what, best(ctx, multiply_bits, &j),
        2e-9 * (double)bits->n_rows * (double)bits->n_cols * WIDTH, 0, 0);
    graphss_release(ctx, b);
    graphss_release(ctx, y);
}

static graphss_status lines_of_input(
    graphss_ctx *ctx, const limits *l, const char *name, const graphss_i_input *x)
{
    if (x->dense) {
        const double t = dense_seconds(ctx, x->n_rows, WIDTH, x->n_cols, false, false);
        print_line(l, name, "X W, dense", t,
            2e-9 * (double)x->n_rows * (double)x->n_cols * WIDTH, 0, 0);
        return GRAPHSS_OK;
    }
    if (x->bits.word) {
        line_bits(ctx, l, name, "X W, bits", &x->bits);
        line_bits(ctx, l, name, "X^T G, bits", &x->transposed);
        return GRAPHSS_OK;
    }
    const job j = {.m = &x->sparse, .cols = WIDTH};
    line_sparse(ctx, l, name, "X W", multiply_sparse, j);
    if (!graphss_i_blocks_suit(&x->sparse)) {
        line_sparse(ctx, l, name, "X^T G", multiply_transposed, j);
        return GRAPHSS_OK;
    }
    graphss_i_blocks blocks;
    const graphss_status st = graphss_i_blocks_make(ctx, &blocks, &x->sparse);
    if (!st) {
        job with = j;
        with.blocks = &blocks;
        line_sparse(ctx, l, name, "X^T G", multiply_blocks, with);
        graphss_i_blocks_destroy(ctx, &blocks);
    }
    return st;
}

static graphss_status table(graphss_ctx *ctx, const limits *l, const char *name)
{
    const char *dirs[] = {getenv("GRAPHSS_DATA"), NULL};
    const graphss_read_options read = {.struct_size = sizeof read, .data_dirs = dirs};
    const graphss_i_scaling plain = {.row_normalise = true, .scale = 1};
    const char *slash = strrchr(name, '/'), *title = slash ? slash + 1 : name;
    graphss_dataset data = {0};
    graphss_i_propagation p = {0};
    graphss_i_input x = {0};
    graphss_status st = graphss_dataset_read(ctx, &data, name, &read);
    if (!st)
        st = graphss_i_propagation_make(ctx, &p, &data.graph, GRAPHSS_I_NORM_SYMMETRIC, true);
    if (!st)
        st = graphss_i_input_make(ctx, &x, &data.features, &p, 1, &plain);
    if (!st) {
        const size_t n = data.graph.n_nodes, k = data.n_classes;
        const double gflop = 2e-9 * (double)n * (double)k * WIDTH;
        line_sparse(ctx, l, title, "A H", multiply_sparse, (job){.m = &p.m, .cols = WIDTH});
        line_sparse(
            ctx, l, title, "A Z, of classes", multiply_sparse, (job){.m = &p.m, .cols = k});
        st = lines_of_input(ctx, l, title, &x);
        print_line(
            l, title, "H W1", dense_seconds(ctx, n, k, WIDTH, false, false), gflop, 0, 0);
        print_line(
            l, title, "G W1^T", dense_seconds(ctx, n, WIDTH, k, false, true), gflop, 0, 0);
        print_line(
            l, title, "H^T G", dense_seconds(ctx, WIDTH, k, n, true, false), gflop, 0, 0);
    }
    graphss_i_input_destroy(ctx, &x);
    graphss_i_propagation_destroy(ctx, &p);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

int main(int argc, char **argv)
{
    const long threads = argc > 1 ? atol(argv[1]) : 1;
    if (threads < 1 || threads > 8) {
        fprintf(stderr, "usage: bench_products [threads] DATASET...\n");
        return 2;
    }
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .threads = (size_t)threads});
    if (!ctx)
        return 1;
    const limits l = measure_limits(ctx);
    printf("limits\t%s, %ld threads\tGEMM %.1f GFLOP/s\tread GB/s: L2 %.0f\tL3 %.0f\tmemory "
           "%.1f\n",
        graphss_ctx_instruction_set(ctx), threads, l.gflops, l.gbs[0], l.gbs[1], l.gbs[2]);
    printf("data\tproduct\tms\tGFLOP/s\tGB/s\tshare\n");
    graphss_status st = GRAPHSS_OK;
    for (int i = 2; i < argc && !st; i++)
        st = table(ctx, &l, argv[i]);
    if (st)
        fprintf(stderr, "bench_products: %s\n", graphss_ctx_error(ctx));
    graphss_ctx_free(ctx);
    return st ? 1 : 0;
}
