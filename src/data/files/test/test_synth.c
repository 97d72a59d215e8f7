/* test_synth.c */
#include "data/files/readers.h"
#include "testing.h"

static graphss_dataset make(graphss_ctx *ctx, const char *text)
{
    graphss_synth_options opt;
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_synth_options_parse(ctx, &opt, text));
    assert_ok(ctx, graphss_synth_make(ctx, &data, &opt));
    assert_ok(ctx, graphss_graph_check(ctx, &data.graph));
    return data;
}

TEST(the_graph_is_what_was_ordered)
{
    static const struct {
        const char *text;
        double degree, homophily, words;
        size_t classes;
    } cases[] = {
        {"nodes=10000", 5, 0.8, 18, 5},
        {"nodes=10000,homophily=0.3,degree=12,classes=7", 12, 0.3, 18, 7},
        {"nodes=10000,homophily=1,degree=2.5,classes=3,words=4.5,features=90", 2.5, 1, 4.5, 3},
        {"nodes=10000,homophily=0,classes=2", 5, 0, 18, 2},
        {"nodes=1000", 5, 0.8, 18, 5},
    };
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graphss_dataset data = make(ctx, cases[i].text);
        const double n = (double)data.graph.n_nodes;
        assert_string_equal(data.format, "synth");
        assert_true(fabs(2 * (double)graphss_graph_edges(&data.graph) / n - cases[i].degree) <
                    0.01 * cases[i].degree);
        assert_true(fabs(graphss_graph_homophily(&data.graph, data.label) -
                         cases[i].homophily) < 0.01);
        assert_int_equal(data.features.kind, GRAPHSS_FEATURES_BINARY);
        assert_true(fabs((double)graphss_features_stored(&data.features) / n -
                         cases[i].words) < 0.03 * cases[i].words);
        assert_int_equal(data.n_classes, cases[i].classes);
        size_t size[8] = {0};
        for (size_t j = 0; j < data.graph.n_nodes; j++)
            size[data.label[j]]++;
        for (size_t c = 0; c < cases[i].classes; c++) {
            const double share = (double)size[c] * (double)cases[i].classes / n;
            assert_true(share > 0.7 && share < 1.3);
            if (c > 0)
                assert_int_not_equal(size[c], size[c - 1]);
        }
        graphss_dataset_destroy(ctx, &data);
    }
    graphss_ctx_free(ctx);
}

TEST_CTX(degrees_have_a_heavy_tail_and_few_nodes_are_alone)
{
    graphss_dataset data = make(ctx, "nodes=10000");
    size_t most = 0;
    for (size_t i = 0; i < data.graph.n_nodes; i++) {
        const size_t degree = graphss_graph_degree(&data.graph, i);
        most = degree > most ? degree : most;
    }
    assert_true(most > 50 && most < 500);
    assert_true(data.cleaned.isolated < 10);
    graphss_dataset_destroy(ctx, &data);
}

/* Some word must be much commoner in one class than in another, and none without topics. */
TEST_CTX(words_tell_the_class)
{
    for (int topic = 0; topic <= 1; topic++) {
        graphss_dataset data =
            make(ctx, topic ? "nodes=4000,topic=0.5" : "nodes=4000,topic=0");
        static double count[5][500];
        double nodes[5] = {0}, most = 0;
        memset(count, 0, sizeof count);
        for (size_t i = 0; i < data.graph.n_nodes; i++) {
            nodes[data.label[i]]++;
            for (int64_t e = data.features.offset[i]; e < data.features.offset[i + 1]; e++)
                count[data.label[i]][data.features.column[e]]++;
        }
        for (size_t w = 0; w < 500; w++) {
            const double gap = fabs(count[0][w] / nodes[0] - count[1][w] / nodes[1]);
            most = gap > most ? gap : most;
        }
        assert_true(topic ? most > 0.12 : most < 0.12);
        graphss_dataset_destroy(ctx, &data);
    }
}

/* The hash pins the generator: the same options give the same graph on every machine. */
TEST(the_graph_never_changes)
{
    static const char want[] =
        "6b0ab0d156c1b2c8bff03cad24fb58c852a5c38187b2fbb8fdc9206d29ff1a81";
    for (size_t threads = 1; threads <= 3; threads++) {
        graphss_ctx *ctx = testing_ctx(NULL, threads);
        graphss_dataset data = make(ctx, "nodes=40000,degree=6,seed=7");
        assert_string_equal(data.hash, want);
        graphss_dataset_destroy(ctx, &data);
        graphss_ctx_free(ctx);
    }
}

TEST_CTX(seeds_differ)
{
    graphss_dataset a = make(ctx, "seed=1"), b = make(ctx, "seed=2"), c = make(ctx, "");
    assert_string_not_equal(a.hash, b.hash);
    assert_string_equal(a.hash, c.hash);
    graphss_dataset_destroy(ctx, &a);
    graphss_dataset_destroy(ctx, &b);
    graphss_dataset_destroy(ctx, &c);
}

TEST_CTX(corner_cases_make_sound_graphs)
{
    static const char *const cases[] = {
        "nodes=1,classes=1",
        "nodes=2,classes=2",
        "nodes=3,classes=3,degree=9",
        "nodes=50,degree=1000",
        "features=0",
        "features=1",
        "features=3,words=1000",
        "words=0",
        "degree=0",
        "classes=1",
        "nodes=200,classes=200",
        "topic=1,features=20",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graphss_dataset data = make(ctx, cases[i]);
        assert_int_equal(strlen(data.hash), 64);
        graphss_dataset_destroy(ctx, &data);
    }
}

TEST_CTX(wrong_options_are_refused)
{
    graphss_synth_options opt = {.struct_size = sizeof opt, .nodes = 77};
    graphss_dataset data = {0};
    assert_fails(ctx, graphss_synth_options_parse(ctx, &opt, "nodes=5,colour=red"),
        GRAPHSS_ERR_INVALID,
        "'colour', want KEY=VALUE with a key of nodes, degree, classes, features, "
        "homophily, words, topic, seed");
    assert_fails(ctx, graphss_synth_options_parse(ctx, &opt, "nodes"), GRAPHSS_ERR_INVALID,
        "'nodes', want KEY=VALUE");
    assert_fails(ctx, graphss_synth_options_parse(ctx, &opt, "homophily=2"),
        GRAPHSS_ERR_INVALID, "homophily");
    assert_fails(
        ctx, graphss_synth_options_parse(ctx, &opt, "nodes=0"), GRAPHSS_ERR_INVALID, "nodes");
    assert_int_equal(opt.nodes, 77);
    graphss_synth_options_init(&opt);
    opt.topic = NAN;
    assert_fails(ctx, graphss_synth_make(ctx, &data, &opt), GRAPHSS_ERR_INVALID, "topic");
    graphss_synth_options_init(&opt);
    opt.nodes = 3;
    assert_fails(ctx, graphss_synth_make(ctx, &data, &opt), GRAPHSS_ERR_INVALID,
        "5 classes, want at most the 3 nodes");
    graphss_synth_options_init(&opt);
    assert_fails(
        ctx, graphss_i_synth_make(ctx, &data, &opt, 1000), GRAPHSS_ERR_LIMIT, "allowed");
}

static graphss_status make_and_destroy(graphss_ctx *ctx, void *arg)
{
    graphss_dataset data = {0};
    const graphss_status st = graphss_synth_make(ctx, &data, arg);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

TEST(each_allocation_may_fail)
{
    graphss_synth_options opt;
    graphss_synth_options_init(&opt);
    opt.nodes = 50;
    testing_each_allocation_fails(make_and_destroy, &opt);
}

TEST_CTX(every_key_of_the_table_is_read)
{
    graphss_synth_options standard;
    graphss_synth_options_init(&standard);
    assert_ok(ctx, graphss_options_check(ctx, &standard, graphss_synth_options_table()));
    for (const graphss_option *row = graphss_synth_options_table(); row->name; row++) {
        char value[64], text[160];
        graphss_synth_options opt;
        graphss_option_text(value, sizeof value, &standard, row);
        snprintf(text, sizeof text, "%s=%s", row->name, value);
        assert_ok(ctx, graphss_synth_options_parse(ctx, &opt, text));
    }
}

int main(void)
{
    return testing_run();
}
