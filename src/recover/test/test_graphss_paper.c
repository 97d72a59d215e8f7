#include "detect/tuning.h"
#include "observation/test/testing_attacked_world.h"
#include "recover/defence.h"
#include <graphss/alert.h>
#include <math.h>

static graphss_recover_options preset(const attacked_world *a)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("graphss"), GRAPHSS_MODE_PAPER, a->model);
    opt.paper.retrain_epochs = 5;
    return opt;
}

static void recover(graphss_ctx *ctx, graphss_recover_result *r, const attacked_world *a,
    const graphss_recover_options *opt)
{
    assert_ok(ctx, graphss_recover_run(ctx, r, &a->in, opt));
}

static void own_labels(graphss_ctx *ctx, int32_t *label, float *prob, const attacked_world *a,
    const graphss_graph *graph)
{
    assert_ok(ctx, graphss_model_predict(ctx, prob, a->model, graph, &a->w.features));
    graphss_labels_argmax(label, prob, WORLD_NODES, 2);
}

TEST(the_defaults_are_the_papers)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("graphss"), GRAPHSS_MODE_PAPER, NULL);
    assert_true(
        opt.paper.sweeps == 100 && opt.paper.warmup == 40 && opt.paper.retrain_epochs == 60);
    assert_true(opt.paper.prior == 1 && opt.paper.dynamic_phi);
}

/* Algorithm 1 by hand: z by phi' in the warm-up, then by the counts as of every tenth step.
 * Y_a are the world's model's answers, P those of the model it starts with. */
static void check_algorithm_1(graphss_ctx *ctx, const attacked_world *a,
    const graphss_model *start, const graphss_recover_result *r)
{
    float prob[WORLD_NODES * 2];
    int32_t seen[WORLD_NODES], z[WORLD_NODES];
    own_labels(ctx, seen, prob, a, &a->w.graph);
    assert_ok(ctx, graphss_model_predict(ctx, prob, start, &a->current, &a->w.features));
    graphss_labels_argmax(z, prob, WORLD_NODES, 2);
    double warm[2][2] = {{0}}, phi[2][2] = {{0}};
    const graphss_split *split = graphss_model_split(a->model);
    for (size_t i = 0; i < split->n_train; i++)
        for (size_t k = 0; k < 2; k++)
            warm[k][split->train_label[i]] += (double)prob[split->train[i] * 2 + (int)k];
    for (size_t k = 0; k < 2; k++) {
        const double sum = warm[k][0] + warm[k][1];
        warm[k][0] /= sum, warm[k][1] /= sum;
    }
    for (int step = 0; step < 35; step++) {
        if (step % 10 == 0) {
            double c[2][2] = {{0.5, 0.5}, {0.5, 0.5}};
            for (size_t i = 0; i < WORLD_NODES; i++)
                c[z[i]][seen[i]]++;
            for (size_t k = 0; k < 2; k++)
                for (size_t y = 0; y < 2; y++)
                    phi[k][y] = c[k][y] / (c[k][0] + c[k][1]);
        }
        for (size_t i = 0; i < WORLD_NODES; i++) {
            const double w0 = (double)prob[2 * i] * (step < 12 ? warm : phi)[0][seen[i]];
            const double w1 = (double)prob[2 * i + 1] * (step < 12 ? warm : phi)[1][seen[i]];
            z[i] = w1 > w0;
            if (step == 34)
                assert_true(fabs(w1 / (w0 + w1) - r->predictions.posterior[2 * i + 1]) < 1e-9);
        }
    }
    assert_memory_equal(z, r->predictions.label, sizeof z);
}

static graphss_recover_options without_retraining(const attacked_world *a)
{
    graphss_recover_options opt = preset(a);
    opt.paper.retrain_epochs = 0;
    opt.paper.sweeps = 35;
    opt.paper.warmup = 12;
    opt.paper.prior = 0.5;
    return opt;
}

TEST(without_retraining_it_is_algorithm_1)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    const graphss_recover_options opt = without_retraining(&a);
    graphss_recover_result r = {0};
    recover(ctx, &r, &a, &opt);
    check_algorithm_1(ctx, &a, a.model, &r);
    assert_true(r.changed > 0);
    assert_string_equal(r.method, "graphss");
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* The published code overwrites the first model with the retrained one: the next set of
 * victims starts from that one, but Y_a does not change. */
TEST(what_one_set_leaves_the_next_begins_with)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_result first = {0}, alone = {0}, next = {0};
    graphss_i_carry carry = {0}, later = {0};
    graphss_recover_options opt = preset(&a);
    assert_ok(ctx, graphss_i_recover_carried(ctx, &first, &a.in, &opt, &carry));
    recover(ctx, &alone, &a, &opt);
    const size_t bytes = WORLD_NODES * 2 * sizeof(double);
    assert_memory_equal(first.predictions.posterior, alone.predictions.posterior, bytes);
    assert_non_null(carry.left);

    opt = without_retraining(&a);
    later.start = carry.left;
    assert_ok(ctx, graphss_i_recover_carried(ctx, &next, &a.in, &opt, &later));
    check_algorithm_1(ctx, &a, carry.left, &next);
    assert_null(later.left); /* nothing was trained */
    float given[WORLD_NODES * 2], left[WORLD_NODES * 2];
    int32_t label[WORLD_NODES];
    own_labels(ctx, label, given, &a, &a.current);
    assert_ok(ctx, graphss_model_predict(ctx, left, carry.left, &a.current, &a.w.features));
    assert_memory_not_equal(given, left, sizeof given);
    graphss_model_free(ctx, carry.left);
    graphss_recover_result_destroy(ctx, &next);
    graphss_recover_result_destroy(ctx, &alone);
    graphss_recover_result_destroy(ctx, &first);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(with_fixed_phi_labels_stay_the_models)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    for (int epochs = 0; epochs < 6; epochs += 5) {
        graphss_recover_options opt = preset(&a);
        opt.paper.dynamic_phi = false;
        opt.paper.retrain_epochs = epochs;
        graphss_recover_result r = {0};
        recover(ctx, &r, &a, &opt);
        assert_int_equal(r.changed, 0);
        graphss_recover_result_destroy(ctx, &r);
    }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(retraining_starts_from_the_model_and_leaves_it_alone)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    float before[WORLD_NODES * 2], after[WORLD_NODES * 2];
    int32_t label[WORLD_NODES];
    own_labels(ctx, label, before, &a, &a.current);
    graphss_recover_result none = {0}, some = {0}, again = {0};
    graphss_recover_options opt = preset(&a);
    recover(ctx, &some, &a, &opt);
    recover(ctx, &again, &a, &opt);
    opt.paper.retrain_epochs = 0;
    recover(ctx, &none, &a, &opt);
    own_labels(ctx, label, after, &a, &a.current);
    assert_memory_equal(before, after, sizeof before);
    const size_t bytes = WORLD_NODES * 2 * sizeof(double);
    assert_memory_equal(some.predictions.posterior, again.predictions.posterior, bytes);
    assert_memory_not_equal(some.predictions.posterior, none.predictions.posterior, bytes);
    const double with =
        graphss_labels_accuracy(some.predictions.label, a.w.label, a.victim, VICTIMS);
    const double own = graphss_labels_accuracy(label, a.w.label, a.victim, VICTIMS);
    assert_true(with > own);
    graphss_recover_result_destroy(ctx, &again);
    graphss_recover_result_destroy(ctx, &some);
    graphss_recover_result_destroy(ctx, &none);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(it_needs_a_past_and_sensible_steps)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_result r = {0};
    graphss_recover_options opt = preset(&a);
    a.in.previous = NULL;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "graphss needs the previous snapshot");
    a.in.previous = &a.previous;
    opt.paper.warmup = opt.paper.sweeps;
    assert_fails(ctx, graphss_recover_run(ctx, &r, &a.in, &opt), GRAPHSS_ERR_INVALID,
        "sweeps of warm-up");
    assert_null(r.predictions.label);

    /* A node the past did not know counts as it is. */
    opt = preset(&a);
    opt.paper.retrain_epochs = 0;
    graphss_names known = {0};
    char text[WORLD_NODES * 8];
    size_t start[WORLD_NODES + 1], used = 0;
    for (int i = 0; i < WORLD_NODES; i++) {
        start[i] = used;
        used += (size_t)snprintf(
                    text + used, sizeof text - used, "%s%d", i == a.victim[0] ? "x" : "", i) +
                1;
    }
    start[WORLD_NODES] = used;
    known = (graphss_names){.count = WORLD_NODES, .start = start, .text = text};
    a.previous.names = &known;
    char now_text[WORLD_NODES * 8];
    size_t now_start[WORLD_NODES + 1] = {0};
    for (int i = 0; i < WORLD_NODES; i++) {
        const size_t at = now_start[i];
        now_start[i + 1] =
            at + (size_t)snprintf(now_text + at, sizeof now_text - at, "%d", i) + 1;
    }
    const graphss_names now = {.count = WORLD_NODES, .start = now_start, .text = now_text};
    a.in.current.names = &now;
    recover(ctx, &r, &a, &opt);
    assert_int_equal(r.new_nodes, 1);
    float prob[WORLD_NODES * 2];
    int32_t label[WORLD_NODES];
    own_labels(ctx, label, prob, &a, &a.current);
    const size_t v = (size_t)a.victim[0] * 2;
    assert_true(fabs(r.predictions.posterior[v] - (double)prob[v]) < 1e-5);
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(options_belong_to_a_mode)
{
    assert_true(graphss_recover_method_uses(
        graphss_lab_method_find("graphss"), GRAPHSS_MODE_PAPER, "warmup"));
    assert_false(graphss_recover_method_uses(
        graphss_lab_method_find("graphss"), GRAPHSS_MODE_DEFAULT, "warmup"));
    assert_false(graphss_recover_method_uses(
        graphss_lab_method_find("keep-last"), GRAPHSS_MODE_PAPER, "warmup"));
    assert_true(graphss_recover_method_uses(
        graphss_lab_method_find("graphss"), GRAPHSS_MODE_PAPER, "abstain"));
}

static graphss_status recover_once(graphss_ctx *ctx, void *arg)
{
    const attacked_world *a = arg;
    graphss_recover_options opt = preset(a);
    opt.paper.sweeps = 2;
    opt.paper.warmup = 1;
    opt.paper.retrain_epochs = 1;
    graphss_recover_result r = {0};
    graphss_i_carry carry = {.start = a->model};
    const graphss_status st = graphss_i_recover_carried(ctx, &r, &a->in, &opt, &carry);
    graphss_model_free(ctx, carry.left);
    graphss_recover_result_destroy(ctx, &r);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    testing_each_allocation_fails(recover_once, &a);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* ---- graphss trusted ---- */

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
    /* Half of the victims, a node that was not attacked, and one with a label. */
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

static graphss_status recover_trusted(graphss_ctx *ctx, void *arg)
{
    const attacked_world *a = arg;
    const graphss_recover_options opt = trusting(a, a->victim, VICTIMS);
    graphss_recover_result r = {0};
    const graphss_status st = graphss_recover_run(ctx, &r, &a->in, &opt);
    graphss_recover_result_destroy(ctx, &r);
    return st;
}

TEST(failing_allocations_with_trusted_nodes_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    set_up(ctx, &a);
    testing_each_allocation_fails(recover_trusted, &a);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
