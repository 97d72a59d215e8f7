/* model_type.h - the interface of a classifier: one file that fills this struct, and one line
 * in models.def. */
#ifndef GRAPHSS_MODEL_TYPE_H
#define GRAPHSS_MODEL_TYPE_H

#include "models/input.h"
#include "models/tape/params.h"
#include <graphss/model.h>

typedef enum graphss_i_loops {
    GRAPHSS_I_LOOPS_OPTION, /* as opt->self_loops */
    GRAPHSS_I_LOOPS_ALWAYS, /* a node is always among its neighbours, */
    GRAPHSS_I_LOOPS_NEVER   /* or never */
} graphss_i_loops;

typedef struct graphss_i_model_type {
    const char *name;    /* "gcn" */
    const char *summary; /* for people, one line with the paper */

    /* Changes the presets all models share (registry.c); NULL: none. */
    void (*adjust)(graphss_train_options *opt);

    graphss_i_norm norm; /* how it propagates, */
    graphss_i_loops loops;
    /* and whether it is applied opt->hops times before the first weights, or once */
    bool hops_by_option;
    bool propagates;   /* record propagates itself: its input is X times the first weights */
    bool attends;      /* opt->heads and opt->activation have a meaning */
    double paper_gain; /* Paper mode: factor applied to the initial weights; 0 means 1. */
    bool paper_drawn;  /* paper mode: its attacker has the weights as drawn (protocol.c) */

    /* Declares its weights for d features and k classes. */
    graphss_status (*declare)(graphss_ctx *ctx, graphss_i_params *p,
        const graphss_train_options *opt, size_t d, size_t k);
    /* Records the logits [n_nodes x k]. w[i] is the i-th declared matrix. */
    graphss_i_var (*record)(graphss_i_tape *t, const graphss_train_options *opt,
        const graphss_i_input *x, const graphss_i_var *w);
} graphss_i_model_type;

/* NULL if there is none of that name, or past the end. */
const graphss_i_model_type *graphss_i_model_type_find(const char *name);
/* Whether a node counts as its own neighbour. */
bool graphss_i_model_type_loops(
    const graphss_i_model_type *type, const graphss_train_options *opt);
/* Propagations before the first weights. */
size_t graphss_i_model_type_hops(
    const graphss_i_model_type *type, const graphss_train_options *opt);
/* Indexed by graphss_mode, ended by NULL: for tables of options. */
extern const char *const graphss_i_mode_names[];
const graphss_i_model_type *graphss_i_model_type_at(size_t i);
/* Fails with INVALID and the list of names. */
graphss_status graphss_i_model_unknown(graphss_ctx *ctx, const char *name);

/* How features of this sort are scaled by default, in default mode. */
void graphss_i_train_options_scale(
    graphss_train_options *opt, const graphss_features *features);

#define MODEL(name) extern const graphss_i_model_type graphss_i_##name##_model;
#include "models/models.def"
#undef MODEL

/* ---- shared by the layered ones (layered.c) ---- */

/* Puts every matrix of p on the tape, w [p->n]; adam NULL: no gradients. */
void graphss_i_weights_record(graphss_i_tape *t, graphss_i_var *w, const graphss_i_params *p,
    const graphss_i_adam *adam);
/* opt->layers matrices d x hidden x ... x k, each with a bias when opt->bias. */
graphss_status graphss_i_layered_declare(graphss_ctx *ctx, graphss_i_params *p,
    const graphss_train_options *opt, size_t d, size_t k);
/* h = P^hops drop(X) W0 + b0, then for each further layer h = P drop(relu(h)) W + b. */
graphss_i_var graphss_i_layered_record(graphss_i_tape *t, const graphss_train_options *opt,
    const graphss_i_input *x, const graphss_i_var *w);

#endif
