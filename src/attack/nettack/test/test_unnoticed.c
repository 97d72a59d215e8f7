/* The two unnoticeability tests, against their definitions. */
#include "attack/nettack/unnoticed.h"
#include "attack/test/testing_attack.h"

/* allowed[i] by the definition, over a dense matrix. */
static void naive_allowed(bool *allowed, const dense_world *w, size_t node)
{
    bool joined[TINY_D][TINY_D] = {{false}};
    double inv[TINY_D], all = 0;
    for (size_t n = 0; n < TINY_N; n++)
        for (size_t i = 0; i < TINY_D; i++)
            for (size_t j = 0; j < TINY_D; j++)
                if (i != j && w->x[n][i] != 0 && w->x[n][j] != 0)
                    joined[i][j] = true;
    for (size_t j = 0; j < TINY_D; j++) {
        size_t degree = 0;
        for (size_t i = 0; i < TINY_D; i++)
            degree += joined[i][j];
        inv[j] = 1 / ((double)degree + 1e-8);
        all += w->x[node][j] != 0 ? inv[j] : 0;
    }
    for (size_t i = 0; i < TINY_D; i++) {
        double sum = 0;
        for (size_t j = 0; j < TINY_D; j++)
            sum += w->x[node][j] != 0 && joined[i][j] ? inv[j] : 0;
        allowed[i] = sum > 0.5 * all;
    }
}

static void check_all(
    const graphss_i_cooccur *c, const dense_world *w, graphss_i_cooccur_scratch *scratch)
{
    for (size_t n = 0; n < TINY_N; n++) {
        uint8_t got[TINY_D];
        bool want[TINY_D];
        graphss_i_cooccur_allowed(got, c, c->x->column[n], (size_t)c->x->length[n], scratch);
        naive_allowed(want, w, n);
        for (size_t i = 0; i < TINY_D; i++)
            assert_int_equal(got[i], want[i]);
    }
}

/* Many words, most of them together with most others or with few: blocks of bits in full. */
TEST_CTX(allowed_words_among_many)
{
    enum { NODES = 40, WORDS = 150, BLOCKS = 3 };
    graphss_rng rng = graphss_rng_make(5, 1);
    static float x[NODES][WORDS];
    uint8_t wanted[WORDS], got[WORDS];
    uint64_t row[BLOCKS];
    double sum[WORDS];
    graphss_i_cooccur_scratch scratch = {row, sum};
    for (size_t i = 0; i < NODES; i++)
        for (size_t j = 0; j < WORDS; j++)
            x[i][j] = graphss_rng_double(&rng) < (i % 8 && j % 3 ? 0.02 : 0.3);
    memset(wanted, 1, sizeof wanted);
    const graphss_features features = {.n_rows = NODES, .n_cols = WORDS, .value = x[0]};
    graphss_i_feature_index words;
    graphss_i_cooccur c;
    assert_ok(ctx, graphss_i_feature_index_init(ctx, &words, &features));
    assert_ok(ctx, graphss_i_cooccur_init(ctx, &c, &words, wanted, 1 << 20));
    for (size_t node = 0; node < NODES; node++) {
        double want[WORDS] = {0}, all = 0;
        for (size_t j = 0; j < WORDS; j++) {
            bool joined[WORDS] = {false};
            int64_t degree = 0;
            for (size_t i = 0; i < NODES; i++)
                for (size_t l = 0; l < WORDS && x[i][j] != 0; l++)
                    joined[l] |= l != j && x[i][l] != 0;
            for (size_t l = 0; l < WORDS; l++)
                degree += joined[l];
            const double inv = x[node][j] != 0 ? 1 / ((double)degree + 1e-8) : 0;
            all += inv;
            for (size_t l = 0; l < WORDS; l++)
                want[l] += joined[l] ? inv : 0;
        }
        graphss_i_cooccur_allowed(
            got, &c, words.column[node], (size_t)words.length[node], &scratch);
        for (size_t l = 0; l < WORDS; l++)
            if (fabs(want[l] - 0.5 * all) > 1e-9)
                assert_int_equal(got[l], want[l] > 0.5 * all);
    }
    graphss_i_cooccur_destroy(ctx, &c);
    graphss_i_feature_index_destroy(ctx, &words);
}

/* Kept rows, rows worked out on the spot, and rows kept up to date while words change. */
TEST_CTX(allowed_words_agree_with_the_definition)
{
    uint64_t row[1];
    double sum[TINY_D];
    graphss_i_cooccur_scratch scratch = {row, sum};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        tiny_world t;
        tiny_make(ctx, &t, seed, GRAPHSS_FEATURES_BINARY);
        graphss_i_feature_index x;
        graphss_i_cooccur c;
        uint8_t wanted[TINY_D];
        for (size_t j = 0; j < TINY_D; j++)
            wanted[j] = seed % 3 ? (uint8_t)(j % (seed % 3) == 0) : 0;
        assert_ok(ctx, graphss_i_feature_index_init(ctx, &x, &t.data.features));
        assert_ok(ctx, graphss_i_cooccur_init(ctx, &c, &x, wanted, seed == 5 ? 30 : 1 << 20));
        dense_world w;
        dense_make(&w, &t.data.graph, &t.data.features);
        check_all(&c, &w, &scratch);
        graphss_rng rng = graphss_rng_make(seed, 7);
        for (int change = 0; change < 30; change++) {
            const size_t n = (size_t)graphss_rng_below(&rng, TINY_N);
            int32_t old[TINY_D], column[TINY_D];
            double value[TINY_D];
            const size_t n_old = (size_t)x.length[n];
            size_t n_now = 0;
            memcpy(old, x.column[n], n_old * sizeof *old);
            for (int flips = 0; flips < 3; flips++) {
                const size_t j = (size_t)graphss_rng_below(&rng, TINY_D);
                w.x[n][j] = !(w.x[n][j] != 0);
            }
            for (size_t j = 0; j < TINY_D; j++)
                if (w.x[n][j] != 0) {
                    column[n_now] = (int32_t)j;
                    value[n_now++] = 1;
                }
            assert_ok(ctx, graphss_i_feature_index_replace(ctx, &x, n, column, value, n_now));
            graphss_i_cooccur_update(&c, old, n_old, column, n_now);
            check_all(&c, &w, &scratch);
        }
        graphss_i_cooccur_destroy(ctx, &c);
        graphss_i_feature_index_destroy(ctx, &x);
        graphss_dataset_destroy(ctx, &t.data);
    }
}

TEST_CTX(an_added_feature_gets_the_median_of_its_column)
{
    /* columns: 1 4 2 / 3 1 / none / 7, as rows */
    int64_t offset[] = {0, 2, 4, 6};
    int32_t column[] = {0, 1, 0, 1, 0, 3};
    float value[] = {1, 3, 4, 1, 2, 7};
    const graphss_features f = {3, 4, offset, column, value, GRAPHSS_FEATURES_COUNTS};
    graphss_i_feature_index x;
    float on[4];
    const float binary[] = {1, 1, 1, 1}, counts[] = {2, 1, 1, 7}, real[] = {2, 2, 1, 7};
    for (int holders = 0; holders < 2; holders++) {
        assert_ok(ctx, holders ? graphss_i_feature_index_init(ctx, &x, &f)
                               : graphss_i_feature_index_rows(ctx, &x, &f));
        assert_ok(ctx, graphss_i_feature_index_on(ctx, on, &x, GRAPHSS_DOMAIN_BINARY));
        assert_memory_equal(on, binary, sizeof on);
        assert_ok(ctx, graphss_i_feature_index_on(ctx, on, &x, GRAPHSS_DOMAIN_COUNTS));
        assert_memory_equal(on, counts, sizeof on);
        assert_ok(ctx, graphss_i_feature_index_on(ctx, on, &x, GRAPHSS_DOMAIN_REAL));
        assert_memory_equal(on, real, sizeof on);
        const int32_t words[] = {1, 2};
        const double values[] = {5, 6};
        assert_ok(ctx, graphss_i_feature_index_replace(ctx, &x, 2, words, values, 2));
        assert_int_equal(x.length[2], 2);
        assert_memory_equal(x.column[2], words, sizeof words);
        assert_true(graphss_i_feature_index_value(&x, 2, 1) == 6);
        if (holders)
            assert_int_equal(x.holders.length[0], 2);
        graphss_i_feature_index_destroy(ctx, &x);
    }
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Against sorting, columns of every length up to 60, with ties and without. */
/* 200 columns, so that rows outgrow their room and shrink again. */
TEST_CTX(words_set_one_by_one_agree_with_a_table)
{
    enum { N = 3, D = 200 };
    int64_t offset[] = {0, 0, 2, 3};
    int32_t column[] = {5, 190, 7};
    float value[] = {1, 2, 3};
    const graphss_features f = {N, D, offset, column, value, GRAPHSS_FEATURES_COUNTS};
    double table[N][D] = {[1] = {[5] = 1, [190] = 2}, [2] = {[7] = 3}};
    graphss_i_feature_index x;
    graphss_rng rng = graphss_rng_make(1, 7);
    assert_ok(ctx, graphss_i_feature_index_init(ctx, &x, &f));
    for (int change = 0; change < 3000; change++) {
        const size_t i = (size_t)graphss_rng_below(&rng, N);
        const size_t j = (size_t)graphss_rng_below(&rng, D);
        const uint64_t zeros = change / 1000 % 2 ? 6 : 2; /* fill, empty, fill */
        table[i][j] = graphss_rng_below(&rng, 8) < zeros ? 0 : (double)(1 + change % 5);
        assert_ok(ctx, graphss_i_feature_index_set(ctx, &x, i, (int32_t)j, table[i][j]));
        for (size_t n = 0, c = 0; c < D; c++) {
            const bool there = table[i][c] != 0;
            assert_int_equal(graphss_i_rows_has(&x.holders, c, (int32_t)i), there);
            if (there) {
                assert_int_equal(x.column[i][n], c);
                assert_true(graphss_i_feature_index_value(&x, i, n) == table[i][c]);
            }
            n += there;
            if (c + 1 == D)
                assert_int_equal(x.length[i], n);
        }
    }
    graphss_i_feature_index_destroy(ctx, &x);
}

TEST_CTX(medians_agree_with_sorting)
{
    enum { MOST = 60 };
    graphss_rng rng = graphss_rng_make(9, 0);
    for (size_t n = 1; n <= MOST; n++)
        for (size_t ties = 0; ties < 2; ties++) {
            int64_t offset[MOST + 1];
            int32_t column[MOST] = {0};
            float value[MOST], sorted[MOST], on;
            for (size_t i = 0; i < n; i++) {
                offset[i] = (int64_t)i;
                value[i] = sorted[i] = ties ? (float)(1 + graphss_rng_below(&rng, 4))
                                            : (float)graphss_rng_double(&rng) + 0.1f;
            }
            offset[n] = (int64_t)n;
            qsort(sorted, n, sizeof *sorted, ascending);
            const graphss_features f = {n, 1, offset, column, value, GRAPHSS_FEATURES_REAL};
            graphss_i_feature_index x;
            assert_ok(ctx, graphss_i_feature_index_init(ctx, &x, &f));
            assert_ok(ctx, graphss_i_feature_index_on(ctx, &on, &x, GRAPHSS_DOMAIN_COUNTS));
            assert_true(on == sorted[(n - 1) / 2]);
            assert_ok(ctx, graphss_i_feature_index_on(ctx, &on, &x, GRAPHSS_DOMAIN_REAL));
            assert_true(
                on == (float)(0.5 * ((double)sorted[(n - 1) / 2] + (double)sorted[n / 2])));
            graphss_i_feature_index_destroy(ctx, &x);
        }
}

/* The ratio from two whole lists of degrees. */
static double naive_ll(
    double sign, const int *degree, size_t n, const int *more, size_t n_more)
{
    double count = 0, sum = 0;
    for (size_t i = 0; i < n + n_more; i++) {
        const int d = i < n ? degree[i] : more[i - n];
        count += d >= 2;
        sum += d >= 2 ? log((double)d) : 0;
    }
    const double alpha = count / (sum - count * log(1.5)) + 1;
    return count * log(alpha) + count * alpha * log(2) + sign * (alpha + 1) * sum;
}

TEST(the_degree_ratio_agrees_with_whole_lists_of_degrees)
{
    enum { NODES = 60, MOST = 12 };
    graphss_rng rng = graphss_rng_make(2, 2);
    int before[NODES], now[NODES];
    int32_t count[MOST + 1] = {0};
    for (size_t i = 0; i < NODES; i++) {
        before[i] = now[i] = 1 + (int)graphss_rng_below(&rng, MOST);
        count[before[i]]++;
    }
    graphss_i_degree_test t[2]; /* as published, and as in the paper's code */
    graphss_i_degree_test_start(&t[0], count, MOST, 0.004, false);
    graphss_i_degree_test_start(&t[1], count, MOST, 0.004, true);
    for (int flip = 0; flip < 50; flip++) {
        const size_t a = (size_t)graphss_rng_below(&rng, NODES);
        const size_t b = (a + 1 + (size_t)graphss_rng_below(&rng, NODES - 1)) % NODES;
        const int step = graphss_rng_below(&rng, 2) && now[a] > 1 && now[b] > 1 ? -1 : 1;
        double got[2];
        for (int i = 0; i < 2; i++) {
            got[i] = graphss_i_degree_ratio(&t[i], now[a], now[b], step);
            graphss_i_degree_test_move(&t[i], now[a], now[b], step);
        }
        now[a] += step;
        now[b] += step;
        for (int i = 0; i < 2; i++) {
            const double sign = i ? 1 : -1;
            const double want = -2 * naive_ll(sign, before, NODES, now, NODES) +
                                2 * (naive_ll(sign, before, NODES, NULL, 0) +
                                        naive_ll(sign, now, NODES, NULL, 0));
            assert_true(fabs(got[i] - want) < 1e-10);
        }
        assert_true(got[0] > -1e-10); /* two fits are never worse than one */
    }
}

int main(void)
{
    return testing_run();
}
