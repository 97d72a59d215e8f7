/* class_evidence.h - the evidence of a snapshot about a node: for each class the log evidence
 * of several sources, and numbers for how unusual the node is.
 *
 * Some sources read a node's features, some its edges, some both. Three of them allow for an
 * attacker: under "tampered edges" a share of the node's edges comes from one other class t,
 *     L(y) = sum over t != y of P(t) prod over edges ((1 - s) r(y) + s r'(t)),
 * and under "tampered features" the same for a share of its features; r are the ratios of
 * class_model.h. This explains the attack away: evidence for t is no longer evidence against
 * y. */
#ifndef GRAPHSS_CLASS_EVIDENCE_H
#define GRAPHSS_CLASS_EVIDENCE_H

#include "detect/class_model.h"
#include "detect/coherence.h"
#include "graph/part.h"
#include "kernels/kernels.h"

typedef enum graphss_i_source_id {
    SOURCE_NOW,               /* the classifier */
    SOURCE_ALONE,             /* the classifier without edges: features alone */
    SOURCE_FEATURES,          /* likelihood of the features */
    SOURCE_EDGES,             /* likelihood of the edges */
    SOURCE_NEIGHBOURS_ALONE,  /* mean of the neighbours' feature evidence */
    SOURCE_LABELS_2,          /* training labels two steps away */
    SOURCE_PROPAGATED,        /* and propagated over all edges; features are not used */
    SOURCE_TAMPERED_EDGES,    /* likelihood if some edges are an attacker's, */
    SOURCE_TAMPERED_FEATURES, /* some features, */
    SOURCE_TAMPERED_BOTH,     /* or some of both */
    GRAPHSS_I_SOURCES
} graphss_i_source_id;
_Static_assert((int)GRAPHSS_I_SOURCES <= (int)GRAPHSS_I_ROW, "a row of evidence holds all");

enum {
    GRAPHSS_I_PLAIN_SOURCES =
        SOURCE_TAMPERED_EDGES,    /* assume that nothing was tampered with */
    GRAPHSS_I_RATIOS = 5,         /* log likelihood ratios of tampering */
    GRAPHSS_I_OWN_ANOMALIES = 19, /* degree, features, similarity, ... (anomaly.c) */
    GRAPHSS_I_ANOMALIES = GRAPHSS_I_OWN_ANOMALIES + GRAPHSS_I_SOURCES +
                          GRAPHSS_I_PLAIN_SOURCES * (GRAPHSS_I_PLAIN_SOURCES - 1) / 2 +
                          (GRAPHSS_I_SOURCES - GRAPHSS_I_PLAIN_SOURCES) + GRAPHSS_I_RATIOS
};

/* A snapshot prepared for the sources. {0} is empty; fields marked "own" belong to it. */
typedef struct graphss_i_evidence_base {
    const graphss_graph *graph;
    const graphss_features *features;
    const graphss_i_class_model *classes;
    const float *prob;    /* [n x k] the classifier */
    const int32_t *label; /* [n] training labels, -1: none; of a part also of the ghosts */
    size_t n, k;
    struct graphss_i_part *part; /* that these are the rows of, or NULL: the whole graph */
    float *alone;                /* own: [n x k] the classifier without edges */
    float *belief;               /* own: [n x k] prob, and training labels */
    float *ratio;  /* own: [n x k] ratio of an edge to this node under each class */
    float *labels; /* own: [n x k] training labels among the neighbours */
    float
        *propagated; /* own: [n x k] training labels, propagated, by the root of the degree */
    graphss_i_reference own_reference;
    const graphss_i_reference *reference; /* its own, or that of another snapshot */
} graphss_i_evidence_base;

/* The first members, up to k, are set. alone [n x k] is copied. like: the base of a snapshot
 * with the same nodes that differs in a few, NULL: none. */
graphss_status graphss_i_evidence_base_fill(graphss_ctx *ctx, graphss_i_evidence_base *base,
    const float *alone, const graphss_i_evidence_base *like);
/* propagated [n x k], which is allocated, from graph and label; it may move. */
graphss_status graphss_i_evidence_propagate(graphss_ctx *ctx, graphss_i_evidence_base *base);
/* belief and ratio of one node of the base, whose prob and label are set. */
void graphss_i_evidence_believe(graphss_i_evidence_base *base, size_t node);
void graphss_i_evidence_base_destroy(graphss_ctx *ctx, graphss_i_evidence_base *base);

/* On a part all ranks call these together, each for nodes of its own. evidence [m x k x
 * GRAPHSS_I_ROW]: log evidence by source, each a log probability over the classes; columns
 * after the sources are 0. anomaly [m x GRAPHSS_I_ANOMALIES]. Either may be NULL. Time O(edges
 * and features of the nodes x k x TUNE_TARGETS). */
graphss_status graphss_i_evidence_of(graphss_ctx *ctx, float *evidence, float *anomaly,
    const graphss_i_evidence_base *base, const int32_t *node, size_t m);
/* The same where no base has a part, and was[i] [k x GRAPHSS_I_ROW], unless it is NULL, the
 * evidence of node[i] in the past. What its features say is computed once if they are the
 * same. was may be NULL. */
graphss_status graphss_i_evidence_of_both(graphss_ctx *ctx, float *evidence, float *anomaly,
    const graphss_i_evidence_base *base, float *const *was,
    const graphss_i_evidence_base *past, const int32_t *node, size_t m);

/* ---- anomaly.c ---- */

/* The first columns, anomaly [GRAPHSS_I_OWN_ANOMALIES], of one node, whose features are read
 * for the class `top`. ratios: those of its features [entries x k], or NULL: not computed yet.
 * by_column [d]: zeros, which it leaves; NULL where rows are dense. */
void graphss_i_anomaly_row(float *anomaly, const graphss_i_evidence_base *base, size_t node,
    size_t top, const double *ratios, double *scratch, float *by_column);
/* Doubles of scratch that graphss_i_anomaly_row needs for rows of this many entries. */
size_t graphss_i_anomaly_scratch(size_t k);

/* Evidence where the nodes are shared among ranks. */

/* graphss_i_evidence_of for a base that has a part: an excerpt of it (graph/excerpt.h) after
 * the other is a base of its own. All ranks call it together, each for nodes of its own. */
graphss_status graphss_i_evidence_of_part(graphss_ctx *ctx, float *evidence, float *anomaly,
    const graphss_i_evidence_base *base, const int32_t *node, size_t m);

/* graphss_i_reference_open: the training nodes of all ranks, in the order of their global
 * numbers. label [n_own] */
graphss_status graphss_i_reference_open_part(graphss_ctx *ctx, graphss_i_reference *out,
    const graphss_i_part *part, const graphss_features *features, const int32_t *label);

#endif
