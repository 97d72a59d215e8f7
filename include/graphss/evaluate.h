/* graphss/evaluate.h - how good are labels, given the truth? */
#ifndef GRAPHSS_EVALUATE_H
#define GRAPHSS_EVALUATE_H

#include <graphss/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fraction of the listed nodes with label[node] == truth[node]. Nodes whose truth is -1 do not
 * count. NaN if none counts, or if label or truth is NULL. node NULL: all n nodes. */
GRAPHSS_API double graphss_accuracy(const int32_t *label, const int32_t *truth,
                                    const int32_t *node, size_t n);
/* confusion [n_classes x n_classes], overwritten: confusion[t * n_classes + p] counts nodes of
 * class t called p; nodes without an answer (-1) are left out. Same rules. */
GRAPHSS_API void graphss_confusion(int64_t *confusion, size_t n_classes, const int32_t *label,
                                   const int32_t *truth, const int32_t *node, size_t n);
/* label[i] = the most probable class of prob[i][.], the lowest index on ties */
GRAPHSS_API void graphss_argmax(int32_t *label, const float *prob, size_t n, size_t n_classes);

#ifdef __cplusplus
}
#endif
#endif
