/* nettack.h - the parts of Nettack. Private to its four files.
 *
 * Letters: n nodes, d words, k classes; u the victim; N(v) the neighbours of v, deg(v) their
 * number, d_v = deg(v) + 1. The surrogate's logits of u, with XW = X W:
 *
 *     t_x  = XW[x] d_x^-1/2
 *     S[w] = sum over x in N(w) + w of t_x
 *     logits_u = d_u^-1/2 sum over w in N(u) + u of S[w] / d_w
 *
 * XW and S are kept for all nodes. After a change the rows that depend on it are recomputed
 * from their definition, not adjusted, so they hold no history: the same graph gives the same
 * bits, and taking a change back restores them. */
#ifndef GRAPHSS_NETTACK_H
#define GRAPHSS_NETTACK_H

#include "attack/attack_method.h"
#include "attack/nettack/unnoticed.h"

/* The part of Nettack's state that does not depend on the victims: made once, and read by all
 * attacks that start from the same snapshot. */

/* {0} is empty. */
typedef struct graphss_i_ground {
    graphss_i_feature_index x;
    graphss_i_cooccur together;
    float *on;                    /* [d] the value an absent word gets */
    const float *const *believed; /* [n_believed] surrogates, each d x k; borrowed */
    size_t n_believed;
    double *xw; /* [n_believed x n x k] X W of each */
} graphss_i_ground;

/* Words of the listed nodes, those that will be attacked, have their row in `together`. */
typedef struct graphss_i_ground_input {
    const graphss_features *features; /* borrowed */
    graphss_feature_domain domain;
    const int32_t *node; /* [n_nodes] */
    size_t n_nodes, n_classes, n_believed;
    const float *const *believed;
} graphss_i_ground_input;
graphss_status graphss_i_ground_init(
    graphss_ctx *ctx, graphss_i_ground *ground, const graphss_i_ground_input *in);
/* X W of that surrogate; NULL: it is none of those believed. */
const double *graphss_i_ground_product(
    const graphss_i_ground *ground, const float *w, size_t n_classes);
void graphss_i_ground_destroy(graphss_ctx *ctx, graphss_i_ground *ground);

/* State that all workers read. It is written between victims only, and only in a cumulative
 * attack. */
typedef struct graphss_i_nettack_shared {
    size_t n, d, k;
    const graphss_attack_input *in;
    const graphss_attack_options *opt;
    const float *w;   /* [d x k] */
    const double *xw; /* [n x k] of the ground, at the start; NULL: not known */
    graphss_i_feature_index x;
    graphss_i_cooccur together; /* empty when the test is off or no feature is attacked */
    float *on;                  /* [d] */
    double *rsqrt;              /* [n + 2] rsqrt[d] = d^-1/2 */
    size_t most_targets;        /* nodes changed for one victim */
    size_t stride;              /* edges are joined to every stride-th node; 1 */
    const graphss_i_attack_budget *each; /* [n_victims] or NULL: as the options have it */
    bool features;                       /* are features attacked? */
    bool quiet;                          /* no progress */
} graphss_i_nettack_shared;

/* The graph as one worker changes it. */
typedef struct graphss_i_nettack_work {
    const graphss_i_nettack_shared *shared;
    graphss_ctx *ctx; /* NULL in a parallel task: no allocation */
    graphss_i_rows adj;
    double *xw, *s;      /* [n x k] */
    int32_t *count;      /* [n + 1] nodes by degree */
    size_t max_degree;   /* no node has more */
    int32_t *touched;    /* [n] nodes whose xw or S differ from the start's */
    uint8_t *is_touched; /* [n] */
    size_t n_touched;

    /* about the victim's surroundings as they are now */
    double *via;   /* [n] via[x] = sum over w in N(u) that x neighbours of 1 / d_w */
    int32_t *near; /* [n] nodes where via is not 0 */
    size_t n_near;
    double *logits;  /* [k] */
    double *scratch; /* [5 k] */
    uint8_t *passes; /* [2 (n + 1)] the degree test, by the other end's degree */
    graphss_i_degree_test degrees;

    /* the nodes that may be changed for this victim, and their words */
    int32_t *target; /* [most_targets] */
    double *target_score;
    size_t n_targets;
    double *value;      /* [most_targets x d] */
    int32_t *candidate; /* [most_targets x d] words that may change, ascending */
    size_t *n_candidates;
    double *reach;    /* [most_targets] (A_hat^2)_u,target */
    bool *unsettled;  /* [most_targets] words changed since its row of xw was computed */
    bool *rewritten;  /* [most_targets] words changed at all */
    uint8_t *allowed; /* [most_targets x d] may the word be added? */
    /* [most_targets x d] what a candidate adds to the margin; INFINITY: not a candidate. Valid
     * while only words change and pull_wrong is the class */
    double *pull;
    size_t *n_pulls;   /* [targets] of them: those that are candidates */
    size_t pull_wrong; /* n_classes: not worked out */
    graphss_i_cooccur_scratch cooccur;
} graphss_i_nettack_work;

/* ground: of the input's features, or NULL. */
graphss_status graphss_i_nettack_shared_init(graphss_ctx *ctx,
    graphss_i_nettack_shared *shared, const graphss_attack_input *in,
    const graphss_attack_options *opt, const graphss_i_ground *ground);
void graphss_i_nettack_shared_destroy(graphss_ctx *ctx, graphss_i_nettack_shared *shared);
/* same: another workspace whose xw and S are copied rather than computed, or NULL. */
graphss_status graphss_i_nettack_work_init(graphss_ctx *ctx, graphss_i_nettack_work *work,
    const graphss_i_nettack_shared *shared, const graphss_i_nettack_work *same);
void graphss_i_nettack_work_destroy(graphss_ctx *ctx, graphss_i_nettack_work *work);

/* Adds or removes the edge between a and b; false if there is no room for it (nothing is
 * changed). */
bool graphss_i_nettack_flip(graphss_i_nettack_work *work, int32_t a, int32_t b);
/* Recomputes the row of xw of a node whose words were changed, from `value`, and everything
 * that depends on it. */
void graphss_i_nettack_settle(graphss_i_nettack_work *work, size_t target);
/* Takes everything back to the start. */
void graphss_i_nettack_reset(graphss_i_nettack_work *work);

/* ---- edges (nettack_edges.c) ---- */

/* Fills via, near and logits for victim u. */
void graphss_i_nettack_set_victim(graphss_i_nettack_work *work, int32_t u);
/* The largest logit but label's, and the margin label's logit has over it. */
size_t graphss_i_nettack_wrong(double *margin, const double *logits, size_t k, size_t label);

typedef struct graphss_i_nettack_edge {
    double score; /* margin after the flip */
    int32_t a, b; /* a is -1: no candidate */
    int64_t candidates;
} graphss_i_nettack_edge;
/* The best edge between a target and any node. */
graphss_i_nettack_edge graphss_i_nettack_best_edge(
    graphss_i_nettack_work *work, int32_t u, size_t label);
/* The margin of u after the edge between a and b is added or removed, by the scores that
 * best_edge compares. The test uses it for any pair. */
double graphss_i_nettack_edge_score(
    graphss_i_nettack_work *work, int32_t u, size_t label, int32_t a, int32_t b);
/* Fills the targets: u, or the neighbours whose loss would hurt it most. */
void graphss_i_nettack_targets(graphss_i_nettack_work *work, int32_t u, size_t label);

/* ---- features (nettack_features.c) ---- */

typedef struct graphss_i_nettack_feature {
    double score;
    size_t target; /* index into targets */
    int32_t word;  /* -1: no candidate */
    size_t at;     /* its place among the candidates */
    double old_value, new_value;
    int64_t candidates;
} graphss_i_nettack_feature;
/* Fills value and candidates of the targets; call before the other two. */
void graphss_i_nettack_features_begin(graphss_i_nettack_work *work);
/* reach of the targets, after edges changed or at the start. */
void graphss_i_nettack_features_reach(graphss_i_nettack_work *work, int32_t u);
graphss_i_nettack_feature graphss_i_nettack_best_feature(
    graphss_i_nettack_work *work, size_t label);
/* Changes value and logits. */
void graphss_i_nettack_change_feature(
    graphss_i_nettack_work *work, size_t label, const graphss_i_nettack_feature *choice);

#endif
