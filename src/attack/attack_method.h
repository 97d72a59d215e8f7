/* attack_method.h - what an attack is to the rest of the library: one file that fills this
 * struct, and one line in attacks.def. */
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
    bool tests;      /* has tests of unnoticeability: --degree-test, --delta-cutoff,
                      * --cooccurrence-test */
    bool domain;     /* adds features, so --feature-domain applies */
    bool queries;    /* asks what it attacks: --queries, --against */
    /* Runs the attack on checked input and options. Appends to out and log (never NULL), with
     * a step for each flip and an entry for each victim. On an error the caller destroys
     * both. */
    graphss_status (*run)(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
                          const graphss_attack_input *in, const graphss_attack_options *opt);
} graphss_i_attack_method;

#define ATTACK(name) extern const graphss_i_attack_method graphss_i_##name##_attack;
#include "attack/attacks.def"
#undef ATTACK

/* The name as constant text; NULL: there is no such method. */
const char *graphss_i_attack_find(const char *name);

/* graphss_attack_run on a snapshot that was checked before. */
graphss_status graphss_i_attack(graphss_ctx *ctx, graphss_flips *out,
                                const graphss_attack_input *in,
                                const graphss_attack_options *opt);

/* ---- what methods share (attack.c) ---- */

/* Adds a step of unknown loss for each change, for methods that compute no loss. */
graphss_status graphss_i_attack_log_steps(graphss_ctx *ctx, graphss_attack_log *log,
                                          const graphss_flips *flips);

/* Whether the budget has room for changes of features. */
bool graphss_i_attack_wants_features(const graphss_attack_options *opt);

/* The number of edge and feature changes, or of both together, for a victim that has that
 * degree now. Shares are of what it has in the input. */
typedef struct graphss_i_attack_budget {
    size_t edges, features, either;
} graphss_i_attack_budget;
graphss_i_attack_budget graphss_i_attack_budget_of(const graphss_attack_options *opt,
                                                   const graphss_attack_input *in,
                                                   int32_t victim, size_t degree);
struct graphss_i_ground;
/* Nettack as defences simulate it: cumulative and direct. Victim i has the budget each[i],
 * which opt bounds, or that of opt if each is NULL. New edges lead only to every stride-th
 * node. ground (nettack_cache.h) belongs to the input's features, or is NULL. Input and
 * options are not checked. Appends to out, which the caller destroys also on errors. Reports
 * no progress. */
graphss_status graphss_i_nettack_each(graphss_ctx *ctx, graphss_flips *out,
                                      const graphss_attack_input *in,
                                      const graphss_attack_options *opt,
                                      const graphss_i_attack_budget *each, size_t stride,
                                      const struct graphss_i_ground *ground);
/* The domain with DETECT resolved. */
graphss_feature_domain graphss_i_attack_domain(const graphss_features *features,
                                               const graphss_attack_options *opt);

#endif
