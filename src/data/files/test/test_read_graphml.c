#include "data/files/readers.h"
#include "testing.h"

static const char people[] = GRAPHSS_SEEDS "/data/people.graphml";
static const uint64_t plenty = 1 << 24;

static graphss_status read_text(graphss_ctx *ctx, graphss_dataset *out, const char *text)
{
    return graphss_i_graphml_dataset(
        ctx, out, "x.graphml", text, strlen(text), plenty, GRAPHSS_MISSING_ERROR);
}

TEST(nodes_edges_and_their_data_are_read)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_i_read_graphml(ctx, &data, people, plenty, GRAPHSS_MISSING_ERROR));
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
    /* Numbers, yes and no, then the values of text; a default stands where nothing is said. */
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
    graphss_ctx_free(ctx);
}

TEST(mistakes_are_named_with_their_place)
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
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graphss_dataset data = {0};
        assert_fails(
            ctx, read_text(ctx, &data, cases[i].text), GRAPHSS_ERR_DATA, cases[i].part);
        assert_null(data.graph.offset);
    }
    graphss_ctx_free(ctx);
}

TEST(keys_of_many_nodes_may_not_take_all_memory)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    graphss_dataset data = {0};
    static const char text[] = "<graphml><key id='a'/><key id='b'/><graph><node id='0'/>"
                               "<node id='1'/></graph></graphml>";
    assert_fails(ctx,
        graphss_i_graphml_dataset(
            ctx, &data, "x", text, sizeof text - 1, 100, GRAPHSS_MISSING_ERROR),
        GRAPHSS_ERR_LIMIT, "2 nodes with 2 keys");
    graphss_ctx_free(ctx);
}

static graphss_status read_and_destroy(graphss_ctx *ctx, void *arg)
{
    graphss_dataset data = {0};
    const graphss_status st =
        graphss_i_read_graphml(ctx, &data, arg, plenty, GRAPHSS_MISSING_MEAN);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(each_allocation_may_fail)
{
    char path[sizeof people];
    memcpy(path, people, sizeof path);
    testing_each_allocation_fails(read_and_destroy, path);
}

int main(void)
{
    return testing_run();
}
