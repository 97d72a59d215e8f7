/* The choice of victims, and the attacker's surrogate. */
#include "attack/test/testing_attack.h"
#include "data/formats/npz.h"
#include "testing.h"
#include <graphss/attack.h>

TEST_CTX(victims_are_drawn_by_the_seed_and_the_rule_is_reported)
{
    tiny_world t;
    tiny_make(ctx, &t, 4, GRAPHSS_FEATURES_BINARY);
    const int32_t candidate[] = {1, 3, 4, 6, 8, 9, 10, 11, 12, 13};
    graphss_victim_options opt;
    graphss_victim_options_init(&opt);
    opt.share = 0.45;
    graphss_victim_input in = {.struct_size = sizeof in,
        .graph = &t.data.graph,
        .candidate = candidate,
        .n_candidates = 10,
        .seed = 3};
    graphss_victims a = {0}, b = {0};
    assert_ok(ctx, graphss_victims_choose(ctx, &a, &in, &opt));
    assert_ok(ctx, graphss_victims_choose(ctx, &b, &in, &opt));
    assert_int_equal(a.count, 4);
    assert_int_equal(b.count, 4);
    assert_memory_equal(a.node, b.node, 4 * sizeof *a.node);
    for (size_t i = 1; i < 4; i++)
        assert_true(a.node[i] > a.node[i - 1]);
    assert_string_equal(a.rule, "4 nodes: a share of 0.45 of 10 candidates, drawn with seed 3 "
                                "from the 10 that fit the rule (any)");
    graphss_victims_destroy(ctx, &a);
    graphss_victims_destroy(ctx, &b);
    int32_t many[100];
    for (int32_t i = 0; i < 100; i++)
        many[i] = i % TINY_N;
    opt.share = 0.29; /* times 100 is less than 29 in binary */
    in.candidate = many;
    in.n_candidates = 100;
    assert_ok(ctx, graphss_victims_choose(ctx, &a, &in, &opt));
    assert_int_equal(a.count, 29);
    graphss_victims_destroy(ctx, &a);
    graphss_dataset_destroy(ctx, &t.data);
}

TEST_CTX(rules_by_degree_margin_and_correctness_are_kept)
{
    tiny_world t;
    tiny_make(ctx, &t, 4, GRAPHSS_FEATURES_BINARY);
    float prob[TINY_N * TINY_K];
    int32_t candidate[TINY_N];
    graphss_rng rng = graphss_rng_make(1, 1);
    for (int32_t i = 0; i < TINY_N; i++) {
        const float p = (float)graphss_rng_double(&rng);
        candidate[i] = i;
        prob[i * TINY_K] = p;
        prob[i * TINY_K + 1] = 1 - p;
        prob[i * TINY_K + 2] = 0;
        t.data.label[i] = i % 2;
    }
    graphss_victim_options opt;
    graphss_victim_options_init(&opt);
    opt.share = 1;
    opt.correct_only = true;
    opt.min_degree = 2;
    opt.max_degree = 4;
    opt.max_margin = 0.75;
    graphss_victim_input in = {.struct_size = sizeof in,
        .graph = &t.data.graph,
        .candidate = candidate,
        .n_candidates = TINY_N,
        .prob = prob,
        .label = t.data.label,
        .n_classes = TINY_K,
        .seed = 1};
    graphss_victims v = {0};
    size_t want = 0, at = 0;
    assert_ok(ctx, graphss_victims_choose(ctx, &v, &in, &opt));
    for (int32_t i = 0; i < TINY_N; i++) {
        const size_t degree = graphss_graph_degree(&t.data.graph, (size_t)i);
        const double margin =
            (double)prob[i * TINY_K + i % 2] - (double)prob[i * TINY_K + 1 - i % 2];
        const bool fits = margin > 0 && margin <= 0.75 && degree >= 2 && degree <= 4;
        want += fits;
        at += at < v.count && v.node[at] == i;
    }
    assert_true(want > 0 && want < TINY_N);
    assert_int_equal(v.count, want);
    assert_int_equal(at, want);
    assert_non_null(
        strstr(v.rule, "(correctly classified, degree 2 to 4, margin -1 to 0.75)"));
    graphss_victims_destroy(ctx, &v);
    opt.min_degree = 100;
    opt.max_degree = 0;
    assert_fails(ctx, graphss_victims_choose(ctx, &v, &in, &opt), GRAPHSS_ERR_DATA,
        "none of 14 candidates");
    in.prob = NULL;
    assert_fails(ctx, graphss_victims_choose(ctx, &v, &in, &opt), GRAPHSS_ERR_INVALID,
        "want its probabilities");
    in.prob = prob;
    opt.share = 0;
    assert_fails(
        ctx, graphss_victims_choose(ctx, &v, &in, &opt), GRAPHSS_ERR_INVALID, "--victims");
    candidate[3] = 99;
    assert_fails(ctx, graphss_victims_choose(ctx, &v, &in, NULL), GRAPHSS_ERR_INVALID,
        "candidate 3 is node 99");
    graphss_dataset_destroy(ctx, &t.data);
}

TEST_CTX(a_surrogate_is_the_product_of_the_layers)
{
    tiny_world t;
    tiny_make(ctx, &t, 4, GRAPHSS_FEATURES_BINARY);
    graphss_split split = {0};
    assert_ok(ctx, graphss_split_make(ctx, &split, t.data.label, TINY_N, TINY_K, 1, NULL));
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    opt.layers = 3;
    opt.hidden = 3;
    opt.epochs = 2;
    graphss_model *model = NULL;
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &t.data.graph,
                           .features = &t.data.features,
                           .n_classes = TINY_K,
                           .split = &split,
                           .seed = 1},
                       &opt));
    const float *layer[3] = {0};
    size_t found = 0;
    graphss_tensor one;
    for (size_t i = 0; graphss_model_weight(&one, model, i); i++)
        if (!strstr(one.name, "bias"))
            layer[found++] = one.value;
    assert_int_equal(found, 3);
    for (int mode = GRAPHSS_MODE_DEFAULT; mode <= GRAPHSS_MODE_PAPER; mode++) {
        float *w = NULL;
        assert_ok(ctx, graphss_surrogate_from_model(ctx, &w, model, (graphss_mode)mode));
        for (size_t i = 0; i < TINY_D; i++)
            for (size_t c = 0; c < TINY_K; c++) {
                double want = 0;
                for (size_t a = 0; a < 3; a++)
                    for (size_t b = 0; b < 3; b++) {
                        const double middle =
                            mode == GRAPHSS_MODE_PAPER ? a == b : (double)layer[1][a * 3 + b];
                        want += (double)layer[0][i * 3 + a] * middle *
                                (double)layer[2][b * TINY_K + c];
                    }
                assert_true(fabs((double)w[i * TINY_K + c] - want) < 1e-5);
            }
        graphss_release(ctx, w);
    }
    graphss_model_free(ctx, model);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &t.data);
}

/* With blocks for self and neighbours, and for attention heads: the mean of the matrices. */
TEST_CTX(blocks_of_a_layer_are_averaged_in_a_surrogate)
{
    tiny_world t;
    tiny_make(ctx, &t, 4, GRAPHSS_FEATURES_BINARY);
    graphss_split split = {0};
    assert_ok(ctx, graphss_split_make(ctx, &split, t.data.label, TINY_N, TINY_K, 1, NULL));
    static const char *const names[] = {"sage-mean", "gat"};
    for (size_t m = 0; m < 2; m++) {
        graphss_train_options opt;
        graphss_train_options_init(&opt, names[m], GRAPHSS_MODE_DEFAULT, NULL);
        opt.layers = 1;
        opt.output_heads = 2;
        opt.epochs = 2;
        graphss_model *model = NULL;
        float *w = NULL;
        graphss_tensor one;
        assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                           &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                               .graph = &t.data.graph,
                               .features = &t.data.features,
                               .n_classes = TINY_K,
                               .split = &split,
                               .seed = 1},
                           &opt));
        assert_true(graphss_model_weight(&one, model, 0));
        const float *layer = one.value;
        const size_t cols = one.shape[1];
        assert_true(one.shape[0] == TINY_D && cols == 2 * TINY_K);
        assert_ok(ctx, graphss_surrogate_from_model(ctx, &w, model, GRAPHSS_MODE_DEFAULT));
        for (size_t i = 0; i < TINY_D; i++)
            for (size_t c = 0; c < TINY_K; c++)
                assert_true(fabs(2 * (double)w[i * TINY_K + c] - layer[i * cols + c] -
                                 layer[i * cols + TINY_K + c]) < 1e-5);
        graphss_release(ctx, w);
        graphss_model_free(ctx, model);
    }
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &t.data);
}

/* Two groups that differ in words and hardly link: a linear surrogate tells them apart. */
TEST_CTX(a_trained_surrogate_classifies)
{
    graphss_dataset data = {0};
    assert_ok(ctx, graphss_dataset_read(ctx, &data,
                       "synth:nodes=200,classes=2,features=60,topic=0.5,seed=1", NULL));
    graphss_split split = {0};
    assert_ok(ctx, graphss_split_make(ctx, &split, data.label, 200, 2, 1, NULL));
    float *w = NULL;
    assert_ok(ctx, graphss_surrogate_train(ctx, &w,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &data.graph,
                           .features = &data.features,
                           .n_classes = 2,
                           .split = &split,
                           .seed = 1}));
    const graphss_attack_input in = {.struct_size = sizeof in,
        .graph = &data.graph,
        .features = &data.features,
        .label = data.label,
        .n_classes = 2,
        .surrogate = w,
        .victim = split.test,
        .n_victims = split.n_test};
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.edges = opt.features = 0;
    graphss_flips flips = {0};
    graphss_attack_log log = {0};
    assert_ok(ctx, graphss_attack_run(ctx, &flips, &log, &in, &opt));
    size_t right = 0;
    for (size_t i = 0; i < log.n_victims; i++)
        right += log.victim[i].loss_before > 0;
    assert_true(right * 10 > log.n_victims * 8);
    graphss_attack_log_destroy(ctx, &log);
    graphss_flips_destroy(ctx, &flips);
    graphss_release(ctx, w);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &data);
}

TEST_CTX(a_surrogate_is_read_from_a_file_of_the_right_shape)
{
    char path[256];
    testing_temporary(path, sizeof path, "surrogate.npz");
    const float w[] = {1, 2, 3, 4, 5, 6};
    const graphss_i_array_out array = {
        .name = "W", .dtype = "<f4", .n_dims = 2, .shape = {3, 2}, .data = w};
    assert_ok(ctx, graphss_i_npz_write(ctx, path, &array, 1));
    float *got = NULL;
    assert_ok(ctx, graphss_surrogate_read(ctx, &got, path, 3, 2));
    assert_memory_equal(got, w, sizeof w);
    graphss_release(ctx, got);
    got = NULL;
    assert_fails(ctx, graphss_surrogate_read(ctx, &got, path, 2, 3), GRAPHSS_ERR_SHAPE,
        "array W is 3 x 2, want 2 features x 3 classes");
    assert_null(got);
    unlink(path);
    assert_fails(
        ctx, graphss_surrogate_read(ctx, &got, path, 3, 2), GRAPHSS_ERR_NOT_FOUND, "");
}

typedef struct starving {
    graphss_dataset data;
    graphss_split split;
} starving;

static graphss_status choose_and_train(graphss_ctx *ctx, void *arg)
{
    starving *s = arg;
    graphss_victims v = {0};
    float *w = NULL;
    const graphss_victim_input in = {.struct_size = sizeof in,
        .graph = &s->data.graph,
        .candidate = s->split.test,
        .n_candidates = s->split.n_test,
        .seed = 1};
    graphss_status st = graphss_victims_choose(ctx, &v, &in, NULL);
    if (!st)
        st = graphss_surrogate_train(ctx, &w,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &s->data.graph,
                .features = &s->data.features,
                .n_classes = s->data.n_classes,
                .split = &s->split,
                .seed = 1});
    graphss_release(ctx, w);
    graphss_victims_destroy(ctx, &v);
    return st;
}

TEST_CTX(every_allocation_may_fail)
{
    starving s = {0};
    assert_ok(
        ctx, graphss_dataset_read(ctx, &s.data, "synth:nodes=40,classes=2,seed=1", NULL));
    assert_ok(ctx, graphss_split_make(ctx, &s.split, s.data.label, 40, 2, 1, NULL));
    testing_each_allocation_fails(choose_and_train, &s);
    graphss_split_destroy(ctx, &s.split);
    graphss_dataset_destroy(ctx, &s.data);
}

/* The labels that an attacker believes. */
enum { N = 200, K = 4 };

typedef struct world {
    int32_t truth[N], predicted[N], train[2], val[1], given[2], val_given[1];
    graphss_dataset data;
    graphss_split split;
} world;

/* Node i is of class i % 4, but the model predicts the next class; the truth of node 7 is
 * unknown. */
static world make_world(void)
{
    world w = {.train = {0, 1}, .val = {2}, .given = {3, 3}, .val_given = {1}};
    for (int i = 0; i < N; i++) {
        w.truth[i] = i % K;
        w.predicted[i] = (i + 1) % K;
    }
    w.truth[7] = -1;
    return w;
}

static void edge_world(world *w)
{
    w->data.graph.n_nodes = N;
    w->data.n_classes = K;
    w->data.label = w->truth;
    w->split = (graphss_split){.n_train = 2,
        .n_val = 1,
        .train = w->train,
        .val = w->val,
        .train_label = w->given,
        .val_label = w->val_given};
}

TEST_CTX(truth_is_the_truth_and_else_the_prediction)
{
    int32_t label[N];
    world w = make_world();
    edge_world(&w);
    assert_ok(ctx, graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                       GRAPHSS_KNOWLEDGE_TRUTH));
    for (int i = 0; i < N; i++)
        assert_int_equal(label[i], i == 7 ? w.predicted[i] : w.truth[i]);
    w.data.label = NULL;
    assert_ok(ctx, graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                       GRAPHSS_KNOWLEDGE_TRUTH));
    assert_memory_equal(label, w.predicted, sizeof label);
}

TEST_CTX(predictions_do_not_depend_on_the_truth)
{
    int32_t label[N];
    world w = make_world();
    edge_world(&w);
    w.data.label = NULL;
    assert_ok(ctx, graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                       GRAPHSS_KNOWLEDGE_PREDICTIONS));
    assert_int_equal(label[0], 3); /* as published */
    assert_int_equal(label[1], 3);
    assert_int_equal(label[2], 1);
    for (int i = 3; i < N; i++)
        assert_int_equal(label[i], w.predicted[i]);
}

TEST_CTX(nothing_draws_all_classes_alike)
{
    int32_t label[N], again[N], other[N];
    int count[K] = {0}, right = 0, differ = 0;
    world w = make_world();
    edge_world(&w);
    assert_ok(ctx, graphss_attack_believe(ctx, label, &w.data, &w.split, w.predicted, K, 1,
                       GRAPHSS_KNOWLEDGE_NOTHING));
    assert_ok(ctx, graphss_attack_believe(ctx, again, &w.data, &w.split, w.predicted, K, 1,
                       GRAPHSS_KNOWLEDGE_NOTHING));
    assert_ok(ctx, graphss_attack_believe(ctx, other, &w.data, &w.split, w.predicted, K, 2,
                       GRAPHSS_KNOWLEDGE_NOTHING));
    assert_memory_equal(label, again, sizeof label);
    assert_int_equal(label[0], 3);
    assert_int_equal(label[2], 1);
    for (int i = 3; i < N; i++) {
        assert_in_range(label[i], 0, K - 1);
        count[label[i]]++;
        right += label[i] == w.truth[i];
        differ += label[i] != other[i];
    }
    for (int k = 0; k < K; k++) /* 49 on average, 6 the deviation */
        assert_in_range(count[k], 25, 75);
    assert_in_range(right, 25, 75);
    assert_true(differ > 100);
}

TEST_CTX(unsound_input_is_refused_and_labels_left_alone)
{
    int32_t label[N] = {9};
    world w = make_world();
    edge_world(&w);
    assert_fails(ctx,
        graphss_attack_believe(
            ctx, label, &w.data, &w.split, NULL, K, 1, GRAPHSS_KNOWLEDGE_NOTHING),
        GRAPHSS_ERR_INVALID, "predictions");
    assert_fails(ctx,
        graphss_attack_believe(
            ctx, label, &w.data, &w.split, w.predicted, K, 1, (graphss_knowledge)3),
        GRAPHSS_ERR_INVALID, "knowledge 3");
    w.train[1] = N;
    assert_fails(ctx,
        graphss_attack_believe(
            ctx, label, &w.data, &w.split, w.predicted, K, 1, GRAPHSS_KNOWLEDGE_NOTHING),
        GRAPHSS_ERR_SHAPE, "training node 1 is 200");
    assert_int_equal(label[0], 9);
    assert_string_equal(graphss_knowledge_text(GRAPHSS_KNOWLEDGE_PREDICTIONS), "predictions");
    assert_string_equal(graphss_knowledge_text((graphss_knowledge)-1), "?");
}

static graphss_status believe(graphss_ctx *ctx, void *user)
{
    world *w = user;
    int32_t label[N];
    return graphss_attack_believe(
        ctx, label, &w->data, &w->split, w->predicted, K, 1, GRAPHSS_KNOWLEDGE_NOTHING);
}

TEST(each_allocation_may_fail)
{
    world w = make_world();
    edge_world(&w);
    testing_each_allocation_fails(believe, &w);
}

int main(void)
{
    return testing_run();
}
