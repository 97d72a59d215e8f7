/* fuzz_model.c - any bytes as a model, ours or another library's. A model that can be read
 * labels a small graph, lends it its split, and survives a round trip through a file of ours.
 */
#include "fuzz_check.h"
#include "models/model_private.h"
#include <graphss/recover.h>
#include <graphss/weights.h>

enum { NODES = 5, WIDE = 4096 };

/* Links in a ring, every feature 1 at the first node. */
static void ask(graphss_ctx *ctx, const graphss_model *model)
{
    int64_t offset[NODES + 1];
    int32_t target[2 * NODES];
    for (int32_t i = 0; i < NODES; i++) {
        const int32_t a = (i + 1) % NODES, b = (i + NODES - 1) % NODES;
        offset[i] = 2 * i;
        target[2 * i] = a < b ? a : b;
        target[2 * i + 1] = a < b ? b : a;
    }
    offset[NODES] = 2 * NODES;
    const graphss_graph graph = {.n_nodes = NODES, .offset = offset, .target = target};
    const size_t d = graphss_model_features(model), k = graphss_model_classes(model);
    const graphss_observation now = {.graph = &graph};
    graphss_split split = {0};
    if (graphss_split_match(ctx, &split, model, &now) == GRAPHSS_OK)
        for (size_t i = 0; i < split.n_train && graphss_model_nodes(model); i++)
            must(split.train[i] >= 0 && split.train[i] < NODES);
    graphss_split_destroy(ctx, &split);
    if (d > WIDE || k > WIDE)
        return;
    float *value = calloc(NODES * d, sizeof *value), *prob = calloc(NODES * k, sizeof *prob);
    must(value && prob);
    for (size_t j = 0; j < d; j++)
        value[j] = 1;
    const graphss_features features = {.n_rows = NODES, .n_cols = d, .value = value};
    if (graphss_model_predict(ctx, prob, model, &graph, &features) != GRAPHSS_OK)
        must(graphss_ctx_error(ctx)[0]);
    free(prob);
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char folder[64], path[96];
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/model", folder);
    fuzz_write(path, bytes, size);
    graphss_ctx *ctx = fuzz_ctx();
    graphss_model *model = NULL, *again = NULL;
    if (graphss_model_load(ctx, &model, path) == GRAPHSS_OK) {
        fuzz_check_names(graphss_model_node_names(model), graphss_model_nodes(model));
        fuzz_check_names(graphss_model_column_names(model), graphss_model_features(model));
        fuzz_check_names(graphss_model_class_names(model), graphss_model_classes(model));
        ask(ctx, model);
        if (graphss_model_save(ctx, model, path) == GRAPHSS_OK) {
            must(graphss_model_load(ctx, &again, path) == GRAPHSS_OK);
            must(again->params.count == model->params.count);
            must(!memcmp(again->params.value, model->params.value,
                model->params.count * sizeof *model->params.value));
            must(graphss_model_nodes(again) == graphss_model_nodes(model));
        }
    } else {
        must(!model && graphss_ctx_error(ctx)[0]);
    }
    graphss_model_free(ctx, again);
    graphss_model_free(ctx, model);
    fuzz_write(path, bytes, size);
    for (size_t m = 0; graphss_model_name(m); m++)
        for (int layout = GRAPHSS_LAYOUT_PYG; layout <= GRAPHSS_LAYOUT_DEEPROBUST; layout++) {
            graphss_train_options how;
            graphss_import_options_init(&how, graphss_model_name(m));
            graphss_model *foreign = NULL;
            if (graphss_model_import(ctx, &foreign, path, (graphss_layout)layout, &how))
                must(!foreign && graphss_ctx_error(ctx)[0]);
            else
                ask(ctx, foreign);
            graphss_model_free(ctx, foreign);
        }
    graphss_ctx_free(ctx);
    (void)remove(path);
    (void)rmdir(folder);
    return 0;
}
