/* checkpoint.h - the state of a training in a file, to continue a training that was stopped.
 */
#ifndef GRAPHSS_CHECKPOINT_H
#define GRAPHSS_CHECKPOINT_H

#include "models/tape/params.h"

/* For a recovery (recover/journal.h) it is a folder with a file for each rank. */
#define GRAPHSS_I_CHECKPOINT_RANK "%s/rank-%05zu"
enum { GRAPHSS_I_CHECKPOINT_PATH = 4096 }; /* most bytes of such a path */

/* Where and how often the context's next training writes its state (graphss_ctx_checkpoint).
 */
typedef struct graphss_i_checkpointing {
    char *path;
    char of[65];     /* hash of the data and the options */
    double every;    /* seconds */
    double last;     /* when it was written, by graphss_i_seconds */
    bool complained; /* that it cannot be written */
} graphss_i_checkpointing;

/* A training between two epochs. The arrays are those of the training. */
typedef struct graphss_i_progressing {
    size_t epoch; /* the next */
    graphss_i_params *params;
    graphss_i_adam *adam;
    float *best, *best_m, *best_v; /* [count] best weights, and moments or NULL */
    size_t best_step, best_epoch;
    double best_accuracy, best_loss;
    float *loss, *val_acc; /* [epochs] */
    size_t epochs;
} graphss_i_progressing;

/* Takes the settings of the context (NULL: none) for a training of this kind; `what`, of
 * `bytes` bytes, identifies it and is hashed. {0} without settings. Destroy it. */
graphss_status graphss_i_checkpoint_open(
    graphss_ctx *ctx, graphss_i_checkpointing *c, const void *what, size_t bytes);
void graphss_i_checkpoint_destroy(graphss_ctx *ctx, graphss_i_checkpointing *c);
/* Reads the file, if there is one, into p; rank 0 does it for all. DATA: it is damaged, or of
 * another training. */
graphss_status graphss_i_checkpoint_read(
    graphss_ctx *ctx, const graphss_i_checkpointing *c, graphss_i_progressing *p);
/* Writes it if it is time, or `now`: rank 0. A file that cannot be written is a warning. */
void graphss_i_checkpoint_write(
    graphss_ctx *ctx, graphss_i_checkpointing *c, const graphss_i_progressing *p, bool now);

#endif
