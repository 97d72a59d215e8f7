/* graphss/alert.h - was a snapshot, or a group of its nodes, tampered with?
 *
 *     graphss_alert_learn(ctx, model, &trained_on, 1);    once
 *     graphss_alert out = {0};
 *     graphss_alert_run(ctx, &out, &in, NULL, 0, NULL);   for each snapshot
 *     if (out.alert) ... out.p_value, out.kind, out.share, out.flagged[0] ...
 *     graphss_alert_destroy(ctx, &out);
 *
 * The false-alarm rate is that of a test by exchange: when the nodes of the group are as
 * good as labelled nodes that nothing was fitted on, any choice of so many nodes among both
 * is as likely to score so high. So the rate holds whatever the score is.
 *
 * Labelled nodes that are needed: 20 for validation and 3 for training; or 40 for training,
 * half of which then stand in for the former, and the rate is a hint. DATA with fewer. */
#ifndef GRAPHSS_ALERT_H
#define GRAPHSS_ALERT_H

#include <graphss/observation.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_alert_options {
    double false_alarm_rate; /* (0, 1), at least 1 / (draws + 1); 0.05 */
    int64_t draws;           /* random exchanges, 1999; p-values are multiples of
                              * 1 / (draws + 1), so a smaller rate is INVALID */
    bool validation_only;    /* compare with validation nodes alone; false: with nodes
                              * outside the group as well that did not change since the
                              * past, and with all of them where as a whole they show no
                              * sign of an attack */
} graphss_alert_options;

GRAPHSS_API graphss_alert_options graphss_alert_options_default(void);
GRAPHSS_API const graphss_option *graphss_alert_options_table(void);

/* Knows no model. Is the mean of score [n] higher than chance allows, given the scores of
 * nodes known to be clean, calm [n_calm]? *p_value: the share of exchanges with a mean as
 * high; P(p <= a) <= a for a clean group. *threshold: the mean above which p is at most the
 * rate. Stream SAMPLER. INVALID: an option, an empty list, a score that is no number. Time
 * O(draws * min(n, n_calm)). */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_test(graphss_ctx *ctx, double *p_value,
                                                     double *threshold, const double *score,
                                                     size_t n, const double *calm,
                                                     size_t n_calm, uint64_t seed,
                                                     const graphss_alert_options *opt);
/* Conformal p-value of one score: (1 + calm scores at least as high) / (1 + n_calm). */
GRAPHSS_API double graphss_alert_rank(double score, const double *calm, size_t n_calm);

/* What changed since the past. */
typedef struct graphss_alert_changes {
    size_t nodes_known;                     /* there then and now, */
    size_t edges_changed, features_changed; /* of which so many have other edges, features */
    size_t nodes_new, nodes_gone;
} graphss_alert_changes;

/* A plain value: {0} is empty; the arrays belong to it. */
typedef struct graphss_alert {
    bool alert; /* p_value <= the rate */
    double p_value, score, threshold;
    const char *kind; /* constant text: the likeliest attack, "edges", "features", "edges
                       * and features" or "copied"; "none" without an alert */
    double share;     /* estimated share of the group that was hit */
    size_t n_group;   /* nodes judged: */
    int32_t *group;
    size_t n_calibration; /* clean nodes it is compared with */
    int32_t *calibration; /* one may stand twice: as it is, and churned */
    size_t n_nodes;
    double *node_score;   /* [n_nodes] suspicion of each node by itself, [0, 1] */
    double *node_p_value; /* [n_nodes] its conformal rank among the clean nodes */
    double *perturbed;    /* [n_nodes] the chance that it was tampered with */
    size_t n_flagged;
    int32_t *flagged; /* in an alert: nodes of the group more likely hit than not, the most
                       * likely first; where there are none: those with p_value <= the
                       * rate. Empty without an alert */
    graphss_alert_changes changes; /* of the whole snapshot; all 0 without a past */
    double seconds;
} graphss_alert;

/* Rehearses attacks on training nodes of the snapshot the model was trained on, and keeps in
 * the model what they look like: once, in place of a rehearsal in every alert, which is then
 * about a third cheaper. graphss_model_save keeps it too. A model that was not taught, or was
 * trained on, rehearses on the snapshot it judges. With too few labelled nodes (above) for
 * an alert on validation nodes it learns nothing, and OK. Progress stages and errors: as
 * graphss_alert_look. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_learn(graphss_ctx *ctx, graphss_model *model,
                                                      const graphss_observation *snapshot,
                                                      uint64_t seed);

/* Clean nodes that were changed on purpose, to have some of a kind, are left out where at
 * least so many nodes of that kind are there that changed by themselves and count as clean. */
enum { GRAPHSS_ALERT_TRUE_LEAST = 20 };

/* What every node of a snapshot shows by itself: look once, then judge any number of groups.
 *     graphss_alert_scores seen = {0};
 *     graphss_alert_look(ctx, &seen, &in, NULL);
 *     for each group: graphss_alert_judge(ctx, &verdict, &seen, node, n, 1, NULL);
 *     graphss_alert_scores_destroy(ctx, &seen);
 * A plain value: {0} is empty; the arrays belong to it. Nodes are judged among their like:
 * each has a kind (0 ... n_kinds - 1), and so have the clean nodes. */
typedef struct graphss_alert_scores {
    size_t n_nodes, n_kinds;
    double *score;   /* [n_nodes] suspicion of each node, [0, 1]: ranks nodes */
    double *p_value; /* [n_nodes] conformal rank among the clean nodes of its kind */
    int32_t *kind;   /* [n_nodes] */
    int64_t *start;  /* [n_kinds + 1] into the next two: the clean nodes of each kind */
    int32_t *calm_node;
    double *calm_score;
    size_t n_free;
    int32_t *free_node; /* [n_free] all nodes without a label in the split, ascending */
    uint8_t *settled;   /* [n_kinds] such nodes of this kind are as good as clean, for they
                         * did not change since the past; NULL: of none */
    uint8_t *changed;   /* [n_kinds] nodes of this kind changed, so most of them may have been
                         * attacked, and not only the top of a group counts; NULL: none */
    uint8_t *rehearsed; /* [n_kinds] the clean nodes of this kind were changed on purpose,
                         * since too few had changed by themselves; NULL: of none. See
                         * GRAPHSS_ALERT_TRUE_LEAST */
    int32_t *sorted;    /* all nodes, and n_nodes + i for the clean node i, kind by kind, the
                         * highest score first; NULL: every verdict sorts anew */
    int64_t *sorted_start; /* [n_kinds + 1] into that */
    bool quiet;            /* they show no sign of an attack as a whole: those outside a group
                            * join the clean ones it is compared with */
} graphss_alert_scores;

typedef struct graphss_verdict {
    bool alert; /* p_value <= the rate */
    double p_value;
    double score, threshold; /* of the group; an alert is a score above the threshold */
    size_t n_group;          /* nodes judged */
    size_t n_calibration;    /* clean nodes they were compared with */
} graphss_verdict;

/* Progress stages: "look", and in it "rehearse". Errors: as graphss_recover; INVALID: an
 * option. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_look(graphss_ctx *ctx,
                                                     graphss_alert_scores *out,
                                                     const graphss_recover_input *in,
                                                     const graphss_alert_options *opt);
/* Judges n nodes; NULL, and n 0: all nodes without a label. INVALID: an option, a node out of
 * range or listed twice, a group without nodes, scores of your own whose arrays do not fit
 * together; DATA: no clean nodes are left to compare with. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_judge(graphss_ctx *ctx, graphss_verdict *out,
                                                      const graphss_alert_scores *scores,
                                                      const int32_t *node, size_t n,
                                                      uint64_t seed,
                                                      const graphss_alert_options *opt);
GRAPHSS_API void graphss_alert_scores_destroy(graphss_ctx *ctx, graphss_alert_scores *scores);

/* Judges n nodes of in->current (NULL, n 0: all without a label in the split): looks, judges,
 * and names the attack, the share of the group that was hit and the nodes. With in->previous
 * nodes are compared with their past. Progress stages: "look", in it "rehearse", "judge", and
 * in an alert "name". Errors: as graphss_recover and graphss_alert_judge. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_run(graphss_ctx *ctx, graphss_alert *out,
                                                    const graphss_recover_input *in,
                                                    const int32_t *node, size_t n,
                                                    const graphss_alert_options *opt);
/* Takes attack, share of the nodes hit and chances perturbed [n_nodes] from elsewhere, such as
 * a recovery of the same snapshot by the method graphss, and flags nodes by these. kind is
 * constant text; opt: that of the alert. INVALID, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_alert_revise(graphss_ctx *ctx, graphss_alert *alert,
                                                       const double *perturbed, double share,
                                                       const char *kind,
                                                       const graphss_alert_options *opt);
GRAPHSS_API void graphss_alert_destroy(graphss_ctx *ctx, graphss_alert *alert);

#ifdef __cplusplus
}
#endif
#endif
