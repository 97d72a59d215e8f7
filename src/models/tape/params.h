/* params.h - a model's weights: one block with named matrices in it, so that optimiser,
 * checkpoint, file and gradient check are one loop each. */
#ifndef GRAPHSS_PARAMS_H
#define GRAPHSS_PARAMS_H

#include "base/base.h"

enum { GRAPHSS_I_PARAMS_MOST = 64, GRAPHSS_I_PARAM_NAME = 32 };

typedef struct graphss_i_param {
    char name[GRAPHSS_I_PARAM_NAME]; /* "0.weight" */
    size_t rows, cols, offset;       /* into the block */
    bool decayed;                    /* weight decay applies */
    bool hidden_rows, hidden_cols;   /* a side that may be padded, invisibly to callers */
} graphss_i_param;

typedef struct graphss_i_params {
    size_t n, count; /* matrices; numbers in all, rows padded to a cache line apart */
    graphss_i_param param[GRAPHSS_I_PARAMS_MOST];
    float *value; /* [count] */
} graphss_i_params;

/* Declares one more matrix; INVALID past GRAPHSS_I_PARAMS_MOST or on overflow. Declare all,
 * then allocate once. */
graphss_status graphss_i_params_declare(graphss_ctx *ctx, graphss_i_params *p,
    const char *name, size_t rows, size_t cols, bool decayed);
/* Marks the sides of the last declared matrix that are hidden widths. */
void graphss_i_params_hidden(graphss_i_params *p, bool rows, bool cols);
graphss_status graphss_i_params_allocate(graphss_ctx *ctx, graphss_i_params *p);
void graphss_i_params_destroy(graphss_ctx *ctx, graphss_i_params *p);

/* True if the name of a matrix ends in "bias", or in "weight". */
bool graphss_i_is_bias(const char *name);
bool graphss_i_is_weight(const char *name);
/* Glorot & Bengio 2010: uniform in +-sqrt(6 / (rows + cols)); one whose name ends in
 * "bias" starts at zero. */
void graphss_i_params_glorot(graphss_i_params *p, graphss_rng *rng);

/* A copy whose hidden widths are rounded up to whole cache lines and filled with zeros. The
 * zeros stay zeros: a unit that starts with no input and no output gets no gradient. So the
 * padded network computes the same, and sparse products, whose every load is then aligned,
 * run a quarter to a third faster (hidden 200 becomes 208). */
graphss_status graphss_i_params_pad(
    graphss_ctx *ctx, graphss_i_params *out, const graphss_i_params *p);
/* Copies the weights of a padded one back. */
void graphss_i_params_unpad(graphss_i_params *p, const graphss_i_params *padded);

/* Adam with its two moments and the gradient, each laid out as the block. */
typedef struct graphss_i_adam {
    float *grad, *m, *v; /* [count] each */
    size_t count, step;
    bool kept; /* after training m, v and step are to be those of the weights that are kept,
                * which are chosen as the paper's code does (fit.c) */
} graphss_i_adam;

graphss_status graphss_i_adam_init(
    graphss_ctx *ctx, graphss_i_adam *a, const graphss_i_params *p);
void graphss_i_adam_destroy(graphss_ctx *ctx, graphss_i_adam *a);
/* One step down a->grad. */
void graphss_i_adam_step(
    graphss_ctx *ctx, graphss_i_adam *a, graphss_i_params *p, double rate, double decay);

#endif
