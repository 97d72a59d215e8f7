#include "data/build.h"
#include "testing.h"

/* The builder takes its arrays over, so tests hand it copies. */
#define COPY(ctx, array) \
    graphss_i_copy(ctx, array, sizeof array / sizeof *array, sizeof *array)

TEST_CTX(rows_are_sorted_summed_and_stripped_of_zeros)
{
    const int64_t offset[] = {0, 4, 4, 6, 7};
    const int32_t column[] = {5, 1, 5, 3, 0, 2, 4};
    const float value[] = {1, 2, 0.5f, 0, 1, -1, 3};
    graphss_features f = {0};
    assert_ok(ctx, graphss_i_features_from_rows(ctx, &f, 4, 6, COPY(ctx, offset),
                       COPY(ctx, column), COPY(ctx, value), 7, "x"));
    const int64_t want_offset[] = {0, 2, 2, 4, 5};
    const int32_t want_column[] = {1, 5, 0, 2, 4};
    const float want_value[] = {2, 1.5f, 1, -1, 3};
    assert_memory_equal(f.offset, want_offset, sizeof want_offset);
    assert_memory_equal(f.column, want_column, sizeof want_column);
    assert_memory_equal(f.value, want_value, sizeof want_value);
    assert_int_equal(f.kind, GRAPHSS_FEATURES_REAL);
    graphss_features_destroy(ctx, &f);
}

TEST_CTX(the_kind_of_features_is_found)
{
    const struct {
        float value[4];
        graphss_feature_kind kind;
    } cases[] = {{{0, 1, 0, 0}, GRAPHSS_FEATURES_BINARY},
        {{0, 0, 0, 0}, GRAPHSS_FEATURES_BINARY}, {{0, 1, 2, 0}, GRAPHSS_FEATURES_COUNTS},
        {{0, 1, -2, 0}, GRAPHSS_FEATURES_REAL}, {{0.5f, 1, 2, 3}, GRAPHSS_FEATURES_REAL}};
    for (size_t i = 0; i < 5; i++) {
        graphss_features f = {0};
        assert_ok(
            ctx, graphss_i_features_from_dense(ctx, &f, 2, 2, COPY(ctx, cases[i].value), "x"));
        assert_int_equal(f.kind, cases[i].kind);
        graphss_features_destroy(ctx, &f);
    }
    const int64_t none[] = {0, 0};
    graphss_features f = {0};
    assert_ok(
        ctx, graphss_i_features_from_rows(ctx, &f, 1, 0, COPY(ctx, none), NULL, NULL, 0, "x"));
    assert_int_equal(f.kind, GRAPHSS_FEATURES_NONE);
    graphss_features_destroy(ctx, &f);
}

static void assert_same_features(const graphss_features *a, const graphss_features *b)
{
    const size_t stored = graphss_features_stored(a);
    assert_int_equal(graphss_features_dense(a), graphss_features_dense(b));
    assert_int_equal(stored, graphss_features_stored(b));
    assert_memory_equal(a->value, b->value, stored * sizeof *a->value);
    if (!a->offset)
        return;
    assert_memory_equal(a->offset, b->offset, (a->n_rows + 1) * sizeof *a->offset);
    assert_memory_equal(a->column, b->column, stored * sizeof *a->column);
}

TEST_CTX(storage_depends_on_the_values_and_not_on_how_they_came)
{
    enum { ROWS = 6, COLS = 5 };
    graphss_rng rng = graphss_rng_make(3, 1);
    for (size_t fill = 0; fill <= 10; fill++) { /* counts */
        float cell[ROWS * COLS];
        int64_t offset[ROWS + 1] = {0};
        int32_t column[ROWS * COLS];
        float value[ROWS * COLS];
        size_t nnz = 0;
        for (size_t i = 0; i < ROWS; i++) {
            for (int32_t c = COLS - 1; c >= 0; c--) {
                const bool set = graphss_rng_below(&rng, 10) < fill;
                cell[i * COLS + (size_t)c] = set ? (float)(c + 1) : -0.0f;
                if (!set)
                    continue;
                column[nnz] = c;
                value[nnz++] = (float)(c + 1);
            }
            offset[i + 1] = (int64_t)nnz;
        }
        graphss_features a = {0}, b = {0};
        assert_ok(
            ctx, graphss_i_features_from_dense(ctx, &a, ROWS, COLS, COPY(ctx, cell), "x"));
        assert_ok(ctx, graphss_i_features_from_rows(ctx, &b, ROWS, COLS, COPY(ctx, offset),
                           graphss_i_copy(ctx, column, nnz, sizeof *column),
                           graphss_i_copy(ctx, value, nnz, sizeof *value), nnz, "x"));
        assert_int_equal(graphss_features_dense(&a), nnz > ROWS * COLS / 2);
        assert_same_features(&a, &b);
        graphss_features_destroy(ctx, &b);
        graphss_features_destroy(ctx, &a);
    }
}

TEST_CTX(measurements_with_kinds_beside_them_are_dense)
{
    enum { ROWS = 40, MEASURED = 3, COLS = 10 };
    const struct {
        float step; /* of the values */
        size_t measured, cols;
        bool dense;
    } cases[] = {{0.5f, MEASURED, COLS, true}, {1, MEASURED, COLS, false}, /* counts */
        {0.5f, 1, COLS, false},        /* as many kinds as measurements */
        {0.5f, MEASURED, 100, false}}; /* a block would be nearly empty */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t cols = cases[i].cols, m = cases[i].measured;
        float *cell = graphss_i_calloc(ctx, ROWS * cols, sizeof *cell);
        for (size_t r = 0; r < ROWS; r++) {
            for (size_t c = 0; c < m; c++)
                cell[r * cols + c] = cases[i].step * (float)(1 + (r + c) % 5);
            cell[r * cols + m + r % (cols - m)] = 1;
        }
        graphss_features f = {0};
        assert_ok(ctx, graphss_i_features_from_dense(ctx, &f, ROWS, cols, cell, "x"));
        assert_int_equal(graphss_features_dense(&f), cases[i].dense);
        graphss_features_destroy(ctx, &f);
    }
}

TEST(unsound_rows_are_refused_with_their_place)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    const struct {
        int64_t offset[3];
        int32_t column[3];
        float value[3];
        const char *part;
    } bad[] = {
        {{0, 2, 3}, {0, 7, 1}, {1, 1, 1}, "'attr_indices': entry 1 is 7, want 0..3"},
        {{0, 2, 3}, {0, -1, 1}, {1, 1, 1}, "'attr_indices': entry 1 is -1, want 0..3"},
        {{0, 4, 3}, {0, 1, 1}, {1, 1, 1}, "'attr_indptr': entry 1 is 4, want 0..3"},
        {{0, 2, 1}, {0, 1, 1}, {1, 1, 1}, "'attr_indptr': entry 2 is 1, want 2..3"},
        {{0, 2, 2}, {0, 1, 1}, {1, 1, 1}, "'attr_indptr': the last entry is 2, want 3"},
        {{1, 2, 3}, {0, 1, 1}, {1, 1, 1}, "'attr_indptr': entry 0 is 1, want 0"},
        {{0, -1, 3}, {0, 1, 1}, {1, 1, 1}, "'attr_indptr': entry 1 is -1, want 0..3"},
        {{0, 2, 3}, {0, 1, 1}, {1, 1, (float)NAN}, "'attr_data': entry 2 is nan"},
        {{0, 2, 3}, {0, 1, 1}, {1, (float)INFINITY, 1}, "'attr_data': entry 1 is inf"},
        {{0, 2, 3}, {1, 1, 1}, {3e38f, 3e38f, 1}, "add up beyond float"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        graphss_features f = {0};
        assert_fails(ctx,
            graphss_i_features_from_rows(ctx, &f, 2, 4, COPY(ctx, bad[i].offset),
                COPY(ctx, bad[i].column), COPY(ctx, bad[i].value), 3, "attr"),
            GRAPHSS_ERR_DATA, bad[i].part);
        assert_int_equal(memory.blocks, before);
    }
    graphss_graph g = {0};
    const int64_t offset[] = {0, 1, 2};
    const int32_t column[] = {1, 2};
    assert_fails(ctx, graphss_i_graph_from_rows(ctx, &g, 2, offset, column, NULL, 2, "", NULL),
        GRAPHSS_ERR_DATA, "'indices': entry 1 is 2, want 0..1");
    const float cell[] = {0, 1, (float)NAN, 2};
    graphss_features f = {0};
    assert_fails(ctx, graphss_i_features_from_dense(ctx, &f, 2, 2, COPY(ctx, cell), "x"),
        GRAPHSS_ERR_DATA, "'x': row 1, column 0 is nan");
    assert_int_equal(memory.blocks, before);
    graphss_ctx_free(ctx);
}

TEST_CTX(arrays_of_a_caller_become_features)
{
    const int64_t offset[] = {0, 3, 3, 4}, falls[] = {0, 3, 2, 4}, below[] = {0, 3, 3, -1};
    const int32_t column[] = {3, 0, 3, 2}, far[] = {3, 0, 4, 2};
    const float value[] = {2, 1, 0.5f, 1}, odd[] = {2, 1, (float)NAN, 1};
    const float cell[] = {1, 0, 0, 2.5f, 0, 0, 0, 0, 0, 0, 1, 0};
    graphss_features a = {0}, b = {0}, c = {0};
    assert_ok(ctx, graphss_features_from_rows(ctx, &a, 3, 4, offset, column, value));
    assert_ok(ctx, graphss_features_check(ctx, &a));
    assert_int_equal(a.kind, GRAPHSS_FEATURES_REAL);
    assert_int_equal(graphss_features_stored(&a), 3);
    assert_true(a.value[1] == 2.5f && a.column[1] == 3);
    assert_ok(ctx, graphss_features_from_dense(ctx, &b, 3, 4, cell));
    assert_int_equal(b.kind, a.kind);
    assert_memory_equal(a.offset, b.offset, 4 * sizeof *a.offset);
    assert_memory_equal(a.column, b.column, 3 * sizeof *a.column);
    assert_memory_equal(a.value, b.value, 3 * sizeof *a.value);
    assert_ok(ctx, graphss_features_from_rows(ctx, &c, 2, 4, offset, column, NULL));
    assert_int_equal(c.kind, GRAPHSS_FEATURES_COUNTS); /* a column stands there twice */
    graphss_features_destroy(ctx, &c);
    assert_ok(ctx, graphss_features_from_dense(ctx, &c, 3, 0, NULL));
    assert_int_equal(c.kind, GRAPHSS_FEATURES_NONE);
    graphss_features_destroy(ctx, &c);
    const int64_t none[] = {0, 0};
    assert_ok(ctx, graphss_features_from_rows(ctx, &c, 1, 4, none, NULL, NULL));
    assert_int_equal(graphss_features_stored(&c), 0);
    graphss_features_destroy(ctx, &c);
#define ROWS(n, d, o, j, v) graphss_features_from_rows(ctx, &c, n, d, o, j, v)
    assert_fails(ctx, ROWS(3, 4, falls, column, value), GRAPHSS_ERR_DATA,
        "'offset': entry 2 is 2, want 3..4");
    assert_fails(ctx, ROWS(3, 4, below, column, value), GRAPHSS_ERR_DATA, "'offset'");
    assert_fails(ctx, ROWS(3, 4, offset, far, value), GRAPHSS_ERR_DATA,
        "'column': entry 2 is 4, want 0..3");
    assert_fails(
        ctx, ROWS(3, 4, offset, column, odd), GRAPHSS_ERR_DATA, "'value': entry 2 is nan");
    assert_fails(ctx, ROWS(3, 4, NULL, column, value), GRAPHSS_ERR_INVALID, "no offsets");
    assert_fails(ctx, ROWS(3, 4, offset, NULL, value), GRAPHSS_ERR_INVALID, "no columns");
    assert_fails(ctx, ROWS(SIZE_MAX, 4, offset, column, value), GRAPHSS_ERR_INVALID,
        "want at most 2147483647");
#undef ROWS
    assert_fails(ctx, graphss_features_from_dense(ctx, &c, 3, 4, NULL), GRAPHSS_ERR_INVALID,
        "no values");
    assert_fails(ctx, graphss_features_from_dense(ctx, &c, 1, 4, odd), GRAPHSS_ERR_DATA,
        "'value': row 0, column 2 is nan");
    assert_null(c.value);
    graphss_features_destroy(ctx, &b);
    graphss_features_destroy(ctx, &a);
}

static graphss_status build_features(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    const int64_t offset[] = {0, 3, 3, 4};
    const int32_t column[] = {3, 0, 3, 2};
    const float value[] = {2, 1, 0.5f, 1}, filled[] = {1, 2, 3, 4};
    graphss_features a = {0}, b = {0}, c = {0};
    graphss_status st = graphss_features_from_rows(ctx, &a, 3, 4, offset, column, value);
    if (!st)
        st = graphss_features_from_dense(ctx, &b, 2, 2, filled);
    if (!st)
        st = graphss_features_from_dense(ctx, &c, 4, 1, (const float[]){0, 0, 0, 1});
    graphss_features_destroy(ctx, &c);
    graphss_features_destroy(ctx, &b);
    graphss_features_destroy(ctx, &a);
    return st;
}

TEST(each_allocation_of_features_may_fail)
{
    testing_each_allocation_fails(build_features, NULL);
}

TEST_CTX(weights_are_dropped_and_counted)
{
    const int64_t offset[] = {0, 2, 4, 4};
    const int32_t column[] = {1, 2, 0, 2};
    const float weight[] = {1, 0, 1, 0.5f};
    graphss_graph g = {0};
    graphss_cleaning c = {0};
    assert_ok(ctx, graphss_i_graph_from_rows(ctx, &g, 3, offset, column, weight, 4, "a", &c));
    assert_int_equal(graphss_graph_edges(&g), 2);
    assert_int_equal(c.zeros, 1);
    assert_int_equal(c.weighted, 1);
    assert_int_equal(c.directed, 1);
    graphss_graph_destroy(ctx, &g);
}

static void add_class_name(
    graphss_ctx *ctx, graphss_dataset *data, const char *a, const char *b)
{
    graphss_i_name_list list = {0};
    assert_ok(ctx, graphss_i_name_list_add(ctx, &list, a, strlen(a)));
    assert_ok(ctx, graphss_i_name_list_add(ctx, &list, b, strlen(b)));
    assert_ok(ctx, graphss_i_name_list_finish(ctx, &data->class_names, &list));
}

TEST_CTX(labels_stay_or_become_classes_named_after_themselves)
{
    graphss_dataset data = {0};
    const int64_t plain[] = {1, 0, -5, 2};
    assert_ok(ctx, graphss_i_labels_from_ints(ctx, &data, plain, 4, "labels"));
    assert_int_equal(data.n_classes, 3);
    assert_int_equal(data.class_names.count, 0);
    const int32_t want[] = {1, 0, -1, 2};
    assert_memory_equal(data.label, want, sizeof want);
    graphss_dataset_destroy(ctx, &data);

    const int64_t odd[] = {40, 7, -1, 900000000000};
    assert_ok(ctx, graphss_i_labels_from_ints(ctx, &data, odd, 4, "labels"));
    assert_int_equal(data.n_classes, 3);
    assert_string_equal(graphss_names_get(&data.class_names, 0), "7");
    assert_string_equal(graphss_names_get(&data.class_names, 2), "900000000000");
    assert_memory_equal(data.label, want, sizeof want);
    graphss_dataset_destroy(ctx, &data);

    /* The names determine the number of classes, whether they occur or not. */
    const int64_t one[] = {1, 1};
    add_class_name(ctx, &data, "cat", "dog");
    assert_ok(ctx, graphss_i_labels_from_ints(ctx, &data, one, 2, "labels"));
    assert_int_equal(data.n_classes, 2);
    assert_int_equal(data.label[0], 1);
    graphss_dataset_destroy(ctx, &data);

    add_class_name(ctx, &data, "cat", "dog");
    assert_fails(ctx, graphss_i_labels_from_ints(ctx, &data, plain, 4, "labels"),
        GRAPHSS_ERR_DATA, "'labels': entry 3 is 2, want 0..1");
    assert_null(data.label);
    graphss_dataset_destroy(ctx, &data);
}

/* A path of four nodes with three features and labels, made with the given weights. */
static graphss_status small_dataset(graphss_ctx *ctx, graphss_dataset *data, float last)
{
    const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 3};
    const int64_t offset[] = {0, 1, 2, 3, 4}, label[] = {0, 1, 0, 1};
    const int32_t column[] = {0, 1, 2, 0};
    const float value[] = {1, 1, 1, last};
    graphss_status st = graphss_graph_build(ctx, &data->graph, &data->cleaned, 4, from, to, 3);
    int64_t *o = st ? NULL : COPY(ctx, offset);
    int32_t *c = o ? COPY(ctx, column) : NULL;
    float *v = c ? COPY(ctx, value) : NULL;
    if (v)
        st = graphss_i_features_from_rows(ctx, &data->features, 4, 3, o, c, v, 4, "x");
    else {
        graphss_release(ctx, c);
        graphss_release(ctx, o);
        st = GRAPHSS_ERR_NOMEM;
    }
    if (st == GRAPHSS_OK)
        st = graphss_i_labels_from_ints(ctx, data, label, 4, "labels");
    if (st == GRAPHSS_OK)
        st = graphss_i_dataset_finish(ctx, data, "folder/ind.small", "planetoid");
    if (st)
        graphss_dataset_destroy(ctx, data);
    return st;
}

TEST_CTX(the_hash_is_the_documented_one_and_follows_every_part)
{
    graphss_dataset a = {0}, b = {0};
    assert_ok(ctx, small_dataset(ctx, &a, 1));
    /* Computed with Python's hashlib from the byte sequence dataset_finish.c documents. */
    assert_string_equal(
        a.hash, "0a0fae3865fdbd78f2ba46133f1b6d226b49cad41763e62d64dd1ac264fd50cb");
    assert_string_equal(a.name, "small");
    assert_string_equal(a.format, "planetoid");

    assert_ok(ctx, small_dataset(ctx, &b, 2));
    assert_string_not_equal(a.hash, b.hash);
    graphss_dataset_destroy(ctx, &b);

    assert_ok(ctx, graphss_dataset_copy(ctx, &b, &a));
    assert_ok(ctx, graphss_dataset_refresh(ctx, &b));
    assert_string_equal(a.hash, b.hash);
    b.label[2] = -1;
    assert_ok(ctx, graphss_dataset_refresh(ctx, &b));
    assert_string_not_equal(a.hash, b.hash);
    b.label[2] = 0;
    const int32_t from[] = {0, 1, 2}, to[] = {2, 2, 3}; /* 0-2 instead of 0-1 */
    graphss_graph_destroy(ctx, &b.graph);
    assert_ok(ctx, graphss_graph_build(ctx, &b.graph, NULL, 4, from, to, 3));
    assert_ok(ctx, graphss_dataset_refresh(ctx, &b));
    assert_string_not_equal(a.hash, b.hash);
    b.label[2] = 9;
    assert_fails(ctx, graphss_dataset_refresh(ctx, &b), GRAPHSS_ERR_DATA, "node 2: label 9");
    graphss_dataset_destroy(ctx, &b);
    graphss_dataset_destroy(ctx, &a);
}

TEST_CTX(dense_and_sparse_storage_hash_alike)
{
    graphss_dataset data = {0};
    assert_ok(ctx, small_dataset(ctx, &data, 2));
    char hash[65];
    memcpy(hash, data.hash, sizeof hash);
    const float cell[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0};
    graphss_features_destroy(ctx, &data.features);
    data.features = (graphss_features){.n_rows = 4, .n_cols = 3, .value = COPY(ctx, cell)};
    assert_ok(ctx, graphss_dataset_refresh(ctx, &data));
    assert_string_equal(data.hash, hash);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(parts_that_do_not_fit_are_refused)
{
    graphss_dataset data = {0};
    assert_fails(ctx, graphss_i_dataset_finish(ctx, &data, "x.npz", "npz"), GRAPHSS_ERR_DATA,
        "x.npz: no nodes");
    assert_ok(ctx, small_dataset(ctx, &data, 1));
    data.features.n_rows = 3;
    assert_fails(ctx, graphss_dataset_refresh(ctx, &data), GRAPHSS_ERR_DATA,
        "features of 3 nodes, a graph of 4");
    data.features.n_rows = 4;
    float *value = data.features.value;
    data.features.value = NULL;
    assert_fails(ctx, graphss_dataset_refresh(ctx, &data), GRAPHSS_ERR_INVALID, "no values");
    data.features.value = value;
    data.n_classes = 3;
    add_class_name(ctx, &data, "cat", "dog");
    assert_fails(ctx, graphss_dataset_refresh(ctx, &data), GRAPHSS_ERR_DATA,
        "2 names of classes, want 3");
    graphss_dataset_destroy(ctx, &data);
}

static void keep_warning(void *user, graphss_log_level level, const char *line)
{
    if (level == GRAPHSS_LOG_WARN)
        snprintf(user, 512, "%s", line);
}

/* Four nodes with three features, and the warning they deserve. */
TEST(a_number_that_drowns_all_others_is_read_with_a_warning)
{
    char warning[512];
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warning, .user = warning});
    assert_non_null(ctx);
    const struct {
        float cell[12];
        bool dense;
        const char *warning;
    } list[] = {
        {{1, 0, 0, 0, 1, 0, 0, 1e12F, 0, 1, 0, 1}, false, "feature 1 of node 2 is 1e+12"},
        {{1, 0, 0, 0, 1, 0, 0, 0, -3e7F, 0, 0, 1}, false, "feature 2 of node 2 is -3e+07"},
        {{1, 0, 0, 0, 1, 0, 0, 0, 9e5F, 0, 0, 1}, false, ""},
        {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1e12F}, true, "feature 2 of node 3 is 1e+12"},
        {{0.5F, 1, 2e9F, 2, 1, 2e9F, 1, 3, 2e9F, 2, 1, 2e9F}, true, ""}, /* seconds */
        {{0.5F, 1, 2e9F, 2, 1, 8e18F, 1, 3, 2e9F, 2, 1, 2e9F}, true, "of node 1 is 8e+18"},
        {{0}, false, ""}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        graphss_dataset data = {0};
        const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 3};
        assert_ok(ctx, graphss_graph_build(ctx, &data.graph, NULL, 4, from, to, 3));
        assert_ok(ctx, graphss_i_features_from_dense(
                           ctx, &data.features, 4, 3, COPY(ctx, list[i].cell), "x"));
        assert_int_equal(graphss_features_dense(&data.features), list[i].dense);
        warning[0] = '\0';
        assert_ok(ctx, graphss_i_dataset_finish(ctx, &data, "x.npz", "npz"));
        assert_int_equal(warning[0] != '\0', list[i].warning[0] != '\0');
        assert_non_null(strstr(warning, list[i].warning));
        graphss_dataset_destroy(ctx, &data);
    }
    graphss_ctx_free(ctx);
}

static graphss_status make_and_copy(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    graphss_dataset data = {0}, copy = {0};
    graphss_status st = small_dataset(ctx, &data, 2);
    if (st == GRAPHSS_OK)
        st = graphss_dataset_copy(ctx, &copy, &data);
    graphss_dataset_destroy(ctx, &copy);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(each_allocation_may_fail)
{
    testing_each_allocation_fails(make_and_copy, NULL);
}

/* ---- columns ---- */

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

TEST_CTX(unused_columns_of_a_wide_table_go_and_numbers_become_names)
{
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
}

TEST_CTX(an_ordinary_number_of_columns_keeps_its_positions)
{
    static const int32_t column[] = {GRAPHSS_I_COLUMNS_KEPT - 1, 7, 9};
    graphss_dataset data = make_data(ctx, GRAPHSS_I_COLUMNS_KEPT, column, ones);
    assert_ok(ctx, graphss_i_dataset_finish(ctx, &data, "narrow", "csv"));
    assert_int_equal(data.features.n_cols, GRAPHSS_I_COLUMNS_KEPT);
    assert_int_equal(data.column_names.count, 0);
    assert_memory_equal(data.features.column, column, sizeof column);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(a_wide_table_without_any_entry_has_no_features)
{
    static const float nothing[] = {0, 0, 0};
    graphss_dataset data = make_data(ctx, 2000000001, far_apart, nothing);
    assert_ok(ctx, graphss_i_dataset_finish(ctx, &data, "empty", "csv"));
    assert_int_equal(data.features.n_cols, 0);
    assert_int_equal(data.features.n_rows, NODES);
    assert_int_equal(data.column_names.count, 0);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(names_of_a_wide_table_stay_with_their_columns)
{
    enum { WIDE = GRAPHSS_I_COLUMNS_KEPT + 10 };
    static const int32_t column[] = {WIDE - 1, 3, 5};
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
}

TEST_CTX(values_out_of_range_are_refused_with_their_place)
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
