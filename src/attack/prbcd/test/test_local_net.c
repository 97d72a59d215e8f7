/* A model around one node: the same answers as the model itself, and slopes that finite
 * differences confirm. */
#include "attack/prbcd/local_net.h"
#include "graph/test/testing_edits.h"
#include "models/test/testing_world.h"

enum { PAIRS = 12, VICTIM = 7 };

typedef struct fixture {
    world w;
    graphss_model *model;
    graphss_i_rows edges;
    int32_t candidate[PAIRS];
} fixture;

/* Candidates: the victim's first three neighbours, then nodes it is not connected to. */
static void fixture_make(
    graphss_ctx *ctx, fixture *s, const char *model, bool loops, int64_t layers)
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

static void fixture_destroy(graphss_ctx *ctx, fixture *s)
{
    graphss_i_rows_destroy(ctx, &s->edges);
    graphss_model_free(ctx, s->model);
    world_destroy(ctx, &s->w);
}

static void check_answers(const char *model, bool loops, int64_t layers)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    graphss_i_local_model lm = {0};
    graphss_i_local_net net = {0};
    fixture_make(ctx, &s, model, loops, layers);
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
    fixture_destroy(ctx, &s);
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
    fixture s;
    graphss_i_local_model lm = {0};
    graphss_i_local_net net = {0};
    fixture_make(ctx, &s, model, loops, layers);
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
    fixture_destroy(ctx, &s);
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

TEST(a_model_without_edges_is_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    graphss_i_local_model lm = {0};
    fixture_make(ctx, &s, "mlp", true, 2);
    assert_fails(ctx,
        graphss_i_local_model_init(ctx, &lm, s.model, WORLD_NODES, &s.w.features),
        GRAPHSS_ERR_INVALID, "mlp");
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

static graphss_status build_once(graphss_ctx *ctx, void *arg)
{
    fixture *s = arg;
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

TEST(each_allocation_may_fail)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    fixture s;
    fixture_make(ctx, &s, "gcn", true, 2);
    testing_each_allocation_fails(build_once, &s);
    fixture_destroy(ctx, &s);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
