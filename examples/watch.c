/* watch.c - trains a classifier, waits until somebody tampers with the graph (here: this
 * program itself), raises an alert and recovers the labels. Takes any dataset the program
 * takes; without one it makes a graph.
 *
 *     cc watch.c $(pkg-config --cflags --libs graphss) -o watch && ./watch cora.npz */
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

/* The attack: every fifth test node gets 2 edges and 20 words that mislead. */
static graphss_dataset attack(graphss_ctx *ctx, const graphss_dataset *data,
    const graphss_split *split, int32_t *victim, size_t n)
{
    float *surrogate = NULL;
    graphss_flips flips = {0};
    graphss_dataset out = {0};
    check(ctx, graphss_surrogate_train(ctx, &surrogate,
                   &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                       .graph = &data->graph,
                       .features = &data->features,
                       .n_classes = data->n_classes,
                       .split = split,
                       .seed = 1}));
    for (size_t i = 0; i < n; i++)
        victim[i] = split->test[5 * i];
    const graphss_attack_input in = {.struct_size = sizeof in,
        .graph = &data->graph,
        .features = &data->features,
        .label = data->label,
        .n_classes = data->n_classes,
        .surrogate = surrogate,
        .victim = victim,
        .n_victims = n,
        .seed = 1};
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    check(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt));
    check(ctx, graphss_flips_apply(ctx, &out, data, &flips, NULL));
    graphss_flips_destroy(ctx, &flips);
    graphss_release(ctx, surrogate);
    return out;
}

/* Accuracy of a method on the victims of the snapshot. */
static double recover(graphss_ctx *ctx, const graphss_defence_input *in, const char *method,
    const int32_t *truth, const int32_t *victim, size_t n)
{
    graphss_recover_options opt;
    graphss_recover_options_init(
        &opt, graphss_recover_method_find(method), GRAPHSS_MODE_DEFAULT, in->model);
    graphss_recover_result r = {0};
    check(ctx, graphss_recover_run(ctx, &r, in, &opt));
    const double share = graphss_labels_accuracy(r.predictions.label, truth, victim, n);
    if (r.kind)
        printf("it looks like: %s, about %.0f %% of the nodes\n",
            graphss_perturbation_text(r.kind), 100 * r.share);
    graphss_recover_result_destroy(ctx, &r);
    return share;
}

int main(int argc, char **argv)
{
    graphss_ctx *ctx = graphss_ctx_new(NULL);
    if (!ctx)
        return 1;
    graphss_dataset data = {0};
    check(ctx, graphss_dataset_read(ctx, &data, argc > 1 ? argv[1] : "synth:nodes=600", NULL));
    graphss_split split = {0};
    check(ctx, graphss_split_make(
                   ctx, &split, data.label, data.graph.n_nodes, data.n_classes, 1, NULL));
    graphss_model *model = NULL;
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &data.features);
    check(ctx, graphss_model_train(ctx, &model, NULL,
                   &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                       .graph = &data.graph,
                       .features = &data.features,
                       .n_classes = data.n_classes,
                       .split = &split,
                       .seed = 1},
                   &opt));
    /* Once, so that alerts need not: learn what attacks on this graph look like. */
    const graphss_observation before = {&data.graph, &data.features, &data.node_names};
    check(ctx, graphss_alert_train(ctx, model, &before, 1));

    const size_t n = split.n_test / 5;
    int32_t *victim = calloc(n + 1, sizeof *victim);
    if (!victim)
        return 1;
    graphss_dataset now = attack(ctx, &data, &split, victim, n);

    const graphss_defence_input in = {.struct_size = sizeof in,
        .current = {&now.graph, &now.features, &now.node_names},
        .previous = &before,
        .model = model,
        .split = &split,
        .seed = 1};
    graphss_alert_result alarm = {0};
    check(ctx, graphss_alert_run(ctx, &alarm, &in, NULL, 0, NULL));
    printf("%s (p = %.3f)\n", alarm.alert ? "alert" : "no alert", alarm.p_value);

    const double fooled = recover(ctx, &in, "none", now.label, victim, n);
    const double better = recover(ctx, &in, "graphss", now.label, victim, n);
    printf("right on the %zu nodes attacked: %.0f %% undefended, %.0f %% recovered\n", n,
        100 * fooled, 100 * better);

    const int missed = !alarm.alert || better < fooled;
    graphss_alert_result_destroy(ctx, &alarm);
    graphss_dataset_destroy(ctx, &now);
    free(victim);
    graphss_model_free(ctx, model);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
    return missed;
}
