/* graphss/alert.h - test whether a snapshot, or a group of its nodes, was attacked.
 *
 *     graphss_alert_train(ctx, model, &in.current, 1);    // once, where it was trained
 *     graphss_alert_result out = {0};
 *     graphss_alert_run(ctx, &out, &in, NULL, 0, NULL);   // for each snapshot
 *     if (out.alert)
 *         printf("p = %.4f, %s\n", out.p_value, graphss_perturbation_text(out.kind));
 *     graphss_alert_result_destroy(ctx, &out);
 *
 * The score of a node is the log odds that it was tampered with, judged by its changes if it
 * has a past, else by its present edges and features. A node whose edges and features are
 * unchanged was not tampered with: it is never flagged, and a group without change has p = 1.
 * Groups are tested by exchanging nodes with reference nodes of their stratum: nodes that
 * changed as much and were not attacked. So the false-alarm rate holds whatever the score is.
 *
 * At least 20 labelled nodes are needed to learn from; DATA with fewer. */
#ifndef GRAPHSS_ALERT_H
#define GRAPHSS_ALERT_H

#include <graphss/observation.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_alert_options {
    uint32_t struct_size;    /* sizeof(graphss_alert_options) */
    double false_alarm_rate; /* (0, 1), at least 1 / (draws + 1); 0.05 */
    int64_t draws;           /* Number of random permutations, 1999. P-values are multiples of
                              * 1 / (draws + 1); a rate below that is INVALID. */
    bool validation_only;    /* Compare with validation nodes and rehearsed change only.
                              * Otherwise, if the snapshot as a whole shows no sign of an
                              * attack, a group that is a small part of it is compared with
                              * the nodes outside. */
    /* Nodes that were surely not tampered with. They are no suspects, and from 20 on that the
     * model was not trained with they are the reference in place of the validation nodes. */
    const int32_t *trusted; /* [n_trusted] */
    size_t n_trusted;
} graphss_alert_options;

GRAPHSS_API void graphss_alert_options_init(graphss_alert_options *opt);
GRAPHSS_API const graphss_option *graphss_alert_options_table(void);

typedef struct graphss_alert_verdict {
    bool alert; /* p_value <= the rate */
    double p_value;
    double score, threshold; /* of the group; an alert is a score above the threshold */
    size_t n_group;          /* nodes judged: those of the group that changed or have no past.
                              * 0: nothing changed, p = 1 */
    size_t n_calibration;    /* reference nodes they were compared with */
    uint64_t reserved[4];    /* 0 */
} graphss_alert_verdict;

/* Permutation test on scores alone: is the mean of score [n] higher than chance allows, given
 * the reference scores [n_reference]? The p-value is the fraction of permutations
 * with a mean at least as high; P(p <= a) <= a for a clean group. Uses stream SAMPLER.
 * INVALID: an option, an empty list, a score that is not a number. Time O(draws * min(n,
 * n_reference)). */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_test(graphss_ctx *ctx,
    graphss_alert_verdict *out, const double *score, size_t n, const double *reference,
    size_t n_reference, uint64_t seed, const graphss_alert_options *opt);
/* Conformal p-value of one score: (1 + reference scores at least as high) / (1 + n_reference).
 */
GRAPHSS_API double graphss_alert_rank(
    double score, const double *reference, size_t n_reference);

/* What changed since the previous snapshot. */
typedef struct graphss_alert_changes {
    size_t nodes_known;                     /* nodes present in both snapshots, */
    size_t edges_changed, features_changed; /* how many of them have different edges,
                                             * features */
    size_t nodes_new, nodes_gone;
    uint64_t reserved[4]; /* 0 */
} graphss_alert_changes;

/* What is known of a suspicious node. Classes are -1 if unknown. */
typedef struct graphss_alert_reason {
    size_t edges_added, edges_removed;       /* since the previous snapshot */
    size_t features_added, features_removed; /* a value that changed counts as added */
    int32_t now, before;                     /* class by the classifier, now and then */
    int32_t features, edges;                 /* class its features, and its edges, speak for */
    double p_now, p_before, p_features, p_edges; /* how clearly, (0, 1) */
} graphss_alert_reason;

/* A plain value: {0} is empty; the arrays belong to it. */
typedef struct graphss_alert_result {
    bool alert; /* p_value <= the rate */
    double p_value, score, threshold;
    graphss_perturbation kind; /* the most likely attack; NONE without an alert */
    double share;              /* estimated fraction of the group that is perturbed */
    double contaminated;       /* estimated fraction of what is relied on that is perturbed:
                                * the validation nodes, or with a past the nodes that did not
                                * change since; 0 where none certainly are */
    size_t n_group;       /* nodes judged: those of the group that changed or have no past. */
    int32_t *group;       /* 0: nothing changed, p = 1 */
    size_t n_calibration; /* reference nodes it is compared with */
    size_t n_nodes;
    /* [n_nodes] log odds that it was tampered with; unchanged nodes have the lowest */
    double *node_score;
    double *node_p_value; /* [n_nodes] its conformal rank among the reference nodes; 1: did not
                           * change */
    double *perturbed;    /* [n_nodes] probability that it is perturbed */
    size_t n_flagged;
    /* In an alert: nodes of the group, the most suspicious first, up to where 3 % of the list
     * are expected to be false. Empty without an alert. */
    int32_t *flagged;
    graphss_alert_reason *reason;  /* [n_flagged] the evidence against each */
    graphss_alert_changes changes; /* of the whole snapshot; all 0 without a previous one */
    double seconds;
    /* the predicted class of many new nodes that look perturbed; -1: none */
    int32_t wave_class;
    size_t wave_nodes;    /* how many new nodes lean on it */
    uint64_t reserved[2]; /* 0 */
} graphss_alert_result;

/* Rehearses attacks and benign change on labelled nodes of the snapshot the model was trained
 * on, and stores the detector in the model, for alert and recover. Call it once;
 * graphss_model_save saves it too. Without it, or if the model was trained further, each call
 * learns a detector from the snapshot it judges. With too few labelled nodes (see above) it
 * learns nothing and returns OK. Progress stage: "rehearse". Errors: as graphss_alert_score. /
 */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_train(graphss_ctx *ctx, graphss_model *model,
    const graphss_observation *snapshot, uint64_t seed);

/* The scores of all nodes of a snapshot: score once, then test any number of groups.
 *     graphss_alert_scores scores = {0};
 *     graphss_alert_score(ctx, &scores, &in, NULL);
 *     for each group: graphss_alert_test_group(ctx, &verdict, &scores, node, n, 1, NULL);
 *     graphss_alert_scores_destroy(ctx, &scores);
 * A plain value: {0} is empty; the arrays belong to it. */
typedef struct graphss_alert_scores {
    size_t n_nodes, n_classes;
    double *score;      /* [n_nodes] log odds that the node was tampered with */
    double *p_value;    /* [n_nodes] conformal rank among the reference nodes of its stratum;
                         * 1: it did not change */
    uint8_t *stratum;   /* [n_nodes] graphss_alert_stratum */
    int32_t *predicted; /* [n_nodes] class by the classifier, in [0, n_classes) */
    uint8_t *labelled;  /* [n_nodes] 1: a training node, 2: a validation node */
    int32_t *order;     /* [n_nodes] by stratum, predicted class and score, the highest first
                         */
    size_t start[7];    /* where each stratum begins in reference, and the end of the last */
    /* scores of nodes that were not attacked, the highest first; in the place of UNCHANGED,
     * which needs none, scores of rehearsed nodes without a past */
    double *reference;
    uint8_t synthetic[6]; /* 1: those of the stratum were changed by simulation */
    double contaminated;  /* as in graphss_alert_result */
    bool past;            /* whether there is a previous snapshot */
    bool quiet;           /* the snapshot as a whole shows no sign of an attack, so nodes
                           * outside a group may be its reference */
    uint64_t reserved[4]; /* 0 */
} graphss_alert_scores;

/* What changed at a node since the previous snapshot. */
typedef enum graphss_alert_stratum {
    GRAPHSS_ALERT_UNCHANGED,
    GRAPHSS_ALERT_NO_PAST,
    GRAPHSS_ALERT_ONE_EDGE,
    GRAPHSS_ALERT_EDGES,
    GRAPHSS_ALERT_FEATURES,
    GRAPHSS_ALERT_BOTH
} graphss_alert_stratum;

/* Progress stages: "score", and where the model was not trained for it "rehearse". Errors: as
 * graphss_recover_run; INVALID: an option. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_score(graphss_ctx *ctx,
    graphss_alert_scores *out, const graphss_defence_input *in,
    const graphss_alert_options *opt);
/* Tests a group of n nodes; node NULL and n 0: all nodes that changed or are new or, without a
 * previous snapshot, all without a label. Training nodes are judged with a past only. INVALID:
 * an option, a node out of range or listed twice, a group without nodes. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_test_group(graphss_ctx *ctx,
    graphss_alert_verdict *out, const graphss_alert_scores *scores, const int32_t *node,
    size_t n, uint64_t seed, const graphss_alert_options *opt);
GRAPHSS_API void graphss_alert_scores_destroy(graphss_ctx *ctx, graphss_alert_scores *scores);

/* Scores in->current, tests n of its nodes (NULL and 0: as graphss_alert_test_group), and
 * names the type of attack, the perturbed fraction and the nodes. With in->previous nodes are
 * judged by how they changed, labelled ones too. Progress stages: as graphss_alert_score,
 * "judge". Errors: as graphss_recover_run and graphss_alert_test_group. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_run(graphss_ctx *ctx,
    graphss_alert_result *out, const graphss_defence_input *in, const int32_t *node, size_t n,
    const graphss_alert_options *opt);
/* Corrects the p-values of n groups that were tested together, in place, so that each can be
 * held against the rate. Family-wise (Holm): the chance of any false alert is at most the
 * rate. FDR (Benjamini and Hochberg): the expected share of false ones among the alerts is. */
typedef enum graphss_alert_correction {
    GRAPHSS_ALERT_EACH, /* none */
    GRAPHSS_ALERT_FAMILY_WISE,
    GRAPHSS_ALERT_FDR
} graphss_alert_correction;
GRAPHSS_MUST_CHECK graphss_status graphss_alert_correct(
    graphss_ctx *ctx, double *p_value, size_t n, graphss_alert_correction rule);
GRAPHSS_API void graphss_alert_result_destroy(graphss_ctx *ctx, graphss_alert_result *alert);

#ifdef __cplusplus
}
#endif
#endif
