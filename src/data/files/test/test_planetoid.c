/* test_planetoid.c - tests/make_data/planetoid.py makes planetoid/ind.tiny.* of the test data.
 */
#include "data/files/readers.h"
#include "testing.h"
#include <sys/stat.h>

static const uint64_t plenty = UINT64_C(1) << 30;
static const char tiny[] = GRAPHSS_SEEDS "/data/planetoid/ind.tiny";
static const char *const ending[] = {
    "x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"};

TEST_CTX(the_tiny_dataset_is_what_was_written)
{
    static const int32_t label[8] = {0, 1, 0, 0, 1, 0, -1, 1};
    static const unsigned char feature[8][4] = {{1, 0, 0, 1}, {0, 1, 0, 0}, {0}, {1, 1, 0, 0},
        {0, 0, 1, 0}, {1, 1, 1, 0}, {0}, {0, 0, 1, 1}};
    static const int32_t edge[6][2] = {{0, 1}, {0, 2}, {2, 3}, {3, 7}, {4, 5}, {0, 6}};
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_i_read_planetoid(ctx, &data, tiny, plenty, GRAPHSS_MISSING_ERROR));
    assert_string_equal(data.name, "tiny");
    assert_string_equal(data.format, "planetoid");
    assert_int_equal(data.graph.n_nodes, 8);
    assert_int_equal(graphss_graph_edges(&data.graph), 6);
    for (size_t e = 0; e < 6; e++)
        assert_true(graphss_graph_has_edge(&data.graph, edge[e][0], edge[e][1]));
    assert_int_equal(data.cleaned.loops, 1);
    assert_int_equal(data.cleaned.duplicates, 1);
    assert_int_equal(data.cleaned.directed, 1);
    assert_int_equal(data.n_classes, 2);
    assert_memory_equal(data.label, label, sizeof label);
    assert_int_equal(data.features.n_cols, 4);
    for (size_t i = 0; i < 8; i++) {
        unsigned char found[4] = {0};
        for (int64_t e = data.features.offset[i]; e < data.features.offset[i + 1]; e++)
            found[data.features.column[e]] = (unsigned char)data.features.value[e];
        assert_memory_equal(found, feature[i], 4);
    }
    static const int32_t train[] = {0, 1}, val[] = {2, 3, 4}, test[] = {7, 5};
    assert_int_equal(data.split.n_train, 2);
    assert_memory_equal(data.split.train, train, sizeof train);
    assert_memory_equal(data.split.train_label, label, sizeof train);
    assert_int_equal(data.split.n_val, 3);
    assert_memory_equal(data.split.val, val, sizeof val);
    assert_memory_equal(data.split.val_label, label + 2, sizeof val);
    assert_int_equal(data.split.n_test, 2);
    assert_memory_equal(data.split.test, test, sizeof test);
    graphss_dataset_destroy(ctx, &data);
}

/* ---- the real ones ---- */

static void find_both(char planetoid[1024], char npz[1024], const char *name)
{
    char file[64];
    snprintf(file, sizeof file, "%s.npz", name);
    testing_data(npz, 1024, file);
    snprintf(file, sizeof file, "planetoid/ind.%s.x", name);
    testing_data(planetoid, 1024, file);
    planetoid[strlen(planetoid) - 2] = '\0';
}

static void read_both(graphss_ctx *ctx, graphss_dataset *planetoid, graphss_dataset *npz,
    const char *planetoid_path, const char *npz_path)
{
    assert_ok(ctx, graphss_i_read_npz(ctx, npz, npz_path, plenty, GRAPHSS_MISSING_ERROR));
    assert_ok(ctx, graphss_i_read_planetoid(
                       ctx, planetoid, planetoid_path, plenty, GRAPHSS_MISSING_ERROR));
}

TEST_CTX(cora_is_the_same_from_both_formats)
{
    char planetoid[1024], npz[1024];
    find_both(planetoid, npz, "cora");
    graphss_dataset a = {0}, b = {0};
    read_both(ctx, &a, &b, planetoid, npz);
    assert_int_equal(a.graph.n_nodes, 2708);
    assert_int_equal(graphss_graph_edges(&a.graph), 5278);
    assert_int_equal(a.features.n_cols, 1433);
    assert_int_equal(a.n_classes, 7);
    assert_int_equal(a.split.n_train, 140);
    assert_int_equal(a.split.n_val, 500);
    assert_int_equal(a.split.n_test, 1000);
    assert_string_equal(a.hash, b.hash);
    graphss_dataset_destroy(ctx, &a);
    graphss_dataset_destroy(ctx, &b);
}

TEST_CTX(citeseer_differs_in_fifteen_labels_nobody_knows)
{
    char planetoid[1024], npz[1024];
    find_both(planetoid, npz, "citeseer");
    graphss_dataset a = {0}, b = {0};
    read_both(ctx, &a, &b, planetoid, npz);
    assert_int_equal(a.graph.n_nodes, 3327);
    assert_int_equal(graphss_graph_edges(&a.graph), 4552);
    assert_int_equal(a.features.n_cols, 3703);
    assert_int_equal(a.n_classes, 6);
    assert_int_equal(a.split.n_train, 120);
    size_t unknown = 0;
    for (size_t i = 0; i < a.graph.n_nodes; i++) {
        if (a.label[i] < 0) {
            assert_int_equal(a.features.offset[i], a.features.offset[i + 1]);
            assert_int_equal(b.label[i], 0);
            a.label[i] = 0;
            unknown++;
        }
    }
    assert_int_equal(unknown, 15);
    assert_ok(ctx, graphss_dataset_refresh(ctx, &a));
    assert_string_equal(a.hash, b.hash);
    graphss_dataset_destroy(ctx, &a);
    graphss_dataset_destroy(ctx, &b);
}

/* ---- damage ---- */

typedef struct damaged {
    char folder[512], prefix[600];
} damaged;

static char *slurp(size_t *n, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(4096);
    assert_non_null(bytes);
    *n = fread(bytes, 1, 4096, file);
    fclose(file);
    return bytes;
}

/* The tiny dataset in a folder of its own, one file with other bytes (NULL: missing). */
static damaged damage(const char *which, const char *bytes, size_t n)
{
    damaged d;
    testing_temporary(d.folder, sizeof d.folder, "planetoid");
    assert_int_equal(mkdir(d.folder, 0700), 0);
    snprintf(d.prefix, sizeof d.prefix, "%s/ind.bad", d.folder);
    for (size_t i = 0; i < 8; i++) {
        char path[700];
        size_t length = n;
        char *copy = NULL;
        const bool other = which && !strcmp(which, ending[i]);
        if (other && !bytes)
            continue;
        if (!other) {
            snprintf(path, sizeof path, "%s.%s", tiny, ending[i]);
            copy = slurp(&length, path);
        }
        snprintf(path, sizeof path, "%s.%s", d.prefix, ending[i]);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(other ? bytes : copy, 1, length, file), length);
        assert_int_equal(fclose(file), 0);
        free(copy);
    }
    return d;
}

static void clean_up(const damaged *d)
{
    for (size_t i = 0; i < 8; i++) {
        char path[700];
        snprintf(path, sizeof path, "%s.%s", d->prefix, ending[i]);
        remove(path);
    }
    rmdir(d->folder);
}

static void refused(
    const char *which, const char *bytes, size_t n, graphss_status status, const char *part)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset data = {0};
    const damaged d = damage(which, bytes, n);
    const graphss_status st =
        graphss_i_read_planetoid(ctx, &data, d.prefix, plenty, GRAPHSS_MISSING_ERROR);
    clean_up(&d);
    assert_fails(ctx, st, status, part);
    assert_null(data.graph.offset);
    graphss_ctx_free(ctx);
}
#define REFUSED(which, text, part) \
    refused(which, text, sizeof(text) - 1, GRAPHSS_ERR_DATA, part)

TEST(damage_is_refused_with_the_file)
{
    refused("tx", NULL, 0, GRAPHSS_ERR_NOT_FOUND, "ind.bad.tx");
    REFUSED("x", "cos\nsystem\n(S'touch x'\ntR.", "ind.bad.x: byte 0: global 'os.system'");
    REFUSED("x", "N.", "ind.bad.x: want a csr_matrix");
    REFUSED("y", "N.", "ind.bad.y: want an array of two dimensions");
    REFUSED("graph", "N.", "ind.bad.graph: want a dict of lists");
    REFUSED("graph", "}K\x01K\x02s.", "ind.bad.graph: node 1: want a list");
    REFUSED("graph", "}K\x01]Nas.", "ind.bad.graph: node 1: a neighbour that is no node");
    REFUSED("graph", "}N]s.", "ind.bad.graph: entry 0: want the number of a node as key");
    REFUSED("graph", "}J\xff\xff\xff\xff]s.", "entry 0: want the number of a node as key");
    REFUSED("graph", "}J\xff\xff\xff\x0f]s.", "ids reach 268435455, want below 8");
    REFUSED("graph",
        "}](K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01"
        "eq\x00"
        "0(K\x00h\x00K\x01h\x00K\x02h\x00K\x03h\x00K\x04h\x00u.",
        "more edges than the file has bytes");
    REFUSED("test.index", "7\n", "ind.bad.test.index: 1 nodes, want 2");
    REFUSED("test.index", "7\nx\n", "ind.bad.test.index:2: want the number of a node");
    REFUSED("test.index", "7\n-1\n", "ind.bad.test.index:2: want the number of a node");
    REFUSED("test.index", "7\n7\n", "entry 1 is node 7, which stood there before");
    REFUSED("test.index", "7\n2\n", "entry 1 is node 2, which is a row of allx");
    REFUSED("test.index", "7\n1000000000\n", "ids reach 1000000000");
}

/* Replaces the single occurrence of `from` in a file of the tiny dataset. */
static void refused_edit(
    const char *which, const char *from, size_t n, const char *to, const char *part)
{
    char path[700];
    size_t length = 0;
    snprintf(path, sizeof path, "%s.%s", tiny, which);
    char *bytes = slurp(&length, path);
    char *at = memmem(bytes, length, from, n);
    assert_non_null(at);
    memcpy(at, to, n);
    refused(which, bytes, length, GRAPHSS_ERR_DATA, part);
    free(bytes);
}

TEST(parts_that_do_not_fit_are_refused)
{
    /* shape (5, 4) of allx; then its indptr 0 2 3 3 5 6; then a NaN among its values */
    refused_edit(
        "allx", "K\x05K\x04\x86", 5, "K\x06K\x04\x86", "ind.bad.allx: 6 rows, 6 row starts");
    refused_edit(
        "allx", "K\x05K\x04\x86", 5, "K\x05K\x05\x86", "ind.bad.x: 4 columns, want 5");
    refused_edit("allx", "\0\0\0\0\2\0\0\0", 8, "\0\0\0\0\x70\0\0\0",
        "ind.bad.allx: indptr of row 0: found 0..112");
    refused_edit("allx", "\0\0\0\0\2\0\0\0", 8, "\xff\xff\xff\xff\2\0\0\0",
        "indptr of row 0: found -1..2");
    refused_edit("allx", "\0\0\0\0\3\0\0\0\1", 9, "\0\0\0\0\4\0\0\0\1",
        "ind.bad.allx: indices: entry 1 is 4, want 0..3");
    refused_edit("allx", "\0\0\x80\x3f", 4, "\0\0\xc0\x7f",
        "ind.bad.allx: data: entry 0 is nan, want a finite number");
    refused_edit("y", "\1\0\0\0\0\0\0\0", 8, "\1\0\0\0\1\0\0\0",
        "ind.bad.y: row 0, column 1 is 1, want a single 1");
    refused_edit("y", "\1\0\0\0\0\0\0\0\0\0\0\0\1", 13, "\1\0\0\0\0\0\0\0\1\0\0\0\0",
        "ind.bad.y: row 1 is class 0, want 1 as in");
    refused_edit("y", "K\2K\2\x86", 5, "K\1K\4\x86", "ind.bad.y: 4 classes, want 2");
}

TEST(files_cut_anywhere_are_refused)
{
    for (size_t i = 0; i < 7; i++) {
        char path[700];
        size_t length = 0;
        snprintf(path, sizeof path, "%s.%s", tiny, ending[i]);
        char *bytes = slurp(&length, path);
        for (size_t n = 0; n < length; n += 7)
            refused(ending[i], bytes, n, GRAPHSS_ERR_DATA, ending[i]);
        free(bytes);
    }
}

static graphss_status read_and_destroy(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    graphss_dataset data = {0};
    const graphss_status st =
        graphss_i_read_planetoid(ctx, &data, tiny, plenty, GRAPHSS_MISSING_ERROR);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(each_allocation_may_fail)
{
    testing_each_allocation_fails(read_and_destroy, NULL);
}

TEST_CTX(memory_has_a_limit)
{
    graphss_dataset data = {0};
    assert_fails(ctx, graphss_i_read_planetoid(ctx, &data, tiny, 300, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_LIMIT, "ind.tiny.x");
    assert_fails(ctx, graphss_i_read_planetoid(ctx, &data, tiny, 1000, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_LIMIT, "ind.tiny.x");
}

int main(void)
{
    return testing_run();
}
