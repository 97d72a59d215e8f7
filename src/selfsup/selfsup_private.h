/* selfsup_private.h - shared by the files of selfsup. Private. */
#ifndef GRAPHSS_SELFSUP_PRIVATE_H
#define GRAPHSS_SELFSUP_PRIVATE_H

#include "base/base.h"
#include <graphss/rng.h>
#include <graphss/selfsup.h>

/* One chain of the sampler: its state, and a sweep over all nodes. Private.
 *
 * Letters: n nodes, K classes, M sources, S states (1 without a switch). Apart from
 * selfsup.c, so that the arithmetic stands alone and a test can drive it sweep by sweep. */

/* One transition matrix as the sampler reads it: for an observed label y the factors of all
 * true classes lie side by side. The factor of class k is top[y][k] * inverse[k]. Live: top =
 * alpha + C, inverse = 1 / sum over y of top. Else top = phi, inverse = 1. */
typedef struct graphss_i_matrix {
    double *top;         /* [K x K] by observed label, then true class */
    double *counts;      /* [K x K] C; the same; not updated while the chain is warm */
    const double *alpha; /* [K x K] the same */
    double *inverse;     /* [K] */
    double *row;         /* [K] sum over y of C */
    double *alpha_row;   /* [K] sum over y of alpha */
    bool live;
} graphss_i_matrix;

/* Data shared by all chains; it does not change during a sweep. */
typedef struct graphss_i_problem {
    size_t n, K, M, S;
    const float *prob[GRAPHSS_STATES_MAX];       /* [n x K] by state, NULL: flat */
    const float *likelihood[GRAPHSS_STATES_MAX]; /* [n], NULL: 1 */
    double concentration[GRAPHSS_STATES_MAX];
    const int32_t *observed[GRAPHSS_SOURCES_MAX]; /* [n] */
    size_t first[GRAPHSS_SOURCES_MAX]; /* a source's first matrix; then one for each state */
    bool split[GRAPHSS_SOURCES_MAX];   /* has it one for each state, or one for all? */
    size_t n_matrices;
    double *alpha; /* [n_matrices x K x K] by observed label, then true class */
    double *phi;   /* the same: phi', for warm-up and for fixed matrices */
    bool fixed[GRAPHSS_SOURCES_MAX * GRAPHSS_STATES_MAX]; /* [n_matrices] */
} graphss_i_problem;

typedef struct graphss_i_chain {
    graphss_rng rng;
    int32_t *z;               /* [n] */
    uint8_t *r;               /* [n], NULL when S == 1 */
    graphss_i_matrix *matrix; /* [n_matrices] */
    double *of_class;         /* [K] nodes in each class; not kept up while warm */
    double *of_state;         /* [S] nodes in each state; the same */
    bool warm;                /* every matrix at phi', the shares at their prior mean */
    double *weight, *sums;    /* [S x K] scratch: weights and their running sums */
    double *posterior;        /* [n x K] sums over the kept sweeps */
    double *state;            /* [n x S] the same, NULL if S == 1 */
} graphss_i_chain;

/* Which matrix source m has in state s. */
static inline size_t graphss_i_matrix_of(const graphss_i_problem *p, size_t m, size_t s)
{
    return p->first[m] + (p->split[m] ? s : 0);
}

/* Every matrix at phi', the shares at their prior mean. */
void graphss_i_chain_warm(const graphss_i_problem *p, graphss_i_chain *c);
/* Counts z and r, and lets every matrix that is not fixed follow its counts. */
void graphss_i_chain_live(const graphss_i_problem *p, graphss_i_chain *c);
/* Draws (z_n, r_n) for each node in turn. keep: adds the chances to the sums. */
void graphss_i_sweep(const graphss_i_problem *p, graphss_i_chain *c, bool keep);

/* INVALID, with the position, if an option, a label, a matrix or a number is out of range. */
graphss_status graphss_i_selfsup_check(
    graphss_ctx *ctx, const graphss_selfsup_input *in, const graphss_selfsup_options *opt);
/* prob [n x K] finite, not negative, no row of zeros; where begins the text of the error. */
graphss_status graphss_i_check_prob(
    graphss_ctx *ctx, const float *prob, size_t n, size_t K, const char *where);

/* True if a refit is due after this sweep (from 0). */
bool graphss_i_refit_due(
    const graphss_selfsup_input *in, const graphss_selfsup_options *opt, size_t sweep);
/* Refits prob to the labels z unless opt->refit_rule forbids it; *done is true if it did.
 * *best is the highest agreement so far, -1 at first. */
graphss_status graphss_i_refit(graphss_ctx *ctx, bool *done, double *best, float *prob,
    const int32_t *z, const graphss_selfsup_input *in, const graphss_selfsup_options *opt);

/* Algorithm 1 as the paper's code runs it; fills an allocated result. */
graphss_status graphss_i_selfsup_paper(graphss_ctx *ctx, graphss_selfsup_result *out,
    const graphss_selfsup_input *in, const graphss_selfsup_options *opt);

#endif
