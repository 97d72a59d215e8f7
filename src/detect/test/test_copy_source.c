/* Nodes that look copied. */
#include "data/build.h"
#include "detect/copy_source.h"
#include "testing.h"

enum { N = 60, WORDS = 40, OWN = 5, COPY = 7, FROM = 20, ROOM = N * 3 };

typedef struct place {
    graphss_graph graph;
    graphss_features features;
} place;

static void place_destroy(graphss_ctx *ctx, place *p)
{
    graphss_graph_destroy(ctx, &p->graph);
    graphss_features_destroy(ctx, &p->features);
}

/* Random links and words; COPY has those of FROM. */
static void place_make(graphss_ctx *ctx, place *p)
{
    graphss_rng rng = graphss_rng_make(3, GRAPHSS_STREAM_SYNTH);
    int32_t from[ROOM], to[ROOM];
    size_t links = 0;
    memset(p, 0, sizeof *p);
    for (size_t e = 0; e < 2 * N; e++) {
        const int32_t a = (int32_t)graphss_rng_below(&rng, N);
        const int32_t b = (int32_t)graphss_rng_below(&rng, N);
        if (a == COPY || b == COPY)
            continue;
        from[links] = a;
        to[links++] = b;
        if ((a == FROM || b == FROM) && a != b) {
            from[links] = COPY;
            to[links++] = a == FROM ? b : a;
        }
    }
    assert_ok(ctx, graphss_graph_build(ctx, &p->graph, N, from, to, links, NULL));
    int64_t *offset = graphss_i_alloc(ctx, N + 1, sizeof *offset);
    int32_t *column = graphss_i_alloc(ctx, N * OWN, sizeof *column);
    for (size_t i = 0; i <= N; i++)
        offset[i] = (int64_t)(OWN * i);
    for (size_t e = 0; e < N * OWN; e++)
        column[e] = (int32_t)graphss_rng_below(&rng, WORDS);
    memcpy(column + COPY * OWN, column + FROM * OWN, OWN * sizeof *column);
    assert_ok(ctx, graphss_i_features_from_rows(ctx, &p->features, N, WORDS, offset, column,
                                                NULL, N * OWN, "words"));
}

static double value(const graphss_features *x, size_t i, int32_t word)
{
    for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++)
        if (x->column[e] == word)
            return (double)x->value[e];
    return 0;
}

/* The definition of copy_source.h over whole rows. */
static double naive(const place *p, size_t i, size_t d)
{
    double dot = 0, a = 0, b = 0, shared = 0, degree = 0;
    for (int32_t w = 0; w < WORDS; w++) {
        dot += value(&p->features, i, w) * value(&p->features, d, w);
        a += value(&p->features, i, w) * value(&p->features, i, w);
        b += value(&p->features, d, w) * value(&p->features, d, w);
    }
    for (int32_t u = 0; u < N; u++)
        if (graphss_graph_has_edge(&p->graph, (int32_t)i, u)) {
            degree++;
            shared += u == (int32_t)d || graphss_graph_has_edge(&p->graph, u, (int32_t)d);
        }
    return dot / sqrt(a * b) + (degree > 0 ? shared / degree : 0);
}

static void test_a_copy_and_its_model_find_each_other(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    place p;
    int32_t twin[N];
    float alike[N];
    place_make(ctx, &p);
    assert_ok(ctx, graphss_i_twins(ctx, twin, alike, &p.graph, &p.features, NULL));
    assert_int_equal(twin[COPY], FROM);
    assert_int_equal(twin[FROM], COPY);
    assert_float_equal(alike[COPY], 2, 1e-6);
    size_t best = 0;
    for (size_t i = 0; i < N; i++) {
        double most = 0;
        assert_in_range(twin[i] + 1, 1, N);
        assert_true((size_t)twin[i] != i);
        assert_float_equal(alike[i], naive(&p, i, (size_t)twin[i]), 1e-5);
        for (size_t d = 0; d < N; d++)
            most = d == i ? most : fmax(most, naive(&p, i, d));
        best += (double)alike[i] > most - 1e-5;
    }
    assert_true(best > N * 3 / 4); /* counting first misses few */
    place_destroy(ctx, &p);
    graphss_ctx_free(ctx);
}

static void test_threads_change_nothing(void **state)
{
    (void)state;
    int32_t twin[2][N];
    float alike[2][N];
    for (size_t t = 0; t < 2; t++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1 + 2 * t);
        place p;
        place_make(ctx, &p);
        assert_ok(ctx, graphss_i_twins(ctx, twin[t], alike[t], &p.graph, &p.features, NULL));
        place_destroy(ctx, &p);
        graphss_ctx_free(ctx);
    }
    assert_memory_equal(twin[0], twin[1], sizeof twin[0]);
    assert_memory_equal(alike[0], alike[1], sizeof alike[0]);
}

static void test_nodes_without_words_and_links_have_none(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    float dense[6] = {1, 2, 3, 4, 5, 6};
    int64_t offset[4] = {0};
    int32_t nothing[1] = {0}, twin[3];
    float alike[3], none[1] = {0};
    const graphss_graph graph = {.n_nodes = 3, .offset = offset, .target = nothing};
    const graphss_features full = {.n_rows = 3, .n_cols = 2, .value = dense};
    const graphss_features empty = {
        .n_rows = 3, .n_cols = 2, .offset = offset, .column = nothing, .value = none};
    assert_ok(ctx, graphss_i_twins(ctx, twin, alike, &graph, &full, NULL));
    assert_int_equal(twin[1], -1);
    assert_ok(ctx, graphss_i_twins(ctx, twin, alike, &graph, &empty, NULL));
    assert_int_equal(twin[2], -1);
    assert_float_equal(alike[2], 0, 0);
    graphss_ctx_free(ctx);
}

static graphss_status search(graphss_ctx *ctx, void *arg)
{
    const place *p = arg;
    int32_t twin[N];
    float alike[N];
    return graphss_i_twins(ctx, twin, alike, &p->graph, &p->features, NULL);
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    place p;
    place_make(ctx, &p);
    testing_each_allocation_fails(search, &p);
    place_destroy(ctx, &p);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_and_its_model_find_each_other),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_nodes_without_words_and_links_have_none),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
