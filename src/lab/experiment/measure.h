/* measure.h - how good scores and posteriors are; kernels. */
#ifndef GRAPHSS_MEASURE_H
#define GRAPHSS_MEASURE_H

#include <stddef.h>
#include <stdint.h>

typedef struct graphss_i_scored {
    double score;
    int32_t hit; /* 0 or 1 */
} graphss_i_scored;

/* The highest score first, scores that are no numbers last. */
void graphss_i_scored_sort(graphss_i_scored *item, size_t n);
/* Of sorted items: the chance that a hit scores higher than another, ties half; NaN without
 * either, and where a score is no number: it ranks nothing. */
double graphss_i_auc(const graphss_i_scored *item, size_t n);
/* Of sorted items: corners of the curve from (0, 0) to (1, 1), x the share of the others and
 * y the share of the hits that score at least so high. x, y [n + 1]; returns their number, 0
 * where the area is NaN. */
size_t graphss_i_roc(double *x, double *y, const graphss_i_scored *item, size_t n);

enum { GRAPHSS_I_BINS = 15 };
/* One bin for each fifteenth of confidence, the largest entry of a row of posterior. */
typedef struct graphss_i_bins {
    double confidence[GRAPHSS_I_BINS], accuracy[GRAPHSS_I_BINS]; /* means; 0 where empty */
    size_t count[GRAPHSS_I_BINS];
} graphss_i_bins;

/* Over the listed nodes whose truth is known, and whose confidence is a number. */
void graphss_i_bins_fill(graphss_i_bins *out, const double *posterior, size_t n_classes,
                         const int32_t *truth, const int32_t *node, size_t n);
/* Mean of |accuracy - confidence|, weighted by the counts; NaN when all are empty. */
double graphss_i_calibration_error(const graphss_i_bins *bins);

#endif
