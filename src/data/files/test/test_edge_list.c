/* test_edge_list.c */
#include "data/files/readers.h"
#include "testing.h"

static const uint64_t plenty = UINT64_C(1) << 30;

static graphss_status read_text(
    graphss_ctx *ctx, graphss_dataset *out, const char *text, uint64_t max_bytes)
{
    char path[512];
    testing_temporary(path, sizeof path, "list.edges");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    const graphss_status st =
        graphss_i_read_edge_list(ctx, out, path, max_bytes, GRAPHSS_MISSING_ERROR);
    remove(path);
    return st;
}

TEST_CTX(numbers_stay_numbers)
{
    static const char *const texts[] = {"# comment\n3 1\n1\t2\n\n% more\n2 0\n",
        "3,1\n1,2\n2,0", "src,dst\n3, 1\r\n1,2\r\n2,0\r\n", "3;1\n1;2\n2;0\n",
        "3 1 x\n1 2 y\n2 0 z\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        graphss_dataset data = {0};
        assert_ok(ctx, read_text(ctx, &data, texts[i], plenty));
        assert_int_equal(data.graph.n_nodes, 4);
        assert_int_equal(graphss_graph_edges(&data.graph), 3);
        assert_true(graphss_graph_has_edge(&data.graph, 3, 1));
        assert_true(graphss_graph_has_edge(&data.graph, 0, 2));
        assert_int_equal(data.node_names.count, 0);
        assert_int_equal(data.features.n_rows, 4);
        assert_int_equal(data.cleaned.weighted, 0);
        assert_null(data.label);
        assert_string_equal(data.format, "edges");
        graphss_dataset_destroy(ctx, &data);
    }
}

TEST_CTX(other_ids_become_names_in_order_of_first_sight)
{
    static const struct {
        const char *text, *first, *second;
    } cases[] = {{"b a\na c\n", "b", "a"}, {"1 2\n2 3\n", "1", "2"},
        {"New York,Paris\nParis,Rome\n", "New York", "Paris"}, {"0 01\n01 1\n", "0", "01"},
        {"\"x y\" z\nz w\n", "x y", "z"}, {"-1 0\n0 1\n", "-1", "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graphss_dataset data = {0};
        assert_ok(ctx, read_text(ctx, &data, cases[i].text, plenty));
        assert_int_equal(data.graph.n_nodes, 3);
        assert_string_equal(graphss_names_get(&data.node_names, 0), cases[i].first);
        assert_string_equal(graphss_names_get(&data.node_names, 1), cases[i].second);
        assert_true(graphss_graph_has_edge(&data.graph, 0, 1));
        assert_true(graphss_graph_has_edge(&data.graph, 1, 2));
        graphss_dataset_destroy(ctx, &data);
    }
}

static void keep_warning(void *user, graphss_log_level level, const char *line)
{
    if (level == GRAPHSS_LOG_WARN)
        snprintf(user, 512, "%s", line);
}

TEST(words_over_numbers_are_a_header_and_warned_of)
{
    static const struct {
        const char *text, *warning;
        size_t names;
    } cases[] = {
        {"follower,followee\n3,1\n1,2\n2,0\n", ":1: 'follower' and 'followee' are taken", 0},
        {"follower,followee,when\n3,1,x\n1,2,y\n2,0,z\n", "are taken for a header", 0},
        {"id id\n3 1\n1 2\n2 0\n", "are taken for a header", 0},
        {",source,target\n0,3,1\n1,1,2\n2,2,0\n", "", 0},
        {",follower,followee\n7,3,1\n8,1,2\n9,2,0\n", ":1: the first column has no name", 0},
        {"weight,target,source\n9,1,3\n9,2,1\n9,0,2\n", "", 0},
        {"ann bob\nbob cy\ncy 4\n", "", 4}, /* not all others are numbers */
        {"ann bob 2\n7 8\n", "", 4},        /* it has a weight */
        {"src dst\nann bob\n7 8\n", "", 4}, /* the header is above it */
        {"ann 0\n0 1\n1 2\n", "", 4},       /* one of both is a number */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char warning[512] = "";
        graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
            .struct_size = sizeof(graphss_ctx_options), .log = keep_warning, .user = warning});
        graphss_dataset data = {0};
        assert_non_null(ctx);
        assert_ok(ctx, read_text(ctx, &data, cases[i].text, plenty));
        assert_int_equal(data.graph.n_nodes, 4);
        assert_int_equal(data.node_names.count, cases[i].names);
        if (!cases[i].names) {
            assert_int_equal(graphss_graph_edges(&data.graph), 3);
            assert_true(graphss_graph_has_edge(&data.graph, 3, 1));
            assert_true(graphss_graph_has_edge(&data.graph, 0, 2));
        }
        if (*cases[i].warning)
            assert_non_null(strstr(warning, cases[i].warning));
        else
            assert_string_equal(warning, "");
        graphss_dataset_destroy(ctx, &data);
        graphss_ctx_free(ctx);
    }
}

TEST_CTX(what_was_cleaned_is_counted)
{
    graphss_dataset data = {0};
    assert_ok(
        ctx, read_text(ctx, &data, "0 1 1\n1 0 2\n0 1 1\n2 2 1\n3 0 0\n1 2 1\n", plenty));
    assert_int_equal(data.cleaned.weighted, 1);
    assert_int_equal(data.cleaned.zeros, 1);
    assert_int_equal(data.cleaned.loops, 1);
    assert_int_equal(data.cleaned.duplicates, 1);
    assert_int_equal(data.cleaned.directed, 1);
    assert_int_equal(data.cleaned.isolated, 1);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(mistakes_are_named_with_their_place)
{
    graphss_dataset data = {0};
    assert_fails(ctx, read_text(ctx, &data, "0 1\n2\n", plenty), GRAPHSS_ERR_DATA,
        "list.edges:2:1: found '2', want two ids");
    assert_fails(ctx, read_text(ctx, &data, "0,1\n2,\n", plenty), GRAPHSS_ERR_DATA,
        "list.edges:2:3: found '', want the id of a node");
    assert_fails(
        ctx, read_text(ctx, &data, "# nothing\n", plenty), GRAPHSS_ERR_DATA, "no edge in it");
    assert_fails(ctx, read_text(ctx, &data, "0 1\n1 2\n", 100), GRAPHSS_ERR_LIMIT, "8 bytes");
    assert_fails(ctx,
        graphss_i_read_edge_list(
            ctx, &data, "/nowhere/x.edges", plenty, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_NOT_FOUND, "/nowhere/x.edges");
    assert_null(data.graph.offset);
}

static graphss_status read_and_destroy(graphss_ctx *ctx, void *arg)
{
    graphss_dataset data = {0};
    const graphss_status st = read_text(ctx, &data, arg, plenty);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(each_allocation_may_fail)
{
    char names[] = "a b\nb c\n", numbers[] = "0 1\n1 2\n", header[] = "a b\n0 1\n1 5\n";
    testing_each_allocation_fails(read_and_destroy, names);
    testing_each_allocation_fails(read_and_destroy, numbers);
    testing_each_allocation_fails(read_and_destroy, header);
}

/* ---- read graphml ---- */

static const char people[] = GRAPHSS_SEEDS "/data/people.graphml";
static const uint64_t enough = 1 << 24;

static graphss_status read_graphml_text(
    graphss_ctx *ctx, graphss_dataset *out, const char *text)
{
    return graphss_i_graphml_dataset(
        ctx, out, "x.graphml", text, strlen(text), enough, GRAPHSS_MISSING_ERROR);
}

TEST_CTX(nodes_edges_and_their_data_are_read)
{
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_i_read_graphml(ctx, &data, people, enough, GRAPHSS_MISSING_ERROR));
    assert_string_equal(data.format, "graphml");
    assert_string_equal(data.name, "people");
    assert_int_equal(data.graph.n_nodes, 4);
    assert_int_equal(graphss_graph_edges(&data.graph), 3);
    assert_int_equal(data.cleaned.zeros, 1);
    assert_int_equal(data.cleaned.weighted, 1);
    assert_int_equal(data.n_classes, 2);
    assert_string_equal(graphss_names_get(&data.class_names, 1), "bot");
    assert_int_equal(data.label[3], -1);
    assert_string_equal(graphss_names_get(&data.node_names, 2), "bot7");
    /* Numbers, booleans, then text values; the default applies to absent values. */
    static const char *const names[] = {"age", "active", "city=Bonn", "city=Ulm"};
    const float value[4][4] = {{31, 1, 0, 1}, {45, 0, 1, 0}, {0, 1, 0, 1}, {28, 0, 1, 0}};
    assert_int_equal(data.features.n_cols, 4);
    assert_true(graphss_features_dense(&data.features));
    for (size_t c = 0; c < 4; c++) {
        assert_string_equal(graphss_names_get(&data.column_names, c), names[c]);
        for (size_t i = 0; i < 4; i++)
            assert_float_equal(data.features.value[4 * i + c], value[i][c], 0);
    }
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(mistakes_in_graphml_are_named_with_their_place)
{
    const struct {
        const char *text, *part;
    } cases[] = {
        {"", "no XML"},
        {"<graphml>\n<graph>", "x.graphml:2:8: no XML"},
        {"<html/>", "x.graphml:1:1: found html, want <graphml>"},
        {"<graphml/>", "no node in it"},
        {"<graphml><graph>\n<node/></graph></graphml>",
            "x.graphml:2:1: found a <node> without an id"},
        {"<graphml><graph><node id='a'/>\n<edge source='a'/></graph></graphml>",
            "x.graphml:2:1: found an <edge> without source or target"},
        {"<graphml><graph><node id='a'/>\n <edge source='a' target='b'/></graph></graphml>",
            "x.graphml:2:2: found 'b', want the id of a <node>"},
        {"<graphml><graph><node id='a'/>\n<node id='a'/></graph></graphml>",
            "x.graphml:2:1: found 'a', want an id that no other node has"},
        {"<graphml><graph><node id='a'><data key='k'>1</data></node></graph></graphml>",
            "found k, want the id of a <key>"},
        {"<graphml><graph><hyperedge/></graph></graphml>", "found a <hyperedge>"},
        {"<!DOCTYPE g [<!ENTITY a 'b'>]><graphml><graph><node id='&a;'/></graph></graphml>",
            "found a, want no entity"},
        {"<graphml><key id='k' attr.name='age'/><graph><node id='a'><data key='k'>1</data>"
         "</node>\n<node id='b'/></graph></graphml>",
            "x.graphml:2:1: found '', want a finite number in column 'age'"},
        {"<graphml><key id='w' for='edge' attr.name='weight'/><graph><node id='a'/>\n"
         "<edge source='a' target='a'><data key='w'>x</data></edge></graph></graphml>",
            "x.graphml:2:29: found 'x', want a finite weight"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graphss_dataset data = {0};
        assert_fails(ctx, read_graphml_text(ctx, &data, cases[i].text), GRAPHSS_ERR_DATA,
            cases[i].part);
        assert_null(data.graph.offset);
    }
}

TEST_CTX(keys_of_many_nodes_may_not_take_all_memory)
{
    graphss_dataset data = {0};
    static const char text[] = "<graphml><key id='a'/><key id='b'/><graph><node id='0'/>"
                               "<node id='1'/></graph></graphml>";
    assert_fails(ctx,
        graphss_i_graphml_dataset(
            ctx, &data, "x", text, sizeof text - 1, 100, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_LIMIT, "2 nodes with 2 keys");
}

static graphss_status read_graphml_and_destroy(graphss_ctx *ctx, void *arg)
{
    graphss_dataset data = {0};
    const graphss_status st =
        graphss_i_read_graphml(ctx, &data, arg, enough, GRAPHSS_MISSING_MEAN);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(each_allocation_of_graphml_may_fail)
{
    char path[sizeof people];
    memcpy(path, people, sizeof path);
    testing_each_allocation_fails(read_graphml_and_destroy, path);
}

int main(void)
{
    return testing_run();
}
