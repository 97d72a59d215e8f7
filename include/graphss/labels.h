/* graphss/labels.h - labels from probabilities, and how good they are given the truth.
 *
 *     int32_t *label = malloc(data.graph.n_nodes * sizeof *label);
 *     graphss_labels_argmax(label, prob, data.graph.n_nodes, data.n_classes);
 *     printf("%.3f\n", graphss_labels_accuracy(label, data.label, split.test, split.n_test));
 *     free(label);
 *
 * A label of -1 means none: unknown in the truth, abstained in an answer. */
#ifndef GRAPHSS_LABELS_H
#define GRAPHSS_LABELS_H

#include <graphss/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fraction of the listed nodes with label[node] == truth[node]. Nodes with truth -1 do not
 * count. NaN if none counts, or if label or truth is NULL. node NULL: all n nodes. */
GRAPHSS_API double graphss_labels_accuracy(
    const int32_t *label, const int32_t *truth, const int32_t *node, size_t n);
/* confusion [n_classes x n_classes], overwritten: confusion[t * n_classes + p] counts nodes of
 * class t called p; nodes without an answer (-1) are left out. Same rules. */
GRAPHSS_API void graphss_labels_confusion(int64_t *confusion, size_t n_classes,
    const int32_t *label, const int32_t *truth, const int32_t *node, size_t n);
/* label[i] = the most probable class of prob[i][.], the lowest index on ties */
GRAPHSS_API void graphss_labels_argmax(
    int32_t *label, const float *prob, size_t n, size_t n_classes);

#ifdef __cplusplus
}
#endif
#endif
