/* graphss/attack.h - change a graph a little so that a classifier errs on chosen nodes.
 *
 *     graphss_attack_options opt;
 *     graphss_attack_options_init(&opt);
 *     graphss_attack_input in = {.struct_size = sizeof in, .graph = &data.graph,
 *                                .features = &data.features, .label = data.label,
 *                                .n_classes = data.n_classes, .surrogate = w,
 *                                .victim = victim, .n_victims = n, .seed = 1};
 *     graphss_attack_run(ctx, &flips, NULL, &in, &opt);
 *
 * An attack only chooses changes; graphss_flips_apply makes them. If a victim cannot be
 * attacked (isolated under an attack by influencers, every candidate refused) or a budget
 * cannot be spent, every method makes the changes it can, and the log has their number. */
#ifndef GRAPHSS_ATTACK_H
#define GRAPHSS_ATTACK_H

#include <graphss/flips.h>
#include <graphss/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graphss_attack_kind {
    GRAPHSS_ATTACK_LF,       /* `edges` edge changes, then `features` feature changes */
    GRAPHSS_ATTACK_EDGES,    /* `budget` edges */
    GRAPHSS_ATTACK_FEATURES, /* `budget` features */
    GRAPHSS_ATTACK_BOTH      /* `budget` changes, each step the better of the two */
} graphss_attack_kind;

/* Which values a feature may take (0 means absent). */
typedef enum graphss_feature_domain {
    GRAPHSS_DOMAIN_DETECT, /* by features.kind */
    GRAPHSS_DOMAIN_BINARY, /* 0 <-> 1 */
    GRAPHSS_DOMAIN_COUNTS, /* 0 <-> the column's median non-zero value, a whole number */
    /* TF-IDF and others: the same, but half of it if two are in the middle */
    GRAPHSS_DOMAIN_REAL
} graphss_feature_domain;

/* What an attacker believes of nodes whose label is secret. */
typedef enum graphss_knowledge {
    GRAPHSS_KNOWLEDGE_TRUTH,       /* their true class: the worst case */
    GRAPHSS_KNOWLEDGE_PREDICTIONS, /* the model's predictions */
    GRAPHSS_KNOWLEDGE_NOTHING      /* a class drawn for each, all equally likely */
} graphss_knowledge;

typedef struct graphss_attack_options {
    uint32_t struct_size; /* sizeof(graphss_attack_options) */
    const char *method;   /* a name of graphss_attack_name() */
    graphss_mode mode;    /* PAPER: as the paper's public code attacks, on rows
                           * divided by their sums, words flipped to 1 - x */
    graphss_attack_kind kind;
    int64_t edges; /* LF: per victim */
    int64_t features;
    /* LF: > 0: this share of the victim's edges, rounded down, in place of `edges` */
    double edges_share;
    double features_share; /* the same, of its non-zero features */
    int64_t budget;        /* other kinds: per victim; 0: its degree + 2 */
    /* each victim on the given graph; else on the graph as the last victim left it */
    bool independent;
    int64_t influencers;    /* 0: change the victim itself; n: only n of its neighbours */
    bool degree_test;       /* keep the distribution of degrees (likelihood ratio) */
    double delta_cutoff;    /* of that ratio, 0.004 */
    bool cooccurrence_test; /* add only words that occur with the node's words */
    graphss_feature_domain domain;
    /* read by graphss_attack_believe, which fills the labels of the input, not by
     * graphss_attack_run */
    graphss_knowledge knows;
    int64_t queries; /* adaptive: number of snapshots it may ask about; 0: 33 */
    /* adaptive: the name of the attacked defence, read by whoever fills `ask` of the input
     * (graphss_lab/target.h), not by graphss_attack_run; NULL: the model */
    const char *against;
} graphss_attack_options;

/* nettack, default mode, L&F with 2 edges and 20 features, cumulative, direct, both tests, an
 * attacker who knows the truth. */
GRAPHSS_API void graphss_attack_options_init(graphss_attack_options *opt);
GRAPHSS_API const graphss_option *graphss_attack_options_table(void);
/* "nettack", ...; NULL past the end. */
GRAPHSS_API const char *graphss_attack_name(size_t i);
/* One line for people about the i-th. */
GRAPHSS_API const char *graphss_attack_summary(size_t i);
/* What the input of a method must hold, and whether the method leaves features alone; false
 * for an unknown name. */
GRAPHSS_API bool graphss_attack_needs_surrogate(const char *method);
GRAPHSS_API bool graphss_attack_needs_model(const char *method);
GRAPHSS_API bool graphss_attack_edges_only(const char *method);
/* True if a method uses an option of the table. Unused options are ignored, or refused by
 * graphss_attack_run if they would change what is attacked. */
GRAPHSS_API bool graphss_attack_uses(const char *method, const char *option);
/* "2 edges then 20 features per victim, cumulative, direct", as snprintf; "?" for an unknown
 * kind. */
GRAPHSS_API size_t graphss_attack_budget_text(
    char *out, size_t size, const graphss_attack_options *opt);
/* How a feature is switched on and off: "0 <-> 1 (binary)", as snprintf. */
GRAPHSS_API size_t graphss_attack_domain_text(char *out, size_t size,
    const graphss_features *features, const graphss_attack_options *opt);

enum { GRAPHSS_ATTACK_QUERIES = 33 };

/* Answers a question of the adaptive method: how far from the attacker's aim are the victims
 * of `in`, in a snapshot with this graph and these features? loss [n_victims] is below 0 if
 * the aim is reached; lower is better. user is in->asked. */
struct graphss_attack_input;
typedef graphss_status (*graphss_attack_ask)(void *user, graphss_ctx *ctx, double *loss,
    const struct graphss_attack_input *in, const graphss_graph *graph,
    const graphss_features *features);

/* What an attacker knows. All borrowed. */
typedef struct graphss_attack_input {
    uint32_t struct_size; /* sizeof(graphss_attack_input) */
    const graphss_graph *graph;
    const graphss_features *features;
    const int32_t *label; /* [n_nodes] the labels the attacker believes, -1: unknown */
    size_t n_classes;
    const float *surrogate;     /* W [n_cols x n_classes]; for the methods that use it */
    const graphss_model *model; /* the model attacked; for the methods that use it */
    const int32_t *victim;      /* [n_victims] attacked in this order */
    size_t n_victims;
    uint64_t seed;          /* stream ATTACK */
    graphss_attack_ask ask; /* adaptive: the attacked defence; NULL: the model without one */
    void *asked;
} graphss_attack_input;

GRAPHSS_API void graphss_attack_input_init(graphss_attack_input *in);
/* loss [n_victims] = log P(believed class) - log P(best other), given posterior [n_nodes x
 * n_classes]. A graphss_attack_ask computes it from the answer of a classifier. */
GRAPHSS_API void graphss_attack_margins(
    double *loss, const graphss_attack_input *in, const double *posterior);

/* "truth", "predictions", "nothing". */
GRAPHSS_API const char *graphss_knowledge_text(graphss_knowledge knows);
/* label [nodes]: the labels that an attacker believes. TRUTH: data->label, and predicted
 * [nodes] where that is unknown. PREDICTIONS and NOTHING: the labels of the split for its
 * training and validation nodes; elsewhere predicted, or classes drawn below n_classes (stream
 * ATTACK). On errors label is unchanged: INVALID (an input is missing), SHAPE (the split is of
 * other data), NOMEM. / */
GRAPHSS_MUST_CHECK graphss_status graphss_attack_believe(graphss_ctx *ctx, int32_t *label,
    const graphss_dataset *data, const graphss_split *split, const int32_t *predicted,
    size_t n_classes, uint64_t seed, graphss_knowledge knows);

typedef struct graphss_attack_step {
    double loss;        /* margin (label's logit - best other) after the change */
    int64_t n_edges;    /* edge candidates that passed the tests */
    int64_t n_features; /* feature candidates */
} graphss_attack_step;

typedef struct graphss_attack_victim {
    int32_t node;
    /* the surrogate's margin; NaN if the method has no surrogate */
    double loss_before;
    double loss_after;          /* adaptive: the answer to the last question */
    size_t n_edges, n_features; /* changes made */
    size_t wanted;              /* number of changes asked for */
} graphss_attack_victim;

/* A plain value: {0} is empty. */
typedef struct graphss_attack_log {
    size_t n_steps;
    graphss_attack_step *step; /* one beside each flip, in the same order */
    size_t n_victims;
    graphss_attack_victim *victim;
    size_t n_queries;     /* adaptive: number of snapshots it asked about */
    uint64_t reserved[4]; /* 0 */
} graphss_attack_log;

GRAPHSS_API void graphss_attack_log_destroy(graphss_ctx *ctx, graphss_attack_log *log);

/* Chooses the changes. They go to an empty list with method, budget, seed and version
 * filled in; the caller adds what it knows (data, model, mode). log may be NULL.
 * A budget is spent as far as there are changes to make; nettack, like the original, may make
 * one and later undo it. Progress stage: "attack". The result does not depend on the number of
 * threads. Errors: INVALID (an option; an unsound graph or features; a label that is no class;
 * a victim out of range or twice, or with an unknown label; a method that lacks its surrogate
 * or model), SHAPE (features, surrogate and graph disagree), NOMEM, CANCELLED. */
GRAPHSS_MUST_CHECK graphss_status graphss_attack_run(graphss_ctx *ctx, graphss_flips *out,
    graphss_attack_log *log, const graphss_attack_input *in,
    const graphss_attack_options *opt);

/* ---- the surrogate: a linear model, logits = A_hat^2 X W ---- */

/* Trains W [n_cols x n_classes] on the labels of the split. The caller releases *w.
 * Errors: those of graphss_model_train. */
GRAPHSS_MUST_CHECK graphss_status graphss_surrogate_train(
    graphss_ctx *ctx, float **w, const graphss_train_input *in);
/* The product of a model's weight layers; PAPER: of the first and the last alone, as the
 * paper's code has it. The caller releases *w. SHAPE: layers that cannot be multiplied. */
GRAPHSS_MUST_CHECK graphss_status graphss_surrogate_from_model(
    graphss_ctx *ctx, float **w, const graphss_model *model, graphss_mode mode);
/* Array W of FILE.npz. The caller releases *w. SHAPE: it is not n_cols x n_classes; DATA,
 * NOT_FOUND, IO. */
GRAPHSS_MUST_CHECK graphss_status graphss_surrogate_read(
    graphss_ctx *ctx, float **w, const char *path, size_t n_cols, size_t n_classes);

/* ---- victims ---- */

typedef struct graphss_victim_options {
    uint32_t struct_size; /* sizeof(graphss_victim_options) */
    double share;         /* of the candidates given, (0, 1]; at least one node; 0.2 */
    bool correct_only;    /* only nodes the model gets right */
    int64_t min_degree;   /* 0 */
    int64_t max_degree;   /* 0: no limit */
    double min_margin;    /* of the true class's probability over the best other, [-1, 1] */
    double max_margin;
} graphss_victim_options;

GRAPHSS_API void graphss_victim_options_init(graphss_victim_options *opt);
GRAPHSS_API const graphss_option *graphss_victim_options_table(void);

/* Who may be a victim. All borrowed. prob and label may be NULL if no rule asks for them. */
typedef struct graphss_victim_input {
    uint32_t struct_size; /* sizeof(graphss_victim_input) */
    const graphss_graph *graph;
    const int32_t *candidate; /* [n_candidates] */
    size_t n_candidates;
    const float *prob;    /* [n_nodes x n_classes] of the model to be attacked */
    const int32_t *label; /* [n_nodes] the truth, -1: unknown */
    size_t n_classes;
    uint64_t seed; /* stream VICTIMS */
} graphss_victim_input;

GRAPHSS_API void graphss_victim_input_init(graphss_victim_input *in);

/* A plain value: {0} is empty. */
typedef struct graphss_victims {
    size_t count;
    int32_t *node;        /* [count] ascending */
    char *rule;           /* a sentence with the rule and the counts */
    uint64_t reserved[4]; /* 0 */
} graphss_victims;

/* Draws victims from the candidates. If fewer nodes are eligible than the share asks for, all
 * of them are victims. INVALID (an option; no prob or label though a rule asks for them),
 * DATA: no node is eligible. */
GRAPHSS_MUST_CHECK graphss_status graphss_victims_choose(graphss_ctx *ctx,
    graphss_victims *out, const graphss_victim_input *in, const graphss_victim_options *opt);
GRAPHSS_API void graphss_victims_destroy(graphss_ctx *ctx, graphss_victims *victims);

#ifdef __cplusplus
}
#endif
#endif
