/* kernels_sixteen.h - rows of sixteen floats, a cache line each: logits of the evidence for a
 * class, or for a node in up to sixteen states. Included by kernels_body.h.
 *
 * All lanes do the same, so a row is one, two or four vectors; loops over lanes have a
 * constant length and become vectors by themselves. */

enum { ROW = GRAPHSS_I_ROW, PARTS = ROW / WIDTH };

/* e^x = 2^m e^r with m whole and |r| <= log(2) / 2, e^r by its series up to r^7 / 7!, which
 * leaves out less than 8e-9 of it. Below -87 it is e^-87. */
INLINE float exp_one(float x)
{
    const float whole = 12582912.0F; /* 1.5 * 2^23: a sum with it has no digits behind 1 */
    const float at = x < -87.0F ? -87.0F : x;
    const union {
        float number;
        uint32_t bits;
    } sum = {at * 1.44269504F + whole}; /* 1 / log 2 */
    const float m = sum.number - whole;
    const float r = at - m * 0.693145752F - m * 1.42860677e-6F; /* log 2 in two parts */
    float e = 1.0F / 5040;
    e = e * r + 1.0F / 720;
    e = e * r + 1.0F / 120;
    e = e * r + 1.0F / 24;
    e = e * r + 1.0F / 6;
    e = e * r + 0.5F;
    e = e * r + 1;
    e = e * r + 1;
    const union {
        uint32_t bits;
        float number;
    } power = {(sum.bits << 23) + 0x3f800000};
    return e * power.number;
}

static void softmax(float *z, size_t k, size_t row0, size_t row1)
{
    for (size_t i = row0; i < row1; i++) {
        float *row = z + i * k, most = row[0];
        for (size_t c = 1; c < k; c++)
            most = row[c] > most ? row[c] : most;
        for (size_t c = 0; c < k; c++)
            row[c] -= most;
    }
    INDEPENDENT
    for (size_t j = row0 * k; j < row1 * k; j++)
        z[j] = exp_one(z[j]);
    for (size_t i = row0; i < row1; i++) {
        float *row = z + i * k, sum = 0;
        for (size_t c = 0; c < k; c++)
            sum += row[c];
        const float scale = 1 / sum;
        for (size_t c = 0; c < k; c++)
            row[c] *= scale;
    }
}

static void choice(float *p, const float *w, const float *x, size_t n, size_t k)
{
    vec weight[PARTS];
    for (int v = 0; v < PARTS; v++)
        weight[v] = load(w + v * WIDTH);
    for (size_t j = 0; j < n * k; j++) {
        vec sum = weight[0] * load(x + j * ROW);
        for (int v = 1; v < PARTS; v++)
            sum += weight[v] * load(x + j * ROW + v * WIDTH);
        p[j] = sum_lanes(sum);
    }
    softmax(p, k, 0, n);
}

/* h += scale d d^T */
INLINE void add_square(vec h[ROW][PARTS], const vec *d, const float *each, float scale)
{
    for (int i = 0; i < ROW; i++)
        for (int v = 0; v < PARTS; v++)
            h[i][v] += splat(scale * each[i]) * d[v];
}

static void choice_bend(float *gradient, float *hessian, const float *x, const float *p,
    const float *left, const float *weight, size_t n, size_t k, float least)
{
    vec h[ROW][PARTS] = {0}, g[PARTS] = {0};
    for (size_t i = 0; i < n; i++) {
        vec mean[PARTS] = {0};
        for (size_t j = i * k; j < (i + 1) * k; j++)
            for (int v = 0; v < PARTS; v++) {
                const vec row = load(x + j * ROW + v * WIDTH);
                mean[v] += splat(p[j]) * row;
                g[v] += splat(left[j]) * row;
            }
        for (size_t j = i * k; j < (i + 1) * k; j++) {
            vec d[PARTS];
            float each[ROW];
            if (p[j] < least)
                continue;
            for (int v = 0; v < PARTS; v++) {
                d[v] = load(x + j * ROW + v * WIDTH) - mean[v];
                store(each + v * WIDTH, d[v]);
            }
            add_square(h, d, each, weight[i] * p[j]);
        }
    }
    for (int v = 0; v < PARTS; v++) {
        store(gradient + v * WIDTH, g[v]);
        for (int i = 0; i < ROW; i++)
            store(hessian + i * ROW + v * WIDTH, h[i][v]);
    }
}

static void row_times(float *y, const float *x, const float *w, size_t f, size_t m)
{
    for (size_t c = 0; c < m; c += ROW) {
        vec even[PARTS] = {0}, odd[PARTS] = {0};
        size_t j = 0;
        for (; j + 2 <= f; j += 2)
            for (int v = 0; v < PARTS; v++) {
                even[v] += splat(x[j]) * load(w + j * m + c + v * WIDTH);
                odd[v] += splat(x[j + 1]) * load(w + (j + 1) * m + c + v * WIDTH);
            }
        for (int v = 0; v < PARTS; v++) {
            if (j < f)
                even[v] += splat(x[j]) * load(w + j * m + c + v * WIDTH);
            store(y + c + v * WIDTH, even[v] + odd[v]);
        }
    }
}

static void choices(float *p, const float *w, const float *x, size_t k, size_t f)
{
    float most[ROW], sum[ROW] = {0};
    for (size_t c = 0; c < k; c++) {
        row_times(p + c * ROW, x + c * ROW, w, f, ROW);
        for (size_t s = 0; s < ROW; s++)
            most[s] = c && most[s] > p[c * ROW + s] ? most[s] : p[c * ROW + s];
    }
    for (size_t c = 0; c < k; c++)
        for (size_t s = 0; s < ROW; s++) {
            p[c * ROW + s] = exp_one(p[c * ROW + s] - most[s]);
            sum[s] += p[c * ROW + s];
        }
    for (size_t s = 0; s < ROW; s++)
        sum[s] = 1 / sum[s];
    for (size_t c = 0; c < k; c++)
        for (size_t s = 0; s < ROW; s++)
            p[c * ROW + s] *= sum[s];
}
