/* The classifiers of defences: properties of their answers. */
#include "observation/test/testing_attacked_world.h"

/* Runs a method on the attacked and on the clean edges; are the answers the same? */
static bool deaf_to_edges(
    graphss_ctx *ctx, attacked_world *a, const graphss_recover_options *opt)
{
    graphss_recover_result attacked = answer(ctx, a, opt);
    a->in.current.graph = &a->w.graph;
    graphss_recover_result clean = answer(ctx, a, opt);
    a->in.current.graph = &a->current;
    const bool same = same_posteriors(&attacked, &clean);
    graphss_recover_result_destroy(ctx, &attacked);
    graphss_recover_result_destroy(ctx, &clean);
    return same;
}

TEST(a_guard_that_trusts_no_edge_does_not_hear_them)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = quick_preset("gnnguard", &a);
    assert_false(deaf_to_edges(ctx, &a, &opt));
    /* No two rows are alike to the last word. */
    float *value = a.w.features.value;
    for (size_t e = 0; e < graphss_features_stored(&a.w.features); e++)
        value[e] += (float)e * 1e-2f;
    opt.gnnguard.threshold = 1;
    assert_true(deaf_to_edges(ctx, &a, &opt));
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(appnp_without_spreading_is_a_perceptron)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = quick_preset("appnp", &a);
    assert_false(deaf_to_edges(ctx, &a, &opt));
    opt.propagation.steps = 0;
    assert_true(deaf_to_edges(ctx, &a, &opt));
    opt.propagation.steps = 10;
    opt.propagation.alpha = 0;
    assert_true(deaf_to_edges(ctx, &a, &opt));
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(grand_without_spreading_is_a_perceptron)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = quick_preset("grand", &a);
    assert_false(deaf_to_edges(ctx, &a, &opt));
    opt.grand.steps = 0;
    assert_true(deaf_to_edges(ctx, &a, &opt));
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* mean over nodes of sum_c p_c^2: 1 if every answer is certain */
static double certainty(const graphss_recover_result *r)
{
    double sum = 0;
    for (size_t j = 0; j < WORLD_NODES * 2; j++)
        sum += r->predictions.posterior[j] * r->predictions.posterior[j];
    return sum / WORLD_NODES;
}

TEST(grand_agrees_on_sharper_answers)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = quick_preset("grand", &a);
    graphss_split split = a.w.split;
    split.n_val = 0; /* the last epoch counts, not the best */
    a.in.split = &split;
    opt.fit.epochs = 60;
    opt.grand.consistency = 0;
    graphss_recover_result alone = answer(ctx, &a, &opt);
    opt.grand.consistency = 2;
    opt.grand.temperature = 0.2;
    graphss_recover_result agreed = answer(ctx, &a, &opt);
    assert_true(certainty(&agreed) > certainty(&alone) + 0.05);
    graphss_recover_result_destroy(ctx, &alone);
    graphss_recover_result_destroy(ctx, &agreed);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(the_paper_tuned_grand_for_each_dataset)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_dataset data = {
        .n_classes = 2, .name = "pubmed", .features = *a.in.current.features};
    assert_ok(ctx, graphss_model_set_dataset(ctx, a.model, &data));
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("grand"), GRAPHSS_MODE_PAPER, a.model);
    assert_int_equal(opt.grand.steps, 5);
    assert_true(opt.grand.temperature == 0.2 && opt.fit.learning_rate == 0.2);
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("grand"), GRAPHSS_MODE_PAPER, NULL);
    assert_int_equal(opt.grand.steps, 8);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(rgcn_draws_when_asked_and_follows_the_seed)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_options opt = quick_preset("rgcn", &a);
    graphss_recover_result calm = answer(ctx, &a, &opt), again = answer(ctx, &a, &opt);
    assert_true(same_posteriors(&calm, &again));
    opt.rgcn.sample = true;
    graphss_recover_result drawn = answer(ctx, &a, &opt);
    assert_false(same_posteriors(&calm, &drawn));
    a.in.seed = 2;
    graphss_recover_result other = answer(ctx, &a, &opt);
    assert_false(same_posteriors(&other, &drawn));
    graphss_recover_result_destroy(ctx, &calm);
    graphss_recover_result_destroy(ctx, &again);
    graphss_recover_result_destroy(ctx, &drawn);
    graphss_recover_result_destroy(ctx, &other);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(all_learn_the_clean_world)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    a.in.current.graph = &a.w.graph;
    const char *const name[] = {
        "rgcn", "gnnguard", "appnp", "prognn", "jaccard", "svd", "grand"};
    const double want[] = {0.85, 0.65, 0.85, 0.85, 0.75, 0.75, 0.85}; /* words: 0.75 */
    for (int i = 0; i < 7; i++)
        for (int train = GRAPHSS_RECOVER_EVASION; train <= GRAPHSS_RECOVER_RETRAIN; train++) {
            const double share = accuracy_of(ctx, &a, name[i], train);
            if (share < want[i])
                fail_msg("%s, way %d: %g", name[i], train, share);
        }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(a_cancelled_run_leaves_no_result)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const char *const name[] = {
        "rgcn", "gnnguard", "appnp", "prognn", "jaccard", "svd", "grand", "retrain"};
    for (int i = 0; i < 8; i++)
        assert_can_be_cancelled(&a, name[i]);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* NRGNN: properties of its answers. */
TEST(it_has_two_heads_and_learns_from_sure_answers)
{
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
        1; /* no answer is that confident: only the labels are learned from, */
    graphss_recover_result alone = answer(ctx, &a, &opt);
    assert_false(same_posteriors(&both, &alone));
    opt.nrgnn.pseudo_weight = 7;
    /* whatever the weight of pseudo labels */
    graphss_recover_result again = answer(ctx, &a, &opt);
    assert_true(same_posteriors(&alone, &again));
    graphss_recover_result_destroy(ctx, &both);
    graphss_recover_result_destroy(ctx, &miner);
    graphss_recover_result_destroy(ctx, &alone);
    graphss_recover_result_destroy(ctx, &again);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(it_can_meet_every_labelled_node)
{
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

TEST(it_learns_the_clean_world_in_both_ways_and_modes)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    a.in.current.graph = &a.w.graph;
    for (int mode = GRAPHSS_MODE_DEFAULT; mode <= GRAPHSS_MODE_PAPER; mode++)
        for (int train = GRAPHSS_RECOVER_EVASION; train <= GRAPHSS_RECOVER_RETRAIN; train++) {
            graphss_recover_options opt;
            graphss_recover_options_init(
                &opt, graphss_lab_method_find("nrgnn"), (graphss_mode)mode, a.model);
            opt.train = train;
            opt.fit.epochs = mode == GRAPHSS_MODE_PAPER ? 200 : 60;
            graphss_recover_result r = answer(ctx, &a, &opt);
            const double share = graphss_labels_accuracy(
                r.predictions.label, a.w.label, a.w.split.test, a.w.split.n_test);
            if (share < 0.8) /* words alone give 0.75 */
                fail_msg("mode %d, way %d: %g", mode, train, share);
            graphss_recover_result_destroy(ctx, &r);
        }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* Nodes that share no word have no candidates, which leaves two GCNs on the edges. */
TEST(without_candidates_it_still_answers)
{
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

TEST(a_cancelled_nrgnn_leaves_no_result)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    assert_can_be_cancelled(&a, "nrgnn");
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
