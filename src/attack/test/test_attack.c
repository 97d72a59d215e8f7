/* Properties of every attack in the list. */
#include "attack/test/testing_attack.h"
#include "graph/rows.h"

static graphss_attack_options options(const char *method, graphss_attack_kind kind)
{
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.method = method;
    opt.kind = kind;
    opt.edges = 2;
    opt.features = graphss_attack_edges_only(method) ? 0 : 5;
    opt.budget = 3;
    return opt;
}

/* A fixture with a surrogate, for methods that need one. The caller releases *w. */
static void make(graphss_ctx *ctx, fixture *s, float **w)
{
    *w = NULL;
    fixture_make(ctx, s, "gcn");
    assert_ok(ctx, graphss_surrogate_train(ctx, w,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &s->data.graph,
                           .features = &s->data.features,
                           .n_classes = s->data.n_classes,
                           .split = &s->split,
                           .seed = 1}));
    s->in.surrogate = *w;
}

static void check_budget(const graphss_flips *flips, const graphss_attack_log *log,
    const graphss_attack_options *opt)
{
    size_t of_victims = 0;
    assert_int_equal(log->n_steps, flips->count);
    assert_int_equal(log->n_victims, SCENE_VICTIMS);
    for (size_t v = 0; v < log->n_victims; v++) {
        size_t made[2] = {0, 0};
        for (size_t i = 0; i < flips->count; i++)
            if (flips->item[i].victim == log->victim[v].node)
                made[flips->item[i].kind]++;
        assert_int_equal(made[GRAPHSS_FLIP_EDGE], log->victim[v].n_edges);
        assert_int_equal(made[GRAPHSS_FLIP_FEATURE], log->victim[v].n_features);
        of_victims += made[0] + made[1];
        if (opt->kind == GRAPHSS_ATTACK_LF)
            assert_true(made[GRAPHSS_FLIP_EDGE] <= (size_t)opt->edges &&
                        made[GRAPHSS_FLIP_FEATURE] <= (size_t)opt->features);
        else
            assert_true(made[0] + made[1] <= (size_t)opt->budget);
        if (opt->kind == GRAPHSS_ATTACK_EDGES)
            assert_int_equal(made[GRAPHSS_FLIP_FEATURE], 0);
        if (opt->kind == GRAPHSS_ATTACK_FEATURES)
            assert_int_equal(made[GRAPHSS_FLIP_EDGE], 0);
    }
    assert_int_equal(of_victims, flips->count);
}

static void same_flips(const graphss_flips *a, const graphss_flips *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->item[i].victim, b->item[i].victim);
        assert_int_equal(a->item[i].kind, b->item[i].kind);
        assert_int_equal(a->item[i].node, b->item[i].node);
        assert_int_equal(a->item[i].target, b->item[i].target);
        assert_true(a->item[i].new_value == b->item[i].new_value);
    }
}

TEST(each_attack_keeps_its_budget_and_its_changes_apply)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1), *two = testing_ctx(NULL, 2);
    fixture s;
    float *w;
    make(ctx, &s, &w);
    for (size_t m = 0; graphss_attack_name(m); m++)
        for (int kind = GRAPHSS_ATTACK_LF; kind <= GRAPHSS_ATTACK_BOTH; kind++) {
            const char *method = graphss_attack_name(m);
            const graphss_attack_options opt = options(method, (graphss_attack_kind)kind);
            graphss_flips flips = {0}, again = {0};
            graphss_attack_log log = {0};
            graphss_dataset now = {0}, back = {0};
            const graphss_status st = graphss_attack_run(ctx, &flips, &log, &s.in, &opt);
            if (kind != GRAPHSS_ATTACK_LF && st == GRAPHSS_ERR_INVALID)
                continue; /* each takes edges and features apart; other kinds it may refuse */
            assert_ok(ctx, st);
            assert_true(flips.count > 0);
            assert_string_equal(flips.method, method);
            check_budget(&flips, &log, &opt);
            assert_ok(two, graphss_attack_run(two, &again, NULL, &s.in, &opt));
            same_flips(&flips, &again);
            snprintf(flips.hash, sizeof flips.hash, "%s", s.data.hash);
            assert_ok(ctx, graphss_flips_apply(ctx, &now, &s.data, &flips, NULL));
            const graphss_apply_options undo = {.struct_size = sizeof undo, .undo = true};
            assert_ok(ctx, graphss_flips_apply(ctx, &back, &now, &flips, &undo));
            assert_string_equal(back.hash, s.data.hash);
            graphss_dataset_destroy(ctx, &back);
            graphss_dataset_destroy(ctx, &now);
            graphss_attack_log_destroy(ctx, &log);
            graphss_flips_destroy(two, &again);
            graphss_flips_destroy(ctx, &flips);
        }
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
    graphss_ctx_free(two);
    graphss_ctx_free(ctx);
}

TEST_CTX(a_share_is_of_what_the_victim_has)
{
    fixture s;
    float *w;
    make(ctx, &s, &w);
    for (size_t m = 0; graphss_attack_name(m); m++) {
        graphss_attack_options opt = options(graphss_attack_name(m), GRAPHSS_ATTACK_LF);
        graphss_flips flips = {0};
        graphss_attack_log log = {0};
        opt.edges_share = 0.5;
        opt.features_share = graphss_attack_edges_only(opt.method) ? 0 : 0.25;
        assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
        assert_true(flips.count > 0);
        for (size_t v = 0; v < log.n_victims; v++) {
            const size_t node = (size_t)log.victim[v].node;
            const size_t degree = graphss_graph_degree(&s.data.graph, node);
            const size_t words = graphss_i_row_count(graphss_i_row_of(&s.data.features, node));
            assert_true(log.victim[v].n_edges <= degree / 2);
            assert_true(log.victim[v].n_features <= (opt.features_share > 0 ? words / 4 : 0));
        }
        graphss_attack_log_destroy(ctx, &log);
        graphss_flips_destroy(ctx, &flips);
    }
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

TEST_CTX(what_a_method_lacks_is_refused)
{
    fixture s;
    float *w;
    graphss_flips flips = {0};
    make(ctx, &s, &w);
    for (size_t m = 0; graphss_attack_name(m); m++) {
        const char *method = graphss_attack_name(m);
        graphss_attack_options opt = options(method, GRAPHSS_ATTACK_LF);
        graphss_attack_input in = s.in;
        in.surrogate = NULL;
        if (graphss_attack_needs_surrogate(method))
            assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt),
                GRAPHSS_ERR_INVALID, "surrogate");
        in = s.in;
        in.model = NULL;
        if (graphss_attack_needs_model(method))
            assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt),
                GRAPHSS_ERR_INVALID, "needs a model");
        opt.features = 1;
        if (graphss_attack_edges_only(method))
            assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt),
                GRAPHSS_ERR_INVALID, "links only");
        assert_non_null(graphss_attack_summary(m));
    }
    graphss_attack_options opt = options("magic", GRAPHSS_ATTACK_LF);
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_INVALID,
        "found 'magic', want one of nettack, ");
    assert_false(graphss_attack_needs_surrogate("magic"));
    assert_false(graphss_attack_needs_model("magic") || graphss_attack_edges_only("magic"));
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

typedef struct order {
    graphss_attack_input in;
    const char *method;
} order;

static graphss_status attack_once(graphss_ctx *ctx, void *arg)
{
    const order *o = arg;
    const graphss_attack_options opt = options(o->method, GRAPHSS_ATTACK_LF);
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    const graphss_status st = graphss_attack_run(ctx, &flips, &log, &o->in, &opt);
    if (st) {
        assert_null(flips.item);
        assert_null(log.victim);
    }
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

TEST_CTX(failing_allocations_leave_nothing)
{
    fixture s;
    float *w;
    make(ctx, &s, &w);
    for (size_t m = 0; graphss_attack_name(m); m++) {
        order o = {s.in, graphss_attack_name(m)};
        o.in.n_victims = 2;
        testing_allocations_fail(attack_once, &o, 60);
    }
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

TEST(each_method_tells_which_options_it_uses)
{
    for (size_t i = 0; graphss_attack_name(i); i++) {
        const char *name = graphss_attack_name(i);
        assert_true(graphss_attack_uses(name, "links"));
        assert_false(graphss_attack_uses(name, "magic"));
        assert_int_equal(graphss_attack_uses(name, "delta-cutoff"), !strcmp(name, "nettack"));
    }
    assert_true(graphss_attack_uses("dice", "feature-domain"));
    assert_false(graphss_attack_uses("prbcd", "feature-domain"));
    assert_false(graphss_attack_uses("magic", "links"));
    assert_false(graphss_attack_uses(NULL, "links"));
}

TEST(budgets_are_described_in_text)
{
    static const char *const want[] = {
        "2 links then 20 features", "3 links", "3 features", "3 links or features", "3 ?"};
    for (int kind = 0; kind < 5; kind++) {
        graphss_attack_options opt;
        graphss_attack_options_init(&opt);
        char text[160], whole[160];
        opt.kind = kind;
        opt.budget = 3;
        snprintf(whole, sizeof whole, "%s per victim, cumulative, direct", want[kind]);
        graphss_attack_budget_text(text, sizeof text, &opt);
        assert_string_equal(text, whole);
    }
    const graphss_features words = {.kind = GRAPHSS_FEATURES_BINARY};
    graphss_attack_options odd;
    graphss_attack_options_init(&odd);
    char text[160];
    graphss_attack_domain_text(text, sizeof text, &words, &odd);
    assert_string_equal(text, "0 <-> 1 (binary, detected)");
    odd.domain = 9;
    graphss_attack_domain_text(text, sizeof text, &words, &odd);
    assert_string_equal(text, "? (?, forced)");
}

int main(void)
{
    return testing_run();
}
