/* Every operation's gradient against finite differences, and the memory plan against a
 * plan that shares nothing. */
#include "models/tape/tape.h"
#include "testing.h"

enum { N = 7, D = 5, H = 4, MOST = 64 };

/* A random sparse square matrix with its transpose and the position of each entry. */
typedef struct sparse {
    graphss_i_csr m, transposed;
    int64_t *transposed_at;
} sparse;

static float *random_matrix(graphss_rng *rng, size_t n)
{
    float *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)graphss_rng_normal(rng);
    return x;
}

static graphss_i_csr random_csr(graphss_rng *rng, size_t rows, size_t cols)
{
    graphss_i_csr m = {.n_rows = rows, .n_cols = cols};
    m.offset = malloc((rows + 1) * sizeof *m.offset);
    m.column = malloc(rows * cols * sizeof *m.column);
    m.value = malloc(rows * cols * sizeof *m.value);
    int64_t e = 0;
    for (size_t i = 0; i < rows; i++) {
        m.offset[i] = e;
        for (size_t j = 0; j < cols; j++) {
            if (graphss_rng_double(rng) < 0.4) {
                m.column[e] = (int32_t)j;
                m.value[e++] = (float)graphss_rng_normal(rng);
            }
        }
    }
    m.offset[rows] = e;
    return m;
}

static sparse random_sparse(graphss_rng *rng, size_t n)
{
    sparse s = {.m = random_csr(rng, n, n)};
    s.transposed = random_csr(rng, n, n); /* for its memory; filled below */
    free(s.transposed.column), free(s.transposed.value);
    s.transposed.column = malloc(n * n * sizeof *s.transposed.column);
    s.transposed.value = malloc(n * n * sizeof *s.transposed.value);
    s.transposed_at = malloc(n * n * sizeof *s.transposed_at);
    int64_t at = 0;
    for (size_t j = 0; j < n; j++) {
        s.transposed.offset[j] = at;
        for (size_t i = 0; i < n; i++)
            for (int64_t e = s.m.offset[i]; e < s.m.offset[i + 1]; e++)
                if (s.m.column[e] == (int32_t)j) {
                    s.transposed.column[at] = (int32_t)i;
                    s.transposed.value[at] = s.m.value[e];
                    s.transposed_at[at++] = e;
                }
    }
    s.transposed.offset[n] = at;
    return s;
}

static void free_csr(graphss_i_csr *m)
{
    free(m->offset), free(m->column), free(m->value);
}

static void free_sparse(sparse *s)
{
    free_csr(&s->m), free_csr(&s->transposed), free(s->transposed_at);
}

/* A case: two weights, and a function that records a loss on them. */
typedef struct fixture {
    sparse s;
    graphss_i_csr x; /* N x D */
    uint32_t word[N], word_transposed[D];
    float number[N];
    graphss_i_bits bits, bits_transposed; /* the pattern of x, times number; see see_bits */
    float *w[2], *grad[2];
    size_t rows[2], cols[2];
    int32_t node[N], label[N];
} fixture;

typedef void (*recorder)(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2]);

static fixture make_fixture(graphss_rng *rng, size_t r0, size_t c0, size_t r1, size_t c1)
{
    fixture f = {.rows = {r0, r1}, .cols = {c0, c1}};
    f.s = random_sparse(rng, N);
    f.x = random_csr(rng, N, D);
    for (int i = 0; i < 2; i++) {
        f.w[i] = random_matrix(rng, f.rows[i] * f.cols[i]);
        f.grad[i] = malloc(f.rows[i] * f.cols[i] * sizeof(float));
    }
    for (int i = 0; i < N; i++) {
        f.node[i] = i;
        f.label[i] = (int32_t)graphss_rng_below(rng, H);
    }
    return f;
}

/* The bits point into the fixture, so they are set once it is in place. */
static void see_bits(graphss_rng *rng, fixture *f)
{
    for (size_t i = 0; i < N; i++) {
        f->number[i] = (float)graphss_rng_normal(rng);
        for (int64_t e = f->x.offset[i]; e < f->x.offset[i + 1]; e++) {
            f->word[i] |= UINT32_C(1) << f->x.column[e];
            f->word_transposed[f->x.column[e]] |= UINT32_C(1) << i;
        }
    }
    f->bits = (graphss_i_bits){N, D, f->word, f->number, NULL};
    f->bits_transposed = (graphss_i_bits){D, N, f->word_transposed, NULL, f->number};
}

static void free_fixture(fixture *f)
{
    free_sparse(&f->s), free_csr(&f->x);
    for (int i = 0; i < 2; i++)
        free(f->w[i]), free(f->grad[i]);
}

static graphss_i_tape *record(graphss_ctx *ctx, const fixture *f, recorder fn)
{
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    graphss_i_var w[2];
    for (int i = 0; i < 2; i++)
        w[i] = graphss_i_tape_weight(t, f->w[i], f->grad[i], f->rows[i], f->cols[i]);
    fn(t, f, w);
    assert_ok(ctx, graphss_i_tape_finish(t));
    return t;
}

/* (loss(w + h) - loss(w - h)) / 2h for each entry of both weights. Values are of order 1 in
 * float, so h = 1e-2 leaves rounding near 1e-5 and curvature near 1e-4. */
static void check_gradients(recorder fn, size_t r0, size_t c0, size_t r1, size_t c1)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_rng rng = graphss_rng_make(7, 1);
    fixture f = make_fixture(&rng, r0, c0, r1, c1);
    see_bits(&rng, &f);
    graphss_i_tape *t = record(ctx, &f, fn);
    float got[2][MOST];
    graphss_i_tape_forward(t, true, 99);
    graphss_i_tape_backward(t);
    for (int i = 0; i < 2; i++)
        memcpy(got[i], f.grad[i], f.rows[i] * f.cols[i] * sizeof(float));
    double largest = 0;
    for (int i = 0; i < 2; i++) {
        for (size_t j = 0; j < f.rows[i] * f.cols[i]; j++) {
            const float kept = f.w[i][j], h = 1e-2f;
            f.w[i][j] = kept + h;
            graphss_i_tape_forward(t, true, 99);
            const double up = graphss_i_tape_loss(t);
            f.w[i][j] = kept - h;
            graphss_i_tape_forward(t, true, 99);
            const double down = graphss_i_tape_loss(t);
            f.w[i][j] = kept;
            const double wanted = (up - down) / (2 * (double)h);
            largest = fmax(largest, fabs(wanted));
            if (fabs(got[i][j] - wanted) > 3e-3 * (1 + fabs(wanted)))
                fail_msg("weight %d entry %zu: gradient %g, difference %g", i, j, got[i][j],
                    wanted);
        }
    }
    assert_true(largest > 1e-3); /* a loss that depends on nothing would prove nothing */
    graphss_i_tape_free(ctx, t);
    free_fixture(&f);
    graphss_ctx_free(ctx);
}

static void two_layers(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    const graphss_i_pair m = {&f->s.m, &f->s.transposed};
    graphss_i_var h = graphss_i_tape_sparse_input(t, &f->x, w[0], 0.3);
    h = graphss_i_tape_relu(t, graphss_i_tape_spmm(t, m, h));
    h = graphss_i_tape_dropout(t, h, 0.4);
    h = graphss_i_tape_spmm(t, m, graphss_i_tape_matmul(t, h, w[1]));
    graphss_i_tape_cross_entropy(t, h, f->node, f->label, N - 2);
}

static void from_bits(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    graphss_i_var h = graphss_i_tape_bits_input(t, &f->bits, &f->bits_transposed, w[0], 0);
    h = graphss_i_tape_matmul(t, h, w[1]);
    graphss_i_tape_cross_entropy(t, h, f->node, f->label, N);
}

static void from_dropped_bits(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    graphss_i_var h = graphss_i_tape_bits_input(t, &f->bits, &f->bits_transposed, w[0], 0.3);
    h = graphss_i_tape_matmul(t, h, w[1]);
    graphss_i_tape_cross_entropy(t, h, f->node, f->label, N);
}

static void bias_then_loss(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    graphss_i_var h = graphss_i_tape_add_bias(t, graphss_i_tape_scale(t, w[0], 0.7), w[1]);
    graphss_i_tape_cross_entropy(t, h, f->node, f->label, N);
}

static void bias_and_relu(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    graphss_i_var h =
        graphss_i_tape_bias_relu(t, graphss_i_tape_scale(t, w[0], 0.7), w[1], 0.4);
    graphss_i_tape_cross_entropy(t, h, f->node, f->label, N);
    /* the bias alone is learnt */
    static const float fixed[N * H] = {1, -2, 0.5f, 3, 0.1f, -0.1f, 2, 4, -3, -1};
    h = graphss_i_tape_bias_relu(t, graphss_i_tape_constant(t, fixed, N, H), w[1], 0);
    graphss_i_tape_cross_entropy(t, h, f->node, f->label, N);
}

static void edge_values(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    const size_t nnz = (size_t)f->s.m.offset[N];
    (void)nnz;
    graphss_i_var v =
        graphss_i_tape_edge_dot(t, &f->s.m, &f->s.transposed, f->s.transposed_at, w[0], w[1]);
    v = graphss_i_tape_elu(t, v);
    graphss_i_var y =
        graphss_i_tape_spmm_edges(t, &f->s.m, &f->s.transposed, f->s.transposed_at, v, w[0]);
    graphss_i_tape_cross_entropy(t, y, f->node, f->label, N);
}

static void normalised_edges(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    graphss_i_var v =
        graphss_i_tape_edge_dot(t, &f->s.m, &f->s.transposed, f->s.transposed_at, w[0], w[1]);
    v = graphss_i_tape_exp(t, graphss_i_tape_scale(t, v, 0.3));
    v = graphss_i_tape_normalise_edges(t, &f->s.m, &f->s.transposed, f->s.transposed_at, v);
    graphss_i_tape_sum_squares(t, v, 0.5);
    graphss_i_var y =
        graphss_i_tape_spmm_edges(t, &f->s.m, &f->s.transposed, f->s.transposed_at, v, w[0]);
    graphss_i_tape_cross_entropy(t, y, f->node, f->label, N);
}

TEST(normalised_edges_have_the_values_of_the_formula)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    /* 0 - 1 - 2 with loops at 0 and 1; row 2 sums to zero and is left without weight */
    int64_t offset[] = {0, 2, 5, 7}, transposed_at[] = {0, 2, 1, 3, 5, 4, 6};
    int32_t column[] = {0, 1, 0, 1, 2, 1, 2};
    const graphss_i_csr m = {3, 3, offset, column, NULL, true};
    const float edge[] = {1, 3, 3, 1, 5, 5, -5};
    float grad[7];
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var e = graphss_i_tape_weight(t, edge, grad, 7, 1);
    const graphss_i_var p = graphss_i_tape_normalise_edges(t, &m, &m, transposed_at, e);
    graphss_i_tape_sum_squares(t, p, 1);
    graphss_i_tape_keep(t, p);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, true, 0);
    const double want[] = {1. / 4, 3. / 6, 3. / 6, 1. / 9, 0, 0, 0};
    for (int j = 0; j < 7; j++)
        assert_true(fabs(graphss_i_tape_value(t, p)[j] - want[j]) < 1e-6);
    graphss_i_tape_backward(t);
    for (int j = 0; j < 7; j++)
        assert_true(isfinite(grad[j]));
    assert_true(grad[5] == 0 && grad[6] == 0);
    graphss_i_tape_free(ctx, t);
    graphss_ctx_free(ctx);
}

static void used_twice(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    graphss_i_var s = graphss_i_tape_add(t, w[0], w[1]);
    graphss_i_var y = graphss_i_tape_multiply(t, s, s);
    graphss_i_var z = graphss_i_tape_multiply(t, y, graphss_i_tape_add(t, s, w[0]));
    graphss_i_tape_cross_entropy(t, graphss_i_tape_scale(t, z, 0.1), f->node, f->label, N);
    graphss_i_tape_sum_squares(t, y, 0.01);
}

static void through_exp(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    graphss_i_var y = graphss_i_tape_exp(t, graphss_i_tape_scale(t, w[0], 0.3));
    y = graphss_i_tape_multiply(t, y, w[1]);
    graphss_i_tape_cross_entropy(t, y, f->node, f->label, N);
}

/* row sums of x on each edge of the row */
static void fill_sums(graphss_ctx *ctx, float *edge, const graphss_i_csr *m, const float *x,
    size_t cols, const void *user)
{
    (void)ctx;
    for (size_t i = 0; i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            edge[e] = *(const float *)user;
            for (size_t c = 0; c < cols; c++)
                edge[e] += x[i * cols + c];
        }
}

TEST_CTX(detached_edges_are_constants_to_the_gradient)
{
    graphss_rng rng = graphss_rng_make(7, 1);
    fixture f = make_fixture(&rng, N, H, N, H);
    const float half = 0.5f;
    float *edge = malloc((size_t)f.s.m.offset[N] * sizeof *edge);
    float want[N * H], *got = f.grad[0];
    fill_sums(ctx, edge, &f.s.m, f.w[0], H, &half);
    for (int detached = 0; detached < 2; detached++) {
        graphss_i_tape *t = NULL;
        assert_ok(ctx, graphss_i_tape_new(ctx, &t));
        const graphss_i_var w = graphss_i_tape_weight(t, f.w[0], got, N, H);
        const graphss_i_var v =
            detached ? graphss_i_tape_detached_edges(t, &f.s.m, w, fill_sums, &half)
                     : graphss_i_tape_constant(t, edge, (size_t)f.s.m.offset[N], 1);
        const graphss_i_var y =
            graphss_i_tape_spmm_edges(t, &f.s.m, &f.s.transposed, f.s.transposed_at, v, w);
        graphss_i_tape_cross_entropy(t, y, f.node, f.label, N);
        assert_ok(ctx, graphss_i_tape_finish(t));
        graphss_i_tape_forward(t, true, 1);
        graphss_i_tape_backward(t);
        if (!detached)
            memcpy(want, got, sizeof want);
        graphss_i_tape_free(ctx, t);
    }
    for (int j = 0; j < N * H; j++)
        assert_true(got[j] == want[j]);
    free(edge);
    free_fixture(&f);
}

static void gaussian_units(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    const graphss_i_var s = graphss_i_tape_exp(t, graphss_i_tape_scale(t, w[1], 0.5));
    const graphss_i_var m = graphss_i_tape_elu(t, w[0]);
    graphss_i_tape_gaussian_kl(t, m, s, 0.1);
    graphss_i_tape_cross_entropy(
        t, graphss_i_tape_gaussian(t, m, s, false), f->node, f->label, N);
}

TEST(gaussian_units)
{
    check_gradients(gaussian_units, N, H, N, H);
}

TEST(draws_have_the_given_mean_and_variance)
{
    enum { DRAWS = 40000 };
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    float *mean = malloc(DRAWS * sizeof *mean), *variance = malloc(DRAWS * sizeof *variance);
    for (int j = 0; j < DRAWS; j++) {
        mean[j] = 3;
        variance[j] = 4;
    }
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var m = graphss_i_tape_constant(t, mean, DRAWS, 1);
    const graphss_i_var s = graphss_i_tape_constant(t, variance, DRAWS, 1);
    const graphss_i_var drawn = graphss_i_tape_gaussian(t, m, s, true);
    const graphss_i_var calm = graphss_i_tape_gaussian(t, m, s, false);
    graphss_i_tape_keep(t, drawn);
    graphss_i_tape_keep(t, calm);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, false, 5);
    double sum = 0, squares = 0;
    for (int j = 0; j < DRAWS; j++) {
        const double x = graphss_i_tape_value(t, drawn)[j] - 3;
        sum += x;
        squares += x * x;
        assert_true(graphss_i_tape_value(t, calm)[j] == 3);
    }
    assert_true(fabs(sum / DRAWS) < 0.05); /* five standard errors */
    assert_true(fabs(squares / DRAWS - 4) < 0.15);
    graphss_i_tape_free(ctx, t);
    free(mean), free(variance);
    graphss_ctx_free(ctx);
}

TEST(bits)
{
    check_gradients(from_bits, D, 6, 6, H);
    check_gradients(from_dropped_bits, D, 6, 6, H);
}

/* A pass over the rows of a loss gives the loss and the gradients of a pass over all. */
TEST_CTX(unwanted_rows_are_not_computed)
{
    enum { ROWS = 100, FROM = 37, LISTED = 20, WORDS = 70, WIDE = 24, ROADS = 2 };
    graphss_rng rng = graphss_rng_make(9, 1);
    graphss_i_csr x = random_csr(&rng, ROWS, WORDS);
    float *w = random_matrix(&rng, WORDS * WIDE);
    int32_t row[LISTED], label[LISTED];
    for (int32_t i = 0; i < LISTED; i++) {
        row[i] = FROM + i;
        label[i] = i % WIDE;
    }
    graphss_i_bits bits = {0}, back = {0};
    assert_ok(ctx, graphss_i_bits_make(ctx, &bits, &x));
    back.word = malloc(graphss_i_bits_words(WORDS, ROWS) * sizeof *back.word);
    graphss_i_bits_transpose(ctx, &back, &bits, 0, ROWS);
    for (int road = 0; road < ROADS; road++) {
        float grad[2][WORDS * WIDE];
        double loss[2];
        for (int part = 0; part < 2; part++) {
            graphss_i_tape *t = NULL;
            assert_ok(ctx, graphss_i_tape_new(ctx, &t));
            const graphss_i_var weight = graphss_i_tape_weight(t, w, grad[part], WORDS, WIDE);
            graphss_i_tape_apart(t);
            const graphss_i_var h =
                road ? graphss_i_tape_bits_input(t, &bits, &back, weight, 0.3)
                     : graphss_i_tape_sparse_input(t, &x, weight, 0.3);
            graphss_i_tape_keep(t, h);
            graphss_i_tape_cross_entropy(t, h, row, label, LISTED);
            assert_ok(ctx, graphss_i_tape_finish(t));
            graphss_i_tape_rows(t, row, part ? LISTED : 0);
            graphss_i_tape_forward(t, true, 8);
            assert_true((graphss_i_tape_value(t, h)[0] == 0) == part);
            loss[part] = graphss_i_tape_loss(t);
            graphss_i_tape_backward(t);
            graphss_i_tape_free(ctx, t);
        }
        assert_true(loss[0] == loss[1]);
        for (size_t j = 0; j < WORDS * WIDE; j++)
            assert_true(grad[0][j] == grad[1][j]);
    }
    graphss_i_bits_destroy(ctx, &bits);
    free(back.word), free(w), free_csr(&x);
}

/* Both products of a pass without dropout and of the following training pass equal those of
 * separate passes. */
TEST(what_two_passes_share)
{
    enum { ROWS = 90, WORDS = 40, WIDE = 5 };
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_rng rng = graphss_rng_make(10, 1);
    graphss_i_csr x = random_csr(&rng, ROWS, WORDS);
    float *w = random_matrix(&rng, WORDS * WIDE), grad[2][WORDS * WIDE], plain[2][ROWS * WIDE];
    int32_t row[ROWS], label[ROWS];
    double loss[2];
    for (int32_t i = 0; i < ROWS; i++) {
        row[i] = i;
        label[i] = i % WIDE;
    }
    for (int shared = 0; shared < 2; shared++) {
        graphss_i_tape *t = NULL;
        assert_ok(ctx, graphss_i_tape_new(ctx, &t));
        const graphss_i_var weight = graphss_i_tape_weight(t, w, grad[shared], WORDS, WIDE);
        const graphss_i_var h = graphss_i_tape_sparse_input(t, &x, weight, 0.3);
        graphss_i_tape_keep(t, h);
        graphss_i_tape_cross_entropy(t, h, row, label, ROWS);
        assert_ok(ctx, graphss_i_tape_finish(t));
        for (int epoch = 0; epoch < 2;
             epoch++) { /* the second: nothing is left of the first */
            if (shared)
                graphss_i_tape_forward_before(t, 8);
            else
                graphss_i_tape_forward(t, false, 0);
            memcpy(plain[shared], graphss_i_tape_value(t, h), sizeof plain[shared]);
            graphss_i_tape_forward(t, true, 8);
            loss[shared] = graphss_i_tape_loss(t);
            graphss_i_tape_backward(t);
        }
        graphss_i_tape_free(ctx, t);
    }
    assert_true(loss[0] == loss[1]);
    for (size_t j = 0; j < WORDS * WIDE; j++)
        assert_true(grad[0][j] == grad[1][j]);
    for (size_t j = 0; j < ROWS * WIDE; j++)
        assert_true(fabs(plain[0][j] - plain[1][j]) < 1e-5);
    free(w), free_csr(&x);
    graphss_ctx_free(ctx);
}

TEST(two_layers)
{
    check_gradients(two_layers, D, 6, 6, H);
}
TEST(bias_and_scale)
{
    check_gradients(bias_then_loss, N, H, 1, H);
    check_gradients(bias_and_relu, N, H, 1, H);
}
TEST(edge_values_and_edge_dot)
{
    check_gradients(edge_values, N, H, N, H);
}
TEST(normalised_edges)
{
    check_gradients(normalised_edges, N, H, N, H);
}
TEST(values_used_more_than_once)
{
    check_gradients(used_twice, N, H, N, H);
}
TEST(exp_and_sigmoid)
{
    check_gradients(through_exp, N, H, N, H);
}

static void powers_of_dropped_rows(
    graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    const graphss_i_pair m = {&f->s.m, &f->s.transposed};
    graphss_i_var h = graphss_i_tape_drop_rows(t, w[0], 0.4);
    h = graphss_i_tape_spmm_sum(t, m, h, 3, 0.2);
    h = graphss_i_tape_add(t, h, graphss_i_tape_spmm_sum(t, m, w[1], 0, 0.5));
    graphss_i_tape_cross_entropy_part(t, h, f->node, f->label, N, 0.3);
}

static void distances(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    (void)f;
    const graphss_i_var p = graphss_i_tape_softmax(t, w[0]);
    const graphss_i_var q = graphss_i_tape_softmax(t, graphss_i_tape_scale(t, w[1], 0.5));
    graphss_i_tape_squared_distance(t, p, q, 0.7);
    graphss_i_tape_squared_distance(t, q, w[0], 0.1);
    graphss_i_tape_only_training(t, true);
    graphss_i_tape_squared_distance(t, graphss_i_tape_add(t, p, q), w[1], 0.2);
}

TEST(powers_rows_and_distances)
{
    check_gradients(powers_of_dropped_rows, N, H, N, H);
    check_gradients(distances, N, H, N, H);
}

TEST_CTX(a_sum_of_powers_is_what_single_products_add_up_to)
{
    graphss_rng rng = graphss_rng_make(8, 1);
    sparse s = random_sparse(&rng, N);
    float *x = random_matrix(&rng, N * H);
    const graphss_i_pair m = {&s.m, &s.transposed};
    for (size_t steps = 0; steps < 4; steps++) {
        graphss_i_tape *t = NULL;
        assert_ok(ctx, graphss_i_tape_new(ctx, &t));
        const graphss_i_var given = graphss_i_tape_constant(t, x, N, H);
        const graphss_i_var got = graphss_i_tape_spmm_sum(t, m, given, steps, 0.25);
        graphss_i_var power = given, sum = given;
        for (size_t k = 0; k < steps; k++) {
            power = graphss_i_tape_spmm(t, m, power);
            sum = graphss_i_tape_add(t, sum, power);
        }
        sum = graphss_i_tape_scale(t, sum, 0.25);
        graphss_i_tape_keep(t, got);
        graphss_i_tape_keep(t, sum);
        assert_ok(ctx, graphss_i_tape_finish(t));
        graphss_i_tape_forward(t, true, 1);
        for (size_t j = 0; j < N * H; j++) {
            const float a = graphss_i_tape_value(t, got)[j],
                        b = graphss_i_tape_value(t, sum)[j];
            assert_true(fabsf(a - b) <= 1e-4f * (1 + fabsf(b)));
        }
        assert_false(graphss_i_tape_draws(t));
        graphss_i_tape_free(ctx, t);
    }
    free_sparse(&s);
    free(x);
}

TEST(whole_rows_are_dropped_at_the_rate_and_only_while_training)
{
    enum { ROWS = 20000 };
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    float *x = malloc(2 * ROWS * sizeof *x);
    for (int j = 0; j < 2 * ROWS; j++)
        x[j] = 3;
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var y =
        graphss_i_tape_drop_rows(t, graphss_i_tape_constant(t, x, ROWS, 2), 0.25);
    graphss_i_tape_keep(t, y);
    assert_true(graphss_i_tape_draws(t));
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, true, 1);
    const float *v = graphss_i_tape_value(t, y);
    size_t kept = 0;
    for (int i = 0; i < ROWS; i++) {
        assert_true(v[2 * i] == v[2 * i + 1] && (v[2 * i] == 0 || v[2 * i] == 4));
        kept += v[2 * i] > 0;
    }
    assert_true(fabs((double)kept / ROWS - 0.75) < 0.016); /* five standard errors */
    graphss_i_tape_forward(t, false, 1);
    for (int j = 0; j < 2 * ROWS; j++)
        assert_true(v[j] == 3);
    graphss_i_tape_free(ctx, t);
    free(x);
    graphss_ctx_free(ctx);
}

TEST_CTX(sharpened_rows_are_constants_that_stand_out)
{
    const float x[9] = {0.2f, 0.2f, 0.6f, 0, 0, 0, 1e-30f, 2e-30f, 0};
    const float want[9] = {
        1.f / 11, 1.f / 11, 9.f / 11, 1.f / 3, 1.f / 3, 1.f / 3, 0.2f, 0.8f, 0};
    float grad[9];
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var w = graphss_i_tape_weight(t, x, grad, 3, 3);
    const graphss_i_var y = graphss_i_tape_sharpen(t, w, 0.5);
    graphss_i_tape_keep(t, y);
    graphss_i_tape_squared_distance(t, w, y, 0.5);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, true, 1);
    graphss_i_tape_backward(t);
    for (int j = 0; j < 9; j++) {
        assert_true(fabsf(graphss_i_tape_value(t, y)[j] - want[j]) < 1e-6f);
        assert_true(fabsf(grad[j] - (x[j] - want[j])) < 1e-6f);
    }
    graphss_i_tape_free(ctx, t);
}

TEST_CTX(what_is_for_training_only_does_not_run_otherwise)
{
    float x[2] = {1, 2}, grad[2];
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var w = graphss_i_tape_weight(t, x, grad, 1, 2);
    const graphss_i_var always = graphss_i_tape_scale(t, w, 2);
    graphss_i_tape_only_training(t, true);
    const graphss_i_var then = graphss_i_tape_scale(t, w, 3);
    graphss_i_tape_sum_squares(t, then, 1);
    graphss_i_tape_only_training(t, false);
    graphss_i_tape_keep(t, always);
    graphss_i_tape_keep(t, then);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, true, 1);
    assert_true(graphss_i_tape_loss(t) == 45);
    x[0] = 10;
    graphss_i_tape_forward(t, false, 1);
    assert_true(graphss_i_tape_value(t, always)[0] == 20);
    assert_true(graphss_i_tape_value(t, then)[0] == 3); /* as the last training left it */
    graphss_i_tape_free(ctx, t);
}

TEST_CTX(a_weight_nobody_uses_gets_zero)
{
    const float used[4] = {1, 2, 3, 4}, unused[2] = {5, 6};
    float grad_used[4] = {9, 9, 9, 9}, grad_unused[2] = {9, 9};
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var w = graphss_i_tape_weight(t, used, grad_used, 2, 2);
    graphss_i_tape_weight(t, unused, grad_unused, 1, 2);
    graphss_i_tape_sum_squares(t, w, 0.5);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, true, 0);
    assert_true(graphss_i_tape_loss(t) == 15);
    graphss_i_tape_backward(t);
    for (int i = 0; i < 4; i++)
        assert_true(grad_used[i] == used[i]);
    assert_true(grad_unused[0] == 0 && grad_unused[1] == 0);
    graphss_i_tape_free(ctx, t);
}

static void no_dropout(graphss_i_tape *t, const fixture *f, const graphss_i_var w[2])
{
    const graphss_i_pair m = {&f->s.m, &f->s.transposed};
    graphss_i_var h = graphss_i_tape_sparse_input(t, &f->x, w[0], 0);
    h = graphss_i_tape_relu(t, graphss_i_tape_spmm(t, m, h));
    h = graphss_i_tape_spmm(t, m, graphss_i_tape_matmul(t, h, w[1]));
    graphss_i_tape_cross_entropy(t, h, f->node, f->label, N);
}

TEST_CTX(a_gcn_needs_two_wide_matrices)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    enum { WIDE = 320 };
    fixture f = make_fixture(&rng, D, WIDE, WIDE, H);
    graphss_i_tape *t = record(ctx, &f, no_dropout);
    const size_t wide = N * WIDE * sizeof(float), narrow = 64 * sizeof(float);
    assert_true(graphss_i_tape_bytes(t) <= 2 * wide + 4 * narrow);
    graphss_i_tape_free(ctx, t);
    t = record(ctx, &f, two_layers); /* dropout asks for one more */
    assert_true(graphss_i_tape_bytes(t) <= 3 * wide + 4 * narrow);
    graphss_i_tape_free(ctx, t);
    free_fixture(&f);
}

TEST_CTX(dropout_is_off_when_not_training)
{
    graphss_rng rng = graphss_rng_make(2, 1);
    fixture f = make_fixture(&rng, D, 6, 6, H);
    graphss_i_tape *t = record(ctx, &f, two_layers);
    graphss_i_tape_forward(t, false, 1);
    const double plain = graphss_i_tape_loss(t);
    graphss_i_tape_forward(t, true, 1);
    const double first = graphss_i_tape_loss(t);
    graphss_i_tape_forward(t, true, 2);
    assert_true(graphss_i_tape_loss(t) != first && first != plain);
    graphss_i_tape_forward(t, true, 1);
    assert_true(graphss_i_tape_loss(t) == first);
    graphss_i_tape_forward(t, false, 3);
    assert_true(graphss_i_tape_loss(t) == plain);
    graphss_i_tape_free(ctx, t);
    free_fixture(&f);
}

TEST_CTX(wrong_shapes_are_reported_at_the_end)
{
    const float x[6] = {0};
    float g[6];
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var a = graphss_i_tape_weight(t, x, g, 2, 3);
    graphss_i_var y = graphss_i_tape_matmul(t, a, a);
    y = graphss_i_tape_relu(t, y);
    assert_int_equal(y, -1);
    assert_fails(ctx, graphss_i_tape_finish(t), GRAPHSS_ERR_INTERNAL, "matmul");
    graphss_i_tape_free(ctx, t);
}

static graphss_status record_all(graphss_ctx *ctx, void *arg)
{
    const fixture *f = arg;
    graphss_i_tape *t = NULL;
    graphss_status st = graphss_i_tape_new(ctx, &t);
    if (st)
        return st;
    graphss_i_var w[2];
    for (int i = 0; i < 2; i++)
        w[i] = graphss_i_tape_weight(t, f->w[i], f->grad[i], f->rows[i], f->cols[i]);
    two_layers(t, f, w);
    from_dropped_bits(t, f, w);
    const size_t nnz = (size_t)f->s.m.offset[N];
    const graphss_i_var v = graphss_i_tape_constant(t, f->s.m.value, nnz, 1);
    graphss_i_tape_normalise_edges(t, &f->s.m, &f->s.transposed, f->s.transposed_at, v);
    const graphss_i_pair m = {&f->s.m, &f->s.transposed};
    const graphss_i_var h = graphss_i_tape_sparse_input(t, &f->x, w[0], 0);
    graphss_i_tape_spmm_sum(t, m, graphss_i_tape_drop_rows(t, h, 0.5), 2, 1);
    st = graphss_i_tape_finish(t);
    graphss_i_tape_free(ctx, t);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    fixture f = make_fixture(&rng, D, 6, 6, H);
    see_bits(&rng, &f);
    testing_each_allocation_fails(record_all, &f);
    free_fixture(&f);
}

int main(void)
{
    return testing_run();
}
