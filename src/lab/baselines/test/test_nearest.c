/* The nodes with the most alike features, against a search of all pairs. */
#include "lab/baselines/nearest.h"
#include "testing.h"

enum { N = 60, D = 12, EACH = 5, AMONG = 40 };

typedef struct fixture {
    float dense[N * D], value[N * D];
    int64_t offset[N + 1];
    int32_t column[N * D], from[N], among[AMONG];
    graphss_features features;
    graphss_graph graph;
} fixture;

static void fixture_make(graphss_ctx *ctx, fixture *f, bool sparse)
{
    memset(f, 0, sizeof *f);
    graphss_rng rng = graphss_rng_make(3, 1);
    int32_t a[2 * N], b[2 * N];
    size_t e = 0;
    for (size_t i = 0; i < N; i++) {
        f->offset[i] = (int64_t)e;
        f->from[i] = (int32_t)i;
        for (size_t c = 0; c < D && i % 17; c++) /* a few rows are empty */
            if (graphss_rng_double(&rng) < 0.3) {
                f->dense[i * D + c] = graphss_rng_double(&rng) < 0.2 ? -1 : 1;
                f->value[e] = f->dense[i * D + c];
                f->column[e++] = (int32_t)c;
            }
    }
    f->offset[N] = (int64_t)e;
    for (size_t j = 0; j < AMONG; j++)
        f->among[j] = (int32_t)(N - 1 - j); /* not ascending */
    for (size_t k = 0; k < 2 * N; k++) {
        a[k] = (int32_t)graphss_rng_below(&rng, N);
        b[k] = (int32_t)graphss_rng_below(&rng, N);
    }
    assert_ok(ctx, graphss_graph_build(ctx, &f->graph, NULL, N, a, b, 2 * N));
    f->features = (graphss_features){.n_rows = N, .n_cols = D};
    f->features.value = sparse ? f->value : f->dense;
    f->features.offset = sparse ? f->offset : NULL;
    f->features.column = sparse ? f->column : NULL;
}

static float cosine(const fixture *f, size_t i, size_t j)
{
    double dot = 0, squares = 0;
    for (size_t c = 0; c < D; c++) {
        dot += (double)f->dense[i * D + c] * f->dense[j * D + c];
        squares += (double)f->dense[j * D + c] * f->dense[j * D + c];
    }
    return squares > 0 ? (float)(dot / sqrt(squares)) : 0;
}

static bool allowed(const fixture *f, size_t i, size_t j)
{
    return i != j && cosine(f, i, j) > 0 &&
           !graphss_graph_has_edge(&f->graph, (int32_t)i, (int32_t)j);
}

/* How many candidates of i are better than j by more than rounding. */
static size_t ahead_of(const fixture *f, size_t i, size_t j)
{
    size_t count = 0;
    for (size_t a = 0; a < AMONG; a++)
        count += allowed(f, i, (size_t)f->among[a]) &&
                 cosine(f, i, (size_t)f->among[a]) > cosine(f, i, j) + 1e-5f;
    return count;
}

static void check(bool sparse, int threads)
{
    graphss_ctx *ctx = testing_ctx(NULL, threads);
    fixture f;
    fixture_make(ctx, &f, sparse);
    int32_t near[N * EACH];
    size_t short_rows = 0;
    assert_ok(ctx, graphss_i_nearest(ctx, near, EACH, &f.features, &f.graph, f.from, N,
                                     f.among, AMONG, "test"));
    for (size_t i = 0; i < N; i++) {
        size_t held = 0, possible = 0;
        for (size_t a = 0; a < AMONG; a++)
            possible += allowed(&f, i, (size_t)f.among[a]);
        while (held < EACH && near[i * EACH + held] >= 0)
            held++;
        assert_int_equal(held, possible < EACH ? possible : EACH);
        short_rows += held < EACH;
        for (size_t k = 0; k < held; k++) {
            const size_t j = (size_t)near[i * EACH + k];
            assert_true(j >= N - AMONG && allowed(&f, i, j));
            assert_true(ahead_of(&f, i, j) < EACH);
            for (size_t l = 0; l < k; l++)
                assert_true(near[i * EACH + l] != near[i * EACH + k]);
        }
    }
    assert_true(short_rows > 0);
    graphss_graph_destroy(ctx, &f.graph);
    graphss_ctx_free(ctx);
}

static void test_the_nearest_are_those_of_a_search_of_all_pairs(void **state)
{
    (void)state;
    check(true, 1);
    check(false, 2);
}

static void test_of_equal_nodes_the_first_listed_win(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t offset[9] = {0};
    const int32_t from[] = {7, 0}, among[] = {0, 1, 2, 3, 4, 5};
    const graphss_features features = {.n_rows = 8, .n_cols = 1, .value = ones};
    const graphss_graph bare = {.n_nodes = 8, .offset = offset};
    int32_t near[6];
    assert_ok(ctx,
              graphss_i_nearest(ctx, near, 3, &features, &bare, from, 2, among, 6, "test"));
    int seen = 0;
    for (int k = 0; k < 3; k++)
        seen |= 1 << near[k];
    assert_int_equal(seen, 1 << 0 | 1 << 1 | 1 << 2);
    seen = 0;
    for (int k = 3; k < 6; k++)
        seen |= 1 << near[k];
    assert_int_equal(seen, 1 << 1 | 1 << 2 | 1 << 3);
    graphss_ctx_free(ctx);
}

static graphss_status search(graphss_ctx *ctx, void *arg)
{
    const fixture *f = arg;
    int32_t near[N * EACH];
    return graphss_i_nearest(ctx, near, EACH, &f->features, &f->graph, f->from, N, f->among,
                             AMONG, "test");
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture f;
    fixture_make(ctx, &f, true);
    testing_each_allocation_fails(search, &f);
    graphss_graph_destroy(ctx, &f.graph);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_nearest_are_those_of_a_search_of_all_pairs),
        cmocka_unit_test(test_of_equal_nodes_the_first_listed_win),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
