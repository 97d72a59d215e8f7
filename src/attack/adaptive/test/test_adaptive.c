/* The adaptive attack against toy defences whose weak point is known, and its moves. */
#include "attack/adaptive/moves.h"
#include "attack/test/testing_attack.h"
#include "graph/rows.h"

enum { EDGES = 2, FEATURES = 5 };

static graphss_attack_options options(int64_t queries)
{
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.method = "adaptive";
    opt.edges = EDGES;
    opt.features = FEATURES;
    opt.queries = queries;
    return opt;
}

static void make(graphss_ctx *ctx, fixture *s, float **w)
{
    *w = NULL;
    fixture_make(ctx, s, "gcn");
    const graphss_train_input train = {.struct_size = sizeof train,
        .graph = &s->data.graph,
        .features = &s->data.features,
        .n_classes = s->data.n_classes,
        .split = &s->split,
        .seed = 1};
    assert_ok(ctx, graphss_surrogate_train(ctx, w, &train));
    s->in.surrogate = *w;
}

static bool linked(const graphss_graph *g, int32_t a, int32_t b)
{
    for (int64_t e = g->offset[a]; e < g->offset[a + 1]; e++)
        if (g->target[e] == b)
            return true;
    return false;
}

/* Number of features of a node that differ. */
static size_t differ(const graphss_features *a, const graphss_features *b, int32_t node)
{
    const graphss_i_row x = graphss_i_row_of(a, (size_t)node);
    const graphss_i_row y = graphss_i_row_of(b, (size_t)node);
    size_t n = 0, at = 0, to = 0;
    for (size_t j = 0; j < a->n_cols; j++)
        n += graphss_i_row_value(x, &at, j) != graphss_i_row_value(y, &to, j);
    return n;
}

typedef struct toy {
    size_t asked;
    double first; /* mean loss of the first snapshot */
    double last;  /* best mean loss so far */
} toy;

static void note(toy *t, const double *loss, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += loss[i] / (double)n;
    if (t->asked++ == 0)
        t->first = t->last = mean;
    t->last = mean < t->last ? mean : t->last;
}

/* Fooled only by a node all of whose words are its own, five fewer than before. */
static graphss_status watches_additions(void *user, graphss_ctx *ctx, double *loss,
    const graphss_attack_input *in, const graphss_graph *graph,
    const graphss_features *features)
{
    (void)ctx, (void)graph;
    for (size_t i = 0; i < in->n_victims; i++) {
        const size_t v = (size_t)in->victim[i];
        const double had = (double)graphss_i_row_count(graphss_i_row_of(in->features, v));
        const double has = (double)graphss_i_row_count(graphss_i_row_of(features, v));
        loss[i] = has - had + FEATURES - 0.5;
    }
    note(user, loss, in->n_victims);
    return GRAPHSS_OK;
}

/* Fooled only by a node that has lost an edge and gained one, and kept its words: no opening
 * does both. */
static graphss_status watches_features(void *user, graphss_ctx *ctx, double *loss,
    const graphss_attack_input *in, const graphss_graph *graph,
    const graphss_features *features)
{
    (void)ctx;
    for (size_t i = 0; i < in->n_victims; i++) {
        const int32_t v = in->victim[i];
        bool lost = false, gained = false;
        for (int64_t e = in->graph->offset[v]; e < in->graph->offset[v + 1]; e++)
            lost |= !linked(graph, v, in->graph->target[e]);
        for (int64_t e = graph->offset[v]; e < graph->offset[v + 1]; e++)
            gained |= !linked(in->graph, v, graph->target[e]);
        loss[i] = 2.5 - lost - gained - (differ(in->features, features, v) == 0);
    }
    note(user, loss, in->n_victims);
    return GRAPHSS_OK;
}

TEST_CTX(it_finds_the_weak_point_of_a_toy_defence)
{
    static const graphss_attack_ask defence[] = {watches_additions, watches_features};
    fixture s;
    float *w;
    make(ctx, &s, &w);
    for (size_t d = 0; d < 2; d++) {
        toy t = {0};
        graphss_flips flips = {0};
        graphss_attack_log log = {0};
        const graphss_attack_options opt = options(0);
        s.in.ask = defence[d];
        s.in.asked = &t;
        assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
        assert_int_equal(t.asked, GRAPHSS_ATTACK_QUERIES);
        assert_int_equal(log.n_queries, GRAPHSS_ATTACK_QUERIES);
        for (size_t i = 0; i < log.n_victims; i++)
            assert_true(log.victim[i].loss_after == -0.5); /* the lowest possible loss */
        assert_true(t.first > -0.5 && t.last == -0.5);
        graphss_attack_log_destroy(ctx, &log);
        graphss_flips_destroy(ctx, &flips);
    }
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

static size_t won(const graphss_attack_log *log)
{
    size_t n = 0;
    for (size_t i = 0; i < log->n_victims; i++)
        n += log->victim[i].loss_after < 0;
    return n;
}

TEST_CTX(more_questions_never_win_fewer_victims)
{
    fixture s;
    float *w;
    size_t before = 0;
    make(ctx, &s, &w);
    for (int64_t queries = 1; queries <= 17; queries += 4) {
        graphss_flips flips = {0};
        graphss_attack_log log = {0};
        const graphss_attack_options opt = options(queries);
        assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
        assert_true(won(&log) >= before);
        before = won(&log);
        graphss_attack_log_destroy(ctx, &log);
        graphss_flips_destroy(ctx, &flips);
    }
    assert_true(before > SCENE_VICTIMS / 2); /* the model alone is misled */
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

/* The reported loss of the best snapshot holds in the snapshot that the list makes. */
TEST_CTX(the_list_makes_the_snapshot_that_was_asked_about)
{
    fixture s;
    float *w;
    toy t = {0};
    double loss[SCENE_VICTIMS];
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    graphss_dataset now = {0};
    const graphss_attack_options opt = options(20);
    make(ctx, &s, &w);
    s.in.ask = watches_features;
    s.in.asked = &t;
    assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &s.in, &opt));
    snprintf(flips.hash, sizeof flips.hash, "%s", s.data.hash);
    assert_ok(ctx, graphss_flips_apply(ctx, &now, &s.data, &flips, NULL));
    assert_ok(ctx, watches_features(&t, ctx, loss, &s.in, &now.graph, &now.features));
    for (size_t i = 0; i < SCENE_VICTIMS; i++)
        assert_true(loss[i] == log.victim[i].loss_after);
    graphss_dataset_destroy(ctx, &now);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &flips);
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

static graphss_status refuses(void *user, graphss_ctx *ctx, double *loss,
    const graphss_attack_input *in, const graphss_graph *graph,
    const graphss_features *features)
{
    (void)ctx, (void)graph, (void)features;
    for (size_t i = 0; i < in->n_victims; i++)
        loss[i] = NAN;
    return *(const graphss_status *)user;
}

TEST_CTX(errors_of_the_defence_are_passed_on)
{
    fixture s;
    float *w;
    graphss_flips flips = {0};
    graphss_attack_options opt = options(3);
    graphss_status says = GRAPHSS_ERR_LIMIT;
    make(ctx, &s, &w);
    s.in.ask = refuses;
    s.in.asked = &says;
    assert_int_equal(graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_LIMIT);
    says = GRAPHSS_OK;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_DATA,
        "is not a number");
    opt.independent = true;
    assert_fails(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt), GRAPHSS_ERR_INVALID,
        "no --independent");
    assert_null(flips.item);
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

/* Every change of a move changes something, each target once, and the budget holds. */
TEST_CTX(moves_keep_their_budget)
{
    fixture s;
    float *w;
    graphss_i_known known;
    const graphss_attack_options opt = options(0);
    size_t made[2] = {0, 0};
    make(ctx, &s, &w);
    assert_ok(ctx, graphss_i_known_init(ctx, &known, &s.in, &opt));
    for (size_t i = 0; i < SCENE_VICTIMS; i++) {
        const int32_t v = s.victim[i], to = known.wanted[i * 2];
        graphss_rng rng = graphss_rng_make(7, i);
        graphss_i_change change[8];
        assert_true(to != s.data.label[v]);
        const int32_t donor = graphss_i_choose_donor(&known, to, &rng);
        assert_int_equal(s.data.label[donor], to);
        for (int m = 0; m < GRAPHSS_I_EDGE_MOVES; m++)
            for (size_t most = 0; most <= 8; most++) {
                const size_t n = graphss_i_choose_edges(
                    change, most, &known, v, to, donor, (graphss_i_edge_move)m, &rng);
                size_t cuts = 0;
                assert_true(n <= most);
                for (size_t j = 0; j < n; j++) {
                    for (size_t l = 0; l < j; l++)
                        assert_true(change[l].target != change[j].target);
                    assert_int_equal(
                        linked(&s.data.graph, v, change[j].target), change[j].value == 0);
                    assert_true(change[j].value == 0 || s.data.label[change[j].target] == to);
                    cuts += change[j].value == 0;
                }
                assert_true(cuts < graphss_graph_degree(&s.data.graph, (size_t)v));
                made[0] += n;
            }
        for (int m = 0; m < GRAPHSS_I_FEATURE_MOVES; m++)
            for (size_t most = 0; most <= 8; most++) {
                const size_t n = graphss_i_choose_features(
                    change, most, &known, v, to, donor, (graphss_i_feature_move)m, &rng);
                assert_true(n <= most);
                for (size_t j = 0; j < n; j++) {
                    const graphss_i_row row = graphss_i_row_of(&s.data.features, (size_t)v);
                    size_t at = 0;
                    for (size_t l = 0; l < j; l++)
                        assert_true(change[l].target != change[j].target);
                    assert_true(graphss_i_row_value(row, &at, (size_t)change[j].target) !=
                                change[j].value);
                }
                made[1] += n;
            }
    }
    assert_true(made[0] > 0 && made[1] > 0);
    graphss_i_known_destroy(ctx, &known);
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

/* The loudest feature of a class is the one that only this class has. */
TEST_CTX(the_loudest_feature_is_that_of_the_class)
{
    fixture s;
    float *w;
    graphss_i_known known;
    const graphss_attack_options opt = options(0);
    make(ctx, &s, &w);
    memset(w, 0, s.data.features.n_cols * s.data.n_classes * sizeof *w);
    w[3 * s.data.n_classes + 1] = 100; /* of all features, the third is evidence for class 1 */
    assert_ok(ctx, graphss_i_known_init(ctx, &known, &s.in, &opt));
    assert_int_equal(known.loudest[1 * s.data.features.n_cols], 3);
    assert_true(
        known.first[s.data.n_classes] + SCENE_VICTIMS == (int64_t)s.data.graph.n_nodes);
    graphss_i_known_destroy(ctx, &known);
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

TEST_CTX(dense_features_take_the_values_of_a_donor)
{
    fixture s;
    float *w;
    graphss_flips flips = {0};
    graphss_features dense = {0};
    const graphss_attack_options opt = options(12);
    make(ctx, &s, &w);
    const size_t n = s.data.graph.n_nodes, d = s.data.features.n_cols;
    float *x = graphss_i_calloc(ctx, n * d, sizeof *x);
    for (size_t e = 0; e < n * d; e++)
        x[e] = (float)((e * 7919) % 997) / 997 + 0.5F;
    dense = (graphss_features){
        .n_rows = n, .n_cols = d, .kind = GRAPHSS_FEATURES_REAL, .value = x};
    s.in.features = &dense;
    assert_ok(ctx, graphss_attack_run(ctx, &flips, NULL, &s.in, &opt));
    for (size_t i = 0; i < flips.count; i++) {
        const graphss_flip *f = &flips.item[i];
        if (f->kind != GRAPHSS_FLIP_FEATURE)
            continue;
        bool held = false;
        for (size_t u = 0; u < n && !held; u++)
            held = x[u * d + (size_t)f->target] == f->new_value;
        assert_true(held && f->new_value != f->old_value);
    }
    assert_true(graphss_flips_count(&flips, GRAPHSS_FLIP_FEATURE) > 0);
    graphss_flips_destroy(ctx, &flips);
    graphss_release(ctx, x);
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

static graphss_status attack_once(graphss_ctx *ctx, void *arg)
{
    const graphss_attack_options opt = options(12);
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    const graphss_status st = graphss_attack_run(ctx, &flips, &log, arg, &opt);
    if (st)
        assert_null(flips.item);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

TEST_CTX(each_allocation_may_fail)
{
    fixture s;
    float *w;
    toy t = {0};
    make(ctx, &s, &w);
    s.in.ask = watches_features;
    s.in.asked = &t;
    s.in.n_victims = 3;
    testing_each_allocation_fails(attack_once, &s.in);
    graphss_release(ctx, w);
    fixture_destroy(ctx, &s);
}

int main(void)
{
    return testing_run();
}
