/* A graph that changes: equal to a whole pass after any changes, judged, saved, resumed. */
#include "testing.h"

#include "live/live_private.h"

typedef struct world {
    graphss_dataset data;
    graphss_split split;
    graphss_model *model;
    graphss_observation seen;
} world;

static void world_make(
    graphss_ctx *ctx, world *w, const char *type, const char *synth, bool learn)
{
    graphss_train_options opt;
    graphss_split_options split;
    *w = (world){0};
    assert_ok(ctx, graphss_dataset_read(ctx, &w->data, synth, NULL));
    graphss_split_options_init(&split);
    assert_ok(ctx, graphss_split_make(ctx, &w->split, w->data.label, w->data.graph.n_nodes,
                       w->data.n_classes, 1, &split));
    graphss_train_options_init(&opt, type, GRAPHSS_MODE_DEFAULT, &w->data.features);
    opt.epochs = 20;
    opt.hidden = 24;
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &w->data.graph,
        .features = &w->data.features,
        .n_classes = w->data.n_classes,
        .split = &w->split,
        .seed = 1};
    assert_ok(ctx, graphss_model_train(ctx, &w->model, NULL, &in, &opt));
    w->seen = graphss_dataset_observe(&w->data);
    if (learn)
        assert_ok(ctx, graphss_alert_train(ctx, w->model, &w->seen, 1));
}

static void world_destroy(graphss_ctx *ctx, world *w)
{
    graphss_model_free(ctx, w->model);
    graphss_split_destroy(ctx, &w->split);
    graphss_dataset_destroy(ctx, &w->data);
}

/* A random event on nodes 0 ... n - 1, some of which do not exist. */
typedef struct drawn {
    graphss_event event;
    char u[16], v[16], feature[2][16];
    const char *names[2];
    float value[2];
} drawn;

static void draw(drawn *d, graphss_rng *rng, size_t n, size_t columns, double t)
{
    const uint64_t what = graphss_rng_below(rng, 20);
    *d = (drawn){.event = {.t = t, .seq = -1, .u = d->u}};
    snprintf(d->u, sizeof d->u, "%d", (int)graphss_rng_below(rng, n));
    snprintf(d->v, sizeof d->v, "%d", (int)graphss_rng_below(rng, n));
    if (what < 15) {
        d->event.op = what < 10 ? GRAPHSS_EVENT_ADD_EDGE : GRAPHSS_EVENT_REMOVE_EDGE;
        d->event.v = d->v;
        return;
    }
    d->event.op = what < 17   ? GRAPHSS_EVENT_ADD_NODE
                  : what < 18 ? GRAPHSS_EVENT_REMOVE_NODE
                              : GRAPHSS_EVENT_SET_FEATURES;
    if (what == 17)
        return;
    for (int j = 0; j < 2; j++) {
        snprintf(
            d->feature[j], sizeof d->feature[j], "%d", (int)graphss_rng_below(rng, columns));
        d->names[j] = d->feature[j];
        d->value[j] = (float)graphss_rng_below(rng, 2);
    }
    d->event.n_features = 2;
    d->event.feature = d->names;
    d->event.value = d->value;
}

enum { BATCH = 10 };

static void apply_random(
    graphss_ctx *ctx, graphss_live *live, uint64_t seed, size_t batches, double from)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    static drawn d[BATCH];
    graphss_event e[BATCH];
    for (size_t b = 0; b < batches; b++) {
        for (size_t i = 0; i < BATCH; i++) {
            draw(&d[i], &rng, 330, 60, from + 60.0 * (double)b);
            e[i] = d[i].event;
        }
        graphss_live_batch did = {0};
        assert_ok(ctx, graphss_live_apply(ctx, live, e, BATCH, &did));
        graphss_live_batch_destroy(ctx, &did);
    }
}

#define SYNTH "synth:nodes=300,degree=6,classes=4,features=60,words=8,seed=3"

TEST(probabilities_are_those_of_a_whole_pass)
{
    static const char *const type[] = {"gcn", "sage", "sage-mean", "sgc", "mlp", "gat"};
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 2);
    for (size_t m = 0; m < sizeof type / sizeof *type; m++) {
        world w;
        graphss_live *live = NULL;
        size_t different = 1;
        double farthest = 1;
        world_make(ctx, &w, type[m], SYNTH, false);
        assert_ok(ctx, graphss_live_new(ctx, &live, w.model, &w.seen, NULL));
        apply_random(ctx, live, 7, 40, 0);
        assert_ok(ctx, graphss_live_verify(ctx, &different, &farthest, live));
        if (different || farthest > 1e-5)
            fail_msg(
                "%s: %zu rows differ, and by %g from predict", type[m], different, farthest);
        graphss_live_free(ctx, live);
        world_destroy(ctx, &w);
    }
    graphss_ctx_free(ctx);
}

static bool same_double(double a, double b)
{
    return !memcmp(&a, &b, sizeof a);
}

/* Everything that can be read of two live graphs with the same nodes. */
static void assert_same(graphss_ctx *ctx, graphss_live *a, graphss_live *b)
{
    assert_int_equal(graphss_live_capacity(a), graphss_live_capacity(b));
    for (size_t i = 0; i < graphss_live_capacity(a); i++) {
        graphss_live_node x, y;
        if (!graphss_live_name(a, i)) {
            assert_null(graphss_live_name(b, i));
            continue;
        }
        assert_string_equal(graphss_live_name(a, i), graphss_live_name(b, i));
        assert_memory_equal(
            graphss_live_prob(a, i), graphss_live_prob(b, i), a->k * sizeof(float));
        assert_ok(ctx, graphss_live_node_get(ctx, a, &x, i));
        assert_ok(ctx, graphss_live_node_get(ctx, b, &y, i));
        assert_true(same_double(x.suspicion, y.suspicion));
        assert_true(same_double(x.p_value, y.p_value));
        assert_int_equal(x.recovered, y.recovered);
        assert_int_equal(x.kind, y.kind);
    }
}

TEST(a_saved_state_goes_on_with_the_same_bits)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    graphss_live *live = NULL, *again = NULL;
    graphss_live_options opt;
    void *bytes = NULL, *later[2] = {NULL, NULL};
    size_t n = 0, size[2], n_past_tests = 0;
    world_make(ctx, &w, "gcn", SYNTH, true);
    graphss_live_options_init(&opt);
    opt.expire = 900;
    opt.warm_up = 20;
    opt.trust_after = 1800;
    assert_ok(ctx, graphss_live_new(ctx, &live, w.model, &w.seen, &opt));
    assert_true(live->has_states);
    apply_random(ctx, live, 7, 20, 1000);
    assert_ok(ctx, graphss_live_save(ctx, &bytes, &n, live));
    assert_ok(ctx, graphss_live_load(ctx, &again, w.model, bytes, n));
    assert_same(ctx, live, again);
    apply_random(ctx, live, 8, 30, 2300);
    apply_random(ctx, again, 8, 30, 2300);
    assert_same(ctx, live, again);
    assert_ok(ctx, graphss_live_save(ctx, &later[0], &size[0], live));
    assert_ok(ctx, graphss_live_save(ctx, &later[1], &size[1], again));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(later[0], later[1], size[0]);
    graphss_live_status s;
    graphss_live_status_get(live, &s);
    assert_true(s.checks > 0 && s.judged > 100 && s.expired > 0);
    const graphss_live_past_test *past = graphss_live_past_tests(again, &n_past_tests);
    assert_int_equal(n_past_tests, s.checks);
    assert_true(past[0].t > 1000 && past[n_past_tests - 1].t <= s.now);
    for (size_t cut = 0; cut < n; cut += n / 60 + 1) {
        graphss_live *none = NULL;
        assert_int_equal(graphss_live_load(ctx, &none, w.model, bytes, cut), GRAPHSS_ERR_DATA);
    }
    graphss_release(ctx, bytes);
    graphss_release(ctx, later[0]);
    graphss_release(ctx, later[1]);
    graphss_live_free(ctx, live);
    graphss_live_free(ctx, again);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

/* The same graph, opened whole: the suspicion of nodes that did not change since must be
 * equal. */
TEST(evidence_is_that_of_a_whole_snapshot)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    graphss_live *live = NULL, *fresh = NULL;
    graphss_dataset now = {0};
    world_make(ctx, &w, "gcn", SYNTH, true);
    assert_ok(ctx, graphss_live_new(ctx, &live, w.model, &w.seen, NULL));
    apply_random(ctx, live, 9, 30, 0);
    assert_ok(ctx, graphss_live_trust(ctx, live));
    assert_ok(ctx, graphss_live_snapshot(ctx, &now, live, false));
    const graphss_observation seen = graphss_dataset_observe(&now);
    assert_ok(ctx, graphss_live_new(ctx, &fresh, w.model, &seen, NULL));
    for (size_t i = 0; i < graphss_live_capacity(fresh); i++) {
        const int64_t there = graphss_live_find(live, graphss_live_name(fresh, i));
        assert_true(there >= 0);
        fresh->label[i] = live->label[there]; /* a removed and added node has none */
    }
    assert_ok(ctx,
        graphss_i_live_evidence_learn(ctx, fresh, &now.graph, &now.features, fresh->label));
    graphss_i_reference_destroy(ctx, &live->coherence);
    assert_ok(
        ctx, graphss_i_reference_open(ctx, &live->coherence, &now.features, fresh->label));
    for (size_t i = 0; i < graphss_live_capacity(fresh); i++)
        memcpy(live->propagated +
                   (size_t)graphss_live_find(live, graphss_live_name(fresh, i)) * live->k,
            fresh->propagated + i * live->k, live->k * sizeof *live->propagated);
    memset(fresh->now.known, 0, fresh->n);
    memset(live->now.known, 0, live->n);
    for (size_t i = 0; i < graphss_live_capacity(fresh); i++) {
        const int64_t there = graphss_live_find(live, graphss_live_name(fresh, i));
        graphss_live_node x, y;
        assert_ok(ctx, graphss_live_node_get(ctx, fresh, &x, i));
        assert_ok(ctx, graphss_live_node_get(ctx, live, &y, (size_t)there));
        assert_true(same_double(x.suspicion, y.suspicion));
    }
    /* And that of recover on the whole snapshot. */
    float *anomaly =
        graphss_i_alloc(ctx, now.graph.n_nodes, GRAPHSS_I_ANOMALIES * sizeof(float));
    int32_t *all = graphss_i_alloc(ctx, now.graph.n_nodes, sizeof *all);
    for (size_t i = 0; i < now.graph.n_nodes; i++)
        all[i] = (int32_t)i;
    graphss_i_evidence_base base = {.graph = &now.graph,
        .features = &now.features,
        .classes = &fresh->states.classes,
        .prob = graphss_live_prob(fresh, 0),
        .label = fresh->label,
        .n = now.graph.n_nodes,
        .k = fresh->k};
    assert_ok(ctx, graphss_i_evidence_base_fill(ctx, &base, fresh->net.alone, NULL));
    assert_ok(ctx, graphss_i_evidence_of(ctx, NULL, anomaly, &base, all, now.graph.n_nodes));
    for (size_t i = 0; i < now.graph.n_nodes; i++) {
        double odds[GRAPHSS_I_STATES], sum = 0;
        graphss_live_node x;
        graphss_i_state_odds(odds, &fresh->states, anomaly + i * GRAPHSS_I_ANOMALIES);
        for (size_t s = 1; s < GRAPHSS_I_STATES; s++)
            sum += odds[s] / (GRAPHSS_I_STATES - 1);
        assert_ok(ctx, graphss_live_node_get(ctx, fresh, &x, i));
        assert_true(fabs(x.suspicion - log(sum)) < 1e-12);
    }
    graphss_i_evidence_base_destroy(ctx, &base);
    graphss_release(ctx, all);
    graphss_release(ctx, anomaly);
    graphss_dataset_destroy(ctx, &now);
    graphss_live_free(ctx, fresh);
    graphss_live_free(ctx, live);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

/* ---- memory ends ---- */

static graphss_status count_event(void *user, const graphss_event *event)
{
    (void)event;
    ++*(size_t *)user;
    return GRAPHSS_OK;
}

/* A whole life. A batch that fails spoils the live graph, which is then freed. */
static graphss_status live_a_life(graphss_ctx *ctx, void *arg)
{
    static const char *const member[] = {"1", "2", "300"};
    const world *w = arg;
    const float one = 1;
    const char *column = "3";
    const graphss_event event[] = {
        {.op = GRAPHSS_EVENT_ADD_EDGE, .t = 10, .seq = 1, .u = "1", .v = "new"},
        {.op = GRAPHSS_EVENT_REMOVE_NODE, .t = 11, .seq = 2, .u = "2"},
        {.op = GRAPHSS_EVENT_SET_FEATURES,
            .t = 12,
            .seq = -1,
            .u = "3",
            .n_features = 1,
            .feature = &column,
            .value = &one},
        {.op = GRAPHSS_EVENT_ADD_EDGE, .t = 13, .seq = -1, .u = "4", .v = "4"}};
    graphss_live *live = NULL, *again = NULL;
    graphss_live_options opt;
    graphss_live_batch did = {0};
    graphss_live_node node;
    graphss_live_edges edges = {0};
    graphss_live_features features = {0};
    graphss_dataset now = {0}, then = {0};
    int32_t suspect[4], three = 3;
    size_t n = 4, size = 0, different = 0, events = 0;
    double suspicion, posterior[8], farthest;
    void *bytes = NULL;
    graphss_live_options_init(&opt);
    opt.expire = 100;
    graphss_status st = graphss_live_new(ctx, &live, w->model, &w->seen, &opt);
    if (!st)
        st = graphss_live_watch(ctx, live, "some", member, 3);
    if (!st)
        st = graphss_live_apply(ctx, live, event, 4, &did);
    graphss_live_batch_destroy(ctx, &did);
    if (!st)
        st = graphss_live_node_get(ctx, live, &node, 3);
    if (!st)
        st = graphss_live_recover(ctx, live, &suspicion, posterior, &three, 1);
    if (!st)
        st = graphss_live_edges_get(ctx, &edges, live, 1);
    if (!st)
        st = graphss_live_features_get(ctx, &features, live, 3);
    if (!st)
        st = graphss_live_suspects(ctx, live, suspect, &n);
    if (!st)
        st = graphss_live_snapshot(ctx, &now, live, false);
    if (!st)
        st = graphss_live_snapshot(ctx, &then, live, true);
    if (!st)
        st = graphss_events_between(ctx, &then, &now, count_event, &events);
    if (!st)
        st = graphss_live_save(ctx, &bytes, &size, live);
    if (!st)
        st = graphss_live_load(ctx, &again, w->model, bytes, size);
    if (!st)
        st = graphss_live_verify(ctx, &different, &farthest, again);
    graphss_live *next = NULL;
    if (!st)
        st = graphss_live_adopt(ctx, &next, w->model, live);
    graphss_live_free(ctx, next);
    if (!st)
        st = graphss_live_advance(ctx, live, 1e6, &did);
    graphss_live_batch_destroy(ctx, &did);
    if (!st)
        st = graphss_live_trust(ctx, live);
    if (!st) { /* one edge, one node with its features and edges, features */
        assert_true(events >= 4);
        assert_int_equal(different, 0);
        assert_int_equal(
            graphss_live_settle(ctx, live, 1, GRAPHSS_ALERT_CONFIRMED), GRAPHSS_ERR_INVALID);
    }
    graphss_release(ctx, bytes);
    graphss_live_features_destroy(ctx, &features);
    graphss_live_edges_destroy(ctx, &edges);
    graphss_dataset_destroy(ctx, &now);
    graphss_dataset_destroy(ctx, &then);
    graphss_live_free(ctx, live);
    graphss_live_free(ctx, again);
    return st;
}

TEST(each_allocation_fails)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world w;
    world_make(
        ctx, &w, "gcn", "synth:nodes=120,degree=4,classes=3,features=30,words=6,seed=3", true);
    testing_each_allocation_fails(live_a_life, &w);
    world_destroy(ctx, &w);
    graphss_ctx_free(ctx);
}

/* Another model takes over: the graph is the old one's, its answers those of a whole pass, and
 * alerts and sources continue. */
TEST(another_model_takes_over)
{
    static const char *const member[] = {"7", "8", "later"};
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    world old, new;
    graphss_live *live = NULL, *next = NULL;
    graphss_live_options opt;
    graphss_live_status was, is;
    graphss_dataset a = {0}, b = {0};
    char before[65], after[65];
    size_t different = 1;
    double farthest = 1;
    world_make(ctx, &old, "gcn", SYNTH, true);
    world_make(ctx, &new, "sage", SYNTH, true);
    graphss_model_fingerprint(before, old.model);
    graphss_model_fingerprint(after, new.model);
    assert_string_not_equal(before, after);
    graphss_live_options_init(&opt);
    opt.expire = 5000;
    opt.period = 1e9; /* no alert */
    assert_ok(ctx, graphss_live_new(ctx, &live, old.model, &old.seen, &opt));
    assert_ok(ctx, graphss_live_watch(ctx, live, "some", member, 3));
    const graphss_event label = {.op = GRAPHSS_EVENT_SET_LABEL,
        .t = 0,
        .seq = 41,
        .u = "9",
        .source = "desk",
        .label = "2"};
    assert_ok(ctx, graphss_live_apply(ctx, live, &label, 1, NULL));
    apply_random(ctx, live, 7, 40, 0);
    assert_fails(ctx, graphss_live_load(ctx, &next, new.model, "", 0), GRAPHSS_ERR_DATA, "");
    assert_ok(ctx, graphss_live_adopt(ctx, &next, new.model, live));
    graphss_live_status_get(live, &was);
    graphss_live_status_get(next, &is);
    assert_int_equal(is.n_nodes, was.n_nodes);
    assert_int_equal(is.n_edges, was.n_edges);
    assert_int_equal(is.applied, was.applied);
    assert_true(is.now == was.now && is.trusted_since == was.now);
    assert_int_equal(is.changed_nodes, 0);
    assert_int_equal(is.n_groups, 2);
    assert_int_equal(graphss_live_seen(next, "desk"), 41);
    assert_int_equal(next->label[graphss_live_find(next, "9")], 2);
    /* Both go on alike, links that end among them. */
    for (int i = 0; i < 2; i++) {
        graphss_live *x = i ? next : live;
        apply_random(ctx, x, 8, 10, 3000);
        assert_ok(ctx, graphss_live_advance(ctx, x, 6200, NULL));
    }
    assert_ok(ctx, graphss_live_snapshot(ctx, &a, live, false));
    assert_ok(ctx, graphss_live_snapshot(ctx, &b, next, false));
    assert_int_equal(graphss_graph_edges(&a.graph), graphss_graph_edges(&b.graph));
    assert_true(graphss_graph_edges(&a.graph) < was.n_edges);
    assert_int_equal(a.graph.n_nodes, b.graph.n_nodes);
    assert_ok(ctx, graphss_live_verify(ctx, &different, &farthest, next));
    assert_int_equal(different, 0);
    assert_true(farthest < 1e-5);
    /* Never past an alert. */
    next->group[0].alert = 1;
    graphss_live *third = NULL;
    assert_fails(ctx, graphss_live_adopt(ctx, &third, old.model, next), GRAPHSS_ERR_INVALID,
        "no alert is open");
    graphss_dataset_destroy(ctx, &a);
    graphss_dataset_destroy(ctx, &b);
    graphss_live_free(ctx, live);
    graphss_live_free(ctx, next);
    world_destroy(ctx, &old);
    world_destroy(ctx, &new);
    graphss_ctx_free(ctx);
}

int main(void)
{
    return testing_run();
}
