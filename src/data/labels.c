/* labels.c - accuracy, confusion matrix, argmax. */
#include "base/base.h"
#include <graphss/labels.h>
#include <math.h>
#include <string.h>

double graphss_labels_accuracy(const int32_t *label, const int32_t *truth, const int32_t *node,
                               size_t n)
{
    size_t right = 0, counted = 0;
    for (size_t j = 0; j < n && label && truth; j++) {
        const size_t i = node ? (size_t)node[j] : j;
        if (truth[i] < 0)
            continue;
        counted++;
        right += label[i] == truth[i];
    }
    return counted ? (double)right / (double)counted : NAN;
}

void graphss_labels_confusion(int64_t *confusion, size_t n_classes, const int32_t *label,
                              const int32_t *truth, const int32_t *node, size_t n)
{
    if (!confusion)
        return;
    memset(confusion, 0, n_classes * n_classes * sizeof *confusion);
    for (size_t j = 0; label && truth && j < n; j++) {
        const size_t i = node ? (size_t)node[j] : j;
        if (truth[i] >= 0 && (size_t)truth[i] < n_classes && label[i] >= 0 &&
            (size_t)label[i] < n_classes)
            confusion[(size_t)truth[i] * n_classes + (size_t)label[i]]++;
    }
}

void graphss_labels_argmax(int32_t *label, const float *prob, size_t n, size_t n_classes)
{
    if (!label || !prob)
        return;
    for (size_t i = 0; i < n; i++)
        label[i] = (int32_t)graphss_i_top(prob + i * n_classes, n_classes);
}
