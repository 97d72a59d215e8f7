/* Slices of a table, a rank each, make the dataset that one machine reads. */
#include "base/ranks.h"
#include "testing.h"
#include "testing_ranks.h"
#include <graphss/shards.h>
#include <sys/stat.h>

enum { NODES = 120, EDGES = 500 };

/* The input of the ranks, and whether they may fail. */
typedef struct table {
    char file[256], folder[256];
} table;

static void remove_shards(const char *folder)
{
    char path[512];
    for (int p = 0; p < TESTING_RANKS; p++) {
        snprintf(path, sizeof path, "%s/part-%04d.npz", folder, p);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/shards.json", folder);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/split.npz", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

static size_t drawn(graphss_rng *rng, size_t n)
{
    return (size_t)(graphss_rng_u64(rng) % n);
}

/* first: a line before the edges. names: ids are words. */
static void write_edges(const char *path, const char *first, bool names, char between)
{
    FILE *file = fopen(path, "w");
    graphss_rng rng = graphss_rng_make(7, 7);
    fputs(first, file);
    for (int e = 0; e < EDGES + NODES; e++) {
        const size_t i = e < NODES ? (size_t)e : drawn(&rng, NODES);
        const size_t j = e < NODES ? (i + 1) % NODES : drawn(&rng, NODES);
        fprintf(file, "%s%zu%c%s%zu%c%d\n", names ? "n" : "", i * 7 % NODES, between,
            names ? "n" : "", j, between, e % 7 ? 1 : e % 3);
    }
    fclose(file);
}

typedef enum columns { WORDS, PLACES, NUMBERS, DENSE, LAST } columns;

static void write_nodes(const char *path, columns what)
{
    static const char *const color[] = {"red", "green", "blue"};
    static const char *const head[] = {"node_id,label,feat\n", "node_id,label,feat\n",
        "node_id,label,age,train_mask,val_mask\n", "node_id,feat\n"};
    FILE *file = fopen(path, "w");
    graphss_rng rng = graphss_rng_make(8, 8);
    fputs(head[what], file);
    for (int i = 0; i < NODES; i++) {
        const size_t a = drawn(&rng, 20) + (size_t)i / 3, b = drawn(&rng, 30);
        if (what == WORDS)
            fprintf(file, "n%d,%s,w%zu:1 v%zu:2\n", i, i % 5 ? color[i * i % 3] : "", a, b);
        else if (what == PLACES)
            fprintf(file, "n%d,%d,%zu:1 %zu:1\n", i, i % 3 * 2, a, a + 1 + b);
        else if (what == NUMBERS)
            fprintf(file, "n%d,%d,%zu.5,%d,%d\n", i, i % 4, a, i % 3 == 0, i % 3 == 1);
        else
            fprintf(file, "n%d,%zu 0 %zu\n", i, a, b);
    }
    fclose(file);
}

static graphss_status cut(graphss_ctx *ctx, void *arg)
{
    const table *t = arg;
    if (graphss_i_rank(ctx) == 0)
        remove_shards(t->folder);
    const graphss_status st = graphss_engine_agree(ctx, GRAPHSS_OK, NULL);
    return st ? st : graphss_part_write(ctx, NULL, t->file, t->folder, GRAPHSS_MISSING_ERROR);
}

static void cut_on(const table *t, int ranks)
{
    testing_rank rank[TESTING_RANKS] = {0};
    for (int r = 0; r < ranks; r++)
        rank[r].arg = (void *)(uintptr_t)t;
    testing_run_ranks(rank, ranks, cut);
    for (int r = 0; r < ranks; r++) {
        if (rank[r].status)
            fail_msg("%s: rank %d of %d: %s", t->file, r, ranks, rank[r].error);
        assert_int_equal(rank[r].blocks, 0);
    }
}

/* Merging compares the hash of the shards' content with the manifest's. */
static void compare(const table *t)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset whole = {0}, merged = {0};
    assert_ok(ctx, graphss_dataset_read(ctx, &whole, t->file, NULL));
    for (int ranks = 1; ranks <= 4; ranks++) {
        cut_on(t, ranks);
        assert_ok(ctx, graphss_dataset_read(ctx, &merged, t->folder, NULL));
        assert_string_equal(merged.hash, whole.hash);
        assert_string_equal(merged.name, whole.name);
        assert_memory_equal(&merged.cleaned, &whole.cleaned, sizeof whole.cleaned);
        assert_int_equal(merged.node_names.count, whole.node_names.count);
        for (size_t i = 0; i < whole.node_names.count; i++)
            assert_string_equal(graphss_names_get(&merged.node_names, i),
                graphss_names_get(&whole.node_names, i));
        assert_int_equal(merged.column_names.count, whole.column_names.count);
        assert_int_equal(merged.class_names.count, whole.class_names.count);
        assert_int_equal(merged.split.n_train, whole.split.n_train);
        assert_int_equal(merged.split.n_val, whole.split.n_val);
        assert_int_equal(!merged.features.offset, !whole.features.offset);
        graphss_dataset_destroy(ctx, &merged);
    }
    graphss_dataset_destroy(ctx, &whole);
    graphss_ctx_free(ctx);
    remove_shards(t->folder);
}

TEST(slices_of_an_edge_list_make_the_whole)
{
    table t;
    testing_temporary(t.file, sizeof t.file - 4, "slices-list");
    strcat(t.file, ".txt");
    testing_temporary(t.folder, sizeof t.folder, "slices-out");
    write_edges(t.file, "", true, ' ');
    compare(&t);
    write_edges(t.file, "# remark\nsrc,dst,weight\n", false, ',');
    compare(&t);
    (void)unlink(t.file);
}

static void write_folder(const table *t, columns what)
{
    char path[512];
    (void)mkdir(t->file, 0777);
    snprintf(path, sizeof path, "%s/nodes.csv", t->file);
    write_nodes(path, what);
    snprintf(path, sizeof path, "%s/edges.csv", t->file);
    write_edges(path, "src_id,dst_id,weight\n", true, ',');
}

static void remove_folder(const table *t)
{
    char path[512];
    snprintf(path, sizeof path, "%s/nodes.csv", t->file);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/edges.csv", t->file);
    (void)unlink(path);
    (void)rmdir(t->file);
    remove_shards(t->folder);
}

TEST(slices_of_a_folder_make_the_whole)
{
    table t;
    testing_temporary(t.file, sizeof t.file, "slices-folder");
    testing_temporary(t.folder, sizeof t.folder, "slices-out");
    for (int what = WORDS; what < LAST; what++) {
        write_folder(&t, (columns)what);
        compare(&t);
    }
    remove_folder(&t);
}

static void append(const char *folder, const char *file, const char *line)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "a");
    fputs(line, out);
    fclose(out);
}

TEST(faults_have_their_line_or_name)
{
    static const struct {
        const char *file, *line, *want;
    } fault[] = {{"edges.csv", "n1,nobody,1\n", "edges.csv: found 'nobody', want the id"},
        {"edges.csv", "n1\n", "edges.csv:622:1: found 'n1', want two ids"},
        {"nodes.csv", "n5,red,w1:1\n", "'n5' is the id of nodes 5 and 120"},
        {"nodes.csv", "m5,red\n", "nodes.csv:122: found 2 fields, want 3"}};
    table t;
    testing_temporary(t.file, sizeof t.file, "slices-folder");
    testing_temporary(t.folder, sizeof t.folder, "slices-out");
    for (size_t f = 0; f < sizeof fault / sizeof *fault; f++) {
        testing_rank rank[TESTING_RANKS] = {0};
        write_folder(&t, WORDS);
        append(t.file, fault[f].file, fault[f].line);
        for (int r = 0; r < 3; r++)
            rank[r].arg = &t;
        testing_run_ranks(rank, 3, cut);
        for (int r = 0; r < 3; r++) {
            assert_int_equal(rank[r].status, GRAPHSS_ERR_DATA);
            if (!strstr(rank[r].error, fault[f].want))
                fail_msg("found '%s', want %s", rank[r].error, fault[f].want);
            assert_int_equal(rank[r].blocks, 0);
        }
    }
    remove_folder(&t);
}

TEST(each_allocation_of_one_rank_fails)
{
    table t;
    size_t failures = 0;
    testing_temporary(t.file, sizeof t.file, "slices-folder");
    testing_temporary(t.folder, sizeof t.folder, "slices-out");
    write_folder(&t, WORDS);
    for (long most = 1;; most = most < 60 ? most + 1 : most + most / 8) {
        testing_rank rank[TESTING_RANKS] = {0};
        for (int r = 0; r < 3; r++)
            rank[r].arg = &t;
        rank[most % 3].most = most;
        testing_run_ranks(rank, 3, cut);
        for (int r = 0; r < 3; r++) {
            assert_int_equal(rank[r].blocks, 0);
            assert_int_equal(rank[r].status, rank[0].status);
        }
        if (!rank[0].status)
            break;
        assert_int_equal(rank[0].status, GRAPHSS_ERR_NOMEM);
        failures++;
    }
    assert_true(failures > 20);
    testing_allocations_fail(cut, &t, 20);
    remove_folder(&t);
}

int main(void)
{
    return testing_run();
}
