/* graphss/weights.h - weights that were trained elsewhere, and ours for use elsewhere.
 *
 *     graphss_train_options how;
 *     graphss_import_options_init(&how, "gcn");
 *     graphss_model_import(ctx, &model, "gcn.safetensors", GRAPHSS_LAYOUT_PYG, &how);
 *     graphss_model_probe(ctx, &off, model, &data.graph, &data.features, prob);
 *
 * A file of weights does not say whether loops are added, how features are scaled or how many
 * hops there are, so a wrong reading still gives probabilities. Compare them with those of the
 * original model before use. */
#ifndef GRAPHSS_WEIGHTS_H
#define GRAPHSS_WEIGHTS_H

#include <graphss/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a library calls the matrices of a layer, and which of them it keeps transposed. */
typedef enum graphss_layout {
    GRAPHSS_LAYOUT_PYG,       /* PyTorch Geometric: convs.0.lin.weight, conv1.att_src ... */
    GRAPHSS_LAYOUT_DGL,       /* layers.0.weight, layers.0.fc_neigh.weight ... */
    GRAPHSS_LAYOUT_DEEPROBUST /* gc1.weight */
} graphss_layout;
/* "pyg", "dgl", "deeprobust"; "?" for any other value. */
GRAPHSS_API const char *graphss_layout_text(graphss_layout layout);

/* Options that a file does not store, with the usual values and without scaling of features.
 * Of these only model, hops (sgc), self_loops (gcn, sgc), activation (gat), row_normalise are
 * used; widths, layers, heads and biases follow from the shapes. */
GRAPHSS_API void graphss_import_options_init(graphss_train_options *opt, const char *model);

/* A model with these weights, without a split. Layers are in the order of the numbers in their
 * names. SHAPE: matrices that do not fit each other; DATA: a name that is no part of the
 * layout (what cannot be expressed is refused by name), one that is missing, a value that is
 * not finite; INVALID, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_from_tensors(graphss_ctx *ctx,
    graphss_model **out, const graphss_tensor *tensor, size_t n, graphss_layout layout,
    const graphss_train_options *how);
/* The same from a file in safetensors, of F32, F64, F16 or BF16. IO, NOT_FOUND too. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_import(graphss_ctx *ctx, graphss_model **out,
    const char *path, graphss_layout layout, const graphss_train_options *how);

/* Replaces the split that the model stores, for alert and recover. INVALID (lists that are not
 * sound), DATA (a label that is no class of it), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_set_split(
    graphss_ctx *ctx, graphss_model *model, const graphss_split *split);

/* Writes the weights of a model as safetensors, with the names of a layout. INVALID: the
 * layout has no such model, or the model scales its features by more than rows, which no
 * layout can express; IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_export(
    graphss_ctx *ctx, const graphss_model *model, const char *path, graphss_layout layout);

/* Compares the model with its original, which gave prob [n_nodes x n_classes]. *off: the
 * largest difference of a probability. DATA: above 1e-4, with the node and how many labels
 * differ; the errors of graphss_model_predict. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_probe(graphss_ctx *ctx, double *off,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const float *prob);
/* The same of FILE.npz, a dataset (docs/formats.md) with an array probabilities. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_probe_file(
    graphss_ctx *ctx, double *off, const graphss_model *model, const char *path);

#ifdef __cplusplus
}
#endif
#endif
