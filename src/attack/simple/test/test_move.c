/* Dense features that move, are copied, drawn or churned. */
#include "attack/simple/move.h"
#include "attack/test/testing_fixture.h"
#include <graphss/benign.h>

enum { D = 6 };

/* The fixture with measurements in place of words. */
static void measured(graphss_ctx *ctx, fixture *s)
{
    fixture_make(ctx, s, NULL);
    const size_t n = s->data.graph.n_nodes;
    graphss_rng rng = graphss_rng_make(4, 1);
    float *value = graphss_i_alloc(ctx, n, D * sizeof *value);
    assert_non_null(value);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < D; j++)
            value[i * D + j] = (float)(s->data.label[i] + 1 + graphss_rng_double(&rng));
    graphss_features_destroy(ctx, &s->data.features);
    s->data.features = (graphss_features){
        .n_rows = n, .n_cols = D, .value = value, .kind = GRAPHSS_FEATURES_REAL};
}

static const float *row(const fixture *s, int32_t node)
{
    return s->data.features.value + (size_t)node * D;
}

/* Is the change one towards `like`, by that share of the way? */
static bool leads_to(const fixture *s, const graphss_flip *f, int32_t like, double share)
{
    const double own = (double)row(s, f->node)[f->target];
    return fabs((double)f->new_value - own - share * ((double)row(s, like)[f->target] - own)) <
           1e-5;
}

/* The node that all D changes from there on lead to, or -1. */
static int32_t model_of(const fixture *s, const graphss_flip *f, double share)
{
    for (int32_t u = 0; u < (int32_t)s->data.graph.n_nodes; u++) {
        size_t right = 0;
        while (right < D && leads_to(s, f + right, u, share))
            right++;
        if (right == D)
            return u;
    }
    return -1;
}

static void test_features_move_towards_a_node_of_the_class_that_edges_lead_to(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    measured(ctx, &s);
    graphss_flips flips = {0};
    graphss_rng rng = graphss_rng_make(2, 1);
    double share[SCENE_VICTIMS];
    const int32_t victim = s.victim[0];
    int32_t wanted = -1;
    for (size_t v = 0; v < SCENE_VICTIMS; v++)
        share[v] = v == 1 ? 0 : 0.25;
    for (int32_t u = 0; wanted < 0; u++)
        if (s.data.label[u] != s.data.label[victim])
            wanted = u;
    assert_ok(ctx, graphss_flips_add(ctx, &flips,
                                     (graphss_flip){.victim = victim,
                                                    .kind = GRAPHSS_FLIP_EDGE,
                                                    .node = victim,
                                                    .target = wanted,
                                                    .new_value = 1}));
    assert_ok(ctx, graphss_i_move(ctx, &flips, &s.in, share, &rng));
    assert_int_equal(flips.count, 1 + (SCENE_VICTIMS - 1) * D);
    for (size_t v = 0, at = 1; v < SCENE_VICTIMS; v++) {
        if (v == 1)
            continue;
        const int32_t like = model_of(&s, flips.item + at, 0.25);
        assert_true(like >= 0);
        assert_int_equal(flips.item[at].node, s.victim[v]);
        assert_int_not_equal(s.data.label[like], s.data.label[s.victim[v]]);
        if (v == 0)
            assert_int_equal(s.data.label[like], s.data.label[wanted]);
        at += D;
    }
    graphss_flips_destroy(ctx, &flips);
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

/* All that is copied is the model's, all that is drawn or churned is somebody's; nothing
 * becomes 0. Values of one node each. */
static void test_attacks_on_dense_features_take_values_of_others(void **state)
{
    (void)state;
    static const char *const method[] = {"copy", "random", "benign"};
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    measured(ctx, &s);
    for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
        graphss_attack_options opt;
        graphss_attack_options_init(&opt);
        graphss_flips flips = {0};
        opt.method = method[m];
        opt.edges = 0;
        opt.features = m == 0 ? D : 3;
        assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt));
        assert_int_equal(flips.count, SCENE_VICTIMS * (size_t)opt.features);
        for (size_t i = 0; i < flips.count; i++) {
            const graphss_flip *f = &flips.item[i];
            bool found = false;
            for (int32_t u = 0; u < (int32_t)s.data.graph.n_nodes && !found; u++)
                found = row(&s, u)[f->target] == f->new_value &&
                        (m != 2 || s.data.label[u] == s.data.label[f->node]);
            assert_true(found && f->new_value != f->old_value);
            if (m == 0 && i % D == 0) {
                const int32_t like = model_of(&s, f, 1);
                assert_true(like >= 0 && s.data.label[like] != s.data.label[f->node]);
            }
        }
        graphss_flips_destroy(ctx, &flips);
    }
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

static graphss_status move_all(graphss_ctx *ctx, void *arg)
{
    const fixture *s = arg;
    graphss_flips flips = {0};
    graphss_rng rng = graphss_rng_make(2, 1);
    double share[SCENE_VICTIMS];
    for (size_t v = 0; v < SCENE_VICTIMS; v++)
        share[v] = 1;
    const graphss_status st = graphss_i_move(ctx, &flips, &s->in, share, &rng);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

static graphss_status copy_all(graphss_ctx *ctx, void *arg)
{
    const fixture *s = arg;
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    graphss_flips flips = {0};
    opt.method = "copy";
    const graphss_status st = graphss_attack_run(ctx, &flips, NULL, &s->in, &opt);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    measured(ctx, &s);
    testing_allocations_fail(move_all, &s, 4);
    testing_allocations_fail(copy_all, &s, 20);
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_move_towards_a_node_of_the_class_that_edges_lead_to),
        cmocka_unit_test(test_attacks_on_dense_features_take_values_of_others),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
