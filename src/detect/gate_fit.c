/* gate_fit.c - see gate_fit.h. */
#include "detect/rehearsal.h"
#include "detect/state_model.h"
#include "detect/tuning.h"
#include "stats/logit.h"
#include <math.h>

void graphss_i_gate_measure(double *mean, double *spread, const float *x, const uint8_t *use,
    size_t rows, size_t wide, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        double n = 0, sum = 0, square = 0;
        for (size_t i = 0; i < rows; i++)
            if (use[i]) {
                const double value = (double)x[i * wide + j];
                n++;
                sum += value;
                square += value * value;
            }
        n = n > 0 ? n : 1;
        mean[j] = sum / n;
        spread[j] = sqrt(fmax(square / n - mean[j] * mean[j], 0)) + 1e-6;
    }
}

/* out [1 + 2 columns] = 1, z, z^2, each cut off */
static void expand(
    float *out, const float *x, const double *mean, const double *spread, size_t columns)
{
    *out++ = 1;
    for (size_t j = 0; j < columns; j++) {
        double z = ((double)x[j] - mean[j]) / spread[j];
        z = fmin(fmax(z, -TUNE_FARTHEST), TUNE_FARTHEST);
        *out++ = (float)z;
        *out++ = (float)fmin(z * z, TUNE_SQUARE_MOST);
    }
}

graphss_status graphss_i_gate_fit(graphss_ctx *ctx, double *w, const graphss_i_gate_rows *in)
{
    const size_t width = 1 + 2 * in->columns;
    double count[GRAPHSS_I_STATES] = {0}, hit = 0;
    float *x = graphss_i_alloc(ctx, in->rows, width * sizeof *x);
    float *weight = graphss_i_alloc(ctx, in->rows, sizeof *weight);
    int32_t *label = graphss_i_alloc(ctx, in->rows, sizeof *label);
    double *all = graphss_i_calloc(ctx, in->states, width * sizeof *all);
    graphss_status st = x && weight && label && all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    size_t n = 0;
    for (size_t i = 0; i < in->rows && !st; i++)
        if (in->use[i]) {
            expand(x + n * width, in->x + i * in->wide, in->mean, in->spread, in->columns);
            label[n] = in->state[i];
            count[label[n++]] += 1;
        }
    for (size_t s = 1; s < in->states; s++)
        hit += count[s];
    if (!st && count[0] > 0 && hit > 0) {
        for (size_t i = 0; i < n; i++)
            weight[i] = (float)(label[i] ? 1 / hit : 1 / count[0]);
        const graphss_i_softmax fit = {.x = x,
            .n = n,
            .f = width,
            .k = in->states,
            .label = label,
            .weight = weight,
            .penalty = in->penalty};
        st = graphss_i_softmax_fit(ctx, all, &fit);
        for (size_t s = 1; s < in->states && !st; s++) {
            for (size_t j = 0; j < width; j++)
                w[(s - 1) * width + j] = all[s * width + j] - all[j];
            if (count[s] > 0) /* odds for equal shares of this state and the first */
                w[(s - 1) * width] -= log(count[s] / hit);
        }
    }
    graphss_release(ctx, x);
    graphss_release(ctx, weight);
    graphss_release(ctx, label);
    graphss_release(ctx, all);
    return st;
}
