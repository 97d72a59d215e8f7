/* gemm.c - dense products by oneDNN, one thread per call, cut into blocks of ours.
 *
 * Debian's oneDNN spreads a product over OpenMP threads, and how it cuts depends on their
 * number. So each call is told that there is one thread, and the blocks are cut here by
 * shape alone. The OpenMP setting is one per thread of the program; it is put back after
 * each call, for the host program may use OpenMP too. omp.h is not included since clang
 * has it in a package of its own; the two functions are part of the OpenMP standard.
 *
 * oneDNN writes its machine code with the first product. Where memory ends meanwhile it does
 * not say so: it throws, which ends a C program, or calls code that was never written. OpenMP
 * ends the program by itself. So both are given their memory while it is known to be there:
 * all code is written at once after a look at how much memory there is (get_ready), and each
 * later product begins with a look whether its small blocks are available. Its large ones
 * oneDNN checks. If memory still ends while the code is written, C++ calls new_failed before
 * it throws: new_failed tries again, and then leaves oneDNN, which is not used any more.
 */
#include "graph/products.h"
#include <dlfcn.h>
#include <dnnl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if DNNL_CPU_RUNTIME == DNNL_RUNTIME_OMP
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);
#else
static int omp_get_max_threads(void)
{
    return 1;
}
static void omp_set_num_threads(int threads)
{
    (void)threads;
}
#endif

enum {
    TINY = 1 << 10,  /* multiply-adds below which starting oneDNN takes longer */
    GRAIN = 1 << 22, /* multiply-adds of a task, about 60 us */
    LEAST_ROWS = 96, /* rows of c in a task: each packs b again, which costs 10 % here */
    CODE = 24 << 20, /* bytes, for all that get_ready lets be written: 18 MB with AVX-512 */
    SMALL = 64 << 10 /* bytes, for the small blocks of a product: a tenth of it is used */
};

typedef struct gemm {
    float *c;
    const float *a, *b;
    bool transposed_a, transposed_b;
    size_t m, n, k;
    float beta;
    size_t rows; /* of c in one task */
} gemm;

/* c[i][j] = sum_p op(a)[i][p] op(b)[p][j] + beta c[i][j] for rows [i0, i1) */
static void multiply_plainly(const gemm *g, size_t i0, size_t i1)
{
    for (size_t i = i0; i < i1; i++)
        for (size_t j = 0; j < g->n; j++) {
            float sum = 0;
            for (size_t p = 0; p < g->k; p++)
                sum += (g->transposed_a ? g->a[p * g->m + i] : g->a[i * g->k + p]) *
                       (g->transposed_b ? g->b[j * g->k + p] : g->b[p * g->n + j]);
            float *c = g->c + i * g->n + j;
            *c = sum + (g->beta == 0 ? 0 : g->beta * *c);
        }
}

/* The same by oneDNN; false if it has no memory for its large blocks. */
static bool multiply_fast(const gemm *g, size_t i0, size_t i1)
{
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    const dnnl_status_t st = dnnl_sgemm(g->transposed_a ? 'T' : 'N',
        g->transposed_b ? 'T' : 'N', (dnnl_dim_t)(i1 - i0), (dnnl_dim_t)g->n, (dnnl_dim_t)g->k,
        1.0f, g->a + (g->transposed_a ? i0 : i0 * g->k),
        (dnnl_dim_t)(g->transposed_a ? g->m : g->k), g->b,
        (dnnl_dim_t)(g->transposed_b ? g->k : g->n), g->beta, g->c + i0 * g->n,
        (dnnl_dim_t)g->n);
    omp_set_num_threads(threads);
    return st == dnnl_success;
}

/* True if `bytes` can be allocated in one piece. */
static bool there_is_room(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map != MAP_FAILED && munmap(map, bytes) == 0;
}

/* True if malloc can provide the small blocks of a product. It returns the block freed here
 * again. */
static bool small_blocks(void)
{
    void *volatile block = malloc(SMALL); /* volatile: compilers leave such pairs out */
    const bool there = block != NULL;
    free(block);
    return there;
}

/* The code a product runs depends on its shape and transposes. One product of each sort makes
 * oneDNN generate all of it. */
static void write_code(void)
{
    enum { M = 32, N = 16, K = 400 };
    static const size_t shape[][3] = {{M, N, 16}, {3, 3, K}, {1, N, M}, {M, 1, N}};
    static const float a[M * K], b[N * K];
    float c[M * N] = {0};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int way = 0; way < 8; way++) {
            const gemm g = {c, a, b, way & 1, way & 2, shape[s][0], shape[s][1], shape[s][2],
                way & 4 ? 1 : 0.0f, 0};
            (void)multiply_fast(&g, 0, g.m);
        }
}

/* std::set_new_handler: what C++ calls when it has no memory. When that returns, it tries
 * again. */
typedef void (*new_handler)(void);
typedef new_handler (*set_new_handler)(new_handler handler);

typedef struct writing {
    jmp_buf out;
    int tries;
} writing;

static _Thread_local writing *now_writing; /* NULL: this thread is not in write_code_safely */

static void new_failed(void)
{
    enum { TRIES = 100 }; /* in all */
    if (!now_writing) { /* a thread of the host program, in these milliseconds: nothing to give
                         */
        sched_yield();
        return;
    }
    if (++now_writing->tries > TRIES)
        longjmp(now_writing->out, 1);
}

/* false: memory ended meanwhile, and oneDNN is in no state to be used. */
static bool write_code_safely(void)
{
    /* Found by name: the library of C++ comes with oneDNN, we do not link it. */
    void *const symbol = dlsym(RTLD_DEFAULT, "_ZSt15set_new_handlerPFvvE");
    set_new_handler set = NULL;
    memcpy(&set, &symbol, sizeof set);
    writing w = {.tries = 0};
    volatile new_handler before = NULL;
    const volatile int threads = omp_get_max_threads();
    volatile bool good = false;
    if (setjmp(w.out) == 0) {
        now_writing = &w;
        if (set)
            before = set(new_failed);
        write_code();
        good = true;
    } else {
        omp_set_num_threads(threads);
    }
    if (set)
        set(before);
    now_writing = NULL;
    return good;
}

/* Once for all contexts: oneDNN's code is one per process. */
static bool get_ready(void)
{
    enum { UNTRIED, WRITTEN, BROKEN };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_int state;
    const int seen = atomic_load_explicit(&state, memory_order_acquire);
    if (seen != UNTRIED)
        return seen == WRITTEN;
    pthread_mutex_lock(&lock);
    int found = atomic_load_explicit(&state, memory_order_relaxed);
    if (found == UNTRIED && small_blocks() && there_is_room(CODE)) {
        found = write_code_safely() ? WRITTEN : BROKEN;
        atomic_store_explicit(&state, found, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return found == WRITTEN;
}

static void gemm_task(void *arg, size_t task)
{
    const gemm *g = arg;
    const size_t i0 = task * g->rows;
    const size_t i1 = i0 + g->rows < g->m ? i0 + g->rows : g->m;
    /* Without memory a slow product is better than none. */
    if (!get_ready() || !small_blocks() || !multiply_fast(g, i0, i1))
        multiply_plainly(g, i0, i1);
}

/* oneDNN's products for AVX-512 (seen in 2.6) use the stack pointer for data. The frame of a
 * signal handler would be written over the heap, so handlers of the host program wait for the
 * end of the product. Faults of the thread itself do not. */
static void hold_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t held;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&held, faults[i]);
    pthread_sigmask(SIG_BLOCK, &held, before);
}

graphss_status graphss_i_gemm_ready(graphss_ctx *ctx)
{
    sigset_t before;
    hold_signals(&before);
    const bool ready = get_ready();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ready ? GRAPHSS_OK : graphss_i_nomem(ctx, CODE);
}

/* Rows of c in one task. */
static size_t block_rows(size_t m, size_t n, size_t k)
{
    const size_t least = GRAIN / (n * k) + 1 > LEAST_ROWS ? GRAIN / (n * k) + 1 : LEAST_ROWS;
    size_t tasks = (m + least - 1) / least;
    if (tasks > 2)
        tasks = (tasks + 3) / 4 * 4; /* few tasks should share out evenly */
    return (m + tasks - 1) / tasks;
}

void graphss_i_gemm(graphss_ctx *ctx, float *c, const float *a, bool transposed_a,
    const float *b, bool transposed_b, size_t m, size_t n, size_t k, float beta)
{
    if (m == 0 || n == 0)
        return;
    gemm g = {c, a, b, transposed_a, transposed_b, m, n, k, beta, 0};
    if (k == 0 || m * n * k < TINY) {
        multiply_plainly(&g, 0, m);
        return;
    }
    g.rows = block_rows(m, n, k);
    sigset_t before;
    hold_signals(&before);
    graphss_i_parallel(ctx, (m + g.rows - 1) / g.rows, gemm_task, &g);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

size_t graphss_i_gemm_room(size_t m, size_t n, size_t k)
{
    return k == 0 || m * n * k < TINY ? 0 : block_rows(m, n, k) * (k + n);
}

/* oneDNN's rounding of a row depends on its position in the block. So the blocks are those of
 * the whole product, and rows that are not listed may hold any numbers. */
void graphss_i_gemm_rows(float *c, const float *a, const int32_t *row, size_t count,
    const float *b, size_t m, size_t n, size_t k, float *room)
{
    if (graphss_i_gemm_room(m, n, k) == 0) {
        const gemm g = {c, a, b, false, false, count, n, k, 0, 0};
        multiply_plainly(&g, 0, count);
        return;
    }
    const size_t block = block_rows(m, n, k);
    float *from = room, *to = room + block * k;
    memset(from, 0, block * k * sizeof *from);
    sigset_t before;
    hold_signals(&before);
    for (size_t i = 0; i < count;) {
        const size_t begin = i, first = (size_t)row[i] / block * block;
        const size_t size = m - first < block ? m - first : block;
        for (; i < count && (size_t)row[i] < first + size; i++)
            memcpy(from + ((size_t)row[i] - first) * k, a + i * k, k * sizeof *from);
        gemm whole = {to, from, b, false, false, size, n, k, 0, size};
        gemm_task(&whole, 0);
        for (size_t j = begin; j < i; j++)
            memcpy(c + j * n, to + ((size_t)row[j] - first) * n, n * sizeof *c);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
