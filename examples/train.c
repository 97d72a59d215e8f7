/* train.c - trains a GCN, then counts how often it is right on nodes whose labels it never
 * saw. Takes any dataset the program takes; without one it makes a graph.
 *
 *     cc train.c $(pkg-config --cflags --libs graphss) -o train && ./train cora.npz */
#include <graphss/graphss.h>
#include <stdio.h>
#include <stdlib.h>

static void check(graphss_ctx *ctx, graphss_status status)
{
    if (status == GRAPHSS_OK)
        return;
    fprintf(stderr, "%s\n", graphss_ctx_error(ctx));
    exit(1);
}

int main(int argc, char **argv)
{
    graphss_ctx *ctx = graphss_ctx_new(NULL);
    if (!ctx)
        return 1;
    graphss_dataset data = {0};
    check(ctx, graphss_dataset_read(ctx, &data, argc > 1 ? argv[1] : "synth:", NULL));
    const size_t n = data.graph.n_nodes, k = data.n_classes;

    graphss_split split = {0};
    check(ctx, graphss_split_make(ctx, &split, data.label, n, k, 1, NULL));

    graphss_model *model = NULL;
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &data.features);
    check(ctx, graphss_model_train(ctx, &model, NULL,
                   &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                       .graph = &data.graph,
                       .features = &data.features,
                       .n_classes = k,
                       .split = &split,
                       .seed = 1},
                   &opt));

    float *prob = calloc(n * k, sizeof *prob);
    int32_t *label = calloc(n, sizeof *label);
    if (!prob || !label)
        return 1;
    check(ctx, graphss_model_predict(ctx, prob, model, &data.graph, &data.features));
    graphss_labels_argmax(label, prob, n, k);
    printf("%.1f %% of %zu test nodes are right\n",
        100 * graphss_labels_accuracy(label, data.label, split.test, split.n_test),
        split.n_test);

    free(label);
    free(prob);
    graphss_model_free(ctx, model);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
    return 0;
}
