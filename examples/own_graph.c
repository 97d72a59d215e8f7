/* own_graph.c - a graph from arrays of your own: two rings of accounts with an edge between
 * them and two measurements each, one account of each ring labelled; the classifier labels
 * the rest.
 *
 *     cc own_graph.c $(pkg-config --cflags --libs graphss) -o own_graph && ./own_graph */
#include <graphss/graphss.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 8, CLASSES = 2 };

static void check(graphss_ctx *ctx, graphss_status status)
{
    if (status == GRAPHSS_OK)
        return;
    fprintf(stderr, "%s\n", graphss_ctx_error(ctx));
    exit(1);
}

int main(void)
{
    /* Edges in any order, each once. */
    const int32_t from[] = {0, 1, 2, 3, 4, 5, 6, 7, 3};
    const int32_t to[] = {1, 2, 3, 0, 5, 6, 7, 4, 4};
    graphss_ctx *ctx = graphss_ctx_new(NULL);
    if (!ctx)
        return 1;
    graphss_graph graph = {0};
    check(ctx, graphss_graph_build(ctx, &graph, NULL, N, from, to, 9));

    /* Hours online a day, and followers, which are noise. Sparse features such as words:
     * graphss_features_from_rows. */
    const float value[N][2] = {
        {2, 310}, {3, 45}, {2, 900}, {4, 20}, {22, 400}, {24, 60}, {21, 890}, {23, 35}};
    graphss_features features = {0};
    check(ctx, graphss_features_from_dense(ctx, &features, N, 2, &value[0][0]));

    /* Nodes 1 and 6 are labelled; they also choose the epoch to keep. */
    int32_t labelled[] = {1, 6}, seen[] = {0, 1};
    const graphss_split split = {.n_train = 2,
        .train = labelled,
        .train_label = seen,
        .n_val = 2,
        .val = labelled,
        .val_label = seen};
    graphss_model *model = NULL;
    /* Options for these features: columns are standardised, whatever their units. */
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &features);
    check(ctx, graphss_model_train(ctx, &model, NULL,
                   &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                       .graph = &graph,
                       .features = &features,
                       .n_classes = CLASSES,
                       .split = &split,
                       .seed = 1},
                   &opt));

    float prob[N * CLASSES];
    check(ctx, graphss_model_predict(ctx, prob, model, &graph, &features));
    for (size_t i = 0; i < N; i++)
        printf("node %zu: class %d (%.0f %%)\n", i, prob[i * 2 + 1] > prob[i * 2],
            100 * prob[i * 2 + (prob[i * 2 + 1] > prob[i * 2])]);

    graphss_model_free(ctx, model);
    graphss_features_destroy(ctx, &features);
    graphss_graph_destroy(ctx, &graph);
    graphss_ctx_free(ctx);
    return 0;
}
