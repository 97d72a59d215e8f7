/* graphss/split.h - which nodes train, validate and test, and the labels that may be seen.
 *
 *     graphss_split split = {0};
 *     const size_t n = data.graph.n_nodes;
 *     graphss_split_make(ctx, &split, data.label, n, data.n_classes, 1, NULL);
 *     graphss_split_destroy(ctx, &split);
 *
 * The labels a model or a defence may use are in the split and nowhere else: train_label and
 * val_label hold the annotators' labels, noise included. The truth stays in the dataset, for
 * evaluation. */
#ifndef GRAPHSS_SPLIT_H
#define GRAPHSS_SPLIT_H

#include <graphss/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plain value: {0} is empty. Node lists are ascending when made here, in file order
 * when read. */
typedef struct graphss_split {
    size_t n_train, n_val, n_test;
    int32_t *train, *val, *test;
    int32_t *train_label; /* [n_train] in [0, n_classes); NULL in a split of a file without */
    int32_t *val_label;   /* [n_val] */
    size_t n_flipped;     /* labels of train and val that noise changed; 0 when unknown */
} graphss_split;

typedef enum graphss_noise {
    GRAPHSS_NOISE_UNIFORM, /* exactly share * n labels, each to one of the other classes */
    GRAPHSS_NOISE_PAPER,   /* the paper's code: may redraw the truth, never the last class */
    /* exactly share * n labels, each changed to the class before its own (the first to the
     * last): classes that annotators confuse */
    GRAPHSS_NOISE_PAIR
} graphss_noise;

typedef struct graphss_split_options {
    uint32_t struct_size; /* sizeof(graphss_split_options) */
    double train;         /* share of the labelled nodes, default 0.4 */
    double val;           /* default 0.2; the rest is test */
    double noise;         /* share of training and validation labels that are wrong, 0.1 */
    graphss_noise noise_kind;
} graphss_split_options;

GRAPHSS_API void graphss_split_options_init(graphss_split_options *opt);
GRAPHSS_API const graphss_option *graphss_split_options_table(void);

/* Draws a split of the nodes whose label is known (label[i] >= 0), stream SPLIT, then adds
 * noise to its labels, stream NOISE. Errors: INVALID (shares), DATA (too few nodes; no
 * labels), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_split_make(graphss_ctx *ctx, graphss_split *out,
    const int32_t *label, size_t n, size_t n_classes, uint64_t seed,
    const graphss_split_options *opt);
/* Reads FILE.npz with train, val, test and perhaps train_labels, val_labels; idx_train and
 * split_train are known names too, and so are masks (bool, or called train_mask). Labels
 * that the file lacks are taken from label (which may be NULL where the file has both).
 * DATA: a node out of range or in two lists, a label out of range, with array and place. */
GRAPHSS_MUST_CHECK graphss_status graphss_split_read(graphss_ctx *ctx, graphss_split *out,
    const char *path, const int32_t *label, size_t n, size_t n_classes);
/* Writes FILE.npz for graphss_split_read, completely or not at all. IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_split_write(
    graphss_ctx *ctx, const graphss_split *split, const char *path);
/* Makes a deep copy. NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_split_copy(
    graphss_ctx *ctx, graphss_split *out, const graphss_split *split);
GRAPHSS_API void graphss_split_destroy(graphss_ctx *ctx, graphss_split *split);

#ifdef __cplusplus
}
#endif
#endif
