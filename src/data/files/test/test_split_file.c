#include "data/formats/npz.h"
#include "testing.h"

enum { N = 5, K = 3 };
static const int32_t truth[N] = {0, 1, 2, 0, -1};

#define FIXTURE(name) GRAPHSS_SEEDS "/data/" name ".npz"

TEST(a_split_reads_back_as_it_was)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char path[256];
    testing_temporary(path, sizeof path, "split.npz");
    int32_t label[200];
    for (int32_t i = 0; i < 200; i++)
        label[i] = i % K;
    graphss_split a = {0}, b = {0};
    assert_ok(ctx, graphss_split_make(ctx, &a, label, 200, K, 1, NULL));
    assert_ok(ctx, graphss_split_write(ctx, &a, path));
    assert_ok(ctx, graphss_split_read(ctx, &b, path, NULL, 200, K));
    assert_int_equal(a.n_train, b.n_train);
    assert_int_equal(a.n_val, b.n_val);
    assert_int_equal(a.n_test, b.n_test);
    assert_memory_equal(a.train, b.train, a.n_train * sizeof *a.train);
    assert_memory_equal(a.val, b.val, a.n_val * sizeof *a.val);
    assert_memory_equal(a.test, b.test, a.n_test * sizeof *a.test);
    assert_memory_equal(a.train_label, b.train_label, a.n_train * sizeof *a.train);
    assert_memory_equal(a.val_label, b.val_label, a.n_val * sizeof *a.val);
    graphss_split_destroy(ctx, &b);
    graphss_split_destroy(ctx, &a);
    unlink(path);
    graphss_ctx_free(ctx);
}

TEST(masks_are_lists_and_missing_labels_come_from_the_truth)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_split s = {0};
    assert_ok(ctx, graphss_split_read(ctx, &s, FIXTURE("masks"), truth, N, K));
    assert_int_equal(s.n_train, 2);
    assert_int_equal(s.train[0], 0);
    assert_int_equal(s.train[1], 3);
    assert_int_equal(s.train_label[1], 0);
    assert_int_equal(s.n_val, 1);
    assert_int_equal(s.val_label[0], 1);
    assert_int_equal(s.test[0], 2);
    graphss_split_destroy(ctx, &s);
    assert_fails(ctx, graphss_split_read(ctx, &s, FIXTURE("masks"), NULL, N, K),
        GRAPHSS_ERR_DATA, "array 'train': without its labels");
    assert_fails(ctx, graphss_split_read(ctx, &s, FIXTURE("masks"), truth, 6, K),
        GRAPHSS_ERR_DATA, "array 'train_mask': 5 elements, want 6");
    assert_fails(ctx, graphss_split_read(ctx, &s, FIXTURE("plain"), truth, N, K),
        GRAPHSS_ERR_DATA, "no split in it");
    assert_null(s.train);
    graphss_ctx_free(ctx);
}

TEST(bad_nodes_and_labels_are_refused_with_their_place)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    char path[256];
    testing_temporary(path, sizeof path, "bad_split.npz");
    const struct {
        int64_t train[2], val[1], train_labels[2];
        const char *part;
    } bad[] = {{{0, 5}, {1}, {0, 0}, "array 'idx_train': entry 1 is 5, want a node below 5"},
        {{0, -1}, {1}, {0, 0}, "array 'idx_train': entry 1 is -1"},
        {{0, 3}, {3}, {0, 0},
            "array 'idx_val': entry 0 is node 3, which stands in "
            "'idx_train' already"},
        {{3, 3}, {1}, {0, 0},
            "array 'idx_train': entry 1 is node 3, which stands in "
            "'idx_train' already"},
        {{0, 3}, {1}, {0, 3}, "array 'train_labels': entry 1 is 3, want a class below 3"},
        {{0, 3}, {4}, {0, 1}, "array 'val': entry 0 is node 4, whose label is unknown"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int64_t test[] = {2};
        const graphss_i_array_out array[] = {{.name = "idx_train",
                                                 .dtype = "<i8",
                                                 .n_dims = 1,
                                                 .shape = {2},
                                                 .data = bad[i].train},
            {.name = "idx_val", .dtype = "<i8", .n_dims = 1, .shape = {1}, .data = bad[i].val},
            {.name = "idx_test", .dtype = "<i8", .n_dims = 1, .shape = {1}, .data = test},
            {.name = "train_labels",
                .dtype = "<i8",
                .n_dims = 1,
                .shape = {2},
                .data = bad[i].train_labels}};
        graphss_split s = {0};
        assert_ok(ctx, graphss_i_npz_write(ctx, path, array, 4));
        assert_fails(ctx, graphss_split_read(ctx, &s, path, truth, N, K), GRAPHSS_ERR_DATA,
            bad[i].part);
        assert_non_null(strstr(graphss_ctx_error(ctx), path));
        assert_int_equal(memory.blocks, before);
    }
    unlink(path);
    graphss_ctx_free(ctx);
}

static graphss_status read_and_write(graphss_ctx *ctx, void *path)
{
    graphss_split s = {0};
    graphss_status st = graphss_split_read(ctx, &s, FIXTURE("masks"), truth, N, K);
    if (st == GRAPHSS_OK)
        st = graphss_split_write(ctx, &s, path);
    graphss_split_destroy(ctx, &s);
    return st;
}

TEST(each_allocation_may_fail)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved_split.npz");
    testing_each_allocation_fails(read_and_write, path);
    unlink(path);
}

TEST(a_split_without_its_lists_is_not_written)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    char path[256];
    testing_temporary(path, sizeof path, "lists.npz");
    int32_t train[] = {0, 1};
    const graphss_split split = {.n_train = 2, .n_val = 1, .n_test = 1, .train = train};
    assert_fails(ctx, graphss_split_write(ctx, &split, path), GRAPHSS_ERR_INVALID,
        "2, 1 and 1 nodes, but not the lists");
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_dataset_read(ctx, &data, "synth:nodes=20,features=5", NULL));
    data.split = split;
    assert_fails(ctx, graphss_dataset_write(ctx, &data, path), GRAPHSS_ERR_INVALID,
        "2, 1 and 1 nodes, but not the lists");
    data.split = (graphss_split){0};
    int32_t *target = data.graph.target;
    data.graph.target = NULL;
    assert_fails(
        ctx, graphss_dataset_write(ctx, &data, path), GRAPHSS_ERR_INVALID, "no targets");
    data.graph.target = target;
    assert_int_not_equal(access(path, F_OK), 0);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
