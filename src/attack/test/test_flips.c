/* Lists of changes: their text, and their effect on a dataset. */
#include "attack/test/testing_attack.h"

static void attack_tiny(graphss_ctx *ctx, graphss_flips *flips, const tiny_world *t)
{
    const int32_t victim[] = {2, 7, 11};
    const graphss_attack_input in = tiny_input(t, victim, 3);
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.features = 4;
    opt.degree_test = false;
    assert_ok(ctx, graphss_attack_run(ctx, flips, NULL, &in, &opt));
    snprintf(flips->hash, sizeof flips->hash, "%s", t->data.hash);
    snprintf(flips->dataset, sizeof flips->dataset, "tiny");
    snprintf(flips->mode, sizeof flips->mode, "evasion");
}

static void name_nodes(graphss_ctx *ctx, graphss_dataset *data)
{
    graphss_i_name_list list = {0};
    for (int i = 0; i < TINY_N; i++) {
        char name[32];
        const int n = snprintf(name, sizeof name, "#a\tb\\c\n%d", i);
        assert_ok(ctx, graphss_i_name_list_add(ctx, &list, name, (size_t)n));
    }
    assert_ok(ctx, graphss_i_name_list_finish(ctx, &data->node_names, &list));
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

TEST(a_list_reads_back_as_it_was_written)
{
    char path[256];
    testing_temporary(path, sizeof path, "round.flips");
    for (int named = 0; named < 2; named++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1);
        tiny_world t;
        tiny_make(ctx, &t, 6, GRAPHSS_FEATURES_REAL);
        if (named)
            name_nodes(ctx, &t.data);
        graphss_flips flips = {0}, back = {0};
        attack_tiny(ctx, &flips, &t);
        assert_int_equal(flips.count, 18);
        snprintf(flips.model, sizeof flips.model, "two\nlines");
        assert_ok(ctx, graphss_flips_write(ctx, &flips, path, &t.data));
        assert_ok(ctx, graphss_flips_read(ctx, &back, path, &t.data));
        assert_int_equal(back.count, flips.count);
        const size_t first = back.item[0].line;
        for (size_t i = 0; i < flips.count; i++) {
            assert_int_equal(back.item[i].line, first + i);
            back.item[i].line = 0;
            assert_memory_equal(&back.item[i], &flips.item[i], sizeof flips.item[i]);
        }
        assert_string_equal(back.hash, t.data.hash);
        assert_string_equal(back.dataset, "tiny");
        assert_string_equal(back.mode, "evasion");
        assert_string_equal(back.method, "nettack");
        assert_string_equal(back.seed, "5");
        assert_string_equal(back.budget, flips.budget);
        assert_string_equal(back.model, "two lines");
        assert_false(back.normalised_rows);
        graphss_flips_destroy(ctx, &flips);
        graphss_flips_destroy(ctx, &back);
        graphss_dataset_destroy(ctx, &t.data);
        graphss_ctx_free(ctx);
    }
    unlink(path);
}

/* The whole file in one block, for comparing. */
static char *slurp(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *n = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*n);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    fclose(file);
    return bytes;
}

TEST(undoing_what_was_applied_gives_the_same_bytes)
{
    char first[256], second[256];
    testing_temporary(first, sizeof first, "first.npz");
    testing_temporary(second, sizeof second, "second.npz");
    for (int kind = GRAPHSS_FEATURES_BINARY; kind <= GRAPHSS_FEATURES_REAL; kind++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1);
        tiny_world t;
        tiny_make(ctx, &t, 9, (graphss_feature_kind)kind);
        graphss_flips flips = {0};
        graphss_dataset attacked = {0}, back = {0};
        attack_tiny(ctx, &flips, &t);
        assert_ok(ctx, graphss_flips_apply(ctx, &attacked, &t.data, &flips, NULL));
        assert_string_not_equal(attacked.hash, t.data.hash);
        assert_ok(ctx, graphss_graph_check(ctx, &attacked.graph));
        for (size_t i = 0; i < flips.count; i++)
            if (flips.item[i].kind == GRAPHSS_FLIP_EDGE)
                assert_int_equal(graphss_graph_has_edge(&attacked.graph, flips.item[i].node,
                                     flips.item[i].target),
                    flips.item[i].new_value == 1);
        const graphss_apply_options undo = {.struct_size = sizeof undo, .undo = true};
        assert_ok(ctx, graphss_flips_apply(ctx, &back, &attacked, &flips, &undo));
        assert_string_equal(back.hash, t.data.hash);
        assert_ok(ctx, graphss_dataset_write(ctx, &t.data, first));
        assert_ok(ctx, graphss_dataset_write(ctx, &back, second));
        size_t n1, n2;
        char *a = slurp(first, &n1), *b = slurp(second, &n2);
        assert_int_equal(n1, n2);
        assert_memory_equal(a, b, n1);
        free(a);
        free(b);
        graphss_dataset_destroy(ctx, &attacked);
        graphss_dataset_destroy(ctx, &back);
        graphss_flips_destroy(ctx, &flips);
        graphss_dataset_destroy(ctx, &t.data);
        graphss_ctx_free(ctx);
    }
    unlink(first);
    unlink(second);
}

TEST_CTX(a_cell_may_change_more_than_once)
{
    tiny_world t;
    tiny_make(ctx, &t, 9, GRAPHSS_FEATURES_BINARY);
    dense_world d;
    dense_make(&d, &t.data.graph, &t.data.features);
    const float x = (float)d.x[3][4];
    const bool joined = d.a[0][13];
    graphss_flips flips = {0};
    const graphss_flip item[] = {{3, GRAPHSS_FLIP_FEATURE, 3, 4, x, 0.5f, 0},
        {0, GRAPHSS_FLIP_EDGE, 0, 13, joined, !joined, 0},
        {3, GRAPHSS_FLIP_FEATURE, 3, 4, 0.5f, 0.25f, 0},
        {0, GRAPHSS_FLIP_EDGE, 13, 0, !joined, joined, 0}};
    for (size_t i = 0; i < 4; i++)
        assert_ok(ctx, graphss_flips_add(ctx, &flips, item[i]));
    graphss_graph g = {0};
    graphss_features f = {0};
    const graphss_apply_options undo = {.struct_size = sizeof undo, .undo = true};
    graphss_dataset out = {0}, back = {0};
    assert_ok(ctx,
        graphss_flips_apply_parts(ctx, &g, &f, &t.data.graph, &t.data.features, &flips, NULL));
    dense_make(&d, &g, &f);
    assert_true(d.x[3][4] == 0.25);
    assert_int_equal(d.a[0][13], joined);
    assert_ok(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, NULL));
    assert_ok(ctx, graphss_flips_apply(ctx, &back, &out, &flips, &undo));
    assert_string_equal(back.hash, t.data.hash);
    graphss_dataset_destroy(ctx, &out);
    graphss_dataset_destroy(ctx, &back);
    graphss_graph_destroy(ctx, &g);
    graphss_features_destroy(ctx, &f);
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &t.data);
}

TEST_CTX(a_list_that_does_not_fit_is_refused)
{
    tiny_world t;
    tiny_make(ctx, &t, 9, GRAPHSS_FEATURES_BINARY);
    graphss_flips flips = {0};
    graphss_dataset out = {0}, attacked = {0};
    attack_tiny(ctx, &flips, &t);
    assert_ok(ctx, graphss_flips_apply(ctx, &attacked, &t.data, &flips, NULL));
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &attacked, &flips, NULL),
        GRAPHSS_ERR_DATA, "the list is for data of hash");
    graphss_apply_options opt = {.struct_size = sizeof opt, .force = true};
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &attacked, &flips, &opt),
        GRAPHSS_ERR_DATA, "change 0: nodes 2 and");
    opt = (graphss_apply_options){.struct_size = sizeof(graphss_apply_options), .undo = true};
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, &opt), GRAPHSS_ERR_DATA,
        "the list does not fit the data");
    /* Undone on other data: each change fits, but the result is not the attacked dataset. */
    attacked.label[0] = (attacked.label[0] + 1) % TINY_K;
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &attacked, &flips, &opt),
        GRAPHSS_ERR_DATA, "this is not the data they were made in");
    graphss_dataset_destroy(ctx, &attacked);

    graphss_flip *last = &flips.item[flips.count - 1];
    const graphss_flip kept = *last;
    assert_int_equal(last->kind, GRAPHSS_FLIP_FEATURE);
    last->line = 77;
    last->old_value += 0.125f;
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, NULL), GRAPHSS_ERR_DATA,
        "line 77: node 11, feature");
    *last = kept;
    last->target = TINY_D;
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, NULL), GRAPHSS_ERR_DATA,
        "column 11, but the data has 14 nodes and 11 features");
    assert_fails(ctx, graphss_flips_write(ctx, &flips, "/nowhere/x", &t.data),
        GRAPHSS_ERR_SHAPE, "14 nodes and 11 features");
    *last = kept;
    last->node = -1;
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, NULL), GRAPHSS_ERR_DATA,
        "node -1");
    *last = (graphss_flip){2, GRAPHSS_FLIP_EDGE, 2, 2, 0, 1, 0};
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, NULL), GRAPHSS_ERR_DATA,
        "linked to itself");
    *last = (graphss_flip){2, GRAPHSS_FLIP_EDGE, 2, 3, 0, 0.5f, 0};
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, NULL), GRAPHSS_ERR_DATA,
        "from 0 to 0.5");
    assert_null(out.graph.offset);
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &t.data);
}

TEST_CTX(one_victims_changes_can_be_applied_alone)
{
    tiny_world t;
    tiny_make(ctx, &t, 9, GRAPHSS_FEATURES_BINARY);
    graphss_flips flips = {0};
    attack_tiny(ctx, &flips, &t);
    const graphss_apply_options opt = {
        .struct_size = sizeof opt, .one_only = true, .victim = 2};
    graphss_dataset out = {0};
    assert_ok(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, &opt));
    dense_world before, after;
    dense_make(&before, &t.data.graph, &t.data.features);
    dense_make(&after, &out.graph, &out.features);
    for (size_t i = 0; i < TINY_N; i++) {
        bool same = true;
        for (size_t j = 0; j < TINY_D; j++)
            same = same && before.x[i][j] == after.x[i][j];
        assert_int_equal(same, i != 2);
    }
    graphss_dataset_destroy(ctx, &out);
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &t.data);
}

TEST_CTX(a_line_that_cannot_be_read_is_named)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"# graphss flips 1\n1\tlink\t1\t2\t0\n", ":2: 5 fields, want 6"},
        {"1\tlink\t1\t2\t0\t1\t\n", ":1: 7 fields"},
        {"1\tlinks\t1\t2\t0\t1\n", ":1: kind 'links', want link or feature"},
        {"\n\n1\tlink\t99\t2\t0\t1\n", ":3: no node is called '99'"},
        {"1\tlink\t1\t-2\t0\t1\n", "no node is called '-2'"},
        {"1\tfeature\t1\t11\t0\t1\n", "no feature column is called '11'"},
        {"1\tlink\t1\t1\t0\t1\n", "to itself"},
        {"1\tlink\t1\t2\t0\t2\n", "from 0 to 1 or from 1 to 0"},
        {"1\tfeature\t1\t2\tx\t1\n", "found 'x', want a number"},
        {"1\tfeature\t1\t2\t0\tnan\n", "found 'nan'"},
        {"1\tfeature\t1\t2\t0\t1e99\n", "found '1e99'"},
        {"# seed: 123456789012345678901234567890\n", "a value too long"},
    };
    char path[256];
    tiny_world t;
    tiny_make(ctx, &t, 9, GRAPHSS_FEATURES_BINARY);
    graphss_flips flips = {0};
    testing_temporary(path, sizeof path, "bad.flips");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text(path, bad[i].text);
        assert_fails(ctx, graphss_flips_read(ctx, &flips, path, &t.data), GRAPHSS_ERR_DATA,
            bad[i].part);
        assert_null(flips.item);
    }
    write_text(
        path, "# no: matter\r\n#\n\r\n1\tlink\t1\t2\t0\t1\r\n1\tfeature\t1\t2\t.5\t-1e0");
    assert_ok(ctx, graphss_flips_read(ctx, &flips, path, &t.data));
    assert_int_equal(flips.count, 2);
    assert_true(flips.item[1].old_value == 0.5f && flips.item[1].new_value == -1);
    graphss_flips_destroy(ctx, &flips);
    unlink(path);
    assert_fails(ctx, graphss_flips_read(ctx, &flips, path, &t.data), GRAPHSS_ERR_NOT_FOUND,
        "cannot open");
    graphss_dataset_destroy(ctx, &t.data);
}

typedef struct starving {
    tiny_world t;
    graphss_flips flips;
    char path[256];
} starving;

static graphss_status round_trip(graphss_ctx *ctx, void *arg)
{
    starving *s = arg;
    graphss_flips back = {0};
    graphss_dataset out = {0};
    graphss_status st = graphss_flips_write(ctx, &s->flips, s->path, &s->t.data);
    if (!st)
        st = graphss_flips_read(ctx, &back, s->path, &s->t.data);
    if (!st)
        st = graphss_flips_apply(ctx, &out, &s->t.data, &back, NULL);
    graphss_dataset_destroy(ctx, &out);
    graphss_flips_destroy(ctx, &back);
    return st;
}

TEST_CTX(every_allocation_may_fail)
{
    starving s = {0};
    testing_temporary(s.path, sizeof s.path, "starving.flips");
    tiny_make(ctx, &s.t, 9, GRAPHSS_FEATURES_REAL);
    name_nodes(ctx, &s.t.data);
    attack_tiny(ctx, &s.flips, &s.t);
    testing_each_allocation_fails(round_trip, &s);
    unlink(s.path);
    graphss_flips_destroy(ctx, &s.flips);
    graphss_dataset_destroy(ctx, &s.t.data);
}

/* A graph without edges and features without an entry need no lists. */
TEST_CTX(changes_come_to_what_has_neither_edges_nor_words)
{
    int64_t offset[4] = {0};
    graphss_dataset data = {.graph = {.n_nodes = 3, .offset = offset},
        .features = {.n_rows = 3, .n_cols = 2, .offset = offset}};
    graphss_flips flips = {0};
    graphss_dataset out = {0};
    assert_ok(ctx, graphss_graph_check(ctx, &data.graph));
    assert_ok(ctx, graphss_features_check(ctx, &data.features));
    assert_ok(ctx,
        graphss_flips_add(ctx, &flips, (graphss_flip){0, GRAPHSS_FLIP_EDGE, 0, 2, 0, 1, 0}));
    assert_ok(ctx, graphss_flips_add(
                       ctx, &flips, (graphss_flip){0, GRAPHSS_FLIP_FEATURE, 1, 1, 0, 1, 0}));
    assert_ok(ctx, graphss_flips_apply(ctx, &out, &data, &flips, NULL));
    assert_true(graphss_graph_has_edge(&out.graph, 2, 0));
    assert_int_equal(graphss_graph_edges(&out.graph), 1);
    assert_int_equal(graphss_features_stored(&out.features), 1);
    assert_int_equal(out.features.column[0], 1);
    graphss_dataset_destroy(ctx, &out);
    flips.item[0].old_value = 1;
    flips.item[0].new_value = 0;
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &data, &flips, NULL), GRAPHSS_ERR_DATA,
        "nodes 0 and 2 are not joined");
    graphss_flips_destroy(ctx, &flips);
}

TEST_CTX(unsound_data_and_lists_are_refused)
{
    tiny_world t;
    tiny_make(ctx, &t, 9, GRAPHSS_FEATURES_BINARY);
    graphss_flips flips = {0};
    graphss_dataset out = {0}, empty = {0};
    graphss_graph graph = {0};
    graphss_features features = {0};
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &empty, &flips, NULL), GRAPHSS_ERR_DATA,
        "no nodes");
    const graphss_flips lost = {.count = 2};
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &t.data, &lost, NULL),
        GRAPHSS_ERR_INVALID, "no changes given");
    /* fewer rows of features than nodes */
    assert_ok(ctx, graphss_flips_add(ctx, &flips,
                       (graphss_flip){13, GRAPHSS_FLIP_FEATURE, TINY_N - 1, 0, 0, 1, 0}));
    t.data.features.n_rows = TINY_N - 1;
    assert_fails(ctx,
        graphss_flips_apply_parts(
            ctx, &graph, &features, &t.data.graph, &t.data.features, &flips, NULL),
        GRAPHSS_ERR_SHAPE, "features of 13 nodes, a graph of 14");
    t.data.features.n_rows = TINY_N;
    const int64_t last = t.data.graph.offset[TINY_N];
    t.data.graph.offset[TINY_N] = 0;
    assert_fails(ctx, graphss_flips_apply(ctx, &out, &t.data, &flips, NULL),
        GRAPHSS_ERR_INVALID, "node 13");
    t.data.graph.offset[TINY_N] = last;
    assert_null(graph.offset);
    assert_null(out.graph.offset);
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &t.data);
}

static graphss_status find_victims(graphss_ctx *ctx, void *arg)
{
    int32_t *victim = NULL;
    size_t n = 0;
    const graphss_status st = graphss_flips_victims(ctx, &victim, &n, arg);
    graphss_release(ctx, victim);
    return st;
}

TEST_CTX(victims_are_listed_once)
{
    graphss_flip item[] = {{.victim = 5}, {.victim = 2}, {.victim = 5}, {.victim = 0}};
    graphss_flips flips = {.count = 4, .item = item};
    const graphss_flips none = {0};
    static const int32_t want[] = {5, 2, 0};
    int32_t *victim = NULL;
    size_t n = 0;
    assert_ok(ctx, graphss_flips_victims(ctx, &victim, &n, &flips));
    assert_int_equal(n, 3);
    assert_memory_equal(victim, want, sizeof want);
    graphss_release(ctx, victim);
    assert_ok(ctx, graphss_flips_victims(ctx, &victim, &n, &none));
    assert_null(victim);
    assert_int_equal(n, 0);
    testing_each_allocation_fails(find_victims, &flips);
    item[1].victim = -1;
    assert_fails(ctx, graphss_flips_victims(ctx, &victim, &n, &flips), GRAPHSS_ERR_INVALID,
        "change 1: victim -1");
    assert_fails(ctx, graphss_flips_victims(ctx, &victim, &n, NULL), GRAPHSS_ERR_INVALID,
        "list of changes");
}

int main(void)
{
    return testing_run();
}
