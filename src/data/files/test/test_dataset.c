/* test_dataset.c - which reader a name or a path gets. */
#include "testing.h"
#include <sys/stat.h>

/* A data folder with a dataset in each of the places where one may be. */
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

TEST(names_and_paths_find_their_reader)
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
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

TEST(what_is_not_there_is_said_with_a_hint)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

/* Sets the three variables; NULL takes one away. */
static void surround(const char *listed, const char *xdg, const char *home)
{
    const char *const value[] = {listed, xdg, home};
    static const char *const name[] = {"GRAPHSS_DATA", "XDG_DATA_HOME", "HOME"};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(value[i] ? setenv(name[i], value[i], 1) : unsetenv(name[i]), 0);
}

TEST(without_folders_given_the_environment_names_them)
{
    static const struct {
        const char *listed, *xdg, *home, *want[4];
    } cases[] = {
        {NULL, NULL, "/home/anna", {"/home/anna/.local/share/graphss"}},
        {"", "", NULL, {"./.local/share/graphss"}},
        {"a", "/x", "/home/anna", {"a", "/x/graphss"}},
        {":a::/b c:", "relative", "/h", {"a", "/b c", "/h/.local/share/graphss"}},
    };
    graphss_ctx *ctx = testing_ctx(NULL, 1);
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
    graphss_ctx_free(ctx);
}

TEST(the_limit_of_memory_reaches_the_reader)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_read_options opt = {.struct_size = sizeof opt, .max_bytes = 5000};
    graphss_dataset data = {0};
    assert_fails(
        ctx, graphss_dataset_read(ctx, &data, "synth:", &opt), GRAPHSS_ERR_LIMIT, "synth");
    graphss_ctx_free(ctx);
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

TEST(each_allocation_may_fail)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    data_folder f = make_folder(ctx);
    testing_each_allocation_fails(read_and_destroy, f.path);
    surround(f.path, NULL, NULL);
    testing_each_allocation_fails(find_and_destroy, NULL);
    remove_folder(&f);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
