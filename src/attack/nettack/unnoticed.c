/* unnoticed.c - which features occur together, as rows of bits; and the degree test.
 *
 * The relation is built node by node: the node's features as one bit set, added to the row of
 * each of them. That is nnz x d / 64 operations, on Coauthor CS 0.1 s for all features. A
 * change of one node sets or clears single bits; a pair is cleared only if no other node has
 * both features. The ascending lists of holders tell that, usually after a few steps. */
#include "attack/nettack/unnoticed.h"
#include <math.h>
#include <string.h>

enum { MANY = 5 }; /* a row with more than one bit in MANY set is summed completely */

static inline void set_bit(uint64_t *row, int32_t i)
{
    row[i >> 6] |= UINT64_C(1) << (i & 63);
}

static inline void clear_bit(uint64_t *row, int32_t i)
{
    row[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}

static graphss_status place_rows(
    graphss_ctx *ctx, graphss_i_cooccur *c, const uint8_t *wanted, size_t max_bytes)
{
    size_t kept = 0;
    const size_t most = max_bytes / (c->blocks * sizeof *c->block + 1);
    for (size_t j = 0; j < c->d; j++)
        kept += wanted[j] != 0;
    kept = kept < most ? kept : most;
    c->kept = kept;
    c->row = graphss_i_calloc(ctx, c->d, sizeof *c->row);
    c->block = graphss_i_calloc(ctx, kept, c->blocks * sizeof *c->block);
    if (!c->row || !c->block)
        return GRAPHSS_ERR_NOMEM;
    for (size_t j = 0, at = 0; j < c->d && at < kept; j++)
        if (wanted[j])
            c->row[j] = c->block + c->blocks * at++;
    return GRAPHSS_OK;
}

graphss_status graphss_i_cooccur_init(graphss_ctx *ctx, graphss_i_cooccur *c,
    const graphss_i_feature_index *x, const uint8_t *wanted, size_t max_bytes)
{
    *c = (graphss_i_cooccur){.d = x->d, .blocks = (x->d + 63) / 64, .x = x};
    graphss_status st = place_rows(ctx, c, wanted, max_bytes);
    uint64_t *words = graphss_i_calloc(ctx, c->blocks, sizeof *words);
    if (!words)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; !st && i < x->n; i++) {
        const int32_t *word = x->column[i], n = x->length[i];
        bool asked = false;
        for (int32_t e = 0; e < n && !asked; e++)
            asked = c->row[word[e]] != NULL;
        if (!asked)
            continue;
        for (int32_t e = 0; e < n; e++)
            set_bit(words, word[e]);
        for (int32_t e = 0; e < n; e++) {
            uint64_t *row = c->row[word[e]];
            for (size_t b = 0; row && b < c->blocks; b++)
                row[b] |= words[b];
        }
        for (int32_t e = 0; e < n; e++)
            words[word[e] >> 6] = 0;
    }
    graphss_release(ctx, words);
    if (st)
        graphss_i_cooccur_destroy(ctx, c);
    return st;
}

graphss_status graphss_i_cooccur_copy(graphss_ctx *ctx, graphss_i_cooccur *c,
    const graphss_i_cooccur *from, const graphss_i_feature_index *x)
{
    *c = (graphss_i_cooccur){.d = from->d, .blocks = from->blocks, .x = x, .kept = from->kept};
    c->row = graphss_i_calloc(ctx, c->d, sizeof *c->row);
    c->block = graphss_i_copy(ctx, from->block, c->kept, c->blocks * sizeof *c->block);
    if (!c->row || !c->block) {
        graphss_i_cooccur_destroy(ctx, c);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t j = 0; j < c->d; j++)
        if (from->row[j])
            c->row[j] = c->block + (from->row[j] - from->block);
    return GRAPHSS_OK;
}

void graphss_i_cooccur_destroy(graphss_ctx *ctx, graphss_i_cooccur *c)
{
    graphss_release(ctx, c->block);
    graphss_release(ctx, c->row);
    *c = (graphss_i_cooccur){0};
}

/* The row of feature j, computed in scratch if it is not stored. */
static const uint64_t *row_of(const graphss_i_cooccur *c, int32_t j, uint64_t *scratch)
{
    if (c->row[j])
        return c->row[j];
    const graphss_i_feature_index *x = c->x;
    memset(scratch, 0, c->blocks * sizeof *scratch);
    for (int32_t h = 0; h < x->holders.length[j]; h++) {
        const int32_t node = x->holders.item[j][h];
        for (int32_t e = 0; e < x->length[node]; e++)
            set_bit(scratch, x->column[node][e]);
    }
    return scratch;
}

/* sum[i] += inv for each i whose bit is set. */
static void add_few(double *sum, const uint64_t *row, size_t blocks, double inv)
{
    for (size_t b = 0; b < blocks; b++)
        for (uint64_t rest = row[b]; rest; rest &= rest - 1)
            sum[64 * b + (size_t)__builtin_ctzll(rest)] += inv;
}

/* The same for all bits, four at a time; adding 0 changes nothing. */
static void add_many(double *sum, const uint64_t *row, size_t blocks, double inv)
{
    double add[16][4];
    for (size_t q = 0; q < 16; q++)
        for (size_t i = 0; i < 4; i++)
            add[q][i] = q >> i & 1 ? inv : 0;
    for (size_t b = 0; b < blocks; b++)
        for (size_t q = 0; q < 16; q++) {
            const double *four = add[row[b] >> 4 * q & 15];
            double *to = sum + 64 * b + 4 * q;
            for (size_t i = 0; i < 4; i++)
                to[i] += four[i];
        }
}

void graphss_i_cooccur_allowed(uint8_t *allowed, const graphss_i_cooccur *c,
    const int32_t *word, size_t n, graphss_i_cooccur_scratch *scratch)
{
    double *sum = scratch->sum, all = 0;
    memset(sum, 0, c->d * sizeof *sum);
    for (size_t w = 0; w < n; w++) {
        const int32_t j = word[w];
        const uint64_t *row = row_of(c, j, scratch->row);
        int64_t degree = -1; /* its own bit is set, since the node holds it */
        for (size_t b = 0; b < c->blocks; b++)
            degree += __builtin_popcountll(row[b]);
        const double inv = 1 / ((double)degree + 1e-8);
        all += inv;
        const size_t many = (size_t)degree > c->d / MANY ? c->d / 64 : 0; /* blocks */
        add_many(sum, row, many, inv);
        add_few(sum + 64 * many, row + many, c->blocks - many, inv);
        sum[j] -= inv;
    }
    for (size_t i = 0; i < c->d; i++)
        allowed[i] = sum[i] - 0.5 * all > 0;
}

/* True if two ascending lists share a number. */
static bool share(const int32_t *a, int32_t n_a, const int32_t *b, int32_t n_b)
{
    for (int32_t i = 0, j = 0; i < n_a && j < n_b;) {
        if (a[i] == b[j])
            return true;
        if (a[i] < b[j])
            i++;
        else
            j++;
    }
    return false;
}

static bool listed(const int32_t *list, size_t n, int32_t x)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && list[low] == x;
}

static void join(graphss_i_cooccur *c, int32_t i, int32_t j)
{
    if (c->row[i])
        set_bit(c->row[i], j);
    if (c->row[j])
        set_bit(c->row[j], i);
}

static void part(graphss_i_cooccur *c, int32_t i, int32_t j)
{
    const graphss_i_rows *h = &c->x->holders;
    if ((!c->row[i] && !c->row[j]) ||
        share(h->item[i], h->length[i], h->item[j], h->length[j]))
        return;
    if (c->row[i])
        clear_bit(c->row[i], j);
    if (c->row[j])
        clear_bit(c->row[j], i);
}

void graphss_i_cooccur_update(
    graphss_i_cooccur *c, const int32_t *old, size_t n_old, const int32_t *now, size_t n_now)
{
    for (size_t e = 0; e < n_now; e++)
        if (!listed(old, n_old, now[e]))
            for (size_t f = 0; f < n_now; f++)
                join(c, now[e], now[f]);
    for (size_t e = 0; e < n_old; e++)
        if (!listed(now, n_now, old[e]))
            for (size_t f = 0; f < n_old; f++)
                part(c, old[e], old[f]);
}

/* Kernels of the degree test; the order of operations is the original's, since
 * ratios of 1e-3 are differences of numbers of 1e4. */
static const int32_t d_min = 2;

/* n nodes, s the sum of their log degrees. sign is -1 but for the paper's code:
 *   alpha = n / (s - n log(d_min - 1/2)) + 1
 *   ll    = n log alpha + n alpha log d_min - (alpha + 1) s */
static double log_likelihood(double n, double s, double sign)
{
    const double alpha = n / (s - n * log((double)d_min - 0.5)) + 1;
    return n * log(alpha) + n * alpha * log((double)d_min) + sign * ((alpha + 1) * s);
}

/* The contribution of a node of that degree to s. */
static double log_degree(int32_t degree)
{
    return degree >= d_min ? log((double)degree) : 0;
}

void graphss_i_degree_test_start(graphss_i_degree_test *t, const int32_t *count,
    size_t max_degree, double cutoff, bool sign_error)
{
    *t = (graphss_i_degree_test){.sign = sign_error ? 1 : -1, .cutoff = cutoff};
    for (size_t d = (size_t)d_min; d <= max_degree; d++) {
        t->n += count[d];
        t->s += count[d] ? count[d] * log((double)d) : 0;
    }
    t->n0 = t->n;
    t->s0 = t->s;
    t->ll0 = log_likelihood(t->n0, t->s0, t->sign);
}

static void moved(
    double *n, double *s, const graphss_i_degree_test *t, int32_t a, int32_t b, int step)
{
    *s =
        t->s - (log_degree(a) + log_degree(b)) + (log_degree(a + step) + log_degree(b + step));
    *n = t->n - ((a >= d_min) + (b >= d_min)) + ((a + step >= d_min) + (b + step >= d_min));
}

double graphss_i_degree_ratio(const graphss_i_degree_test *t, int32_t a, int32_t b, int step)
{
    double n, s;
    moved(&n, &s, t, a, b, step);
    const double apart = log_likelihood(n, s, t->sign) + t->ll0;
    const double together = log_likelihood(n + t->n0, s + t->s0, t->sign);
    return -2 * together + 2 * apart;
}

void graphss_i_degree_test_move(graphss_i_degree_test *t, int32_t a, int32_t b, int step)
{
    double n, s;
    moved(&n, &s, t, a, b, step);
    t->n = n;
    t->s = s;
}
