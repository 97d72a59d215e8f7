/* p-values of groups and of nodes. */
#include "alert/alert_private.h"
#include "testing.h"

static void draw(double *x, size_t n, double shift, uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SYNTH);
    for (size_t i = 0; i < n; i++)
        x[i] = graphss_rng_normal(&rng) + shift;
}

static double p_of(graphss_ctx *ctx, const double *score, size_t n, const double *calm,
    size_t n_calm, uint64_t seed)
{
    const graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.05, .draws = 199};
    graphss_alert_verdict v = {0};
    assert_ok(ctx, graphss_alert_test(ctx, &v, score, n, calm, n_calm, seed, &opt));
    const double p = v.p_value, threshold = v.threshold;
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += score[i] / (double)n;
    assert_float_equal(v.score, mean, 1e-9);
    assert_int_equal(v.alert, p <= 0.05);
    if (p <= 0.05)
        assert_true(mean >= threshold - 1e-9);
    if (p > 0.06)
        assert_true(mean <= threshold + 1e-9);
    return p;
}

TEST(clean_groups_alert_as_often_as_promised)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    enum { TRIALS = 2000 };
    const struct {
        size_t n, n_calm;
    } size[] = {{10, 60}, {60, 10}, {40, 40}, {1, 99}};
    for (size_t s = 0; s < 4; s++) {
        size_t alerts = 0;
        for (uint64_t t = 0; t < TRIALS; t++) {
            double score[60], calm[99];
            draw(score, size[s].n, 0, 1000 * t + s);
            draw(calm, size[s].n_calm, 0, 1000 * t + s + 500);
            alerts += p_of(ctx, score, size[s].n, calm, size[s].n_calm, t) <= 0.05;
        }
        /* 5 % of 2000 is 100, with a deviation of 9.7 */
        assert_in_range(alerts, 60, 140);
    }
    graphss_ctx_free(ctx);
}

TEST(a_shifted_group_is_noticed_and_a_lower_one_is_not)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    double score[40], calm[80];
    draw(calm, 80, 0, 1);
    draw(score, 40, 2, 2);
    assert_true(p_of(ctx, score, 40, calm, 80, 1) < 0.01);
    draw(score, 40, -2, 2);
    assert_true(p_of(ctx, score, 40, calm, 80, 1) > 0.99);
    graphss_ctx_free(ctx);
}

TEST(a_tiny_case_is_counted_by_hand)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    /* of the 4 ways to choose the one node, one is as high: p tends to 1 / 4 */
    const double score[] = {5}, calm[] = {1, 2, 3};
    const graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.05, .draws = 100000};
    graphss_alert_verdict v;
    assert_ok(ctx, graphss_alert_test(ctx, &v, score, 1, calm, 3, 1, &opt));
    assert_float_equal(v.p_value, 0.25, 0.01);
    assert_float_equal(graphss_alert_rank(5, calm, 3), 0.25, 1e-12);
    assert_float_equal(graphss_alert_rank(2, calm, 3), 0.75, 1e-12);
    assert_float_equal(graphss_alert_rank(0, calm, 3), 1, 1e-12);
    /* equal scores are no evidence */
    const double same[] = {1, 1}, ones[] = {1, 1, 1};
    assert_ok(ctx, graphss_alert_test(ctx, &v, same, 2, ones, 3, 1, NULL));
    assert_float_equal(v.p_value, 1, 1e-12);
    graphss_ctx_free(ctx);
}

TEST(what_cannot_be_judged_is_an_error)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double x[] = {1, NAN};
    graphss_alert_verdict v = {.p_value = 7, .threshold = 7}, good;
    graphss_alert_options opt;
    graphss_alert_options_init(&opt);
    assert_fails(ctx, graphss_alert_test(ctx, &v, x, 0, x, 1, 1, &opt), GRAPHSS_ERR_INVALID,
        "0 scores");
    assert_fails(ctx, graphss_alert_test(ctx, &v, x, 1, x, 0, 1, &opt), GRAPHSS_ERR_INVALID,
        "0 of clean nodes");
    assert_fails(
        ctx, graphss_alert_test(ctx, &v, x, 2, x, 1, 1, &opt), GRAPHSS_ERR_INVALID, "finite");
    opt.false_alarm_rate = 0;
    assert_fails(ctx, graphss_alert_test(ctx, &v, x, 1, x, 1, 1, &opt), GRAPHSS_ERR_INVALID,
        "false-alarm-rate");
    opt.false_alarm_rate = 1e-4; /* of 2000 orders none is so rare */
    assert_fails(ctx, graphss_alert_test(ctx, &v, x, 1, x, 1, 1, &opt), GRAPHSS_ERR_INVALID,
        "want --draws 9999 or more");
    opt.draws = 9998;
    assert_fails(ctx, graphss_alert_test(ctx, &v, x, 1, x, 1, 1, &opt), GRAPHSS_ERR_INVALID,
        "want --draws 9999 or more");
    opt.draws = 9999;
    assert_ok(ctx, graphss_alert_test(ctx, &good, x, 1, x, 1, 1, &opt));
    assert_float_equal(v.p_value, 7, 0);
    assert_float_equal(v.threshold, 7, 0);
    graphss_ctx_free(ctx);
}

/* ---- verdicts over scores of a snapshot ---- */

enum { NODES = 400, GROUP = 40, REFERENCE = 200 };

/* Two predicted classes, of which the second scores 10 higher. */
typedef struct snapshot {
    double score[NODES], p_value[NODES], reference[REFERENCE];
    uint8_t stratum[NODES], labelled[NODES];
    int32_t predicted[NODES], order[NODES];
} snapshot;

static int higher_first(const void *a, const void *b)
{
    return graphss_i_compare_doubles(b, a);
}

static const snapshot *sorted_by; /* for qsort */

static int in_order(const void *a, const void *b)
{
    const size_t x = (size_t) * (const int32_t *)a, y = (size_t) * (const int32_t *)b;
    if (sorted_by->stratum[x] != sorted_by->stratum[y])
        return sorted_by->stratum[x] - sorted_by->stratum[y];
    if (sorted_by->predicted[x] != sorted_by->predicted[y])
        return sorted_by->predicted[x] - sorted_by->predicted[y];
    return (sorted_by->score[x] < sorted_by->score[y]) -
           (sorted_by->score[x] > sorted_by->score[y]);
}

/* stratum of all nodes; the reference of each stratum is the same normal sample. */
static graphss_alert_scores snapshot_make(snapshot *s, uint8_t stratum, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    draw(s->score, NODES, 0, seed);
    draw(s->reference, REFERENCE, 0, seed + 100000);
    qsort(s->reference, REFERENCE, sizeof *s->reference, higher_first);
    for (int32_t i = 0; i < NODES; i++) {
        s->stratum[i] = stratum;
        s->predicted[i] = stratum == GRAPHSS_ALERT_NO_PAST ? i % 2 : 0;
        s->score[i] += 10 * s->predicted[i];
        s->order[i] = i;
    }
    sorted_by = s;
    qsort(s->order, NODES, sizeof *s->order, in_order);
    graphss_alert_scores scores = {.n_nodes = NODES,
        .n_classes = 2,
        .score = s->score,
        .p_value = s->p_value,
        .stratum = s->stratum,
        .predicted = s->predicted,
        .labelled = s->labelled,
        .order = s->order,
        .reference = s->reference,
        .past = stratum != GRAPHSS_ALERT_NO_PAST};
    for (size_t k = stratum + 1u; k < 7; k++)
        scores.start[k] = REFERENCE;
    return scores;
}

static const graphss_alert_options few_draws = {
    .struct_size = sizeof(graphss_alert_options), .false_alarm_rate = 0.05, .draws = 199};

/* A group of one class mostly, which scores high: it is compared with its class. */
TEST(groups_of_unlike_classes_alert_as_often_as_promised)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    size_t alerts = 0;
    for (uint64_t t = 0; t < 1000; t++) {
        graphss_alert_scores scores = snapshot_make(&s, GRAPHSS_ALERT_NO_PAST, 7 + t);
        graphss_alert_verdict v;
        int32_t node[GROUP];
        for (int32_t i = 0; i < GROUP; i++)
            node[i] = i < 5 ? 2 * i : 2 * i + 1;
        scores.quiet = true;
        assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, node, GROUP, t, &few_draws));
        assert_int_equal(v.n_group, GROUP);
        assert_int_equal(v.n_calibration, NODES - GROUP);
        alerts += v.alert;
    }
    /* 5 % of 1000 is 50, with a deviation of 6.9 */
    assert_in_range(alerts, 25, 78);
    graphss_ctx_free(ctx);
}

/* Rehearsed change is no exact likeness of honest change: its upper part is the reference. */
TEST(rehearsed_references_are_tolerant)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    size_t alerts[2] = {0};
    for (uint64_t t = 0; t < 60; t++)
        for (int synthetic = 0; synthetic < 2; synthetic++) {
            graphss_alert_scores scores = snapshot_make(&s, GRAPHSS_ALERT_EDGES, 7 + t);
            graphss_alert_verdict v;
            for (size_t i = 0; i < NODES; i++)
                s.score[i] += 0.4; /* a little worse than rehearsed */
            scores.synthetic[GRAPHSS_ALERT_EDGES] = (uint8_t)synthetic;
            assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, NULL, 0, t, &few_draws));
            assert_int_equal(v.n_group, NODES);
            alerts[synthetic] += v.alert;
        }
    assert_true(alerts[0] > 40);
    assert_true(alerts[1] < 6);
    graphss_ctx_free(ctx);
}

TEST(a_few_hostile_changes_alert)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    graphss_alert_scores scores = snapshot_make(&s, GRAPHSS_ALERT_FEATURES, 1);
    graphss_alert_verdict v;
    scores.synthetic[GRAPHSS_ALERT_FEATURES] = 1;
    for (size_t i = 0; i < 8; i++)
        s.score[50 * i] = 6 + (double)i;
    qsort(s.order, NODES, sizeof *s.order, in_order);
    assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, NULL, 0, 1, NULL));
    assert_true(v.alert);
    assert_true(v.score > v.threshold);
    graphss_ctx_free(ctx);
}

/* NODES new nodes; the reference also serves as the rehearsed one. */
static graphss_alert_scores newcomers_make(snapshot *s, uint64_t seed)
{
    graphss_alert_scores scores = snapshot_make(s, GRAPHSS_ALERT_NO_PAST, seed);
    for (size_t i = 0; i < NODES; i++)
        s->score[i] -= 10 * s->predicted[i];
    scores.past = true;
    return scores;
}

/* Each of the wave is no odder than the oddest tenth of honest nodes. */
TEST(new_nodes_that_lean_on_one_class_are_a_wave)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    size_t calm = 0, wave = 0;
    for (uint64_t t = 0; t < 40; t++) {
        graphss_alert_scores scores = newcomers_make(&s, 7 + t);
        graphss_alert_verdict v;
        assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, NULL, 0, t, &few_draws));
        calm += v.alert;
        for (size_t i = 0; i < NODES; i++) /* 150 of 200 */
            if (s.predicted[i] && i % 8 != 1)
                s.score[i] = 1.8 + 0.1 * s.score[i];
        qsort(s.order, NODES, sizeof *s.order, in_order);
        assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, NULL, 0, t, &few_draws));
        wave += v.alert;
    }
    assert_in_range(calm, 0, 6); /* 5 % of 40 is 2 */
    assert_in_range(wave, 32, 40);
    graphss_ctx_free(ctx);
}

/* If validation nodes were attacked like the others, the rehearsed reference still detects it.
 */
TEST(a_reference_that_was_hit_as_well_does_not_hide_an_attack)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    static double reference[2 * REFERENCE];
    for (int hit = 0; hit < 2; hit++) {
        graphss_alert_scores scores = newcomers_make(&s, 5);
        graphss_alert_verdict v;
        scores.past = false;
        memcpy(reference, s.reference, sizeof s.reference); /* rehearsed, then validation */
        memcpy(reference + REFERENCE, s.reference, sizeof s.reference);
        for (size_t i = 0; i < REFERENCE && hit; i += 5)
            reference[REFERENCE + i] += 4;
        for (size_t i = 0; i < NODES && hit; i += 5)
            s.score[i] += 4;
        qsort(reference + REFERENCE, REFERENCE, sizeof *reference, higher_first);
        qsort(s.order, NODES, sizeof *s.order, in_order);
        scores.reference = reference;
        scores.start[1] = REFERENCE;
        for (size_t k = 2; k < 7; k++)
            scores.start[k] = 2 * REFERENCE;
        assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, NULL, 0, 1, NULL));
        assert_int_equal(v.alert, hit);
    }
    graphss_ctx_free(ctx);
}

/* The label of a training node is part of its evidence. */
TEST(training_nodes_are_judged_with_a_past_only)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    graphss_alert_verdict v;
    const int32_t node[] = {3, 4, 5};
    for (int past = 0; past < 2; past++) {
        graphss_alert_scores scores = newcomers_make(&s, 5);
        scores.past = past;
        s.labelled[3] = 1; /* trains */
        s.labelled[4] = 2; /* validates */
        assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, node, 3, 1, &few_draws));
        assert_int_equal(v.n_group, 2 + past);
    }
    graphss_ctx_free(ctx);
}

TEST(a_group_without_change_has_p_one)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    graphss_alert_scores scores = snapshot_make(&s, GRAPHSS_ALERT_UNCHANGED, 1);
    graphss_alert_verdict v;
    const int32_t node[] = {3, 4, 5};
    graphss_alert_options opt = few_draws;
    opt.false_alarm_rate = 0.999;
    assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, node, 3, 1, &opt));
    assert_false(v.alert);
    assert_int_equal(v.n_group, 0);
    assert_float_equal(v.p_value, 1, 0);
    assert_ok(ctx, graphss_alert_test_group(ctx, &v, &scores, NULL, 0, 1, &opt));
    assert_false(v.alert);
    graphss_ctx_free(ctx);
}

static graphss_status test_one(graphss_ctx *ctx, void *arg)
{
    graphss_alert_verdict v;
    double p[] = {0.1, 0.2};
    graphss_status st = graphss_alert_test_group(ctx, &v, arg, NULL, 0, 1, &few_draws);
    if (!st)
        st = graphss_alert_test(ctx, &v, p, 1, p, 2, 1, &few_draws);
    return st ? st : graphss_alert_correct(ctx, p, 2, GRAPHSS_ALERT_FDR);
}

TEST(wrong_groups_are_errors_and_failing_allocations_leave_nothing)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    graphss_alert_scores scores = snapshot_make(&s, GRAPHSS_ALERT_NO_PAST, 1);
    graphss_alert_verdict v;
    const int32_t far[] = {NODES}, twice[] = {3, 3};
    assert_fails(ctx, graphss_alert_test_group(ctx, &v, &scores, far, 1, 1, NULL),
        GRAPHSS_ERR_INVALID, "the group has node 400, the snapshot has 0..399");
    assert_fails(ctx, graphss_alert_test_group(ctx, &v, &scores, twice, 2, 1, NULL),
        GRAPHSS_ERR_INVALID, "node 3 is twice in the group");
    assert_fails(ctx, graphss_alert_test_group(ctx, &v, &scores, far, 0, 1, NULL),
        GRAPHSS_ERR_INVALID, "has no nodes");
    assert_fails(ctx, graphss_alert_test_group(ctx, &v, &scores, NULL, 2, 1, NULL),
        GRAPHSS_ERR_INVALID, "NULL, want 2");
    testing_each_allocation_fails(test_one, &scores);
    graphss_ctx_free(ctx);
}

/* By hand: Holm 4 * 0.01, 3 * 0.02, then no less; Benjamini-Hochberg 4 p / rank from below. */
TEST(p_values_of_many_groups_are_corrected)
{
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double given[] = {0.02, 0.5, 0.01, 0.03};
    double p[4];
    memcpy(p, given, sizeof p);
    assert_ok(ctx, graphss_alert_correct(ctx, p, 4, GRAPHSS_ALERT_EACH));
    assert_memory_equal(p, given, sizeof p);
    assert_ok(ctx, graphss_alert_correct(ctx, p, 4, GRAPHSS_ALERT_FAMILY_WISE));
    const double holm[] = {0.06, 0.5, 0.04, 0.06};
    for (size_t i = 0; i < 4; i++)
        assert_float_equal(p[i], holm[i], 1e-12);
    memcpy(p, given, sizeof p);
    assert_ok(ctx, graphss_alert_correct(ctx, p, 4, GRAPHSS_ALERT_FDR));
    const double bh[] = {0.04, 0.5, 0.04, 0.04};
    for (size_t i = 0; i < 4; i++)
        assert_float_equal(p[i], bh[i], 1e-12);
    assert_fails(ctx, graphss_alert_correct(ctx, NULL, 4, GRAPHSS_ALERT_FDR),
        GRAPHSS_ERR_INVALID, "p-values");
    assert_ok(ctx, graphss_alert_correct(ctx, NULL, 0, GRAPHSS_ALERT_FDR));
    graphss_ctx_free(ctx);
}

/* Clean p-values have no excess; those with a fifth at the bottom have about a fifth. */
TEST(the_share_of_nodes_hit_is_their_excess)
{
    double p[1000];
    for (size_t i = 0; i < 1000; i++)
        p[i] = (double)(i + 1) / 1001;
    assert_float_equal(graphss_i_excess(p, NULL, 1000, 1, 1), 0, 1e-12);
    for (size_t i = 0; i < 200; i++)
        p[5 * i] = 0.002;
    assert_float_equal(graphss_i_excess(p, NULL, 1000, 1, 1), 0.2, 0.02);
    assert_true(graphss_i_excess(p, NULL, 1000, 4, 3) < 0.2);
    assert_float_equal(graphss_i_excess(p, NULL, 0, 1, 1), 0, 0);
    for (size_t i = 0; i < 1000; i++)
        p[i] = (double)(i + 1) / 1001;
    assert_float_equal(graphss_i_excess(p, NULL, 1000, 4, 3), 0, 0);
}

int main(void)
{
    return testing_run();
}
