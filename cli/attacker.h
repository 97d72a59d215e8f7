/* attacker.h - what `attack` and `snapshots` share: reading the options of an attack, what the
 * attacker knows, running it, and the accuracy of the model before and after. */
#ifndef GRAPHSS_ATTACKER_H
#define GRAPHSS_ATTACKER_H

#include "cli.h"

/* What the attacker knows, and the order of its changes. */
typedef struct attacker_knowledge {
    const char *surrogate; /* "train", "model" or FILE.npz; NULL: by the mode */
    const char *labels;    /* FILE.npz; NULL: attack.knows decides */
    bool cumulative;
} attacker_knowledge;

const graphss_option *attacker_table(void);
void attacker_defaults(void *options);
void attacker_attack_defaults(void *options);
/* Two groups, to be used together. */
#define ATTACKER_GROUPS \
    {"Attack", graphss_attack_options_table, sizeof(graphss_attack_options), \
        attacker_attack_defaults}, \
    { \
        "Attacker", attacker_table, sizeof(attacker_knowledge), attacker_defaults \
    }

typedef struct attacker_options {
    graphss_attack_options attack;
    attacker_knowledge knows;
    bool as_published;  /* values not given are known and believed as in the paper's code, */
    double label_noise; /* with this share of the test labels wrong */
    bool knows_given;   /* --knows was */
    /* what an attacked defence knows of the past, or NULL; set by the caller */
    const graphss_dataset *previous;
} attacker_options;

/* The options of the two groups, `group` first. Without --knows the attacker knows `knows`.
 * INVALID: budgets or orders that contradict each other. */
graphss_status attacker_apply(
    cli *app, int group, attacker_options *options, graphss_knowledge knows);

/* One attack and its result. */
typedef struct attacker {
    /* adaptive: the defence it searches against; otherwise without a name */
    graphss_target target;
    graphss_observation past;
    graphss_flips flips;
    graphss_attack_log log;
    /* time to choose the changes, and to train the model that guides it */
    double seconds, surrogate_seconds;
    char surrogate[256]; /* for people: where W comes from; empty if it was not needed */
} attacker;

/* before: the model's labels of all nodes. The model's split trains the surrogate. The
 * arguments must outlive the attacker, and the attacker must not be moved. */
graphss_status attacker_run(cli *app, attacker *a, const graphss_dataset *data,
    const graphss_split *split, const graphss_model *model, const int32_t *before,
    const int32_t *victim, size_t n_victims, const attacker_options *options);
void attacker_done(cli *app, attacker *a);
/* Method, budget, domain of the features, surrogate; for people. */
void attacker_show(
    cli *app, const attacker *a, const graphss_dataset *data, const attacker_options *options);
/* method, kind, knows, links_flipped, features_flipped, ..., attack_seconds */
void attacker_json(json_t *json, const attacker *a, const graphss_dataset *data,
    const attacker_options *options);

/* Accuracy of labels against the truth; NaN where it is unknown. */
typedef struct attacker_score {
    double victims, others, test; /* others: test nodes that are no victims */
    size_t n_victims, n_others, n_test;
} attacker_score;
attacker_score attacker_measure(const int32_t *label, const graphss_dataset *data,
    const graphss_split *split, const int32_t *victim, size_t n_victims);
/* How a defence that was aimed at does before and after the changes. */
typedef struct attacker_aim {
    attacker_score before, after;
    size_t unnoticed; /* alert: victims with a wrong label that are not named */
} attacker_aim;
/* after: the graph and features with the changes made. */
graphss_status attacker_aim_measure(cli *app, attacker_aim *aim, const attacker *a,
    const graphss_dataset *data, const graphss_graph *graph, const graphss_features *features,
    const graphss_split *split, const int32_t *victim, size_t n_victims);
/* who: what to call the nodes that were changed. */
void attacker_show_scores(
    cli *app, const char *who, const attacker_score *before, const attacker_score *after);
void attacker_json_scores(
    json_t *json, const attacker_score *before, const attacker_score *after);
void attacker_show_aim(cli *app, const attacker *a, const attacker_aim *aim);
void attacker_json_aim(json_t *json, const attacker *a, const attacker_aim *aim);

#endif
