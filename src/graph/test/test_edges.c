/* Rows of edges walked together, against a search of each. */
#include "graph/edges.h"
#include "testing.h"

enum { N = 300, EDGES = 4000 };

TEST(a_walk_meets_what_a_search_finds)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_rng rng = graphss_rng_make(4, 1);
    static int32_t from[EDGES], to[EDGES];
    graphss_graph g = {0};
    for (size_t e = 0; e < EDGES; e++) { /* few nodes have most edges */
        from[e] = (int32_t)graphss_rng_below(&rng, 1 + graphss_rng_below(&rng, N));
        to[e] = (int32_t)graphss_rng_below(&rng, N - 1);
    }
    assert_ok(ctx, graphss_graph_build(ctx, &g, NULL, N, from, to, EDGES));
    for (int32_t a = 0; a < N; a++) {
        const int32_t stride = 1 + a % 7;
        graphss_i_walk all = graphss_i_walk_from(&g, a), none = graphss_i_walk_from(&g, -1);
        for (int32_t b = 0; b < N; b += stride) {
            assert_int_equal(graphss_i_walk_meets(&all, b), graphss_graph_has_edge(&g, a, b));
            assert_int_equal(graphss_i_walk_meets(&all, b), graphss_graph_has_edge(&g, a, b));
            assert_false(graphss_i_walk_meets(&none, b));
        }
    }
    graphss_graph_destroy(ctx, &g);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
