/* graphss/predictions.h - labels and probabilities of a run, as a file.
 *
 *     graphss_predictions p = {0};
 *     graphss_predictions_read(ctx, &p, "out.npz");
 *     for (size_t i = 0; i < p.n_nodes; i++)
 *         printf("%d\n", (int)p.label[i]);
 *     graphss_predictions_destroy(ctx, &p);
 *
 * FILE.npz holds labels (int64; without them the most likely classes count), and where known
 * probabilities (N x K, float32) from predict, or posterior (N x K, float64) and perturbed (N,
 * float64) from recover; node_names
 * where the dataset has names, so that rows can be matched across snapshots, and class_names
 * where the model's classes have names; train, val and test (int64 rows) where it is known
 * which nodes the model was trained on, so that they are not counted by mistake. */
#ifndef GRAPHSS_PREDICTIONS_H
#define GRAPHSS_PREDICTIONS_H

#include <graphss/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_predictions {
    size_t n_nodes, n_classes;
    int32_t *label;    /* [n_nodes]; -1: abstained */
    float *prob;       /* [n_nodes x n_classes], rows sum to 1; or NULL */
    double *posterior; /* empty: the same */
    double *perturbed; /* [n_nodes] in [0, 1], see graphss_recover_result; or NULL */
    graphss_names node_names;
    graphss_names class_names; /* of labels; empty: they are numbers of the data's classes */
    /* in numbers of the rows; empty: unknown. Its labels are not written */
    graphss_split split;
    uint64_t reserved[4]; /* 0 */
} graphss_predictions;

/* Whole or not at all; the same predictions give the same bytes. INVALID (no labels, or
 * another number of names than nodes), IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_predictions_write(
    graphss_ctx *ctx, const graphss_predictions *p, const char *path);
/* DATA (with the array and what was wanted), NOT_FOUND, IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_predictions_read(
    graphss_ctx *ctx, graphss_predictions *out, const char *path);
GRAPHSS_API void graphss_predictions_destroy(graphss_ctx *ctx, graphss_predictions *p);

#ifdef __cplusplus
}
#endif
#endif
