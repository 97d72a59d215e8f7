#include "data/build.h"
#include "testing.h"
#include <graphss/labels.h>

TEST_CTX(names_come_back_in_order)
{
    graphss_i_name_list list = {0};
    graphss_names names = {0}, copy = {0};
    assert_ok(ctx, graphss_i_name_list_finish(ctx, &names, &list));
    assert_int_equal(names.count, 0);
    assert_ok(ctx, graphss_i_name_list_add(ctx, &list, "alpha", 5));
    assert_ok(ctx, graphss_i_name_list_add(ctx, &list, NULL, 0));
    assert_ok(ctx, graphss_i_name_list_add(ctx, &list, "gamma rays", 5));
    assert_fails(ctx, graphss_i_name_list_add(ctx, &list, "a\0b", 3), GRAPHSS_ERR_DATA, "NUL");
    assert_ok(ctx, graphss_i_name_list_finish(ctx, &names, &list));
    assert_ok(ctx, graphss_i_names_copy(ctx, &copy, &names));
    graphss_names_destroy(ctx, &names);
    assert_int_equal(copy.count, 3);
    assert_string_equal(graphss_names_get(&copy, 0), "alpha");
    assert_string_equal(graphss_names_get(&copy, 1), "");
    assert_string_equal(graphss_names_get(&copy, 2), "gamma");
    graphss_names_destroy(ctx, &copy);
}

TEST_CTX(things_without_names_are_numbered)
{
    graphss_names names = {0};
    assert_ok(ctx, graphss_i_names_number(ctx, &names, 12));
    assert_int_equal(names.count, 12);
    assert_string_equal(graphss_names_get(&names, 0), "0");
    assert_string_equal(graphss_names_get(&names, 11), "11");
    graphss_names_destroy(ctx, &names);
    assert_ok(ctx, graphss_i_names_number(ctx, &names, 0));
    assert_int_equal(names.count, 0);
}

TEST_CTX(each_string_gets_its_number_once)
{
    enum { N = 5000 };
    graphss_i_intern table = {0};
    assert_int_equal(graphss_i_intern_find(&table, "1", 1), -1);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < N; i++) {
            char text[24];
            const size_t length = (size_t)snprintf(text, sizeof text, "%zu", i * i);
            size_t index = 0;
            bool added = false;
            assert_ok(ctx, graphss_i_intern_add(ctx, &index, &added, &table, text, length));
            assert_int_equal(index, i);
            assert_int_equal(added, round == 0);
        }
    assert_int_equal(graphss_i_intern_find(&table, "49", 2), 7);
    assert_int_equal(graphss_i_intern_find(&table, "49000", 2), 7);
    assert_int_equal(graphss_i_intern_find(&table, "48", 2), -1);
    graphss_names names = {0};
    assert_ok(ctx, graphss_i_name_list_finish(ctx, &names, &table.list));
    assert_int_equal(names.count, N);
    assert_string_equal(graphss_names_get(&names, 7), "49");
    graphss_names_destroy(ctx, &names);
    graphss_i_intern_destroy(ctx, &table);
}

/* Three nodes in a row with the given names (NULL: numbers). */
static graphss_status three_nodes(
    graphss_ctx *ctx, graphss_dataset *data, const char *const *name)
{
    const int32_t from[] = {0, 1}, to[] = {1, 2};
    graphss_i_name_list list = {0};
    graphss_status st = graphss_graph_build(ctx, &data->graph, &data->cleaned, 3, from, to, 2);
    for (size_t i = 0; name && st == GRAPHSS_OK && i < 3; i++)
        st = graphss_i_name_list_add(ctx, &list, name[i], strlen(name[i]));
    if (st == GRAPHSS_OK)
        st = graphss_i_name_list_finish(ctx, &data->node_names, &list);
    graphss_i_name_list_destroy(ctx, &list);
    return st;
}

static const char *const planets[] = {"mars", "venus", "mars"};

TEST_CTX(nodes_are_found_by_name_or_by_number)
{
    for (int named = 0; named < 2; named++) {
        graphss_dataset data = {0};
        graphss_node_index *index = NULL;
        assert_ok(ctx, three_nodes(ctx, &data, named ? planets : NULL));
        assert_ok(ctx, graphss_node_index_new(ctx, &index, &data));
        const char *const id[] = {"venus", "1", "3", "-1", "mars", ""};
        const int64_t want[2][6] = {{-1, 1, -1, -1, -1, -1}, {1, -1, -1, -1, 0, -1}};
        for (size_t i = 0; i < 6; i++) {
            assert_int_equal(graphss_dataset_find(&data, id[i]), want[named][i]);
            assert_int_equal(graphss_node_index_find(index, id[i]), want[named][i]);
        }
        graphss_node_index_free(ctx, index);
        graphss_dataset_destroy(ctx, &data);
    }
    graphss_node_index_free(ctx, NULL);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

TEST_CTX(a_list_of_nodes_is_read_or_its_bad_line_named)
{
    graphss_dataset data = {0};
    int32_t *nodes = NULL;
    size_t n = 0;
    char path[256];
    testing_temporary(path, sizeof path, "nodes");
    assert_ok(ctx, three_nodes(ctx, &data, planets));
    write_text(path, "# two\n\n  venus\r\nmars");
    assert_ok(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data));
    assert_int_equal(n, 2);
    assert_int_equal(nodes[0], 1);
    assert_int_equal(nodes[1], 0);
    graphss_release(ctx, nodes);
    nodes = NULL;
    write_text(path, "\\#odd\n"); /* the id is #odd, not a remark */
    assert_fails(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data), GRAPHSS_ERR_DATA,
        ":1: no node is called '#odd'");
    write_text(path, "venus\n\npluto\n");
    assert_fails(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data), GRAPHSS_ERR_DATA,
        ":3: no node is called 'pluto'");
    write_text(path, "venus\nmars\nvenus\n");
    assert_fails(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data), GRAPHSS_ERR_DATA,
        ":3: listed twice: 'venus'");
    write_text(path, "# none\n\n");
    assert_fails(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data), GRAPHSS_ERR_DATA,
        "no node in it");
    assert_null(nodes);
    unlink(path);
    assert_fails(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data),
        GRAPHSS_ERR_NOT_FOUND, path);
    graphss_dataset_destroy(ctx, &data);
}

static const char *const odd_names[] = {"#1", "node 2", "\"3\""};

static void keep_warning(void *user, graphss_log_level level, const char *line)
{
    if (level == GRAPHSS_LOG_WARN)
        snprintf(user, 512, "%s", line);
}

TEST(an_id_that_is_taken_for_a_comment_is_warned_of)
{
    char warning[512] = "", path[256];
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = keep_warning, .user = warning});
    graphss_dataset data = {0};
    int32_t *nodes = NULL;
    size_t n = 0;
    assert_non_null(ctx);
    testing_temporary(path, sizeof path, "hidden");
    assert_ok(ctx, three_nodes(ctx, &data, odd_names));
    write_text(path, "# a remark\nnode 2\n\\#1\n");
    assert_ok(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data));
    assert_int_equal(n, 2);
    assert_string_equal(warning, "");
    graphss_release(ctx, nodes);
    write_text(path, "node 2\n #1\n");
    assert_ok(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data));
    assert_int_equal(n, 1);
    assert_non_null(strstr(warning, ":2: '#1' is a comment, though a node is called so"));
    assert_non_null(strstr(warning, "write '\\#1'"));
    graphss_release(ctx, nodes);
    unlink(path);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
}

TEST_CTX(what_is_written_as_a_list_is_read_back)
{
    static const char *const names[][3] = {{"#1", " 2 ", "\\#1"}, {"a\\tb", "a\tb", "a\nb\r"},
        {"\\", "\\ ", " "}, {"C:\\new", "  x  ", "x"}};
    char path[256];
    testing_temporary(path, sizeof path, "back");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        graphss_dataset data = {0};
        graphss_i_output out = {0};
        int32_t *nodes = NULL;
        size_t n = 0;
        assert_ok(ctx, three_nodes(ctx, &data, names[i]));
        assert_ok(ctx, graphss_i_output_open(ctx, &out, path));
        for (size_t k = 0; k < 3; k++)
            assert_ok(ctx, graphss_i_node_list_line(ctx, &out, names[i][k]));
        assert_fails(
            ctx, graphss_i_node_list_line(ctx, &out, ""), GRAPHSS_ERR_DATA, "empty name");
        assert_ok(ctx, graphss_i_output_commit(ctx, &out));
        assert_ok(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data));
        assert_int_equal(n, 3);
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(nodes[k], k);
        graphss_release(ctx, nodes);
        nodes = NULL;
        if (i == 3) { /* by hand, the backslash as it is */
            write_text(path, "C:\\new\n");
            assert_ok(ctx, graphss_node_list_read(ctx, &nodes, &n, path, &data));
            assert_int_equal(nodes[0], 0);
            graphss_release(ctx, nodes);
        }
        graphss_dataset_destroy(ctx, &data);
    }
    unlink(path);
}

TEST_CTX(groups_are_read_or_their_bad_line_named)
{
    graphss_dataset data = {0};
    graphss_node_groups groups = {0};
    char path[256];
    testing_temporary(path, sizeof path, "groups");
    assert_ok(ctx, three_nodes(ctx, &data, odd_names));
    assert_fails(
        ctx, graphss_node_groups_read(ctx, &groups, NULL, &data), GRAPHSS_ERR_INVALID, "path");
    assert_fails(ctx, graphss_node_groups_read(ctx, &groups, path, NULL), GRAPHSS_ERR_INVALID,
        "dataset");
    write_text(path, "#1 \"node 2\"\r\n\n \t\n\"\"\"3\"\"\"\t#1");
    assert_ok(ctx, graphss_node_groups_read(ctx, &groups, path, &data));
    assert_int_equal(groups.count, 2);
    static const size_t start[] = {0, 2, 4}, line[] = {1, 4};
    static const int32_t node[] = {0, 1, 2, 0};
    assert_memory_equal(groups.start, start, sizeof start);
    assert_memory_equal(groups.line, line, sizeof line);
    assert_memory_equal(groups.node, node, sizeof node);
    assert_string_equal(graphss_names_get(&groups.names, 1), "4");
    graphss_node_groups_destroy(ctx, &groups);
    write_text(path, "first: #1\n\"second one:\" \"node 2\"\nempty:\n#1");
    assert_ok(ctx, graphss_node_groups_read(ctx, &groups, path, &data));
    assert_int_equal(groups.count, 3);
    assert_string_equal(graphss_names_get(&groups.names, 0), "first");
    assert_string_equal(graphss_names_get(&groups.names, 1), "second one");
    assert_string_equal(graphss_names_get(&groups.names, 2), "4");
    graphss_node_groups_destroy(ctx, &groups);
    const char *const bad[][2] = {
        {"#1\nnode 2\n", ":2: no node is called 'node'"},
        {"\"node 2\n#1\"\n", ":1: a quote that is not closed: 'node 2'"},
        {"\"node 2\"x\n", ":1: text behind a closing quote: 'x'"},
        {"#1 #1\n", ":1: listed twice: '#1'"},
        {"\"\"\n", ":1: no node is called ''"},
        {" \n", "no group is listed"},
        {"name: other: #1\n", ":1: no node is called 'other:'"},
        {": #1\n", ":1: no node is called ':'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text(path, bad[i][0]);
        assert_fails(ctx, graphss_node_groups_read(ctx, &groups, path, &data),
            GRAPHSS_ERR_DATA, bad[i][1]);
        assert_null(groups.node);
    }
    unlink(path);
    assert_fails(
        ctx, graphss_node_groups_read(ctx, &groups, path, &data), GRAPHSS_ERR_NOT_FOUND, path);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(groups_are_made_from_a_number_for_each_node)
{
    graphss_dataset data = {0};
    graphss_node_groups groups = {0};
    assert_ok(ctx, three_nodes(ctx, &data, planets));
    const int32_t of[] = {2, -1, 0, 2};
    assert_ok(ctx, graphss_node_groups_make(ctx, &groups, of, 4, 3, &data.node_names));
    static const size_t start[] = {0, 1, 3}, line[] = {1, 3};
    static const int32_t node[] = {2, 0, 3};
    assert_int_equal(groups.count, 2);
    assert_memory_equal(groups.start, start, sizeof start);
    assert_memory_equal(groups.line, line, sizeof line);
    assert_memory_equal(groups.node, node, sizeof node);
    assert_string_equal(graphss_names_get(&groups.names, 1), planets[2]);
    graphss_node_groups_destroy(ctx, &groups);
    assert_ok(ctx, graphss_node_groups_make(ctx, &groups, of, 4, 3, NULL));
    assert_string_equal(graphss_names_get(&groups.names, 1), "2");
    graphss_node_groups_destroy(ctx, &groups);
    assert_fails(ctx, graphss_node_groups_make(ctx, &groups, of, 4, 2, NULL),
        GRAPHSS_ERR_INVALID, "node 0 is in group 2, want 0..1");
    assert_fails(ctx, graphss_node_groups_make(ctx, &groups, of, 4, 4, &data.node_names),
        GRAPHSS_ERR_INVALID, "3 names for 4 groups");
    assert_null(groups.node);
    graphss_dataset_destroy(ctx, &data);
}

static graphss_status make_groups(graphss_ctx *ctx, void *names)
{
    static const int32_t of[] = {1, 0, 1};
    graphss_node_groups groups = {0};
    const graphss_status st = graphss_node_groups_make(ctx, &groups, of, 3, 2, names);
    graphss_node_groups_destroy(ctx, &groups);
    return st;
}

static graphss_status read_groups(graphss_ctx *ctx, void *path)
{
    graphss_dataset data = {0};
    graphss_node_groups groups = {0};
    graphss_status st = three_nodes(ctx, &data, planets);
    if (st == GRAPHSS_OK)
        st = graphss_node_groups_read(ctx, &groups, path, &data);
    graphss_node_groups_destroy(ctx, &groups);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(names_are_escaped_for_files_with_tabs)
{
    static const char name[] = "#a\tb\nc\rd\\e#";
    char out[2 * sizeof name];
    assert_int_equal(graphss_name_escape(out, name), strlen(name) + 5);
    assert_string_equal(out, "\\#a\\tb\\nc\\rd\\\\e#");
    assert_int_equal(graphss_name_escape(out, ""), 0);
    assert_string_equal(out, "");
}

static graphss_status read_list(graphss_ctx *ctx, void *path)
{
    graphss_dataset data = {0};
    int32_t *nodes = NULL;
    size_t n = 0;
    graphss_status st = three_nodes(ctx, &data, planets);
    if (st == GRAPHSS_OK)
        st = graphss_node_list_read(ctx, &nodes, &n, path, &data);
    graphss_release(ctx, nodes);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

static graphss_status intern_many(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    graphss_i_intern table = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < 200 && st == GRAPHSS_OK; i++) {
        char text[24];
        size_t index;
        const size_t length = (size_t)snprintf(text, sizeof text, "%zu", i);
        st = graphss_i_intern_add(ctx, &index, NULL, &table, text, length);
    }
    graphss_i_intern_destroy(ctx, &table);
    return st;
}

TEST(names_that_a_spreadsheet_would_compute_are_guarded)
{
    static const char *const formula[] = {
        "=1+1", "+1", "-1", "@sum", "\ttab", "\rcr", "\nl", "'quoted", "\uff1d1", "\uff0b1"};
    static const char *const plain[] = {"", "a=1", "1-2", "\uff01", " =1", "\"=1"};
    for (size_t i = 0; i < sizeof formula / sizeof *formula; i++)
        assert_string_equal(graphss_name_guard(formula[i]), "'");
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_string_equal(graphss_name_guard(plain[i]), "");
}

TEST(each_allocation_may_fail)
{
    char path[256];
    testing_temporary(path, sizeof path, "starved");
    write_text(path, "venus\n");
    testing_each_allocation_fails(read_list, path);
    testing_each_allocation_fails(read_groups, path);
    testing_each_allocation_fails(make_groups, NULL);
    unlink(path);
    testing_each_allocation_fails(intern_many, NULL);
}

/* The plain questions, against counts of one cell after the other. */
enum { N = 200, K = 4 };

typedef struct answers {
    int32_t label[N], truth[N], node[N / 2];
} answers;

/* Some labels and truths are -1; the listed nodes come in any order, some twice. */
static void make(answers *a)
{
    graphss_rng rng = graphss_rng_make(2, 1);
    for (size_t i = 0; i < N; i++) {
        a->label[i] = (int32_t)graphss_rng_below(&rng, K + 1) - 1;
        a->truth[i] = (int32_t)graphss_rng_below(&rng, K + 1) - 1;
    }
    for (size_t j = 0; j < N / 2; j++)
        a->node[j] = (int32_t)graphss_rng_below(&rng, N);
}

static int64_t count(
    const answers *a, const int32_t *node, size_t n, int32_t truth, int32_t label)
{
    int64_t found = 0;
    for (size_t j = 0; j < n; j++) {
        const size_t i = node ? (size_t)node[j] : j;
        found += a->truth[i] == truth && a->label[i] == label;
    }
    return found;
}

TEST(confusion_is_a_count_of_each_pair)
{
    answers a;
    make(&a);
    for (int listed = 0; listed < 2; listed++) {
        const int32_t *node = listed ? a.node : NULL;
        const size_t n = listed ? N / 2 : N;
        int64_t confusion[K * K];
        memset(confusion, 7, sizeof confusion); /* it is overwritten */
        graphss_labels_confusion(confusion, K, a.label, a.truth, node, n);
        for (int32_t t = 0; t < K; t++)
            for (int32_t p = 0; p < K; p++)
                assert_int_equal(confusion[t * K + p], count(&a, node, n, t, p));
    }
}

TEST(accuracy_is_the_share_of_known_truths_that_were_met)
{
    answers a;
    make(&a);
    int64_t right = 0, known = 0;
    for (int32_t t = 0; t < K; t++)
        for (int32_t p = -1; p < K; p++) {
            known += count(&a, a.node, N / 2, t, p);
            right += p == t ? count(&a, a.node, N / 2, t, p) : 0;
        }
    const double found = graphss_labels_accuracy(a.label, a.truth, a.node, N / 2);
    assert_true(found == (double)right / (double)known);
    a.truth[0] = -1;
    assert_true(isnan(graphss_labels_accuracy(a.label, a.truth, NULL, 1)));
    assert_true(isnan(graphss_labels_accuracy(a.label, a.truth, NULL, 0)));
}

TEST(the_first_of_equals_is_the_label)
{
    const float prob[] = {0.2f, 0.4f, 0.4f, 0.5f, 0.5f, 0, 0.1f, 0.2f, 0.7f};
    int32_t label[3];
    graphss_labels_argmax(label, prob, 3, 3);
    assert_true(label[0] == 1 && label[1] == 0 && label[2] == 2);
}

int main(void)
{
    return testing_run();
}
