/* The gradient attack: its projection, its strength, its limits. */
#include "attack/prbcd/local_net.h"
#include "attack/test/testing_attack.h"

static graphss_attack_options options(void)
{
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.method = "prbcd";
    opt.kind = GRAPHSS_ATTACK_EDGES;
    opt.budget = 2;
    return opt;
}

static double distance(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* No feasible point of a grid is nearer. */
TEST(the_projection_is_the_nearest_point)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    for (int round = 0; round < 50; round++) {
        double p[3], q[3], g[3];
        const double budget = 0.5 + graphss_rng_double(&rng);
        for (int i = 0; i < 3; i++)
            q[i] = p[i] = 3 * graphss_rng_double(&rng) - 1;
        graphss_i_project_budget(q, 3, budget);
        double sum = 0;
        for (int i = 0; i < 3; i++) {
            assert_true(q[i] >= 0 && q[i] <= 1);
            sum += q[i];
        }
        assert_true(sum <= budget + 1e-9);
        for (int a = 0; a <= 20; a++)
            for (int b = 0; b <= 20; b++)
                for (int c = 0; c <= 20; c++) {
                    g[0] = a / 20.0, g[1] = b / 20.0, g[2] = c / 20.0;
                    if (g[0] + g[1] + g[2] <= budget)
                        assert_true(distance(g, p, 3) >= distance(q, p, 3) - 1e-9);
                }
    }
}

static void check_strength(const char *model)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    graphss_flips none = {0}, drawn = {0}, chosen = {0};
    graphss_attack_log log = {0};
    fixture_make(ctx, &s, model);
    graphss_attack_options opt = options();
    opt.independent = true;
    assert_ok(ctx, graphss_attack_run(ctx, &chosen, &log, &s.in, &opt));
    opt.method = "dice";
    assert_ok(ctx, graphss_attack_run(ctx, &drawn, NULL, &s.in, &opt));
    const double before = fixture_margin(ctx, &s, &none, true);
    const double dice = fixture_margin(ctx, &s, &drawn, true);
    const double prbcd = fixture_margin(ctx, &s, &chosen, true);
    double said_before = 0, said_after = 0;
    for (size_t i = 0; i < log.n_victims; i++) {
        assert_true(log.victim[i].n_edges <= 2);
        assert_true(log.victim[i].loss_after <= log.victim[i].loss_before);
        said_before += log.victim[i].loss_before / SCENE_VICTIMS;
        said_after += log.victim[i].loss_after / SCENE_VICTIMS;
    }
    /* what it believes to have done is what the model then says */
    assert_true(fabs(said_before - before) < 1e-3);
    assert_true(fabs(said_after - prbcd) < 1e-3);
    if (!(prbcd < dice && dice < before))
        fail_msg("%s: margins %g before, %g dice, %g prbcd", model, before, dice, prbcd);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &drawn);
    graphss_flips_destroy(ctx, &chosen);
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

TEST(it_is_stronger_than_dice)
{
    check_strength("gcn");
    check_strength("sgc");
    check_strength("sage");
}

/* All single flips tried one by one: on one flip the descent finds one of the best. */
TEST(one_flip_is_among_the_best)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    fixture_make(ctx, &s, "gcn");
    graphss_attack_options opt = options();
    opt.budget = 1;
    s.in.n_victims = 1;
    graphss_flips chosen = {0};
    graphss_attack_log log = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &chosen, &log, &s.in, &opt));
    const size_t n = s.data.graph.n_nodes, k = s.data.n_classes;
    const int32_t v = s.victim[0], y = s.data.label[v];
    float *prob = calloc(n * k, sizeof *prob);
    size_t better = 0;
    for (int32_t u = 0; u < (int32_t)n; u++) {
        const bool there = graphss_graph_has_edge(&s.data.graph, v, u);
        if (u == v || (there && graphss_graph_degree(&s.data.graph, (size_t)u) == 1))
            continue;
        graphss_flips one = {0};
        graphss_graph g = {0};
        graphss_features x = {0};
        assert_ok(ctx, graphss_flips_add(ctx, &one,
                           (graphss_flip){.victim = v,
                               .kind = GRAPHSS_FLIP_EDGE,
                               .node = v,
                               .target = u,
                               .old_value = there,
                               .new_value = !there}));
        assert_ok(ctx, graphss_flips_apply_parts(
                           ctx, &g, &x, &s.data.graph, &s.data.features, &one, NULL));
        assert_ok(ctx, graphss_model_predict(ctx, prob, s.model, &g, &s.data.features));
        float other = 0;
        for (size_t c = 0; c < k; c++)
            if ((int32_t)c != y && prob[(size_t)v * k + c] > other)
                other = prob[(size_t)v * k + c];
        const double loss = logf(prob[(size_t)v * k + (size_t)y] / other);
        better += loss < log.victim[0].loss_after - 1e-4;
        graphss_features_destroy(ctx, &x);
        graphss_graph_destroy(ctx, &g);
        graphss_flips_destroy(ctx, &one);
    }
    free(prob);
    print_message("%zu of 299 single flips are better\n", better);
    assert_true(better <= 15);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &chosen);
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

TEST(threads_do_not_matter_and_changes_fit_one_after_another)
{
    graphss_flips flips[2] = {{0}};
    for (size_t i = 0; i < 2; i++) {
        graphss_ctx *ctx = testing_ctx(NULL, i + 1);
        fixture s;
        graphss_dataset now = {0};
        fixture_make(ctx, &s, "gcn");
        const graphss_attack_options opt = options();
        assert_ok(ctx, graphss_attack_run(ctx, &flips[i], NULL, &s.in, &opt));
        assert_ok(ctx, graphss_flips_apply(ctx, &now, &s.data, &flips[i], NULL));
        graphss_dataset_destroy(ctx, &now);
        fixture_destroy(ctx, &s);
        if (i == 1) {
            assert_int_equal(flips[0].count, flips[1].count);
            for (size_t f = 0; f < flips[0].count; f++)
                assert_int_equal(flips[0].item[f].target, flips[1].item[f].target);
            graphss_flips_destroy(ctx, &flips[0]);
            graphss_flips_destroy(ctx, &flips[1]);
        }
        graphss_ctx_free(ctx);
    }
}

TEST(what_it_cannot_do_is_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    graphss_flips flips = {0};
    fixture_make(ctx, &s, "gcn");
    graphss_attack_options opt = options();
    opt.kind = GRAPHSS_ATTACK_LF;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_INVALID,
        "links only");
    opt = options();
    opt.influencers = 1;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_INVALID,
        "--influencers");
    opt = options();
    s.in.model = NULL;
    assert_fails(
        ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_INVALID, "model");
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

static graphss_status run_once(graphss_ctx *ctx, void *arg)
{
    const fixture *s = arg;
    const graphss_attack_options opt = options();
    graphss_flips flips = {0};
    const graphss_status st = graphss_attack_run(ctx, &flips, NULL, &s->in, &opt);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

TEST(each_allocation_may_fail)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    fixture_make(ctx, &s, "sgc");
    s.in.n_victims = 1;
    testing_each_allocation_fails(run_once, &s);
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
