/* Changes that take back an attack. */
#include "observation/test/testing_attacked_world.h"
#include <locale.h>

/* A recovery that knows victims and truth. */
static void recovery_make(graphss_ctx *ctx, graphss_recover_result *r, const attacked_world *a,
    graphss_perturbation kind)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("none"), GRAPHSS_MODE_DEFAULT, a->model);
    assert_ok(ctx, graphss_recover_run(ctx, r, &a->in, &opt));
    r->kind = kind;
    for (size_t i = 0; i < WORLD_NODES; i++)
        for (size_t c = 0; c < 2; c++)
            r->predictions.posterior[i * 2 + c] = (int32_t)c == a->w.label[i] ? 0.9 : 0.1;
    for (size_t v = 0; v < VICTIMS; v++)
        r->predictions.perturbed[a->victim[v]] = 0.9;
}

static bool victim(const attacked_world *a, int32_t node)
{
    for (size_t v = 0; v < VICTIMS; v++)
        if (a->victim[v] == node)
            return true;
    return false;
}

TEST(with_a_past_all_is_as_it_was)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_result r = {0};
    graphss_flips flips = {0};
    graphss_graph graph = {0};
    graphss_features features = {0};
    recovery_make(ctx, &r, &a, GRAPHSS_PERTURBATION_NOT_ESTIMATED);
    assert_ok(ctx, graphss_recover_flips(ctx, &flips, &a.in, &r, 0.5));
    assert_ok(ctx, graphss_flips_apply_parts(
                       ctx, &graph, &features, &a.current, &a.w.features, &flips, NULL));
    const size_t n = a.w.graph.n_nodes, edges = (size_t)a.w.graph.offset[n];
    assert_memory_equal(graph.offset, a.w.graph.offset, (n + 1) * sizeof *graph.offset);
    assert_memory_equal(graph.target, a.w.graph.target, edges * sizeof *graph.target);
    assert_int_equal(graphss_flips_count(&flips, GRAPHSS_FLIP_FEATURE), 0);
    graphss_flips_destroy(ctx, &flips);

    /* The other way round: edges that were cut are joined again. */
    graphss_defence_input back = a.in;
    const graphss_observation past = {&a.current, &a.w.features, NULL};
    back.current = a.previous;
    back.previous = &past;
    assert_ok(ctx, graphss_recover_flips(ctx, &flips, &back, &r, 0.5));
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &features);
    assert_ok(ctx, graphss_flips_apply_parts(
                       ctx, &graph, &features, &a.w.graph, &a.w.features, &flips, NULL));
    assert_int_equal(graph.offset[n], a.current.offset[n]);
    graphss_flips_destroy(ctx, &flips);
    assert_ok(
        /* no probability is that high */
        ctx, graphss_recover_flips(ctx, &flips, &a.in, &r, 0.95));
    assert_int_equal(flips.count, 0);
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &features);
    graphss_flips_destroy(ctx, &flips);
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(without_a_past_edges_across_classes_go)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    a.in.previous = NULL;
    graphss_recover_result r = {0};
    graphss_flips flips = {0};
    recovery_make(ctx, &r, &a, GRAPHSS_PERTURBATION_EDGES);
    assert_ok(ctx, graphss_recover_flips(ctx, &flips, &a.in, &r, 0.5));
    assert_true(flips.count > 0);
    for (size_t j = 0; j < flips.count; j++) {
        const graphss_flip *f = &flips.item[j];
        assert_int_equal(f->kind, GRAPHSS_FLIP_EDGE);
        assert_true(victim(&a, f->node));
        assert_int_not_equal(a.w.label[f->node], a.w.label[f->target]);
        assert_true(graphss_graph_has_edge(&a.current, f->node, f->target));
    }
    graphss_flips_destroy(ctx, &flips);
    r.kind = GRAPHSS_PERTURBATION_FEATURES;
    assert_ok(ctx, graphss_recover_flips(ctx, &flips, &a.in, &r, 0.5));
    assert_int_equal(graphss_flips_count(&flips, GRAPHSS_FLIP_EDGE), 0);
    for (size_t j = 0; j < flips.count; j++)
        assert_true(victim(&a, flips.item[j].node) && flips.item[j].new_value == 0);
    graphss_flips_destroy(ctx, &flips);
    r.predictions.n_classes = 3;
    assert_int_equal(graphss_recover_flips(ctx, &flips, &a.in, &r, 0.5), GRAPHSS_ERR_SHAPE);
    r.predictions.n_classes = 2;
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

typedef struct task {
    attacked_world a;
    graphss_recover_result r;
} task;

static graphss_status undo_once(graphss_ctx *ctx, void *arg)
{
    task *t = arg;
    graphss_flips flips = {0};
    const graphss_status st = graphss_recover_flips(ctx, &flips, &t->a.in, &t->r, 0.5);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

/* The list is a file for any place. */
TEST(the_locale_changes_nothing)
{
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("skipped: no locale with another decimal point is installed\n");
        skip();
    }
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_recover_result r = {0};
    graphss_flips flips = {0};
    recovery_make(ctx, &r, &a, GRAPHSS_PERTURBATION_NOT_ESTIMATED);
    assert_ok(ctx, graphss_recover_flips(ctx, &flips, &a.in, &r, 0.75));
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(flips.victims, "perturbed at least 0.75");
    graphss_flips_destroy(ctx, &flips);
    graphss_recover_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(failing_allocations_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static task t;
    attacked_world_make(ctx, &t.a);
    recovery_make(ctx, &t.r, &t.a, GRAPHSS_PERTURBATION_NOT_ESTIMATED);
    testing_allocations_fail(undo_once, &t, 60);
    graphss_recover_result_destroy(ctx, &t.r);
    attacked_world_destroy(ctx, &t.a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
