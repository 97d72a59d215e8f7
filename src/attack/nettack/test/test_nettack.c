/* Nettack against full matrices on tiny graphs. */
#include "attack/nettack/nettack.h"
#include "attack/test/testing_attack.h"

static graphss_attack_options plain_options(int kind, int64_t budget)
{
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.kind = kind;
    opt.budget = budget;
    opt.degree_test = false;
    return opt;
}

/* Every pair of nodes, whichever of them are the victim's neighbours or itself. */
TEST_CTX(the_score_of_any_edge_is_the_margin_after_its_flip)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        tiny_world t;
        tiny_make(ctx, &t, seed, GRAPHSS_FEATURES_BINARY);
        const int32_t one = 0;
        const graphss_attack_input in = tiny_input(&t, &one, 1);
        const graphss_attack_options opt = plain_options(GRAPHSS_ATTACK_EDGES, 1);
        graphss_i_nettack_shared shared;
        graphss_i_nettack_work work;
        assert_ok(ctx, graphss_i_nettack_shared_init(ctx, &shared, &in, &opt, NULL));
        assert_ok(ctx, graphss_i_nettack_work_init(ctx, &work, &shared, NULL));
        dense_world d;
        dense_make(&d, &t.data.graph, &t.data.features);
        for (int32_t u = 0; u < TINY_N; u++) {
            const size_t label = (size_t)t.data.label[u];
            graphss_i_nettack_set_victim(&work, u);
            for (int32_t a = 0; a < TINY_N; a++)
                for (int32_t b = 0; b < TINY_N; b++) {
                    if (a == b)
                        continue;
                    d.a[a][b] = d.a[b][a] = !d.a[a][b];
                    const double want = dense_margin(&d, t.w, (size_t)u, label);
                    d.a[a][b] = d.a[b][a] = !d.a[a][b];
                    const double got = graphss_i_nettack_edge_score(&work, u, label, a, b);
                    if (fabs(got - want) > 1e-12)
                        fail_msg(
                            "victim %d, link %d-%d: %.15g, want %.15g", u, a, b, got, want);
                }
        }
        graphss_i_nettack_work_destroy(ctx, &work);
        graphss_i_nettack_shared_destroy(ctx, &shared);
        graphss_dataset_destroy(ctx, &t.data);
    }
}

/* Greedy search with full matrices, without unnoticeability tests: at each step the best
 * single change of the targets' edges (first node, then second, ascending) and words. */
typedef struct naive_choice {
    bool edge;
    size_t a, b;
    double score;
} naive_choice;

static naive_choice naive_step(dense_world *d, const float *w, const float *on, size_t u,
    size_t label, bool edges, bool words)
{
    naive_choice best = {.score = INFINITY};
    for (size_t j = 0; words && j < TINY_D; j++) {
        const double old = d->x[u][j];
        d->x[u][j] = old != 0 ? 0 : (double)on[j];
        const double score = dense_margin(d, w, u, label);
        d->x[u][j] = old;
        if (score < best.score - 1e-12)
            best = (naive_choice){false, u, j, score};
    }
    for (size_t v = 0; edges && v < TINY_N; v++) {
        size_t d_u = 0, d_v = 0;
        for (size_t x = 0; x < TINY_N; x++) {
            d_u += (size_t)d->a[u][x];
            d_v += (size_t)d->a[v][x];
        }
        if (v == u || (d->a[u][v] && (d_u == 1 || d_v == 1)))
            continue;
        d->a[u][v] = d->a[v][u] = !d->a[u][v];
        const double score = dense_margin(d, w, u, label);
        d->a[u][v] = d->a[v][u] = !d->a[u][v];
        if (score < best.score - 1e-12)
            best = (naive_choice){true, u, v, score};
    }
    return best;
}

/* Labels and weights are chosen so that the wrong class is 0 at every step: then the best word
 * by the gradient is the best word. */
static void check_greedy(graphss_feature_kind kind, int what)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        tiny_world t;
        tiny_make(ctx, &t, seed, kind);
        for (size_t i = 0; i < TINY_N; i++)
            t.data.label[i] = 2;
        for (size_t j = 0; j < TINY_D; j++) {
            t.w[j * TINY_K + 1] = -50;
            t.w[j * TINY_K + 2] = 0;
        }
        graphss_attack_options opt = plain_options(what, 6);
        opt.cooccurrence_test = false;
        const int32_t u = (int32_t)seed;
        const graphss_attack_input in = tiny_input(&t, &u, 1);
        graphss_flips flips = {0};
        graphss_attack_log log = {0};
        assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &in, &opt));
        assert_int_equal(flips.count, 6);
        graphss_i_nettack_shared shared;
        assert_ok(ctx, graphss_i_nettack_shared_init(ctx, &shared, &in, &opt, NULL));
        dense_world d;
        dense_make(&d, &t.data.graph, &t.data.features);
        for (size_t i = 0; i < flips.count; i++) {
            const graphss_flip *f = &flips.item[i];
            const naive_choice want = naive_step(&d, t.w, shared.on, (size_t)u, 2,
                what != GRAPHSS_ATTACK_FEATURES, what != GRAPHSS_ATTACK_EDGES);
            assert_int_equal(f->kind == GRAPHSS_FLIP_EDGE, want.edge);
            assert_int_equal(f->target, want.b);
            assert_true(fabs(log.step[i].loss - want.score) < 1e-9);
            if (want.edge)
                d.a[want.a][want.b] = d.a[want.b][want.a] = !d.a[want.a][want.b];
            else
                d.x[want.a][want.b] = (double)f->new_value;
        }
        graphss_i_nettack_shared_destroy(ctx, &shared);
        graphss_flips_destroy(ctx, &flips);
        graphss_attack_log_destroy(ctx, &log);
        graphss_dataset_destroy(ctx, &t.data);
    }
    graphss_ctx_free(ctx);
}

TEST(each_edge_is_the_best_by_full_matrices)
{
    check_greedy(GRAPHSS_FEATURES_BINARY, GRAPHSS_ATTACK_EDGES);
}

TEST(each_feature_is_the_best_by_full_matrices)
{
    check_greedy(GRAPHSS_FEATURES_BINARY, GRAPHSS_ATTACK_FEATURES);
    check_greedy(GRAPHSS_FEATURES_COUNTS, GRAPHSS_ATTACK_FEATURES);
    check_greedy(GRAPHSS_FEATURES_REAL, GRAPHSS_ATTACK_FEATURES);
}

TEST(each_change_of_either_kind_is_the_best_by_full_matrices)
{
    check_greedy(GRAPHSS_FEATURES_BINARY, GRAPHSS_ATTACK_BOTH);
    check_greedy(GRAPHSS_FEATURES_REAL, GRAPHSS_ATTACK_BOTH);
}

/* The reported loss is the margin on the changed graph, for all kinds and both code paths. */
TEST_CTX(the_last_loss_is_the_margin_of_the_changed_graph)
{
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (int kind = GRAPHSS_ATTACK_LF; kind <= GRAPHSS_ATTACK_BOTH; kind++)
            for (int64_t influencers = 0; influencers <= 3; influencers += 3) {
                tiny_world t;
                tiny_make(ctx, &t, seed, (graphss_feature_kind)(1 + seed % 3));
                graphss_attack_options opt = plain_options(kind, 5);
                opt.features = 3;
                opt.influencers = influencers;
                opt.cooccurrence_test = seed % 2;
                const int32_t u = 3;
                const graphss_attack_input in = tiny_input(&t, &u, 1);
                graphss_flips flips = {0};
                graphss_attack_log log = {0};
                graphss_graph g = {0};
                graphss_features f = {0};
                assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &in, &opt));
                assert_ok(ctx, graphss_flips_apply_parts(
                                   ctx, &g, &f, in.graph, in.features, &flips, NULL));
                dense_world d;
                dense_make(&d, &g, &f);
                const double want = dense_margin(&d, t.w, 3, (size_t)t.data.label[3]);
                /* A word's loss is against the wrong class before it was switched. */
                if (flips.count && flips.item[flips.count - 1].kind == GRAPHSS_FLIP_EDGE)
                    assert_true(fabs(log.victim[0].loss_after - want) < 1e-9);
                else
                    assert_true(log.victim[0].loss_after > want - 1e-9);
                for (size_t i = 0; i < flips.count; i++)
                    assert_true(
                        influencers ? flips.item[i].node != u : flips.item[i].node == u);
                graphss_graph_destroy(ctx, &g);
                graphss_features_destroy(ctx, &f);
                graphss_flips_destroy(ctx, &flips);
                graphss_attack_log_destroy(ctx, &log);
                graphss_dataset_destroy(ctx, &t.data);
            }
}

static void assert_same_flips(const graphss_flips *a, const graphss_flips *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_memory_equal(&a->item[i], &b->item[i], sizeof a->item[i]);
}

/* Independent victims: each as if it were alone, on any number of threads. A worker keeps
 * nothing of one victim for the next. */
TEST(independent_victims_are_attacked_as_if_alone)
{
    for (size_t threads = 1; threads <= 3; threads++)
        for (int kind = GRAPHSS_ATTACK_LF; kind <= GRAPHSS_ATTACK_BOTH; kind++) {
            graphss_ctx *ctx = testing_ctx(NULL, threads);
            tiny_world t;
            tiny_make(ctx, &t, 21, GRAPHSS_FEATURES_REAL);
            /* Many changes need more room than a worker holds ready. */
            graphss_attack_options opt = plain_options(kind, threads == 3 ? 60 : 0);
            opt.independent = true;
            int32_t victim[TINY_N];
            for (int32_t i = 0; i < TINY_N; i++)
                victim[i] = TINY_N - 1 - i;
            graphss_attack_input in = tiny_input(&t, victim, TINY_N);
            graphss_flips all = {0}, alone = {0};
            assert_ok(ctx, graphss_attack_run(ctx, &all, NULL, &in, &opt));
            opt.independent = false;
            for (size_t i = 0; i < TINY_N; i++) {
                graphss_flips one = {0};
                in = tiny_input(&t, &victim[i], 1);
                assert_ok(ctx, graphss_attack_run(ctx, &one, NULL, &in, &opt));
                for (size_t e = 0; e < one.count; e++)
                    assert_ok(ctx, graphss_flips_add(ctx, &alone, one.item[e]));
                graphss_flips_destroy(ctx, &one);
            }
            assert_same_flips(&all, &alone);
            graphss_flips_destroy(ctx, &all);
            graphss_flips_destroy(ctx, &alone);
            graphss_dataset_destroy(ctx, &t.data);
            graphss_ctx_free(ctx);
        }
}

/* Cumulative: the same as attacking one victim after the other by hand. */
TEST_CTX(cumulative_victims_see_earlier_changes)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        tiny_world t;
        tiny_make(ctx, &t, 30 + seed, GRAPHSS_FEATURES_BINARY);
        graphss_attack_options opt;
        graphss_attack_options_init(&opt);
        opt.features = 4;
        opt.delta_cutoff = 0.02;
        const int32_t victim[] = {2, 9, 4, 11, 0};
        const graphss_attack_input in = tiny_input(&t, victim, 5);
        graphss_flips all = {0}, by_hand = {0};
        assert_ok(ctx, graphss_attack_run(ctx, &all, NULL, &in, &opt));
        graphss_graph g = {0};
        graphss_features f = {0};
        assert_ok(ctx, graphss_graph_copy(ctx, &g, in.graph));
        assert_ok(ctx, graphss_features_copy(ctx, &f, in.features));
        for (size_t i = 0; i < 5; i++) {
            graphss_attack_input next = tiny_input(&t, &victim[i], 1);
            graphss_flips one = {0};
            graphss_graph g2 = {0};
            graphss_features f2 = {0};
            next.graph = &g;
            next.features = &f;
            assert_ok(ctx, graphss_attack_run(ctx, &one, NULL, &next, &opt));
            assert_ok(ctx, graphss_flips_apply_parts(ctx, &g2, &f2, &g, &f, &one, NULL));
            for (size_t e = 0; e < one.count; e++)
                assert_ok(ctx, graphss_flips_add(ctx, &by_hand, one.item[e]));
            graphss_flips_destroy(ctx, &one);
            graphss_graph_destroy(ctx, &g);
            graphss_features_destroy(ctx, &f);
            g = g2;
            f = f2;
        }
        assert_same_flips(&all, &by_hand);
        graphss_graph_destroy(ctx, &g);
        graphss_features_destroy(ctx, &f);
        graphss_flips_destroy(ctx, &all);
        graphss_flips_destroy(ctx, &by_hand);
        graphss_dataset_destroy(ctx, &t.data);
    }
}

TEST_CTX(no_edge_leaves_a_node_alone)
{
    tiny_world t;
    tiny_make(ctx, &t, 3, GRAPHSS_FEATURES_BINARY);
    graphss_attack_options opt = plain_options(GRAPHSS_ATTACK_EDGES, 40);
    for (int32_t u = 0; u < TINY_N; u++) {
        const graphss_attack_input in = tiny_input(&t, &u, 1);
        graphss_flips flips = {0};
        graphss_graph g = {0};
        graphss_features f = {0};
        assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt));
        assert_int_equal(flips.count, 40); /* an edge may be flipped again */
        assert_ok(
            ctx, graphss_flips_apply_parts(ctx, &g, &f, in.graph, in.features, &flips, NULL));
        assert_ok(ctx, graphss_graph_check(ctx, &g));
        for (size_t i = 0; i < TINY_N; i++)
            assert_true(graphss_graph_degree(&g, i) > 0);
        graphss_graph_destroy(ctx, &g);
        graphss_features_destroy(ctx, &f);
        graphss_flips_destroy(ctx, &flips);
    }
    graphss_dataset_destroy(ctx, &t.data);
}

/* Degrees so alike that one more edge shows: the test refuses every one of them. */
TEST_CTX(a_strict_degree_test_refuses_edges_and_the_log_says_so)
{
    tiny_world t;
    tiny_make(ctx, &t, 3, GRAPHSS_FEATURES_BINARY);
    graphss_attack_options opt = plain_options(GRAPHSS_ATTACK_EDGES, 3);
    opt.degree_test = true;
    opt.delta_cutoff = 0;
    const int32_t u = 1;
    const graphss_attack_input in = tiny_input(&t, &u, 1);
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &in, &opt));
    assert_int_equal(flips.count, 0);
    assert_int_equal(log.victim[0].n_edges, 0);
    assert_int_equal(log.victim[0].wanted, 3);
    assert_true(log.victim[0].loss_after == log.victim[0].loss_before);
    graphss_flips_destroy(ctx, &flips);
    graphss_attack_log_destroy(ctx, &log);
    graphss_dataset_destroy(ctx, &t.data);
}

TEST_CTX(an_isolated_victim_can_be_connected_but_has_no_influencers)
{
    tiny_world t;
    tiny_make(ctx, &t, 8, GRAPHSS_FEATURES_BINARY);
    /* The same graph without the edges of node 5. */
    int32_t from[4 * TINY_N], to[4 * TINY_N];
    size_t m = 0;
    for (int32_t i = 0; i < TINY_N; i++)
        for (int64_t e = t.data.graph.offset[i]; e < t.data.graph.offset[i + 1]; e++)
            if (i != 5 && t.data.graph.target[e] != 5 && i < t.data.graph.target[e]) {
                from[m] = i;
                to[m++] = t.data.graph.target[e];
            }
    graphss_graph_destroy(ctx, &t.data.graph);
    assert_ok(ctx, graphss_graph_build(ctx, &t.data.graph, NULL, TINY_N, from, to, m));
    const int32_t u = 5;
    const graphss_attack_input in = tiny_input(&t, &u, 1);
    graphss_attack_options opt = plain_options(GRAPHSS_ATTACK_LF, 0);
    graphss_flips flips = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt));
    assert_int_equal(graphss_flips_count(&flips, GRAPHSS_FLIP_EDGE), 2);
    graphss_flips_destroy(ctx, &flips);
    opt.influencers = 2;
    assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt));
    assert_int_equal(flips.count, 0);
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &t.data);
}

TEST_CTX(what_cannot_be_attacked_is_refused)
{
    tiny_world t;
    tiny_make(ctx, &t, 8, GRAPHSS_FEATURES_BINARY);
    graphss_flips flips = {0};
    const int32_t beyond[] = {1, TINY_N}, twice[] = {4, 2, 4}, fine = 1;
    graphss_attack_input in = tiny_input(&t, beyond, 2);
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID,
        "victim 1 is node 14");
    in = tiny_input(&t, twice, 3);
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID,
        "node 4 is a victim twice");
    in = tiny_input(&t, &fine, 1);
    in.surrogate = NULL;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID,
        "needs a surrogate");
    in = tiny_input(&t, &fine, 1);
    in.label = NULL;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID,
        "no labels");
    in = tiny_input(&t, &fine, 1);
    t.data.label[1] = -1;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID,
        "its label is -1");
    t.data.label[1] = 0;
    opt.method = "charm";
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt), GRAPHSS_ERR_INVALID,
        "found 'charm', want one of nettack");
    graphss_attack_options_init(&opt);
    opt.edges = -1;
    assert_fails(
        ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt), GRAPHSS_ERR_INVALID, "--links");
    t.w[4] = NAN;
    assert_fails(
        ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID, "[1][1]");
    t.w[4] = 0;
    t.data.features.n_rows = TINY_N - 1;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_SHAPE,
        "features of 13 nodes");
    t.data.features.n_rows = TINY_N;
    t.data.label[3] = 1 << 20;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID,
        "node 3 has label 1048576");
    t.data.label[3] = -1;
    const int32_t target = t.data.graph.target[0], column = t.data.features.column[0];
    t.data.graph.target[0] = TINY_N;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID,
        "node 0: neighbour 14");
    t.data.graph.target[0] = target;
    t.data.features.column[0] = -1;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_INVALID,
        "feature -1");
    t.data.features.column[0] = column;
    graphss_features none = {.n_rows = TINY_N};
    in.features = &none;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_SHAPE,
        "the data has none");
    assert_int_equal(flips.count, 0);
    graphss_dataset_destroy(ctx, &t.data);
}

static bool stop(void *user, const char *stage, size_t done, size_t total, const char *note)
{
    (void)user;
    (void)stage;
    (void)total;
    (void)note;
    return done < 2;
}

TEST(an_attack_can_be_cancelled)
{
    const graphss_ctx_options options = {
        .struct_size = sizeof options, .threads = 1, .progress = stop};
    graphss_ctx *ctx = graphss_ctx_new(&options);
    tiny_world t;
    tiny_make(ctx, &t, 8, GRAPHSS_FEATURES_BINARY);
    const int32_t victim[] = {0, 1, 2};
    const graphss_attack_input in = tiny_input(&t, victim, 3);
    graphss_flips flips = {0};
    assert_int_equal(graphss_attack_run(ctx, &flips, NULL, &in, NULL), GRAPHSS_ERR_CANCELLED);
    assert_null(flips.item);
    graphss_dataset_destroy(ctx, &t.data);
    graphss_ctx_free(ctx);
}

typedef struct starving {
    tiny_world *t;
    graphss_attack_options opt;
    bool each, ground;
} starving;

/* On a ground made for all victims, or each on its own. */
static graphss_status attack_each(graphss_ctx *ctx, graphss_flips *flips,
    const graphss_attack_input *in, const graphss_attack_options *opt,
    const graphss_i_attack_budget *each, size_t stride, bool grounded)
{
    graphss_i_ground ground = {0};
    graphss_status st = GRAPHSS_OK;
    const graphss_i_ground_input base = {.features = in->features,
        .domain = graphss_i_attack_domain(in->features, opt),
        .node = in->victim,
        .n_nodes = in->n_victims,
        .n_classes = in->n_classes,
        .believed = &in->surrogate,
        .n_believed = 1};
    if (grounded)
        st = graphss_i_ground_init(ctx, &ground, &base);
    if (!st)
        st = graphss_i_nettack_each(
            ctx, flips, in, opt, each, stride, grounded ? &ground : NULL);
    graphss_i_ground_destroy(ctx, &ground);
    return st;
}

static graphss_status attack_all(graphss_ctx *ctx, void *arg)
{
    const starving *s = arg;
    const int32_t victim[] = {1, 5, 9, 12};
    const graphss_attack_input in = tiny_input(s->t, victim, 4);
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    const graphss_i_attack_budget each[] = {{2, 2, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}};
    const graphss_status st = s->each
                                  ? attack_each(ctx, &flips, &in, &s->opt, each, 2, s->ground)
                                  : graphss_attack_run(ctx, &flips, &log, &in, &s->opt);
    graphss_flips_destroy(ctx, &flips);
    graphss_attack_log_destroy(ctx, &log);
    return st;
}

TEST_CTX(every_allocation_may_fail)
{
    tiny_world t;
    tiny_make(ctx, &t, 8, GRAPHSS_FEATURES_REAL);
    starving s = {.each = true};
    s.t = &t;
    graphss_attack_options_init(&s.opt);
    testing_each_allocation_fails(attack_all, &s);
    s.ground = true;
    testing_each_allocation_fails(attack_all, &s);
    s.each = false;
    testing_each_allocation_fails(attack_all, &s);
    s.opt.independent = true;
    s.opt.mode = GRAPHSS_MODE_PAPER;
    testing_each_allocation_fails(attack_all, &s);
    s.opt.influencers = 2;
    s.opt.kind = GRAPHSS_ATTACK_BOTH;
    testing_each_allocation_fails(attack_all, &s);
    graphss_dataset_destroy(ctx, &t.data);
}

TEST(the_budget_and_the_domain_are_reported)
{
    char text[160];
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    graphss_attack_budget_text(text, sizeof text, &opt);
    assert_string_equal(text, "2 links then 20 features per victim, cumulative, direct");
    opt.kind = GRAPHSS_ATTACK_BOTH;
    opt.independent = true;
    opt.influencers = 5;
    graphss_attack_budget_text(text, sizeof text, &opt);
    assert_string_equal(text,
        "degree + 2 links or features per victim, independent, through 5 "
        "influencers");
    const graphss_features counts = {.kind = GRAPHSS_FEATURES_COUNTS};
    graphss_attack_domain_text(text, sizeof text, &counts, &opt);
    assert_string_equal(text, "0 <-> the column's median (counts, detected)");
    opt.domain = GRAPHSS_DOMAIN_BINARY;
    graphss_attack_domain_text(text, sizeof text, &counts, &opt);
    assert_string_equal(text, "0 <-> 1 (binary, forced)");
}

/* With the same budget for all victims it is the attack itself, with prepared state or
 * without. Otherwise each has its own budget, and with a stride only every stride-th node is a
 * target. */
TEST_CTX(victims_may_have_budgets_of_their_own)
{
    const int32_t victim[] = {3, 7, 9};
    enum { N = sizeof victim / sizeof *victim };
    for (uint64_t seed = 1; seed <= 4; seed++) {
        tiny_world t;
        tiny_make(ctx, &t, seed, GRAPHSS_FEATURES_BINARY);
        const graphss_attack_input in = tiny_input(&t, victim, N);
        graphss_attack_options opt = plain_options(GRAPHSS_ATTACK_LF, 0);
        opt.features = 3;
        graphss_flips want = {0}, got = {0}, own = {0};
        const graphss_i_attack_budget same[N] = {{2, 3, 0}, {2, 3, 0}, {2, 3, 0}};
        assert_ok(ctx, graphss_attack_run(ctx, &want, NULL, &in, &opt));
        for (int way = 0; way < 4; way++) {
            assert_ok(
                ctx, attack_each(ctx, &got, &in, &opt, way % 2 ? same : NULL, 1, way / 2));
            assert_int_equal(got.count, want.count);
            for (size_t i = 0; i < want.count; i++) {
                assert_int_equal(got.item[i].victim, want.item[i].victim);
                assert_int_equal(got.item[i].node, want.item[i].node);
                assert_int_equal(got.item[i].target, want.item[i].target);
            }
            graphss_flips_destroy(ctx, &got);
        }
        const graphss_i_attack_budget each[N] = {{0, 2, 0}, {3, 0, 0}, {0, 0, 0}};
        assert_ok(ctx, attack_each(ctx, &own, &in, &opt, each, 5, false));
        size_t edges = 0, words = 0;
        for (size_t i = 0; i < own.count; i++) {
            const graphss_flip *f = &own.item[i];
            const bool edge = f->kind == GRAPHSS_FLIP_EDGE;
            edges += edge && f->victim == 7;
            words += !edge && f->victim == 3;
            if (edge && f->new_value != 0)
                assert_true(f->node % 5 == 0 || f->target % 5 == 0);
        }
        assert_int_equal(edges + words, own.count);
        assert_int_equal(words, 2);
        assert_true(edges > 0 && edges <= 3);
        graphss_flips_destroy(ctx, &own);
        graphss_flips_destroy(ctx, &want);
        graphss_dataset_destroy(ctx, &t.data);
    }
}

int main(void)
{
    return testing_run();
}
