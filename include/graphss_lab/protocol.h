/* graphss_lab/protocol.h - sets up an attacked trial for a defence, by the paper's protocol or
 * ours.
 *
 *     graphss_protocol_options opt;
 *     graphss_protocol_options_init(&opt, "gcn", GRAPHSS_MODE_PAPER);
 *     graphss_protocol p = {0};
 *     graphss_protocol_start(ctx, &p, &data, 1, &opt);
 *     for (uint64_t victims = 1; victims <= 5; victims++) {
 *         graphss_protocol_trial trial = {0};
 *         graphss_protocol_attack(ctx, &trial, &p, victims);
 *         graphss_defence_input in = graphss_protocol_input(&trial);
 *         graphss_recover_run(ctx, &r, &in, &recover_options);
 *         graphss_protocol_score s = graphss_protocol_measure(&trial, r.predictions.label);
 *         graphss_protocol_trial_destroy(ctx, &trial);
 *     }
 *     graphss_protocol_destroy(ctx, &p);
 *
 * mode paper   features divided by their row sums once, before the attack; the paper's noise
 *              generator; its three-layer models, which divide no row again; the attack as its
 *              code runs it, with the model's own weights and noisy labels; one model for all
 *              sets of victims; setting seen
 * mode honest  raw features, attacked in their own domain by a surrogate trained on the split,
 *              by an attacker who believes what the model predicts; the tuned models; any
 *              setting
 * A defence gets only graphss_protocol_input; the truth stays in the trial. */
#ifndef GRAPHSS_LAB_PROTOCOL_H
#define GRAPHSS_LAB_PROTOCOL_H

#include <graphss/attack.h>
#include <graphss/predictor.h>
#include <graphss/recover.h>
#include <graphss_lab/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_protocol_options {
    uint32_t struct_size;          /* sizeof(graphss_protocol_options) */
    graphss_mode mode;             /* kept by split, model and attack */
    graphss_split_options split;   /* 40/20/40, noise 10 % */
    graphss_train_options train;   /* the classifier's preset */
    graphss_snapshot_options plan; /* setting, share of victims */
    graphss_attack_options attack; /* edges or features < 0: by the dataset, see _budget */
    const graphss_predictor *predictor; /* Answers in place of the classifier, which is fitted
                                         * to it; NULL: none. Borrowed, never released;
                                         * INVALID in paper mode. */
} graphss_protocol_options;

/* The preset of a mode for a classifier: "gcn", "sgc", "sage" or "mlp". */
GRAPHSS_API void graphss_protocol_options_init(
    graphss_protocol_options *opt, const char *model, graphss_mode mode);
/* The paper's budgets: 5 edges on Amazon Photo and Coauthor CS, 2 elsewhere; ten times as many
 * features. */
GRAPHSS_API void graphss_protocol_budget(
    int64_t *edges, int64_t *features, const graphss_dataset *data);

/* Replaces budgets below 0 and, in paper mode, self-loops by the values for a dataset.
 * graphss_protocol_start calls it; use it for snapshots made otherwise. */
GRAPHSS_API void graphss_protocol_suit(
    graphss_protocol_options *opt, const graphss_dataset *data);
/* The weights that the paper's attacker knows: not those of the model it attacks, but those of
 * the last epoch or, for SGC and GraphSAGE, those before the first epoch (docs/selfsup.md).
 * The caller releases *surrogate [features x classes]. Errors: those of graphss_model_train
 * and graphss_surrogate_from_model. */
GRAPHSS_MUST_CHECK graphss_status graphss_protocol_surrogate(graphss_ctx *ctx,
    float **surrogate, const graphss_dataset *data, const graphss_split *split, uint64_t seed,
    const graphss_train_options *train);
/* The labels that the paper's attacker assumes: those of the split and, for a fraction `noise`
 * of the test nodes, random ones. label [nodes] holds the truth on entry and is changed.
 * INVALID (an argument is missing, noise is not in [0, 1]), SHAPE (the split belongs to other
 * data), NOMEM; label is then unchanged. */
GRAPHSS_MUST_CHECK graphss_status graphss_protocol_believed(graphss_ctx *ctx, int32_t *label,
    const graphss_dataset *data, const graphss_split *split, double noise, uint64_t seed);

/* A plain value: {0} is empty. Data, split and what all sets of victims share. */
typedef struct graphss_protocol {
    graphss_protocol_options opt; /* budgets filled in */
    graphss_dataset data;         /* a copy, in paper mode with rows divided */
    graphss_split split;
    uint64_t seed;        /* of split, noise and model */
    graphss_model *model; /* setting seen: trained on data; else NULL */
    float *surrogate;     /* paper mode: what the attacker knows; else NULL, made per trial */
    uint64_t reserved[4]; /* 0 */
} graphss_protocol;

/* Progress stage: "train". Errors: INVALID (an option; paper mode with another setting than
 * seen), DATA (no labels, no features), and those of graphss_split_make and
 * graphss_model_train. */
GRAPHSS_MUST_CHECK graphss_status graphss_protocol_start(graphss_ctx *ctx,
    graphss_protocol *out, const graphss_dataset *data, uint64_t seed,
    const graphss_protocol_options *opt);
GRAPHSS_API void graphss_protocol_destroy(graphss_ctx *ctx, graphss_protocol *p);

typedef struct graphss_protocol_score {
    double victims, others, test; /* accuracy in [0, 1]; NaN for an empty set */
} graphss_protocol_score;

/* One attacked snapshot. {0} is empty. Seconds are wall clock. */
typedef struct graphss_protocol_trial {
    graphss_snapshots snapshots;  /* previous, current as attacked, splits, victims, flips */
    const graphss_model *model;   /* trained on previous: the protocol's or `own` */
    graphss_model *own;           /* settings new and growing */
    bool has_past;                /* false in setting new: the previous snapshot lacks the
                                   * victims */
    graphss_observation previous; /* filled by graphss_protocol_input */
    size_t n_others;
    int32_t *other;          /* test nodes that are not victims, ascending */
    int32_t *before, *after; /* [nodes] the model's labels of current, before and
                              * after the attack */
    graphss_protocol_score clean, attacked; /* of these */
    uint64_t seed;
    double attack_seconds;
    uint64_t reserved[4]; /* 0 */
} graphss_protocol_trial;

/* Draws victims with victim_seed, trains a model if previous depends on the victims, and
 * attacks. Borrows p until the trial is destroyed. Progress stages: "train", "attack". Errors:
 * those of graphss_snapshots_plan, graphss_model_train and graphss_attack_run. */
GRAPHSS_MUST_CHECK graphss_status graphss_protocol_attack(graphss_ctx *ctx,
    graphss_protocol_trial *out, const graphss_protocol *p, uint64_t victim_seed);
/* The input for a defence, with the seed of the victims. Borrows the trial, which must not
 * move while this is used. */
GRAPHSS_API graphss_defence_input graphss_protocol_input(graphss_protocol_trial *trial);
/* Accuracy of label [nodes of current]; -1 (abstained) counts as wrong. */
GRAPHSS_API graphss_protocol_score graphss_protocol_measure(
    const graphss_protocol_trial *trial, const int32_t *label);
GRAPHSS_API void graphss_protocol_trial_destroy(
    graphss_ctx *ctx, graphss_protocol_trial *trial);

#ifdef __cplusplus
}
#endif
#endif
