/* NRGNN: what must hold of its answers. */
#include "observation/test/testing_attacked_world.h"

static void test_it_has_two_heads_and_learns_from_sure_answers(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = quick_preset("nrgnn", &a);
    opt.nrgnn.confidence = 0.55;
    opt.fit.learning_rate = 0.02;
    graphss_recover_result both = answer(ctx, &a, &opt);
    opt.nrgnn.head = GRAPHSS_HEAD_MINER;
    graphss_recover_result miner = answer(ctx, &a, &opt);
    assert_false(same_posteriors(&both, &miner));
    opt.nrgnn.head = GRAPHSS_HEAD_CLASSIFIER;
    opt.nrgnn.confidence =
        1; /* no answer is that sure: nothing but the labels is learned from, */
    graphss_recover_result alone = answer(ctx, &a, &opt);
    assert_false(same_posteriors(&both, &alone));
    opt.nrgnn.pseudo_weight = 7;
    graphss_recover_result again = answer(ctx, &a, &opt); /* whatever more would weigh */
    assert_true(same_posteriors(&alone, &again));
    graphss_recover_result_destroy(ctx, &both);
    graphss_recover_result_destroy(ctx, &miner);
    graphss_recover_result_destroy(ctx, &alone);
    graphss_recover_result_destroy(ctx, &again);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static void test_it_can_meet_every_labelled_node(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = quick_preset("nrgnn", &a);
    opt.nrgnn.threshold = 0;
    opt.nrgnn.confidence = 1;
    opt.nrgnn.neighbours = 1;
    graphss_recover_result one = answer(ctx, &a, &opt);
    opt.nrgnn.neighbours = 0;
    graphss_recover_result all = answer(ctx, &a, &opt);
    assert_false(same_posteriors(&one, &all));
    graphss_recover_result_destroy(ctx, &one);
    graphss_recover_result_destroy(ctx, &all);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static void test_it_learns_the_clean_world_in_both_ways_and_modes(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    a.in.current.graph = &a.w.graph;
    for (int mode = GRAPHSS_MODE_DEFAULT; mode <= GRAPHSS_MODE_PAPER; mode++)
        for (int train = GRAPHSS_RECOVER_EVASION; train <= GRAPHSS_RECOVER_RETRAIN; train++) {
            graphss_recover_options opt;
            graphss_recover_options_init(&opt, graphss_lab_method_find("nrgnn"),
                                         (graphss_mode)mode, a.model);
            opt.train = train;
            opt.fit.epochs = mode == GRAPHSS_MODE_PAPER ? 200 : 60;
            graphss_recover_result r = answer(ctx, &a, &opt);
            const double share = graphss_labels_accuracy(r.predictions.label, a.w.label,
                                                         a.w.split.test, a.w.split.n_test);
            if (share < 0.8) /* words alone give 0.75 */
                fail_msg("mode %d, way %d: %g", mode, train, share);
            graphss_recover_result_destroy(ctx, &r);
        }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* Nodes that share no word have no candidates: what is left are two GCNs on the edges. */
static void test_without_candidates_it_still_answers(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const graphss_features kept = a.w.features;
    int64_t offset[WORLD_NODES + 1] = {0};
    int32_t column[] = {0};
    float value[] = {1};
    for (int i = 1; i <= WORLD_NODES; i++)
        offset[i] = 1; /* one word in all */
    a.w.features = kept;
    a.w.features.offset = offset;
    a.w.features.column = column;
    a.w.features.value = value;
    graphss_recover_options opt = quick_preset("nrgnn", &a);
    graphss_recover_result r = answer(ctx, &a, &opt);
    assert_non_null(r.predictions.label);
    graphss_recover_result_destroy(ctx, &r);
    a.w.features = kept;
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static void test_a_cancelled_run_leaves_no_result(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    assert_can_be_cancelled(&a, "nrgnn");
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_has_two_heads_and_learns_from_sure_answers),
        cmocka_unit_test(test_it_can_meet_every_labelled_node),
        cmocka_unit_test(test_it_learns_the_clean_world_in_both_ways_and_modes),
        cmocka_unit_test(test_without_candidates_it_still_answers),
        cmocka_unit_test(test_a_cancelled_run_leaves_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
