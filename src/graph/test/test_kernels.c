#include "graph/test/testing_random_csr.h"
#include "kernels/kernels.h"
#include "testing.h"

static const size_t widths[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 64, 96, 97, 200, 257, 333};
enum { WIDTHS = sizeof widths / sizeof *widths };

static void assert_near(double got, double want, double size, const char *set, size_t k)
{
    if (!(fabs(got - want) <= 2e-6 * size + 1e-30))
        fail_msg("%s, k = %zu: got %.9g, want %.9g", set, k, got, want);
}

/* ---- naive twins, in double; size is the sum of absolute terms ---- */

static double spmm_twin(
    double *size, const graphss_i_csr *m, const float *x, size_t k, size_t i, size_t c)
{
    double sum = 0;
    *size = 0;
    for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
        const double term = (m->value ? m->value[e] : 1.0) * x[m->column[e] * k + c];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static void check_spmm(
    const graphss_i_kernels *kern, const graphss_i_csr *m, const float *x, size_t k)
{
    float *y = malloc((m->n_rows * k + 1) * sizeof *y);
    for (size_t j = 0; j <= m->n_rows * k; j++)
        y[j] = NAN;
    kern->spmm(y, m->offset, m->column, m->value, x, k, 0, m->n_rows, 0, k);
    for (size_t i = 0; i < m->n_rows; i++)
        for (size_t c = 0; c < k; c++) {
            double size;
            const double want = spmm_twin(&size, m, x, k, i, c);
            assert_near(y[i * k + c], want, size, kern->name, k);
        }
    assert_true(isnan(y[m->n_rows * k])); /* nothing is written beyond the end */
    free(y);
}

TEST(spmm_equals_its_naive_twin)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < WIDTHS; w++)
        for (int valued = 0; valued < 2; valued++) {
            const size_t k = widths[w];
            graphss_i_csr m = random_csr(&rng, 41, 53, 6, valued, true);
            float *x = random_floats(&rng, m.n_cols * k);
            check_spmm(kern, &m, x, k);
            random_csr_free(&m);
            free(x);
        }
}

/* The first half of each row is kept: as with the kept entries alone, and near all of them. */
TEST(both_products_at_once)
{
    graphss_rng rng = graphss_rng_make(9, 1);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < WIDTHS; w++) {
        const size_t k = widths[w], n = 41;
        graphss_i_csr m = random_csr(&rng, n, 53, 6, true, true);
        const size_t nnz = (size_t)m.offset[n];
        float *x = random_floats(&rng, m.n_cols * k),
              *value = malloc((nnz + 1) * sizeof *value);
        float *y = malloc(n * k * sizeof *y), *kept_y = malloc(n * k * sizeof *y);
        float *want = malloc(n * k * sizeof *y);
        int32_t *column = malloc((nnz + 1) * sizeof *column);
        int64_t kept[42] = {0}, at = 0;
        for (size_t i = 0; i < n; i++)
            kept[i + 1] = kept[i] + (m.offset[i + 1] - m.offset[i]) / 2;
        at = kept[n];
        for (size_t i = 0; i < n; i++)
            for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++) {
                const int64_t j = e - m.offset[i], of = kept[i + 1] - kept[i];
                const int64_t to = j < of ? kept[i] + j : at++;
                column[to] = m.column[e];
                value[to] = m.value[e];
            }
        kern->spmm_both(kept_y, y, kept, m.offset, column, value, 0.5f, x, k, n, 0, 17, 0, k);
        kern->spmm_both(kept_y, y, kept, m.offset, column, value, 0.5f, x, k, n, 17, n, 0, k);
        kern->spmm(want, kept, column, value, x, k, 0, n, 0, k);
        assert_memory_equal(kept_y, want, n * k * sizeof *y);
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < k; c++) {
                double size;
                const double sum = spmm_twin(&size, &m, x, k, i, c);
                assert_near(y[i * k + c], 0.5 * sum, size, kern->name, k);
            }
        random_csr_free(&m);
        free(x), free(value), free(y), free(kept_y), free(want), free(column);
    }
}

TEST(bits_in_common_are_counted)
{
    enum { ROWS = 5, WORDS = 3 };
    const size_t at[] = {4, 0, 0, 2, 1, 3, 4};
    enum { N = sizeof at / sizeof *at };
    graphss_rng rng = graphss_rng_make(11, 1);
    uint64_t a[WORDS], b[ROWS * WORDS];
    uint32_t found[N];
    for (size_t w = 0; w < WORDS; w++)
        a[w] = graphss_rng_u64(&rng);
    for (size_t w = 0; w < ROWS * WORDS; w++)
        b[w] = graphss_rng_u64(&rng);
    FOR_EACH_SET(kern)
    {
        kern->common_bits(found, a, b, at, N, WORDS);
        for (size_t j = 0; j < N; j++) {
            uint32_t want = 0;
            for (size_t bit = 0; bit < 64 * WORDS; bit++)
                want += (a[bit / 64] & b[at[j] * WORDS + bit / 64]) >> bit % 64 & 1;
            assert_int_equal(found[j], want);
        }
    }
}

TEST(spmm_known_answer)
{
    const int64_t offset[] = {0, 2, 2, 3};
    const int32_t column[] = {0, 2, 1};
    const float value[] = {2, -1, 0.5f}, x[] = {1, 2, 3, 4, 5, 6};
    const float want[] = {-3, -2, 0, 0, 1.5f, 2}, ones[] = {6, 8, 0, 0, 3, 4};
    FOR_EACH_SET(kern)
    {
        float y[6];
        kern->spmm(y, offset, column, value, x, 2, 0, 3, 0, 2);
        assert_memory_equal(y, want, sizeof y);
        kern->spmm(y, offset, column, NULL, x, 2, 0, 3, 0, 2);
        assert_memory_equal(y, ones, sizeof y);
    }
}

TEST(spmm_of_a_strip_equals_the_whole_and_keeps_to_its_columns)
{
    graphss_rng rng = graphss_rng_make(8, 1);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < WIDTHS; w++) {
        const size_t k = widths[w], c0 = k / 3, c1 = k - k / 5;
        graphss_i_csr m = random_csr(&rng, 20, 20, 5, true, true);
        float *x = random_floats(&rng, 20 * k), *whole = malloc(20 * k * sizeof *whole);
        float *strip = random_floats(&rng, 20 * k), *before = malloc(20 * k * sizeof *before);
        memcpy(before, strip, 20 * k * sizeof *before);
        kern->spmm(whole, m.offset, m.column, m.value, x, k, 0, 20, 0, k);
        kern->spmm(strip, m.offset, m.column, m.value, x, k, 0, 20, c0, c1);
        for (size_t j = 0; j < 20 * k; j++)
            assert_true(strip[j] == (j % k >= c0 && j % k < c1 ? whole[j] : before[j]));
        free(x);
        free(whole);
        free(strip);
        free(before);
        random_csr_free(&m);
    }
}

TEST(an_empty_matrix_writes_nothing)
{
    const int64_t offset[] = {0};
    float y = 7, x = 1;
    FOR_EACH_SET(kern)
    {
        kern->spmm(&y, offset, NULL, NULL, &x, 200, 0, 0, 0, 200);
        kern->spmm_transposed(&y, offset, NULL, NULL, &x, 200, 0, 0, 200);
        kern->sddmm(&y, offset, NULL, &x, &x, 200, 0, 0);
        kern->axpy(&y, &x, 2, 0);
        kern->dropout(&y, &x, 5, 5, 1, 100, 2);
        assert_true(y == 7);
    }
}

TEST(cutting_rows_changes_no_bit)
{
    graphss_rng rng = graphss_rng_make(2, 1);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < WIDTHS; w++) {
        const size_t k = widths[w];
        graphss_i_csr m = random_csr(&rng, 30, 30, 9, true, true);
        const size_t nnz = (size_t)m.offset[30];
        float *x = random_floats(&rng, 30 * k), *b = random_floats(&rng, 30 * k);
        float *whole = calloc(30 * k, sizeof *whole), *cut = calloc(30 * k, sizeof *cut);
        float *dots = calloc(nnz + 1, sizeof *dots), *cut_dots = calloc(nnz + 1, sizeof *dots);
        kern->spmm(whole, m.offset, m.column, m.value, x, k, 0, 30, 0, k);
        kern->sddmm(dots, m.offset, m.column, x, b, k, 0, 30);
        for (size_t i = 0, step = 1; i < 30; i += step, step++) {
            const size_t end = i + step < 30 ? i + step : 30;
            kern->spmm(cut, m.offset, m.column, m.value, x, k, i, end, 0, k);
            kern->sddmm(cut_dots, m.offset, m.column, x, b, k, i, end);
        }
        assert_memory_equal(whole, cut, 30 * k * sizeof *whole);
        assert_memory_equal(dots, cut_dots, nnz * sizeof *dots);
        free(whole);
        free(cut);
        free(dots);
        free(cut_dots);
        free(x);
        free(b);
        random_csr_free(&m);
    }
}

TEST(transposed_product_adds_and_keeps_to_its_columns)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < WIDTHS; w++)
        for (int valued = 0; valued < 2; valued++) {
            const size_t k = widths[w], c0 = k / 3, c1 = k - k / 5;
            graphss_i_csr m = random_csr(&rng, 23, 19, 5, valued, true);
            float *x = random_floats(&rng, 23 * k), *y = random_floats(&rng, 19 * k);
            double *want = malloc(19 * k * sizeof *want), *size = calloc(19 * k, sizeof *want);
            for (size_t j = 0; j < 19 * k; j++)
                want[j] = y[j];
            for (size_t i = 0; i < 23; i++)
                for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++)
                    for (size_t c = c0; c < c1; c++) {
                        const double term = (valued ? m.value[e] : 1.0) * x[i * k + c];
                        want[m.column[e] * k + c] += term;
                        size[m.column[e] * k + c] += fabs(term) + 1;
                    }
            kern->spmm_transposed(y, m.offset, m.column, m.value, x, k, 23, c0, c1);
            for (size_t j = 0; j < 19 * k; j++)
                assert_near(y[j], want[j], size[j], kern->name, k);
            free(want);
            free(size);
            free(x);
            free(y);
            random_csr_free(&m);
        }
}

/* r[i] sum_j bit(i, j) s[j] x[j][c], bit by bit. */
static double bits_twin(double *size, const uint32_t *word, size_t n_rows, size_t n_x,
    const float *x, size_t k, const float *s, double r, size_t i, size_t c)
{
    double sum = 0;
    *size = 0;
    for (size_t j = 0; j < n_x; j++) {
        if (!(word[j / 32 * n_rows + i] >> j % 32 & 1))
            continue;
        const double term = r * (s ? (double)s[j] : 1.0) * (double)x[j * k + c];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

TEST(bits_equal_their_naive_twin_and_keep_to_their_place)
{
    enum { ROWS = 9, MOST = 70 };
    static const size_t columns[] = {1, 31, 32, 33, 64, MOST};
    graphss_rng rng = graphss_rng_make(12, 1);
    uint32_t word[3 * ROWS];
    for (size_t q = 0; q < 3 * ROWS; q++)
        word[q] = (uint32_t)graphss_rng_u64(&rng);
    float *r = random_floats(&rng, ROWS), *s = random_floats(&rng, MOST);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < WIDTHS; w++)
        for (size_t q = 0; q < sizeof columns / sizeof *columns; q++) {
            const size_t k = widths[w], n_x = columns[q], c0 = k / 3, c1 = k - k / 5;
            const bool scaled = q % 2;
            float *x = random_floats(&rng, n_x * k), *y = random_floats(&rng, ROWS * k);
            float *before = malloc(ROWS * k * sizeof *before);
            memcpy(before, y, ROWS * k * sizeof *before);
            kern->bits(y, word, ROWS, x, n_x, k, scaled ? r : NULL, scaled ? s : NULL, 1,
                ROWS - 1, c0, c1);
            for (size_t i = 0; i < ROWS; i++)
                for (size_t c = 0; c < k; c++) {
                    const float got = y[i * k + c];
                    double size;
                    const double want = bits_twin(&size, word, ROWS, n_x, x, k,
                        scaled ? s : NULL, scaled ? (double)r[i] : 1.0, i, c);
                    if (i == 0 || i == ROWS - 1 || c < c0 || c >= c1)
                        assert_true(got == before[i * k + c]);
                    else
                        assert_near(got, want, size, kern->name, k);
                }
            free(x);
            free(y);
            free(before);
        }
    free(r);
    free(s);
}

TEST(sddmm_adds_dot_products)
{
    graphss_rng rng = graphss_rng_make(4, 1);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < WIDTHS; w++) {
        const size_t k = widths[w];
        graphss_i_csr m = random_csr(&rng, 23, 31, 7, false, true);
        float *a = random_floats(&rng, 23 * k), *b = random_floats(&rng, 31 * k);
        float *out = random_floats(&rng, (size_t)m.offset[23]);
        float *before = malloc(((size_t)m.offset[23] + 1) * sizeof *before);
        memcpy(before, out, (size_t)m.offset[23] * sizeof *out);
        kern->sddmm(out, m.offset, m.column, a, b, k, 0, 23);
        for (size_t i = 0; i < 23; i++)
            for (int64_t e = m.offset[i]; e < m.offset[i + 1]; e++) {
                double want = before[e], size = fabs(want);
                for (size_t c = 0; c < k; c++) {
                    const double term = (double)a[i * k + c] * b[m.column[e] * k + c];
                    want += term;
                    size += fabs(term);
                }
                assert_near(out[e], want, size, kern->name, k);
            }
        free(a);
        free(b);
        free(out);
        free(before);
        random_csr_free(&m);
    }
}

TEST(adam_takes_the_published_step)
{
    enum { N = 37 };
    const double rate = 0.01, b1 = 0.9, b2 = 0.999, eps = 1e-8, decay = 5e-4;
    FOR_EACH_SET(kern)
    {
        graphss_rng rng = graphss_rng_make(5, 1);
        float w[N], m[N] = {0}, v[N] = {0}, g[N];
        double dw[N], dm[N] = {0}, dv[N] = {0};
        for (size_t j = 0; j < N; j++)
            dw[j] = w[j] = (float)graphss_rng_normal(&rng);
        for (int t = 1; t <= 20; t++) {
            const double c1 = 1 - pow(b1, t), c2 = 1 - pow(b2, t);
            for (size_t j = 0; j < N; j++) {
                g[j] = (float)graphss_rng_normal(&rng);
                const double grad = g[j] + decay * dw[j];
                dm[j] = b1 * dm[j] + (1 - b1) * grad;
                dv[j] = b2 * dv[j] + (1 - b2) * grad * grad;
                dw[j] -= rate * (dm[j] / c1) / (sqrt(dv[j] / c2) + eps);
            }
            kern->adam(w, m, v, g, N, (float)decay, (float)b1, (float)b2,
                (float)(rate * sqrt(c2) / c1), (float)(eps * sqrt(c2)));
        }
        for (size_t j = 0; j < N; j++) {
            assert_near(w[j], dw[j], 3, kern->name, N);
            assert_near(v[j], dv[j], 1, kern->name, N);
        }
    }
}

TEST(relu_and_its_gradient)
{
    enum { ROWS = 5, K = 19, N = ROWS * K };
    graphss_rng rng = graphss_rng_make(6, 1);
    float *x = random_floats(&rng, N), *bias = random_floats(&rng, K);
    float *gy = random_floats(&rng, N);
    x[7] = NAN;
    bias[2] = 0;
    x[2] = 0;
    FOR_EACH_SET(kern)
    {
        float y[N], gx[N], plain[N];
        for (size_t j = 0; j < N; j++)
            y[j] = plain[j] = -1;
        kern->bias_relu(y, x, bias, K, 1, 4);
        kern->bias_relu(plain, x, NULL, K, 0, ROWS);
        kern->relu_backward(gx, gy, plain, N, 1);
        for (size_t j = 0; j < N; j++) {
            if (j == 7) {
                assert_true(isnan(plain[j]));
                continue;
            }
            assert_true(plain[j] == (x[j] > 0 ? x[j] : 0));
            assert_true(gx[j] == (x[j] > 0 ? gy[j] : 0));
            if (j < K || j >= 4 * K)
                assert_true(y[j] == -1); /* rows that were not requested */
            else
                assert_true(y[j] == (x[j] + bias[j % K] > 0 ? x[j] + bias[j % K] : 0));
        }
        memcpy(y, x, sizeof y);
        kern->bias_relu(y, y, bias, K, 0, ROWS);
        memcpy(plain, gy, sizeof plain);
        kern->relu_backward(plain, plain, y, N, 2);
        for (size_t j = 0; j < N; j++)
            assert_true(plain[j] == (x[j] + bias[j % K] > 0 ? 2 * gy[j] : 0));
    }
    free(x);
    free(bias);
    free(gy);
}

TEST(column_sums)
{
    enum { ROWS = 13 };
    graphss_rng rng = graphss_rng_make(14, 1);
    FOR_EACH_SET(kern)
    for (size_t w = 0; w < WIDTHS; w++) {
        const size_t k = widths[w];
        float *x = random_floats(&rng, ROWS * k), *out = random_floats(&rng, k + 1);
        const float behind = out[k];
        kern->column_sums(out, x, k, 2, ROWS - 1);
        for (size_t c = 0; c < k; c++) {
            double want = 0, size = 0;
            for (size_t i = 2; i < ROWS - 1; i++) {
                want += (double)x[i * k + c];
                size += fabs((double)x[i * k + c]);
            }
            assert_near(out[c], want, size, kern->name, k);
        }
        assert_true(out[k] == behind);
        free(x);
        free(out);
    }
}

TEST(axpy_adds_a_multiple)
{
    FOR_EACH_SET(kern)
    {
        float y[23], x[23];
        for (int j = 0; j < 23; j++) {
            y[j] = (float)j;
            x[j] = (float)(j % 5);
        }
        kern->axpy(y, x, -2, 21);
        for (int j = 0; j < 23; j++)
            assert_true(y[j] == (float)(j < 21 ? j - 2 * (j % 5) : j));
    }
}

/* ---- dropout ---- */

/* 1 where the number is kept. */
static float *mask(const graphss_i_kernels *kern, size_t n, uint64_t key, uint32_t threshold)
{
    float *y = malloc(n * sizeof *y);
    for (size_t j = 0; j < n; j++)
        y[j] = 1;
    kern->dropout(y, y, 0, n, key, threshold, 1);
    return y;
}

TEST(dropout_is_the_same_everywhere_and_in_pieces)
{
    enum { N = 1000 };
    graphss_rng rng = graphss_rng_make(7, 1);
    float *x = random_floats(&rng, N), want[N];
    graphss_i_kernels_generic.dropout(want, x, 0, N, 99, 30000, 1.5f);
    FOR_EACH_SET(kern)
    {
        float y[N];
        for (size_t j = 0, step = 1; j < N; j += step, step++)
            kern->dropout(y, x, j, j + step < N ? j + step : N, 99, 30000, 1.5f);
        assert_memory_equal(y, want, sizeof y);
        memcpy(y, x, sizeof y);
        kern->dropout(y, y, 0, N, 99, 30000, 1.5f);
        assert_memory_equal(y, want, sizeof y);
    }
    for (size_t j = 0; j < N; j++)
        assert_true(want[j] == 0 || want[j] == x[j] * 1.5f);
    free(x);
}

TEST(dropping_bits_drops_what_dropping_numbers_does)
{
    enum { WORDS = 40, FROM = 3 };
    graphss_rng rng = graphss_rng_make(13, 1);
    uint32_t x[WORDS], y[WORDS] = {0};
    float ones[32 * WORDS];
    for (size_t q = 0; q < WORDS; q++)
        x[q] = (uint32_t)graphss_rng_u64(&rng);
    FOR_EACH_SET(kern)
    {
        for (size_t j = 0; j < 32 * WORDS; j++)
            ones[j] = 1;
        kern->dropout(ones, ones, 0, 32 * WORDS, 42, 20000, 1);
        kern->dropout_bits(y, x, FROM, WORDS, 42, 20000);
        for (size_t q = FROM; q < WORDS; q++)
            for (size_t b = 0; b < 32; b++)
                assert_int_equal(y[q] >> b & 1, ones[32 * q + b] != 0 ? x[q] >> b & 1 : 0);
        assert_true(y[0] == 0 && y[FROM - 1] == 0);
    }
}

TEST(dropout_beyond_32_bits_of_counter)
{
    /* The kernel touches numbers j0..j1 only, so the array may start far below them. */
    const size_t far = (size_t)1 << 33;
    FOR_EACH_SET(kern)
    {
        float here[64], there[64];
        for (int j = 0; j < 64; j++)
            here[j] = there[j] = 1;
        float *base = (float *)((uintptr_t)there - far * sizeof *there);
        kern->dropout(here, here, 0, 64, 5, 1 << 15, 1);
        kern->dropout(base, base, far, far + 64, 5, 1 << 15, 1);
        assert_memory_not_equal(here, there, sizeof here);
    }
}

TEST(dropout_keeps_the_share_it_should)
{
    enum { N = 1 << 20 };
    const graphss_i_kernels *kern = graphss_i_kernels_choose();
    const uint32_t thresholds[] = {0, 655, 6554, 32768, 58982, 65536};
    for (size_t t = 0; t < 6; t++)
        for (uint64_t key = 0; key < 4; key++) {
            float *y = mask(kern, N, key, thresholds[t]);
            double kept = 0;
            for (size_t j = 0; j < N; j++)
                kept += y[j];
            const double p = 1 - thresholds[t] / 65536.0;
            assert_true(fabs(kept - N * p) <= 4.5 * sqrt(N * p * (1 - p)));
            free(y);
        }
}

/* Agreements of two masks of n numbers kept by halves: n / 2 +- 4.5 sigma. */
static void assert_unrelated(
    const float *a, const float *b, size_t n, const char *what, uint64_t which)
{
    double same = 0;
    for (size_t j = 0; j < n; j++)
        same += a[j] == b[j];
    if (!(fabs(same - 0.5 * (double)n) <= 4.5 * sqrt(0.25 * (double)n)))
        fail_msg("%s %llu: %.0f of %zu agree", what, (unsigned long long)which, same, n);
}

TEST(dropout_neighbours_are_unrelated)
{
    enum { N = 1 << 20 };
    float *y = mask(graphss_i_kernels_choose(), N, 12345, 1 << 15);
    const size_t lags[] = {
        1, 2, 3, 4, 7, 8, 16, 17, 31, 32, 33, 64, 100, 128, 200, 512, 4096, 65536, 100000};
    for (size_t t = 0; t < sizeof lags / sizeof *lags; t++)
        assert_unrelated(y, y + lags[t], N - lags[t], "lag", lags[t]);
    free(y);
}

TEST(dropout_keys_are_unrelated)
{
    enum { N = 1 << 16 };
    const graphss_i_kernels *kern = graphss_i_kernels_choose();
    float *first = mask(kern, N, 0, 1 << 15), *last = mask(kern, N, 0, 1 << 15);
    for (uint64_t key = 1; key < 200; key++) {
        float *next = mask(kern, N, key, 1 << 15);
        assert_unrelated(first, next, N, "key", key);
        assert_unrelated(last, next, N, "key beside", key);
        free(last);
        last = next;
    }
    for (int bit = 0; bit < 64; bit++) {
        float *next = mask(kern, N, UINT64_C(1) << bit, 1 << 15);
        assert_unrelated(first, next, N, "bit", (uint64_t)bit);
        free(next);
    }
    free(first);
    free(last);
}

/* Counts of 8 consecutive decisions follow the binomial law (chi-square, 8 degrees). */
TEST(dropout_counts_are_binomial)
{
    enum { N = 1 << 20, GROUPS = N / 8 };
    const double choose[9] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
    for (uint64_t key = 1; key <= 4; key++) {
        float *y = mask(graphss_i_kernels_choose(), N, key, 1 << 15);
        double seen[9] = {0}, chi = 0;
        for (size_t g = 0; g < GROUPS; g++) {
            float kept = 0;
            for (size_t j = 0; j < 8; j++)
                kept += y[8 * g + j];
            seen[(int)kept]++;
        }
        for (int s = 0; s <= 8; s++) {
            const double want = GROUPS * choose[s] / 256;
            chi += (seen[s] - want) * (seen[s] - want) / want;
        }
        assert_true(chi < 30); /* one in 5000 by chance; the keys are fixed */
        free(y);
    }
}

/* ---- sixteen ---- */

enum { ROW = GRAPHSS_I_ROW, N = 37, MOST = 20 };
static const size_t classes[] = {1, 2, 3, 7, 15, MOST};
enum { CASES = sizeof classes / sizeof *classes };

static void assert_close(double got, double want, double size, const char *set)
{
    if (!(fabs(got - want) <= 1e-6 * size + 1e-12))
        fail_msg("%s: got %.9g, want %.9g", set, got, want);
}

/* p [k] = softmax of z [k] */
static void softmax_twin(double *p, const double *z, size_t k)
{
    double most = z[0], sum = 0;
    for (size_t c = 1; c < k; c++)
        most = fmax(most, z[c]);
    for (size_t c = 0; c < k; c++)
        sum += p[c] = exp(z[c] - most);
    for (size_t c = 0; c < k; c++)
        p[c] /= sum;
}

/* For any spread, chances down to e^-80 are right up to the rounding of differences, which is
 * up to 4e-6 for differences near 80. */
TEST(softmax_of_rows)
{
    graphss_rng rng = graphss_rng_make(1, 1);
    const float spread[] = {1e-3F, 1, 20};
    FOR_EACH_SET(kern)
    for (size_t s = 0; s < 3; s++)
        for (size_t t = 0; t < CASES; t++) {
            const size_t k = classes[t];
            float *z = random_floats(&rng, N * k), *p = malloc(N * k * sizeof *p);
            for (size_t j = 0; j < N * k; j++)
                p[j] = z[j] *= spread[s];
            kern->softmax(p, k, 1, N - 1);
            for (size_t i = 0; i < N; i++) {
                double in[MOST], want[MOST];
                for (size_t c = 0; c < k; c++)
                    in[c] = (double)z[i * k + c];
                softmax_twin(want, in, k);
                for (size_t c = 0; c < k; c++)
                    if (i == 0 || i == N - 1)
                        assert_true(p[i * k + c] == z[i * k + c]); /* not requested */
                    else if (want[c] > 1.8e-35)
                        assert_true(fabs((double)p[i * k + c] - want[c]) <= 6e-6 * want[c]);
                    else
                        assert_true(p[i * k + c] >= 0 && p[i * k + c] < 2e-35F);
            }
            free(p);
            free(z);
        }
}

TEST(softmax_at_the_ends)
{
    FOR_EACH_SET(kern)
    {
        float far[4] = {0, -1e30F, -INFINITY, -88}, bad[3] = {0, NAN, 1};
        kern->softmax(far, 4, 0, 1);
        assert_float_equal(far[0], 1, 0);
        for (size_t c = 1; c < 4; c++)
            assert_true(far[c] >= 0 && far[c] < 1e-36F);
        kern->softmax(bad, 3, 0, 1);
        assert_true(isnan(bad[0]) && isnan(bad[1]) && isnan(bad[2]));
    }
}

static void choice_twin(double *p, const float *w, const float *x, size_t k)
{
    double z[MOST];
    for (size_t c = 0; c < k; c++) {
        z[c] = 0;
        for (size_t j = 0; j < ROW; j++)
            z[c] += (double)w[j] * (double)x[c * ROW + j];
    }
    softmax_twin(p, z, k);
}

TEST(choice_and_what_bends_it)
{
    const double least = 0.02;
    graphss_rng rng = graphss_rng_make(2, 1);
    FOR_EACH_SET(kern)
    for (size_t t = 0; t < CASES; t++) {
        const size_t k = classes[t];
        float *w = random_floats(&rng, ROW), *x = random_floats(&rng, N * k * ROW);
        float *left = random_floats(&rng, N * k), *weight = random_floats(&rng, N);
        float p[N * MOST], gradient[ROW], hessian[ROW * ROW];
        double g[ROW] = {0}, h[ROW * ROW] = {0}, g_size = 0, h_size = 0;
        kern->choice(p, w, x, N, k);
        for (size_t i = 0; i < N; i++) {
            double want[MOST], mean[ROW] = {0};
            const float *row = x + i * k * ROW;
            choice_twin(want, w, row, k);
            for (size_t c = 0; c < k; c++) {
                assert_close((double)p[i * k + c], want[c], 4, kern->name);
                for (size_t j = 0; j < ROW; j++)
                    mean[j] += (double)p[i * k + c] * (double)row[c * ROW + j];
            }
            for (size_t c = 0; c < k; c++)
                for (size_t j = 0; j < ROW; j++) {
                    const double d = (double)row[c * ROW + j] - mean[j];
                    const double term = (double)left[i * k + c] * (double)row[c * ROW + j];
                    g[j] += term;
                    g_size += fabs(term);
                    for (size_t l = 0; l < ROW && (double)p[i * k + c] >= least; l++) {
                        const double square = (double)weight[i] * (double)p[i * k + c] * d *
                                              ((double)row[c * ROW + l] - mean[l]);
                        h[j * ROW + l] += square;
                        h_size += fabs(square);
                    }
                }
        }
        kern->choice_bend(gradient, hessian, x, p, left, weight, N, k, (float)least);
        for (size_t j = 0; j < ROW; j++)
            assert_close((double)gradient[j], g[j], g_size, kern->name);
        for (size_t j = 0; j < ROW * ROW; j++)
            assert_close((double)hessian[j], h[j], h_size, kern->name);
        free(weight);
        free(left);
        free(x);
        free(w);
    }
}

/* Every state is a choice with weights of its own; columns beyond f are not read. */
TEST(choices_of_sixteen_states)
{
    graphss_rng rng = graphss_rng_make(3, 1);
    FOR_EACH_SET(kern)
    for (size_t t = 0; t < CASES; t++)
        for (size_t f = 1; f <= ROW; f += 5) {
            const size_t k = classes[t];
            float *w = random_floats(&rng, ROW * ROW), *x = random_floats(&rng, k * ROW);
            float p[MOST * ROW];
            for (size_t c = 0; c < k; c++)
                for (size_t j = f; j < ROW; j++)
                    x[c * ROW + j] = NAN;
            kern->choices(p, w, x, k, f);
            for (size_t s = 0; s < ROW; s++) {
                double z[MOST], want[MOST];
                for (size_t c = 0; c < k; c++) {
                    z[c] = 0;
                    for (size_t j = 0; j < f; j++)
                        z[c] += (double)x[c * ROW + j] * (double)w[j * ROW + s];
                }
                softmax_twin(want, z, k);
                for (size_t c = 0; c < k; c++)
                    assert_close((double)p[c * ROW + s], want[c], 4, kern->name);
            }
            free(x);
            free(w);
        }
}

TEST(a_row_times_a_matrix)
{
    graphss_rng rng = graphss_rng_make(4, 1);
    FOR_EACH_SET(kern)
    for (size_t f = 0; f < 90; f += 11)
        for (size_t m = ROW; m <= 3 * ROW; m += ROW) {
            float *w = random_floats(&rng, (f + 1) * m), *x = random_floats(&rng, f + 1);
            float y[3 * ROW];
            kern->row_times(y, x, w, f, m);
            for (size_t c = 0; c < m; c++) {
                double want = 0, size = 0;
                for (size_t j = 0; j < f; j++) {
                    want += (double)x[j] * (double)w[j * m + c];
                    size += fabs((double)x[j] * (double)w[j * m + c]);
                }
                assert_close((double)y[c], want, size, kern->name);
            }
            free(x);
            free(w);
        }
}

int main(void)
{
    return testing_run();
}
