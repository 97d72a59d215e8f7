/* Communities: known answers, and each node is in its best community. */
#include "testing.h"
#include <stdlib.h>

enum { N = 200, PARTS = 5, EDGES = 1600 };

/* Parts of equal size, most edges inside. */
static void make_parts(graphss_ctx *ctx, graphss_graph *g, double inside)
{
    static int32_t from[EDGES], to[EDGES];
    graphss_rng rng = graphss_rng_make(3, 1);
    for (size_t e = 0; e < EDGES; e++) {
        const size_t v = (size_t)graphss_rng_below(&rng, N);
        size_t u = (size_t)graphss_rng_below(&rng, N);
        if (graphss_rng_double(&rng) < inside)
            u = u / PARTS * PARTS + v % PARTS;
        from[e] = (int32_t)v;
        to[e] = (int32_t)(u < N ? u : v);
    }
    assert_ok(ctx, graphss_graph_build(ctx, g, NULL, N, from, to, EDGES));
}

TEST_CTX(parts_with_most_edges_inside_are_found)
{
    graphss_graph g = {0};
    int32_t community[N];
    size_t count = 0, together = 0, pairs = 0;
    make_parts(ctx, &g, 0.95);
    assert_ok(ctx, graphss_graph_communities(ctx, community, &count, &g));
    assert_in_range(count, PARTS, 3 * PARTS);
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < a; b++)
            if (community[a] == community[b]) {
                together += a % PARTS == b % PARTS;
                pairs++;
            }
    assert_true((double)together > 0.95 * (double)pairs);
    graphss_graph_destroy(ctx, &g);
}

TEST_CTX(two_triangles_and_a_node_alone_are_three)
{
    static const int32_t from[] = {0, 1, 2, 3, 4, 5, 0}, to[] = {1, 2, 0, 4, 5, 3, 3};
    graphss_graph g = {0};
    int32_t c[7];
    size_t count = 0;
    assert_ok(ctx, graphss_graph_build(ctx, &g, NULL, 7, from, to, 7));
    assert_ok(ctx, graphss_graph_communities(ctx, c, &count, &g));
    assert_int_equal(count, 3);
    static const int32_t want[] = {0, 0, 0, 1, 1, 1, 2};
    assert_memory_equal(c, want, sizeof want);
    graphss_graph_destroy(ctx, &g);
}

/* gain of node v in community c, counted naively */
static double gain(const graphss_graph *g, const int32_t *community, size_t v, int32_t c)
{
    double links = 0, total = 0;
    for (size_t u = 0; u < g->n_nodes; u++)
        if (u != v && community[u] == c) {
            total += (double)graphss_graph_degree(g, u);
            links += graphss_graph_has_edge(g, (int32_t)v, (int32_t)u);
        }
    return links - (double)graphss_graph_degree(g, v) * total / (double)g->offset[g->n_nodes];
}

TEST_CTX(no_node_gains_by_a_move_to_a_neighbour)
{
    graphss_graph g = {0};
    int32_t community[N];
    size_t count = 0, better = 0;
    make_parts(ctx, &g, 0.5);
    assert_ok(ctx, graphss_graph_communities(ctx, community, &count, &g));
    for (size_t v = 0; v < N; v++) {
        const double own = gain(&g, community, v, community[v]);
        for (int64_t e = g.offset[v]; e < g.offset[v + 1]; e++)
            better += gain(&g, community, v, community[g.target[e]]) > own + 1e-6;
    }
    assert_int_equal(better, 0); /* it stopped because no node moved */
    graphss_graph_destroy(ctx, &g);
}

static graphss_status find(graphss_ctx *ctx, void *graph)
{
    int32_t community[N];
    size_t count;
    return graphss_graph_communities(ctx, community, &count, graph);
}

TEST_CTX(errors_and_failing_allocations)
{
    graphss_graph g = {0};
    int32_t community[N];
    size_t count = 9;
    make_parts(ctx, &g, 0.9);
    assert_fails(ctx, graphss_graph_communities(ctx, NULL, &count, &g), GRAPHSS_ERR_INVALID,
        "place for the communities");
    assert_fails(ctx, graphss_graph_communities(ctx, community, &count, NULL),
        GRAPHSS_ERR_INVALID, "graph");
    testing_each_allocation_fails(find, &g);
    const int32_t kept = g.target[0];
    g.target[0] = N;
    assert_fails(ctx, graphss_graph_communities(ctx, community, &count, &g),
        GRAPHSS_ERR_INVALID, "node 0");
    g.target[0] = kept;
    assert_int_equal(count, 9);
    graphss_graph_destroy(ctx, &g);
}

int main(void)
{
    return testing_run();
}
