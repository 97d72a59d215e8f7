/* defence.h - the interface of a defence: one file that fills graphss_i_defence, and one line
 * in defences.def. */
#ifndef GRAPHSS_DEFENCE_H
#define GRAPHSS_DEFENCE_H

#include "observation/observation.h"
#include "recover/journal.h"
#include <graphss/recover.h>

/* The results of a method besides labels. */
typedef struct graphss_i_report {
    graphss_perturbation kind; /* the most likely attack */
    /* estimated share of attacked nodes among those without a label */
    double share;
    float *foreign; /* poisoned: given away, as graphss_recover_result has it; or NULL */
    size_t distrusted, doubted;
} graphss_i_report;

/* Paper mode: what one set of victims leaves to the next. The published code writes the model
 * it has retrained over the one it began with, so five sets of victims meet five models. */
typedef struct graphss_i_carry {
    const graphss_model *start; /* the initial model; NULL: the input's model */
    /* the last trained model, freed by the caller; NULL: nothing was trained */
    graphss_model *left;
} graphss_i_carry;

/* The input of a method. Everything is checked; splits have training nodes with labels. */
typedef struct graphss_i_defence_input {
    graphss_observation current, previous; /* previous.graph NULL: no history */
    const graphss_model *model;
    const graphss_split *split;          /* in numbers of current */
    const graphss_split *previous_split; /* of previous, without the nodes it lacks; or NULL */
    const int32_t *before;               /* [n] node of previous or -1; NULL: no history */
    const float *prob;                   /* [n x k] the model on current */
    size_t n, k;                         /* nodes of current, classes */
    uint64_t seed;
    bool retrain; /* train on current; else evasion */
    graphss_i_report *report;
    graphss_i_carry *carry;     /* NULL: paper mode is off, or begins with model */
    graphss_i_journal *journal; /* for a method that keeps one, or NULL */
} graphss_i_defence_input;

typedef struct graphss_recover_method graphss_i_defence;
struct graphss_recover_method {
    const char *name;
    const char *summary; /* for people, one line with the paper */

    /* How each way of training is described; NULL: not supported. Both NULL: nothing is
     * trained, and `untrained` describes what happens instead. */
    const char *evasion, *retrain, *untrained;
    const graphss_option *options; /* those it uses (option_rows.h) */
    bool as_model;                 /* paper mode, too, trains as the model was trained */
    bool learns;                   /* training labels of one class only are an error */
    bool needs_edges;              /* a graph without edges is an error */
    bool needs_previous;           /* so is no previous snapshot, */
    bool evasion_previous;         /* or only where it was trained before */
    /* fills perturbed, the probability that a node was attacked, which is 0 for opt->trusted
     */
    bool finds;
    bool shared;   /* runs on several ranks, each with its own nodes */
    bool keeps;    /* its work in the input's journal */
    bool carries;  /* reads and fills the input's carry */
    bool on_model; /* uses the model's classifier, which must use edges */

    /* Changes the presets all methods share (recover_options.c); NULL: none. */
    void (*adjust)(graphss_recover_options *opt);
    /* Paper mode: the appendix's values for one dataset; NULL: the same for all. */
    void (*suit)(graphss_recover_options *opt, const char *dataset);
    /* A network of its own, trained as the input says (network.h), and nothing to run. */
    const struct graphss_i_network *network;
    /* Fills posterior [n x k], rows that sum to 1. perturbed [n] is NaN; filled or left. */
    graphss_status (*run)(graphss_ctx *ctx, double *posterior, double *perturbed,
        const graphss_i_defence_input *input, const graphss_recover_options *opt);
    /* The method that replaces it in paper mode, under the same name; NULL: itself. */
    const graphss_i_defence *paper;
};

#define DEFENCE(name) extern const graphss_i_defence graphss_i_##name##_defence;
#include "recover/defences.def"
#undef DEFENCE
/* Tables for methods without options of their own: those that train nothing, or a classifier.
 */
extern const graphss_option graphss_i_common_options[], graphss_i_training_options[];

extern const graphss_i_defence graphss_i_graphss_paper; /* of graphss, in paper mode */

/* The method as a mode has it; NULL for NULL. */
const graphss_i_defence *graphss_i_defence_in(
    const graphss_recover_method *method, graphss_mode mode);
/* graphss_recover_options_init for a model that was trained with these options on the
 * dataset of that name, which may be NULL. */
graphss_recover_options graphss_i_recover_preset(const graphss_recover_method *method,
    graphss_mode mode, const graphss_train_options *fit, const char *dataset);

/* ---- checks of the caller's input (recover_check.c) ---- */

/* Checks the split of the named snapshot, and that it has two classes if m learns. */
graphss_status graphss_i_check_labels(graphss_ctx *ctx, const graphss_split *split, size_t n,
    size_t k, const graphss_i_defence *m, const char *which);
/* *retrain: the meaning of `train`, a graphss_recover_train, for m. INVALID: not supported, or
 * there is no past to train on. */
graphss_status graphss_i_check_way(graphss_ctx *ctx, bool *retrain, const graphss_i_defence *m,
    const graphss_defence_input *in, int train);
/* Can m use opt->trusted, which are nodes of a snapshot of n? shared: on several ranks. */
graphss_status graphss_i_check_trusted(graphss_ctx *ctx, const graphss_i_defence *m,
    const graphss_recover_options *opt, size_t n, bool shared);
/* Can m work on this snapshot and this model? DATA, INVALID, and those of _check_shapes. */
graphss_status graphss_i_check_method(
    graphss_ctx *ctx, const graphss_i_defence *m, const graphss_defence_input *in);

/* ---- running (recover.c) ---- */

/* graphss_recover_run with the state left by the previous set of victims, and for the next;
 * carry NULL: neither. */
graphss_status graphss_i_recover_carried(graphss_ctx *ctx, graphss_recover_result *out,
    const graphss_defence_input *in, const graphss_recover_options *opt,
    graphss_i_carry *carry);

/* ---- functions that methods use (defence.c) ---- */

/* The snapshot and the split to train on: current, or previous for evasion. */
graphss_observation graphss_i_defence_training(
    const graphss_i_defence_input *input, const graphss_split **split);
void graphss_i_widen_prob(double *posterior, const float *prob, size_t count);
/* posterior of a model on a snapshot of n nodes */
graphss_status graphss_i_posterior_of(graphss_ctx *ctx, double *posterior,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features);
/* Share of the validation nodes whose label has the largest posterior; NaN without any. */
double graphss_i_validation(const double *posterior, const graphss_i_defence_input *input);
/* Trains opt->fit on `graph`, which belongs to the training snapshot, and predicts `current`,
 * which belongs to the current one (the same graph if input->retrain). */
graphss_status graphss_i_train_and_ask(graphss_ctx *ctx, double *posterior,
    const graphss_i_defence_input *input, const graphss_graph *graph,
    const graphss_graph *current, const graphss_train_options *fit);

#endif
