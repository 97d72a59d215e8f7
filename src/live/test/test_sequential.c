/* The test over time: exact p-values, and no more false alarms than promised. */
#include "testing.h"

#include "live/sequential.h"

TEST(ranks_are_uniform_whatever_the_scores)
{
    enum { N = 20000, PARTS = 20 };
    (void)state;
    static graphss_i_score_counts ref;
    graphss_rng rng = graphss_rng_make(1, GRAPHSS_STREAM_SAMPLER);
    size_t count[PARTS] = {0};
    memset(&ref, 0, sizeof ref);
    for (size_t i = 0; i < N; i++) { /* many ties: three scores, and a few others */
        const double score = graphss_rng_below(&rng, 10) ? (double)graphss_rng_below(&rng, 3)
                                                         : 5 * graphss_rng_normal(&rng);
        const double p = graphss_i_score_counts_rank(&ref, score, graphss_rng_double(&rng));
        graphss_i_score_counts_add(&ref, score);
        assert_true(p >= 0 && p <= 1);
        count[(size_t)fmin(p * PARTS, PARTS - 1)]++;
    }
    double chi = 0;
    for (size_t i = 0; i < PARTS; i++) {
        const double expected = (double)N / PARTS, off = (double)count[i] - expected;
        chi += off * off / expected;
    }
    assert_true(chi < 43.8); /* 0.1 % of chi-squared with 19 degrees of freedom */
}

/* Checks until the e-value reaches the threshold, `judged` p-values a check; share of them are
 * an attack's. */
static size_t checks_until_alarm(
    graphss_rng *rng, size_t most, size_t judged, double share, double threshold)
{
    graphss_i_bets bets = {0};
    for (size_t t = 1; t <= most; t++) {
        for (size_t i = 0; i < judged; i++) {
            const bool hostile = graphss_rng_double(rng) < share;
            graphss_i_bets_place(&bets, graphss_rng_double(rng) * (hostile ? 0.02 : 1));
        }
        if (graphss_i_bets_check(&bets) >= threshold)
            return t;
    }
    return most + 1;
}

TEST(false_alarms_are_no_more_than_promised)
{
    enum { RUNS = 400 };
    static const double threshold = 50;
    static const size_t judged[] = {1, 5, 40};
    (void)state;
    for (size_t j = 0; j < sizeof judged / sizeof *judged; j++) {
        size_t alarms = 0;
        graphss_rng rng = graphss_rng_make(j, GRAPHSS_STREAM_SAMPLER);
        for (size_t r = 0; r < RUNS; r++)
            alarms += checks_until_alarm(&rng, 50, judged[j], 0, threshold) <= 50;
        /* One alarm is allowed in 50 checks on average. A run of 50 that starts afresh holds
         * fewer than one in the mean; what is asked for is far below. */
        if (alarms > RUNS / 2)
            fail_msg("%zu of %d runs raise an alarm", alarms, (int)RUNS);
    }
}

TEST(an_attack_and_a_drip_are_found)
{
    graphss_rng rng = graphss_rng_make(9, GRAPHSS_STREAM_SAMPLER);
    /* half of the changes are hostile: at once; one in ten: within two days of hourly checks
     */
    for (size_t r = 0; r < 50; r++) {
        assert_true(checks_until_alarm(&rng, 10, 20, 0.5, 168) <= 4);
        assert_true(checks_until_alarm(&rng, 200, 10, 0.1, 168) <= 100);
    }
}

/* Read at its least, after any number of changes, it is below x with a chance of x at most. */
TEST(the_p_value_is_valid_whenever_it_is_read)
{
    enum { RUNS = 4000, CHECKS = 60, JUDGED = 5 };
    (void)state;
    graphss_rng rng = graphss_rng_make(3, GRAPHSS_STREAM_SAMPLER);
    size_t below[2] = {0, 0};
    double start = 0;
    for (size_t r = 0; r < RUNS; r++) {
        graphss_i_bets bets = {0};
        for (size_t t = 0; t < CHECKS; t++) {
            for (size_t i = 0; i < JUDGED; i++)
                graphss_i_bets_place(&bets, graphss_rng_double(&rng));
            (void)graphss_i_bets_check(&bets);
        }
        below[0] += graphss_i_bets_p_value(&bets) <= 0.2;
        below[1] += graphss_i_bets_p_value(&bets) <= 0.05;
        for (size_t i = 0; i < 40; i++) /* benign stretches do not hide an attack after them */
            graphss_i_bets_place(&bets, 0.01 * graphss_rng_double(&rng));
        start = fmax(start, graphss_i_bets_p_value(&bets));
    }
    assert_true(below[0] <= RUNS * 0.2 + 3 * sqrt(RUNS * 0.2 * 0.8));
    assert_true(below[1] <= RUNS * 0.05 + 3 * sqrt(RUNS * 0.05 * 0.95));
    assert_true(below[0] > RUNS * 0.02); /* nor is it always 1 */
    assert_true(start < 1e-6);
}

TEST(nothing_adds_up_without_changes)
{
    graphss_i_bets bets = {0};
    for (size_t t = 0; t < 1000; t++)
        assert_true(graphss_i_bets_check(&bets) <= 1);
    assert_true(graphss_i_bets_p_value(&bets) == 1);
    for (size_t i = 0; i < 50; i++)
        graphss_i_bets_place(&bets, 0.001);
    assert_true(graphss_i_bets_p_value(&bets) < 1e-6);
    assert_true(graphss_i_bets_check(&bets) > 1e6);
    graphss_i_bets_restart(&bets);
    assert_true(graphss_i_bets_value(&bets) == 1);
    graphss_i_bets_trust(&bets);
    assert_true(graphss_i_bets_p_value(&bets) == 1);
}

int main(void)
{
    return testing_run();
}
