/* test_class_evidence.c - the class model, the sources and the changes of a node. */
#include "detect/state_model.h"
#include "detect/tuning.h"
#include "models/test/testing_world.h"
#include <math.h>

enum { K = 2 };

/* The small world, with its labels as beliefs. */
typedef struct evidence_world {
    world w;
    float prob[WORLD_NODES * K];
    int32_t known[WORLD_NODES];
    graphss_i_class_model classes;
    graphss_i_evidence_base base;
} evidence_world;

static graphss_i_evidence_base base_of(const evidence_world *e)
{
    return (graphss_i_evidence_base){.graph = &e->w.graph,
        .features = &e->w.features,
        .classes = &e->classes,
        .prob = e->prob,
        .label = e->known,
        .n = WORLD_NODES,
        .k = K};
}

static void evidence_world_make(graphss_ctx *ctx, evidence_world *e, bool dense)
{
    memset(e, 0, sizeof *e);
    world_make(ctx, &e->w, 3);
    if (dense)
        world_measure(ctx, &e->w, 3);
    for (size_t i = 0; i < WORLD_NODES; i++) {
        e->prob[i * K + (size_t)e->w.label[i]] = 0.8F;
        e->prob[i * K + (size_t)(1 - e->w.label[i])] = 0.2F;
        e->known[i] = i % 3 ? -1 : e->w.label[i];
    }
    assert_ok(ctx, graphss_i_class_model_learn(
                       ctx, &e->classes, &e->w.graph, &e->w.features, e->prob, NULL, K));
    e->base = base_of(e);
    assert_ok(ctx, graphss_i_evidence_base_fill(ctx, &e->base, e->prob, NULL));
}

static void evidence_world_destroy(graphss_ctx *ctx, evidence_world *e)
{
    graphss_i_evidence_base_destroy(ctx, &e->base);
    graphss_i_class_model_destroy(ctx, &e->classes);
    world_destroy(ctx, &e->w);
}

TEST(ratios_are_those_of_counts)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    evidence_world e;
    evidence_world_make(ctx, &e, false);
    double count[K] = {0}, size[K] = {0}, ratio[K];
    for (size_t i = 0; i < WORLD_NODES; i++) {
        const graphss_i_row row = graphss_i_row_of(&e.w.features, i);
        size[e.w.label[i]]++;
        for (size_t j = 0; j < row.n; j++)
            count[e.w.label[i]] += row.column[j] == 4;
    }
    graphss_i_class_model_ratio(ratio, &e.classes, 4, 1);
    const double share = (count[0] + count[1]) / WORLD_NODES;
    for (size_t y = 0; y < K; y++)
        assert_float_equal(ratio[y],
            (count[y] + TUNE_FEATURE_PRIOR * share) / (size[y] + TUNE_FEATURE_PRIOR) / share,
            1e-5);
    assert_true(e.classes.edge[0] > 1 && e.classes.edge[1] < 1); /* like meets like */
    assert_float_equal(e.classes.prior[0] + e.classes.prior[1], 1, 1e-12);
    evidence_world_destroy(ctx, &e);
    graphss_ctx_free(ctx);
}

static void normalise(double *x)
{
    const double top = fmax(x[0], x[1]), sum = exp(x[0] - top) + exp(x[1] - top);
    for (size_t y = 0; y < K; y++)
        x[y] = fmax(x[y] - top - log(sum), TUNE_EVIDENCE_LEAST);
}

/* Naive twin: sums of logarithms, one item at a time. */
static void naive_features(double *out, const evidence_world *e, size_t v)
{
    const graphss_i_row row = graphss_i_row_of(&e->w.features, v);
    double ratio[K];
    for (size_t j = 0; j < row.n; j++) {
        graphss_i_class_model_ratio(
            ratio, &e->classes, graphss_i_row_at(row, j), row.value[j]);
        for (size_t y = 0; y < K; y++)
            out[y] += TUNE_FEATURE_WEIGHT * log(ratio[y]);
    }
}

/* With two classes the attacker's class is the other one. */
static void naive_edges(double *out, const evidence_world *e, size_t v)
{
    for (int64_t i = e->w.graph.offset[v]; i < e->w.graph.offset[v + 1]; i++)
        for (size_t y = 0; y < K; y++) {
            const float *belief = e->base.belief + (size_t)e->w.graph.target[i] * K;
            double own = 0, other = (double)belief[1 - y] / e->classes.prior[1 - y];
            for (size_t c = 0; c < K; c++)
                own += (double)belief[c] * e->classes.edge[y * K + c];
            other = fmin(fmax(other, 1 / TUNE_RATIO_MOST), TUNE_RATIO_MOST);
            out[y] += TUNE_EDGE_WEIGHT *
                      log((1 - TUNE_FOREIGN_EDGES) * own + TUNE_FOREIGN_EDGES * other);
        }
}

static void check_node(const evidence_world *e, const float *row, size_t v)
{
    double want[K] = {0};
    naive_features(want, e, v);
    normalise(want);
    for (size_t y = 0; y < K; y++)
        assert_float_equal((double)row[y * GRAPHSS_I_ROW + SOURCE_FEATURES], want[y], 1e-5);
    for (size_t y = 0; y < K; y++)
        want[y] =
            log(exp((double)row[(1 - y) * GRAPHSS_I_ROW + SOURCE_NOW]) + TUNE_TARGET_PRIOR);
    naive_features(want, e, v);
    naive_edges(want, e, v);
    normalise(want);
    for (size_t y = 0; y < K; y++)
        assert_float_equal(
            (double)row[y * GRAPHSS_I_ROW + SOURCE_TAMPERED_EDGES], want[y], 1e-4);
    for (size_t s = 0; s < GRAPHSS_I_SOURCES; s++) /* but for the floor of evidence */
        assert_float_equal(exp((double)row[s]) + exp((double)row[GRAPHSS_I_ROW + s]), 1, 5e-3);
}

TEST(sources_are_what_a_naive_sum_gives)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    evidence_world e;
    evidence_world_make(ctx, &e, false);
    int32_t node[WORLD_NODES];
    float *evidence = malloc(sizeof(float) * WORLD_NODES * K * GRAPHSS_I_ROW);
    float *anomaly = malloc(sizeof(float) * WORLD_NODES * GRAPHSS_I_ANOMALIES);
    for (size_t i = 0; i < WORLD_NODES; i++)
        node[i] = (int32_t)i;
    assert_ok(ctx, graphss_i_evidence_of(ctx, evidence, anomaly, &e.base, node, WORLD_NODES));
    for (size_t v = 0; v < WORLD_NODES; v++)
        check_node(&e, evidence + v * K * GRAPHSS_I_ROW, v);
    for (size_t i = 0; i < WORLD_NODES * GRAPHSS_I_ANOMALIES; i++)
        assert_true(isfinite(anomaly[i]));
    free(evidence), free(anomaly);
    evidence_world_destroy(ctx, &e);
    graphss_ctx_free(ctx);
}

TEST(measurements_speak_for_their_class)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    evidence_world e;
    evidence_world_make(ctx, &e, true);
    const int32_t node[2] = {6, 7};
    float evidence[2 * K * GRAPHSS_I_ROW];
    assert_ok(ctx, graphss_i_evidence_of(ctx, evidence, NULL, &e.base, node, 2));
    for (size_t i = 0; i < 2; i++) {
        const float *row = evidence + i * K * GRAPHSS_I_ROW;
        const size_t own = (size_t)e.w.label[node[i]];
        assert_true(row[own * GRAPHSS_I_ROW + SOURCE_FEATURES] >
                    row[(1 - own) * GRAPHSS_I_ROW + SOURCE_FEATURES]);
    }
    evidence_world_destroy(ctx, &e);
    graphss_ctx_free(ctx);
}

/* In the past there are fewer labels, and every other node has other features. */
TEST(evidence_of_both_is_that_of_each)
{
    enum { WIDE = K * GRAPHSS_I_ROW };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (int dense = 0; dense < 2; dense++) {
        evidence_world e, then;
        evidence_world_make(ctx, &e, dense);
        evidence_world_make(ctx, &then, dense);
        int32_t node[WORLD_NODES];
        float *was[WORLD_NODES];
        float *block = calloc(4 * WORLD_NODES, WIDE * sizeof *block);
        float *now = block, *past = now + WORLD_NODES * WIDE;
        float *both = past + WORLD_NODES * WIDE, *before = both + WORLD_NODES * WIDE;
        for (size_t i = 0; i < WORLD_NODES; i++) {
            node[i] = (int32_t)i;
            was[i] = i % 5 ? before + i * WIDE : NULL;
            then.known[i] = i % 2 ? -1 : then.known[i];
            const graphss_i_row row = graphss_i_row_of(&then.w.features, i);
            float *value = then.w.features.value + (row.value - then.w.features.value);
            for (size_t j = 0; j < row.n && i % 2; j++)
                value[j] = dense ? value[j] + 1 : 2;
        }
        graphss_i_evidence_base_destroy(ctx, &then.base);
        then.base = base_of(&then);
        then.base.classes = &e.classes;
        assert_ok(ctx, graphss_i_evidence_base_fill(ctx, &then.base, then.prob, NULL));
        assert_ok(ctx, graphss_i_evidence_of(ctx, now, NULL, &e.base, node, WORLD_NODES));
        assert_ok(ctx, graphss_i_evidence_of(ctx, past, NULL, &then.base, node, WORLD_NODES));
        assert_ok(ctx, graphss_i_evidence_of_both(
                           ctx, both, NULL, &e.base, was, &then.base, node, WORLD_NODES));
        assert_memory_equal(both, now, WORLD_NODES * WIDE * sizeof *now);
        for (size_t i = 0; i < WORLD_NODES; i++)
            if (was[i])
                assert_memory_equal(was[i], past + i * WIDE, WIDE * sizeof *past);
        assert_memory_not_equal(before + WIDE, now + WIDE, WIDE * sizeof *now);
        free(block);
        evidence_world_destroy(ctx, &then);
        evidence_world_destroy(ctx, &e);
    }
    graphss_ctx_free(ctx);
}

TEST(a_class_model_comes_back_from_numbers)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (int dense = 0; dense < 2; dense++) {
        evidence_world e;
        evidence_world_make(ctx, &e, dense);
        const size_t n = graphss_i_class_model_size(&e.classes);
        double *number = malloc(n * sizeof *number), a[K], b[K];
        assert_ptr_equal(graphss_i_class_model_put(number, &e.classes), number + n);
        graphss_i_class_model back = {.k = K, .d = WORLD_WORDS, .dense = dense};
        const double *in = number;
        assert_ok(ctx, graphss_i_class_model_get(ctx, &back, &in));
        assert_ptr_equal(in, number + n);
        for (size_t j = 0; j < WORLD_WORDS; j++) {
            graphss_i_class_model_ratio(a, &e.classes, j, 0.7F);
            graphss_i_class_model_ratio(b, &back, j, 0.7F);
            assert_memory_equal(a, b, sizeof a);
        }
        graphss_i_class_model_destroy(ctx, &back);
        free(number);
        evidence_world_destroy(ctx, &e);
    }
    graphss_ctx_free(ctx);
}

TEST(changes_are_counted)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const int32_t from[] = {0, 0, 1}, to[] = {1, 2, 2}, from2[] = {0, 1}, to2[] = {3, 2};
    graphss_graph past = {0}, now = {0};
    int64_t offset[] = {0, 1, 2, 3, 4};
    int32_t column[] = {0, 1, 2, 3};
    float value[] = {1, 1, 1, 1};
    const graphss_features x = {.n_rows = 4,
        .n_cols = 4,
        .offset = offset,
        .column = column,
        .value = value,
        .kind = GRAPHSS_FEATURES_BINARY};
    assert_ok(ctx, graphss_graph_build(ctx, &past, NULL, 4, from, to, 3));
    assert_ok(ctx, graphss_graph_build(ctx, &now, NULL, 4, from2, to2, 2));
    graphss_i_change_counts c = graphss_i_change_count(&now, &x, 0, &past, &x, 0, NULL);
    assert_int_equal(c.edges_added, 1);
    assert_int_equal(c.edges_removed, 2);
    assert_int_equal(c.features_added + c.features_removed, 0);
    const int32_t before[] = {1, 0, 3, 2}; /* 0 and 1, 2 and 3 have changed places */
    c = graphss_i_change_count(&now, &x, 0, &past, &x, 1, before);
    assert_int_equal(c.edges_added, 0); /* 0-3 was 1-2 */
    assert_int_equal(c.edges_removed, 1);
    assert_int_equal(c.features_added, 1);
    assert_int_equal(c.features_removed, 1);
    graphss_graph_destroy(ctx, &past);
    graphss_graph_destroy(ctx, &now);
    graphss_ctx_free(ctx);
}

/* Four nodes with features 0, 1, 2 together and two with 3, 4, all of them a reference; a row
 * of five features is worth the mean over its pairs. */
TEST(features_go_together_as_pairs_do)
{
    enum { ROWS = 6, COLUMNS = 5, ENTRIES = 16 };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    int64_t offset[] = {0, 3, 6, 9, 12, 14, ENTRIES, ENTRIES + COLUMNS, ENTRIES + 2 * COLUMNS};
    int32_t column[] = {
        0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
    float value[ENTRIES + 2 * COLUMNS];
    for (size_t i = 0; i < sizeof value / sizeof *value; i++)
        value[i] = 1;
    graphss_features x = {.n_rows = ROWS,
        .n_cols = COLUMNS,
        .offset = offset,
        .column = column,
        .value = value,
        .kind = GRAPHSS_FEATURES_BINARY};
    const int32_t label[ROWS + 2] = {0, 0, 0, 0, 1, 1, -1, -1}, all[COLUMNS] = {0, 1, 2, 3, 4};
    const float own[COLUMNS] = {1, 1, 1, 2, 2};
    const double with[] = {4, 4, 4, 2, 2};
    double sum[3] = {0}, pairs[3] = {0}, best = log(2.5 / (4.0 / 6 + 0.5));
    graphss_i_reference r = {0};
    float found[GRAPHSS_I_COHERENCES], other[GRAPHSS_I_COHERENCES];
    assert_ok(ctx, graphss_i_reference_open(ctx, &r, &x, label));
    assert_int_equal(r.n, ROWS);
    assert_null(r.both);
    graphss_i_coherence(found, &r, (graphss_i_row){all, value, COLUMNS}, own, 1, 0);
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t j = 0; j < i; j++) {
            const double both = (i < 3) != (j < 3) ? 0 : with[i];
            const size_t kind = (size_t)(i >= 3) + (size_t)(j >= 3);
            sum[kind] += log((both + 0.5) / (with[i] * with[j] / ROWS + 0.5));
            pairs[kind] += 1;
        }
    assert_float_equal((double)found[COHERENCE_ALL], (sum[0] + sum[1] + sum[2]) / 10, 1e-6);
    assert_float_equal((double)found[COHERENCE_WITHIN], sum[2] / pairs[2], 1e-6);
    assert_float_equal((double)found[COHERENCE_BETWEEN], sum[1] / pairs[1], 1e-6);
    assert_float_equal((double)found[COHERENCE_BEST], best, 1e-6);
    graphss_i_coherence(other, &r, (graphss_i_row){all, value, 2}, own, 1, 0);
    assert_float_equal((double)other[COHERENCE_ALL], 0, 0); /* too few */
    graphss_i_reference_destroy(ctx, &r);
    x.n_rows = ROWS + 2; /* entries enough for a table of pairs, of the same reference */
    assert_ok(ctx, graphss_i_reference_open(ctx, &r, &x, label));
    assert_non_null(r.both);
    graphss_i_coherence(other, &r, (graphss_i_row){all, value, COLUMNS}, own, 1, 0);
    assert_memory_equal(other, found, sizeof found);
    graphss_i_reference_destroy(ctx, &r);
    graphss_ctx_free(ctx);
}

/* F <- a D^-1 A F + (1 - a) Y, in doubles */
TEST(labels_are_propagated)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    evidence_world e;
    evidence_world_make(ctx, &e, false);
    const graphss_graph *g = &e.w.graph;
    double now[WORLD_NODES][K] = {{0}}, next[WORLD_NODES][K];
    for (size_t v = 0; v < WORLD_NODES; v++)
        if (e.base.label[v] >= 0)
            now[v][e.base.label[v]] = 1;
    for (size_t step = 0; step < TUNE_PROPAGATION_STEPS; step++) {
        for (size_t v = 0; v < WORLD_NODES; v++)
            for (size_t c = 0; c < K; c++) {
                double sum = 0;
                for (int64_t i = g->offset[v]; i < g->offset[v + 1]; i++)
                    sum += now[g->target[i]][c] /
                           sqrt((double)(graphss_graph_degree(g, v) *
                                         graphss_graph_degree(g, (size_t)g->target[i])));
                next[v][c] = TUNE_PROPAGATION * sum +
                             (e.base.label[v] == (int32_t)c ? 1 - TUNE_PROPAGATION : 0);
            }
        memcpy(now, next, sizeof now);
    }
    for (size_t v = 0; v < WORLD_NODES; v++)
        for (size_t c = 0; c < K; c++)
            assert_float_equal((double)e.base.propagated[v * K + c] *
                                   sqrt(fmax(1, (double)graphss_graph_degree(g, v))),
                now[v][c], 1e-5);
    evidence_world_destroy(ctx, &e);
    graphss_ctx_free(ctx);
}

static graphss_status all_of_it(graphss_ctx *ctx, void *arg)
{
    evidence_world *e = arg;
    const int32_t node[2] = {1, 2};
    float anomaly[2 * GRAPHSS_I_ANOMALIES];
    graphss_i_class_model m = {0};
    graphss_i_evidence_base base = base_of(e);
    graphss_status st =
        graphss_i_class_model_learn(ctx, &m, &e->w.graph, &e->w.features, e->prob, NULL, K);
    if (!st)
        st = graphss_i_evidence_base_fill(ctx, &base, e->prob, NULL);
    if (!st)
        st = graphss_i_evidence_of(ctx, NULL, anomaly, &base, node, 2);
    graphss_i_evidence_base_destroy(ctx, &base);
    graphss_i_class_model_destroy(ctx, &m);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    evidence_world e;
    evidence_world_make(ctx, &e, false);
    testing_each_allocation_fails(all_of_it, &e);
    evidence_world_destroy(ctx, &e);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
