/* Passes over snapshots that differ in a few nodes: the same bits as whole passes. */
#include "models/model_private.h"
#include "models/test/testing_world.h"
#include <graphss/benign.h>

enum { FEW = 12, MANY = 1000 };

typedef struct two_days {
    graphss_dataset before, after;
    graphss_model *model;
} two_days;

/* A graph, a model that was trained a little, and the graph after some nodes changed. */
static void two_days_make(
    graphss_ctx *ctx, two_days *t, const char *model, bool plain, size_t n_changed)
{
    graphss_split split = {0};
    graphss_flips flips = {0};
    graphss_train_options opt;
    graphss_train_options_init(&opt, model, GRAPHSS_MODE_DEFAULT, NULL);
    *t = (two_days){0};
    opt.epochs = 2;
    opt.hidden = 24;
    if (plain) {
        opt.bias = false;
        opt.self_loops = false;
    }
    assert_ok(ctx, graphss_dataset_read(ctx, &t->before, "synth:nodes=3000", NULL));
    assert_ok(ctx, graphss_split_make(ctx, &split, t->before.label, t->before.graph.n_nodes,
                       t->before.n_classes, 1, NULL));
    assert_ok(ctx, graphss_model_train(ctx, &t->model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &t->before.graph,
                           .features = &t->before.features,
                           .n_classes = t->before.n_classes,
                           .split = &split,
                           .seed = 1},
                       &opt));
    assert_ok(
        ctx, graphss_benign_churn(ctx, &flips, &t->before, split.test, n_changed, 1, NULL));
    assert_ok(ctx, graphss_flips_apply(ctx, &t->after, &t->before, &flips, NULL));
    graphss_flips_destroy(ctx, &flips);
    graphss_split_destroy(ctx, &split);
}

static void two_days_destroy(graphss_ctx *ctx, two_days *t)
{
    graphss_model_free(ctx, t->model);
    graphss_dataset_destroy(ctx, &t->after);
    graphss_dataset_destroy(ctx, &t->before);
}

/* quickly: whether only a part is worked out. */
static void check_again(
    const char *model, bool plain, size_t n_changed, int threads, bool quickly)
{
    graphss_ctx *ctx = testing_ctx(NULL, threads);
    two_days t;
    two_days_make(ctx, &t, model, plain, n_changed);
    const size_t n = t.before.graph.n_nodes, size = n * t.before.n_classes;
    const graphss_graph *graph = &t.after.graph;
    const graphss_features *features = &t.after.features;
    float *prob = malloc(size * sizeof *prob), *wanted = malloc(size * sizeof *wanted);
    float *again = malloc(size * sizeof *again), *kept = malloc(size * sizeof *kept);
    int32_t *there = malloc(n * sizeof *there);
    uint8_t *some = calloc(n, 1);
    graphss_i_forward_cache pass = {0};
    assert_ok(
        ctx, graphss_i_predict(ctx, wanted, t.model, &t.before.graph, &t.before.features));
    assert_ok(ctx, graphss_i_predict_first(
                       ctx, prob, &pass, t.model, &t.before.graph, &t.before.features));
    assert_memory_equal(prob, wanted, size * sizeof *prob);
    const graphss_i_base base = {&t.before.graph, &t.before.features, prob, &pass};
    assert_ok(ctx, graphss_i_predict(ctx, wanted, t.model, graph, features));
    assert_memory_not_equal(prob, wanted, size * sizeof *prob);
    if (pass.second) {
        bool done = !quickly;
        memcpy(kept, pass.second, size * sizeof *kept);
        assert_ok(ctx, graphss_i_predict_changed(
                           ctx, again, &done, t.model, graph, features, &base, NULL));
        assert_int_equal(done, quickly);
        assert_memory_equal(kept, pass.second, size * sizeof *kept);
    }
    assert_ok(
        ctx, graphss_i_predict_again(ctx, again, t.model, graph, features, &base, NULL, NULL));
    assert_memory_equal(again, wanted, size * sizeof *again);
    for (size_t i = 0; i < n; i++) {
        there[i] = i % 2 ? (int32_t)i : -1;
        some[i] = i % 3 == 0;
    }
    assert_ok(ctx,
        graphss_i_predict_again(ctx, again, t.model, graph, features, &base, there, NULL));
    assert_memory_equal(again, wanted, size * sizeof *again);
    assert_ok(
        ctx, graphss_i_predict_again(ctx, again, t.model, graph, features, &base, NULL, some));
    for (size_t i = 0; i < n; i += 3)
        assert_memory_equal(again + i * t.before.n_classes, wanted + i * t.before.n_classes,
            t.before.n_classes * sizeof *again);
    graphss_i_forward_cache_destroy(ctx, &pass);
    free(some), free(there), free(kept), free(again), free(wanted), free(prob);
    two_days_destroy(ctx, &t);
    graphss_ctx_free(ctx);
}

TEST(a_few_changes_give_the_bits_of_a_whole_pass)
{
    for (int threads = 1; threads <= 3; threads += 2) {
        check_again("gcn", false, FEW, threads, true);
        check_again("sage", false, FEW, threads, true);
    }
    check_again("gcn", true, FEW, 1, true);
    check_again("sgc", false, FEW, 1, false);
    check_again("mlp", false, FEW, 1, false);
    check_again("sage-mean", false, FEW, 2, false);
    check_again("gat", false, FEW, 2, false);
}

TEST(many_changes_take_a_whole_pass)
{
    check_again("gcn", false, MANY, 1, false);
}

/* The only difference is a node that lost its last edge. */
TEST_CTX(a_edge_alone_changes_what_is_around_it)
{
    two_days t;
    two_days_make(ctx, &t, "gcn", false, 1);
    graphss_flips cut = {0};
    graphss_dataset after = {0};
    int32_t u = 0;
    while (graphss_graph_degree(&t.before.graph, (size_t)u) != 1)
        u++;
    const int32_t v = t.before.graph.target[t.before.graph.offset[u]];
    const graphss_flip flip = {.kind = GRAPHSS_FLIP_EDGE,
        .victim = u,
        .node = u,
        .target = v,
        .old_value = 1,
        .new_value = 0};
    assert_ok(ctx, graphss_flips_add(ctx, &cut, flip));
    assert_ok(ctx, graphss_flips_apply(ctx, &after, &t.before, &cut, NULL));
    const size_t size = t.before.graph.n_nodes * t.before.n_classes;
    float *prob = malloc(3 * size * sizeof *prob);
    graphss_i_forward_cache pass = {0};
    const graphss_i_base base = {&t.before.graph, &t.before.features, prob, &pass};
    assert_ok(ctx, graphss_i_predict_first(
                       ctx, prob, &pass, t.model, &t.before.graph, &t.before.features));
    assert_ok(
        ctx, graphss_i_predict(ctx, prob + size, t.model, &after.graph, &after.features));
    assert_ok(ctx, graphss_i_predict_again(ctx, prob + 2 * size, t.model, &after.graph,
                       &after.features, &base, NULL, NULL));
    assert_memory_equal(prob + size, prob + 2 * size, size * sizeof *prob);
    free(prob);
    graphss_i_forward_cache_destroy(ctx, &pass);
    graphss_dataset_destroy(ctx, &after);
    graphss_flips_destroy(ctx, &cut);
    two_days_destroy(ctx, &t);
}

static graphss_status pass_twice(graphss_ctx *ctx, void *arg)
{
    const two_days *t = arg;
    const size_t size = t->before.graph.n_nodes * t->before.n_classes;
    float *prob = malloc(2 * size * sizeof *prob);
    graphss_i_forward_cache pass = {0};
    const graphss_i_base base = {&t->before.graph, &t->before.features, prob, &pass};
    graphss_status st = graphss_i_predict_first(
        ctx, prob, &pass, t->model, &t->before.graph, &t->before.features);
    if (!st)
        st = graphss_i_predict_again(ctx, prob + size, t->model, &t->after.graph,
            &t->after.features, &base, NULL, NULL);
    graphss_i_forward_cache_destroy(ctx, &pass);
    free(prob);
    return st;
}

TEST(each_allocation_of_two_passes_may_fail)
{
    static const char *const models[] = {"gcn", "sgc"};
    for (size_t i = 0; i < 2; i++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1);
        two_days t;
        two_days_make(ctx, &t, models[i], false, FEW);
        testing_each_allocation_fails(pass_twice, &t);
        two_days_destroy(ctx, &t);
        graphss_ctx_free(ctx);
    }
}

int main(void)
{
    return testing_run();
}
