/* Rows of features; their products against sums of one row after the other. */
#include "graph/rows.h"
#include "graph/test/testing_edits.h"
#include "testing.h"

enum { ROWS = 9, D = 50 };

TEST(rows_multiplied_at_once_have_the_bits_of_single_ones)
{
    graphss_rng rng = graphss_rng_make(6, 1);
    float value[ROWS * D], b[D];
    int32_t column[ROWS * D];
    graphss_i_row row[2][ROWS]; /* sparse, dense */
    for (size_t c = 0; c < D; c++)
        b[c] = (float)graphss_rng_normal(&rng);
    for (size_t i = 0, at = 0; i < ROWS; i++) {
        const size_t first = i * D;
        at = first;
        for (size_t c = 0; c < D; c++) {
            value[first + c] = (float)graphss_rng_normal(&rng);
            if (graphss_rng_below(&rng, ROWS) > i)
                column[at++] = (int32_t)c;
        }
        row[0][i] = (graphss_i_row){column + first, value + first, at - first};
        row[1][i] = (graphss_i_row){NULL, value + first, D};
    }
    for (size_t dense = 0; dense < 2; dense++)
        for (size_t n = 0; n <= GRAPHSS_I_DOTS; n++)
            for (size_t from = 0; from + n <= ROWS; from++) {
                double dot[GRAPHSS_I_DOTS], square[GRAPHSS_I_DOTS];
                graphss_i_row_dots(dot, square, row[dense] + from, n, b);
                for (size_t q = 0; q < n; q++) {
                    const graphss_i_row r = row[dense][from + q];
                    double want = 0, own = 0;
                    for (size_t j = 0; j < r.n; j++) {
                        want += (double)r.value[j] * (double)b[graphss_i_row_at(r, j)];
                        own += (double)r.value[j] * (double)r.value[j];
                    }
                    assert_memory_equal(&dot[q], &want, sizeof want);
                    assert_memory_equal(&square[q], &own, sizeof own);
                }
            }
}

TEST(a_sparse_row_without_entries_is_not_dense)
{
    int64_t offset[] = {0, 0, 0};
    const graphss_features x = {.n_rows = 2, .n_cols = 3, .offset = offset};
    const graphss_i_row a = graphss_i_row_of(&x, 0), b = graphss_i_row_of(&x, 1);
    size_t at = 0;
    assert_int_equal(graphss_i_row_count(a), 0);
    assert_true(graphss_i_row_value(a, &at, 2) == 0);
    assert_true(graphss_i_row_same(a, b));
}

/* ---- edges ---- */

enum { N = 300, EDGES = 4000 };

TEST_CTX(a_walk_meets_what_a_search_finds)
{
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
}

/* ---- edits ---- */

enum { N_EDITED = 40 };

static void make_graph(graphss_ctx *ctx, graphss_graph *g, graphss_rng *rng)
{
    int32_t from[2 * N_EDITED], to[2 * N_EDITED];
    for (size_t e = 0; e < 2 * N_EDITED; e++) {
        from[e] = (int32_t)graphss_rng_below(rng, N_EDITED);
        to[e] = (int32_t)graphss_rng_below(rng, N_EDITED);
    }
    assert_ok(ctx, graphss_graph_build(ctx, g, NULL, N_EDITED, from, to, 2 * N_EDITED));
}

TEST_CTX(random_flips_agree_with_a_table_of_all_pairs)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    graphss_graph g = {0}, now = {0};
    graphss_i_rows rows;
    make_graph(ctx, &g, &rng);
    assert_ok(ctx, graphss_i_rows_init(ctx, &rows, &g));
    for (int round = 0; round < 3; round++) {
        bool joined[N_EDITED][N_EDITED];
        for (int32_t a = 0; a < N_EDITED; a++)
            for (int32_t b = 0; b < N_EDITED; b++)
                joined[a][b] = graphss_graph_has_edge(&g, a, b);
        for (size_t i = 0; i < 3000; i++) {
            const int32_t a = (int32_t)graphss_rng_below(&rng, N_EDITED);
            const int32_t b = (int32_t)graphss_rng_below(&rng, N_EDITED);
            if (a == b)
                continue;
            assert_true(graphss_i_rows_flip_edge(ctx, &rows, a, b));
            joined[a][b] = joined[b][a] = !joined[a][b];
        }
        rows_to_graph(ctx, &now, &rows);
        assert_ok(ctx, graphss_graph_check(ctx, &now));
        for (int32_t a = 0; a < N_EDITED; a++)
            for (int32_t b = 0; b < N_EDITED; b++) {
                assert_int_equal(graphss_graph_has_edge(&now, a, b), joined[a][b]);
                assert_int_equal(graphss_i_rows_has(&rows, (size_t)a, b), joined[a][b]);
            }
        graphss_graph_destroy(ctx, &now);
        graphss_i_rows_reset(&rows);
    }
    rows_to_graph(ctx, &now, &rows);
    assert_memory_equal(now.offset, g.offset, (N_EDITED + 1) * sizeof *g.offset);
    assert_memory_equal(now.target, g.target, (size_t)g.offset[N_EDITED] * sizeof *g.target);
    graphss_graph_destroy(ctx, &now);
    graphss_i_rows_destroy(ctx, &rows);
    graphss_i_rows_destroy(ctx, &rows);
    graphss_graph_destroy(ctx, &g);
}

TEST_CTX(without_the_allocator_only_reserved_room_is_used)
{
    graphss_rng rng = graphss_rng_make(4, 1);
    graphss_graph g = {0};
    graphss_i_rows rows;
    make_graph(ctx, &g, &rng);
    assert_ok(ctx, graphss_i_rows_init(ctx, &rows, &g));
    assert_false(graphss_i_rows_flip_edge(NULL, &rows, 1, 2));
    assert_int_equal(graphss_i_rows_has(&rows, 1, 2), graphss_graph_has_edge(&g, 1, 2));
    assert_int_equal(rows.n_changed, 0);
    assert_ok(ctx, graphss_i_rows_reserve(ctx, &rows, 2 * N_EDITED + 32));
    assert_true(graphss_i_rows_flip_edge(NULL, &rows, 1, 2));
    assert_int_equal(graphss_i_rows_has(&rows, 2, 1), !graphss_graph_has_edge(&g, 1, 2));
    graphss_i_rows_destroy(ctx, &rows);
    graphss_graph_destroy(ctx, &g);
}

static graphss_status edit(graphss_ctx *ctx, void *arg)
{
    const graphss_graph *g = arg;
    graphss_i_rows rows;
    graphss_status st = graphss_i_rows_init(ctx, &rows, g);
    if (st)
        return st;
    for (int32_t i = 1; i < 9 && !st; i++)
        st = graphss_i_rows_flip_edge(ctx, &rows, 0, i) ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    graphss_i_rows_destroy(ctx, &rows);
    return st;
}

TEST_CTX(every_allocation_may_fail)
{
    graphss_rng rng = graphss_rng_make(5, 1);
    graphss_graph g = {0};
    make_graph(ctx, &g, &rng);
    testing_each_allocation_fails(edit, &g);
    graphss_graph_destroy(ctx, &g);
}

TEST_CTX(rows_are_divided_by_their_sums_once)
{
    int64_t offset[] = {0, 2, 2, 3};
    int32_t column[] = {0, 2, 1};
    float value[] = {1, 3, 1};
    const graphss_features f = {3, 3, offset, column, value, GRAPHSS_FEATURES_COUNTS};
    graphss_features once = {0}, twice = {0};
    assert_ok(ctx, graphss_features_normalise_rows(ctx, &once, &f));
    assert_true(once.value[0] == 0.25f && once.value[1] == 0.75f && once.value[2] == 1);
    assert_int_equal(once.kind, GRAPHSS_FEATURES_REAL);
    assert_ok(ctx, graphss_features_normalise_rows(ctx, &twice, &once));
    assert_memory_equal(once.value, twice.value, sizeof value);
    graphss_features_destroy(ctx, &once);
    graphss_features_destroy(ctx, &twice);
}

int main(void)
{
    return testing_run();
}
