/* alert_private.h - shared by the sources of alert. */
#ifndef GRAPHSS_ALERT_PRIVATE_H
#define GRAPHSS_ALERT_PRIVATE_H

#include "detect/reference.h"
#include "detect/snapshot.h"
#include "graph/part.h"
#include "observation/observation.h"
#include <graphss/alert.h>

/* Values of graphss_alert_scores.labelled. */
enum { GRAPHSS_I_TRAINS = 1, GRAPHSS_I_VALIDATES = 2 };

/* *opt: the options given, or the defaults for NULL, checked. INVALID: a value out of range,
 * or a rate below 1 / (draws + 1). */
graphss_status graphss_i_alert_options_take(
    graphss_ctx *ctx, graphss_alert_options *opt, const graphss_alert_options *given);

/* Both snapshots, matched and standardised, with the classifier's answers, and the scores.
 * {0} is empty; must not be moved. */
typedef struct graphss_i_alert_context {
    graphss_i_standardised seen;
    const graphss_defence_input *in; /* of seen */
    const graphss_split *split;
    graphss_split own, past_split; /* the model's, where none was given; that of the past */
    size_t n, k;
    const int32_t *before; /* [own] number in the past, -1: none; NULL: no past */
    int32_t *matched;      /* the same, where it belongs to us */
    int32_t *number;       /* [n] number in the snapshot the model was trained on */

    /* On several ranks, snapshots and `before` are of own nodes, in their own numbers; all
     * else is of all nodes, on every rank. With a single rank both are the same. */
    const struct graphss_i_scene *scene; /* NULL: alone */
    graphss_i_part *part;                /* NULL: alone */
    size_t n_own, n_past;                /* own nodes; nodes of the past */
    graphss_i_state_model states;
    graphss_i_snapshot now, past;
    int32_t *compared; /* [n_compared] nodes that those without a past are compared with */
    size_t n_compared;
    uint8_t *what; /* [n] the likely type of tampering, if any: graphss_i_tampered */
    graphss_alert_scores scores;
} graphss_i_alert_context;

/* The number among all of the own node i. */
static inline size_t graphss_i_alert_number(const graphss_i_alert_context *x, size_t i)
{
    return x->part ? (size_t)x->part->id[i] : i;
}
/* The own number of node v, or -1. */
static inline int32_t graphss_i_alert_own(const graphss_i_alert_context *x, int32_t v)
{
    return x->part ? (int32_t)graphss_i_part_find(x->part, v) : v;
}

/* in: checked. opt: taken. x->scene, where there is one, is set, and in is its own. */
graphss_status graphss_i_alert_open(graphss_ctx *ctx, graphss_i_alert_context *x,
    const graphss_defence_input *in, const graphss_alert_options *opt);
void graphss_i_alert_close(graphss_ctx *ctx, graphss_i_alert_context *x);

/* Fraction of n nodes with p-values below what honest ones have, of which at most tolerance t
 * are below t: max over t of (F(t) - tolerance t - so many standard errors) / (1 - tolerance
 * t). node [n] or NULL: all. */
double graphss_i_excess(
    const double *p_value, const int32_t *node, size_t n, double tolerance, double errors);

#endif
