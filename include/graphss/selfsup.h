/* graphss/selfsup.h - true classes behind noisy labels: Bayesian self-supervision.
 *
 *     const graphss_source history = {.name = "history", .label = y_a, .phi = phi,
 *                                     .prior = {.alpha = 1}};
 *     const graphss_selfsup_input in = {.struct_size = sizeof in, .n = n, .n_classes = k,
 *                                       .prob = prob, .source = &history, .n_sources = 1,
 *                                       .seed = 1};
 *     graphss_selfsup_result out = {0};
 *     if (graphss_selfsup_run(ctx, &out, &in, NULL) == GRAPHSS_OK)
 *         printf("R-hat %.3f, node 0: %d\n", out.r_hat, (int)out.label[0]);
 *     graphss_selfsup_result_destroy(ctx, &out);
 *
 * Knows no model and no graph: takes the class probabilities of any classifier, what one or
 * more sources said of the nodes, and a function that fits the classifier again.
 *
 * The model. Node n has a true class z_n ~ prob[n]. Source m gives it the label y_mn ~
 * phi_m[z_n], the rows of phi_m are Dirichlet. A switch may say that a node's evidence was
 * tampered with: its state r_n is drawn from shares that are Dirichlet too, and in another
 * state than the first the node has other class probabilities and its sources other transition
 * matrices. The sampler integrates matrices and shares out and draws each (z_n, r_n) given all
 * others. / */
#ifndef GRAPHSS_SELFSUP_H
#define GRAPHSS_SELFSUP_H

#include <graphss/options.h>
#include <graphss/transition.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GRAPHSS_SOURCES_MAX = 16, GRAPHSS_STATES_MAX = 16 };

/* A source of labels: annotators, the previous snapshot, a vote of the neighbours. All
 * pointers are borrowed for the call. */
typedef struct graphss_source {
    const char *name;     /* for reports; NULL: unnamed */
    const int32_t *label; /* [n] in [-1, n_classes); -1: no label for this node */
    graphss_prior prior;  /* of its matrix; {.alpha = 1} is the paper's */
    const double *phi;    /* [n_classes x n_classes] phi', used instead of the sampled matrix
                           * during warm-up; NULL: the mean of the prior */
    bool fixed;           /* use phi throughout */
    bool tampered;        /* it has a different matrix in each state but the first: */
    graphss_prior tampered_prior; /* these have this prior, */
    const double *tampered_phi;   /* [(n_states - 1) x n_classes x n_classes] or NULL, */
    bool tampered_fixed;          /* fixed or learned in the same way */
} graphss_source;

/* What may have happened to a node's evidence. The first state is "untouched". */
typedef struct graphss_state {
    const char *name;     /* for reports; NULL: unnamed */
    double concentration; /* Dirichlet parameter of its share, > 0. Two states with 0.8 N
                           * and 0.2 N: a share of about 0.2, hard to move */
    const float *prob;    /* [n x n_classes] class probabilities in this state, rows that
                           * sum to 1; NULL: flat. The first state must have NULL: its are
                           * those of the input */
    /* [n] likelihood of the node's appearance (its degree, its row sum) in this state, up to a
     * factor per node; NULL: 1 */
    const float *likelihood;
} graphss_state;

/* Fits the classifier again and writes the new class probabilities.
 *   prob   [n x n_classes]  in: those used so far; out: the new ones
 *   label [n] current z (of several chains, the most frequent)
 * Called on the caller's thread. Any status but OK ends the run with that status. */
typedef graphss_status (*graphss_refit_fn)(graphss_ctx *ctx, void *user, float *prob,
    const int32_t *label, size_t n, size_t n_classes);

typedef struct graphss_selfsup_input {
    uint32_t struct_size; /* sizeof(graphss_selfsup_input) */
    size_t n, n_classes;
    const float *prob; /* [n x n_classes] rows sum to 1 (without a switch any sum will do) */
    const graphss_source *source;
    size_t n_sources;
    const graphss_state *state; /* NULL: no switch */
    size_t n_states;            /* 0 or at least 2 */
    graphss_refit_fn refit;     /* NULL: never */
    void *refit_user;
    uint64_t seed;
} graphss_selfsup_input;

GRAPHSS_API void graphss_selfsup_input_init(graphss_selfsup_input *in);

typedef enum graphss_update {
    GRAPHSS_UPDATE_DRAW,  /* collapsed Gibbs: the paper's last equation */
    GRAPHSS_UPDATE_ARGMAX /* the largest factor wins, all nodes at once: the paper's code. One
                           * source, one chain, no switch */
} graphss_update;

typedef enum graphss_phi {
    GRAPHSS_PHI_DYNAMIC, /* after warm-up the counts of the inferred labels rule */
    GRAPHSS_PHI_FIXED    /* phi' throughout */
} graphss_phi;

typedef enum graphss_refit_rule {
    GRAPHSS_REFIT_ALWAYS,   /* refit every retrain_every sweeps */
    GRAPHSS_REFIT_AGREEMENT /* refit only if z agrees better with the first source than
                             * before */
} graphss_refit_rule;

typedef struct graphss_selfsup_options {
    uint32_t struct_size; /* sizeof(graphss_selfsup_options) */
    int64_t sweeps;       /* in all, 100 */
    int64_t warmup;       /* number of initial sweeps that use phi', 40; < sweeps */
    int64_t burn_in;      /* number of further sweeps that are not averaged */
    int64_t chains;       /* independent runs, each with its own stream, 4 */
    graphss_update update;
    graphss_phi phi;
    int64_t phi_every;     /* ARGMAX: refresh phi every phi_every sweeps */
    int64_t retrain_every; /* refit after sweeps 1, 1 + this, ...; not after the last */
    graphss_refit_rule refit_rule;
    /* ARGMAX with phi fixed: labels stay the classifier's own. The paper's code does this,
     * which is why its ablation shows no change */
    bool frozen;
} graphss_selfsup_options;

/* Exact Gibbs, 4 chains. */
GRAPHSS_API void graphss_selfsup_options_init(graphss_selfsup_options *opt);
/* Algorithm 1 as its authors ran it (see docs/selfsup.md): ARGMAX, phi and refit at every
 * 10th sweep, AGREEMENT instead of reading the test labels. */
GRAPHSS_API void graphss_selfsup_options_init_paper(graphss_selfsup_options *opt);
GRAPHSS_API const graphss_option *graphss_selfsup_options_table(void);

/* One number followed over the sweeps that were averaged, in each chain. */
typedef struct graphss_trace {
    /* "class": share of nodes in class `index`; "source": share of nodes whose z is the label
     * of source `index`; "state": share in `index` */
    const char *what;
    size_t index;
    double mean, deviation; /* over all chains */
    double r_hat;           /* near 1 when the chains agree */
    double ess;             /* effective number of independent draws */
} graphss_trace;

/* A plain value: {0} is empty; the arrays belong to it. */
typedef struct graphss_selfsup_result {
    size_t n, n_classes, n_sources, n_states; /* n_states 0: no switch */
    int32_t *label;    /* [n] the most probable class (ARGMAX: the last z) */
    double *posterior; /* [n x n_classes] mean over kept sweeps and chains of the chance of
                        * each class given all other nodes: the mean of the draws, with less
                        * noise. ARGMAX: the factors of the last sweep, normalised */
    double *state;     /* [n x n_states] the same for the states; NULL without a switch */
    double *counts;    /* [n_sources x n_classes x n_classes] C, mean over the kept sweeps */
    /* [n_sources x n_classes x n_classes] posterior mean; of the first state if there are
     * several */
    double *phi;
    double *share;        /* [n_states] posterior mean share of each state */
    graphss_trace *trace; /* [n_traces] */
    size_t n_traces;
    double r_hat; /* the worst of the traces; NaN when fewer than 4 sweeps were kept */
    double ess;   /* the least of them */
    size_t kept;  /* sweeps averaged in each chain; a refit starts over */
    size_t refits;
    double seconds;       /* total, with refits */
    uint64_t reserved[4]; /* 0 */
} graphss_selfsup_result;

/* Infers classes. The same seed gives the same result whatever the number of threads.
 * Progress stage: "infer". out is written only on GRAPHSS_OK.
 * Errors: INVALID (an option; a label out of range; a probability that is negative, not
 * finite, or a row of zeros; a matrix whose rows do not sum to 1), NOMEM, CANCELLED, and what
 * refit returns. Time O(chains * sweeps * n * n_classes * n_states * n_sources), chains in
 * parallel; memory O(chains * n * (n_classes + n_states)). */
GRAPHSS_MUST_CHECK graphss_status graphss_selfsup_run(graphss_ctx *ctx,
    graphss_selfsup_result *out, const graphss_selfsup_input *in,
    const graphss_selfsup_options *opt);
GRAPHSS_API void graphss_selfsup_result_destroy(graphss_ctx *ctx, graphss_selfsup_result *out);

/* Split R-hat of chains of equal length, trace [n_chains x length]: each is cut in two, and
 * the spread between the pieces compared with that within. 1 for a constant, infinite for
 * pieces that are constant but differ, NaN when length < 4. */
GRAPHSS_API double graphss_trace_r_hat(const double *trace, size_t n_chains, size_t length);
/* Effective number of independent draws, at most n_chains * length; that for a constant.
 * Time O(n_chains * length * lag), lag being where correlation dies. */
GRAPHSS_API double graphss_trace_effective_draws(
    const double *trace, size_t n_chains, size_t length);

#ifdef __cplusplus
}
#endif
#endif
