/* test_columns.c */
#include "data/build.h"
#include "testing.h"

enum { NODES = 3 };

/* A path of three nodes; node i has value[i] in column[i]. */
static graphss_dataset make_data(
    graphss_ctx *ctx, size_t n_cols, const int32_t *column, const float *value)
{
    static const int32_t from[] = {0, 1}, to[] = {1, 2};
    static const int64_t offset[] = {0, 1, 2, 3};
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_graph_build(ctx, &data.graph, NULL, NODES, from, to, 2));
    assert_ok(ctx,
        graphss_features_from_rows(ctx, &data.features, NODES, n_cols, offset, column, value));
    return data;
}

static const int32_t far_apart[] = {2000000000, 7, 99999};
static const float ones[] = {1, 1, 1};

TEST(unused_columns_of_a_wide_table_go_and_numbers_become_names)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset data = make_data(ctx, 2000000001, far_apart, ones);
    assert_ok(ctx, graphss_i_dataset_finish(ctx, &data, "wide", "csv"));
    assert_int_equal(data.features.n_cols, 3);
    assert_int_equal(data.column_names.count, 3);
    assert_string_equal(graphss_names_get(&data.column_names, 0), "7");
    assert_string_equal(graphss_names_get(&data.column_names, 1), "99999");
    assert_string_equal(graphss_names_get(&data.column_names, 2), "2000000000");
    static const int32_t want[] = {2, 0, 1};
    assert_memory_equal(data.features.column, want, sizeof want);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

TEST(an_ordinary_number_of_columns_keeps_its_positions)
{
    static const int32_t column[] = {GRAPHSS_I_COLUMNS_KEPT - 1, 7, 9};
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset data = make_data(ctx, GRAPHSS_I_COLUMNS_KEPT, column, ones);
    assert_ok(ctx, graphss_i_dataset_finish(ctx, &data, "narrow", "csv"));
    assert_int_equal(data.features.n_cols, GRAPHSS_I_COLUMNS_KEPT);
    assert_int_equal(data.column_names.count, 0);
    assert_memory_equal(data.features.column, column, sizeof column);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

TEST(a_wide_table_without_any_entry_has_no_features)
{
    static const float nothing[] = {0, 0, 0};
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset data = make_data(ctx, 2000000001, far_apart, nothing);
    assert_ok(ctx, graphss_i_dataset_finish(ctx, &data, "empty", "csv"));
    assert_int_equal(data.features.n_cols, 0);
    assert_int_equal(data.features.n_rows, NODES);
    assert_int_equal(data.column_names.count, 0);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

TEST(names_of_a_wide_table_stay_with_their_columns)
{
    enum { WIDE = GRAPHSS_I_COLUMNS_KEPT + 10 };
    static const int32_t column[] = {WIDE - 1, 3, 5};
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset data = make_data(ctx, WIDE, column, ones);
    graphss_i_name_list list = {0};
    for (int c = 0; c < WIDE; c++) {
        char text[24];
        const int length = snprintf(text, sizeof text, "w%d", c);
        assert_ok(ctx, graphss_i_name_list_add(ctx, &list, text, (size_t)length));
    }
    assert_ok(ctx, graphss_i_name_list_finish(ctx, &data.column_names, &list));
    assert_ok(ctx, graphss_i_dataset_finish(ctx, &data, "words", "npz"));
    assert_int_equal(data.features.n_cols, 3);
    assert_string_equal(graphss_names_get(&data.column_names, 0), "w3");
    assert_string_equal(graphss_names_get(&data.column_names, 2), "w65545");
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

TEST(values_out_of_range_are_refused_with_their_place)
{
    static const int32_t column[] = {4, 1, 2};
    static const struct {
        float value[3];
        const char *says;
    } bad[] = {
        {{1, -1e38F, 1}, "feature 1 of node 1 is -1e+38, too large to compute with: want at"},
        {{1, 1, 2e19F}, "feature 2 of node 2 is 2e+19"},
        {{1e-40F, 0, -1e-39F}, "feature 2 of node 2, is -1e-39, want at least 1e-19"},
    };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        graphss_dataset data = make_data(ctx, 5, column, bad[i].value);
        assert_fails(ctx, graphss_i_dataset_finish(ctx, &data, "odd", "csv"), GRAPHSS_ERR_DATA,
            bad[i].says);
        graphss_dataset_destroy(ctx, &data);
    }
    /* One small number among others is only small. */
    static const float fine[] = {1e-40F, 1, 1e18F};
    graphss_dataset data = make_data(ctx, 5, column, fine);
    assert_ok(ctx, graphss_i_dataset_finish(ctx, &data, "fine", "csv"));
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

static graphss_status drop(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    static const int32_t from[] = {0, 1}, to[] = {1, 2};
    static const int64_t offset[] = {0, 1, 2, 3};
    graphss_dataset data = {0};
    graphss_status st = graphss_graph_build(ctx, &data.graph, NULL, NODES, from, to, 2);
    if (!st)
        st = graphss_features_from_rows(
            ctx, &data.features, NODES, 2000000001, offset, far_apart, ones);
    if (!st)
        st = graphss_i_dataset_finish(ctx, &data, "wide", "csv");
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(every_allocation_may_fail)
{
    testing_each_allocation_fails(drop, NULL);
}

int main(void)
{
    return testing_run();
}
