#include "testing.h"
#include <graphss/graph.h>

TEST_CTX(a_small_graph_is_built_and_cleaned)
{
    /* 0-1 both ways, 0-2 one way and twice, 3-2 one way, loops at 1 and 4; 4 isolated. */
    const int32_t from[] = {1, 0, 0, 0, 3, 1, 4, 4}, to[] = {0, 1, 2, 2, 2, 1, 4, 4};
    graphss_graph g = {0};
    graphss_cleaning c = {0};
    assert_ok(ctx, graphss_graph_build(ctx, &g, &c, 5, from, to, 8));
    const int64_t offset[] = {0, 2, 3, 5, 6, 6};
    const int32_t target[] = {1, 2, 0, 0, 3, 2};
    assert_memory_equal(g.offset, offset, sizeof offset);
    assert_memory_equal(g.target, target, sizeof target);
    assert_int_equal(c.directed, 2);
    assert_int_equal(c.duplicates, 1);
    assert_int_equal(c.loops, 3);
    assert_int_equal(c.isolated, 1);
    assert_int_equal(graphss_graph_edges(&g), 3);
    assert_int_equal(graphss_graph_degree(&g, 2), 2);
    assert_true(graphss_graph_has_edge(&g, 2, 3));
    assert_false(graphss_graph_has_edge(&g, 1, 2));
    assert_false(graphss_graph_has_edge(&g, 4, 4));
    assert_false(graphss_graph_has_edge(&g, -1, 0));
    assert_false(graphss_graph_has_edge(&g, 0, 5));
    assert_ok(ctx, graphss_graph_check(ctx, &g));
    const int32_t label[] = {0, 0, 1, -1, 0};
    assert_true(graphss_graph_homophily(&g, label) == 0.5);
    const int32_t unknown[] = {-1, 0, -1, -1, 0};
    assert_true(isnan(graphss_graph_homophily(&g, unknown)));
    graphss_graph_destroy(ctx, &g);
    graphss_graph_destroy(ctx, &g);
}

/* The graph by way of a table of all pairs. */
TEST_CTX(random_pairs_agree_with_a_table_of_all_pairs)
{
    enum { N = 37 };
    graphss_rng rng = graphss_rng_make(7, 1);
    for (size_t m = 0; m < 2000; m = m * 2 + 1) {
        static int32_t from[2000], to[2000];
        int times[N][N] = {{0}};
        graphss_cleaning want = {0}, got = {0};
        for (size_t e = 0; e < m; e++) {
            from[e] = (int32_t)graphss_rng_below(&rng, N);
            to[e] = (int32_t)graphss_rng_below(&rng, N);
            times[from[e]][to[e]]++;
        }
        graphss_graph g = {0};
        assert_ok(ctx, graphss_graph_build(ctx, &g, &got, N, from, to, m));
        size_t edges = 0;
        for (int32_t a = 0; a < N; a++) {
            bool alone = true;
            want.loops += times[a][a];
            for (int32_t b = 0; b < N; b++) {
                const bool joined = a != b && (times[a][b] || times[b][a]);
                assert_int_equal(graphss_graph_has_edge(&g, a, b), joined);
                alone = alone && !joined;
                if (a != b && times[a][b] > 1)
                    want.duplicates += times[a][b] - 1;
                if (a < b && joined) {
                    edges++;
                    want.directed += !times[a][b] || !times[b][a];
                }
            }
            want.isolated += alone;
        }
        assert_int_equal(graphss_graph_edges(&g), edges);
        assert_memory_equal(&got, &want, sizeof want);
        assert_ok(ctx, graphss_graph_check(ctx, &g));
        graphss_graph_destroy(ctx, &g);
    }
}

TEST_CTX(a_graph_without_nodes_or_edges_is_fine)
{
    graphss_graph g = {0}, copy = {0};
    assert_ok(ctx, graphss_graph_check(ctx, &g));
    assert_ok(ctx, graphss_graph_copy(ctx, &copy, &g));
    assert_int_equal(graphss_graph_edges(&g), 0);
    assert_ok(ctx, graphss_graph_build(ctx, &g, NULL, 0, NULL, NULL, 0));
    assert_ok(ctx, graphss_graph_check(ctx, &g));
    graphss_graph_destroy(ctx, &g);
    graphss_cleaning c = {0};
    assert_ok(ctx, graphss_graph_build(ctx, &g, &c, 3, NULL, NULL, 0));
    assert_int_equal(c.isolated, 3);
    graphss_graph_destroy(ctx, &g);
}

TEST_CTX(an_end_out_of_range_is_refused_and_leaves_out_alone)
{
    graphss_graph g = {0};
    const int32_t from[] = {0, 1}, to[] = {1, 3}, negative[] = {1, -1};
    assert_fails(ctx, graphss_graph_build(ctx, &g, NULL, 3, from, to, 2), GRAPHSS_ERR_INVALID,
        "edge 1 joins 1 and 3");
    assert_fails(ctx, graphss_graph_build(ctx, &g, NULL, 3, from, negative, 2),
        GRAPHSS_ERR_INVALID, "edge 1 joins 1 and -1");
    assert_fails(ctx, graphss_graph_build(ctx, &g, NULL, (size_t)1 << 31, from, to, 0),
        GRAPHSS_ERR_INVALID, "2147483648 nodes");
    assert_null(g.offset);
}

TEST_CTX(check_names_the_rule_that_is_broken)
{
    int64_t offset[] = {0, 2, 3, 4};
    int32_t target[] = {1, 2, 0, 0};
    graphss_graph g = {3, offset, target};
    assert_ok(ctx, graphss_graph_check(ctx, &g));
    target[1] = 3;
    assert_fails(ctx, graphss_graph_check(ctx, &g), GRAPHSS_ERR_INVALID,
        "node 0: neighbour 3, want 0..2");
    target[1] = 1;
    assert_fails(ctx, graphss_graph_check(ctx, &g), GRAPHSS_ERR_INVALID, "want ascending");
    target[1] = 2;
    target[2] = 1;
    assert_fails(ctx, graphss_graph_check(ctx, &g), GRAPHSS_ERR_INVALID, "node 1: a loop");
    target[2] = 2;
    assert_fails(ctx, graphss_graph_check(ctx, &g), GRAPHSS_ERR_INVALID, "have it back");
    offset[1] = 4;
    assert_fails(ctx, graphss_graph_check(ctx, &g), GRAPHSS_ERR_INVALID, "node 1: its row");
    offset[0] = 1;
    assert_fails(ctx, graphss_graph_check(ctx, &g), GRAPHSS_ERR_INVALID, "first offset");
}

TEST_CTX(check_of_features_names_the_rule_that_is_broken)
{
    int64_t offset[] = {0, 2, 3};
    int32_t column[] = {0, 2, 1};
    float value[] = {1, 2, 3, 4, 5, 6};
    graphss_features f = {2, 3, offset, column, value, GRAPHSS_FEATURES_COUNTS};
    const graphss_features none = {0}, bare = {.n_rows = 2};
    assert_ok(ctx, graphss_features_check(ctx, &none));
    assert_ok(ctx, graphss_features_check(ctx, &bare));
    assert_ok(ctx, graphss_features_check(ctx, &f));
#define REFUSED(part) \
    assert_fails(ctx, graphss_features_check(ctx, &f), GRAPHSS_ERR_INVALID, part)
    column[2] = 3;
    REFUSED("row 1: feature 3, want one of 3");
    column[2] = -1;
    REFUSED("row 1: feature -1");
    column[2] = 1;
    column[1] = 0;
    REFUSED("row 0: feature 0 after 0, want ascending");
    column[1] = 2;
    offset[1] = 4;
    REFUSED("row 1: it ends at 3");
    offset[1] = 2;
    offset[0] = 1;
    REFUSED("first offset");
    offset[0] = 0;
    f.value = NULL;
    REFUSED("no values");
    f.column = NULL;
    REFUSED("no columns");
    f.offset = NULL;
    REFUSED("2 rows of 3 features, but no values");
    f.value = value;
    assert_ok(ctx, graphss_features_check(ctx, &f));
    f.column = column;
    REFUSED("no offsets");
    f.column = NULL;
    f.n_cols = SIZE_MAX;
    REFUSED("more than fit");
    f.n_rows = SIZE_MAX;
    REFUSED("rows, want at most");
#undef REFUSED
}

TEST_CTX(copies_share_nothing)
{
    int64_t offset[] = {0, 1, 3};
    int32_t column[] = {2, 0, 1};
    float value[] = {1, 2, 3, 4, 5, 6};
    const graphss_features sparse = {2, 3, offset, column, value, GRAPHSS_FEATURES_COUNTS};
    const graphss_features dense = {2, 3, NULL, NULL, value, GRAPHSS_FEATURES_COUNTS};
    graphss_features copy = {0};
    assert_ok(ctx, graphss_features_copy(ctx, &copy, &sparse));
    assert_int_equal(graphss_features_stored(&copy), 3);
    assert_false(graphss_features_dense(&copy));
    assert_ptr_not_equal(copy.value, value);
    assert_memory_equal(copy.value, value, 3 * sizeof *value);
    assert_memory_equal(copy.column, column, sizeof column);
    graphss_features_destroy(ctx, &copy);
    assert_ok(ctx, graphss_features_copy(ctx, &copy, &dense));
    assert_int_equal(graphss_features_stored(&copy), 6);
    assert_true(graphss_features_dense(&copy));
    assert_memory_equal(copy.value, value, sizeof value);
    graphss_features_destroy(ctx, &copy);
    assert_string_equal(graphss_feature_kind_text(GRAPHSS_FEATURES_COUNTS), "counts");
}

static graphss_status build_and_copy(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 0};
    int64_t offset[] = {0, 1};
    int32_t column[] = {0};
    float value[] = {1};
    const graphss_features f = {1, 1, offset, column, value, GRAPHSS_FEATURES_BINARY};
    graphss_graph g = {0}, copy = {0};
    graphss_features f_copy = {0};
    graphss_status st = graphss_graph_build(ctx, &g, NULL, 3, from, to, 3);
    if (st == GRAPHSS_OK)
        st = graphss_graph_copy(ctx, &copy, &g);
    if (st == GRAPHSS_OK)
        st = graphss_features_copy(ctx, &f_copy, &f);
    graphss_features_destroy(ctx, &f_copy);
    graphss_graph_destroy(ctx, &copy);
    graphss_graph_destroy(ctx, &g);
    return st;
}

TEST(each_allocation_may_fail)
{
    testing_each_allocation_fails(build_and_copy, NULL);
}

int main(void)
{
    return testing_run();
}
