/* Whom nodes are compared with: kinds of change, changes in proportion, validation nodes that
 * will not do. */
#include "testing.h"

#include "alert/detector.h"
#include "observation/test/testing_attacked_world.h"

/* Nodes 0 to 5 of the test set got: other words, other words and a link, one link, five, nine,
 * seventeen. */
static void test_nodes_are_judged_among_those_that_changed_likewise(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_flips flips = {0};
    graphss_graph graph = {0};
    graphss_features words = {0};
    const int32_t *test = a.w.split.test;
    const graphss_graph *g = &a.w.graph;
    for (int i = 0; i < 2; i++) {
        const int64_t e = a.w.features.offset[test[i]];
        const float value = a.w.features.value[e];
        assert_ok(ctx, graphss_flips_add(ctx, &flips,
                                         (graphss_flip){test[i], GRAPHSS_FLIP_FEATURE, test[i],
                                                        a.w.features.column[e], value, 0, 0}));
    }
    static const int links[] = {0, 1, 1, 5, 9, 17};
    int32_t other = 0;
    for (int i = 0; i < 6; i++)
        for (int made = 0; made < links[i]; other++) {
            bool free = !graphss_graph_has_edge(g, test[i], other);
            for (int j = 0; j < 6; j++)
                free = free && other != test[j];
            if (!free)
                continue;
            assert_ok(ctx, graphss_flips_add(ctx, &flips,
                                             (graphss_flip){test[i], GRAPHSS_FLIP_EDGE,
                                                            test[i], other, 0, 1, 0}));
            made++;
        }
    assert_ok(ctx,
              graphss_flips_apply_parts(ctx, &graph, &words, g, &a.w.features, &flips, NULL));
    a.in.current = (graphss_observation){&graph, &words, NULL};
    graphss_alert_scores seen = {0};
    assert_ok(ctx, graphss_alert_look(ctx, &seen, &a.in, NULL));
    assert_int_equal(seen.kind[test[0]], GRAPHSS_I_OTHER_WORDS);
    assert_int_equal(seen.kind[test[1]], GRAPHSS_I_WORDS_AND_EDGES);
    assert_int_equal(seen.kind[test[2]], GRAPHSS_I_ONE_EDGE);
    assert_int_equal(seen.kind[test[3]], GRAPHSS_I_MANY_EDGES);
    assert_int_equal(seen.kind[test[4]], GRAPHSS_I_MORE_EDGES);
    assert_int_equal(seen.kind[test[5]], GRAPHSS_I_MOST_EDGES);
    for (size_t k = 0; k < GRAPHSS_I_CHANGED; k++)
        assert_int_equal(seen.changed[k], k != GRAPHSS_I_SAME && k != GRAPHSS_I_NO_PAST);
    graphss_alert_scores_destroy(ctx, &seen);
    graphss_flips_destroy(ctx, &flips);
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &words);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* A model with 4 links and 10 words, those that are gone among them; others have 10 and 20,
 * and no link and one word. */
static void test_what_is_lost_is_lost_in_proportion(void **state)
{
    (void)state;
    enum { N = 20, WORDS = 20 };
    int64_t from[N + 1], word_from[N + 1];
    int32_t to[N] = {0}, word[3 * WORDS] = {0};
    float one[3 * WORDS];
    for (int i = 0; i <= N; i++) {
        from[i] = i == 0 ? 0 : i == 1 ? 3 : 13;
        word_from[i] = i == 0 ? 0 : i == 1 ? 8 : i == 2 ? 28 : 29;
    }
    for (int i = 0; i < 3 * WORDS; i++)
        one[i] = 1;
    const graphss_graph graph = {.n_nodes = N, .offset = from, .target = to};
    const graphss_features features = {
        .n_rows = N, .n_cols = WORDS, .offset = word_from, .column = word, .value = one};
    const graphss_recover_input in = {.struct_size = sizeof in,
                                      .current = {&graph, &features, NULL}};
    graphss_i_change change[N] = {
        {.links = 2, .words = 7, .cut = 1, .dropped = 2, .valued = 3}};
    const graphss_i_look x = {.in = &in, .n = N, .change = change};
    graphss_i_churning same = graphss_i_look_likewise(&x, 0, 0);
    assert_int_equal(same.joins, 1);
    assert_int_equal(same.cuts, 1);
    assert_int_equal(same.adds, 2);
    assert_int_equal(same.drops, 2);
    assert_int_equal(same.values, 3);
    const graphss_i_churning longer = graphss_i_look_likewise(&x, 0, 1);
    assert_int_equal(longer.joins, 1);
    assert_int_equal(longer.cuts, 3); /* 2.5 */
    assert_int_equal(longer.adds, 2);
    assert_int_equal(longer.drops, 4);
    assert_int_equal(longer.values, 6);
    const graphss_i_churning shorter = graphss_i_look_likewise(&x, 0, 2);
    assert_int_equal(shorter.cuts, 1);
    assert_int_equal(shorter.drops, 1);
    change[0] = (graphss_i_change){.links = 2, .words = 2};
    same = graphss_i_look_likewise(&x, 0, 1);
    assert_int_equal(same.cuts + same.drops + same.values, 0);
}

/* A larger world, in which every so-many-th node gets three links: to nodes of its own class,
 * to those of another, or to its own where validation nodes have many links and others few. */
typedef enum arrival { HONEST, HOSTILE, UNEVEN, ARRIVALS } arrival;

static void let_links_arrive(graphss_ctx *ctx, graphss_flips *flips,
                             const graphss_dataset *data, const graphss_split *split,
                             arrival how)
{
    enum { OF = 6 };
    const int32_t n = (int32_t)data->graph.n_nodes;
    graphss_rng rng = graphss_rng_make(3, GRAPHSS_STREAM_ATTACK);
    uint8_t *val = calloc((size_t)n, 1);
    for (size_t i = 0; i < split->n_val; i++)
        val[split->val[i]] = 1;
    for (int32_t i = 0; i < n; i++) {
        const size_t degree = graphss_graph_degree(&data->graph, (size_t)i);
        if (i % OF || (how == UNEVEN && (val[i] ? degree < 4 : degree > 3)))
            continue;
        int32_t u = (int32_t)graphss_rng_below(&rng, (uint64_t)n);
        for (int made = 0; made < 3; u = (u + 1) % n) {
            if (u % OF == 0 || (data->label[u] == data->label[i]) == (how == HOSTILE) ||
                graphss_graph_has_edge(&data->graph, i, u))
                continue;
            assert_ok(ctx,
                      graphss_flips_add(ctx, flips,
                                        (graphss_flip){i, GRAPHSS_FLIP_EDGE, i, u, 0, 1, 0}));
            made++;
        }
    }
    free(val);
}

static void test_changed_validation_nodes_must_be_fit_to_compare_with(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset data = {0};
    graphss_split split = {0};
    graphss_model *model = NULL;
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_HONEST, NULL);
    opt.epochs = 40;
    opt.hidden = 16;
    assert_ok(ctx, graphss_dataset_read(
                       ctx, &data, "synth:nodes=1600,classes=4,features=120,degree=5", NULL));
    assert_ok(ctx,
              graphss_split_make(ctx, &split, data.label, data.graph.n_nodes, 4, 1, NULL));
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL, &data.graph, &data.features, 4,
                                       &split, 1, &opt));
    for (arrival how = HONEST; how < ARRIVALS; how++) {
        graphss_flips flips = {0};
        graphss_graph graph = {0};
        graphss_features words = {0};
        graphss_alert_scores seen = {0};
        graphss_verdict v = {0};
        let_links_arrive(ctx, &flips, &data, &split, how);
        assert_ok(ctx, graphss_flips_apply_parts(ctx, &graph, &words, &data.graph,
                                                 &data.features, &flips, NULL));
        const graphss_observation previous = {&data.graph, &data.features, NULL};
        const graphss_recover_input in = {.struct_size = sizeof in,
                                          .current = {&graph, &words, NULL},
                                          .previous = &previous,
                                          .split = &split,
                                          .model = model,
                                          .seed = 1};
        assert_ok(ctx, graphss_alert_look(ctx, &seen, &in, NULL));
        assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, NULL));
        assert_int_equal(seen.rehearsed[GRAPHSS_I_FEW_EDGES], how != HONEST);
        assert_int_equal(v.alert, how == HOSTILE);
        graphss_alert_scores_destroy(ctx, &seen);
        graphss_graph_destroy(ctx, &graph);
        graphss_features_destroy(ctx, &words);
        graphss_flips_destroy(ctx, &flips);
    }
    graphss_model_free(ctx, model);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

/* Validation nodes got ten links each, others nothing. */
static void test_who_did_not_change_is_judged_among_those_who_did_if_need_be(void **state)
{
    (void)state;
    enum { N = 4, CALM = 2 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int64_t none[N + 1] = {0};
    int32_t before[N] = {0, 1, 2, 3}, calm[CALM] = {0, 1}, kind[N];
    int32_t room[GRAPHSS_I_CHANGED][CALM];
    double odds[N] = {0}, list_odds[GRAPHSS_I_CHANGED][CALM];
    const uint8_t labelled[N] = {1, 1};
    const graphss_graph graph = {.n_nodes = N, .offset = none};
    const graphss_features features = {.n_rows = N, .n_cols = 1, .offset = none};
    const graphss_recover_input in = {.struct_size = sizeof in,
                                      .current = {&graph, &features, NULL}};
    graphss_i_change change[N] = {{.links = 10}, {.links = 10}};
    const graphss_i_look x = {.in = &in,
                              .n = N,
                              .before = before,
                              .change = change,
                              .calm = calm,
                              .n_calm = CALM,
                              .odds = odds};
    graphss_i_calm list[GRAPHSS_I_CHANGED] = {0};
    for (size_t c = 0; c < GRAPHSS_I_CHANGED; c++) {
        list[c].node = room[c];
        list[c].odds = list_odds[c];
    }
    assert_ok(ctx, graphss_i_look_calm(ctx, list, &x, kind, labelled));
    assert_int_equal(list[GRAPHSS_I_MORE_EDGES].n, CALM);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(kind[i], GRAPHSS_I_MORE_EDGES);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_are_judged_among_those_that_changed_likewise),
        cmocka_unit_test(test_what_is_lost_is_lost_in_proportion),
        cmocka_unit_test(test_changed_validation_nodes_must_be_fit_to_compare_with),
        cmocka_unit_test(test_who_did_not_change_is_judged_among_those_who_did_if_need_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
