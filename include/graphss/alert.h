/* graphss/alert.h - test whether a snapshot, or a group of its nodes, was attacked.
 *
 *     graphss_alert_learn(ctx, model, &trained_on, 1);    once
 *     graphss_alert out = {0};
 *     graphss_alert_run(ctx, &out, &in, NULL, 0, NULL);   for each snapshot
 *     if (out.alert) ... out.p_value, out.kind, out.share, out.flagged[0] ...
 *     graphss_alert_destroy(ctx, &out);
 *
 * The test is a permutation test: if the nodes of the group and the reference nodes are
 * exchangeable, every choice of as many nodes among both is equally likely to score this high.
 * So the false-alarm rate holds whatever the score is.
 *
 * It needs 20 validation and 3 training nodes with labels; or 40 training nodes, half of which
 * then serve as validation nodes, and the rate is approximate. DATA with fewer. */
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
    bool validation_only;    /* Compare with validation nodes only. Otherwise also with nodes
                              * outside the group that did not change since the previous
                              * snapshot and, if the snapshot as a whole shows no sign of an
                              * attack, with all nodes outside the group. */
} graphss_alert_options;

GRAPHSS_API void graphss_alert_options_init(graphss_alert_options *opt);
GRAPHSS_API const graphss_option *graphss_alert_options_table(void);

/* Permutation test on scores alone: is the mean of score [n] higher than chance allows, given
 * the scores calm [n_calm] of reference nodes? *p_value is the fraction of permutations with a
 * mean at least as high; P(p <= a) <= a for a clean group. *threshold is the mean above which
 * p is at most the rate. Uses stream SAMPLER. INVALID: an option, an empty list, a score that
 * is not a number. Time O(draws * min(n, n_calm)). */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_test(graphss_ctx *ctx, double *p_value,
                                                     double *threshold, const double *score,
                                                     size_t n, const double *calm,
                                                     size_t n_calm, uint64_t seed,
                                                     const graphss_alert_options *opt);
/* Conformal p-value of one score: (1 + calm scores at least as high) / (1 + n_calm). */
GRAPHSS_API double graphss_alert_rank(double score, const double *calm, size_t n_calm);

/* What changed since the previous snapshot. */
typedef struct graphss_alert_changes {
    size_t nodes_known;                     /* nodes present in both snapshots, */
    size_t edges_changed, features_changed; /* how many of them have different edges,
                                             * features */
    size_t nodes_new, nodes_gone;
} graphss_alert_changes;

/* A plain value: {0} is empty; the arrays belong to it. */
typedef struct graphss_alert {
    bool alert; /* p_value <= the rate */
    double p_value, score, threshold;
    const char *kind; /* Constant text, the most likely attack: "links", "features", "links and
                       * features" or "copied"; "none" without an alert. */
    double share;     /* estimated fraction of the group that is perturbed */
    size_t n_group;   /* nodes judged: */
    int32_t *group;
    size_t n_calibration; /* reference nodes it is compared with */
    int32_t *calibration; /* a node may occur twice: as it is, and after simulated benign
                           * change */
    size_t n_nodes;
    double *node_score;   /* [n_nodes] suspicion of each node by itself, [0, 1] */
    double *node_p_value; /* [n_nodes] its conformal rank among the reference nodes */
    double *perturbed;    /* [n_nodes] probability that it is perturbed */
    size_t n_flagged;
    int32_t *flagged; /* In an alert: the nodes of the group with perturbed > 0.5, most likely
                       * first; if there are none, those with p_value <= the rate. Empty
                       * without an alert. */
    graphss_alert_changes changes; /* of the whole snapshot; all 0 without a previous one */
    double seconds;
} graphss_alert;

/* Fits the detector: simulates attacks on training nodes of the snapshot the model was trained
 * on, learns what they look like, and stores the result in the model. Call it once; each alert
 * is then about a third cheaper. graphss_model_save stores it too. A model without a detector,
 * or one that was trained further, fits a detector on the snapshot it judges. With too few
 * labelled nodes (see above) it learns nothing and returns OK. Progress stages and errors: as
 * graphss_alert_look. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_learn(graphss_ctx *ctx, graphss_model *model,
                                                      const graphss_observation *snapshot,
                                                      uint64_t seed);

/* Minimum number of genuinely changed reference nodes in a stratum before its synthetic ones
 * are dropped. */
enum { GRAPHSS_ALERT_TRUE_LEAST = 20 };

/* The scores of all nodes of a snapshot: score once, then test any number of groups.
 *     graphss_alert_scores seen = {0};
 *     graphss_alert_look(ctx, &seen, &in, NULL);
 *     for each group: graphss_alert_judge(ctx, &verdict, &seen, node, n, 1, NULL);
 *     graphss_alert_scores_destroy(ctx, &seen);
 * A plain value: {0} is empty; the arrays belong to it. Nodes are compared within strata: each
 * node and each reference node has a stratum, its kind in 0 ... n_kinds - 1. */
typedef struct graphss_alert_scores {
    size_t n_nodes, n_kinds;
    double *score;   /* [n_nodes] anomaly score of each node, [0, 1] */
    double *p_value; /* [n_nodes] conformal rank among the reference nodes of its stratum */
    int32_t *kind;   /* [n_nodes] */
    int64_t *start;  /* [n_kinds + 1] into the next two: the reference nodes of each stratum */
    int32_t *calm_node;
    double *calm_score;
    size_t n_free;
    int32_t *free_node; /* [n_free] all nodes without a label in the split, ascending */
    uint8_t *settled;   /* [n_kinds] 1 if nodes of this stratum did not change since the
                         * previous snapshot and so count as clean; NULL: none */
    uint8_t *changed;   /* [n_kinds] 1 if nodes of this stratum changed. Most of them may then
                         * be perturbed, so the whole group counts and not only its top; NULL:
                         * none */
    uint8_t *rehearsed; /* [n_kinds] 1 if the reference nodes of this stratum are synthetic:
                         * changed by simulation because too few changed by themselves; NULL:
                         * none. See GRAPHSS_ALERT_TRUE_LEAST. */
    int32_t *sorted;    /* All nodes, and n_nodes + i for reference node i, stratum by stratum,
                         * highest score first; NULL: each verdict sorts again. */
    int64_t *sorted_start; /* [n_kinds + 1] into that */
    bool quiet;            /* The snapshot as a whole shows no sign of an attack, so nodes
                            * outside a group join its reference nodes. */
} graphss_alert_scores;

typedef struct graphss_verdict {
    bool alert; /* p_value <= the rate */
    double p_value;
    double score, threshold; /* of the group; an alert is a score above the threshold */
    size_t n_group;          /* nodes judged */
    size_t n_calibration;    /* reference nodes they were compared with */
} graphss_verdict;

/* Progress stages: "look", and within it "rehearse". Errors: as graphss_recover; INVALID: an
 * option. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_look(graphss_ctx *ctx,
                                                     graphss_alert_scores *out,
                                                     const graphss_recover_input *in,
                                                     const graphss_alert_options *opt);
/* Tests a group of n nodes; node NULL and n 0: all nodes without a label. INVALID: an option,
 * a node out of range or listed twice, a group without nodes, scores of your own whose arrays
 * do not fit together. DATA: no reference nodes are left to compare with. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_judge(graphss_ctx *ctx, graphss_verdict *out,
                                                      const graphss_alert_scores *scores,
                                                      const int32_t *node, size_t n,
                                                      uint64_t seed,
                                                      const graphss_alert_options *opt);
GRAPHSS_API void graphss_alert_scores_destroy(graphss_ctx *ctx, graphss_alert_scores *scores);

/* Scores in->current, tests n of its nodes (node NULL and n 0: all without a label in the
 * split), and names the type of attack, the perturbed fraction and the nodes. With
 * in->previous, nodes are also compared with their past. Progress stages: "look", within it
 * "rehearse", "judge", and in an alert "name". Errors: as graphss_recover and
 * graphss_alert_judge. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_run(graphss_ctx *ctx, graphss_alert *out,
                                                    const graphss_recover_input *in,
                                                    const int32_t *node, size_t n,
                                                    const graphss_alert_options *opt);
/* Replaces type of attack, perturbed fraction and perturbed [n_nodes] by values from
 * elsewhere, such as a recovery of the same snapshot by the method graphss, and flags nodes by
 * these. kind is constant text; opt is that of the alert. INVALID, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_revise(graphss_ctx *ctx, graphss_alert *alert,
                                                       const double *perturbed, double share,
                                                       const char *kind,
                                                       const graphss_alert_options *opt);
GRAPHSS_API void graphss_alert_destroy(graphss_ctx *ctx, graphss_alert *alert);

#ifdef __cplusplus
}
#endif
#endif
