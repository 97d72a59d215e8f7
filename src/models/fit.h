/* fit.h - the training loop, for classifiers and for defences that train. */
#ifndef GRAPHSS_FIT_H
#define GRAPHSS_FIT_H

#include "models/checkpoint.h"
#include "models/tape/params.h"
#include "models/tape/tape.h"
#include <graphss/model.h>

/* Minimises the losses recorded on tape with Adam and leaves in params the weights of the
 * best epoch: highest accuracy on split->val, then lowest loss there; without validation
 * nodes, the last; adam->kept: as the paper's code chooses (fit.c). logits is a kept variable
 * [n x n_classes]; adam->grad receives the gradients of the tape's weights; its other fields
 * are Adam's initial state. stage names the work for progress. INVALID: the loss is no longer
 * finite. log may be NULL; its arrays become the caller's. checkpoint: where it continues and
 * what it writes meanwhile, or NULL. */
graphss_status graphss_i_fit(graphss_ctx *ctx, graphss_training *log, graphss_i_params *params,
    graphss_i_adam *adam, graphss_i_tape *tape, graphss_i_var logits, size_t n_classes,
    const graphss_split *split, uint64_t seed, const graphss_train_options *opt,
    const char *stage, graphss_i_checkpointing *checkpoint);

/* Share of the n listed rows whose label has the largest of k logits, and the mean
 * cross-entropy there; NaN without rows. */
typedef struct graphss_i_measure {
    double accuracy, loss;
} graphss_i_measure;
graphss_i_measure graphss_i_judge(
    const float *logits, size_t k, const int32_t *node, const int32_t *label, size_t n);
/* True for a higher accuracy, or the same accuracy and a lower loss. */
bool graphss_i_better(graphss_i_measure now, graphss_i_measure best);

#endif
