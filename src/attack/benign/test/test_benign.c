/* Change that is no attack: it keeps the graph's habits and fits the data. */
#include "attack/benign/class_sampler.h"
#include "testing.h"

enum { NODES = 2000, LISTED = 300 };

static void read_graph(graphss_ctx *ctx, graphss_dataset *data)
{
    assert_ok(ctx,
        graphss_dataset_read(ctx, data,
            "synth:nodes=2000,classes=4,features=100,degree=8,homophily=0.8,seed=3", NULL));
}

static void list_nodes(int32_t *node)
{
    for (int32_t i = 0; i < LISTED; i++)
        node[i] = 5 * i + 2;
}

TEST_CTX(churn_fits_and_keeps_to_the_budget)
{
    graphss_dataset data = {0}, now = {0};
    graphss_flips flips = {0};
    int32_t node[LISTED];
    size_t edges[NODES] = {0}, words[NODES] = {0};
    read_graph(ctx, &data);
    list_nodes(node);
    assert_ok(ctx, graphss_benign_churn(ctx, &flips, &data, node, LISTED, 1, NULL));
    assert_string_equal(flips.method, "benign");
    assert_string_equal(flips.hash, data.hash);
    for (size_t i = 0; i < flips.count; i++) {
        assert_int_equal(flips.item[i].node, flips.item[i].victim);
        for (size_t j = i + 1; j < flips.count && flips.item[j].node == flips.item[i].node;
             j++)
            assert_true(flips.item[i].kind != flips.item[j].kind ||
                        flips.item[i].target != flips.item[j].target);
        (flips.item[i].kind == GRAPHSS_FLIP_EDGE ? edges : words)[flips.item[i].victim]++;
    }
    size_t all_edges = 0, all_words = 0;
    for (size_t i = 0; i < LISTED; i++) {
        assert_true(edges[node[i]] <= 2 && words[node[i]] <= 20);
        all_edges += edges[node[i]];
        all_words += words[node[i]];
    }
    assert_true(all_edges > 1.8 * LISTED && all_words > 18 * LISTED);
    assert_int_equal(all_edges + all_words, flips.count);
    assert_ok(ctx, graphss_flips_apply(ctx, &now, &data, &flips, NULL));
    for (size_t i = 0; i < NODES; i++)
        assert_true(graphss_graph_degree(&now.graph, i) > 0 ||
                    graphss_graph_degree(&data.graph, i) == 0);
    graphss_dataset_destroy(ctx, &now);
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &data);
}

/* 1000 draws around 0.8: a standard error of 0.013 */
TEST_CTX(new_edges_have_the_homophily_of_the_graph)
{
    graphss_dataset data = {0};
    graphss_flips flips = {0};
    int32_t node[LISTED];
    read_graph(ctx, &data);
    list_nodes(node);
    const graphss_benign_options opt = {.struct_size = sizeof opt, .edges = 6, .features = 0};
    assert_ok(ctx, graphss_benign_churn(ctx, &flips, &data, node, LISTED, 1, &opt));
    double same = 0, joined = 0, cut = 0;
    for (size_t i = 0; i < flips.count; i++) {
        const graphss_flip *f = &flips.item[i];
        joined += f->new_value == 1;
        cut += f->new_value == 0;
        same += f->new_value == 1 && data.label[f->node] == data.label[f->target];
    }
    assert_true(joined > 600 && cut > 600);
    const double wanted = graphss_graph_homophily(&data.graph, data.label);
    assert_true(fabs(same / joined - wanted) < 0.06);
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &data);
}

/* The same number of each; these nodes have enough edges and words. */
TEST_CTX(edges_and_features_change_as_requested)
{
    graphss_dataset data = {0};
    graphss_flips flips = {0};
    const graphss_i_churning each[] = {{.joins = 3, .drops = 2}, {.cuts = 2, .adds = 4},
        {.joins = 1, .cuts = 1, .adds = 1, .drops = 1}, {0}};
    int32_t node[4] = {0};
    read_graph(ctx, &data);
    for (int32_t i = 0, n = 0; n < 4; i++)
        if (graphss_graph_degree(&data.graph, (size_t)i) > 6)
            node[n++] = i;
    assert_ok(ctx, graphss_i_churn(ctx, &flips, &data, node, 4, 1, each, 1));
    int64_t joined[4] = {0}, cut[4] = {0}, added[4] = {0}, dropped[4] = {0};
    for (size_t i = 0; i < flips.count; i++)
        for (size_t v = 0; v < 4; v++)
            if (flips.item[i].victim == node[v]) {
                const bool edge = flips.item[i].kind == GRAPHSS_FLIP_EDGE;
                int64_t *const came = edge ? joined : added, *const went =
                                                                 edge ? cut : dropped;
                (flips.item[i].new_value != 0 ? came : went)[v]++;
            }
    for (size_t v = 0; v < 4; v++) {
        assert_int_equal(joined[v], each[v].joins);
        assert_int_equal(cut[v], each[v].cuts);
        assert_int_equal(added[v], each[v].adds);
        assert_int_equal(dropped[v], each[v].drops);
    }
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &data);
}

/* Of counts 1 to 3 a different one is taken; where all are 1 other words replace them. */
TEST_CTX(values_become_those_of_other_words)
{
    for (int alike = 0; alike < 2; alike++) {
        graphss_dataset data = {0};
        graphss_flips flips = {0};
        const graphss_i_churning each = {.values = 3};
        const int32_t node[] = {5, 6};
        int64_t came = 0, went = 0, other = 0;
        read_graph(ctx, &data);
        for (int64_t e = 0; e < data.features.offset[NODES]; e++)
            data.features.value[e] = alike ? 1 : (float)(1 + e % 3);
        assert_ok(ctx, graphss_i_churn(ctx, &flips, &data, node, 2, 1, &each, 0));
        for (size_t i = 0; i < flips.count; i++) {
            const graphss_flip *f = &flips.item[i];
            assert_int_equal(f->kind, GRAPHSS_FLIP_FEATURE);
            assert_true(f->new_value >= 0 && f->new_value <= 3);
            came += f->old_value == 0;
            went += f->new_value == 0;
            other += f->old_value != 0 && f->new_value != 0 && f->old_value != f->new_value;
        }
        assert_int_equal(other, alike ? 0 : 6);
        assert_int_equal(came, alike ? 6 : 0);
        assert_int_equal(went, alike ? 6 : 0);
        graphss_flips_destroy(ctx, &flips);
        graphss_dataset_destroy(ctx, &data);
    }
}

TEST_CTX(growth_keeps_old_nodes_and_resembles_them)
{
    graphss_dataset data = {0}, more = {0}, again = {0};
    read_graph(ctx, &data);
    assert_ok(ctx, graphss_benign_grow(ctx, &more, &data, 500, 1));
    assert_ok(ctx, graphss_benign_grow(ctx, &again, &data, 500, 1));
    assert_string_equal(more.hash, again.hash);
    assert_string_not_equal(more.hash, data.hash);
    assert_int_equal(more.graph.n_nodes, NODES + 500);
    assert_int_equal(more.features.n_rows, NODES + 500);
    assert_ok(ctx, graphss_graph_check(ctx, &more.graph));
    for (int32_t i = 0; i < NODES; i++) {
        for (int64_t e = data.graph.offset[i]; e < data.graph.offset[i + 1]; e++)
            assert_true(graphss_graph_has_edge(&more.graph, i, data.graph.target[e]));
        assert_int_equal(more.label[i], data.label[i]);
    }
    double degree = 0;
    for (size_t i = NODES; i < NODES + 500; i++) {
        degree += (double)graphss_graph_degree(&more.graph, i) / 500;
        assert_in_range(more.label[i], 0, 3);
    }
    const double mean = 2.0 * (double)graphss_graph_edges(&data.graph) / NODES;
    assert_true(fabs(degree / mean - 1) < 0.2);
    assert_true(fabs(graphss_graph_homophily(&more.graph, more.label) -
                     graphss_graph_homophily(&data.graph, data.label)) < 0.02);
    graphss_dataset_destroy(ctx, &again);
    graphss_dataset_destroy(ctx, &more);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(wrong_nodes_and_budgets_are_refused)
{
    graphss_dataset data = {0}, empty = {0}, more = {0};
    graphss_flips flips = {0};
    read_graph(ctx, &data);
    const int32_t outside[] = {1, NODES}, twice[] = {4, 4};
    const graphss_benign_options negative = {.struct_size = sizeof negative, .edges = -1};
    assert_fails(ctx, graphss_benign_churn(ctx, &flips, &data, outside, 2, 1, NULL),
        GRAPHSS_ERR_INVALID, "2000");
    assert_fails(ctx, graphss_benign_churn(ctx, &flips, &data, twice, 2, 1, NULL),
        GRAPHSS_ERR_INVALID, "twice");
    assert_fails(ctx, graphss_benign_churn(ctx, &flips, &data, twice, 1, 1, &negative),
        GRAPHSS_ERR_INVALID, "-1");
    assert_fails(
        ctx, graphss_benign_grow(ctx, &more, &data, SIZE_MAX, 1), GRAPHSS_ERR_INVALID, "2000");
    assert_fails(
        ctx, graphss_benign_grow(ctx, &more, &empty, 1, 1), GRAPHSS_ERR_DATA, "no nodes");
    assert_int_equal(flips.count, 0);
    graphss_dataset_destroy(ctx, &data);
}

static graphss_status change_once(graphss_ctx *ctx, void *arg)
{
    const graphss_dataset *data = arg;
    const int32_t node[] = {1, 5, 9};
    graphss_flips flips = {0};
    graphss_dataset more = {0};
    graphss_status st = graphss_benign_churn(ctx, &flips, data, node, 3, 1, NULL);
    if (!st)
        st = graphss_benign_grow(ctx, &more, data, 20, 1);
    graphss_dataset_destroy(ctx, &more);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

TEST_CTX(each_allocation_may_fail)
{
    graphss_dataset data = {0};
    read_graph(ctx, &data);
    testing_each_allocation_fails(change_once, &data);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(unsound_data_is_refused)
{
    graphss_dataset data = {0}, empty = {0}, more = {0};
    graphss_flips flips = {0};
    const int32_t node[] = {0};
    assert_fails(ctx, graphss_benign_churn(ctx, &flips, &empty, NULL, 0, 1, NULL),
        GRAPHSS_ERR_DATA, "no nodes");
    read_graph(ctx, &data);
    data.label[7] = 4;
    assert_fails(ctx, graphss_benign_churn(ctx, &flips, &data, node, 1, 1, NULL),
        GRAPHSS_ERR_DATA, "node 7: label 4, want below 4 classes");
    assert_fails(ctx, graphss_benign_grow(ctx, &more, &data, 1, 1), GRAPHSS_ERR_DATA,
        "node 7: label 4, want below 4 classes");
    data.label[7] = 0;
    float *value = data.features.value;
    data.features.value = NULL;
    assert_fails(ctx, graphss_benign_churn(ctx, &flips, &data, node, 1, 1, NULL),
        GRAPHSS_ERR_INVALID, "no values");
    data.features.value = value;
    assert_int_equal(flips.count, 0);
    graphss_dataset_destroy(ctx, &data);
}

int main(void)
{
    return testing_run();
}
