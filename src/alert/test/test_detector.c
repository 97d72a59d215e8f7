/* Rehearsals, and what the look makes of them. */
#include "testing.h"

#include "alert/test/testing_detector.h"
#include <unistd.h>

static void test_a_rehearsal_changes_whom_it_should(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    seen_world s;
    seen_world_make(ctx, &s);
    const int32_t victim[] = {0, 1, 2, 3, 4}, churned[] = {10, 11};
    const graphss_i_churning churn[] = {{.features = 4}, {0}};
    const graphss_i_rehearsal in = {.now = &s.look.now,
                                    .believed = s.look.believed,
                                    .victim = victim,
                                    .n_victims = 5,
                                    .churned = churned,
                                    .n_churned = 2,
                                    .churn = churn,
                                    .seed = 3};
    graphss_graph graph = {0};
    graphss_features words = {0};
    assert_ok(ctx, graphss_i_rehearse(ctx, &graph, &words, &in));
    for (int32_t i = 0; i < WORLD_NODES; i++) {
        size_t links = 0, other = 0;
        for (int32_t u = 5; u < WORLD_NODES; u++) /* links between others */
            links += i >= 5 && graphss_graph_has_edge(&graph, i, u) !=
                                   graphss_graph_has_edge(&s.a.current, i, u);
        for (size_t j = 0; j < WORLD_WORDS; j++)
            other += has_word(&words, (size_t)i, j) != has_word(&s.a.w.features, (size_t)i, j);
        const bool reworded =
            i < 5 && graphss_i_rehearsal_kind((size_t)i) != GRAPHSS_I_REHEARSED_EDGES;
        assert_int_equal(links, 0);
        if (reworded || i == 10)
            assert_true(other > 0);
        else
            assert_int_equal(other, 0);
        if (i < 5 && graphss_i_rehearsal_kind((size_t)i) == GRAPHSS_I_REHEARSED_EDGES)
            assert_true(graphss_graph_degree(&graph, (size_t)i) >
                        graphss_graph_degree(&s.a.current, (size_t)i));
    }
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &words);
    seen_world_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

/* Stages that see the same snapshot may want the same link. */
static void test_rehearsals_of_many_nodes_fit_together(void **state)
{
    (void)state;
    enum { SIDE = WORLD_NODES / 2 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    seen_world s;
    seen_world_make(ctx, &s);
    int32_t victim[SIDE], churned[SIDE];
    graphss_i_churning churn[SIDE];
    for (int32_t i = 0; i < SIDE; i++) {
        victim[i] = i;
        churned[i] = SIDE + i;
        churn[i] = (graphss_i_churning){.edges = 20, .features = 2};
    }
    for (uint64_t seed = 0; seed < 5; seed++) {
        const graphss_i_rehearsal in = {.now = &s.look.now,
                                        .believed = s.look.believed,
                                        .victim = victim,
                                        .n_victims = SIDE,
                                        .churned = churned,
                                        .n_churned = SIDE,
                                        .churn = churn,
                                        .seed = seed};
        graphss_graph graph = {0};
        graphss_features words = {0};
        assert_ok(ctx, graphss_i_rehearse(ctx, &graph, &words, &in));
        for (int32_t i = 0; i < WORLD_NODES; i++)
            for (int64_t e = graph.offset[i]; e < graph.offset[i + 1]; e++)
                assert_true(graphss_graph_has_edge(&graph, graph.target[e], i));
        graphss_graph_destroy(ctx, &graph);
        graphss_features_destroy(ctx, &words);
    }
    seen_world_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

static graphss_status rehearse_some(graphss_ctx *ctx, void *arg)
{
    const seen_world *s = arg;
    const int32_t victim[] = {0, 1, 2, 3, 4}, churned[] = {10, 11};
    const graphss_i_churning churn[] = {{.edges = 1, .features = 4}, {.edges = 2}};
    const graphss_i_rehearsal in = {.now = &s->look.now,
                                    .believed = s->look.believed,
                                    .victim = victim,
                                    .n_victims = 5,
                                    .churned = churned,
                                    .n_churned = 2,
                                    .churn = churn,
                                    .seed = 3};
    graphss_graph graph = {0};
    graphss_features words = {0};
    const graphss_status st = graphss_i_rehearse(ctx, &graph, &words, &in);
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &words);
    return st;
}

static graphss_status name_victims(graphss_ctx *ctx, void *arg)
{
    const seen_world *s = arg;
    size_t kind;
    return graphss_i_look_name(ctx, &kind, &s->look, s->a.victim, VICTIMS);
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    seen_world s;
    seen_world_make(ctx, &s);
    testing_allocations_fail(rehearse_some, &s, 4000);
    testing_allocations_fail(name_victims, &s, 4000);
    seen_world_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

/* Victims got links alone, and nobody else was attacked. */
static void test_an_attack_on_links_is_called_so(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    seen_world s;
    seen_world_make(ctx, &s);
    size_t kind;
    assert_ok(ctx, graphss_i_look_name(ctx, &kind, &s.look, s.a.victim, VICTIMS));
    assert_string_equal(graphss_i_rehearsed_name(kind), "links");
    seen_world_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

static void test_scores_are_in_order_with_their_p_values(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    for (int history = 0; history < 2; history++) {
        a.in.previous = history ? &a.previous : NULL;
        graphss_alert_scores seen = {0};
        assert_ok(ctx, graphss_alert_look(ctx, &seen, &a.in, NULL));
        assert_int_equal(seen.n_free, a.w.split.n_test);
        for (size_t i = 0; i < WORLD_NODES; i++) {
            const int32_t k = seen.kind[i];
            const size_t n = (size_t)(seen.start[k + 1] - seen.start[k]);
            assert_true(n > 0);
            assert_float_equal(
                seen.p_value[i],
                graphss_alert_rank(seen.score[i], seen.calm_score + seen.start[k], n), 1e-12);
        }
        double victims = 0, all = 0;
        for (size_t i = 0; i < VICTIMS; i++)
            victims += seen.score[a.victim[i]] / VICTIMS;
        for (size_t i = 0; i < seen.n_free; i++)
            all += seen.score[seen.free_node[i]] / (double)seen.n_free;
        assert_true(victims > all + 0.05);
        graphss_alert_scores_destroy(ctx, &seen);
    }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* Taught on the snapshot it judges, a model scores as one that rehearses by itself; the
 * lesson goes where the model goes, and is not learned from a split that cannot teach. */
static void test_a_lesson_is_kept_with_the_model(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_alert_scores untaught = {0}, taught = {0}, loaded = {0}, other = {0};
    graphss_model *copy = NULL;
    char path[] = "/tmp/graphss-test-XXXXXX";
    assert_true(mkdtemp(path) != NULL);
    char file[sizeof path + 8];
    snprintf(file, sizeof file, "%s/model", path);

    assert_ok(ctx, graphss_alert_look(ctx, &untaught, &a.in, NULL));
    assert_ok(ctx, graphss_alert_learn(ctx, a.model, &a.in.current, a.in.seed));
    assert_int_equal(a.model->kept[GRAPHSS_I_KEPT_DETECTOR].rows, GRAPHSS_I_EYES * (1 + GRAPHSS_I_REHEARSED));
    assert_ok(ctx, graphss_alert_look(ctx, &taught, &a.in, NULL));
    assert_memory_equal(untaught.score, taught.score, WORLD_NODES * sizeof *taught.score);

    assert_ok(ctx, graphss_model_save(ctx, a.model, file));
    assert_ok(ctx, graphss_model_load(ctx, &copy, file));
    a.in.model = copy;
    assert_ok(ctx, graphss_alert_look(ctx, &loaded, &a.in, NULL));
    assert_memory_equal(untaught.score, loaded.score, WORLD_NODES * sizeof *loaded.score);

    /* of another snapshot: other scores */
    assert_ok(ctx, graphss_alert_learn(ctx, copy, &a.previous, a.in.seed));
    assert_ok(ctx, graphss_alert_look(ctx, &other, &a.in, NULL));
    assert_memory_not_equal(untaught.score, other.score, WORLD_NODES * sizeof *other.score);
    const graphss_observation empty = {0};
    assert_int_equal(graphss_alert_learn(ctx, copy, &empty, a.in.seed), GRAPHSS_ERR_INVALID);
    assert_true(copy->kept[GRAPHSS_I_KEPT_DETECTOR].rows > 0); /* what it had stays */
    copy->split.n_val = GRAPHSS_I_CALM_LEAST - 1;
    assert_ok(ctx, graphss_alert_learn(ctx, copy, &a.previous, a.in.seed));
    assert_int_equal(copy->kept[GRAPHSS_I_KEPT_DETECTOR].rows, 0);

    remove(file);
    rmdir(path);
    graphss_model_free(ctx, copy);
    graphss_alert_scores_destroy(ctx, &other);
    graphss_alert_scores_destroy(ctx, &loaded);
    graphss_alert_scores_destroy(ctx, &taught);
    graphss_alert_scores_destroy(ctx, &untaught);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* Numbers of another shape, or that no rehearsal gives, are not believed. */
static void test_a_lesson_that_is_none_is_not_recalled(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_i_gates gates = {0};
    const double number[6] = {1, 2, 3, 4, 5, 6};
    assert_false(graphss_i_gates_recall(&gates, a.model));
    assert_ok(ctx, graphss_i_model_keep(ctx, a.model, GRAPHSS_I_KEPT_DETECTOR, number, 2, 3));
    assert_false(graphss_i_gates_recall(&gates, a.model));
    assert_ok(ctx, graphss_alert_learn(ctx, a.model, &a.in.current, 1));
    assert_true(graphss_i_gates_recall(&gates, a.model));
    a.model->kept[GRAPHSS_I_KEPT_DETECTOR].value[GRAPHSS_I_LOGISTIC_COLUMNS] = 0; /* a spread */
    assert_false(graphss_i_gates_recall(&gates, a.model));
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static graphss_status learn_again(graphss_ctx *ctx, void *arg)
{
    attacked_world *a = arg;
    const graphss_status st = graphss_alert_learn(ctx, a->model, &a->previous, 1);
    graphss_i_model_drop(ctx, a->model, GRAPHSS_I_KEPT_DETECTOR);
    graphss_i_model_drop(ctx, a->model, GRAPHSS_I_KEPT_STATES);
    return st;
}

static void test_a_lesson_that_fails_leaves_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    testing_allocations_fail(learn_again, &a, 4000);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static void test_too_few_labelled_nodes_are_an_error(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_split few = a.w.split;
    few.n_val = 3;
    few.n_train = 30;
    a.in.split = &few;
    graphss_alert_scores seen = {0};
    assert_fails(ctx, graphss_alert_look(ctx, &seen, &a.in, NULL), GRAPHSS_ERR_DATA,
                 "3 validation and 30 training nodes");
    few.n_val = a.w.split.n_val;
    few.n_train = 2;
    assert_fails(ctx, graphss_alert_look(ctx, &seen, &a.in, NULL), GRAPHSS_ERR_DATA,
                 "2 training nodes, want 3");
    assert_null(seen.score);
    few.n_train = 3;
    assert_ok(ctx, graphss_alert_look(ctx, &seen, &a.in, NULL));
    graphss_alert_scores_destroy(ctx, &seen);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rehearsal_changes_whom_it_should),
        cmocka_unit_test(test_rehearsals_of_many_nodes_fit_together),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
        cmocka_unit_test(test_an_attack_on_links_is_called_so),
        cmocka_unit_test(test_scores_are_in_order_with_their_p_values),
        cmocka_unit_test(test_a_lesson_is_kept_with_the_model),
        cmocka_unit_test(test_a_lesson_that_is_none_is_not_recalled),
        cmocka_unit_test(test_a_lesson_that_fails_leaves_nothing),
        cmocka_unit_test(test_too_few_labelled_nodes_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
