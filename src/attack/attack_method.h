/* attack_method.h - what an attack is to the rest: one file that fills this struct, and one
 * line in attacks.def. */
#ifndef GRAPHSS_ATTACK_METHOD_H
#define GRAPHSS_ATTACK_METHOD_H

#include "base/base.h"
#include <graphss/attack.h>

typedef struct graphss_i_attack_method {
    const char *name;
    const char *summary; /* for people, one line with the paper */
    bool needs_surrogate, needs_model;
    bool edges_only; /* a budget of features is an error */
    bool paper;      /* has a paper mode; for the others that is an error */
    bool tests;      /* stays unnoticed: --degree-test, --delta-cutoff, --cooccurrence-test */
    bool domain;     /* switches features on: --feature-domain */
    /* Input and options are checked. Appends to out and log (never NULL), which the caller
     * destroys on an error: a step for each flip, a victim for each of the input. */
    graphss_status (*run)(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
                          const graphss_attack_input *in, const graphss_attack_options *opt);
} graphss_i_attack_method;

#define ATTACK(name) extern const graphss_i_attack_method graphss_i_##name##_attack;
#include "attack/attacks.def"
#undef ATTACK

/* The name as a text that lasts; NULL: there is no such method. */
const char *graphss_i_attack_find(const char *name);

/* graphss_attack_run on a snapshot that was looked at. */
graphss_status graphss_i_attack(graphss_ctx *ctx, graphss_flips *out,
                                const graphss_attack_input *in,
                                const graphss_attack_options *opt);

/* ---- what methods share (attack.c) ---- */

/* A step of unknown loss for each of the changes, for methods that know none. */
graphss_status graphss_i_attack_log_steps(graphss_ctx *ctx, graphss_attack_log *log,
                                          const graphss_flips *flips);

/* How many edge and feature changes, or of either kind, a victim of that degree gets. */
typedef struct graphss_i_attack_budget {
    size_t edges, features, either;
} graphss_i_attack_budget;
graphss_i_attack_budget graphss_i_attack_budget_of(const graphss_attack_options *opt,
                                                   size_t degree);
struct graphss_i_ground;
/* Nettack as a defence rehearses it: cumulative and direct, victim i with the budget each[i],
 * which opt bounds, or with that of opt where each is NULL; joins only every stride-th node.
 * ground (nettack_cache.h): of the input's features, or NULL. Input and options are not
 * checked. Appends to out, which the caller destroys even on errors. Reports no progress. */
graphss_status graphss_i_nettack_each(graphss_ctx *ctx, graphss_flips *out,
                                      const graphss_attack_input *in,
                                      const graphss_attack_options *opt,
                                      const graphss_i_attack_budget *each, size_t stride,
                                      const struct graphss_i_ground *ground);
/* The domain with DETECT resolved. */
graphss_feature_domain graphss_i_attack_domain(const graphss_features *features,
                                               const graphss_attack_options *opt);

#endif
