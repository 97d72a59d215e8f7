/* Nodes that recover is told to rely on. */
#include "detect/tuning.h"
#include "observation/test/testing_attacked_world.h"
#include <graphss/alert.h>
#include <math.h>

/* Rehearsed once, so that a recovery is quick. */
static void set_up(graphss_ctx *ctx, attacked_world *a)
{
    attacked_world_make(ctx, a);
    assert_ok(ctx, graphss_alert_train(ctx, a->model, &a->previous, 1));
}

static graphss_recover_options trusting(const attacked_world *a, const int32_t *node, size_t n)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_recover_method_find("graphss"), GRAPHSS_MODE_DEFAULT, a->model);
    opt.trusted = node;
    opt.n_trusted = n;
    return opt;
}

TEST(trusted_nodes_are_untouched_and_read_as_such)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    set_up(ctx, &a);
    /* Half of the victims, a node that nobody touched, and one with a label. */
    enum { SURE = VICTIMS / 2, TRUSTED = SURE + 2 };
    int32_t node[TRUSTED];
    memcpy(node, a.victim, SURE * sizeof *node);
    node[SURE] = a.w.split.test[VICTIMS];
    node[SURE + 1] = a.w.split.val[0];
    const graphss_recover_options opt = trusting(&a, node, TRUSTED);
    const graphss_recover_options none = quick_preset("none", &a);
    for (int past = 0; past < 2; past++) {
        a.in.previous = past ? &a.previous : NULL;
        graphss_recover_result with = answer(ctx, &a, &opt), without = answer(ctx, &a, NULL),
                               own = answer(ctx, &a, &none);
        double suspected = 0, others = 0;
        for (size_t i = 0; i < TRUSTED; i++) {
            const size_t v = (size_t)node[i];
            assert_float_equal(with.predictions.perturbed[v], 0, 0);
            assert_int_equal(with.predictions.label[v], with.model_label[v]);
            suspected += without.predictions.perturbed[v];
        }
        for (size_t i = 0; i < 2 * SURE; i++) { /* the classifier, with its doubt */
            const size_t at = (size_t)node[i / 2] * 2 + i % 2;
            const double want =
                (own.predictions.posterior[at] + TUNE_DOUBT / 2) / (1 + TUNE_DOUBT);
            assert_float_equal(with.predictions.posterior[at], want, 1e-5);
        }
        for (size_t i = SURE; i < VICTIMS; i++)
            others += with.predictions.perturbed[a.victim[i]];
        assert_true(suspected > SURE / 2);
        assert_true(others > (VICTIMS - SURE) / 2);
        assert_true(with.share < without.share);
        assert_true(with.changed < without.changed);
        graphss_recover_result_destroy(ctx, &with);
        graphss_recover_result_destroy(ctx, &without);
        graphss_recover_result_destroy(ctx, &own);
    }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(nobody_is_hit_where_all_are_trusted)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    set_up(ctx, &a);
    int32_t node[WORLD_NODES];
    for (int32_t v = 0; v < WORLD_NODES; v++)
        node[v] = v;
    const graphss_recover_options opt = trusting(&a, node, WORLD_NODES);
    for (int past = 0; past < 2; past++) {
        a.in.previous = past ? &a.previous : NULL;
        graphss_recover_result r = answer(ctx, &a, &opt);
        assert_int_equal(r.changed, 0);
        assert_int_equal(r.kind, GRAPHSS_PERTURBATION_NONE);
        assert_float_equal(r.share, 0, 0);
        for (size_t v = 0; v < WORLD_NODES; v++)
            assert_float_equal(r.predictions.perturbed[v], 0, 0);
        graphss_recover_result_destroy(ctx, &r);
    }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(trust_without_meaning_is_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    set_up(ctx, &a);
    graphss_recover_result r = {0};
    const int32_t far[] = {0, WORLD_NODES}, below[] = {-1};
    graphss_recover_options opt = trusting(&a, far, 2);
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "a trusted node is");
    opt = trusting(&a, below, 1);
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "a trusted node is -1");
    opt = trusting(&a, NULL, 1);
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "no trusted nodes given: NULL, want 1");
    opt = quick_preset("keep-last", &a);
    opt.trusted = a.victim;
    opt.n_trusted = VICTIMS;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "trusted nodes have no meaning for keep-last");
    graphss_recover_options_init(
        &opt, graphss_recover_method_find("graphss"), GRAPHSS_MODE_PAPER, a.model);
    opt.trusted = a.victim;
    opt.n_trusted = VICTIMS;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "trusted nodes have no meaning for graphss in paper mode");
    assert_null(r.predictions.label);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static graphss_status recover_once(graphss_ctx *ctx, void *arg)
{
    const attacked_world *a = arg;
    const graphss_recover_options opt = trusting(a, a->victim, VICTIMS);
    graphss_recover_result r = {0};
    const graphss_status st = graphss_recover_run(ctx, &r, &a->in, &opt);
    graphss_recover_result_destroy(ctx, &r);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    set_up(ctx, &a);
    testing_each_allocation_fails(recover_once, &a);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
