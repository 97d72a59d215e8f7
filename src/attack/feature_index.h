/* feature_index.h - the features as an attack sees them: which words each node holds, which
 * nodes hold each word, and what a word that is switched on becomes. "Word" is any feature
 * column. */
#ifndef GRAPHSS_WORDS_H
#define GRAPHSS_WORDS_H

#include "graph/edits.h"
#include <graphss/attack.h>

typedef struct graphss_i_feature_index {
    size_t n, d;
    int32_t **column;       /* [n] the words of a node, ascending; to be read only */
    int32_t *length;        /* [n] */
    float *value;           /* beside the columns of nodes that were not changed */
    int64_t *start;         /* [n + 1] of value */
    double **changed;       /* [n] values of a changed node, or NULL */
    graphss_i_rows holders; /* [d] the nodes that hold a word, ascending; empty if not asked */

    int32_t *sparse_column; /* what the columns of unchanged nodes point into, if ours */
    float *sparse_value;
    int64_t *sparse_start;
    graphss_graph inverted; /* base of holders; n_nodes is d */
    bool shared;            /* the arrays above belong to another */
} graphss_i_feature_index;

/* The features are borrowed. Dense ones are copied without their zeros. */
graphss_status graphss_i_feature_index_init(graphss_ctx *ctx, graphss_i_feature_index *x,
                                            const graphss_features *features);
/* The same without holders. */
graphss_status graphss_i_feature_index_rows(graphss_ctx *ctx, graphss_i_feature_index *x,
                                            const graphss_features *features);
/* What `from`, which was not changed and stays so, holds; its arrays are borrowed. */
graphss_status graphss_i_feature_index_share(graphss_ctx *ctx, graphss_i_feature_index *x,
                                             const graphss_i_feature_index *from);
void graphss_i_feature_index_destroy(graphss_ctx *ctx, graphss_i_feature_index *x);

static inline double graphss_i_feature_index_value(const graphss_i_feature_index *x,
                                                   size_t node, size_t e)
{
    return x->changed[node] ? x->changed[node][e]
                            : (double)x->value[x->start[node] + (int64_t)e];
}

/* The place of the word in the node's row, or where it would be. */
size_t graphss_i_feature_index_find(bool *there, const graphss_i_feature_index *x, size_t node,
                                    int32_t word);

/* xw [k] = sum over the node's words e of value_e w[word_e][.]; w [d x k] */
void graphss_i_feature_index_product(double *xw, const graphss_i_feature_index *x, size_t node,
                                     const float *w, size_t k);

/* Gives the node these words and values instead (copied). After NOMEM the words are good
 * for nothing but destroy. */
graphss_status graphss_i_feature_index_replace(graphss_ctx *ctx, graphss_i_feature_index *x,
                                               size_t node, const int32_t *column,
                                               const double *value, size_t n);

/* Gives one word of the node another value, 0: takes it away. NOMEM: as above. */
graphss_status graphss_i_feature_index_set(graphss_ctx *ctx, graphss_i_feature_index *x,
                                           size_t node, int32_t word, double value);

/* on [d]: what an absent word becomes: 1, or the median of the column's non-zero values (1 in
 * a column without any). Where two values are in the middle: the lower one for counts,
 * which stay counts that way, else halfway. */
graphss_status graphss_i_feature_index_on(graphss_ctx *ctx, float *on,
                                          const graphss_i_feature_index *x,
                                          graphss_feature_domain domain);

#endif
