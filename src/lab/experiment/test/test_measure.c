/* Areas, curves and calibration against their definitions. */
#include "lab/experiment/measure.h"
#include "testing.h"

static graphss_i_scored random_item(graphss_rng *rng)
{
    /* Few different scores: ties are the hard part. */
    const double score = (double)graphss_rng_below(rng, 12) / 4;
    return (graphss_i_scored){score, graphss_rng_double(rng) < 0.2 + score / 10};
}

/* The chance that a hit scores higher than another, by all pairs. */
static double pairs_auc(const graphss_i_scored *item, size_t n)
{
    double won = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (item[i].hit && !item[j].hit) {
                won += item[i].score > item[j].score    ? 1
                       : item[i].score == item[j].score ? 0.5
                                                        : 0;
                pairs++;
            }
    return pairs > 0 ? won / pairs : NAN;
}

static void area_is_the_share_of_pairs_in_order(void **state)
{
    (void)state;
    graphss_rng rng = graphss_rng_make(1, 99);
    for (size_t round = 0; round < 50; round++) {
        graphss_i_scored item[60];
        const size_t n = 2 + (size_t)graphss_rng_below(&rng, 58);
        for (size_t i = 0; i < n; i++)
            item[i] = random_item(&rng);
        item[0].hit = 1;
        item[1].hit = 0;
        const double wanted = pairs_auc(item, n);
        graphss_i_scored_sort(item, n);
        assert_true(fabs(graphss_i_auc(item, n) - wanted) < 1e-12);

        /* The area under the curve, by trapezes, is the same. */
        double x[61], y[61], area = 0;
        const size_t points = graphss_i_roc(x, y, item, n);
        for (size_t i = 1; i < points; i++) {
            assert_true(x[i] >= x[i - 1] && y[i] >= y[i - 1]);
            area += (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2;
        }
        assert_true(x[0] == 0 && y[0] == 0 && x[points - 1] == 1 && y[points - 1] == 1);
        assert_true(fabs(area - wanted) < 1e-12);
    }
}

static void without_hits_or_others_there_is_no_area(void **state)
{
    (void)state;
    graphss_i_scored hits[] = {{1, 1}, {2, 1}}, others[] = {{1, 0}};
    double x[3], y[3];
    assert_true(isnan(graphss_i_auc(hits, 2)));
    assert_true(isnan(graphss_i_auc(others, 1)));
    assert_true(isnan(graphss_i_auc(NULL, 0)));
    assert_int_equal(graphss_i_roc(x, y, hits, 2), 0);
    assert_int_equal(graphss_i_roc(x, y, others, 1), 0);
}

static void a_score_that_is_no_number_ranks_nothing(void **state)
{
    (void)state;
    graphss_i_scored item[] = {{NAN, 1}, {2, 1}, {NAN, 0}, {3, 0}, {1, 0}};
    double x[6], y[6];
    graphss_i_scored_sort(item, 5);
    assert_true(item[0].score == 3 && item[2].score == 1 && isnan(item[3].score));
    assert_true(isnan(graphss_i_auc(item, 5)));
    assert_int_equal(graphss_i_roc(x, y, item, 5), 0);
    assert_true(graphss_i_auc(item, 3) == 0.5);
}

static void calibration_error_of_a_known_case(void **state)
{
    (void)state;
    /* Two nodes sure by 0.9, one right; one sure by 0.6 and right; one without truth. */
    const double posterior[] = {0.9, 0.1, 0.1, 0.9, 0.6, 0.4, 1, 0};
    const int32_t truth[] = {0, 0, 0, -1}, node[] = {0, 1, 2, 3};
    graphss_i_bins bins;
    graphss_i_bins_fill(&bins, posterior, 2, truth, node, 4);
    assert_int_equal(bins.count[13], 2);
    assert_int_equal(bins.count[9], 1);
    assert_true(fabs(bins.accuracy[13] - 0.5) < 1e-12);
    assert_true(fabs(bins.confidence[9] - 0.6) < 1e-12);
    const double wanted = (2 * 0.4 + 1 * 0.4) / 3;
    assert_true(fabs(graphss_i_calibration_error(&bins) - wanted) < 1e-12);
    graphss_i_bins_fill(&bins, posterior, 2, truth, node + 3, 1);
    assert_true(isnan(graphss_i_calibration_error(&bins)));
}

static void full_confidence_is_in_the_last_bin(void **state)
{
    (void)state;
    const double posterior[] = {1, 0};
    const int32_t truth[] = {0}, node[] = {0};
    graphss_i_bins bins;
    graphss_i_bins_fill(&bins, posterior, 2, truth, node, 1);
    assert_int_equal(bins.count[GRAPHSS_I_BINS - 1], 1);
    assert_true(graphss_i_calibration_error(&bins) == 0);
}

static void a_posterior_that_is_no_number_is_in_no_bin(void **state)
{
    (void)state;
    const double posterior[] = {NAN, NAN, 0.6, 0.4};
    const int32_t truth[] = {0, 0}, node[] = {0, 1};
    graphss_i_bins bins;
    graphss_i_bins_fill(&bins, posterior, 2, truth, node, 2);
    size_t count = 0;
    for (size_t b = 0; b < GRAPHSS_I_BINS; b++)
        count += bins.count[b];
    assert_int_equal(count, 1);
    assert_int_equal(bins.count[9], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(area_is_the_share_of_pairs_in_order),
        cmocka_unit_test(without_hits_or_others_there_is_no_area),
        cmocka_unit_test(a_score_that_is_no_number_ranks_nothing),
        cmocka_unit_test(calibration_error_of_a_known_case),
        cmocka_unit_test(full_confidence_is_in_the_last_bin),
        cmocka_unit_test(a_posterior_that_is_no_number_is_in_no_bin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
