/* Nodes matched by name, and splits that follow them. */
#include "data/build.h"
#include "models/model_private.h"
#include "models/test/testing_world.h"
#include "observation/observation.h"
#include "testing.h"
#include <math.h>

typedef struct named {
    graphss_graph graph;
    graphss_features features;
    graphss_names names;
    int64_t offset[8];
    size_t start[8];
    char text[64];
} named;

/* A graph without edges whose nodes have the given one-letter names. */
static graphss_observation make(named *x, const char *letters)
{
    memset(x, 0, sizeof *x);
    const size_t n = strlen(letters);
    x->graph = (graphss_graph){.n_nodes = n, .offset = x->offset};
    for (size_t i = 0; i < n; i++) {
        x->start[i] = 2 * i;
        x->text[2 * i] = letters[i];
    }
    x->start[n] = 2 * n;
    x->names = (graphss_names){n, x->start, x->text};
    return (graphss_observation){&x->graph, &x->features, &x->names};
}

TEST_CTX(nodes_are_found_by_name_wherever_they_went)
{
    named a, b;
    const graphss_observation to = make(&a, "xcab"), from = make(&b, "abcd");
    int32_t *match = NULL;
    assert_ok(ctx, graphss_observation_match(ctx, &match, &to, &from));
    const int32_t want[] = {-1, 2, 0, 1};
    assert_memory_equal(match, want, sizeof want);
    graphss_release(ctx, match);
}

/* Names on one side only are numbers if all of one side are found in the other; else position
 * counts if the sizes are equal; else the match is undefined. */
TEST_CTX(names_of_one_side_are_numbers_or_position_counts)
{
    const struct {
        const char *names;
        size_t others;
        int32_t want[4];
    } list[] = {{"210", 4, {2, 1, 0}}, {"3102", 2, {-1, 1, 0, -1}}, {"1234", 4, {0, 1, 2, 3}}};
    for (size_t i = 0; i < 3; i++) {
        named a, b;
        const graphss_observation now = make(&a, list[i].names);
        graphss_observation past = make(&b, "abcd");
        int32_t *before = NULL, *after = NULL;
        past.names = NULL;
        b.graph.n_nodes = list[i].others;
        assert_ok(ctx, graphss_i_match_past(ctx, &before, &after, &now, &past));
        for (size_t j = 0; j < a.graph.n_nodes; j++) {
            assert_int_equal(before[j], list[i].want[j]);
            assert_true(before[j] < 0 || after[before[j]] == (int32_t)j);
        }
        graphss_release(ctx, before);
        graphss_release(ctx, after);
    }
    named a, b;
    const graphss_observation now = make(&a, "123");
    graphss_observation past = make(&b, "ab");
    int32_t *before = NULL;
    past.names = NULL;
    assert_fails(ctx, graphss_i_match_past(ctx, &before, NULL, &now, &past), GRAPHSS_ERR_DATA,
        "so nodes cannot be matched");
    assert_null(before);
}

/* Trained with a and d, validated on c; in another numbering, where d is gone. A model that
 * stores no nodes has its split unchanged. */
TEST_CTX(the_split_of_a_model_follows_its_nodes)
{
    named a, b;
    const graphss_observation known = make(&a, "abcd"), now = make(&b, "cxa");
    int32_t train[] = {3, 0}, label[] = {1, 2}, val[] = {2}, val_label[] = {5};
    graphss_model model = {.n_nodes = 4,
        .node_names = *known.names,
        .split = {.train = train,
            .train_label = label,
            .n_train = 2,
            .val = val,
            .val_label = val_label,
            .n_val = 1}};
    graphss_split split = {0};
    assert_ok(ctx, graphss_split_match(ctx, &split, &model, &now));
    assert_int_equal(split.n_train, 1);
    assert_int_equal(split.train[0], 2);
    assert_int_equal(split.train_label[0], 2);
    assert_int_equal(split.val[0], 0);
    assert_int_equal(split.val_label[0], 5);
    graphss_split_destroy(ctx, &split);
    const graphss_observation strangers = make(&b, "xyz");
    assert_fails(ctx, graphss_split_match(ctx, &split, &model, &strangers), GRAPHSS_ERR_DATA,
        "none of the 2 nodes the model was trained with is in the snapshot: its "
        "first node is called 'x', the model's 'a'");
    model.n_nodes = 0; /* not described: its numbers count, where there are as many nodes */
    assert_ok(ctx, graphss_split_match(ctx, &split, &model, &known));
    assert_int_equal(split.train[0], 3);
    graphss_split_destroy(ctx, &split);
    assert_fails(ctx, graphss_split_match(ctx, &split, &model, &strangers), GRAPHSS_ERR_SHAPE,
        "the split's training node 0 is 3, want 0..2");
    assert_null(split.train);
    graphss_split_destroy(ctx, &split);
}

TEST_CTX(a_past_without_any_of_the_nodes_is_refused)
{
    named a, b;
    const graphss_observation to = make(&a, "xy"), from = make(&b, "abc");
    int32_t *match = NULL;
    assert_fails(ctx, graphss_i_match_past(ctx, &match, NULL, &to, &from), GRAPHSS_ERR_DATA,
        "no node is in both snapshots: the first is called 'x' now, 'a' in");
    assert_null(match);
}

/* Nodes in another order: b has another word, c another neighbour, a one less; d is as it
 * was, e is new. */
TEST_CTX(changed_nodes_are_found_by_features_and_edges)
{
    named a, b;
    graphss_observation past = make(&a, "abcd"), now = make(&b, "dcbae");
    const int32_t from[] = {0, 1, 2}, to[] = {1, 2, 0};         /* a-b, b-c, c-a */
    const int32_t now_from[] = {3, 2, 1}, now_to[] = {2, 1, 4}; /* a-b, b-c, c-e */
    assert_ok(ctx, graphss_graph_build(ctx, &a.graph, NULL, 4, from, to, 3));
    assert_ok(ctx, graphss_graph_build(ctx, &b.graph, NULL, 5, now_from, now_to, 3));
    float words[] = {1, 2, 3, 4}, words_now[] = {4, 3, 2.5F, 1, 9};
    a.features = (graphss_features){.n_rows = 4, .n_cols = 1, .value = words};
    b.features = (graphss_features){.n_rows = 5, .n_cols = 1, .value = words_now};
    int32_t *before = NULL;
    assert_ok(ctx, graphss_i_match_past(ctx, &before, NULL, &now, &past));
    const bool same[] = {true, false, false, false, false}; /* d c b a e: a lost c */
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(graphss_i_unchanged(&now, &past, before, i), same[i]);
    words_now[0] = 5;
    assert_false(graphss_i_unchanged(&now, &past, before, 0));
    graphss_release(ctx, before);
    graphss_graph_destroy(ctx, &a.graph);
    graphss_graph_destroy(ctx, &b.graph);
}

static void count_warnings(void *user, graphss_log_level level, const char *line)
{
    if (level == GRAPHSS_LOG_WARN && strstr(line, "they go by number"))
        ++*(size_t *)user;
}

/* A ring of six nodes with a word each, and changes of it. */
TEST(mismatched_nodes_are_warned_of_when_matched_by_number)
{
    size_t warnings = 0;
    graphss_ctx *ctx = graphss_ctx_new(&(graphss_ctx_options){
        .struct_size = sizeof(graphss_ctx_options), .log = count_warnings, .user = &warnings});
    assert_non_null(ctx);
    const struct {
        int32_t ring[6];
        float words[6];
        const char *names; /* NULL: none */
        bool warned;
    } list[] = {{{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, NULL, false},
        {{0, 2, 4, 1, 3, 5}, {0, 1, 2, 3, 4, 5}, NULL, false}, /* edges alone */
        {{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, NULL, false}, /* words alone */
        {{0, 2, 4, 1, 3, 5}, {5, 4, 3, 2, 1, 0}, NULL, true},
        {{0, 2, 4, 1, 3, 5}, {5, 4, 3, 2, 1, 0}, "abcdef", false},
        {{0, 2, 4, 1, 3, 5}, {5, 4, 3, 2, 1, 0}, "012345", true},
        {{0, 2, 4, 1, 3, 5}, {5, 1, 3, 2, 1, 0}, NULL, true},   /* five of six */
        {{0, 2, 4, 1, 3, 5}, {5, 1, 2, 2, 1, 0}, NULL, false}}; /* four */
    const int32_t ring[] = {0, 1, 2, 3, 4, 5}, next[] = {1, 2, 3, 4, 5, 0};
    float words[] = {0, 1, 2, 3, 4, 5};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        named a, b;
        const char *names = list[i].names ? list[i].names : "abcdef";
        graphss_observation past = make(&a, names), now = make(&b, names);
        float words_now[6];
        int32_t next_now[6];
        memcpy(words_now, list[i].words, sizeof words_now);
        for (size_t j = 0; j < 6; j++)
            next_now[j] = list[i].ring[(j + 1) % 6];
        assert_ok(ctx, graphss_graph_build(ctx, &a.graph, NULL, 6, ring, next, 6));
        assert_ok(ctx, graphss_graph_build(ctx, &b.graph, NULL, 6, list[i].ring, next_now, 6));
        a.features = (graphss_features){.n_rows = 6, .n_cols = 1, .value = words};
        b.features = (graphss_features){.n_rows = 6, .n_cols = 1, .value = words_now};
        if (!list[i].names)
            past.names = now.names = NULL;
        warnings = 0;
        graphss_i_warn_of_strangers(ctx, &now, &past);
        assert_int_equal(warnings, list[i].warned);
        graphss_graph_destroy(ctx, &a.graph);
        graphss_graph_destroy(ctx, &b.graph);
    }
    graphss_ctx_free(ctx);
}

TEST_CTX(without_names_a_node_is_its_number)
{
    named a, b;
    graphss_observation to = make(&a, "1x0"), from = make(&b, "ab");
    from.names = NULL;
    int32_t *match = NULL;
    assert_ok(ctx, graphss_observation_match(ctx, &match, &to, &from));
    const int32_t named_to_numbers[] = {1, -1, 0};
    assert_memory_equal(match, named_to_numbers, sizeof named_to_numbers);
    graphss_release(ctx, match);
    to.names = NULL;
    assert_ok(ctx, graphss_observation_match(ctx, &match, &to, &from));
    const int32_t numbers[] = {0, 1, -1};
    assert_memory_equal(match, numbers, sizeof numbers);
    graphss_release(ctx, match);
}

TEST_CTX(a_wrong_number_of_names_is_an_error)
{
    named a, b;
    const graphss_observation to = make(&a, "ab"), from = make(&b, "ab");
    int32_t *match = NULL;
    b.names.count = 1;
    assert_fails(ctx, graphss_observation_match(ctx, &match, &to, &from), GRAPHSS_ERR_SHAPE,
        "1 node names");
    assert_null(match);
}

TEST_CTX(a_split_follows_its_nodes)
{
    int32_t train[] = {0, 2, 3}, label[] = {5, 6, 7}, val[] = {1}, val_label[] = {8};
    int32_t test[] = {4};
    const graphss_split split = {3, 1, 1, train, val, test, label, val_label, 2};
    const int32_t match[] = {-1, 2, 1, 0}; /* to has nodes new, c, b, a */
    graphss_split got = {0};
    assert_ok(ctx, graphss_split_translate(ctx, &got, &split, match, 4));
    assert_int_equal(got.n_train, 2);
    assert_int_equal(got.train[0], 3);
    assert_int_equal(got.train_label[0], 5);
    assert_int_equal(got.train[1], 1);
    assert_int_equal(got.train_label[1], 6);
    assert_int_equal(got.n_val, 1);
    assert_int_equal(got.val[0], 2);
    assert_int_equal(got.val_label[0], 8);
    assert_int_equal(got.n_test, 0);
    graphss_split_destroy(ctx, &got);
}

static graphss_status match_and_translate(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    named a, b;
    const graphss_observation to = make(&a, "xcab"), from = make(&b, "abcd");
    int32_t train[] = {0, 2}, label[] = {0, 1};
    const graphss_split split = {.n_train = 2, .train = train, .train_label = label};
    int32_t *match = NULL;
    graphss_split got = {0};
    graphss_status st = graphss_observation_match(ctx, &match, &to, &from);
    if (!st)
        st = graphss_split_translate(ctx, &got, &split, match, 4);
    graphss_split_destroy(ctx, &got);
    graphss_release(ctx, match);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    testing_each_allocation_fails(match_and_translate, NULL);
}

/* Snapshots as a classifier of measurements sees them. */
static graphss_model *trained(graphss_ctx *ctx, const world *w)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &w->features);
    graphss_model *model = NULL;
    opt.epochs = 10;
    assert_ok(ctx, graphss_model_train(ctx, &model, NULL,
                       &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                           .graph = &w->graph,
                           .features = &w->features,
                           .n_classes = 2,
                           .split = &w->split,
                           .seed = 1},
                       &opt));
    return model;
}

TEST_CTX(the_classifier_says_the_same_of_what_is_seen)
{
    world w;
    world_make(ctx, &w, 1);
    world_measure(ctx, &w, 1);
    for (size_t i = 0; i < WORLD_NODES; i++)
        w.features.value[i * WORLD_WORDS] *= 1e4F;
    for (size_t i = 0; i < WORLD_NODES; i += 4) /* a column with zeros */
        w.features.value[i * WORLD_WORDS + 1] = 0;
    graphss_model *model = trained(ctx, &w);
    const graphss_observation past = {.graph = &w.graph, .features = &w.features};
    const graphss_defence_input in = {.struct_size = sizeof in,
        .current = past,
        .previous = &past,
        .model = model,
        .seed = 1};
    graphss_i_standardised scaled = {0};
    assert_ok(ctx, graphss_i_standardise_open(ctx, &scaled, &in));
    const float *x = scaled.in.current.features->value;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < WORLD_NODES; i++) {
        sum += x[i * WORLD_WORDS];
        squares += x[i * WORLD_WORDS] * x[i * WORLD_WORDS];
    }
    assert_true(fabs(sum) < 1e-3 && fabs(squares / WORLD_NODES - 1) < 1e-3);
    assert_true(x[1] == 0 && x[WORLD_WORDS + 1] > 0);
    assert_memory_equal(
        x, scaled.in.previous->features->value, WORLD_NODES * WORLD_WORDS * sizeof *x);
    float before[WORLD_NODES * 2], after[WORLD_NODES * 2];
    assert_ok(ctx, graphss_model_predict(ctx, before, model, &w.graph, &w.features));
    assert_ok(ctx, graphss_model_predict(
                       ctx, after, scaled.in.model, &w.graph, scaled.in.current.features));
    for (size_t i = 0; i < WORLD_NODES * 2; i++)
        assert_true(fabs(before[i] - after[i]) < 1e-4);
    graphss_i_standardise_close(ctx, &scaled);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

TEST_CTX(words_are_seen_as_they_are)
{
    world w;
    world_make(ctx, &w, 1);
    graphss_model *model = trained(ctx, &w);
    const graphss_defence_input in = {.struct_size = sizeof in,
        .current = {.graph = &w.graph, .features = &w.features},
        .model = model};
    graphss_i_standardised scaled = {0};
    assert_ok(ctx, graphss_i_standardise_open(ctx, &scaled, &in));
    assert_ptr_equal(scaled.in.current.features, &w.features);
    assert_ptr_equal(scaled.in.model, model);
    graphss_i_standardise_close(ctx, &scaled);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

static graphss_status look(graphss_ctx *ctx, void *arg)
{
    graphss_i_standardised scaled = {0};
    const graphss_status st = graphss_i_standardise_open(ctx, &scaled, arg);
    graphss_i_standardise_close(ctx, &scaled);
    return st;
}

TEST_CTX(each_allocation_may_fail)
{
    world w;
    world_make(ctx, &w, 1);
    world_measure(ctx, &w, 1);
    graphss_model *model = trained(ctx, &w);
    const graphss_observation past = {.graph = &w.graph, .features = &w.features};
    graphss_defence_input in = {
        .struct_size = sizeof in, .current = past, .previous = &past, .model = model};
    testing_each_allocation_fails(look, &in);
    graphss_model_free(ctx, model);
    world_destroy(ctx, &w);
}

int main(void)
{
    return testing_run();
}
