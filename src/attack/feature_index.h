/* feature_index.h - the features as an attack uses them: which features each node has, which
 * nodes have each feature, and which value an added feature gets. A "word" is any feature. */
#ifndef GRAPHSS_WORDS_H
#define GRAPHSS_WORDS_H

#include "graph/edits.h"
#include <graphss/attack.h>

typedef struct graphss_i_feature_index {
    size_t n, d;
    int32_t **column; /* [n] the words of a node, ascending; to be read only */
    int32_t *length;  /* [n] */
    float *value;     /* beside the columns of nodes that were not changed */
    int64_t *start;   /* [n + 1] of value */
    double **changed; /* [n] values of a changed node, or NULL */
    /* [d] the nodes that hold a word, ascending; empty if not requested */
    graphss_i_rows holders;

    int32_t *sparse_column; /* storage for the columns of unchanged nodes, if owned */
    float *sparse_value;
    int64_t *sparse_start;
    graphss_graph inverted; /* base of holders; n_nodes is d */
    bool shared;            /* the arrays above are borrowed */
} graphss_i_feature_index;

/* The features are borrowed. Dense ones are copied without their zeros. */
graphss_status graphss_i_feature_index_init(
    graphss_ctx *ctx, graphss_i_feature_index *x, const graphss_features *features);
/* The same, without holders. */
graphss_status graphss_i_feature_index_rows(
    graphss_ctx *ctx, graphss_i_feature_index *x, const graphss_features *features);
/* Shares the arrays of `from`, which must not change. */
graphss_status graphss_i_feature_index_share(
    graphss_ctx *ctx, graphss_i_feature_index *x, const graphss_i_feature_index *from);
void graphss_i_feature_index_destroy(graphss_ctx *ctx, graphss_i_feature_index *x);

static inline double graphss_i_feature_index_value(
    const graphss_i_feature_index *x, size_t node, size_t e)
{
    return x->changed[node] ? x->changed[node][e]
                            : (double)x->value[x->start[node] + (int64_t)e];
}

/* The position of the feature in the node's row, or where it would be inserted. */
size_t graphss_i_feature_index_find(
    bool *there, const graphss_i_feature_index *x, size_t node, int32_t word);

/* xw [k] = sum over the node's words e of value_e w[word_e][.]; w [d x k] */
void graphss_i_feature_index_product(
    double *xw, const graphss_i_feature_index *x, size_t node, const float *w, size_t k);

/* Replaces the features of the node by these (copied). After NOMEM the index can only be
 * destroyed. */
graphss_status graphss_i_feature_index_replace(graphss_ctx *ctx, graphss_i_feature_index *x,
    size_t node, const int32_t *column, const double *value, size_t n);

/* Sets one feature of the node; 0 removes it. NOMEM: as above. */
graphss_status graphss_i_feature_index_set(
    graphss_ctx *ctx, graphss_i_feature_index *x, size_t node, int32_t word, double value);

/* on [d]: the value an added feature gets: 1, or the median of the column's non-zero values (1
 * in an empty column). Between two middle values: the lower one for counts, so that they stay
 * integers, else their mean. */
graphss_status graphss_i_feature_index_on(graphss_ctx *ctx, float *on,
    const graphss_i_feature_index *x, graphss_feature_domain domain);

#endif
