/* Voices and glances against naive twins. */
#include "testing.h"

#include "alert/test/testing_detector.h"

enum { K = 2 };

static void test_counted_words_are_counted(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    seen_world s;
    seen_world_make(ctx, &s);
    float weight[WORLD_WORDS * K];
    double share[K];
    const graphss_features *x = &s.a.w.features;
    graphss_i_voice_count(weight, share, x, s.look.prob, K);
    for (size_t c = 0; c < K; c++) {
        double mean = 0;
        for (size_t i = 0; i < WORLD_NODES; i++)
            mean += (double)s.look.prob[i * K + c] / WORLD_NODES;
        assert_float_equal(share[c], mean, 1e-9);
        for (size_t j = 0; j < WORLD_WORDS; j++) {
            double found = 0, held = 0;
            for (size_t i = 0; i < WORLD_NODES; i++) {
                found += has_word(x, i, j) * (double)s.look.prob[i * K + c];
                held += has_word(x, i, j);
            }
            assert_float_equal(weight[j * K + c],
                               (found - held * mean) / sqrt(held * mean + 5), 1e-4);
        }
    }
    seen_world_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

/* Some columns, written once more. */
static void test_columns_of_now_are_what_they_say(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    seen_world s;
    seen_world_make(ctx, &s);
    const graphss_i_glance *g = &s.look.now;
    for (size_t i = 0; i < WORLD_NODES; i++) {
        float column[GRAPHSS_I_GLANCE_NOW];
        graphss_i_glance_now(column, g, i);
        size_t words = 0, degree = graphss_graph_degree(g->graph, i);
        for (size_t j = 0; j < WORLD_WORDS; j++)
            words += has_word(g->features, i, j);
        double agree = 0, least = 1;
        for (size_t u = 0; u < WORLD_NODES; u++) {
            if (!graphss_graph_has_edge(g->graph, (int32_t)i, (int32_t)u))
                continue;
            const double x = (double)g->prob[i * K] * (double)g->prob[u * K] +
                             (double)g->prob[i * K + 1] * (double)g->prob[u * K + 1];
            agree += x / (double)degree;
            least = fmin(least, x);
        }
        assert_float_equal(column[0], log1p((double)words), 1e-5);
        assert_float_equal(column[1], log1p((double)degree), 1e-5);
        if (degree)
            assert_float_equal(column[2], log(agree + 1e-2), 1e-4);
        assert_float_equal(column[5], least, 1e-5);
        for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
            float *face = graphss_i_face(g, i);
            const float *leans = graphss_i_face_leans(face, v, K);
            assert_float_equal(leans[0] + leans[1], 1, 1e-5);
            assert_float_equal(graphss_i_face_margin(face, K)[v],
                               fabsf(g->says[v][i * K] - g->says[v][i * K + 1]), 1e-4);
            assert_float_equal(column[8 + 11 * v + 8], fmaxf(leans[0], leans[1]), 1e-5);
        }
    }
    seen_world_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

/* More classes than are added up at a time, and a node without links. */
static void test_what_neighbours_say_is_the_mean_over_them(void **state)
{
    (void)state;
    enum { N = 5, MANY = 37, WORDS = 3 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int64_t offset[] = {0, 2, 4, 5, 6, 6}, begin[] = {0, 1, 3, 4, 6, 7};
    int32_t target[] = {1, 2, 0, 3, 0, 1}, word[] = {0, 0, 1, 2, 1, 2, 1};
    float value[] = {1, 1, 1, 1, 1, 1, 1}, prob[N * MANY];
    float weight[GRAPHSS_I_VOICES][WORDS * MANY], by_class[GRAPHSS_I_VOICES][MANY * WORDS];
    graphss_rng rng = graphss_rng_make(7, GRAPHSS_STREAM_DEFENCE);
    for (size_t i = 0; i < N; i++) {
        float sum = 0;
        for (size_t c = 0; c < MANY; c++)
            sum += prob[i * MANY + c] = (float)graphss_rng_double(&rng);
        for (size_t c = 0; c < MANY; c++)
            prob[i * MANY + c] /= sum;
    }
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
        for (size_t j = 0; j < WORDS * MANY; j++)
            by_class[v][j % MANY * WORDS + j / MANY] = weight[v][j] =
                (float)graphss_rng_double(&rng);
    const graphss_graph graph = {.n_nodes = N, .offset = offset, .target = target};
    const graphss_features words = {
        .n_rows = N, .n_cols = WORDS, .offset = begin, .column = word, .value = value};
    const graphss_i_voice voice[] = {
        {.weight = weight[0], .by_class = by_class[0], .unit = 1, .heat = 0.5},
        {.weight = weight[1], .by_class = by_class[1], .unit = 1, .heat = 0.2}};
    graphss_i_glance g = {
        .graph = &graph, .features = &words, .prob = prob, .n = N, .k = MANY, .voice = voice};
    assert_ok(ctx, graphss_i_glance_open(ctx, &g));
    for (size_t i = 0; i < N; i++) {
        const size_t degree = graphss_graph_degree(&graph, i), n = degree ? degree : 1;
        double believed = 0, heard[GRAPHSS_I_VOICES] = {0}, alike[GRAPHSS_I_VOICES] = {0};
        double entropy = 0, reach = 0;
        for (size_t c = 0; c < MANY; c++) {
            double p = 0;
            for (size_t e = 0; e < n; e++) {
                const size_t u = degree ? (size_t)target[offset[i] + (int64_t)e] : i;
                const double q = (double)prob[u * MANY + c];
                p += q / (double)n;
                believed += (double)prob[i * MANY + c] * q / (double)n;
                for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
                    const double own =
                        (double)graphss_i_face_leans(graphss_i_face(&g, i), v, MANY)[c];
                    const double other =
                        (double)graphss_i_face_leans(graphss_i_face(&g, u), v, MANY)[c];
                    heard[v] += own * q / (double)n;
                    alike[v] += own * other / (double)n;
                }
            }
            entropy -= degree ? p * log(p) : 0;
        }
        for (size_t e = 0; e < degree; e++)
            reach += log1p((double)graphss_graph_degree(
                         &graph, (size_t)target[offset[i] + (int64_t)e])) /
                     (double)degree;
        float column[GRAPHSS_I_GLANCE_NOW];
        graphss_i_glance_now(column, &g, i);
        assert_float_equal(column[2], log(believed + 1e-2), 1e-5);
        assert_float_equal(column[4], entropy, 1e-5);
        assert_float_equal(column[6], reach, 1e-5);
        for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
            assert_float_equal(column[8 + 11 * v + 4], log(heard[v] + 1e-2), 1e-5);
            assert_float_equal(column[8 + 11 * v + 5], log(alike[v] + 1e-2), 1e-5);
            const size_t best = graphss_i_top(g.says[v] + i * MANY, MANY);
            double strong = 0; /* there are fewer than ten */
            for (int64_t e = begin[i]; e < begin[i + 1]; e++)
                strong += (double)weight[v][(size_t)word[e] * MANY + best] / 10;
            assert_float_equal(column[8 + 11 * v + 2], strong, 1e-6);
        }
    }
    graphss_i_glance_close(ctx, &g);
    graphss_ctx_free(ctx);
}

static void test_changes_are_counted_and_a_node_that_did_not_change_has_none(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    seen_world s;
    seen_world_make(ctx, &s);
    const graphss_graph *now = &s.a.current, *then = &s.a.w.graph;
    for (int32_t i = 0; i < WORLD_NODES; i++) {
        int32_t changed = 0, cut = 0;
        for (int32_t u = 0; u < WORLD_NODES; u++) {
            const bool was = graphss_graph_has_edge(then, i, u);
            changed += graphss_graph_has_edge(now, i, u) != was;
            cut += was && !graphss_graph_has_edge(now, i, u);
        }
        assert_int_equal(s.look.change[i].links, changed);
        assert_int_equal(s.look.change[i].cut, cut);
        assert_int_equal(s.look.change[i].words, 0);
    }
    seen_world_destroy(ctx, &s);
    /* words that come and go, one that stays, one with another value, one of none at all */
    int64_t none[] = {0, 0}, from[] = {0, 4}, to[] = {0, 4};
    int32_t nobody = 0, before = 0, held[] = {0, 2, 4, 5}, holds[] = {1, 2, 3, 4};
    float values[] = {1, 1, 1, 1}, others[] = {0, 1, 1, 60};
    float sure[K] = {1}, weight[6 * K] = {0};
    const graphss_graph alone = {.n_nodes = 1, .offset = none, .target = &nobody};
    const graphss_features was = {
        .n_rows = 1, .n_cols = 6, .offset = from, .column = held, .value = values};
    const graphss_features is = {
        .n_rows = 1, .n_cols = 6, .offset = to, .column = holds, .value = others};
    const graphss_i_voice voice[] = {
        {.weight = weight, .by_class = weight, .unit = 1, .heat = 1},
        {.weight = weight, .by_class = weight, .unit = 1, .heat = 1}};
    graphss_i_glance past = {
        .graph = &alone, .features = &was, .prob = sure, .n = 1, .k = K, .voice = voice};
    graphss_i_glance seen = past;
    seen.features = &is;
    float against[GRAPHSS_I_GLANCE_PAST];
    graphss_i_change words;
    assert_ok(ctx, graphss_i_glance_open(ctx, &past));
    assert_ok(ctx, graphss_i_glance_open(ctx, &seen));
    graphss_i_glance_past(against, &words, &seen, &past, &before, 0);
    assert_int_equal(words.words, 4);
    assert_int_equal(words.dropped, 2);
    assert_int_equal(words.valued, 1);
    graphss_i_glance_close(ctx, &seen);
    graphss_i_glance_close(ctx, &past);
    /* the same snapshot twice */
    attacked_world a;
    attacked_world_make(ctx, &a);
    a.in.current = a.previous;
    graphss_i_look look = {0};
    assert_ok(ctx, graphss_i_look_at(ctx, &look, &a.in));
    for (size_t i = 0; i < WORLD_NODES; i++) {
        float column[GRAPHSS_I_GLANCE_PAST];
        graphss_i_change change;
        graphss_i_glance_past(column, &change, &look.now, &look.past, look.before, i);
        assert_int_equal(change.links + change.words, 0);
        for (size_t j = 0; j < GRAPHSS_I_GLANCE_PAST; j++)
            if (j != 3) /* the class that gained most gained nothing */
                assert_float_equal(column[j], 0, 1e-6);
    }
    graphss_i_look_destroy(ctx, &look);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* As many values as would make that difference: of 4 none, all, half, and a little. */
static void test_dense_features_change_by_how_far_they_move(void **state)
{
    (void)state;
    enum { N = 4, D = 4 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int64_t none[N + 1] = {0};
    int32_t nobody = 0, before[N] = {0, 1, 2, 3}, want[N] = {0, 4, 2, 1};
    float then[N * D] = {1, 2, 3, 4, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    /* of the third |a - b|^2 = 2, |a|^2 + |b|^2 = 6 */
    float now[N * D] = {1, 2, 3, 4, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1.1F};
    float prob[N * K] = {1, 0, 1, 0, 1, 0, 1, 0}, weight[D * K] = {0};
    const graphss_graph graph = {.n_nodes = N, .offset = none, .target = &nobody};
    const graphss_features was = {.n_rows = N, .n_cols = D, .value = then},
                           is = {.n_rows = N, .n_cols = D, .value = now};
    const graphss_i_voice voice[] = {
        {.weight = weight, .by_class = weight, .unit = 1, .heat = 1},
        {.weight = weight, .by_class = weight, .unit = 1, .heat = 1}};
    graphss_i_glance past = {
        .graph = &graph, .features = &was, .prob = prob, .n = N, .k = K, .voice = voice};
    graphss_i_glance seen = past;
    seen.features = &is;
    assert_ok(ctx, graphss_i_glance_open(ctx, &past));
    assert_ok(ctx, graphss_i_glance_open(ctx, &seen));
    for (size_t i = 0; i < N; i++) {
        float column[GRAPHSS_I_GLANCE_PAST];
        graphss_i_change change;
        graphss_i_glance_past(column, &change, &seen, &past, before, i);
        assert_int_equal(change.words, want[i]);
    }
    graphss_i_glance_close(ctx, &seen);
    graphss_i_glance_close(ctx, &past);
    graphss_ctx_free(ctx);
}

/* Nodes whose words changed are heard, the others taken over: to the bit. */
static void test_words_heard_before_need_not_be_heard_again(void **state)
{
    (void)state;
    enum { K_SIZE = WORLD_NODES * K * sizeof(float) };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    seen_world s;
    seen_world_make(ctx, &s);
    graphss_features words = {0};
    assert_ok(ctx, graphss_features_copy(ctx, &words, &s.a.w.features));
    for (int64_t e = 0; e < 40; e++) /* ten nodes of four words */
        words.value[e] = 2;
    graphss_i_glance a = s.look.now, b;
    a.features = &words;
    a.heard = NULL;
    b = a;
    b.heard = &s.look.now;
    assert_ok(ctx, graphss_i_glance_open(ctx, &a));
    assert_ok(ctx, graphss_i_glance_open(ctx, &b));
    assert_null(b.heard);
    graphss_i_glance c = s.look.now; /* of which some are elsewhere, and some nowhere */
    int32_t there[WORLD_NODES];
    for (int32_t i = 0; i < WORLD_NODES; i++)
        there[i] = i % 3 == 0 ? -1 : i % 3 == 1 ? i : WORLD_NODES - 1 - i;
    c.heard = &s.look.now;
    c.there = there;
    assert_ok(ctx, graphss_i_glance_open(ctx, &c));
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
        assert_memory_equal(c.says[v], s.look.now.says[v], K_SIZE);
    graphss_i_glance_close(ctx, &c);
    assert_memory_equal(a.face, b.face,
                        WORLD_NODES * graphss_i_face_width(K) * sizeof *a.face);
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++) {
        assert_memory_equal(a.says[v], b.says[v], K_SIZE);
        if (!s.look.voice[v].counted)
            assert_memory_not_equal(a.says[v], s.look.now.says[v], K_SIZE);
    }
    graphss_i_glance_close(ctx, &a);
    graphss_i_glance_close(ctx, &b);
    graphss_features_destroy(ctx, &words);
    seen_world_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

/* Is x the middle of n numbers, as far as they can be told apart? */
static bool is_middle(double x, const double *of, size_t n)
{
    size_t less = 0, equal = 0;
    for (size_t i = 0; i < n; i++) {
        less += of[i] < x - 1e-5;
        equal += fabs(of[i] - x) <= 1e-5;
    }
    return equal > 0 && less <= n / 2 && less + equal > n / 2;
}

static void test_a_voice_is_centred_and_tuned_to_the_middle(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(ctx, &w, 2);
    w.features.value[1] = 3;
    for (int counted = 0; counted < 2; counted++) {
        float given[WORLD_WORDS * K], weight[WORLD_WORDS * K];
        double margin[WORLD_NODES], relative[WORLD_NODES];
        graphss_rng rng = graphss_rng_make(8, 1);
        for (size_t j = 0; j < WORLD_WORDS * K; j++)
            given[j] = weight[j] = (float)graphss_rng_normal(&rng);
        static const float prob[WORLD_NODES * K];
        float by_class[K * WORLD_WORDS];
        const graphss_i_voice one = {
            .weight = weight, .by_class = by_class, .counted = counted};
        graphss_i_voice both[GRAPHSS_I_VOICES] = {one, one};
        graphss_i_glance g = {.graph = &w.graph,
                              .features = &w.features,
                              .prob = prob,
                              .n = WORLD_NODES,
                              .k = K,
                              .voice = both,
                              .tune = both};
        graphss_i_voice_centre(&both[0], WORLD_WORDS, K);
        for (size_t j = 0; j < WORLD_WORDS * K; j++)
            assert_true(by_class[j % K * WORLD_WORDS + j / K] == weight[j]);
        assert_ok(ctx, graphss_i_glance_open(ctx, &g));
        assert_null(g.tune);
        graphss_i_glance_close(ctx, &g);
        const graphss_i_voice voice = both[1];
        assert_true(both[0].unit == voice.unit && both[0].heat == voice.heat);
        for (size_t j = 0; j < WORLD_WORDS; j++)
            assert_float_equal(weight[j * K], (given[j * K] - given[j * K + 1]) / 2, 1e-6);
        for (size_t i = 0; i < WORLD_NODES; i++) {
            double lead = 0, words = 0;
            for (int64_t e = w.features.offset[i]; e < w.features.offset[i + 1]; e++) {
                const float *of = given + (size_t)w.features.column[e] * K;
                lead += (counted ? 1 : (double)w.features.value[e]) * (double)(of[0] - of[1]);
                words++;
            }
            margin[i] = fabs(lead);
            relative[i] = margin[i] / sqrt(fmax(words, 1));
        }
        assert_true(is_middle(voice.unit, margin, WORLD_NODES));
        assert_true(is_middle(2 * voice.heat, relative, WORLD_NODES));
    }
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_voice_is_centred_and_tuned_to_the_middle),
        cmocka_unit_test(test_counted_words_are_counted),
        cmocka_unit_test(test_columns_of_now_are_what_they_say),
        cmocka_unit_test(test_what_neighbours_say_is_the_mean_over_them),
        cmocka_unit_test(test_changes_are_counted_and_a_node_that_did_not_change_has_none),
        cmocka_unit_test(test_dense_features_change_by_how_far_they_move),
        cmocka_unit_test(test_words_heard_before_need_not_be_heard_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
