/* eigen.c - ARPACK asks for products A x until it has converged (Lanczos with implicit
 * restarts). It keeps state between its calls in static variables, so two threads must not run
 * it at once; the lock is the only one of the library. The first vector is drawn from a fixed
 * seed, so that the same matrix gives the same vectors.
 *
 * The library is loaded on first use and kept. Linked, it would bring LAPACK, BLAS and
 * Fortran's runtime into every command, 13 ms and 4 MB, though only two defences use it. */
#include "lab/baselines/baselines.h"
#include <arpack.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct arpack {
    __typeof__(dsaupd_c) *saupd; /* NULL: not loaded yet */
    __typeof__(dseupd_c) *seupd;
    int (*threads)(void); /* of OpenBLAS; NULL if the BLAS is another one */
    void (*set_threads)(int threads);
} arpack;

/* C does not allow a cast from an object pointer to a function pointer; POSIX requires it to
 * work. */
static bool find(void *function, void *handle, const char *name)
{
    void *const found = dlsym(handle, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

/* Loads the library and keeps it: loading takes longer than a small matrix. */
static graphss_status arpack_open(graphss_ctx *ctx, arpack *out)
{
    arpack a = {0};
    if (out->saupd)
        return GRAPHSS_OK;
    void *const handle = dlopen("libarpack.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_IO, "ARPACK is wanted here (libarpack2): %s", dlerror());
    if (!find(&a.saupd, handle, "dsaupd_c") || !find(&a.seupd, handle, "dseupd_c")) {
        dlclose(handle);
        return graphss_i_fail(ctx, GRAPHSS_ERR_IO, "libarpack.so.2 lacks its C functions");
    }
    if (!find(&a.threads, handle, "openblas_get_num_threads") ||
        !find(&a.set_threads, handle, "openblas_set_num_threads"))
        a.threads = NULL;
    *out = a;
    return GRAPHSS_OK;
}

typedef struct product {
    double *y;
    const double *x;
    const graphss_i_csr *m;
} product;

enum { ROWS = 1024 }; /* a task */

/* y = A x */
static void multiply_rows(void *arg, size_t task)
{
    const product *p = arg;
    const graphss_i_csr *m = p->m;
    for (size_t i = task * ROWS; i < m->n_rows && i < (task + 1) * ROWS; i++) {
        double sum = 0;
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
            sum += m->value ? m->value[e] * p->x[m->column[e]] : p->x[m->column[e]];
        p->y[i] = sum;
    }
}

typedef struct lanczos {
    a_int n, nev, ncv, lworkl;
    double *resid, *v, *workd, *workl, *d;
    a_int *select;
    a_int iparam[11], ipntr[11];
    double tolerance;
} lanczos;

static graphss_status iterate(
    graphss_ctx *ctx, const arpack *a, lanczos *l, const graphss_i_csr *m)
{
    a_int ido = 0, info = 1; /* 1: resid holds the first vector */
    for (size_t step = 1;; step++) {
        a->saupd(&ido, "I", l->n, "LM", l->nev, l->tolerance, l->resid, l->ncv, l->v, l->n,
            l->iparam, l->ipntr, l->workd, l->workl, l->lworkl, &info);
        if (ido != 1 && ido != -1)
            break;
        product p = {l->workd + l->ipntr[1] - 1, l->workd + l->ipntr[0] - 1, m};
        graphss_i_parallel(ctx, graphss_i_tasks(m->n_rows, ROWS), multiply_rows, &p);
        const graphss_status st =
            step % 16 ? GRAPHSS_OK : graphss_i_progress(ctx, "factorise", step, 0, NULL);
        if (st)
            return st;
    }
    if (info < 0 || l->iparam[4] < l->nev)
        return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
            "%d of %d singular values found, then ARPACK gave up (%d)", (int)l->iparam[4],
            (int)l->nev, (int)info);
    a->seupd(1, "A", l->select, l->d, l->v, l->n, 0, "I", l->n, "LM", l->nev, l->tolerance,
        l->resid, l->ncv, l->v, l->n, l->iparam, l->ipntr, l->workd, l->workl, l->lworkl,
        &info);
    return info == 0 ? GRAPHSS_OK
                     : graphss_i_fail(
                           ctx, GRAPHSS_ERR_INTERNAL, "ARPACK: dseupd says %d", (int)info);
}

/* On one thread of BLAS: vectors are short, OpenBLAS's threads would spend more time waiting
 * for each other than they save, and the result would depend on their number. The lock is
 * held. */
static graphss_status compute(graphss_ctx *ctx, lanczos *l, const graphss_i_csr *m)
{
    static arpack a;
    graphss_status st = arpack_open(ctx, &a);
    if (st)
        return st;
    const int threads = a.threads ? a.threads() : 1;
    if (threads > 1)
        a.set_threads(1);
    st = iterate(ctx, &a, l, m);
    if (threads > 1)
        a.set_threads(threads);
    return st;
}

/* The first of largest magnitude; NaNs are passed over. */
static size_t largest(const double *d, size_t n)
{
    size_t best = 0;
    for (size_t r = 1; r < n; r++)
        if (isnan(d[best]) || fabs(d[r]) > fabs(d[best]))
            best = r;
    return best;
}

graphss_status graphss_i_eigen_largest(graphss_ctx *ctx, double *value, double *vector,
    const graphss_i_csr *m, size_t rank, double tolerance)
{
    const size_t n = m->n_rows;
    if (n < rank + 2 || n > INT32_MAX)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "--rank %zu of a graph with %zu nodes: want at most nodes - 2", rank, n);
    size_t width = 2 * rank + 1 > 20 ? 2 * rank + 1 : 20;
    width = width < n ? width : n;
    lanczos l = {
        .n = (a_int)n, .nev = (a_int)rank, .ncv = (a_int)width, .tolerance = tolerance};
    graphss_status st = GRAPHSS_OK;
    l.lworkl = (a_int)(width * (width + 8));
    l.iparam[0] = 1;                    /* exact shifts */
    l.iparam[2] = n > 300 ? 3000 : 300; /* most restarts */
    l.iparam[6] = 1;                    /* A x = lambda x */
    l.resid = graphss_i_alloc(ctx, n, sizeof *l.resid);
    l.v = graphss_i_calloc(ctx, n, width * sizeof *l.v);
    l.workd = graphss_i_calloc(ctx, n, 3 * sizeof *l.workd);
    l.workl = graphss_i_calloc(ctx, (size_t)l.lworkl, sizeof *l.workl);
    l.d = graphss_i_calloc(ctx, rank, sizeof *l.d);
    l.select = graphss_i_calloc(ctx, width, sizeof *l.select);
    if (!l.resid || !l.v || !l.workd || !l.workl || !l.d || !l.select) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    graphss_rng rng = graphss_rng_make(1, GRAPHSS_STREAM_DEFENCE);
    for (size_t i = 0; i < n; i++)
        l.resid[i] = graphss_rng_double(&rng) + 0.5;
    pthread_mutex_lock(&arpack_lock);
    st = compute(ctx, &l, m);
    pthread_mutex_unlock(&arpack_lock);
    if (st)
        goto done;
    for (size_t r = 0; r < rank; r++) {
        const size_t from = largest(l.d, rank);
        value[r] = l.d[from];
        for (size_t i = 0; i < n; i++)
            vector[i * rank + r] = l.v[from * n + i];
        l.d[from] = NAN;
    }
done:
    graphss_release(ctx, l.select);
    graphss_release(ctx, l.d);
    graphss_release(ctx, l.workl);
    graphss_release(ctx, l.workd);
    graphss_release(ctx, l.v);
    graphss_release(ctx, l.resid);
    return st;
}
