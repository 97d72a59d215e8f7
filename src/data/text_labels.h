/* text_labels.h - classes from what files call them. */
#ifndef GRAPHSS_TEXT_LABELS_H
#define GRAPHSS_TEXT_LABELS_H

#include "data/build.h"

/* Labels as texts: class_of[i] is the number of node i's label among the texts of classes, or
 * -1 where it has none. Whole numbers (1, also 1.0) stay numbers, negative ones are unknown;
 * any other texts become names of classes, in their order, and a notice tells of two that
 * differ in case or blanks alone. Fills label, n_classes and class_names of data; classes may
 * be emptied. file is for messages. NOMEM, LIMIT. */
graphss_status graphss_i_labels_from_texts(graphss_ctx *ctx, graphss_dataset *data,
                                           graphss_i_intern *classes, const int32_t *class_of,
                                           size_t n, const char *file);

#endif
