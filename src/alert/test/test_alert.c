/* Alerts over a small world whose victims are tied to the other group. */
#include "testing.h"

#include "models/model_private.h"
#include "observation/test/testing_attacked_world.h"

TEST(an_attack_is_told_from_none)
{
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_alert_result hit = {0}, calm = {0};
    assert_ok(ctx, graphss_alert_run(ctx, &hit, &a.in, a.victim, VICTIMS, NULL));
    assert_true(hit.alert);
    assert_true(hit.score > hit.threshold);
    assert_int_equal(hit.n_group, VICTIMS);
    assert_true(hit.n_flagged > VICTIMS / 2);
    for (size_t i = 1; i < hit.n_flagged; i++)
        assert_true(hit.perturbed[hit.flagged[i]] <= hit.perturbed[hit.flagged[i - 1]]);
    for (size_t i = 0; i < hit.n_flagged; i++) {
        const graphss_alert_reason *why = &hit.reason[i];
        assert_int_equal(why->features_added + why->features_removed, 0);
        assert_in_range(why->edges_added, 1, EDGES + VICTIMS); /* others may join it */
        assert_in_range(why->before, 0, 1);
        assert_true(why->p_edges > 0 && why->p_edges <= 1);
    }
    assert_int_equal(hit.kind, GRAPHSS_PERTURBATION_EDGES);
    a.in.current = a.previous;
    assert_ok(ctx, graphss_alert_run(ctx, &calm, &a.in, NULL, 0, NULL));
    assert_false(calm.alert);
    assert_int_equal(calm.n_flagged, 0);
    assert_int_equal(calm.n_group, 0); /* nothing changed */
    assert_float_equal(calm.p_value, 1, 0);
    for (size_t i = 0; i < calm.n_nodes; i++)
        assert_true(calm.perturbed[i] == 0 && calm.node_p_value[i] == 1);
    graphss_alert_result_destroy(ctx, &calm);
    graphss_alert_result_destroy(ctx, &hit);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(the_result_does_not_depend_on_the_number_of_threads)
{
    double score[2][WORLD_NODES];
    for (size_t t = 0; t < 2; t++) {
        graphss_ctx *ctx = testing_ctx(NULL, 1 + 2 * t);
        attacked_world a;
        attacked_world_make(ctx, &a);
        graphss_alert_result r = {0};
        a.in.previous = NULL;
        assert_ok(ctx, graphss_alert_run(ctx, &r, &a.in, NULL, 0, NULL));
        memcpy(score[t], r.node_score, sizeof score[t]);
        graphss_alert_result_destroy(ctx, &r);
        attacked_world_destroy(ctx, &a);
        graphss_ctx_free(ctx);
    }
    assert_memory_equal(score[0], score[1], sizeof score[0]);
}

TEST(a_wrong_group_is_an_error)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_alert_result r = {0};
    const int32_t far[] = {WORLD_NODES}, twice[] = {3, 3};
    assert_fails(ctx, graphss_alert_run(ctx, &r, &a.in, far, 1, NULL), GRAPHSS_ERR_INVALID,
        "the group has node");
    assert_fails(
        ctx, graphss_alert_run(ctx, &r, &a.in, twice, 2, NULL), GRAPHSS_ERR_INVALID, "twice");
    assert_fails(
        ctx, graphss_alert_run(ctx, &r, &a.in, far, 0, NULL), GRAPHSS_ERR_INVALID, "no nodes");
    assert_fails(ctx, graphss_alert_run(ctx, &r, &a.in, NULL, 5, NULL), GRAPHSS_ERR_INVALID,
        "no nodes given: NULL, want 5");
    assert_null(r.node_score);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(trusted_nodes_are_no_suspects_and_a_reference)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_alert_options opt;
    graphss_alert_options_init(&opt);
    graphss_alert_result with = {0}, without = {0};
    opt.trusted = a.victim;
    opt.n_trusted = VICTIMS;
    for (int past = 0; past < 2; past++) {
        a.in.previous = past ? &a.previous : NULL;
        assert_ok(ctx, graphss_alert_run(ctx, &with, &a.in, NULL, 0, &opt));
        assert_ok(ctx, graphss_alert_run(ctx, &without, &a.in, NULL, 0, NULL));
        assert_int_equal(without.n_group - with.n_group, VICTIMS);
        size_t trusted = 0;
        for (size_t i = 0; i < VICTIMS; i++) {
            assert_float_equal(with.node_p_value[a.victim[i]], 1, 0);
            assert_float_equal(with.perturbed[a.victim[i]], 0, 0);
            trusted += without.node_p_value[a.victim[i]] < 1;
        }
        assert_true(trusted > VICTIMS / 2);
        if (!past) /* the reference of the others */
            assert_int_equal(with.n_calibration, VICTIMS);
        graphss_alert_result_destroy(ctx, &with);
        graphss_alert_result_destroy(ctx, &without);
    }
    const int32_t far[] = {WORLD_NODES};
    opt.trusted = far;
    opt.n_trusted = 1;
    assert_fails(ctx, graphss_alert_run(ctx, &with, &a.in, NULL, 0, &opt), GRAPHSS_ERR_INVALID,
        "a trusted node is");
    opt.trusted = NULL;
    assert_fails(ctx, graphss_alert_run(ctx, &with, &a.in, NULL, 0, &opt), GRAPHSS_ERR_INVALID,
        "no trusted nodes given: NULL, want 1");
    assert_null(with.node_score);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* Without a past, victims among the validation nodes are noticed. */
TEST(contaminated_validation_nodes_are_told)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_alert_result r = {0};
    graphss_split split = a.w.split;
    int32_t val[WORLD_NODES], label[WORLD_NODES];
    assert_in_range(split.n_val, 1, WORLD_NODES - VICTIMS);
    memcpy(val, split.val, split.n_val * sizeof *val);
    memcpy(label, split.val_label, split.n_val * sizeof *label);
    a.in.previous = NULL;
    assert_ok(ctx, graphss_alert_train(ctx, a.model, &a.previous, 1));
    assert_ok(ctx, graphss_alert_run(ctx, &r, &a.in, NULL, 0, NULL));
    assert_float_equal(r.contaminated, 0, 0);
    graphss_alert_result_destroy(ctx, &r);
    for (size_t i = 0; i < VICTIMS; i++) {
        val[split.n_val] = a.victim[i];
        label[split.n_val++] = a.w.label[a.victim[i]];
    }
    split.val = val;
    split.val_label = label;
    a.in.split = &split;
    assert_ok(ctx, graphss_alert_run(ctx, &r, &a.in, NULL, 0, NULL));
    assert_true(r.contaminated > 0.05);
    graphss_alert_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(labelled_victims_are_listed)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_alert_result r = {0};
    graphss_split split = a.w.split; /* and half of the victims train */
    const size_t all = split.n_train + split.n_val;
    int32_t train[WORLD_NODES], label[WORLD_NODES];
    assert_in_range(all, 1, WORLD_NODES - VICTIMS);
    memcpy(train, split.train, split.n_train * sizeof *train);
    memcpy(label, split.train_label, split.n_train * sizeof *label);
    for (size_t i = 0; i < VICTIMS / 2; i++) {
        train[split.n_train] = a.victim[i];
        label[split.n_train++] = a.w.label[a.victim[i]];
    }
    split.train = train;
    split.train_label = label;
    a.in.split = &split;
    assert_ok(ctx, graphss_alert_run(ctx, &r, &a.in, a.victim, VICTIMS, NULL));
    assert_true(r.alert);
    size_t listed = 0;
    for (size_t i = 0; i < r.n_flagged; i++)
        for (size_t j = 0; j < VICTIMS / 2; j++)
            listed += r.flagged[i] == a.victim[j];
    assert_true(listed >= 2);
    graphss_alert_result_destroy(ctx, &r);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

TEST(unsound_snapshots_are_refused_by_name)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_alert_result r = {0};
    graphss_alert_scores seen = {0};
#define REFUSED(part) \
    do { \
        assert_fails(ctx, graphss_alert_run(ctx, &r, &a.in, NULL, 0, NULL), \
            GRAPHSS_ERR_INVALID, part); \
        assert_fails( \
            ctx, graphss_alert_score(ctx, &seen, &a.in, NULL), GRAPHSS_ERR_INVALID, part); \
    } while (0)
    a.w.graph.target[0] = -1;
    REFUSED("the previous snapshot: node 0: neighbour -1");
    a.in.previous = NULL;
    a.w.features.column[1] = WORLD_WORDS;
    REFUSED("the current snapshot: row 0: feature 20");
#undef REFUSED
    assert_null(r.node_score);
    assert_null(seen.score);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

typedef struct listener {
    char heard[256];   /* stages, each once */
    int calls, stop;   /* reports so far; the number of the one that cancels, 0: none */
    const char *stage; /* of the last report */
    size_t done;
} listener;

static bool listen(void *user, const char *stage, size_t done, size_t total, const char *note)
{
    listener *l = user;
    char word[32];
    (void)note;
    assert_true(done <= total);
    if (total == 0 || (l->stage && !strcmp(stage, l->stage) && done == l->done))
        return true; /* reported again, since it takes long */
    l->stage = stage;
    l->done = done;
    snprintf(word, sizeof word, "%s ", stage);
    if (!strstr(l->heard, word))
        strcat(l->heard, word);
    return ++l->calls != l->stop;
}

TEST(it_tells_how_far_it_is_and_stops_when_told)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    listener l = {0};
    testing_memory memory = {.left = -1};
    const graphss_ctx_options options = {.struct_size = sizeof options,
        .allocator = {testing_alloc, testing_release, &memory},
        .threads = 1,
        .progress = listen,
        .user = &l};
    graphss_ctx *own = graphss_ctx_new(&options);
    const long held = memory.blocks;
    graphss_alert_result r = {0};
    assert_ok(own, graphss_alert_run(own, &r, &a.in, a.victim, VICTIMS, NULL));
    assert_true(r.alert);
    graphss_alert_result_destroy(own, &r);
    assert_string_equal(l.heard, "rehearse score judge ");
    const int reports = l.calls;
    for (int stop = 1; stop <= reports; stop++) {
        l = (listener){.stop = stop};
        assert_int_equal(
            graphss_alert_run(own, &r, &a.in, a.victim, VICTIMS, NULL), GRAPHSS_ERR_CANCELLED);
        assert_int_equal(l.calls, stop);
        assert_null(r.node_score);
        assert_int_equal(memory.blocks, held);
    }
    graphss_ctx_free(own);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

static graphss_status train(graphss_ctx *ctx, void *arg)
{
    attacked_world *a = arg;
    const graphss_status st = graphss_alert_train(ctx, a->model, &a->previous, 1);
    graphss_i_model_drop(ctx, a->model, GRAPHSS_I_KEPT_STATES);
    return st;
}

TEST(failing_allocations_leave_nothing_of_a_training)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    testing_allocations_fail(train, &a, 40);
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
}

/* A run makes thousands of allocations: some of them fail, spread over the run. */
TEST(failing_allocations_leave_nothing)
{
    enum { POINTS = 60 };
    testing_memory memory = {0};
    graphss_ctx *ctx = testing_ctx(&memory, 1);
    attacked_world a;
    attacked_world_make(ctx, &a);
    graphss_alert_result r = {0};
    const long first = memory.granted, held = memory.blocks;
    assert_ok(ctx, graphss_alert_run(ctx, &r, &a.in, NULL, 0, NULL));
    graphss_alert_result_destroy(ctx, &r);
    const long needed = memory.granted - first;
    assert_int_equal(memory.blocks, held);
    for (long i = 0; i < POINTS; i++) {
        memory.left = needed * i / POINTS;
        assert_int_equal(graphss_alert_run(ctx, &r, &a.in, NULL, 0, NULL), GRAPHSS_ERR_NOMEM);
        memory.left = -1;
        assert_int_equal(memory.blocks, held);
    }
    for (long i = 1; i < 10; i++) { /* and of the last ones each */
        memory.left = needed - i;
        assert_int_equal(graphss_alert_run(ctx, &r, &a.in, NULL, 0, NULL), GRAPHSS_ERR_NOMEM);
        memory.left = -1;
        assert_int_equal(memory.blocks, held);
    }
    attacked_world_destroy(ctx, &a);
    graphss_ctx_free(ctx);
    assert_int_equal(memory.blocks, 0);
}

int main(void)
{
    return testing_run();
}
