/* Similarities against sums by hand, and the edges that GNN-Jaccard cuts. */
#include "graph/similarity.h"
#include "observation/test/testing_attacked_world.h"

enum { NODES = 5, WORDS = 4 };

/* A complete graph over five rows of words. */
static void make(graphss_ctx *ctx, graphss_graph *graph, graphss_features *features,
    const float x[NODES * WORDS], bool dense)
{
    int32_t from[NODES * NODES], to[NODES * NODES];
    size_t m = 0;
    for (int32_t i = 0; i < NODES; i++)
        for (int32_t j = 0; j < i; j++, m++) {
            from[m] = i;
            to[m] = j;
        }
    assert_ok(ctx, graphss_graph_build(ctx, graph, NULL, NODES, from, to, m));
    *features = (graphss_features){.n_rows = NODES, .n_cols = WORDS};
    features->value = graphss_i_alloc(ctx, NODES * WORDS, sizeof(float));
    if (dense) {
        memcpy(features->value, x, NODES * WORDS * sizeof(float));
        return;
    }
    features->offset = graphss_i_alloc(ctx, NODES + 1, sizeof *features->offset);
    features->column = graphss_i_alloc(ctx, NODES * WORDS, sizeof *features->column);
    int64_t e = 0;
    for (int i = 0; i < NODES; i++) {
        features->offset[i] = e;
        for (int c = 0; c < WORDS; c++)
            if (x[i * WORDS + c] != 0) {
                features->column[e] = c;
                features->value[e++] = x[i * WORDS + c];
            }
    }
    features->offset[NODES] = e;
}

static double naive(const float *a, const float *b, graphss_similarity kind)
{
    double both = 0, either = 0, dot = 0, aa = 0, bb = 0, least = 0, most = 0;
    for (int c = 0; c < WORDS; c++) {
        both += a[c] != 0 && b[c] != 0;
        either += a[c] != 0 || b[c] != 0;
        dot += a[c] * b[c];
        aa += a[c] * a[c];
        bb += b[c] * b[c];
        least += fmin(a[c], b[c]);
        most += fmax(a[c], b[c]);
    }
    if (either == 0)
        return NAN;
    if (kind == GRAPHSS_SIMILARITY_JACCARD)
        return both / either;
    if (kind == GRAPHSS_SIMILARITY_WEIGHTED)
        return least / most;
    return aa == 0 || bb == 0 ? 0 : dot / sqrt(aa * bb);
}

TEST(each_kind_is_what_it_says_sparse_or_dense)
{
    const float x[NODES * WORDS] = {
        1, 0, 2, 0, 0, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0};
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    for (int dense = 0; dense < 2; dense++) {
        graphss_graph graph = {0};
        graphss_features features;
        make(ctx, &graph, &features, x, dense);
        for (int kind = GRAPHSS_SIMILARITY_JACCARD; kind <= GRAPHSS_SIMILARITY_WEIGHTED;
             kind++) {
            float got[NODES * NODES];
            graphss_i_edge_similarity(ctx, got, &graph, &features, (graphss_similarity)kind);
            for (size_t i = 0; i < NODES; i++)
                for (int64_t e = graph.offset[i]; e < graph.offset[i + 1]; e++) {
                    const double want = naive(
                        x + i * WORDS, x + graph.target[e] * WORDS, (graphss_similarity)kind);
                    assert_int_equal(isnan(want), isnan(got[e]));
                    assert_true(isnan(want) || fabs(got[e] - want) < 1e-6);
                }
        }
        graphss_graph_destroy(ctx, &graph);
        graphss_features_destroy(ctx, &features);
    }
    graphss_ctx_free(ctx);
}

TEST_CTX(auto_looks_at_the_kind_of_features)
{
    const float x[NODES * WORDS] = {
        1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1};
    graphss_graph graph = {0};
    graphss_features features;
    make(ctx, &graph, &features, x, false);
    float got[NODES * NODES];
    features.kind = GRAPHSS_FEATURES_BINARY;
    graphss_i_edge_similarity(ctx, got, &graph, &features, GRAPHSS_SIMILARITY_AUTO);
    assert_true(fabsf(got[0] - 0.25f) < 1e-6f);
    features.kind = GRAPHSS_FEATURES_REAL;
    graphss_i_edge_similarity(ctx, got, &graph, &features, GRAPHSS_SIMILARITY_AUTO);
    assert_true(fabs(got[0] - 1 / sqrt(6)) < 1e-6);
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &features);
}

/* The model on the graph that is left when unlike edges are taken out by hand. */
TEST_CTX(jaccard_is_the_model_on_the_edges_that_stay)
{
    attacked_world a;
    attacked_world_make(ctx, &a);
    a.in.previous = NULL;
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_lab_method_find("jaccard"), GRAPHSS_MODE_DEFAULT, a.model);
    opt.train = GRAPHSS_RECOVER_EVASION;
    opt.jaccard.threshold = 0.2;

    const graphss_graph *g = &a.current;
    const graphss_features *f = &a.w.features;
    int32_t *from = malloc((size_t)g->offset[WORLD_NODES] * sizeof *from);
    int32_t *to = malloc((size_t)g->offset[WORLD_NODES] * sizeof *to);
    size_t m = 0;
    for (int32_t i = 0; i < WORLD_NODES; i++)
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++) {
            double both = 0, either = 0;
            for (int32_t c = 0; c < WORLD_WORDS; c++) {
                bool in[2] = {false, false};
                for (int side = 0; side < 2; side++) {
                    const int32_t node = side ? g->target[e] : i;
                    for (int64_t q = f->offset[node]; q < f->offset[node + 1]; q++)
                        in[side] |= f->column[q] == c;
                }
                both += in[0] && in[1];
                either += in[0] || in[1];
            }
            if (both / either >= 0.2) {
                from[m] = i;
                to[m++] = g->target[e];
            }
        }
    graphss_graph left = {0};
    assert_ok(ctx, graphss_graph_build(ctx, &left, NULL, WORLD_NODES, from, to, m));
    assert_true(graphss_graph_edges(&left) < graphss_graph_edges(g));
    float want[WORLD_NODES * 2];
    assert_ok(ctx, graphss_model_predict(ctx, want, a.model, &left, f));
    /* kind says counts where a word fell twice on a node; supports are compared all the same
     */
    opt.jaccard.similarity = GRAPHSS_SIMILARITY_JACCARD;
    graphss_recover_result r = {0};
    assert_ok(ctx, graphss_recover_run(ctx, &r, &a.in, &opt));
    for (size_t j = 0; j < WORLD_NODES * 2; j++)
        assert_true(r.predictions.posterior[j] == want[j]);
    graphss_recover_result_destroy(ctx, &r);
    graphss_graph_destroy(ctx, &left);
    free(from), free(to);
    attacked_world_destroy(ctx, &a);
}

/* NaN does not remove edges. */
TEST_CTX(the_edges_at_least_so_alike)
{
    const float x[NODES * WORDS] = {0};
    graphss_graph graph = {0}, left = {0};
    graphss_features features;
    make(ctx, &graph, &features, x, false);
    float alike[NODES * (NODES - 1)];
    for (size_t e = 0; e < NODES * (NODES - 1); e++)
        alike[e] = e % 3 == 0 ? NAN : e % 3 == 1 ? 0.4f : 0.5f;
    assert_ok(ctx, graphss_i_edges_alike(ctx, &left, &graph, alike, 0.5f));
    int64_t at = 0;
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(left.offset[i], at);
        for (int64_t e = graph.offset[i]; e < graph.offset[i + 1]; e++)
            if (e % 3 != 1)
                assert_int_equal(left.target[at++], graph.target[e]);
    }
    assert_int_equal(left.offset[NODES], at);
    graphss_graph_destroy(ctx, &left);
    graphss_graph_destroy(ctx, &graph);
    graphss_features_destroy(ctx, &features);
}

int main(void)
{
    return testing_run();
}
