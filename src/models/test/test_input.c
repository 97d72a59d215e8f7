/* Propagation matrices and the three roads through the first layer. */
#include "models/input.h"
#include "models/tape/params.h"
#include "models/test/testing_world.h"

static const graphss_i_scaling divided = {.row_normalise = true, .scale = 1};
static const graphss_i_scaling as_given = {.scale = 1};

/* Entry (i, j) of D^-1/2 A D^-1/2 or D^-1 A, straight from the definition. */
static double defined(const graphss_graph *g, size_t i, size_t j, bool symmetric, bool loops)
{
    const bool connected = i == j ? loops : graphss_graph_has_edge(g, (int32_t)i, (int32_t)j);
    const double di = (double)graphss_graph_degree(g, i) + loops;
    const double dj = (double)graphss_graph_degree(g, j) + loops;
    return !connected ? 0 : symmetric ? 1 / sqrt(di * dj) : 1 / di;
}

static double entry(const graphss_i_csr *m, size_t i, size_t j)
{
    double sum = 0;
    for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++)
        if (m->column[e] == (int32_t)j)
            sum += m->value[e];
    return sum;
}

TEST_CTX(propagation_is_as_defined)
{
    world w;
    world_make(ctx, &w, 1);
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        for (int loops = 0; loops < 2; loops++) {
            graphss_i_propagation p = {0};
            const graphss_i_norm norm =
                symmetric ? GRAPHSS_I_NORM_SYMMETRIC : GRAPHSS_I_NORM_ROW;
            assert_ok(ctx, graphss_i_propagation_make(ctx, &p, &w.graph, norm, loops));
            const graphss_i_csr *t = graphss_i_propagation_transposed(&p);
            for (size_t i = 0; i < WORLD_NODES; i++) {
                for (size_t j = 0; j < WORLD_NODES; j++) {
                    const double wanted = defined(&w.graph, i, j, symmetric, loops);
                    assert_true(fabs(entry(&p.m, i, j) - wanted) < 1e-6);
                    assert_true(fabs(entry(t, j, i) - wanted) < 1e-6);
                }
            }
            graphss_i_csr some = {0};
            const int32_t row[] = {3, 0, WORLD_NODES - 1, 3};
            assert_ok(
                ctx, graphss_i_propagation_rows(ctx, &some, &w.graph, norm, loops, row, 4));
            for (size_t r = 0; r < 4; r++) { /* the same bits in the same order */
                const int64_t from = p.m.offset[row[r]], at = some.offset[r];
                const size_t length = (size_t)(p.m.offset[row[r] + 1] - from);
                assert_int_equal(some.offset[r + 1] - at, length);
                assert_memory_equal(
                    some.column + at, p.m.column + from, length * sizeof *some.column);
                assert_memory_equal(
                    some.value + at, p.m.value + from, length * sizeof *some.value);
            }
            graphss_i_csr_destroy(ctx, &some);
            graphss_i_propagation_destroy(ctx, &p);
        }
    }
    world_destroy(ctx, &w);
}

/* y = P^hops X w on a road forced by how the features are stored. */
static void run_road(graphss_ctx *ctx, float *y, const graphss_features *f,
    const graphss_i_propagation *p, const float *w, size_t cols, size_t hops, bool dense,
    bool bits)
{
    graphss_i_input in = {0};
    graphss_i_tape *t = NULL;
    assert_ok(ctx, graphss_i_input_make(ctx, &in, f, p, hops, &divided));
    assert_int_equal(in.dense != NULL, dense);
    assert_int_equal(in.bits.word != NULL, bits);
    assert_ok(ctx, graphss_i_tape_new(ctx, &t));
    const graphss_i_var v =
        graphss_i_input_apply(t, &in, graphss_i_tape_constant(t, w, f->n_cols, cols), 0);
    graphss_i_tape_keep(t, v);
    assert_ok(ctx, graphss_i_tape_finish(t));
    graphss_i_tape_forward(t, false, 0);
    memcpy(y, graphss_i_tape_value(t, v), f->n_rows * cols * sizeof *y);
    graphss_i_tape_free(ctx, t);
    graphss_i_input_destroy(ctx, &in);
}

TEST_CTX(all_methods_of_the_first_product_agree)
{
    enum { COLS = 3, WIDE = 400 };
    world w;
    world_make(ctx, &w, 2);
    graphss_i_propagation p = {0};
    assert_ok(ctx, graphss_i_propagation_make(ctx, &p, &w.graph, GRAPHSS_I_NORM_ROW, true));
    graphss_rng rng = graphss_rng_make(1, 1);
    static float weight[WIDE * COLS], y[3][WORLD_NODES * COLS];
    for (size_t i = 0; i < WIDE * COLS; i++)
        weight[i] = (float)graphss_rng_normal(&rng);
    /* The same words in a wider vocabulary are sparse enough for the other road. */
    graphss_features wide = w.features;
    wide.n_cols = WIDE;
    graphss_features dense = {.n_rows = WORLD_NODES, .n_cols = WIDE};
    dense.value = calloc(WORLD_NODES * WIDE, sizeof(float));
    for (size_t i = 0; i < WORLD_NODES; i++)
        for (int64_t e = wide.offset[i]; e < wide.offset[i + 1]; e++)
            dense.value[i * WIDE + (size_t)wide.column[e]] = wide.value[e];
    /* In their own vocabulary, with all values equal, they suit bits. */
    graphss_features full = w.features;
    full.value = malloc(4 * WORLD_NODES * sizeof(float));
    for (size_t e = 0; e < graphss_features_stored(&full); e++)
        full.value[e] = 1;
    for (size_t hops = 0; hops <= 3; hops++) {
        run_road(ctx, y[0], &wide, &p, weight, COLS, hops, false, false);
        run_road(ctx, y[1], &dense, &p, weight, COLS, hops, true, false);
        for (size_t i = 0; i < WORLD_NODES * COLS; i++)
            assert_true(fabsf(y[0][i] - y[1][i]) < 1e-5f);
    }
    wide.value = full.value;
    run_road(ctx, y[0], &wide, &p, weight, COLS, 0, false, false);
    run_road(ctx, y[2], &full, &p, weight, COLS, 0, false, true);
    for (size_t i = 0; i < WORLD_NODES * COLS; i++)
        assert_true(fabsf(y[0][i] - y[2][i]) < 1e-5f);
    free(full.value);
    free(dense.value);
    graphss_i_propagation_destroy(ctx, &p);
    world_destroy(ctx, &w);
}

typedef struct makings {
    const graphss_features *f;
    const graphss_i_propagation *p;
} makings;

static graphss_status make_input(graphss_ctx *ctx, void *arg)
{
    const makings *m = arg;
    graphss_i_input in = {0};
    graphss_status st = graphss_i_input_make(ctx, &in, m->f, m->p, 2, &divided);
    graphss_i_input_destroy(ctx, &in);
    return st;
}

TEST_CTX(each_allocation_of_each_road_may_fail)
{
    world w;
    world_make(ctx, &w, 2);
    graphss_i_propagation p = {0}, none = {.norm = GRAPHSS_I_NORM_NONE};
    assert_ok(ctx, graphss_i_propagation_make(ctx, &p, &w.graph, GRAPHSS_I_NORM_ROW, true));
    graphss_features wide = w.features, dense = {WORLD_NODES, 2, NULL, NULL, NULL, 0};
    wide.n_cols = 400;
    dense.value = w.features.value;
    testing_each_allocation_fails(make_input, &(makings){&wide, &p});
    testing_each_allocation_fails(make_input, &(makings){&dense, &p});
    for (size_t e = 0; e < graphss_features_stored(&w.features); e++)
        w.features.value[e] = 1;
    testing_each_allocation_fails(make_input, &(makings){&w.features, &none});
    graphss_i_propagation_destroy(ctx, &p);
    world_destroy(ctx, &w);
}

/* The product with all rows worked out, and with those taken over that another snapshot has
 * under other numbers: the same bits as on a tape. */
static void check_product(graphss_ctx *ctx, const graphss_features *f,
    const graphss_features *other, const int32_t *there, bool bits)
{
    enum { COLS = 19 };
    static float w[400 * COLS], wanted[WORLD_NODES * COLS];
    const graphss_i_propagation none = {.norm = GRAPHSS_I_NORM_NONE};
    graphss_rng rng = graphss_rng_make(3, 1);
    for (size_t i = 0; i < f->n_cols * COLS; i++)
        w[i] = (float)graphss_rng_normal(&rng);
    graphss_i_input in = {0};
    graphss_i_product all = {0}, theirs = {0}, taken = {0};
    run_road(ctx, wanted, f, &none, w, COLS, 0, false, bits);
    assert_ok(
        ctx, graphss_i_input_multiply(ctx, &in, &all, f, &none, 1, &divided, w, COLS, NULL));
    assert_true(in.product == all.value && !in.sparse.value && !in.bits.word);
    assert_int_equal(all.bits, bits);
    assert_memory_equal(all.value, wanted, f->n_rows * COLS * sizeof *wanted);
    assert_ok(ctx,
        graphss_i_input_multiply(ctx, &in, &theirs, other, &none, 1, &divided, w, COLS, NULL));
    const graphss_i_known known = {other, &theirs, there};
    assert_ok(ctx,
        graphss_i_input_multiply(ctx, &in, &taken, f, &none, 1, &divided, w, COLS, &known));
    assert_memory_equal(taken.value, wanted, f->n_rows * COLS * sizeof *wanted);
    theirs.bits = !theirs.bits; /* another method: nothing is taken over */
    memset(theirs.value, 0, theirs.n_rows * COLS * sizeof *theirs.value);
    graphss_i_product_destroy(ctx, &taken);
    assert_ok(ctx,
        graphss_i_input_multiply(ctx, &in, &taken, f, &none, 1, &divided, w, COLS, &known));
    assert_memory_equal(taken.value, wanted, f->n_rows * COLS * sizeof *wanted);
    graphss_i_product_destroy(ctx, &all);
    graphss_i_product_destroy(ctx, &theirs);
    graphss_i_product_destroy(ctx, &taken);
}

/* A snapshot with some rows of words, the others being those of f, in the order `from`. */
static graphss_features other_rows(const graphss_features *f, const int32_t *from, size_t n)
{
    graphss_features made = {.n_rows = n, .n_cols = f->n_cols};
    made.offset = calloc(n + 1, sizeof *made.offset);
    made.column = malloc((size_t)f->offset[f->n_rows] * sizeof *made.column);
    made.value = malloc((size_t)f->offset[f->n_rows] * sizeof *made.value);
    for (size_t i = 0; i < n; i++) {
        int64_t at = made.offset[i];
        for (int64_t e = f->offset[from[i]]; e < f->offset[from[i] + 1]; e++)
            if (i % 5 || e > f->offset[from[i]]) { /* every fifth lost its first word */
                made.column[at] = f->column[e];
                made.value[at++] = f->value[e];
            }
        made.offset[i + 1] = at;
    }
    return made;
}

TEST_CTX(rows_that_are_known_are_taken_over)
{
    world w;
    world_make(ctx, &w, 2);
    int32_t there[WORLD_NODES], from[WORLD_NODES];
    for (int32_t i = 0; i < WORLD_NODES; i++)
        there[i] = -1;
    for (int32_t i = 0; i + 3 < WORLD_NODES; i++) { /* three nodes are new */
        from[i] = WORLD_NODES - 1 - i;
        there[from[i]] = i;
    }
    graphss_features wide = w.features;
    wide.n_cols = 400;
    graphss_features other = other_rows(&wide, from, WORLD_NODES - 3);
    check_product(ctx, &wide, &other, there, false);
    check_product(ctx, &wide, &wide, NULL, false);
    for (size_t e = 0; e < graphss_features_stored(&w.features); e++)
        w.features.value[e] = 1;
    graphss_features ones = other_rows(&w.features, from, WORLD_NODES - 3);
    check_product(ctx, &w.features, &ones, there, true);
    free(ones.offset), free(ones.column), free(ones.value);
    free(other.offset), free(other.column), free(other.value);
    world_destroy(ctx, &w);
}

static graphss_status multiply_input(graphss_ctx *ctx, void *arg)
{
    const makings *m = arg;
    static const float w[400];
    int32_t there[WORLD_NODES];
    for (int32_t i = 0; i < WORLD_NODES; i++)
        there[i] = i % 2 ? i : -1;
    graphss_i_input in = {0};
    graphss_i_product all = {0}, some = {0};
    const graphss_i_known known = {m->f, &all, there};
    graphss_status st =
        graphss_i_input_multiply(ctx, &in, &all, m->f, m->p, 2, &divided, w, 1, NULL);
    if (!st)
        st = graphss_i_input_multiply(ctx, &in, &some, m->f, m->p, 2, &divided, w, 1, &known);
    graphss_i_product_destroy(ctx, &all);
    graphss_i_product_destroy(ctx, &some);
    return st;
}

TEST_CTX(each_allocation_of_a_product_may_fail)
{
    world w;
    world_make(ctx, &w, 2);
    const graphss_i_propagation none = {.norm = GRAPHSS_I_NORM_NONE};
    graphss_features wide = w.features;
    wide.n_cols = 400;
    testing_each_allocation_fails(multiply_input, &(makings){&wide, &none});
    for (size_t e = 0; e < graphss_features_stored(&w.features); e++)
        w.features.value[e] = 1;
    testing_each_allocation_fails(multiply_input, &(makings){&w.features, &none});
    world_destroy(ctx, &w);
}

TEST_CTX(rows_are_divided_by_their_sum)
{
    int64_t offset[] = {0, 2, 2, 3};
    int32_t column[] = {0, 2, 1};
    float value[] = {1, 3, -5};
    const graphss_features f = {3, 100, offset, column, value, GRAPHSS_FEATURES_REAL};
    const graphss_i_propagation none = {.norm = GRAPHSS_I_NORM_NONE};
    graphss_i_input in = {0};
    assert_ok(ctx, graphss_i_input_make(ctx, &in, &f, &none, 1, &divided));
    assert_true(in.sparse.value[0] == 0.25f && in.sparse.value[1] == 0.75f);
    assert_true(in.sparse.value[2] == -1);
    graphss_i_input_destroy(ctx, &in);
    assert_ok(ctx, graphss_i_input_make(ctx, &in, &f, &none, 1, &as_given));
    assert_true(in.sparse.value[1] == 3);
    graphss_i_input_destroy(ctx, &in);
    /* Squared lengths 0.625, 0 and 1: one number makes their mean 1. */
    const double scale = graphss_i_input_scale(&f, true);
    assert_true(fabs(scale - sqrt(3 / 1.625)) < 1e-6);
    const graphss_i_scaling scaled = {.row_normalise = true, .scale = scale};
    assert_ok(ctx, graphss_i_input_make(ctx, &in, &f, &none, 1, &scaled));
    assert_true(fabs(in.sparse.value[1] - 0.75 * scale) < 1e-6);
    graphss_i_input_destroy(ctx, &in);
}

TEST_CTX(columns_get_mean_0_and_spread_1)
{
    enum { N = 4, D = 4 };
    /* Far from 0, mostly 0, the same everywhere, and of a sum that is no row's business. */
    float cell[N * D] = {1001, 0, 7, 1, 1003, 0, 7, 2, 1001, 0, 7, 3, 1003, 8, 7, 4};
    int64_t offset[] = {0, 3, 6, 9, 13};
    int32_t column[] = {0, 2, 3, 0, 2, 3, 0, 2, 3, 0, 1, 2, 3};
    float value[] = {1001, 7, 1, 1003, 7, 2, 1001, 7, 3, 1003, 8, 7, 4};
    const graphss_features dense = {N, D, NULL, NULL, cell, GRAPHSS_FEATURES_COUNTS};
    const graphss_features sparse = {N, D, offset, column, value, GRAPHSS_FEATURES_COUNTS};
    const graphss_i_propagation none = {.norm = GRAPHSS_I_NORM_NONE};
    const graphss_train_options opt = {
        .struct_size = sizeof opt, .standardise = true, .unit_scale = true};
    graphss_i_scaling a = {0}, b = {0};
    graphss_i_input x = {0}, y = {0};
    assert_ok(ctx, graphss_i_scaling_learn(ctx, &a, &dense, &opt));
    assert_ok(ctx, graphss_i_scaling_learn(ctx, &b, &sparse, &opt));
    assert_memory_equal(a.mean, b.mean, 2 * D * sizeof *a.mean);
    assert_true(a.mean[0] == 1002 && a.gain[0] == 1 && a.mean[1] == 2 && a.gain[2] == 0);
    assert_true(fabs(a.scale - 1 / sqrt(3)) < 1e-12);
    assert_ok(ctx, graphss_i_input_make(ctx, &x, &dense, &none, 1, &a));
    assert_ok(ctx, graphss_i_input_make(ctx, &y, &sparse, &none, 1, &b));
    assert_memory_equal(x.dense, y.dense, N * D * sizeof *x.dense);
    double length = 0;
    for (size_t c = 0; c < D; c++) {
        double sum = 0;
        for (size_t i = 0; i < N; i++) {
            sum += x.dense[i * D + c];
            length += x.dense[i * D + c] * x.dense[i * D + c] / N;
        }
        assert_true(fabs(sum) < 1e-6);
    }
    assert_true(fabs(length - 1) < 1e-6 && x.dense[2] == 0);
    graphss_i_input_destroy(ctx, &y);
    graphss_i_input_destroy(ctx, &x);
    graphss_i_scaling_destroy(ctx, &b);
    graphss_i_scaling_destroy(ctx, &a);
}

TEST_CTX(adam_steps_as_published)
{
    graphss_i_params p = {0};
    graphss_i_adam a = {0};
    assert_ok(ctx, graphss_i_params_declare(ctx, &p, "w", 3, 7, true));
    assert_ok(ctx, graphss_i_params_declare(ctx, &p, "b.bias", 1, 5, false));
    assert_ok(ctx, graphss_i_params_allocate(ctx, &p));
    assert_ok(ctx, graphss_i_adam_init(ctx, &a, &p));
    graphss_rng rng = graphss_rng_make(9, 1);
    graphss_i_params_glorot(&p, &rng);
    double w[26], m[26] = {0}, v[26] = {0};
    for (int j = 0; j < 26; j++)
        w[j] = p.value[j < 21 ? (size_t)j : p.param[1].offset + (size_t)j - 21];
    for (int step = 1; step <= 20; step++) {
        for (int j = 0; j < 26; j++) {
            const size_t at = j < 21 ? (size_t)j : p.param[1].offset + (size_t)j - 21;
            a.grad[at] = (float)graphss_rng_normal(&rng);
            const double g = a.grad[at] + (j < 21 ? 0.1 * w[j] : 0);
            m[j] = 0.9 * m[j] + 0.1 * g;
            v[j] = 0.999 * v[j] + 0.001 * g * g;
            w[j] -= 0.01 * (m[j] / (1 - pow(0.9, step))) /
                    (sqrt(v[j] / (1 - pow(0.999, step))) + 1e-8);
        }
        graphss_i_adam_step(ctx, &a, &p, 0.01, 0.1);
    }
    for (int j = 0; j < 26; j++)
        assert_true(fabs(p.value[j < 21 ? (size_t)j : p.param[1].offset + (size_t)j - 21] -
                         w[j]) < 1e-5);
    graphss_i_adam_destroy(ctx, &a);
    graphss_i_params_destroy(ctx, &p);
}

int main(void)
{
    return testing_run();
}
