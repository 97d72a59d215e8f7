/* test_state_model.c - the rehearsal, the fit of gate and readers, and the model file. */
#include "detect/reference.h"
#include "detect/state_model.h"
#include "detect/tuning.h"
#include "models/model_private.h"
#include "observation/test/testing_attacked_world.h"
#include <math.h>

static graphss_i_state_model learn(graphss_ctx *ctx, const attacked_world *a)
{
    graphss_i_state_model m = {0};
    bool learned = false;
    assert_ok(ctx, graphss_i_state_model_learn(
                       ctx, &m, &learned, a->model, &a->w.graph, &a->w.features, &a->w.split));
    assert_true(learned);
    return m;
}

/* A rehearsal of the small world, ready for rounds. */
typedef struct rehearsed {
    float prob[2 * WORLD_NODES];
    graphss_i_class_model classes;
    graphss_i_rehearsal_input in;
} rehearsed;

static void rehearsed_make(graphss_ctx *ctx, rehearsed *r, const attacked_world *a)
{
    assert_ok(ctx, graphss_model_predict(ctx, r->prob, a->model, &a->w.graph, &a->w.features));
    assert_ok(ctx, graphss_i_class_model_learn(
                       ctx, &r->classes, &a->w.graph, &a->w.features, r->prob, NULL, 2));
    r->in = (graphss_i_rehearsal_input){.graph = &a->w.graph,
        .features = &a->w.features,
        .classes = &r->classes,
        .prob = r->prob,
        .node = a->w.split.val,
        .m = a->w.split.n_val,
        .seed = 1};
}

TEST(rounds_change_what_their_states_say)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    rehearsed r = {0};
    attacked_world_make(ctx, &a);
    rehearsed_make(ctx, &r, &a);
    graphss_i_rehearsal_room *room = NULL;
    assert_ok(ctx, graphss_i_rehearsal_open(ctx, &room, &r.in));
    size_t seen[GRAPHSS_I_STATES] = {0};
    for (size_t round = 0; round < graphss_i_rehearsal_rounds(); round++) {
        graphss_graph graph = {0};
        graphss_features features = {0};
        uint8_t what[WORLD_NODES];
        assert_ok(ctx, graphss_i_rehearsal_round(ctx, &graph, &features, what, room, round));
        assert_ok(ctx, graphss_graph_check(ctx, &graph));
        for (size_t i = 0; i < r.in.m; i++) {
            const size_t v = (size_t)r.in.node[i];
            const graphss_i_change_counts c = graphss_i_change_count(
                &graph, &features, v, &a.w.graph, &a.w.features, v, NULL);
            seen[what[i]]++;
            if (what[i] == GRAPHSS_I_TAMPERED_EDGES)
                assert_int_equal(c.features_added + c.features_removed, 0);
            if (what[i] != GRAPHSS_I_UNTOUCHED && what[i] != GRAPHSS_I_TAMPERED_EDGES)
                assert_in_range(
                    c.features_added + c.features_removed, 1, GRAPHSS_I_FEATURES_MOST);
        }
        graphss_graph_destroy(ctx, &graph);
        graphss_features_destroy(ctx, &features);
    }
    for (size_t s = 0; s < GRAPHSS_I_STATES; s++) /* without a surrogate there is no search */
        assert_true((seen[s] > 0) == (s != GRAPHSS_I_SEARCHED));
    graphss_i_rehearsal_close(ctx, room);
    graphss_i_class_model_destroy(ctx, &r.classes);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* A node draws its recipe from a hash of its own: the order of the others does not matter. */
TEST(states_do_not_depend_on_the_order_of_nodes)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    rehearsed r = {0};
    int32_t turned[WORLD_NODES];
    uint8_t first[WORLD_NODES], second[WORLD_NODES];
    attacked_world_make(ctx, &a);
    rehearsed_make(ctx, &r, &a);
    for (size_t i = 0; i < r.in.m; i++)
        turned[i] = r.in.node[r.in.m - 1 - i];
    for (int pass = 0; pass < 2; pass++) {
        graphss_i_rehearsal_room *room = NULL;
        graphss_graph graph = {0};
        graphss_features features = {0};
        assert_ok(ctx, graphss_i_rehearsal_open(ctx, &room, &r.in));
        assert_ok(ctx,
            graphss_i_rehearsal_round(ctx, &graph, &features, pass ? second : first, room, 2));
        graphss_graph_destroy(ctx, &graph);
        graphss_features_destroy(ctx, &features);
        graphss_i_rehearsal_close(ctx, room);
        r.in.node = turned;
    }
    for (size_t i = 0; i < r.in.m; i++)
        assert_int_equal(first[i], second[r.in.m - 1 - i]);
    graphss_i_class_model_destroy(ctx, &r.classes);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(no_reader_turns_evidence_round)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_i_state_model m = learn(ctx, &a);
    for (size_t s = 0; s < GRAPHSS_I_STATES; s++) {
        double sum = 0;
        for (size_t j = 0; j < GRAPHSS_I_SOURCES; j++) {
            assert_true(m.reader[s][j] >= 0);
            sum += m.reader[s][j];
        }
        assert_true(sum > 0);
    }
    float anomaly[GRAPHSS_I_ANOMALIES];
    double odds[GRAPHSS_I_STATES];
    for (size_t j = 0; j < GRAPHSS_I_ANOMALIES; j++)
        anomaly[j] = 1e30F; /* far out is cut off */
    graphss_i_state_odds(odds, &m, anomaly);
    for (size_t s = 0; s < GRAPHSS_I_STATES; s++)
        assert_true(odds[s] > 0 && odds[s] <= exp(TUNE_ODDS_MOST) * 1.000001);
    graphss_i_state_model_destroy(ctx, &m);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(a_model_keeps_what_was_learned)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    char path[256];
    attacked_world_make(ctx, &a);
    graphss_i_state_model m = learn(ctx, &a), back = {0};
    bool known = true;
    assert_ok(
        ctx, graphss_i_state_model_recall(ctx, &back, &known, a.model, WORLD_WORDS, false));
    assert_false(known);
    assert_ok(ctx, graphss_i_state_model_keep(ctx, a.model, &m));
    testing_temporary(path, sizeof path, "states");
    assert_ok(ctx, graphss_model_save(ctx, a.model, path));
    graphss_model *copy = NULL;
    assert_ok(ctx, graphss_model_load(ctx, &copy, path));
    assert_ok(ctx, graphss_i_state_model_recall(ctx, &back, &known, copy, WORLD_WORDS, false));
    assert_true(known);
    assert_memory_equal(back.gate, m.gate, sizeof m.gate);
    assert_memory_equal(back.reader, m.reader, sizeof m.reader);
    assert_memory_equal(back.change, m.change, sizeof m.change);
    assert_memory_equal(back.half_gate, m.half_gate, sizeof m.half_gate);
    assert_memory_equal(back.half_change, m.half_change, sizeof m.half_change);
    assert_memory_equal(back.reference, m.reference, sizeof m.reference);
    graphss_i_state_model_destroy(ctx, &back);
    assert_ok(ctx, graphss_i_state_model_recall(ctx, &back, &known, copy, WORLD_WORDS, true));
    assert_false(known); /* of other features */
    remove(path);
    graphss_model_free(ctx, copy);
    graphss_i_state_model_destroy(ctx, &m);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(references_rise_and_halves_differ)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_i_state_model m = learn(ctx, &a);
    for (size_t s = 0; s < GRAPHSS_I_STRATA; s++)
        for (size_t i = 1; i < GRAPHSS_I_QUANTILES; i++)
            assert_true(m.reference[s][i] >= m.reference[s][i - 1]);
    size_t count[2] = {0};
    for (int32_t v = 0; v < 1000; v++)
        count[graphss_i_half_of(v)]++;
    assert_in_range(count[0], 450, 550);
    assert_true(memcmp(m.half_gate[0], m.half_gate[1], sizeof m.half_gate[0]) != 0);
    graphss_i_state_model_destroy(ctx, &m);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(strata_follow_what_changed)
{
    static const struct {
        graphss_i_change_counts counts;
        graphss_i_stratum stratum;
    } known[] = {{{0, 0, 0, 0}, GRAPHSS_I_UNCHANGED}, {{1, 0, 0, 0}, GRAPHSS_I_ONE_EDGE},
        {{0, 1, 0, 0}, GRAPHSS_I_ONE_EDGE}, {{1, 1, 0, 0}, GRAPHSS_I_SOME_EDGES},
        {{0, 0, 3, 0}, GRAPHSS_I_SOME_FEATURES}, {{0, 0, 0, 1}, GRAPHSS_I_SOME_FEATURES},
        {{1, 0, 0, 1}, GRAPHSS_I_EDGES_AND_FEATURES}};
    const float evidence[2 * GRAPHSS_I_ROW] = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        float row[GRAPHSS_I_CHANGES];
        graphss_i_change_row(row, &known[i].counts, evidence, evidence, 2);
        assert_int_equal(graphss_i_stratum_of(row), known[i].stratum);
    }
}

TEST(too_few_labels_teach_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_split few = a.w.split;
    graphss_i_state_model m = {0};
    bool learned = true;
    few.n_val = 3;
    few.n_train = 10;
    assert_ok(ctx, graphss_i_state_model_learn(
                       ctx, &m, &learned, a.model, &a.w.graph, &a.w.features, &few));
    assert_false(learned);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static graphss_status learn_and_keep(graphss_ctx *ctx, void *arg)
{
    attacked_world *a = arg;
    const graphss_defence_input in = {
        .struct_size = sizeof in, .current = a->previous, .model = a->model, .seed = 1};
    const graphss_status st = graphss_i_states_train(ctx, a->model, &in);
    graphss_i_model_drop(ctx, a->model, GRAPHSS_I_KEPT_STATES);
    return st;
}

TEST(failing_allocations_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    testing_allocations_fail(learn_and_keep, &a, 60);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
