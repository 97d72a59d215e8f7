#include "data/shards/shard.h"
#include "testing.h"
#include <sys/stat.h>

enum { PARTS = 3 };

/* A dataset with names, words and labels, and a folder of its shards. */
typedef struct cut {
    graphss_ctx *ctx;
    graphss_dataset data;
    int32_t *part;
    char folder[256];
} cut;

static void remove_shards(const char *folder)
{
    static const char *const file[] = {"shards.json", "split.npz", "part-0000.npz",
        "part-0001.npz", "part-0002.npz", "part.txt"};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, file[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

static void make_data(graphss_ctx *ctx, graphss_dataset *out, size_t nodes, int64_t seed)
{
    graphss_synth_options synth;
    graphss_synth_options_init(&synth);
    synth.nodes = (int64_t)nodes;
    synth.features = 50;
    synth.words = 6;
    synth.classes = 3;
    synth.seed = seed;
    assert_ok(ctx, graphss_synth_make(ctx, out, &synth));
}

/* Nodes dealt out in no order. */
static int32_t part_of(size_t i)
{
    return (int32_t)((i * 2654435761u >> 7) % PARTS);
}

static void set_up(cut *c, const char *name)
{
    *c = (cut){.ctx = testing_ctx(NULL, 1)};
    make_data(c->ctx, &c->data, 200, 1);
    c->part = malloc(200 * sizeof *c->part);
    assert_non_null(c->part);
    for (size_t i = 0; i < 200; i++)
        c->part[i] = part_of(i);
    testing_temporary(c->folder, sizeof c->folder, name);
    remove_shards(c->folder);
}

static void tear_down(cut *c)
{
    remove_shards(c->folder);
    free(c->part);
    graphss_dataset_destroy(c->ctx, &c->data);
    graphss_ctx_free(c->ctx);
}

static void write_shards(cut *c)
{
    graphss_shards_summary s = {0};
    assert_ok(c->ctx, graphss_shards_write(c->ctx, &s, &c->data, c->part, PARTS, c->folder));
}

TEST(shards_make_the_same_dataset_again)
{
    cut c;
    set_up(&c, "shards");
    graphss_shards_summary s = {0};
    assert_ok(c.ctx, graphss_shards_write(c.ctx, &s, &c.data, c.part, PARTS, c.folder));
    size_t leaving = 0;
    for (size_t i = 0; i < 200; i++)
        for (int64_t e = c.data.graph.offset[i]; e < c.data.graph.offset[i + 1]; e++)
            leaving += c.part[i] != c.part[c.data.graph.target[e]];
    assert_int_equal(s.cut, leaving);
    assert_int_equal(s.entries, 2 * graphss_graph_edges(&c.data.graph));
    graphss_dataset again = {0};
    assert_ok(c.ctx, graphss_dataset_read(c.ctx, &again, c.folder, NULL));
    assert_string_equal(again.hash, c.data.hash);
    assert_string_equal(again.name, c.data.name);
    assert_string_equal(again.format, c.data.format);
    assert_int_equal(again.n_classes, c.data.n_classes);
    assert_memory_equal(&again.cleaned, &c.data.cleaned, sizeof again.cleaned);
    assert_memory_equal(again.label, c.data.label, 200 * sizeof *again.label);
    graphss_dataset_destroy(c.ctx, &again);
    tear_down(&c);
}

TEST(names_splits_and_dense_features_come_back)
{
    cut c;
    set_up(&c, "dense-shards");
    float value[200 * 2];
    for (size_t i = 0; i < 400; i++)
        value[i] = (float)i - 150.5f;
    graphss_features_destroy(c.ctx, &c.data.features);
    assert_ok(c.ctx, graphss_features_from_dense(c.ctx, &c.data.features, 200, 2, value));
    assert_ok(c.ctx, graphss_dataset_refresh(c.ctx, &c.data));
    assert_ok(c.ctx, graphss_split_make(c.ctx, &c.data.split, c.data.label, 200, 3, 1, NULL));
    size_t *start = graphss_i_copy(c.ctx, (size_t[201]){0}, 201, sizeof *start);
    char *text = graphss_i_copy(c.ctx, (char[1600]){0}, 1600, 1);
    size_t used = 0;
    for (size_t i = 0; i < 200; i++) {
        start[i] = used;
        used += (size_t)sprintf(text + used, "n%zu", i * i) + 1;
    }
    start[200] = used;
    c.data.node_names = (graphss_names){200, start, text};
    write_shards(&c);
    graphss_dataset again = {0};
    assert_ok(c.ctx, graphss_dataset_read(c.ctx, &again, c.folder, NULL));
    assert_string_equal(again.hash, c.data.hash);
    assert_true(graphss_features_dense(&again.features));
    for (size_t i = 0; i < 200; i++)
        assert_string_equal(graphss_names_get(&again.node_names, i), text + start[i]);
    assert_int_equal(again.split.n_train, c.data.split.n_train);
    assert_memory_equal(again.split.train, c.data.split.train,
        again.split.n_train * sizeof *again.split.train);
    graphss_dataset_destroy(c.ctx, &again);
    tear_down(&c);
}

/* Replaces one byte of a file, or truncates it there. */
static void damage(const char *folder, const char *file, long at, bool truncate_it)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (truncate_it) {
        assert_int_equal(truncate(path, at), 0);
        return;
    }
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    const int old = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    fputc(old ^ 1, f);
    assert_int_equal(fclose(f), 0);
}

TEST(damage_is_told_with_the_file)
{
    cut c;
    graphss_dataset out = {0};
    set_up(&c, "damaged-shards");
    write_shards(&c);
    /* The time stamp of a member: the arrays do not change. */
    damage(c.folder, "part-0001.npz", 11, false);
    assert_fails(c.ctx, graphss_dataset_read(c.ctx, &out, c.folder, NULL), GRAPHSS_ERR_DATA,
        "part-0001.npz: its SHA-256");
    damage(c.folder, "part-0001.npz", 11, false);
    assert_ok(c.ctx, graphss_dataset_read(c.ctx, &out, c.folder, NULL));
    graphss_dataset_destroy(c.ctx, &out);
    damage(c.folder, "part-0002.npz", 700, true);
    assert_fails(c.ctx, graphss_dataset_read(c.ctx, &out, c.folder, NULL), GRAPHSS_ERR_DATA,
        "part-0002.npz");
    char path[512];
    snprintf(path, sizeof path, "%s/part-0002.npz", c.folder);
    unlink(path);
    assert_fails(c.ctx, graphss_dataset_read(c.ctx, &out, c.folder, NULL),
        GRAPHSS_ERR_NOT_FOUND, "part-0002.npz");
    damage(c.folder, "shards.json", 100, true);
    assert_fails(c.ctx, graphss_dataset_read(c.ctx, &out, c.folder, NULL), GRAPHSS_ERR_DATA,
        "shards.json:");
    assert_null(out.graph.offset);
    tear_down(&c);
}

TEST(parts_of_two_datasets_or_two_cuts_do_not_mix)
{
    cut a, b;
    graphss_dataset out = {0};
    char from[512], to[512];
    set_up(&a, "one-shards");
    set_up(&b, "two-shards");
    graphss_dataset_destroy(b.ctx, &b.data);
    make_data(b.ctx, &b.data, 200, 2);
    write_shards(&a);
    write_shards(&b);
    snprintf(from, sizeof from, "%s/part-0001.npz", b.folder);
    snprintf(to, sizeof to, "%s/part-0001.npz", a.folder);
    assert_int_equal(rename(from, to), 0);
    assert_fails(a.ctx, graphss_dataset_read(a.ctx, &out, a.folder, NULL), GRAPHSS_ERR_DATA,
        "a shard of another dataset");
    remove_shards(a.folder);
    remove_shards(b.folder);
    graphss_dataset_destroy(b.ctx, &b.data);
    make_data(b.ctx, &b.data, 200, 1);
    b.part[0] = (b.part[0] + 1) % PARTS;
    write_shards(&a);
    write_shards(&b);
    for (int p = 0; p < PARTS; p++) {
        snprintf(from, sizeof from, "%s/part-000%d.npz", b.folder, p);
        snprintf(to, sizeof to, "%s/part-000%d.npz", a.folder, p);
        if (p != a.part[0])
            assert_int_equal(rename(from, to), 0);
    }
    assert_fails(a.ctx, graphss_dataset_read(a.ctx, &out, a.folder, NULL), GRAPHSS_ERR_DATA,
        "another partition of the dataset");
    tear_down(&b);
    tear_down(&a);
}

TEST(a_partition_is_blocks_or_a_file)
{
    cut c;
    int32_t *part = NULL;
    set_up(&c, "partition");
    assert_ok(c.ctx, graphss_partition_blocks(c.ctx, &part, 7, 3));
    assert_memory_equal(part, ((int32_t[]){0, 0, 0, 1, 1, 2, 2}), 7 * sizeof *part);
    graphss_release(c.ctx, part);
    assert_fails(c.ctx, graphss_partition_blocks(c.ctx, &part, 2, 3), GRAPHSS_ERR_INVALID,
        "2 nodes for 3 parts");
    assert_fails(
        c.ctx, graphss_partition_blocks(c.ctx, &part, 2, 0), GRAPHSS_ERR_INVALID, "0 parts");
    char path[512];
    assert_int_equal(mkdir(c.folder, 0700), 0);
    snprintf(path, sizeof path, "%s/part.txt", c.folder);
    const struct {
        const char *text;
        const char *fault;
    } file[] = {{"0\n1\r\n0", NULL}, {"0\n1\n", "2 lines, want one for each of 3"},
        {"0\n1\n1\n0\n", "part.txt:4: more lines"},
        {"0\nx\n1\n", "part.txt:2: found 'x', want 0..1"},
        {"0\n2\n1\n", "part.txt:2: found '2'"}, {"0\n0\n0\n", "part 1 has no nodes"}};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(file[i].text, f);
        assert_int_equal(fclose(f), 0);
        if (file[i].fault) {
            assert_fails(c.ctx, graphss_partition_read(c.ctx, &part, 3, 2, path),
                GRAPHSS_ERR_DATA, file[i].fault);
            continue;
        }
        assert_ok(c.ctx, graphss_partition_read(c.ctx, &part, 3, 2, path));
        assert_memory_equal(part, ((int32_t[]){0, 1, 0}), 3 * sizeof *part);
        graphss_release(c.ctx, part);
    }
    tear_down(&c);
}

static graphss_status cut_by_scotch(graphss_ctx *ctx, void *arg)
{
    const cut *c = arg;
    int32_t *part = NULL;
    const graphss_status st = graphss_partition_scotch(ctx, &part, &c->data.graph, PARTS);
    graphss_release(ctx, part);
    return st;
}

TEST(scotch_cuts_less_than_blocks)
{
    cut c;
    int32_t *part = NULL;
    set_up(&c, "scotch");
    const graphss_status st = graphss_partition_scotch(c.ctx, &part, &c.data.graph, PARTS);
    if (st == GRAPHSS_ERR_INVALID && strstr(graphss_ctx_error(c.ctx), "not installed")) {
        tear_down(&c);
        print_message("skipped: libgraphss_scotch.so is not built\n");
        skip();
    }
    assert_ok(c.ctx, st);
    size_t cut_by[2] = {0, 0};
    for (size_t i = 0; i < 200; i++)
        for (int64_t e = c.data.graph.offset[i]; e < c.data.graph.offset[i + 1]; e++) {
            const size_t j = (size_t)c.data.graph.target[e];
            cut_by[0] += part[i] != part[j];
            cut_by[1] += i / 67 != j / 67;
        }
    assert_true(cut_by[0] < cut_by[1]);
    graphss_release(c.ctx, part);
    testing_each_allocation_fails(cut_by_scotch, &c);
    tear_down(&c);
}

TEST(a_folder_is_not_written_over)
{
    cut c;
    set_up(&c, "again-shards");
    write_shards(&c);
    assert_fails(c.ctx, graphss_shards_write(c.ctx, NULL, &c.data, c.part, PARTS, c.folder),
        GRAPHSS_ERR_INVALID, "want an empty folder");
    c.part[3] = PARTS;
    assert_fails(c.ctx, graphss_shards_write(c.ctx, NULL, &c.data, c.part, PARTS, c.folder),
        GRAPHSS_ERR_INVALID, "node 3 is in part 3, want 0..2");
    tear_down(&c);
}

static graphss_status write_and_read(graphss_ctx *ctx, void *arg)
{
    const cut *c = arg;
    graphss_dataset out = {0};
    int32_t *part = NULL;
    remove_shards(c->folder);
    graphss_status st = graphss_partition_blocks(ctx, &part, 200, PARTS);
    if (!st)
        st = graphss_shards_write(ctx, NULL, &c->data, part, PARTS, c->folder);
    if (!st)
        st = graphss_dataset_read(ctx, &out, c->folder, NULL);
    graphss_release(ctx, part);
    graphss_dataset_destroy(ctx, &out);
    return st;
}

static graphss_status read_partition(graphss_ctx *ctx, void *arg)
{
    int32_t *part = NULL;
    const graphss_status st = graphss_partition_read(ctx, &part, 3, 2, arg);
    graphss_release(ctx, part);
    return st;
}

TEST(each_allocation_fails)
{
    cut c;
    char path[512];
    set_up(&c, "starved-shards");
    testing_allocations_fail(write_and_read, &c, 40);
    remove_shards(c.folder);
    assert_int_equal(mkdir(c.folder, 0700), 0);
    snprintf(path, sizeof path, "%s/part.txt", c.folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("0\n1\n0\n", f);
    assert_int_equal(fclose(f), 0);
    testing_each_allocation_fails(read_partition, path);
    tear_down(&c);
}

int main(void)
{
    return testing_run();
}
