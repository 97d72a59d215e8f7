#include "testing.h"

TEST(the_sequence_is_pcg32)
{
    /* First outputs of the reference generator for seed 42, stream 54. */
    static const uint32_t known[] = {
        0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e};
    graphss_rng rng = graphss_rng_make(42, 54);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(graphss_rng_u32(&rng), known[i]);
}

TEST(streams_differ)
{
    graphss_rng a = graphss_rng_make(1, GRAPHSS_STREAM_SPLIT);
    graphss_rng b = graphss_rng_make(1, GRAPHSS_STREAM_NOISE);
    int same = 0;
    for (int i = 0; i < 1000; i++)
        same += graphss_rng_u32(&a) == graphss_rng_u32(&b);
    assert_true(same < 3);
}

/* Chi-squared of n draws over k equal cells; mean k - 1, deviation sqrt(2 (k - 1)). */
static double chi_squared(const long *count, size_t k, long n)
{
    double sum = 0;
    const double wanted = (double)n / (double)k;
    for (size_t i = 0; i < k; i++)
        sum += ((double)count[i] - wanted) * ((double)count[i] - wanted) / wanted;
    return sum;
}

TEST(below_is_uniform)
{
    enum { K = 37, N = 200000 };
    long count[K] = {0};
    graphss_rng rng = graphss_rng_make(3, 1);
    for (int i = 0; i < N; i++)
        count[graphss_rng_below(&rng, K)]++;
    assert_true(fabs(chi_squared(count, K, N) - (K - 1)) < 5 * sqrt(2.0 * (K - 1)));
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(graphss_rng_below(&rng, 1), 0);
        assert_true(graphss_rng_below(&rng, (uint64_t)1 << 40) < (uint64_t)1 << 40);
    }
}

TEST(double_and_normal_have_their_density)
{
    enum { K = 20, N = 200000 };
    long flat[K] = {0}, bell[K] = {0};
    double sum = 0, square = 0;
    graphss_rng rng = graphss_rng_make(4, 1);
    for (int i = 0; i < N; i++) {
        const double u = graphss_rng_double(&rng), z = graphss_rng_normal(&rng);
        assert_true(u >= 0 && u < 1);
        flat[(size_t)(u * K)]++;
        bell[(size_t)(0.5 * erfc(-z / sqrt(2)) * K * (1 - 1e-12))]++;
        sum += z;
        square += z * z;
    }
    assert_true(fabs(chi_squared(flat, K, N) - (K - 1)) < 5 * sqrt(2.0 * (K - 1)));
    assert_true(fabs(chi_squared(bell, K, N) - (K - 1)) < 5 * sqrt(2.0 * (K - 1)));
    assert_true(fabs(sum / N) < 5 / sqrt(N));
    assert_true(fabs(square / N - 1) < 5 * sqrt(2.0 / N));
}

TEST(shuffle_reaches_every_order_alike)
{
    enum { N = 120000 };
    long count[6] = {0};
    graphss_rng rng = graphss_rng_make(5, 1);
    for (int i = 0; i < N; i++) {
        int32_t item[3] = {0, 1, 2};
        graphss_rng_shuffle(&rng, item, 3);
        assert_int_equal(item[0] + item[1] + item[2], 3);
        count[item[0] * 2 + (item[1] > item[2])]++;
    }
    assert_true(fabs(chi_squared(count, 6, N) - 5) < 5 * sqrt(10));
}

int main(void)
{
    return testing_run();
}
