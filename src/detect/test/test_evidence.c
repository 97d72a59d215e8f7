/* What a snapshot says of each node, against sums over whole matrices. */
#include "detect/evidence.h"
#include "models/test/testing_world.h"

enum { N = WORLD_NODES, K = 2, SEVEN = 7 };

typedef struct sight {
    world w;
    graphss_i_lens lens;
    graphss_i_view view;
    graphss_i_lexicon lexicon;
    float surrogate[WORLD_WORDS * K];
} sight;

/* A view of the world; beliefs are drawn. */
static graphss_status sight_open(graphss_ctx *ctx, sight *s)
{
    graphss_rng rng = graphss_rng_make(9, GRAPHSS_STREAM_SYNTH);
    for (size_t j = 0; j < WORLD_WORDS; j++) {
        s->surrogate[j * K] = (float)graphss_rng_normal(&rng);
        s->surrogate[j * K + 1] = -s->surrogate[j * K];
    }
    s->lexicon = (graphss_i_lexicon){.weight = s->surrogate, .unit = 2};
    s->lens = (graphss_i_lens){.n = N,
                               .k = K,
                               .split = &s->w.split,
                               .surrogate = s->surrogate,
                               .lexicon = &s->lexicon,
                               .strength = 1};
    s->view = (graphss_i_view){.borrowed = true,
                               .graph = s->w.graph,
                               .features = s->w.features,
                               .prob = graphss_i_alloc(ctx, N * K, sizeof(float)),
                               .mlp = graphss_i_alloc(ctx, N * K, sizeof(float)),
                               .alike = graphss_i_alloc(ctx, N * K, sizeof(float))};
    if (!s->view.prob || !s->view.mlp || !s->view.alike)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < N; i++) {
        s->view.prob[i * K] = (float)graphss_rng_double(&rng);
        s->view.prob[i * K + 1] = 1 - s->view.prob[i * K];
        s->view.mlp[i * K] = (float)graphss_rng_double(&rng);
        s->view.mlp[i * K + 1] = 1 - s->view.mlp[i * K];
        s->view.alike[i * K] = (float)graphss_rng_double(&rng);
        s->view.alike[i * K + 1] = 1 - s->view.alike[i * K];
    }
    const graphss_status st = graphss_i_view_open(ctx, &s->view, &s->lens);
    return st ? st : graphss_i_view_look(ctx, &s->view, &s->lens);
}

static double word(const sight *s, size_t i, int32_t column)
{
    const graphss_features *x = &s->w.features;
    for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++)
        if (x->column[e] == column)
            return (double)x->value[e];
    return 0;
}

static bool linked(const sight *s, size_t a, size_t b)
{
    return graphss_graph_has_edge(&s->w.graph, (int32_t)a, (int32_t)b);
}

/* The mean over neighbours of prob, training nodes voting with their label; over those two
 * steps away, each as often as there are ways to it. */
static void votes(double near[K], double two[K], const sight *s, size_t i)
{
    double belief[N][K], n_near = 0, n_two = 0;
    for (size_t u = 0; u < N; u++)
        for (size_t c = 0; c < K; c++)
            belief[u][c] = (double)s->view.prob[u * K + c];
    for (size_t t = 0; t < s->w.split.n_train; t++)
        for (size_t c = 0; c < K; c++)
            belief[s->w.split.train[t]][c] =
                0.1 / K + (s->w.split.train_label[t] == (int32_t)c ? 0.9 : 0);
    for (size_t c = 0; c < K; c++)
        near[c] = two[c] = 0;
    for (size_t u = 0; u < N; u++) {
        double ways = 0;
        for (size_t m = 0; m < N; m++)
            ways += u != i && linked(s, i, m) && linked(s, m, u);
        n_near += linked(s, i, u);
        n_two += ways;
        for (size_t c = 0; c < K; c++) {
            near[c] += linked(s, i, u) ? belief[u][c] : 0;
            two[c] += ways * belief[u][c];
        }
    }
    for (size_t c = 0; c < K; c++) {
        near[c] /= n_near > 0 ? n_near : 1;
        two[c] /= n_two > 0 ? n_two : 1;
    }
}

static void test_sources_are_those_of_naive_sums(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    static sight s;
    world_make(ctx, &s.w, 5);
    assert_ok(ctx, sight_open(ctx, &s));
    for (size_t i = 0; i < N; i += SEVEN) {
        double near[K], two[K], words = 0, degree = 0, similar = 0;
        double margin = 0; /* of counts: weights of the two classes are opposite */
        votes(near, two, &s, i);
        double said = 0;
        for (int32_t j = 0; j < WORLD_WORDS; j++)
            said += word(&s, i, j) * (double)s.surrogate[j * K];
        for (int32_t j = 0; j < WORLD_WORDS; j++)
            margin += word(&s, i, j) != 0 ? (double)s.surrogate[j * K] : 0;
        for (size_t c = 0; c < K; c++) {
            const float *says = s.view.says + (i * K + c) * GRAPHSS_I_SAYS;
            assert_float_equal(says[0], log((double)s.view.prob[i * K + c] + 1e-3), 1e-4);
            assert_float_equal(says[1], log((double)s.view.mlp[i * K + c] + 1e-3), 1e-4);
            assert_float_equal(says[2], log(near[c] + 1e-3), 1e-3);
            assert_float_equal(says[5], log(two[c] + 1e-3), 1e-3);
            assert_float_equal(says[9], log(1 / (1 + exp(c ? margin : -margin)) + 1e-3), 1e-4);
            const double linear = 2 * said / s.lens.strength;
            assert_float_equal(says[10], log(1 / (1 + exp(c ? linear : -linear)) + 1e-3),
                               1e-4);
            assert_float_equal(says[11], log((double)s.view.alike[i * K + c] + 1e-3), 1e-4);
        }
        for (int32_t j = 0; j < WORLD_WORDS; j++)
            words += word(&s, i, j) != 0;
        for (size_t u = 0; u < N; u++) {
            double dot = 0, a = 0, b = 0;
            for (int32_t j = 0; j < WORLD_WORDS; j++) {
                dot += word(&s, i, j) * word(&s, u, j);
                a += word(&s, i, j) * word(&s, i, j);
                b += word(&s, u, j) * word(&s, u, j);
            }
            degree += linked(&s, i, u);
            similar += linked(&s, i, u) ? dot / sqrt(a * b) : 0;
        }
        const float *odd = s.view.odd + i * GRAPHSS_I_ODD;
        assert_float_equal(odd[0], log1p(words), 1e-5);
        assert_float_equal(odd[1], log1p(degree), 1e-5);
        assert_float_equal(odd[2], similar / fmax(degree, 1), 1e-5);
        const float *p = s.view.prob + i * K, *alike = s.view.alike + i * K;
        assert_float_equal(odd[ODD_PROB_ALIKE], fabs(p[0] - alike[0]) + fabs(p[1] - alike[1]),
                           1e-5);
        assert_float_equal(odd[ODD_VOTE_ALIKE],
                           fabs(near[0] - alike[0]) + fabs(near[1] - alike[1]), 1e-5);
        assert_true(odd[ODD_PROB_IS_ALIKE] == ((p[0] < p[1]) == (alike[0] < alike[1])));
    }
    graphss_i_view_destroy(ctx, &s.view);
    world_destroy(ctx, &s.w);
    graphss_ctx_free(ctx);
}

/* The view of a sight before it was opened. */
static graphss_i_view unopened(graphss_ctx *ctx, const sight *s)
{
    return (graphss_i_view){.borrowed = true,
                            .graph = s->w.graph,
                            .features = s->w.features,
                            .prob = graphss_i_copy(ctx, s->view.prob, N * K, sizeof(float)),
                            .mlp = graphss_i_copy(ctx, s->view.mlp, N * K, sizeof(float)),
                            .alike = graphss_i_copy(ctx, s->view.alike, N * K, sizeof(float))};
}

/* With a base that differs in a link and a row of words: the same as without. */
static void test_a_base_changes_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static sight s, other;
    world_make(ctx, &s.w, 5);
    world_make(ctx, &other.w, 5);
    int32_t from[2 * WORLD_EDGES], to[2 * WORLD_EDGES];
    size_t m = 0;
    for (size_t i = 0; i < N; i++)
        for (int64_t e = s.w.graph.offset[i]; e < s.w.graph.offset[i + 1]; e++)
            if ((size_t)s.w.graph.target[e] > i && m < 2 * WORLD_EDGES - 2) {
                from[m] = (int32_t)i;
                to[m++] = s.w.graph.target[e];
            }
    from[m - 1] = 3; /* one link goes, another comes */
    to[m - 1] = 90;
    graphss_graph_destroy(ctx, &other.w.graph);
    assert_ok(ctx, graphss_graph_build(ctx, &other.w.graph, N, from, to, m, NULL));
    other.w.features.value[0] = 3;
    assert_ok(ctx, sight_open(ctx, &s));
    assert_ok(ctx, sight_open(ctx, &other));
    graphss_i_view again = unopened(ctx, &other);
    graphss_i_lens lens = other.lens;
    lens.base = &s.view;
    assert_ok(ctx, graphss_i_view_open(ctx, &again, &lens));
    assert_ok(ctx, graphss_i_view_look(ctx, &again, &lens));
    assert_memory_equal(again.odd, other.view.odd, N * GRAPHSS_I_ODD * sizeof(float));
    assert_memory_equal(again.says, other.view.says, N * K * GRAPHSS_I_SAYS * sizeof(float));
    assert_memory_not_equal(again.odd, s.view.odd, N * GRAPHSS_I_ODD * sizeof(float));
    graphss_i_view_destroy(ctx, &again);
    graphss_i_view_destroy(ctx, &other.view);
    graphss_i_view_destroy(ctx, &s.view);
    world_destroy(ctx, &other.w);
    world_destroy(ctx, &s.w);
    graphss_ctx_free(ctx);
}

/* Rows that changed and wanted ones are as without a base, all others are the base's. */
static void test_who_is_not_wanted_is_taken_from_the_base(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static sight s, other;
    uint8_t wanted[N] = {0};
    world_make(ctx, &s.w, 5);
    world_make(ctx, &other.w, 5);
    for (int64_t e = 0; e < other.w.features.offset[1]; e++)
        other.w.features.value[e] = 3; /* node 0 alone changes */
    for (size_t i = 0; i < N; i += 3)
        wanted[i] = 1;
    assert_ok(ctx, sight_open(ctx, &s));
    assert_ok(ctx, sight_open(ctx, &other));
    graphss_i_view again = unopened(ctx, &other);
    graphss_i_lens lens = other.lens;
    lens.base = &s.view;
    lens.wanted = wanted;
    assert_ok(ctx, graphss_i_view_open(ctx, &again, &lens));
    for (size_t i = 0; i < N; i++) {
        const graphss_i_view *as = i && !wanted[i] ? &s.view : &other.view;
        assert_int_equal(again.twin[i], as->twin[i]);
        assert_memory_equal(again.rest + i * K, as->rest + i * K, K * sizeof(float));
        for (int64_t e = again.graph.offset[i]; e < again.graph.offset[i + 1]; e++) {
            assert_true(again.cosine[e] == as->cosine[e]);
            assert_int_equal(again.closed[e], as->closed[e]);
        }
    }
    assert_ok(ctx, graphss_i_view_look(ctx, &again, &lens));
    for (size_t i = 0; i < N; i += 3)
        assert_memory_equal(again.odd + i * GRAPHSS_I_ODD, other.view.odd + i * GRAPHSS_I_ODD,
                            GRAPHSS_I_ODD_NOW * sizeof(float));
    graphss_i_view_destroy(ctx, &again);
    graphss_i_view_destroy(ctx, &other.view);
    graphss_i_view_destroy(ctx, &s.view);
    world_destroy(ctx, &other.w);
    world_destroy(ctx, &s.w);
    graphss_ctx_free(ctx);
}

static graphss_status open_and_close(graphss_ctx *ctx, void *arg)
{
    sight *s = arg;
    const graphss_status st = sight_open(ctx, s);
    graphss_i_view_destroy(ctx, &s->view);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static sight s;
    world_make(ctx, &s.w, 5);
    testing_each_allocation_fails(open_and_close, &s);
    world_destroy(ctx, &s.w);
    graphss_ctx_free(ctx);
}

static void test_strength_is_the_middle_of_the_margins(void **state)
{
    (void)state;
    enum { THREE = 3 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_rng rng = graphss_rng_make(4, 1);
    sight s = {0};
    world_make(ctx, &s.w, 3);
    float w[WORLD_WORDS * THREE];
    for (size_t j = 0; j < WORLD_WORDS * THREE; j++)
        w[j] = (float)graphss_rng_normal(&rng);
    double strength = 0;
    assert_ok(ctx, graphss_i_feature_strength(ctx, &strength, &s.w.features, w, THREE));
    size_t less = 0, equal = 0;
    for (size_t i = 0; i < N; i++) {
        double z[THREE] = {0};
        for (int32_t j = 0; j < WORLD_WORDS; j++)
            for (size_t c = 0; c < THREE; c++)
                z[c] += word(&s, i, j) * (double)w[(size_t)j * THREE + c];
        const double top = fmax(z[0], fmax(z[1], z[2]));
        const double low = fmin(z[0], fmin(z[1], z[2]));
        const double margin = 2 * top + low - z[0] - z[1] - z[2]; /* top - the middle one */
        less += margin < strength - 1e-9;
        equal += fabs(margin - strength) <= 1e-9;
    }
    assert_true(strength > 0 && equal > 0);
    assert_true(less <= N / 2 && less + equal > N / 2);
    world_destroy(ctx, &s.w);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strength_is_the_middle_of_the_margins),
        cmocka_unit_test(test_sources_are_those_of_naive_sums),
        cmocka_unit_test(test_a_base_changes_nothing),
        cmocka_unit_test(test_who_is_not_wanted_is_taken_from_the_base),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
