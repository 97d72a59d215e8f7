/* The answers to an adaptive attacker are those of the public calls. */
#include "observation/test/testing_attacked_world.h"
#include "testing.h"

typedef struct scene {
    attacked_world a;
    graphss_target target;
    graphss_attack_input in;
} scene;

static void scene_make(graphss_ctx *ctx, scene *s, const char *against)
{
    attacked_world_make(ctx, &s->a);
    graphss_target_init(&s->target);
    assert_string_equal(s->target.against, "recover");
    s->target.against = against;
    s->target.in = s->a.in;
    s->in = (graphss_attack_input){.struct_size = sizeof s->in,
        .graph = &s->a.w.graph,
        .features = &s->a.w.features,
        .label = s->a.w.label,
        .n_classes = 2,
        .model = s->a.model,
        .victim = s->a.victim,
        .n_victims = VICTIMS,
        .seed = 1,
        .ask = graphss_target_ask,
        .asked = &s->target};
}

static graphss_status ask(graphss_ctx *ctx, double *loss, scene *s)
{
    return graphss_target_ask(&s->target, ctx, loss, &s->in, &s->a.current, &s->a.w.features);
}

TEST_CTX(a_method_answers_its_posterior)
{
    static const char *const name[][2] = {
        {"recover", "graphss"}, {"label-propagation", "label-propagation"}, {"none", "none"}};
    for (size_t m = 0; m < 3; m++) {
        scene s;
        double loss[VICTIMS];
        int32_t label[WORLD_NODES];
        graphss_recover_result r = {0};
        graphss_recover_options opt;
        scene_make(ctx, &s, name[m][0]);
        assert_ok(ctx, ask(ctx, loss, &s));
        assert_ok(
            ctx, graphss_target_label(ctx, label, &s.target, &s.a.current, &s.a.w.features));
        graphss_recover_options_init(
            &opt, graphss_lab_method_find(name[m][1]), GRAPHSS_MODE_DEFAULT, s.a.model);
        assert_ok(ctx, graphss_recover_run(ctx, &r, &s.a.in, &opt));
        for (size_t i = 0; i < VICTIMS; i++) {
            const size_t v = (size_t)s.a.victim[i];
            const double *p = r.predictions.posterior + 2 * v;
            const int own = s.a.w.label[v];
            assert_true(
                fabs(loss[i] - log(fmax(p[own], 1e-12) / fmax(p[!own], 1e-12))) < 1e-9);
            assert_int_equal(loss[i] < 0, p[own] < p[!own]);
        }
        assert_memory_equal(label, r.predictions.label, sizeof label);
        graphss_recover_result_destroy(ctx, &r);
        attacked_world_destroy(ctx, &s.a);
    }
}

TEST_CTX(an_alert_must_be_avoided_too)
{
    scene s;
    double misled[VICTIMS], loss[VICTIMS];
    int32_t label[WORLD_NODES];
    size_t noticed = 0;
    graphss_alert_result found = {0};
    scene_make(ctx, &s, "none");
    assert_ok(ctx, ask(ctx, misled, &s));
    s.target.against = "alert";
    assert_ok(ctx, ask(ctx, loss, &s));
    assert_ok(ctx, graphss_target_label(ctx, label, &s.target, &s.a.current, &s.a.w.features));
    assert_ok(ctx, graphss_alert_run(ctx, &found, &s.a.in, NULL, 0, NULL));
    assert_true(found.alert);
    for (size_t i = 0; i < VICTIMS; i++) {
        const double p = found.perturbed[s.a.victim[i]];
        assert_int_equal(loss[i] < 0, misled[i] < 0 && p < 0.5);
        assert_int_equal(label[s.a.victim[i]] < 0, p >= 0.5);
        noticed += p >= 0.5;
    }
    assert_true(noticed > 0);
    graphss_alert_result_destroy(ctx, &found);
    attacked_world_destroy(ctx, &s.a);
}

TEST_CTX(names_are_those_of_the_methods)
{
    scene s;
    double loss[VICTIMS];
    size_t n = 0;
    while (graphss_lab_method_at(n))
        assert_string_equal(
            graphss_target_name(n + 2), graphss_recover_method_name(graphss_lab_method_at(n))),
            n++;
    assert_string_equal(graphss_target_name(1), "alert");
    assert_null(graphss_target_name(n + 2));
    scene_make(ctx, &s, "magic");
    assert_fails(ctx, ask(ctx, loss, &s), GRAPHSS_ERR_INVALID,
        "--against: found 'magic', want one of recover, alert, ");
    s.target.against = NULL;
    assert_fails(ctx, ask(ctx, loss, &s), GRAPHSS_ERR_INVALID, "name");
    s.target.struct_size = 0;
    assert_fails(ctx, ask(ctx, loss, &s), GRAPHSS_ERR_INVALID, "graphss_target_init");
    attacked_world_destroy(ctx, &s.a);
}

static graphss_status ask_once(graphss_ctx *ctx, void *arg)
{
    double loss[VICTIMS];
    return ask(ctx, loss, arg);
}

TEST_CTX(each_allocation_may_fail)
{
    static const char *const name[] = {"none", "alert"};
    for (size_t m = 0; m < 2; m++) {
        scene s;
        scene_make(ctx, &s, name[m]);
        testing_allocations_fail(ask_once, &s, 60);
        attacked_world_destroy(ctx, &s.a);
    }
}

int main(void)
{
    return testing_run();
}
