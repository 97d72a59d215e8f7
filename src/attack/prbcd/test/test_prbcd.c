/* The gradient attack: its projection, its strength, its limits. */
#include "attack/prbcd/local_net.h"
#include "attack/test/testing_attack.h"
#include "graph/test/testing_edits.h"
#include "models/test/testing_world.h"

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
    /* the reported margin is the one that the model gives */
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
TEST_CTX(one_flip_is_among_the_best)
{
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

TEST_CTX(what_it_cannot_do_is_refused)
{
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

TEST_CTX(each_allocation_may_fail)
{
    fixture s;
    fixture_make(ctx, &s, "sgc");
    s.in.n_victims = 1;
    testing_each_allocation_fails(run_once, &s);
    fixture_destroy(ctx, &s);
}

/* ---- local net ---- */

enum { PAIRS = 12, VICTIM = 7 };

typedef struct local_fixture {
    world w;
    graphss_model *model;
    graphss_i_rows edges;
    int32_t candidate[PAIRS];
} local_fixture;

/* Candidates: the victim's first three neighbours, then nodes it is not connected to. */
static void local_fixture_make(
    graphss_ctx *ctx, local_fixture *s, const char *model, bool loops, int64_t layers)
{
    world_make(ctx, &s->w, 3);
    graphss_train_options opt;
    graphss_train_options_init(&opt, model, GRAPHSS_MODE_DEFAULT, NULL);
    opt.epochs = 30;
    opt.hidden = 9;
    opt.self_loops = loops;
    if (strcmp(model, "sgc") != 0)
        opt.layers = layers;
    s->model = NULL;
    assert_ok(ctx, graphss_model_train(ctx, &s->model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &s->w.graph,
                           .features = &s->w.features,
                           .n_classes = 2,
                           .split = &s->w.split,
                           .seed = 1},
                       &opt));
    assert_ok(ctx, graphss_i_rows_init(ctx, &s->edges, &s->w.graph));
    size_t n = 0;
    assert_true(s->edges.length[VICTIM] >= 3);
    for (; n < 3; n++)
        s->candidate[n] = s->edges.item[VICTIM][n];
    for (int32_t i = 20; n < PAIRS; i++)
        if (!graphss_i_rows_has(&s->edges, VICTIM, i))
            s->candidate[n++] = i;
}

static void local_fixture_destroy(graphss_ctx *ctx, local_fixture *s)
{
    graphss_i_rows_destroy(ctx, &s->edges);
    graphss_model_free(ctx, s->model);
    world_destroy(ctx, &s->w);
}

static void check_answers(const char *model, bool loops, int64_t layers)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    local_fixture s;
    graphss_i_local_model lm = {0};
    graphss_i_local_net net = {0};
    local_fixture_make(ctx, &s, model, loops, layers);
    assert_ok(ctx, graphss_i_local_model_init(ctx, &lm, s.model, WORLD_NODES, &s.w.features));
    assert_ok(ctx,
        graphss_i_local_net_init(ctx, &net, &lm, &s.edges, VICTIM, 0, s.candidate, PAIRS));
    /* flip pairs 1, 4 and 9, and none */
    for (int flip = 0; flip < 2; flip++) {
        double p[PAIRS] = {0};
        float prob[WORLD_NODES * 2];
        graphss_graph g = {0};
        const int chosen[3] = {1, 4, 9};
        for (int i = 0; flip && i < 3; i++) {
            p[chosen[i]] = 1;
            assert_true(
                graphss_i_rows_flip_edge(ctx, &s.edges, VICTIM, s.candidate[chosen[i]]));
        }
        const double margin = graphss_i_local_net_margin(&net, NULL, p);
        rows_to_graph(ctx, &g, &s.edges);
        assert_ok(ctx, graphss_model_predict(ctx, prob, s.model, &g, &s.w.features));
        const double wanted = log(prob[2 * VICTIM + 1]) - log(prob[2 * VICTIM]);
        if (fabs(wanted - margin) > 1e-4)
            fail_msg("%s: margin %g, the model says %g", model, margin, wanted);
        graphss_graph_destroy(ctx, &g);
    }
    graphss_i_local_net_destroy(ctx, &net);
    graphss_i_local_model_destroy(ctx, &lm);
    local_fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

TEST(a_local_net_agrees_with_the_model)
{
    check_answers("gcn", true, 2);
    check_answers("gcn", false, 3);
    check_answers("gcn", true, 1);
    check_answers("sgc", true, 1);
    check_answers("sage", true, 2);
}

/* Differences of the margin over 2 h, at strengths between 0 and 1. Relu has kinks, so one
 * slope in ten may be off. */
static void check_slopes(const char *model, bool loops, int64_t layers)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    local_fixture s;
    graphss_i_local_model lm = {0};
    graphss_i_local_net net = {0};
    local_fixture_make(ctx, &s, model, loops, layers);
    assert_ok(ctx, graphss_i_local_model_init(ctx, &lm, s.model, WORLD_NODES, &s.w.features));
    assert_ok(ctx,
        graphss_i_local_net_init(ctx, &net, &lm, &s.edges, VICTIM, 1, s.candidate, PAIRS));
    double p[PAIRS], grad[PAIRS];
    for (int c = 0; c < PAIRS; c++)
        p[c] = 0.1 + 0.06 * c;
    graphss_i_local_net_margin(&net, grad, p);
    const double h = 0.01;
    double largest = 0;
    int off = 0;
    for (int c = 0; c < PAIRS; c++)
        largest = fmax(largest, fabs(grad[c]));
    assert_true(largest > 1e-3);
    for (int c = 0; c < PAIRS; c++) {
        const double held = p[c];
        p[c] = held + h;
        const double up = graphss_i_local_net_margin(&net, NULL, p);
        p[c] = held - h;
        const double down = graphss_i_local_net_margin(&net, NULL, p);
        p[c] = held;
        const double slope = (up - down) / (2 * h);
        if (fabs(slope - grad[c]) > 0.01 * largest) {
            print_message("%s pair %d: slope %g, gradient %g\n", model, c, slope, grad[c]);
            off++;
        }
    }
    assert_true(off <= 1);
    graphss_i_local_net_destroy(ctx, &net);
    graphss_i_local_model_destroy(ctx, &lm);
    local_fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

TEST(slopes_are_those_of_finite_differences)
{
    check_slopes("gcn", true, 2);
    check_slopes("gcn", false, 3);
    check_slopes("gcn", true, 1);
    check_slopes("sgc", true, 1);
    check_slopes("sage", true, 2);
}

TEST_CTX(a_model_without_edges_is_refused)
{
    local_fixture s;
    graphss_i_local_model lm = {0};
    local_fixture_make(ctx, &s, "mlp", true, 2);
    assert_fails(ctx,
        graphss_i_local_model_init(ctx, &lm, s.model, WORLD_NODES, &s.w.features),
        GRAPHSS_ERR_INVALID, "mlp");
    local_fixture_destroy(ctx, &s);
}

static graphss_status build_once(graphss_ctx *ctx, void *arg)
{
    local_fixture *s = arg;
    graphss_i_local_model lm = {0};
    graphss_i_local_net net = {0};
    graphss_status st =
        graphss_i_local_model_init(ctx, &lm, s->model, WORLD_NODES, &s->w.features);
    if (!st)
        st = graphss_i_local_net_init(
            ctx, &net, &lm, &s->edges, VICTIM, 0, s->candidate, PAIRS);
    graphss_i_local_net_destroy(ctx, &net);
    graphss_i_local_model_destroy(ctx, &lm);
    return st;
}

TEST_CTX(each_allocation_of_a_local_network_may_fail)
{
    local_fixture s;
    local_fixture_make(ctx, &s, "gcn", true, 2);
    testing_each_allocation_fails(build_once, &s);
    local_fixture_destroy(ctx, &s);
}

int main(void)
{
    return testing_run();
}
