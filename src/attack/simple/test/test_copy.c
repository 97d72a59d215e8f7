/* Nodes that copy others, and dense features that are copied, drawn or churned. */
#include "attack/simple/random_attacks.h"
#include "attack/test/testing_attack.h"
#include "models/test/testing_world.h"
#include <graphss/benign.h>
#include <graphss/flips.h>

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

/* The node that all D changes from there on point to, or -1. */
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

/* All that is copied is the model's, all that is drawn or churned is somebody's; nothing
 * becomes 0. Values of one node each. */
TEST_CTX(attacks_on_dense_features_take_values_of_others)
{
    static const char *const method[] = {"copy", "random", "benign"};
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

TEST_CTX(failing_allocations_leave_nothing)
{
    fixture s;
    measured(ctx, &s);
    testing_allocations_fail(copy_all, &s, 20);
    fixture_destroy(ctx, &s);
}

/* Nodes that pose as a node of another class, and change that is no attack. */
static graphss_attack_options options(const char *method, int64_t edges, int64_t features)
{
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.method = method;
    opt.edges = edges;
    opt.features = features;
    return opt;
}

static float word(const graphss_features *x, int32_t i, int32_t column)
{
    if (graphss_features_dense(x))
        return x->value[(size_t)i * x->n_cols + (size_t)column];
    for (int64_t e = x->offset[i]; e < x->offset[i + 1]; e++)
        if (x->column[e] == column)
            return x->value[e];
    return 0;
}

/* Checks by definition whether these changes imitate c: new edges lead to c or its neighbours,
 * new words are those of c with their values, removed words are not. */
static bool looks_like(const fixture *s, const graphss_flip *item, size_t n, int32_t c)
{
    for (size_t i = 0; i < n; i++) {
        const graphss_flip *f = &item[i];
        if (f->kind == GRAPHSS_FLIP_FEATURE) {
            if (word(&s->data.features, c, f->target) != f->new_value)
                return false;
        } else if (f->new_value != 0 && f->target != c &&
                   !graphss_graph_has_edge(&s->data.graph, c, f->target)) {
            return false;
        }
    }
    return true;
}

TEST_CTX(every_victim_is_made_to_look_like_one_node_of_another_class)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    graphss_attack_options opt = options("copy", 6, 8);
    opt.independent = true; /* else a model may have been a victim before */
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
    assert_int_equal(log.n_victims, SCENE_VICTIMS);
    assert_int_equal(log.n_steps, flips.count);
    size_t at = 0, cutting = 0, joining = 0;
    for (size_t v = 0; v < SCENE_VICTIMS; v++) {
        const graphss_attack_victim *told = &log.victim[v];
        const graphss_flip *item = &flips.item[at];
        const size_t n = told->n_edges + told->n_features;
        size_t cuts = 0, edges = 0, taken = 0, dropped = 0;
        int32_t model = -1;
        assert_int_equal(told->node, s.victim[v]);
        assert_int_equal(told->wanted, 14);
        assert_true(at + n <= flips.count);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(item[i].victim, s.victim[v]);
            assert_int_equal(item[i].node, s.victim[v]);
            const bool edge = item[i].kind == GRAPHSS_FLIP_EDGE;
            edges += edge;
            cuts += edge && item[i].new_value == 0;
            taken += !edge && item[i].new_value != 0;
            dropped += !edge && item[i].new_value == 0;
        }
        assert_int_equal(edges, told->n_edges);
        assert_true(edges >= 1 && edges <= 6 && cuts <= 2);
        assert_true(2 * cuts <= edges - cuts);
        assert_true(taken <= 4 && dropped <= 4 && taken > 0);
        for (int32_t c = 0; c < (int32_t)s.data.graph.n_nodes && model < 0; c++)
            if (s.data.label[c] != s.data.label[s.victim[v]] && looks_like(&s, item, n, c))
                model = c;
        assert_true(model >= 0);
        cutting += cuts > 0;
        for (size_t i = 0; i < n; i++)
            joining += item[i].kind == GRAPHSS_FLIP_EDGE && item[i].target == model;
        at += n;
    }
    assert_int_equal(at, flips.count);
    /* a fair coin over twelve victims: one side never comes up for one seed in four thousand
     */
    assert_true(cutting > 0 && joining > 0);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &flips);
    fixture_destroy(ctx, &s);
}

TEST_CTX(a_large_budget_of_words_takes_all_and_leaves_edges)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    s.in.n_victims = 1;
    const graphss_attack_options opt = options("copy", 0, 1000);
    graphss_flips flips = {0};
    graphss_dataset now = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt));
    assert_int_equal(graphss_flips_count(&flips, GRAPHSS_FLIP_EDGE), 0);
    assert_ok(ctx, graphss_flips_apply(ctx, &now, &s.data, &flips, NULL));
    bool same = false; /* as some node of another class */
    for (int32_t c = 0; c < (int32_t)s.data.graph.n_nodes && !same; c++) {
        same = s.data.label[c] != s.data.label[s.victim[0]];
        for (int32_t j = 0; j < (int32_t)s.data.features.n_cols && same; j++)
            same = word(&now.features, s.victim[0], j) == word(&s.data.features, c, j);
    }
    assert_true(same);
    graphss_dataset_destroy(ctx, &now);
    graphss_flips_destroy(ctx, &flips);
    fixture_destroy(ctx, &s);
}

TEST_CTX(either_kind_of_change_keeps_one_budget)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    graphss_attack_options opt = options("copy", 0, 0);
    opt.kind = GRAPHSS_ATTACK_BOTH;
    opt.budget = 9;
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
    for (size_t v = 0; v < SCENE_VICTIMS; v++)
        assert_true(log.victim[v].n_edges + log.victim[v].n_features <= 9);
    assert_true(graphss_flips_count(&flips, GRAPHSS_FLIP_EDGE) > 0);
    assert_true(graphss_flips_count(&flips, GRAPHSS_FLIP_FEATURE) > 0);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &flips);
    fixture_destroy(ctx, &s);
}

static void same_flips(const graphss_flip *a, const graphss_flip *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(a[i].kind, b[i].kind);
        assert_int_equal(a[i].node, b[i].node);
        assert_int_equal(a[i].target, b[i].target);
        assert_true(a[i].new_value == b[i].new_value);
    }
}

TEST_CTX(draws_follow_the_seed_and_the_victim)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    graphss_attack_options opt = options("copy", 3, 20);
    opt.independent = true;
    graphss_flips all = {0}, last = {0}, other = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &all, NULL, &s.in, &opt));
    graphss_attack_input one = s.in;
    one.victim = &s.victim[SCENE_VICTIMS - 1];
    one.n_victims = 1;
    assert_ok(ctx, graphss_attack_run(ctx, &last, NULL, &one, &opt));
    assert_true(last.count > 0 && last.count < all.count);
    same_flips(all.item + all.count - last.count, last.item, last.count);
    one.seed = 2;
    assert_ok(ctx, graphss_attack_run(ctx, &other, NULL, &one, &opt));
    bool differs = other.count != last.count;
    for (size_t i = 0; i < last.count && !differs; i++)
        differs = last.item[i].target != other.item[i].target;
    assert_true(differs);
    graphss_flips_destroy(ctx, &other);
    graphss_flips_destroy(ctx, &last);
    graphss_flips_destroy(ctx, &all);
    fixture_destroy(ctx, &s);
}

TEST_CTX(benign_is_churn_by_another_name)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    const graphss_attack_options opt = options("benign", 3, 10);
    const graphss_benign_options churn = {
        .struct_size = sizeof churn, .edges = 3, .features = 10};
    graphss_flips flips = {0}, wanted = {0};
    graphss_attack_log log = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
    assert_ok(
        ctx, graphss_benign_churn(ctx, &wanted, &s.data, s.victim, SCENE_VICTIMS, 1, &churn));
    assert_int_equal(flips.count, wanted.count);
    same_flips(flips.item, wanted.item, wanted.count);
    assert_string_equal(flips.method, "benign");
    size_t told = 0;
    for (size_t v = 0; v < SCENE_VICTIMS; v++) {
        assert_int_equal(log.victim[v].node, s.victim[v]);
        assert_int_equal(log.victim[v].wanted, 13);
        told += log.victim[v].n_edges + log.victim[v].n_features;
    }
    assert_int_equal(told, flips.count);
    assert_int_equal(log.n_steps, flips.count);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &wanted);
    graphss_flips_destroy(ctx, &flips);
    fixture_destroy(ctx, &s);
}

TEST_CTX(what_has_no_meaning_is_refused)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    static const char *const method[] = {"copy", "benign"};
    graphss_flips flips = {0};
    for (size_t m = 0; m < 2; m++) {
        graphss_attack_options opt = options(method[m], 2, 20);
        opt.mode = GRAPHSS_MODE_PAPER;
        assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt),
            GRAPHSS_ERR_INVALID, "has no such mode");
        opt = options(method[m], 2, 20);
        opt.influencers = 2;
        assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt),
            GRAPHSS_ERR_INVALID, "--influencers");
    }
    graphss_attack_options opt = options("benign", 2, 20);
    opt.kind = GRAPHSS_ATTACK_EDGES;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_INVALID,
        "--kind");
    fixture_destroy(ctx, &s);
}

typedef struct attempt {
    const fixture *s;
    graphss_attack_options opt;
} attempt;

static graphss_status run_once(graphss_ctx *ctx, void *arg)
{
    const attempt *a = arg;
    graphss_flips flips = {0};
    const graphss_status st = graphss_attack_run(ctx, &flips, NULL, &a->s->in, &a->opt);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

TEST_CTX(each_allocation_may_fail)
{
    fixture s;
    fixture_make(ctx, &s, NULL);
    s.in.n_victims = 2;
    attempt a = {&s, options("copy", 3, 6)};
    a.opt.independent = true;
    testing_each_allocation_fails(run_once, &a);
    a.opt = options("benign", 3, 6);
    testing_each_allocation_fails(run_once, &a);
    fixture_destroy(ctx, &s);
}

int main(void)
{
    return testing_run();
}
