/* model_type.h - what a classifier is to the rest: one file that fills this struct, and one
 * line in the table of registry.c. */
#ifndef GRAPHSS_MODEL_TYPE_H
#define GRAPHSS_MODEL_TYPE_H

#include "models/input.h"
#include "models/params.h"
#include <graphss/model.h>

typedef struct graphss_i_model_type {
    const char *name;    /* "gcn" */
    const char *summary; /* for people, one line with the paper */
    graphss_train_options preset[2]; /* by graphss_mode */

    /* How it propagates, and how often before the first weights. */
    graphss_i_norm (*norm)(const graphss_train_options *opt);
    bool (*loops)(const graphss_train_options *opt);
    size_t (*hops)(const graphss_train_options *opt);

    /* Declares its weights for d features and k classes. */
    graphss_status (*declare)(graphss_ctx *ctx, graphss_i_params *p,
                              const graphss_train_options *opt, size_t d, size_t k);
    /* Records the logits [n_nodes x k]. w[i] is the i-th declared matrix. */
    graphss_i_var (*record)(graphss_i_tape *t, const graphss_train_options *opt,
                            const graphss_i_input *x, const graphss_i_var *w);
} graphss_i_model_type;

/* NULL when there is none of that name, or past the end. */
const graphss_i_model_type *graphss_i_model_type_find(const char *name);
const graphss_i_model_type *graphss_i_model_type_at(size_t i);

extern const graphss_i_model_type graphss_i_gcn, graphss_i_sgc, graphss_i_sage, graphss_i_mlp;

/* ---- what the layered ones share (layered.c) ---- */

/* opt->layers matrices d x hidden x ... x k, each with a bias when opt->bias. */
graphss_status graphss_i_layered_declare(graphss_ctx *ctx, graphss_i_params *p,
                                         const graphss_train_options *opt, size_t d, size_t k);
/* h = P^hops drop(X) W0 + b0, then for each further layer h = P drop(relu(h)) W + b. */
graphss_i_var graphss_i_layered_record(graphss_i_tape *t, const graphss_train_options *opt,
                                       const graphss_i_input *x, const graphss_i_var *w);

#endif
