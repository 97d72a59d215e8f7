/* attack_method.h - the interface of an attack: one file that fills this struct, and one line
 * in attacks.def. */
#ifndef GRAPHSS_ATTACK_METHOD_H
#define GRAPHSS_ATTACK_METHOD_H

#include "attack/feature_index.h"
#include "base/base.h"
#include <graphss/attack.h>
#include <graphss/flips.h>
#include <graphss/model.h>

typedef struct graphss_i_attack_method {
    const char *name;
    const char *summary; /* for people, one line with the paper */
    bool needs_surrogate, needs_model;
    bool edges_only; /* a budget of features is an error */
    bool paper;      /* has a paper mode; for the others that is an error */
    bool tests;      /* has tests of unnoticeability: --degree-test, --delta-cutoff,
                      * --cooccurrence-test */
    bool domain;     /* adds features, so --feature-domain applies */
    bool queries;    /* queries the attacked defence: --queries, --against */
    /* Runs the attack on checked input and options. Appends to out and log (never NULL), with
     * a step for each flip and an entry for each victim. On an error the caller destroys
     * both. */
    graphss_status (*run)(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
        const graphss_attack_input *in, const graphss_attack_options *opt);
} graphss_i_attack_method;

#define ATTACK(name) extern const graphss_i_attack_method graphss_i_##name##_attack;
#include "attack/attacks.def"
#undef ATTACK

/* The name as constant text; NULL if there is no such method. */
const char *graphss_i_attack_find(const char *name);

/* graphss_attack_run on a snapshot that was checked before. */
graphss_status graphss_i_attack(graphss_ctx *ctx, graphss_flips *out,
    const graphss_attack_input *in, const graphss_attack_options *opt);

/* ---- what methods share (attack.c) ---- */

/* Adds a step of unknown loss for each change, for methods that compute no loss. */
graphss_status graphss_i_attack_log_steps(
    graphss_ctx *ctx, graphss_attack_log *log, const graphss_flips *flips);

/* Whether the budget has room for changes of features. */
bool graphss_i_attack_wants_features(const graphss_attack_options *opt);

/* The number of edge and feature changes, or of both together, for a victim of this degree.
 * Shares refer to the victim in the input. */
typedef struct graphss_i_attack_budget {
    size_t edges, features, either;
} graphss_i_attack_budget;
graphss_i_attack_budget graphss_i_attack_budget_of(const graphss_attack_options *opt,
    const graphss_attack_input *in, int32_t victim, size_t degree);
struct graphss_i_ground;
/* Nettack as defences simulate it: cumulative and direct. Victim i has the budget each[i],
 * which opt bounds, or that of opt if each is NULL. New edges lead only to every stride-th
 * node. ground (nettack.h) belongs to the input's features, or is NULL. Input and
 * options are not checked. Appends to out, which the caller destroys also on errors. Reports
 * no progress. */
graphss_status graphss_i_nettack_each(graphss_ctx *ctx, graphss_flips *out,
    const graphss_attack_input *in, const graphss_attack_options *opt,
    const graphss_i_attack_budget *each, size_t stride, const struct graphss_i_ground *ground);
/* The domain with DETECT resolved. */
graphss_feature_domain graphss_i_attack_domain(
    const graphss_features *features, const graphss_attack_options *opt);

/* ---- how the linear model of graphss_surrogate_train is trained ---- */

graphss_train_options graphss_i_surrogate_options(void);
/* graphss_surrogate_train on a snapshot that was already checked. */
graphss_status graphss_i_surrogate_train(
    graphss_ctx *ctx, float **w, const graphss_train_input *in);

/* ---- applies changes to a snapshot that was already checked ---- */

/* As graphss_flips_apply_parts, without checking graph and features. */
graphss_status graphss_i_apply(graphss_ctx *ctx, graphss_graph *out_graph,
    graphss_features *out_features, const graphss_graph *graph,
    const graphss_features *features, const graphss_flips *flips,
    const graphss_apply_options *opt);

/* A graph and its features that can be edited one change at a time, for the
 * attacks that draw their changes and for change that is no attack. */
typedef struct graphss_i_sandbox {
    graphss_i_rows edges;
    graphss_i_feature_index words;
} graphss_i_sandbox;

/* Graph and features are borrowed and never written. */
graphss_status graphss_i_sandbox_init(graphss_ctx *ctx, graphss_i_sandbox *s,
    const graphss_graph *graph, const graphss_features *features);
void graphss_i_sandbox_destroy(graphss_ctx *ctx, graphss_i_sandbox *s);

/* The current value of a feature at a node; 0: absent. */
float graphss_i_sandbox_feature(const graphss_i_sandbox *s, size_t node, int32_t column);
/* True if removing the edge between a and b leaves neither end isolated. */
bool graphss_i_sandbox_may_cut(const graphss_i_sandbox *s, int32_t a, int32_t b);

/* Makes the change and appends it to flips. */
graphss_status graphss_i_sandbox_flip_edge(graphss_ctx *ctx, graphss_i_sandbox *s,
    graphss_flips *flips, int32_t victim, int32_t a, int32_t b);
graphss_status graphss_i_sandbox_set_feature(graphss_ctx *ctx, graphss_i_sandbox *s,
    graphss_flips *flips, int32_t victim, int32_t node, int32_t column, float value);
/* Undoes the changes of flips from number `from` on, last one first; they stay in the list. */
graphss_status graphss_i_sandbox_take_back(
    graphss_ctx *ctx, graphss_i_sandbox *s, const graphss_flips *flips, size_t from);

#endif
