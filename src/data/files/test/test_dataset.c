/* test_dataset.c - which reader a name or a path gets. */
#include "data/formats/npz.h"
#include "testing.h"
#include <sys/stat.h>

/* A data folder with a dataset in each of the places that are searched. */
typedef struct data_folder {
    char path[512];
} data_folder;

static const char *const inside[] = {"graph.npz", "ms_academic_cs.npz", "planetoid",
    "planetoid/ind.tiny.x", "planetoid/ind.tiny.y", "planetoid/ind.tiny.tx",
    "planetoid/ind.tiny.ty", "planetoid/ind.tiny.allx", "planetoid/ind.tiny.ally",
    "planetoid/ind.tiny.graph", "planetoid/ind.tiny.test.index", "table", "table/nodes.csv",
    "table/edges.csv", "list.txt", "list.bin"};
enum { INSIDE = sizeof inside / sizeof *inside };

static void inside_path(char *out, size_t size, const data_folder *f, const char *name)
{
    snprintf(out, size, "%s/%s", f->path, name);
}

static void write_text(const data_folder *f, const char *name, const char *text)
{
    char path[700];
    inside_path(path, sizeof path, f, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_edge(const data_folder *f, const char *name)
{
    char from[700], to[700];
    snprintf(from, sizeof from, "%s/data/%s", GRAPHSS_SEEDS, name);
    inside_path(to, sizeof to, f, name);
    assert_int_equal(symlink(from, to), 0);
}

static data_folder make_folder(graphss_ctx *ctx)
{
    data_folder f;
    char path[700];
    testing_temporary(f.path, sizeof f.path, "data");
    assert_int_equal(mkdir(f.path, 0700), 0);
    inside_path(path, sizeof path, &f, "planetoid");
    assert_int_equal(mkdir(path, 0700), 0);
    inside_path(path, sizeof path, &f, "table");
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 3; i < 11; i++)
        make_edge(&f, inside[i]);
    write_text(&f, "table/nodes.csv", "id\na\nb\n");
    write_text(&f, "table/edges.csv", "a,b\n");
    write_text(&f, "list.txt", "0 1\n1 2\n");
    write_text(&f, "list.bin", "0 1\n1 2\n");
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_dataset_read(ctx, &data, "synth:nodes=20", NULL));
    inside_path(path, sizeof path, &f, "graph.npz");
    assert_ok(ctx, graphss_dataset_write(ctx, &data, path));
    inside_path(path, sizeof path, &f, "ms_academic_cs.npz");
    assert_ok(ctx, graphss_dataset_write(ctx, &data, path));
    graphss_dataset_destroy(ctx, &data);
    return f;
}

static void remove_folder(const data_folder *f)
{
    char path[700];
    for (size_t i = INSIDE; i-- > 0;) {
        inside_path(path, sizeof path, f, inside[i]);
        remove(path);
    }
    rmdir(f->path);
}

TEST_CTX(names_and_paths_find_their_reader)
{
    static const struct {
        const char *where; /* as a name; with '/' before it: a path in the folder */
        const char *format, *name;
    } cases[] = {
        {"graph", "npz", "graph"},
        {"coauthor_cs", "npz", "coauthor_cs"},
        {"ms_academic_cs", "npz", "ms_academic_cs"},
        {"tiny", "planetoid", "tiny"},
        {"table", "csv", "table"},
        {"/graph.npz", "npz", "graph"},
        {"/planetoid/ind.tiny", "planetoid", "tiny"},
        {"/planetoid/ind.tiny.ally", "planetoid", "tiny"},
        {"/planetoid/ind.tiny.test.index", "planetoid", "tiny"},
        {"/table", "csv", "table"},
        {"/table/", "csv", "table"},
        {"/list.txt", "edges", "list"},
        {"synth:", "synth", "synth"},
        {"synth:nodes=30,classes=2", "synth", "synth"},
    };
    const data_folder f = make_folder(ctx);
    const char *const dirs[] = {"/nowhere", f.path, NULL};
    const graphss_read_options opt = {.struct_size = sizeof opt, .data_dirs = dirs};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[700];
        graphss_dataset data = {0};
        snprintf(
            path, sizeof path, "%s%s", cases[i].where[0] == '/' ? f.path : "", cases[i].where);
        assert_ok(ctx, graphss_dataset_read(ctx, &data, path, &opt));
        assert_string_equal(data.format, cases[i].format);
        assert_string_equal(data.name, cases[i].name);
        graphss_dataset_destroy(ctx, &data);
    }
    remove_folder(&f);
}

TEST_CTX(what_is_not_there_is_said_with_a_hint)
{
    const data_folder f = make_folder(ctx);
    const char *const dirs[] = {"/nowhere", f.path, NULL};
    const graphss_read_options opt = {.struct_size = sizeof opt, .data_dirs = dirs};
    graphss_dataset data = {0};
    char path[700];
    assert_fails(ctx, graphss_dataset_read(ctx, &data, "cora", &opt), GRAPHSS_ERR_NOT_FOUND,
        "'graphss fetch cora'");
    assert_non_null(strstr(graphss_ctx_error(ctx), "/nowhere, "));
    assert_non_null(strstr(graphss_ctx_error(ctx), f.path));
    assert_fails(ctx, graphss_dataset_read(ctx, &data, "citseer", &opt), GRAPHSS_ERR_NOT_FOUND,
        "did you mean citeseer?");
    const graphss_read_options nowhere = {
        .struct_size = sizeof nowhere, .data_dirs = (const char *const[]){NULL}};
    assert_fails(ctx, graphss_dataset_read(ctx, &data, "cora", &nowhere),
        GRAPHSS_ERR_NOT_FOUND, "none given");
    assert_fails(ctx, graphss_dataset_read(ctx, &data, "", &opt), GRAPHSS_ERR_NOT_FOUND, "''");
    assert_fails(
        ctx, graphss_dataset_read(ctx, &data, "../x", &opt), GRAPHSS_ERR_NOT_FOUND, "'../x'");
    assert_fails(ctx, graphss_dataset_read(ctx, &data, "synth:x=1", &opt), GRAPHSS_ERR_INVALID,
        "nodes, degree");
    inside_path(path, sizeof path, &f, "list.bin");
    assert_fails(ctx, graphss_dataset_read(ctx, &data, path, &opt), GRAPHSS_ERR_DATA,
        ".npz, .csv, .tsv, .txt, .edges, .graphml");
    inside_path(path, sizeof path, &f, "planetoid");
    assert_fails(ctx, graphss_dataset_read(ctx, &data, path, &opt), GRAPHSS_ERR_NOT_FOUND,
        "neither nodes.csv nor edges.csv");
    assert_null(data.graph.offset);
    remove_folder(&f);
}

/* Sets the three variables; NULL takes one away. */
static void surround(const char *listed, const char *xdg, const char *home)
{
    const char *const value[] = {listed, xdg, home};
    static const char *const name[] = {"GRAPHSS_DATA", "XDG_DATA_HOME", "HOME"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(value[i] ? setenv(name[i], value[i], 1) : unsetenv(name[i]), 0);
}

TEST_CTX(without_folders_given_the_environment_names_them)
{
    static const struct {
        const char *listed, *xdg, *home, *want[4];
    } cases[] = {
        {NULL, NULL, "/home/anna", {"/home/anna/.local/share/graphss"}},
        {"", "", NULL, {"./.local/share/graphss"}},
        {"a", "/x", "/home/anna", {"a", "/x/graphss"}},
        {":a::/b c:", "relative", "/h", {"a", "/b c", "/h/.local/share/graphss"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char **dirs = NULL;
        size_t n = 0;
        surround(cases[i].listed, cases[i].xdg, cases[i].home);
        assert_ok(ctx, graphss_dataset_dirs(ctx, &dirs));
        for (; cases[i].want[n]; n++)
            assert_string_equal(dirs[n], cases[i].want[n]);
        assert_null(dirs[n]);
        graphss_release(ctx, (void *)dirs);
    }
    const data_folder f = make_folder(ctx);
    graphss_dataset data = {0};
    surround(f.path, "/nowhere", NULL);
    assert_ok(ctx, graphss_dataset_read(ctx, &data, "table", NULL));
    assert_string_equal(data.name, "table");
    assert_fails(ctx, graphss_dataset_read(ctx, &data, "cora", NULL), GRAPHSS_ERR_NOT_FOUND,
        "/nowhere/graphss)");
    graphss_dataset_destroy(ctx, &data);
    remove_folder(&f);
}

TEST_CTX(the_limit_of_memory_reaches_the_reader)
{
    const graphss_read_options opt = {.struct_size = sizeof opt, .max_bytes = 5000};
    graphss_dataset data = {0};
    assert_fails(
        ctx, graphss_dataset_read(ctx, &data, "synth:", &opt), GRAPHSS_ERR_LIMIT, "synth");
}

static graphss_status read_and_destroy(graphss_ctx *ctx, void *arg)
{
    const char *const dirs[] = {arg, NULL};
    const graphss_read_options opt = {.struct_size = sizeof opt, .data_dirs = dirs};
    graphss_dataset data = {0};
    const graphss_status st = graphss_dataset_read(ctx, &data, "table", &opt);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

static graphss_status find_and_destroy(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    graphss_dataset data = {0};
    const graphss_status st = graphss_dataset_read(ctx, &data, "table", NULL);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST_CTX(each_allocation_may_fail)
{
    data_folder f = make_folder(ctx);
    testing_each_allocation_fails(read_and_destroy, f.path);
    surround(f.path, NULL, NULL);
    testing_each_allocation_fails(find_and_destroy, NULL);
    remove_folder(&f);
}

/* ---- predictions ---- */

static int32_t label[] = {1, -1, 0};
static float prob[] = {0.25f, 0.75f, 0.5f, 0.5f, 1, 0};
static double posterior[] = {0.1, 0.9, 0.5, 0.5, 1, 0}, perturbed[] = {0, 0.5, 1};
static size_t start[] = {0, 2, 4, 6};
static char text[] = "a\0b\0c";
static int32_t trained[] = {2}, validated[] = {0}, tested[] = {1}, seen[] = {1};

static const graphss_predictions whole = {3, 2, label, prob, posterior, perturbed,
    {3, start, text}, {2, start, text}, {1, 1, 1, trained, validated, tested, seen, seen, 0}};

TEST_CTX(predictions_read_back_as_they_were)
{
    char path[256];
    testing_temporary(path, sizeof path, "predictions.npz");
    graphss_predictions p = {0};
    assert_ok(ctx, graphss_predictions_write(ctx, &whole, path));
    assert_ok(ctx, graphss_predictions_read(ctx, &p, path));
    assert_int_equal(p.n_nodes, 3);
    assert_int_equal(p.n_classes, 2);
    assert_memory_equal(p.label, label, sizeof label);
    assert_memory_equal(p.prob, prob, sizeof prob);
    assert_memory_equal(p.posterior, posterior, sizeof posterior);
    assert_memory_equal(p.perturbed, perturbed, sizeof perturbed);
    assert_string_equal(graphss_names_get(&p.node_names, 2), "c");
    assert_int_equal(p.class_names.count, 2);
    assert_string_equal(graphss_names_get(&p.class_names, 1), "b");
    assert_int_equal(p.split.n_train, 1);
    assert_int_equal(p.split.train[0], 2);
    assert_int_equal(p.split.val[0], 0);
    assert_int_equal(p.split.test[0], 1);
    assert_null(p.split.train_label); /* the nodes, not their labels */
    graphss_predictions_destroy(ctx, &p);

    /* Labels alone: the largest gives the number of classes. */
    const graphss_predictions bare = {.n_nodes = 3, .n_classes = 9, .label = label};
    assert_ok(ctx, graphss_predictions_write(ctx, &bare, path));
    assert_ok(ctx, graphss_predictions_read(ctx, &p, path));
    assert_int_equal(p.n_classes, 2);
    assert_null(p.prob);
    assert_int_equal(p.split.n_train + p.split.n_val + p.split.n_test, 0);
    graphss_predictions_destroy(ctx, &p);
    unlink(path);
}

TEST(unsound_predictions_are_refused)
{
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    const long before = memory.blocks;
    char path[256];
    testing_temporary(path, sizeof path, "unsound.npz");
    int32_t too_high[] = {1, 2, 0}, too_low[] = {1, -2, 0};
    int32_t beyond[] = {3};
    float not_finite[] = {0.25f, 0.75f, (float)NAN, 0.5f, 1, 0};
    const struct {
        graphss_predictions p;
        const char *part;
    } bad[] = {
        {{.n_nodes = 3, .n_classes = 2, .label = too_high, .prob = prob},
            "array 'labels': entry 1 is 2, want a class or -1"},
        {{.n_nodes = 3, .n_classes = 2, .label = too_low}, "array 'labels': entry 1 is -2"},
        {{.n_nodes = 3, .n_classes = 2, .label = label, .prob = not_finite},
            "array 'probabilities': entry 2 is nan"},
        {{.n_nodes = 3, .label = label, .split = {.n_test = 1, .test = beyond}},
            "array 'test': entry 0 is 3, want a node below 3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        graphss_predictions p = {0};
        assert_ok(ctx, graphss_predictions_write(ctx, &bad[i].p, path));
        assert_fails(
            ctx, graphss_predictions_read(ctx, &p, path), GRAPHSS_ERR_DATA, bad[i].part);
        assert_null(p.label);
        assert_int_equal(memory.blocks, before);
    }
    const int64_t labels[] = {0, 1, 0};
    const graphss_i_array_out array[] = {
        {.name = "labels", .dtype = "<i8", .n_dims = 1, .shape = {3}, .data = labels},
        {.name = "probabilities", .dtype = "<f4", .n_dims = 2, .shape = {2, 3}, .data = prob}};
    graphss_predictions p = {0};
    assert_ok(ctx, graphss_i_npz_write(ctx, path, array, 2));
    assert_fails(ctx, graphss_predictions_read(ctx, &p, path), GRAPHSS_ERR_DATA,
        "array 'probabilities': 2 x 3, want 3 nodes x classes");
    assert_ok(ctx, graphss_i_npz_write(ctx, path, array + 1, 1));
    assert_ok(
        ctx, graphss_predictions_read(ctx, &p, path)); /* the most likely are the labels */
    assert_true(p.n_nodes == 2 && p.n_classes == 3 && p.label && p.prob);
    graphss_predictions_destroy(ctx, &p);
    const graphss_i_array_out other = {
        .name = "other", .dtype = "<f4", .n_dims = 2, .shape = {2, 3}, .data = prob};
    assert_ok(ctx, graphss_i_npz_write(ctx, path, &other, 1));
    assert_fails(ctx, graphss_predictions_read(ctx, &p, path), GRAPHSS_ERR_DATA,
        "array 'labels' is missing");
    const graphss_predictions none = {.n_nodes = 3};
    assert_fails(ctx, graphss_predictions_write(ctx, &none, path), GRAPHSS_ERR_INVALID,
        "without labels");
    unlink(path);
    graphss_ctx_free(ctx);
}

static graphss_status write_and_read(graphss_ctx *ctx, void *path)
{
    graphss_predictions p = {0};
    graphss_status st = graphss_predictions_write(ctx, &whole, path);
    if (st == GRAPHSS_OK)
        st = graphss_predictions_read(ctx, &p, path);
    graphss_predictions_destroy(ctx, &p);
    return st;
}

TEST(each_allocation_of_predictions_may_fail)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved_predictions.npz");
    testing_each_allocation_fails(write_and_read, path);
    unlink(path);
}

/* ---- split file ---- */

enum { N = 5, K = 3 };
static const int32_t truth[N] = {0, 1, 2, 0, -1};

#define FIXTURE(name) GRAPHSS_SEEDS "/data/" name ".npz"

TEST_CTX(a_split_reads_back_as_it_was)
{
    char path[256];
    testing_temporary(path, sizeof path, "split.npz");
    int32_t classes[200];
    for (int32_t i = 0; i < 200; i++)
        classes[i] = i % K;
    graphss_split a = {0}, b = {0};
    assert_ok(ctx, graphss_split_make(ctx, &a, classes, 200, K, 1, NULL));
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
}

TEST_CTX(masks_are_lists_and_missing_labels_come_from_the_truth)
{
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

TEST(each_allocation_of_a_split_may_fail)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved_split.npz");
    testing_each_allocation_fails(read_and_write, path);
    unlink(path);
}

TEST_CTX(a_split_without_its_lists_is_not_written)
{
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
}

int main(void)
{
    return testing_run();
}
