/* labels.c - how good labels are, and labels given as texts. */
#include "base/base.h"
#include "data/build.h"
#include <graphss/labels.h>
#include <math.h>
#include <string.h>

/* A label without blanks around it and in small letters; returns its length. */
static size_t plain_label(char *out, const char *text)
{
    size_t n = 0;
    while (*text == ' ')
        text++;
    for (; *text; text++)
        out[n++] = (char)(*text >= 'A' && *text <= 'Z' ? *text + ('a' - 'A') : *text);
    while (n && out[n - 1] == ' ')
        n--;
    return n;
}

/* Labels that are one for people and two for us. */
static graphss_status tell_alike(
    graphss_ctx *ctx, const graphss_i_name_list *list, const char *file)
{
    size_t longest = 0, alike = 0, pair[2] = {0};
    size_t *first = graphss_i_alloc(ctx, list->count, sizeof *first);
    graphss_i_intern seen = {0};
    graphss_status st = first ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < list->count; c++) {
        const size_t n = strlen(list->text + list->start[c]);
        longest = n > longest ? n : longest;
    }
    char *plain = graphss_i_alloc(ctx, longest + 1, 1);
    if (!plain)
        st = GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; c < list->count && !st; c++) {
        size_t index = 0;
        bool added = false;
        const size_t n = plain_label(plain, list->text + list->start[c]);
        st = graphss_i_intern_add(ctx, &index, &added, &seen, plain, n);
        if (!st && added)
            first[index] = c;
        else if (!st && alike++ == 0) {
            pair[0] = first[index];
            pair[1] = c;
        }
    }
    if (!st && alike)
        graphss_i_log(ctx, GRAPHSS_LOG_NOTICE,
            "%s: labels '%.40s' and '%.40s' differ only in case or blanks (%zu such "
            "label%s) and are classes of their own",
            file, list->text + list->start[pair[0]], list->text + list->start[pair[1]], alike,
            alike == 1 ? "" : "s");
    graphss_i_intern_destroy(ctx, &seen);
    graphss_release(ctx, plain);
    graphss_release(ctx, first);
    return st;
}

/* A whole number, perhaps written as 1.0 because others were missing. */
static bool whole_label(int64_t *out, const char *text)
{
    size_t length = strlen(text);
    const char *point = strchr(text, '.');
    if (point && point > text && point[1] && strspn(point + 1, "0") == strlen(point + 1))
        length = (size_t)(point - text);
    return graphss_i_parse_int(out, text, length);
}

graphss_status graphss_i_labels_from_texts(graphss_ctx *ctx, graphss_dataset *data,
    graphss_i_intern *classes, const int32_t *class_of, size_t n, const char *file)
{
    const size_t k = classes->list.count;
    if (k == 0)
        return GRAPHSS_OK;
    graphss_status st = GRAPHSS_OK;
    int64_t *whole = graphss_i_alloc(ctx, k, sizeof *whole);
    int64_t *label = graphss_i_alloc(ctx, n, sizeof *label);
    int32_t *kept = NULL;
    if (!whole || !label) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    bool numbers = true;
    for (size_t c = 0; c < k && numbers; c++)
        numbers = whole_label(&whole[c], classes->list.text + classes->list.start[c]);
    if (numbers) {
        for (size_t i = 0; i < n; i++)
            label[i] = class_of[i] < 0 ? -1 : whole[class_of[i]];
        st = graphss_i_labels_from_ints(ctx, data, label, n, "label");
        goto done;
    }
    st = tell_alike(ctx, &classes->list, file);
    if (st)
        goto done;
    kept = graphss_i_copy(ctx, class_of, n, sizeof *kept);
    st = kept ? graphss_i_name_list_finish(ctx, &data->class_names, &classes->list)
              : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    data->n_classes = k;
    data->label = kept;
    kept = NULL;
done:
    graphss_release(ctx, kept);
    graphss_release(ctx, label);
    graphss_release(ctx, whole);
    return st;
}

/* Accuracy, confusion matrix, argmax. */
double graphss_labels_accuracy(
    const int32_t *label, const int32_t *truth, const int32_t *node, size_t n)
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
