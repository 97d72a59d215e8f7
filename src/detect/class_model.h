/* class_model.h - how often nodes of each class have each feature and each class of
 * neighbours.
 *
 * Items are a node's edges and features. For each the model holds the ratio
 *     r(y) = P(item | class y) / P(item),
 * so that the product over a node's items is its likelihood under class y (naive Bayes). It is
 * learned once, from a clean snapshot and the classes the classifier gives its nodes. */
#ifndef GRAPHSS_CLASS_MODEL_H
#define GRAPHSS_CLASS_MODEL_H

#include "base/base.h"
#include "graph/rows.h"

/* {0} is empty. Arrays belong to it. */
typedef struct graphss_i_class_model {
    size_t k, d;    /* classes, feature columns */
    bool dense;     /* features are measurements: Gaussian in each class */
    double *edge;   /* [k x k] ratio of a neighbour of class c for a node of class y: [y][c] */
    double *prior;  /* [k] share of edge ends of each class */
    float *feature; /* [d x k] sparse: ratio of a feature; dense: mean in class */
    float *spread;  /* [d x 3] dense: deviation within classes, mean and deviation over all */
    double *loud;   /* [k] mean of ratio^TUNE_LOUD over all entries; sparse */
    float *foreign; /* [d x k] sparse: ratio^TUNE_LOUD / loud, which follows from the others */
} graphss_i_class_model;

void graphss_i_class_model_destroy(graphss_ctx *ctx, graphss_i_class_model *m);
/* belief [n x k]: class probabilities of every node, rows that sum to 1. spare [n], or NULL:
 * nodes whose features are not counted, so that they can be judged like nodes that were never
 * seen. Time O(edges k + entries k + nodes k^2). */
graphss_status graphss_i_class_model_learn(graphss_ctx *ctx, graphss_i_class_model *out,
    const graphss_graph *graph, const graphss_features *features, const float *belief,
    const uint8_t *spare, size_t k);
/* ratio [k] of one feature entry. Entries of zero in dense rows count as measurements. */
void graphss_i_class_model_ratio(
    double *ratio, const graphss_i_class_model *m, size_t column, float value);
/* Ratio of an entry that an attacker chose to make the node look like class t, preferring the
 * strongest evidence. own is the ratio of t above. */
static inline double graphss_i_class_model_foreign(
    const graphss_i_class_model *m, size_t column, size_t t, double own)
{
    return m->dense ? own : (double)m->foreign[column * m->k + t];
}

/* Numbers that make up the model, for the model file: their count, and both ways. */
size_t graphss_i_class_model_size(const graphss_i_class_model *m);
double *graphss_i_class_model_put(double *out, const graphss_i_class_model *m);
/* k, d and dense are set. *in moves on. */
graphss_status graphss_i_class_model_get(
    graphss_ctx *ctx, graphss_i_class_model *m, const double **in);

#endif
