/* A graph attacked before training: the kernels against naive twins, what is found on a graph
 * poisoned here, and what is left alone on a clean one. */
#include "observation/test/testing_attacked_world.h"
#include "recover/link_trust.h"
#include <graphss/synth.h>

enum { N = 30, K = 3, LINKS = 4000 };

/* ---- kernels ---- */

static void small_graph(graphss_ctx *ctx, graphss_graph *g, uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SYNTH);
    int32_t from[90], to[90];
    for (int e = 0; e < 90; e++) {
        from[e] = (int32_t)graphss_rng_below(&rng, N);
        to[e] = (int32_t)graphss_rng_below(&rng, N);
    }
    assert_ok(ctx, graphss_graph_build(ctx, g, NULL, N, from, to, 90));
}

/* [i][j], 0 where there is no link */
static void whole(double x[N][N], const graphss_graph *g, const float *value)
{
    memset(x, 0, N * N * sizeof x[0][0]);
    for (size_t i = 0; i < N; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            x[i][g->target[e]] = value ? (double)value[e] : 1;
}

/* Trust that is the same in both directions. */
static void draw_trust(float *trust, const graphss_graph *g)
{
    for (size_t i = 0; i < N; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            trust[e] = (float)((i + (size_t)g->target[e]) % 5) / 4;
}

TEST(shared_neighbours_are_those_of_whole_matrices)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_graph g = {0}, pairs = {0};
    small_graph(ctx, &g, 1);
    small_graph(ctx, &pairs, 2);
    const size_t m = (size_t)pairs.offset[N];
    float trust[180], out[180], room[N] = {0};
    double degree[N], t[N][N];
    draw_trust(trust, &g);
    whole(t, &g, trust);
    graphss_i_link_common(out, &pairs, &g, trust, degree, room);
    assert_true(m > 50);
    for (size_t i = 0; i < N; i++)
        for (int64_t e = pairs.offset[i]; e < pairs.offset[i + 1]; e++) {
            const size_t j = (size_t)pairs.target[e];
            double sum = 0, a = 0, b = 0;
            for (size_t l = 0; l < N; l++) {
                sum += t[i][l] * t[l][j];
                a += t[i][l];
                b += t[j][l];
            }
            assert_float_equal(out[e], sum > 0 ? sum / sqrt(a * b) : 0, 1e-6);
        }
    for (size_t i = 0; i < N; i++)
        assert_float_equal(room[i], 0, 0);
    graphss_graph_destroy(ctx, &pairs);
    graphss_graph_destroy(ctx, &g);
    graphss_ctx_free(ctx);
}

TEST(both_ways_of_a_link_get_the_value_of_one)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_graph g = {0};
    small_graph(ctx, &g, 4);
    float value[180];
    int64_t at[N];
    double before[N][N], after[N][N];
    for (size_t e = 0; e < (size_t)g.offset[N]; e++)
        value[e] = (float)(e + 1);
    whole(before, &g, value);
    graphss_i_link_both_ways(value, &g, at);
    whole(after, &g, value);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            assert_float_equal(after[i][j], i < j ? before[i][j] : before[j][i], 0);
    graphss_graph_destroy(ctx, &g);
    graphss_ctx_free(ctx);
}

TEST(agreement_is_that_of_whole_matrices)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_graph g = {0};
    small_graph(ctx, &g, 3);
    float trust[180], belief[N * K], out[180];
    double ratio[K * K], end[K], t[N][N];
    draw_trust(trust, &g);
    whole(t, &g, trust);
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < K; c++)
            belief[i * K + c] = (float)(1 + (i * 7 + c * 5) % 4);
    for (size_t i = 0; i < N; i++) {
        const float sum = belief[i * K] + belief[i * K + 1] + belief[i * K + 2];
        for (size_t c = 0; c < K; c++)
            belief[i * K + c] /= sum;
    }
    graphss_i_link_ratio(ratio, end, &g, trust, belief, K);
    graphss_i_link_agreement(out, &g, belief, ratio, K);
    double joint[K][K] = {{0}}, own[K] = {0}, total = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t c = 0; c < K; c++)
                for (size_t d = 0; d < K; d++) {
                    const double p =
                        t[i][j] * (double)belief[i * K + c] * (double)belief[j * K + d];
                    joint[c][d] += p;
                    own[c] += p;
                    total += p;
                }
    for (size_t c = 0; c < K; c++)
        for (size_t d = 0; d < K; d++)
            assert_float_equal(
                ratio[c * K + d], (joint[c][d] + 1) / (own[c] * own[d] / total + 1), 1e-5);
    for (size_t i = 0; i < N; i++)
        for (int64_t e = g.offset[i]; e < g.offset[i + 1]; e++) {
            double sum = 0;
            for (size_t c = 0; c < K; c++)
                for (size_t d = 0; d < K; d++)
                    sum += (double)belief[i * K + c] * ratio[c * K + d] *
                           (double)belief[(size_t)g.target[e] * K + d];
            assert_float_equal(out[e], log(sum), 1e-5);
        }
    graphss_graph_destroy(ctx, &g);
    graphss_ctx_free(ctx);
}

TEST(bins_hold_about_as_many_and_equal_values_share_one)
{
    float value[LINKS], sorted[LINKS], cut[GRAPHSS_I_LINK_BINS];
    uint8_t bin[LINKS];
    size_t n_cut, count[GRAPHSS_I_LINK_BINS] = {0};
    for (size_t e = 0; e < LINKS; e++)
        value[e] = (float)((e * 2654435761U) % LINKS); /* each number once */
    graphss_i_link_bins(bin, cut, &n_cut, sorted, value, LINKS);
    assert_int_equal(n_cut, GRAPHSS_I_LINK_BINS - 1);
    for (size_t e = 0; e < LINKS; e++)
        count[bin[e]]++;
    for (size_t b = 0; b < GRAPHSS_I_LINK_BINS; b++)
        assert_in_range(
            count[b], LINKS / GRAPHSS_I_LINK_BINS - 2, LINKS / GRAPHSS_I_LINK_BINS + 2);
    for (size_t e = 0; e < LINKS; e++)
        value[e] = e % 4 ? 0 : e % 8 ? 1 : NAN;
    graphss_i_link_bins(bin, cut, &n_cut, sorted, value, LINKS);
    assert_int_equal(n_cut, 1);
    for (size_t e = 0; e < LINKS; e++)
        assert_int_equal(bin[e], e % 4 ? 0 : e % 8 ? 1 : GRAPHSS_I_LINK_UNSEEN);
    double chance[GRAPHSS_I_LINK_BINS], sum = 0;
    graphss_i_link_chance(chance, cut, n_cut, value, LINKS);
    for (size_t b = 0; b < GRAPHSS_I_LINK_BINS; b++)
        sum += chance[b];
    assert_float_equal(sum, 1, 1e-9);
    assert_float_equal(chance[0] / chance[1], 6, 0.1);
}

/* Two views of planted links: a foreign link's are those of a random pair, a genuine one's the
 * largest of nine such. less: share of links that are told wrongly and would not be by one who
 * knows both distributions and the share. */
static double planted(double share, double *less)
{
    double foreign[LINKS], chance[2 * GRAPHSS_I_LINK_BINS];
    uint8_t bin[2 * LINKS];
    bool truth[LINKS];
    graphss_rng rng = graphss_rng_make(7, GRAPHSS_STREAM_SYNTH);
    for (size_t b = 0; b < 2 * GRAPHSS_I_LINK_BINS; b++)
        chance[b] = 1.0 / GRAPHSS_I_LINK_BINS;
    for (size_t e = 0; e < LINKS; e++) {
        truth[e] = graphss_rng_double(&rng) < share;
        foreign[e] = 0.1;
        for (size_t v = 0; v < 2; v++) {
            const double u = graphss_rng_double(&rng);
            bin[v * LINKS + e] =
                (uint8_t)(GRAPHSS_I_LINK_BINS * (truth[e] ? u : cbrt(cbrt(u))));
        }
    }
    const double found = graphss_i_link_foreign(foreign, bin, chance, 2, LINKS);
    int excess = 0;
    for (size_t e = 0; e < LINKS; e++) {
        double odds = share / (1 - share);
        for (size_t v = 0; v < 2; v++) {
            const double low = bin[v * LINKS + e] / (double)GRAPHSS_I_LINK_BINS;
            const double high = low + 1.0 / GRAPHSS_I_LINK_BINS;
            odds /= GRAPHSS_I_LINK_BINS * (pow(high, 9) - pow(low, 9));
        }
        excess += ((odds > 1) == truth[e]) - ((foreign[e] > 0.5) == truth[e]);
    }
    *less = excess / (double)LINKS;
    return found;
}

TEST(the_share_of_foreign_links_is_found)
{
    const double share[] = {0, 0.05, 0.2, 0.5};
    for (size_t i = 0; i < 4; i++) {
        double less;
        assert_float_equal(planted(share[i], &less), share[i], 0.03);
        assert_true(less < 0.01);
    }
}

TEST(a_view_that_says_nothing_changes_nothing)
{
    double foreign[LINKS], chance[GRAPHSS_I_LINK_BINS] = {1};
    uint8_t bin[LINKS];
    for (size_t e = 0; e < LINKS; e++) {
        foreign[e] = 0.1;
        bin[e] = e % 2 ? 0 : GRAPHSS_I_LINK_UNSEEN;
    }
    graphss_i_link_foreign(foreign, bin, chance, 1, LINKS);
    for (size_t e = 0; e < LINKS; e++)
        assert_float_equal(foreign[e], 0.1, 0.01);
}

/* ---- the whole ---- */

/* What most tests take: words say much of the class, links more. */
static const char EASY[] = "nodes=600,classes=3,topic=0.5,homophily=0.9";

typedef struct poisoned_world {
    graphss_dataset data;
    graphss_graph attacked; /* with an eighth more links, between classes */
    graphss_split split;
    size_t added;
} poisoned_world;

static void poisoned_world_make(
    graphss_ctx *ctx, poisoned_world *p, const char *made, double train, double noise)
{
    memset(p, 0, sizeof *p);
    graphss_synth_options synth;
    assert_ok(ctx, graphss_synth_options_parse(ctx, &synth, made));
    const size_t n = (size_t)synth.nodes;
    assert_ok(ctx, graphss_synth_make(ctx, &p->data, &synth));
    graphss_split_options s;
    graphss_split_options_init(&s);
    s.train = train;
    s.noise = noise;
    assert_ok(ctx, graphss_split_make(ctx, &p->split, p->data.label, n, 3, 4, &s));
    const graphss_graph *g = &p->data.graph;
    const size_t kept = (size_t)g->offset[n], more = kept / 8;
    int32_t *from = malloc((kept + more) * sizeof *from);
    int32_t *to = malloc((kept + more) * sizeof *to);
    size_t e = 0;
    for (size_t i = 0; i < n; i++)
        for (int64_t j = g->offset[i]; j < g->offset[i + 1]; j++, e++) {
            from[e] = (int32_t)i;
            to[e] = g->target[j];
        }
    graphss_rng rng = graphss_rng_make(9, GRAPHSS_STREAM_ATTACK);
    while (e < kept + more) {
        from[e] = (int32_t)graphss_rng_below(&rng, n);
        to[e] = (int32_t)graphss_rng_below(&rng, n);
        e += p->data.label[from[e]] != p->data.label[to[e]];
    }
    assert_ok(ctx, graphss_graph_build(ctx, &p->attacked, NULL, n, from, to, e));
    p->added = graphss_graph_edges(&p->attacked) - graphss_graph_edges(g);
    free(from), free(to);
}

static void poisoned_world_destroy(graphss_ctx *ctx, poisoned_world *p)
{
    graphss_graph_destroy(ctx, &p->attacked);
    graphss_split_destroy(ctx, &p->split);
    graphss_dataset_destroy(ctx, &p->data);
}

static graphss_train_input input_of(const poisoned_world *p, const graphss_graph *graph)
{
    return (graphss_train_input){.struct_size = sizeof(graphss_train_input),
        .graph = graph,
        .features = &p->data.features,
        .n_classes = 3,
        .split = &p->split,
        .seed = 1};
}

static graphss_train_options quick(const char *model)
{
    graphss_train_options fit;
    graphss_train_options_init(&fit, model, GRAPHSS_MODE_DEFAULT, NULL);
    fit.hidden = 16;
    fit.dropout = 0.5;
    fit.epochs = 100;
    return fit;
}

static double trained_accuracy(
    graphss_ctx *ctx, const poisoned_world *p, const graphss_train_input *in)
{
    graphss_model *model = NULL;
    const graphss_train_options fit = quick("gcn");
    int32_t *label = malloc(in->graph->n_nodes * sizeof *label);
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL, in, &fit));
    assert_ok(ctx, graphss_model_label(ctx, label, model, in->graph, in->features));
    const double accuracy =
        graphss_labels_accuracy(label, p->data.label, p->split.test, p->split.n_test);
    graphss_model_free(ctx, model);
    free(label);
    return accuracy;
}

/* Accuracy on what is trusted less that on all. */
static double gain(graphss_ctx *ctx, const poisoned_world *p, const graphss_graph *graph,
    graphss_poisoned_result *r)
{
    graphss_train_input in = input_of(p, graph);
    const graphss_train_options fit = quick("gcn");
    const double before = trained_accuracy(ctx, p, &in);
    assert_ok(ctx, graphss_poisoned_run(ctx, r, &in, &fit));
    in.graph = &r->trusted;
    in.split = &r->split;
    return trained_accuracy(ctx, p, &in) - before;
}

TEST(links_between_classes_are_found_and_leaving_them_out_helps)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    poisoned_world p;
    graphss_poisoned_result r = {0};
    graphss_flips flips = {0};
    poisoned_world_make(ctx, &p, EASY, 0.15, 0);
    const double gained = gain(ctx, &p, &p.attacked, &r);
    assert_true(gained > 0.01);
    assert_ok(ctx, graphss_poisoned_flips(ctx, &flips, &p.attacked, r.foreign));
    assert_int_equal(flips.count, r.distrusted);
    size_t across = 0, added = 0;
    for (size_t i = 0; i < flips.count; i++) {
        const int32_t a = flips.item[i].node, b = flips.item[i].target;
        across += p.data.label[a] != p.data.label[b];
        added += !graphss_graph_has_edge(&p.data.graph, a, b);
        assert_false(graphss_graph_has_edge(&r.trusted, a, b));
    }
    assert_true((double)across > 0.6 * (double)flips.count);
    assert_true((double)added > 0.5 * (double)p.added);
    assert_int_equal(
        graphss_graph_edges(&r.trusted) + flips.count, graphss_graph_edges(&p.attacked));
    for (size_t i = 0; i < 600; i++) {
        const double *row = r.posterior + i * 3;
        assert_float_equal(row[0] + row[1] + row[2], 1, 1e-5);
        for (int64_t e = p.attacked.offset[i]; e < p.attacked.offset[i + 1]; e++)
            assert_true(r.foreign[e] >= 0 && r.foreign[e] <= 1);
    }
    graphss_flips_destroy(ctx, &flips);
    graphss_poisoned_result_destroy(ctx, &r);
    poisoned_world_destroy(ctx, &p);
    graphss_ctx_free(ctx);
}

TEST(a_clean_graph_keeps_its_links_and_labels)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    poisoned_world p;
    graphss_poisoned_result r = {0};
    poisoned_world_make(ctx, &p, EASY, 0.15, 0);
    assert_true(gain(ctx, &p, &p.data.graph, &r) > -0.015);
    assert_true((double)r.distrusted < 0.15 * (double)graphss_graph_edges(&p.data.graph));
    assert_true((double)r.doubted < 0.1 * (double)p.split.n_train);
    graphss_poisoned_result_destroy(ctx, &r);
    poisoned_world_destroy(ctx, &p);
    graphss_ctx_free(ctx);
}

/* Wrong training labels, doubted ones, and doubted ones that are wrong. */
typedef struct doubts {
    size_t labels, wrong, doubted, caught;
} doubts;

static void add_doubts(graphss_ctx *ctx, doubts *sum, const char *made, double train)
{
    poisoned_world p;
    graphss_poisoned_result r = {0};
    poisoned_world_make(ctx, &p, made, train, 0.2);
    const graphss_train_input in = input_of(&p, &p.data.graph);
    const graphss_train_options fit = quick("gcn");
    assert_ok(ctx, graphss_poisoned_run(ctx, &r, &in, &fit));
    const size_t before = sum->doubted;
    for (size_t j = 0; j < p.split.n_train; j++) {
        const bool is_wrong = p.split.train_label[j] != p.data.label[p.split.train[j]];
        sum->wrong += is_wrong;
        sum->doubted += r.doubt[j] > 0.5F;
        sum->caught += is_wrong && r.doubt[j] > 0.5F;
    }
    sum->labels += p.split.n_train;
    assert_int_equal(sum->doubted - before, r.doubted);
    assert_int_equal(r.split.n_train + r.doubted, p.split.n_train);
    graphss_poisoned_result_destroy(ctx, &r);
    poisoned_world_destroy(ctx, &p);
}

TEST(wrong_training_labels_are_doubted)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    doubts d = {0};
    add_doubts(ctx, &d, EASY, 0.4);
    assert_int_equal(d.wrong, 48);
    assert_true(2 * d.caught > d.wrong);
    assert_true(2 * d.caught > d.doubted);
    graphss_ctx_free(ctx);
}

/* Words say less and a fifth of the links joins classes, then a quarter: the classifier that
 * doubts errs often itself. */
TEST(wrong_labels_are_doubted_by_a_classifier_that_errs)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    doubts weaker = {0}, weak = {0};
    char made[96];
    for (int seed = 1; seed <= 3; seed++) {
        snprintf(made, sizeof made,
            "nodes=600,classes=3,topic=0.15,homophily=0.8,degree=5,seed=%d", seed);
        add_doubts(ctx, &weak, made, 0.4);
        snprintf(made, sizeof made,
            "nodes=600,classes=3,topic=0.1,homophily=0.75,degree=4,seed=%d", seed);
        add_doubts(ctx, &weaker, made, 0.3);
    }
    assert_true(3 * weak.caught > 2 * weak.doubted);
    assert_true(2 * weak.caught > weak.wrong);
    /* Here most of those doubted are right: only half as many again are wrong as by chance. */
    assert_true(2 * weaker.caught * weaker.labels > 3 * weaker.doubted * weaker.wrong);
    graphss_ctx_free(ctx);
}

/* Words say next to nothing, links nearly all: a perceptron's beliefs make links within
 * classes look like random pairs, and without validation labels they are cut. */
TEST(nothing_is_distrusted_where_that_costs_validation_labels)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    const graphss_train_options fit = quick("gcn");
    char made[96];
    for (int seed = 1; seed <= 3; seed++) {
        poisoned_world p;
        graphss_poisoned_result r = {0};
        snprintf(made, sizeof made,
            "nodes=400,classes=3,topic=0.02,homophily=0.98,degree=6,seed=%d", seed);
        poisoned_world_make(ctx, &p, made, 0.3, 0);
        const graphss_graph *g = &p.data.graph;
        const graphss_train_input in = input_of(&p, g);
        const size_t links = graphss_graph_edges(g), n_val = p.split.n_val;
        p.split.n_val = 0;
        assert_ok(ctx, graphss_poisoned_run(ctx, &r, &in, &fit));
        size_t within = 0;
        for (size_t i = 0; i < g->n_nodes; i++)
            for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
                within += r.foreign[e] > 0.5F && p.data.label[i] == p.data.label[g->target[e]];
        assert_true(r.distrusted > links / 20);
        assert_true(within > r.distrusted); /* counted twice: more than half */
        graphss_poisoned_result_destroy(ctx, &r);
        p.split.n_val = n_val;
        assert_ok(ctx, graphss_poisoned_run(ctx, &r, &in, &fit));
        assert_int_equal(r.distrusted, 0);
        assert_int_equal(r.doubted, 0);
        assert_float_equal(r.share, 0, 0);
        assert_int_equal(graphss_graph_edges(&r.trusted), links);
        assert_int_equal(r.split.n_train, p.split.n_train);
        for (size_t e = 0; e < 2 * links; e++)
            assert_float_equal(r.foreign[e], 0, 0);
        for (size_t j = 0; j < p.split.n_train; j++)
            assert_float_equal(r.doubt[j], 0, 0);
        graphss_poisoned_result_destroy(ctx, &r);
        poisoned_world_destroy(ctx, &p);
    }
    graphss_ctx_free(ctx);
}

/* Sums in another order differ in the last bit, and so may the bin of a link's two ways. */
TEST(both_ways_of_a_link_are_trusted_or_neither)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    graphss_train_options fit = quick("gcn");
    fit.epochs = 2; /* beliefs far from sure: many links near a bound */
    for (int seed = 1; seed <= 12; seed++) {
        char made[64];
        poisoned_world p;
        graphss_poisoned_result r = {0};
        snprintf(made, sizeof made, "nodes=200,classes=3,topic=0.02,seed=%d", seed);
        poisoned_world_make(ctx, &p, made, 0.4, 0.1);
        p.split.n_val = 0; /* nothing is taken back */
        const graphss_train_input in = input_of(&p, &p.data.graph);
        assert_ok(ctx, graphss_poisoned_run(ctx, &r, &in, &fit));
        assert_ok(ctx, graphss_graph_check(ctx, &r.trusted));
        graphss_poisoned_result_destroy(ctx, &r);
        poisoned_world_destroy(ctx, &p);
    }
    graphss_ctx_free(ctx);
}

TEST(the_same_seed_gives_the_same_for_any_number_of_threads)
{
    graphss_poisoned_result r[2] = {{0}};
    graphss_ctx *ctx[2];
    poisoned_world p[2];
    const graphss_train_options fit = quick("sage");
    for (size_t i = 0; i < 2; i++) {
        ctx[i] = testing_ctx(NULL, 1 + 2 * i);
        poisoned_world_make(ctx[i], &p[i], EASY, 0.15, 0);
        const graphss_train_input in = input_of(&p[i], &p[i].attacked);
        assert_ok(ctx[i], graphss_poisoned_run(ctx[i], &r[i], &in, &fit));
    }
    assert_memory_equal(r[0].posterior, r[1].posterior, 1800 * sizeof *r[0].posterior);
    assert_memory_equal(
        r[0].foreign, r[1].foreign, (size_t)p[0].attacked.offset[600] * sizeof *r[0].foreign);
    for (size_t i = 0; i < 2; i++) {
        graphss_poisoned_result_destroy(ctx[i], &r[i]);
        poisoned_world_destroy(ctx[i], &p[i]);
        graphss_ctx_free(ctx[i]);
    }
}

TEST(recover_hands_over_what_it_distrusts)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    poisoned_world p;
    graphss_model *model = NULL;
    graphss_recover_options opt;
    graphss_recover_result r = {0};
    graphss_flips flips = {0};
    poisoned_world_make(ctx, &p, EASY, 0.15, 0);
    const graphss_train_input in = input_of(&p, &p.attacked);
    const graphss_train_options fit = quick("gcn");
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL, &in, &fit));
    const graphss_defence_input scene = {.struct_size = sizeof scene,
        .current = {&p.attacked, &p.data.features, NULL},
        .model = model,
        .seed = 1};
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("poisoned"), GRAPHSS_MODE_DEFAULT, model);
    assert_ok(ctx, graphss_recover_run(ctx, &r, &scene, &opt));
    assert_true(r.distrusted > 0);
    assert_ok(ctx, graphss_recover_flips(ctx, &flips, &scene, &r, 0.5));
    assert_int_equal(flips.count, r.distrusted);
    for (size_t i = 0; i < flips.count; i++) /* its ends were likely hit */
        assert_true(r.predictions.perturbed[flips.item[i].node] > 0.5);
    int32_t *own = malloc(600 * sizeof *own);
    assert_ok(ctx, graphss_model_label(ctx, own, model, &p.attacked, &p.data.features));
    assert_true(graphss_labels_accuracy(
                    r.predictions.label, p.data.label, p.split.test, p.split.n_test) >
                graphss_labels_accuracy(own, p.data.label, p.split.test, p.split.n_test));
    free(own);
    graphss_flips_destroy(ctx, &flips);
    graphss_recover_result_destroy(ctx, &r);
    graphss_model_free(ctx, model);
    poisoned_world_destroy(ctx, &p);
    graphss_ctx_free(ctx);
}

TEST(what_has_no_meaning_is_refused)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    poisoned_world p;
    graphss_poisoned_result r = {0};
    graphss_flips flips = {0};
    poisoned_world_make(ctx, &p, EASY, 0.15, 0);
    graphss_train_input in = input_of(&p, &p.attacked);
    const graphss_train_options fit = quick("mlp");
    assert_fails(ctx, graphss_poisoned_run(ctx, &r, &in, &fit), GRAPHSS_ERR_INVALID, "mlp");
    assert_fails(ctx, graphss_poisoned_run(ctx, &r, NULL, NULL), GRAPHSS_ERR_INVALID, "input");
    in.graph = NULL;
    assert_fails(ctx, graphss_poisoned_run(ctx, &r, &in, NULL), GRAPHSS_ERR_INVALID, "graph");
    assert_fails(ctx, graphss_poisoned_flips(ctx, &flips, &p.attacked, NULL),
        GRAPHSS_ERR_INVALID, "chances");
    assert_null(r.foreign);
    poisoned_world_destroy(ctx, &p);
    graphss_ctx_free(ctx);
}

static graphss_status run_once(graphss_ctx *ctx, void *arg)
{
    const world *w = arg;
    graphss_train_options fit = quick("gcn");
    fit.epochs = 3;
    graphss_poisoned_result r = {0};
    graphss_flips flips = {0};
    graphss_status st = graphss_poisoned_run(ctx, &r,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = &w->graph,
            .features = &w->features,
            .n_classes = 2,
            .split = &w->split,
            .seed = 1},
        &fit);
    if (!st)
        st = graphss_poisoned_flips(ctx, &flips, &w->graph, r.foreign);
    graphss_flips_destroy(ctx, &flips);
    graphss_poisoned_result_destroy(ctx, &r);
    return st;
}

TEST(each_failing_allocation_is_reported_and_nothing_leaks)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(ctx, &w, 5);
    testing_allocations_fail(run_once, &w, 100);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
