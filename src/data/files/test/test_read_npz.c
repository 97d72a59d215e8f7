#include "data/build.h"
#include "data/files/readers.h"
#include "data/formats/npz.h"
#include "testing.h"

#define FIXTURE(name) GRAPHSS_SEEDS "/data/" name ".npz"

TEST_CTX(every_dtype_and_order_gives_the_same_dataset)
{
    const char *const path[] = {FIXTURE("plain"), FIXTURE("stored"), FIXTURE("small_types"),
        FIXTURE("big_endian"), FIXTURE("unsigned"), FIXTURE("fortran"), FIXTURE("dotted"),
        FIXTURE("objects"), FIXTURE("names")};
    char hash[65] = "";
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        graphss_dataset data = {0};
        assert_ok(ctx, graphss_i_read_npz(ctx, &data, path[i], 0, GRAPHSS_MISSING_ERROR));
        assert_int_equal(data.graph.n_nodes, 5);
        assert_int_equal(graphss_graph_edges(&data.graph), 4);
        assert_int_equal(data.features.n_cols, 4);
        assert_int_equal(graphss_features_stored(&data.features), 5);
        assert_int_equal(data.features.kind, GRAPHSS_FEATURES_COUNTS);
        assert_int_equal(data.n_classes, 3);
        const int32_t label[] = {0, 1, 2, 0, -1};
        assert_memory_equal(data.label, label, sizeof label);
        assert_int_equal(data.cleaned.directed, 3);
        assert_int_equal(data.cleaned.loops, 1);
        assert_int_equal(data.cleaned.isolated, 1);
        assert_string_equal(data.format, "npz");
        if (i == 0)
            memcpy(hash, data.hash, sizeof hash);
        assert_string_equal(data.hash, hash);
        graphss_dataset_destroy(ctx, &data);
    }
}

static void keep_warning(void *user, graphss_log_level level, const char *line)
{
    if (level == GRAPHSS_LOG_WARN)
        snprintf(user, 512, "%s", line);
}

TEST(labels_that_cannot_be_read_are_passed_over_with_a_warning)
{
    char warning[512] = "", path[256];
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warning, .user = warning});
    assert_non_null(ctx);
    const int64_t offset[] = {0, 1, 2}, column[] = {1, 0}, shape[] = {2, 2};
    const float complex_label[] = {0, 0, 1, 0};
    const graphss_i_array_out array[] = {{"adj_indptr", "<i8", 1, {3, 1}, offset, NULL},
        {"adj_indices", "<i8", 1, {2, 1}, column, NULL},
        {"adj_shape", "<i8", 1, {2, 1}, shape, NULL},
        {"labels", "<c8", 1, {2, 1}, complex_label, NULL}};
    testing_temporary(path, sizeof path, "complex.npz");
    assert_ok(ctx, graphss_i_npz_write(ctx, path, array, sizeof array / sizeof *array));
    graphss_dataset data = {0};
    const graphss_status st = graphss_i_read_npz(ctx, &data, path, 0, GRAPHSS_MISSING_ERROR);
    unlink(path);
    assert_ok(ctx, st);
    assert_null(data.label);
    assert_non_null(strstr(warning, "array 'labels' has a dtype that is not read"));
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

static void keep_warnings(void *user, graphss_log_level level, const char *line)
{
    if (level == GRAPHSS_LOG_WARN)
        strncat(user, line, 1023 - strlen(user));
}

TEST(names_that_are_objects_are_passed_over_with_a_warning)
{
    char warnings[1024] = "";
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warnings, .user = warnings});
    graphss_dataset data = {0};
    assert_non_null(ctx);
    assert_ok(
        ctx, graphss_i_read_npz(ctx, &data, FIXTURE("objects"), 0, GRAPHSS_MISSING_ERROR));
    assert_int_equal(data.node_names.count, 0);
    assert_non_null(strstr(warnings, "array 'node_names'"));
    assert_non_null(strstr(warnings, "nodes go by position"));
    assert_non_null(strstr(warnings, "array 'attr_names'"));
    assert_null(strstr(warnings, "metadata"));
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

TEST(nodes_of_one_name_are_read_with_a_warning)
{
    char warnings[1024] = "", path[256];
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warnings, .user = warnings});
    assert_non_null(ctx);
    const struct {
        const char *text; /* five names of one letter */
        const char *warning;
    } list[] = {{"abcde", ""}, {"abcdb", "entry 4 is 'b' like entry 1 (1 such entry)"},
        {"abbab", "entry 2 is 'b' like entry 1 (3 such entries)"}};
    testing_temporary(path, sizeof path, "twice.npz");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        graphss_dataset a = {0}, b = {0};
        assert_ok(
            ctx, graphss_i_read_npz(ctx, &a, FIXTURE("plain"), 0, GRAPHSS_MISSING_ERROR));
        graphss_i_name_list names = {0};
        for (size_t j = 0; j < 5; j++)
            assert_ok(ctx, graphss_i_name_list_add(ctx, &names, list[i].text + j, 1));
        graphss_names_destroy(ctx, &a.node_names);
        assert_ok(ctx, graphss_i_name_list_finish(ctx, &a.node_names, &names));
        graphss_i_name_list_destroy(ctx, &names);
        assert_ok(ctx, graphss_dataset_write(ctx, &a, path));
        warnings[0] = '\0';
        assert_ok(ctx, graphss_i_read_npz(ctx, &b, path, 0, GRAPHSS_MISSING_ERROR));
        assert_int_equal(warnings[0] != '\0', i > 0);
        assert_non_null(strstr(warnings, list[i].warning));
        assert_int_equal(b.node_names.count, 5);
        graphss_dataset_destroy(ctx, &b);
        graphss_dataset_destroy(ctx, &a);
    }
    unlink(path);
    graphss_ctx_free(ctx);
}

TEST_CTX(names_and_the_split_of_a_file_survive)
{
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_i_read_npz(ctx, &data, FIXTURE("names"), 0, GRAPHSS_MISSING_ERROR));
    assert_string_equal(data.name, "names");
    assert_string_equal(graphss_names_get(&data.node_names, 1), "");
    assert_string_equal(graphss_names_get(&data.node_names, 2), "caf\xc3\xa9");
    assert_string_equal(graphss_names_get(&data.node_names, 3), "\xf0\x9f\x98\x80x");
    assert_string_equal(graphss_names_get(&data.class_names, 1), "na\xc3\xafve");
    assert_string_equal(graphss_names_get(&data.class_names, 2), "zo\xc3\xab");
    assert_string_equal(graphss_names_get(&data.column_names, 3), "40");
    assert_int_equal(data.split.n_train, 2);
    assert_int_equal(data.split.train[0], 3);
    assert_int_equal(data.split.train_label[0], 1);
    assert_int_equal(data.split.val_label[0], 2);
    assert_int_equal(data.split.test[0], 2);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(scipy_matrices_are_graphs_without_features)
{
    const char *const path[] = {FIXTURE("scipy_csr"), FIXTURE("scipy_csc"),
        FIXTURE("scipy_coo"), FIXTURE("scipy_text_format"), FIXTURE("unlabelled")};
    char hash[65] = "";
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        graphss_dataset data = {0};
        assert_ok(ctx, graphss_i_read_npz(ctx, &data, path[i], 0, GRAPHSS_MISSING_ERROR));
        assert_int_equal(graphss_graph_edges(&data.graph), 4);
        assert_int_equal(data.cleaned.directed, 3);
        assert_int_equal(data.features.n_cols, 0);
        assert_int_equal(data.features.n_rows, 5);
        assert_int_equal(data.features.kind, GRAPHSS_FEATURES_NONE);
        assert_null(data.label);
        assert_string_equal(data.format, i < 4 ? "scipy" : "npz");
        if (i == 0)
            memcpy(hash, data.hash, sizeof hash);
        assert_string_equal(data.hash, hash);
        graphss_dataset_destroy(ctx, &data);
    }
    graphss_dataset data = {0};
    assert_fails(ctx,
        graphss_i_read_npz(ctx, &data, FIXTURE("scipy_bsr"), 0, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_DATA, "array 'format': 'bsr', want csr, csc or coo");
    assert_fails(ctx,
        graphss_i_read_npz(ctx, &data, FIXTURE("masks"), 0, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_DATA, "no graph in it");
    assert_null(data.graph.offset);
}

static void assert_same_names(const graphss_names *a, const graphss_names *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(graphss_names_get(a, i), graphss_names_get(b, i));
}

static size_t read_bytes(const char *path, unsigned char *out, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(out, 1, size, file);
    assert_true(n < size);
    fclose(file);
    return n;
}

TEST_CTX(what_is_written_reads_back_the_same)
{
    const char *const fixture[] = {FIXTURE("names"), FIXTURE("plain"), FIXTURE("scipy_coo")};
    char path[256];
    testing_temporary(path, sizeof path, "again.npz");
    for (size_t i = 0; i < 3; i++) {
        graphss_dataset a = {0}, b = {0};
        unsigned char first[8192], second[8192];
        assert_ok(ctx, graphss_i_read_npz(ctx, &a, fixture[i], 0, GRAPHSS_MISSING_ERROR));
        assert_ok(ctx, graphss_dataset_write(ctx, &a, path));
        const size_t n = read_bytes(path, first, sizeof first);
        assert_ok(ctx, graphss_i_read_npz(ctx, &b, path, 0, GRAPHSS_MISSING_ERROR));
        assert_string_equal(a.hash, b.hash);
        assert_int_equal(a.n_classes, b.n_classes);
        assert_same_names(&a.node_names, &b.node_names);
        assert_same_names(&a.class_names, &b.class_names);
        assert_same_names(&a.column_names, &b.column_names);
        assert_int_equal(a.split.n_train, b.split.n_train);
        assert_int_equal(a.split.n_val, b.split.n_val);
        if (a.split.n_train)
            assert_memory_equal(
                a.split.train, b.split.train, a.split.n_train * sizeof(int32_t));
        assert_int_equal(b.cleaned.directed + b.cleaned.loops, 0);
        assert_ok(ctx, graphss_dataset_write(ctx, &b, path));
        assert_int_equal(read_bytes(path, second, sizeof second), n);
        assert_memory_equal(first, second, n);
        graphss_dataset_destroy(ctx, &b);
        graphss_dataset_destroy(ctx, &a);
    }
    unlink(path);
    graphss_dataset none = {0};
    assert_fails(ctx, graphss_dataset_write(ctx, &none, path), GRAPHSS_ERR_INVALID, "empty");
}

TEST_CTX(a_label_that_is_no_class_is_not_written)
{
    char path[256];
    testing_temporary(path, sizeof path, "label.npz");
    graphss_dataset a = {0};
    assert_ok(ctx, graphss_i_read_npz(ctx, &a, FIXTURE("plain"), 0, GRAPHSS_MISSING_ERROR));
    a.label[2] = 1 << 30;
    assert_fails(ctx, graphss_dataset_write(ctx, &a, path), GRAPHSS_ERR_INVALID,
        "node 2 has label 1073741824");
    a.label[2] = -2;
    assert_fails(ctx, graphss_dataset_write(ctx, &a, path), GRAPHSS_ERR_INVALID, "label -2");
    assert_int_not_equal(access(path, F_OK), 0);
    graphss_dataset_destroy(ctx, &a);
}

TEST_CTX(dense_features_and_classes_without_nodes_read_back)
{
    char path[256];
    testing_temporary(path, sizeof path, "dense.npz");
    graphss_dataset a = {0}, b = {0};
    assert_ok(ctx, graphss_i_read_npz(ctx, &a, FIXTURE("plain"), 0, GRAPHSS_MISSING_ERROR));
    graphss_features_destroy(ctx, &a.features);
    const float cell[] = {1, 2.5f, 3, 4, 0, 6, 7, 8, 9, 10};
    assert_ok(ctx, graphss_i_features_from_dense(ctx, &a.features, 5, 2,
                       graphss_i_copy(ctx, cell, 10, sizeof *cell), "x"));
    a.n_classes = 9;
    assert_ok(ctx, graphss_dataset_refresh(ctx, &a));
    assert_true(graphss_features_dense(&a.features));
    assert_ok(ctx, graphss_dataset_write(ctx, &a, path));
    assert_ok(ctx, graphss_i_read_npz(ctx, &b, path, 0, GRAPHSS_MISSING_ERROR));
    assert_string_equal(a.hash, b.hash);
    assert_int_equal(b.n_classes, 9);
    assert_memory_equal(b.features.value, cell, sizeof cell);
    graphss_dataset_destroy(ctx, &b);
    graphss_dataset_destroy(ctx, &a);
    unlink(path);
}

/* A path of three nodes with two features; a test damages one of its arrays. */
typedef struct parts {
    float adj_data[4];
    int64_t adj_indices[4], adj_indptr[4], adj_shape[2];
    float attr_data[3];
    int64_t attr_indices[3], attr_indptr[4], attr_shape[2];
    int64_t labels[3];
} parts;

static const parts sound = {{1, 1, 1, 1}, {1, 0, 2, 1}, {0, 1, 3, 4}, {3, 3}, {1, 1, 1},
    {0, 1, 0}, {0, 1, 2, 3}, {3, 2}, {0, 1, 0}};

static void write_parts(graphss_ctx *ctx, const char *path, const parts *p)
{
#define PART(field, type) \
    { \
        .name = #field, .dtype = type, .n_dims = 1, \
        .shape = {sizeof p->field / sizeof *p->field}, .data = p->field \
    }
    const graphss_i_array_out array[] = {PART(adj_data, "<f4"), PART(adj_indices, "<i8"),
        PART(adj_indptr, "<i8"), PART(adj_shape, "<i8"), PART(attr_data, "<f4"),
        PART(attr_indices, "<i8"), PART(attr_indptr, "<i8"), PART(attr_shape, "<i8"),
        PART(labels, "<i8")};
#undef PART
    assert_ok(ctx, graphss_i_npz_write(ctx, path, array, sizeof array / sizeof *array));
}

TEST(spoiled_arrays_are_refused_with_file_array_and_place)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    char path[256];
    testing_temporary(path, sizeof path, "spoiled.npz");
    graphss_dataset data = {0};
    write_parts(ctx, path, &sound);
    assert_ok(ctx, graphss_i_read_npz(ctx, &data, path, 0, GRAPHSS_MISSING_ERROR));
    assert_int_equal(graphss_graph_edges(&data.graph), 2);
    graphss_dataset_destroy(ctx, &data);

    parts p[14];
    for (size_t i = 0; i < 14; i++)
        p[i] = sound;
    p[0].adj_indices[2] = 99999;
    p[1].adj_indices[2] = -1;
    p[2].adj_indices[2] = INT64_C(1) << 40;
    p[3].adj_indptr[1] = 5;
    p[4].adj_shape[0] = p[4].adj_shape[1] = INT64_C(1) << 60;
    p[5].adj_shape[0] = -3;
    p[6].adj_shape[1] = 4;
    p[7].adj_data[3] = (float)NAN;
    p[8].attr_data[0] = (float)INFINITY;
    p[9].attr_indices[1] = 2;
    p[10].attr_shape[0] = 4;
    p[11].adj_shape[0] = p[11].adj_shape[1] = 2147483647;
    p[12].attr_indptr[3] = 2;
    p[13].adj_indptr[0] = -1;
    const char *const part[] = {"array 'adj_indices': entry 2 is 99999, want 0..2",
        "array 'adj_indices': entry 2 is -1, want 0..2",
        "array 'adj_indices': entry 2 is 1099511627776, want a 32-bit integer",
        "array 'adj_indptr': entry 1 is 5, want 0..4",
        "array 'adj_shape': entry 0 is 1152921504606846976, want 0..2147483647",
        "array 'adj_shape': entry 0 is -3, want 0..2147483647",
        "array 'adj_shape': 3 x 4, want a square matrix",
        "array 'adj_data': entry 3 is nan, want a finite number",
        "array 'attr_data': entry 0 is inf, want a finite number",
        "array 'attr_indices': entry 1 is 2, want 0..1",
        "array 'attr_indptr': 4 elements, want 5",
        "array 'adj_indptr': 4 elements, want 2147483648",
        "array 'attr_indptr': the last entry is 2, want 3",
        "array 'adj_indptr': entry 0 is -1, want 0"};
    for (size_t i = 0; i < 14; i++) {
        char want[512];
        snprintf(want, sizeof want, "%s: %s", path, part[i]);
        write_parts(ctx, path, &p[i]);
        assert_fails(ctx, graphss_i_read_npz(ctx, &data, path, 0, GRAPHSS_MISSING_ERROR),
            GRAPHSS_ERR_DATA, want);
        assert_null(data.graph.offset);
        assert_int_equal(memory.blocks, before);
    }
    write_parts(ctx, path, &sound);
    assert_fails(ctx, graphss_i_read_npz(ctx, &data, path, 100, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_LIMIT, "beyond the limit of 100 bytes");
    unlink(path);
    graphss_ctx_free(ctx);
}

TEST_CTX(coordinates_may_not_claim_nodes_out_of_thin_air)
{
    char path[256];
    testing_temporary(path, sizeof path, "coo.npz");
    const int64_t shape[] = {2000000000, 2000000000};
    const int32_t end[] = {0, 1};
    size_t start[] = {0, 4};
    char text[] = "coo";
    const graphss_names format = {1, start, text};
    const graphss_i_array_out array[] = {
        {.name = "shape", .dtype = "<i8", .n_dims = 1, .shape = {2}, .data = shape},
        {.name = "row", .dtype = "<i4", .n_dims = 1, .shape = {2}, .data = end},
        {.name = "col", .dtype = "<i4", .n_dims = 1, .shape = {2}, .data = end},
        {.name = "format", .dtype = "<U", .names = &format}};
    assert_ok(ctx, graphss_i_npz_write(ctx, path, array, 4));
    graphss_dataset data = {0};
    assert_fails(ctx, graphss_i_read_npz(ctx, &data, path, 0, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_DATA, "array 'shape': 2000000000 elements are implausible");
    unlink(path);
}

TEST(files_cut_short_are_refused_and_changed_ones_do_no_harm)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    const char *const fixture[] = {FIXTURE("stored"), FIXTURE("names")};
    char path[256];
    testing_temporary(path, sizeof path, "cut.npz");
    for (size_t f = 0; f < 2; f++) {
        unsigned char bytes[8192];
        const size_t n = read_bytes(fixture[f], bytes, sizeof bytes);
        size_t refused = 0;
        for (size_t cut = 0; cut < 2 * n; cut++) {
            const size_t at = cut < n ? cut : cut - n;
            bytes[at] ^= cut < n ? 0 : 0x41;
            FILE *file = fopen(path, "wb");
            assert_non_null(file);
            const size_t length = cut < n ? cut : n;
            assert_int_equal(fwrite(bytes, 1, length, file), length);
            fclose(file);
            bytes[at] ^= cut < n ? 0 : 0x41;
            graphss_dataset data = {0};
            const graphss_status st =
                graphss_i_read_npz(ctx, &data, path, 1 << 20, GRAPHSS_MISSING_ERROR);
            if (cut < n)
                assert_int_equal(st, GRAPHSS_ERR_DATA);
            refused += st != GRAPHSS_OK;
            graphss_dataset_destroy(ctx, &data);
            assert_int_equal(memory.blocks, before);
        }
        assert_true(refused > n + n / 3); /* what a checksum covers is most of the file */
    }
    unlink(path);
    graphss_ctx_free(ctx);
}

TEST_CTX(the_arrays_of_pyg_are_a_dataset)
{
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_i_read_npz(ctx, &data, FIXTURE("pyg"), 0, GRAPHSS_MISSING_ERROR));
    assert_string_equal(data.format, "pyg");
    assert_int_equal(data.graph.n_nodes, 4);
    assert_int_equal(graphss_graph_edges(&data.graph), 5);
    assert_int_equal(data.features.n_cols, 2);
    assert_int_equal(data.n_classes, 2);
    assert_int_equal(data.label[2], 1);
    assert_int_equal(data.split.n_train, 2);
    assert_int_equal(data.split.val[0], 2);
    assert_int_equal(data.split.test[0], 3);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(labels_may_be_text)
{
    graphss_dataset data = {0};
    assert_ok(
        ctx, graphss_i_read_npz(ctx, &data, FIXTURE("pyg_text"), 0, GRAPHSS_MISSING_ERROR));
    assert_int_equal(data.n_classes, 2);
    assert_string_equal(graphss_names_get(&data.class_names, 0), "bot");
    assert_string_equal(graphss_names_get(&data.class_names, 1), "human");
    const int32_t label[] = {0, -1, 1, 0};
    assert_memory_equal(data.label, label, sizeof label);
    assert_string_equal(graphss_names_get(&data.node_names, 3), "d");
    assert_int_equal(data.features.n_cols, 0);
    graphss_dataset_destroy(ctx, &data);
}

static graphss_status read_and_write(graphss_ctx *ctx, void *path)
{
    graphss_dataset data = {0};
    graphss_status st =
        graphss_i_read_npz(ctx, &data, FIXTURE("names"), 0, GRAPHSS_MISSING_ERROR);
    if (st == GRAPHSS_OK)
        st = graphss_dataset_write(ctx, &data, path);
    graphss_dataset_destroy(ctx, &data);
    if (st == GRAPHSS_OK)
        st = graphss_i_read_npz(ctx, &data, FIXTURE("fortran"), 0, GRAPHSS_MISSING_ERROR);
    graphss_dataset_destroy(ctx, &data);
    if (st == GRAPHSS_OK)
        st = graphss_i_read_npz(ctx, &data, FIXTURE("scipy_coo"), 0, GRAPHSS_MISSING_ERROR);
    graphss_dataset_destroy(ctx, &data);
    if (st == GRAPHSS_OK)
        st = graphss_i_read_npz(ctx, &data, FIXTURE("pyg"), 0, GRAPHSS_MISSING_ERROR);
    graphss_dataset_destroy(ctx, &data);
    if (st == GRAPHSS_OK)
        st = graphss_i_read_npz(ctx, &data, FIXTURE("pyg_text"), 0, GRAPHSS_MISSING_ERROR);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(each_allocation_may_fail)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved.npz");
    testing_each_allocation_fails(read_and_write, path);
    unlink(path);
}

TEST(public_datasets_have_the_published_counts)
{
    const struct {
        const char *file;
        size_t nodes, edges, columns, classes;
        graphss_feature_kind kind;
    } known[] = {{"cora.npz", 2708, 5278, 1433, 7, GRAPHSS_FEATURES_BINARY},
        {"citeseer.npz", 3327, 4552, 3703, 6, GRAPHSS_FEATURES_BINARY},
        {"pubmed.npz", 19717, 44324, 500, 3, GRAPHSS_FEATURES_REAL},
        {"amazon_photo.npz", 7650, 119081, 745, 8, GRAPHSS_FEATURES_BINARY},
        {"coauthor_cs.npz", 18333, 81894, 6805, 15, GRAPHSS_FEATURES_COUNTS}};
    char path[512];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        testing_data(path, sizeof path, known[i].file);
        graphss_ctx *ctx = testing_ctx(NULL, 1);
        graphss_dataset data = {0};
        assert_ok(ctx, graphss_i_read_npz(ctx, &data, path, 0, GRAPHSS_MISSING_ERROR));
        assert_int_equal(data.graph.n_nodes, known[i].nodes);
        assert_int_equal(graphss_graph_edges(&data.graph), known[i].edges);
        assert_int_equal(data.features.n_cols, known[i].columns);
        assert_int_equal(data.n_classes, known[i].classes);
        assert_int_equal(data.features.kind, known[i].kind);
        assert_ok(ctx, graphss_graph_check(ctx, &data.graph));
        graphss_dataset_destroy(ctx, &data);
        graphss_ctx_free(ctx);
    }
}

int main(void)
{
    return testing_run();
}
