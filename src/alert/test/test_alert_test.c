/* p-values of groups and of nodes. */
#include "alert/alert_check.h"
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
    double p = -1, threshold = 0, mean = 0;
    assert_ok(ctx,
              graphss_alert_test(ctx, &p, &threshold, score, n, calm, n_calm, seed, &opt));
    for (size_t i = 0; i < n; i++)
        mean += score[i] / (double)n;
    if (p <= 0.05)
        assert_true(mean >= threshold - 1e-9);
    if (p > 0.06)
        assert_true(mean <= threshold + 1e-9);
    return p;
}

static void test_clean_groups_alert_as_often_as_promised(void **state)
{
    (void)state;
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

static void test_a_shifted_group_is_noticed_and_a_lower_one_is_not(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    double score[40], calm[80];
    draw(calm, 80, 0, 1);
    draw(score, 40, 2, 2);
    assert_true(p_of(ctx, score, 40, calm, 80, 1) < 0.01);
    draw(score, 40, -2, 2);
    assert_true(p_of(ctx, score, 40, calm, 80, 1) > 0.99);
    graphss_ctx_free(ctx);
}

static void test_a_tiny_case_is_counted_by_hand(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    /* of the 4 ways to choose the one node, one is as high: p tends to 1 / 4 */
    const double score[] = {5}, calm[] = {1, 2, 3};
    const graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.05, .draws = 100000};
    double p, threshold;
    assert_ok(ctx, graphss_alert_test(ctx, &p, &threshold, score, 1, calm, 3, 1, &opt));
    assert_float_equal(p, 0.25, 0.01);
    assert_float_equal(graphss_alert_rank(5, calm, 3), 0.25, 1e-12);
    assert_float_equal(graphss_alert_rank(2, calm, 3), 0.75, 1e-12);
    assert_float_equal(graphss_alert_rank(0, calm, 3), 1, 1e-12);
    /* equal scores are no evidence */
    const double same[] = {1, 1}, ones[] = {1, 1, 1};
    assert_ok(ctx, graphss_alert_test(ctx, &p, &threshold, same, 2, ones, 3, 1, NULL));
    assert_float_equal(p, 1, 1e-12);
    graphss_ctx_free(ctx);
}

static void test_what_cannot_be_judged_is_an_error(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const double x[] = {1, NAN};
    double p = 7, threshold = 7;
    graphss_alert_options opt;
    graphss_alert_options_init(&opt);
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 0, x, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "0 scores");
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 1, x, 0, 1, &opt),
                 GRAPHSS_ERR_INVALID, "0 of clean nodes");
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 2, x, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "finite");
    opt.false_alarm_rate = 0;
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 1, x, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "false-alarm-rate");
    opt.false_alarm_rate = 1e-4; /* of 2000 orders none is so rare */
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 1, x, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "want --draws 9999 or more");
    opt.draws = 9998;
    assert_fails(ctx, graphss_alert_test(ctx, &p, &threshold, x, 1, x, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "want --draws 9999 or more");
    opt.draws = 9999;
    double good_p, good_threshold;
    assert_ok(ctx, graphss_alert_test(ctx, &good_p, &good_threshold, x, 1, x, 1, 1, &opt));
    assert_float_equal(p, 7, 0);
    assert_float_equal(threshold, 7, 0);
    graphss_ctx_free(ctx);
}

/* ---- verdicts over scores of a snapshot ---- */

enum { NODES = 300, CALM = 100, GROUP = 40 };

/* Nodes 0..99 are clean; the kind of a node is its last bit, and moves its score by 10. */
typedef struct snapshot {
    double score[NODES], p_value[NODES], calm_score[CALM];
    int32_t kind[NODES], calm_node[CALM], free_node[NODES - CALM];
    int64_t start[3];
} snapshot;

static graphss_alert_scores snapshot_make(snapshot *s, uint64_t seed)
{
    draw(s->score, NODES, 0, seed);
    size_t at = 0;
    for (int32_t k = 0; k < 2; k++) {
        for (int32_t i = k; i < NODES; i += 2) {
            s->score[i] += 10 * k;
            s->kind[i] = k;
            if (i < CALM) {
                s->calm_node[at] = i;
                s->calm_score[at++] = s->score[i];
            }
        }
        s->start[k + 1] = (int64_t)at;
    }
    s->start[0] = 0;
    for (int32_t i = CALM; i < NODES; i++)
        s->free_node[i - CALM] = i;
    return (graphss_alert_scores){.n_nodes = NODES,
                                  .n_kinds = 2,
                                  .score = s->score,
                                  .p_value = s->p_value,
                                  .kind = s->kind,
                                  .start = s->start,
                                  .calm_node = s->calm_node,
                                  .calm_score = s->calm_score,
                                  .n_free = NODES - CALM,
                                  .free_node = s->free_node};
}

static void test_groups_of_unlike_nodes_alert_as_often_as_promised(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    const graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.05, .draws = 199};
    for (int quiet = 0; quiet < 2; quiet++) {
        size_t alerts = 0;
        for (uint64_t t = 0; t < 1000; t++) {
            graphss_alert_scores seen = snapshot_make(&s, 77 + t);
            graphss_verdict v;
            int32_t node[GROUP]; /* mostly of the kind that scores high */
            for (int32_t i = 0; i < GROUP; i++)
                node[i] = CALM + (i < 10 ? 2 * i : 2 * i + 1);
            seen.quiet = quiet;
            assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, node, GROUP, t, &opt));
            assert_int_equal(v.n_group, GROUP);
            assert_int_equal(v.n_calibration, quiet ? NODES - GROUP : CALM);
            alerts += v.alert;
        }
        /* 5 % of 1000 is 50, with a deviation of 6.9 */
        assert_in_range(alerts, 25, 78);
    }
    graphss_ctx_free(ctx);
}

/* Validation nodes that happen to be calm: no reason to suspect all groups of the snapshot. */
static void test_the_luck_of_validation_nodes_is_not_shared_by_all_groups(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    enum { FEW = 20, TRIALS = 1000 };
    graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.05, .draws = 199};
    size_t alerts[2] = {0};
    for (int alone = 0; alone < 2; alone++)
        for (uint64_t t = 0; t < TRIALS; t++) {
            graphss_alert_scores seen = snapshot_make(&s, 77 + t);
            graphss_verdict v;
            int32_t node[FEW];
            for (int32_t i = 0; i < FEW; i++)
                node[i] = CALM + i;
            for (size_t i = 0; i < CALM; i++)
                s.calm_score[i] -= 3;
            seen.quiet = true;
            opt.validation_only = alone;
            assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, node, FEW, t, &opt));
            assert_int_equal(v.alert, v.p_value <= 0.05);
            alerts[alone] += v.alert;
        }
    /* 5 % of 1000 is 50, with a deviation of 6.9; the calm ones make the spread of the pool a
     * little too small. Without the rule: 15 % */
    assert_in_range(alerts[0], 25, 100);
    assert_true(alerts[1] > 900);
    graphss_ctx_free(ctx);
}

static void test_a_few_high_nodes_are_noticed(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    graphss_alert_scores seen = snapshot_make(&s, 5);
    graphss_verdict v, calm;
    assert_ok(ctx, graphss_alert_judge(ctx, &calm, &seen, NULL, 0, 1, NULL));
    assert_int_equal(calm.n_group, NODES - CALM);
    for (int32_t i = CALM; i < CALM + 20; i++)
        s.score[i] += 6;
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, NULL));
    assert_true(v.alert && !calm.alert);
    assert_true(v.score > v.threshold && calm.score < calm.threshold);
    /* clean nodes that are judged are not compared with themselves */
    const int32_t clean[] = {0, 1, 2};
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, clean, 3, 1, NULL));
    assert_int_equal(v.n_calibration, CALM - 3);
    /* free nodes of a settled kind calibrate too, unless that is not wanted */
    const int32_t few[] = {CALM, CALM + 1};
    uint8_t settled[] = {1, 0};
    graphss_alert_options opt;
    graphss_alert_options_init(&opt);
    seen.settled = settled;
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, few, 2, 1, &opt));
    assert_int_equal(v.n_calibration, CALM + (NODES - CALM) / 2 - 1);
    /* and take the place of rehearsed ones */
    uint8_t rehearsed[] = {1, 1};
    seen.rehearsed = rehearsed;
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, few, 2, 1, &opt));
    assert_int_equal(v.n_calibration, CALM / 2 + (NODES - CALM) / 2 - 1);
    opt.validation_only = true;
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, few, 2, 1, &opt));
    assert_int_equal(v.n_calibration, CALM);
    graphss_ctx_free(ctx);
}

/* Whatever nodes of a settled kind score, those of another kind decide; alone they alert as
 * often as promised. */
static void test_settled_nodes_decide_only_alone(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    uint8_t settled[] = {1, 0};
    const graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.05, .draws = 199};
    size_t alerts = 0;
    for (uint64_t t = 0; t < 1000; t++) {
        graphss_alert_scores seen = snapshot_make(&s, 77 + t);
        graphss_verdict v;
        int32_t node[GROUP]; /* even: of the settled kind */
        for (int32_t i = 0; i < GROUP; i++)
            node[i] = CALM + 2 * i;
        seen.settled = settled;
        assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, node, GROUP, t, &opt));
        alerts += v.alert;
    }
    assert_in_range(alerts, 25, 78);
    graphss_alert_scores seen = snapshot_make(&s, 5);
    graphss_verdict without, with;
    int32_t node[GROUP];
    for (int32_t i = 0; i < GROUP; i++) {
        node[i] = CALM + (i < 5 ? 2 * i + 1 : 2 * i);
        s.score[node[i]] += i < 5 ? -20 : 20; /* the settled are high, the others low */
    }
    assert_ok(ctx, graphss_alert_judge(ctx, &without, &seen, node, GROUP, 1, &opt));
    seen.settled = settled;
    assert_ok(ctx, graphss_alert_judge(ctx, &with, &seen, node, GROUP, 1, &opt));
    assert_true(without.alert && !with.alert);
    graphss_ctx_free(ctx);
}

/* Sorted once or for every group: the same verdict to the bit. */
static void test_sorted_scores_give_the_same_verdicts(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    uint8_t settled[] = {1, 0}, rehearsed[] = {1, 1};
    for (uint64_t t = 0; t < 20; t++) {
        graphss_alert_scores seen = snapshot_make(&s, 50 + t), sorted;
        graphss_verdict a = {0}, b = {0};
        int32_t node[GROUP];
        for (int32_t i = 0; i < GROUP; i++)
            node[i] = (int32_t)(5 * t) + 3 * i; /* clean ones among them */
        for (int32_t i = 0; i < NODES && t % 2; i++)
            s.score[i] = round(s.score[i]); /* ties */
        seen.quiet = t % 3;
        seen.settled = t % 4 ? settled : NULL;
        seen.rehearsed = t % 5 ? rehearsed : NULL;
        sorted = seen;
        assert_ok(ctx, graphss_i_alert_sort(ctx, &sorted));
        assert_int_equal(sorted.sorted_start[2], NODES + CALM);
        for (int64_t i = 1; i < sorted.sorted_start[1]; i++) {
            const int32_t u = sorted.sorted[i - 1], v = sorted.sorted[i];
            assert_true((u < NODES ? s.score[u] : s.calm_score[u - NODES]) >=
                        (v < NODES ? s.score[v] : s.calm_score[v - NODES]));
        }
        assert_ok(ctx, graphss_alert_judge(ctx, &a, &seen, node, GROUP, t, NULL));
        assert_ok(ctx, graphss_alert_judge(ctx, &b, &sorted, node, GROUP, t, NULL));
        assert_true(a.p_value == b.p_value && a.score == b.score);
        assert_true(a.threshold == b.threshold && a.n_calibration == b.n_calibration);
        graphss_release(ctx, sorted.sorted);
        graphss_release(ctx, sorted.sorted_start);
    }
    graphss_ctx_free(ctx);
}

/* One node against three: it has rank 1 of 4, so p tends to 1 / 4. Score: how far its value is
 * above the mean of -log^3(r / 5), what is below counting a tenth, over the root mean square
 * of that. */
static void test_a_tiny_verdict_is_counted_by_hand(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    double score[] = {1, 2, 3, 9}, calm_score[] = {1, 2, 3};
    int32_t kind[4] = {0}, calm_node[] = {0, 1, 2}, free_node[] = {3};
    int64_t start[] = {0, 3};
    const graphss_alert_scores seen = {.n_nodes = 4,
                                       .n_kinds = 1,
                                       .score = score,
                                       .kind = kind,
                                       .start = start,
                                       .calm_node = calm_node,
                                       .calm_score = calm_score,
                                       .n_free = 1,
                                       .free_node = free_node};
    const graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.3, .draws = 100000};
    graphss_verdict v;
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, &opt));
    assert_float_equal(v.p_value, 0.25, 0.01);
    double mean = 0, square = 0;
    for (int r = 1; r <= 4; r++)
        mean += -pow(log(r / 5.0), 3) / 4;
    for (int r = 1; r <= 4; r++) {
        const double off = -pow(log(r / 5.0), 3) - mean;
        square += off > 0 ? off * off / 4 : 0.01 * off * off / 4;
    }
    assert_float_equal(v.score, (-pow(log(0.2), 3) - mean) / sqrt(square), 0.02);
    assert_true(v.alert);
    score[3] = 3; /* shares rank 1.5 */
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, &opt));
    assert_float_equal(v.p_value, 0.5, 0.01);
    const int32_t all[] = {0, 1, 2, 3}, twice[] = {3, 3}, far[] = {4};
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, all, 4, 1, &opt), GRAPHSS_ERR_DATA,
                 "no clean nodes");
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, twice, 2, 1, &opt),
                 GRAPHSS_ERR_INVALID, "twice");
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, far, 1, 1, &opt),
                 GRAPHSS_ERR_INVALID, "0..3");
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, far, 0, 1, &opt),
                 GRAPHSS_ERR_INVALID, "no nodes");
    graphss_ctx_free(ctx);
}

/* A kind whose clean nodes are higher than the group's must not hide another. */
static void test_a_calm_kind_hides_no_other(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    graphss_alert_scores seen = snapshot_make(&s, 9);
    graphss_verdict v;
    int32_t node[GROUP];
    for (int32_t i = 0; i < GROUP; i++) {
        node[i] = CALM + i;
        s.score[node[i]] += i % 2 ? -6 : i < 20 ? 6 : 0;
    }
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, node, GROUP, 1, NULL));
    assert_true(v.p_value < 0.01);
    graphss_ctx_free(ctx);
}

/* Many changed nodes beside few clean ones: the top is theirs in any case, and that nearly all
 * are above the clean ones is what tells. */
static void test_most_of_a_changed_kind_is_noticed(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    uint8_t changed[] = {1, 1};
    const graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.05, .draws = 1999};
    size_t alerts = 0;
    for (uint64_t t = 0; t < 200; t++) {
        graphss_alert_scores seen = snapshot_make(&s, 300 + t);
        graphss_verdict v;
        seen.changed = changed;
        assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, t, &opt));
        alerts += v.alert;
    }
    assert_in_range(alerts, 2, 20); /* 5 % of 200 is 10, with a deviation of 3 */
    graphss_alert_scores seen = snapshot_make(&s, 5);
    graphss_verdict top, most;
    int64_t few[] = {0, 10, 20}; /* clean nodes of each kind */
    memmove(s.calm_node + 10, s.calm_node + CALM / 2, 10 * sizeof *s.calm_node);
    memmove(s.calm_score + 10, s.calm_score + CALM / 2, 10 * sizeof *s.calm_score);
    seen.start = few;
    for (int32_t i = CALM; i < NODES; i++)
        s.score[i] += 0.9;
    assert_ok(ctx, graphss_alert_judge(ctx, &top, &seen, NULL, 0, 1, &opt));
    seen.changed = changed;
    assert_ok(ctx, graphss_alert_judge(ctx, &most, &seen, NULL, 0, 1, &opt));
    assert_true(most.p_value <= 0.001 && top.p_value > 0.002);
    graphss_ctx_free(ctx);
}

/* Where drawing would be much work the sum is taken to be normal but for its skewness: both
 * agree, far out as well. */
static void test_drawing_and_the_law_agree(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    static const double rate[] = {0.05, 0.005};
    for (uint64_t t = 0; t < 6; t++) {
        const graphss_alert_options few = {
            .struct_size = sizeof few, .false_alarm_rate = rate[t % 2], .draws = 19999};
        const graphss_alert_options many = {
            .struct_size = sizeof many, .false_alarm_rate = rate[t % 2], .draws = 500000};
        graphss_alert_scores seen = snapshot_make(&s, 200 + t);
        int32_t group[30];
        for (int32_t i = 0; i < 30; i++)
            group[i] = CALM + i;
        graphss_verdict drawn, law;
        assert_ok(ctx, graphss_alert_judge(ctx, &drawn, &seen, group, 30, 1, &few));
        assert_ok(ctx, graphss_alert_judge(ctx, &law, &seen, group, 30, 1, &many));
        assert_float_equal(drawn.p_value, law.p_value, 0.03);
        assert_float_equal(drawn.threshold, law.threshold, (t % 2 ? 0.4 : 0.1));
        assert_float_equal(drawn.score, law.score, 0.05);
    }
    graphss_ctx_free(ctx);
}

static graphss_status judge_all(graphss_ctx *ctx, void *arg)
{
    graphss_verdict v;
    return graphss_alert_judge(ctx, &v, arg, NULL, 0, 1, NULL);
}

static void test_failing_allocations_of_a_verdict_leave_nothing(void **state)
{
    (void)state;
    static snapshot s;
    graphss_alert_scores seen = snapshot_make(&s, 5);
    testing_each_allocation_fails(judge_all, &seen);
}

static graphss_status judge(graphss_ctx *ctx, void *arg)
{
    (void)arg;
    const double x[] = {1, 2, 3};
    double p, threshold;
    return graphss_alert_test(ctx, &p, &threshold, x, 3, x, 2, 1, NULL);
}

static void test_failing_allocations_leave_nothing(void **state)
{
    (void)state;
    testing_each_allocation_fails(judge, NULL);
}

/* 0.29 * 100 is a hair below 29. */
static void test_a_score_above_the_threshold_is_a_p_value_within_the_rate(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    const graphss_alert_options opt = {
        .struct_size = sizeof opt, .false_alarm_rate = 0.29, .draws = 99};
    size_t just = 0;
    for (uint64_t t = 0; t < 1000; t++) {
        double x[30], p = 0, threshold = 0, mean = 0;
        draw(x, 30, 0, 900 + t);
        for (size_t i = 0; i < 5; i++)
            mean += x[i] / 5;
        assert_ok(ctx, graphss_alert_test(ctx, &p, &threshold, x, 5, x + 5, 25, t, &opt));
        assert_int_equal(mean > threshold, p <= 0.29);
        just += p == 0.29;
    }
    assert_true(just > 0);
    graphss_ctx_free(ctx);
}

static void test_unsound_scores_are_refused(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    graphss_alert_scores none = {0}, seen = snapshot_make(&s, 5);
    graphss_verdict v = {.n_group = 77};
    const int32_t node[] = {0};
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &none, NULL, 0, 1, NULL),
                 GRAPHSS_ERR_INVALID, "no ");
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &none, node, 1, 1, NULL),
                 GRAPHSS_ERR_INVALID, "no ");
    seen.kind = NULL;
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, NULL),
                 GRAPHSS_ERR_INVALID, "no kinds");
    seen = snapshot_make(&s, 5);
    seen.kind[3] = 2;
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, NULL),
                 GRAPHSS_ERR_INVALID, "node 3 is of kind 2, want one of 2");
    seen = snapshot_make(&s, 5);
    seen.start[1] = CALM + 1;
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, NULL),
                 GRAPHSS_ERR_INVALID, "kind 1");
    seen = snapshot_make(&s, 5);
    seen.calm_node[2] = NODES;
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, NULL),
                 GRAPHSS_ERR_INVALID, "clean node 2 is");
    seen = snapshot_make(&s, 5);
    seen.free_node[0] = -1;
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, NULL, 0, 1, NULL),
                 GRAPHSS_ERR_INVALID, "node 0 without a label is -1");
    assert_int_equal(v.n_group, 77);
    graphss_ctx_free(ctx);
}

/* An order that a caller filled or spoilt must not lead out of the arrays. */
static void test_an_unsound_order_is_refused(void **state)
{
    (void)state;
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    static snapshot s;
    graphss_alert_scores seen = snapshot_make(&s, 5);
    assert_ok(ctx, graphss_i_alert_sort(ctx, &seen));
    int32_t *sorted = seen.sorted, twice[NODES + CALM];
    int64_t *start = seen.sorted_start;
    const int32_t node[] = {s.free_node[0], s.free_node[1]};
    const graphss_alert_options alone = {.struct_size = sizeof alone,
                                         .false_alarm_rate = 0.05,
                                         .draws = 99,
                                         .validation_only = true};
    graphss_verdict v = {.n_group = 77};
#define REFUSED(text)                                                                         \
    assert_fails(ctx, graphss_alert_judge(ctx, &v, &seen, node, 2, 1, &alone),                \
                 GRAPHSS_ERR_INVALID, text)
    const int32_t wrong[] = {-1, NODES + CALM};
    for (size_t i = 0; i < 2; i++) {
        const int32_t right = sorted[7];
        sorted[7] = wrong[i];
        REFUSED("place 7 of the sorted nodes is");
        sorted[7] = right;
    }
    for (size_t i = 0; i < NODES + CALM; i++)
        twice[i] = node[0];
    seen.sorted = twice;
    REFUSED("a node is more than once among the sorted");
    seen.sorted = sorted;
    start[seen.n_kinds]++;
    REFUSED("nodes are sorted, want");
    start[seen.n_kinds]--;
    start[1] += NODES + CALM + 1;
    REFUSED("kind 1: its sorted nodes end at");
    start[1] -= NODES + CALM + 1;
    seen.sorted_start = NULL;
    REFUSED("starts of the sorted kinds");
    seen.sorted_start = start;
    s.calm_node[2] = NODES;
    REFUSED("clean node 2 is");
    s.calm_node[2] = 0;
    const int32_t first = s.free_node[0];
    s.free_node[0] = NODES;
    REFUSED("node 0 without a label is");
    s.free_node[0] = first;
#undef REFUSED
    assert_int_equal(v.n_group, 77);
    assert_ok(ctx, graphss_alert_judge(ctx, &v, &seen, node, 2, 1, &alone));
    graphss_release(ctx, sorted);
    graphss_release(ctx, start);
    graphss_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean_groups_alert_as_often_as_promised),
        cmocka_unit_test(test_a_shifted_group_is_noticed_and_a_lower_one_is_not),
        cmocka_unit_test(test_a_tiny_case_is_counted_by_hand),
        cmocka_unit_test(test_what_cannot_be_judged_is_an_error),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
        cmocka_unit_test(test_groups_of_unlike_nodes_alert_as_often_as_promised),
        cmocka_unit_test(test_the_luck_of_validation_nodes_is_not_shared_by_all_groups),
        cmocka_unit_test(test_a_few_high_nodes_are_noticed),
        cmocka_unit_test(test_settled_nodes_decide_only_alone),
        cmocka_unit_test(test_sorted_scores_give_the_same_verdicts),
        cmocka_unit_test(test_a_tiny_verdict_is_counted_by_hand),
        cmocka_unit_test(test_a_calm_kind_hides_no_other),
        cmocka_unit_test(test_most_of_a_changed_kind_is_noticed),
        cmocka_unit_test(test_drawing_and_the_law_agree),
        cmocka_unit_test(test_failing_allocations_of_a_verdict_leave_nothing),
        cmocka_unit_test(test_a_score_above_the_threshold_is_a_p_value_within_the_rate),
        cmocka_unit_test(test_unsound_scores_are_refused),
        cmocka_unit_test(test_an_unsound_order_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
