/* cmd_demo.c - the program's work on a generated graph, no file needed. The trivial rivals
 * are always in the table: a figure means little without them. */
#include <stdlib.h>

#include "commands.h"

/* Short texts and stray links: neither the words nor the graph alone is enough. */
static const char DEMO_GRAPH[] = "synth:nodes=3000,degree=5,classes=6,features=600,"
                                 "homophily=0.75,words=10,topic=0.25,seed=7";

static void show(cli *app, const cli_fit *gcn, const cli_fit *mlp, double majority,
                 const int64_t *confusion, const graphss_dataset *data)
{
    printf("\nTest accuracy\n");
    text_table t = {0};
    table_init(&t, "lrl", false);
    table_add(&t, "always the largest class");
    table_add(&t, "%.1f %%", 100 * majority);
    table_add(&t, "knows nothing");
    table_add(&t, "mlp");
    table_add(&t, "%.1f %%", 100 * mlp->test_accuracy);
    table_add(&t, "sees the features, not the graph");
    table_add(&t, "gcn");
    table_add(&t, "%.1f %%", 100 * gcn->test_accuracy);
    table_add(&t, "sees both; %zu epochs in %.2f s", gcn->log.epochs, gcn->log.seconds);
    table_print(&t, &app->term, stdout, 2);
    printf("\n");
    cli_fit_curves(app, gcn);
    printf("\n");
    char **name = cli_class_names(data, data->n_classes);
    draw_confusion(&app->term, stdout, confusion, (const char *const *)name, data->n_classes);
    cli_class_names_done(name, data->n_classes);
    printf("\nNext: graphss fetch cora && graphss train cora --model gcn -o cora.model\n");
}

static void fill(cli *app, const cli_fit *gcn, const cli_fit *mlp, double majority,
                 const int64_t *confusion, const graphss_dataset *data)
{
    cli_json_set(app->json, "model", cli_json_text("gcn"));
    cli_fit_json(app->json, gcn);
    json_t *rivals = json_object();
    cli_json_set(rivals, "majority", cli_json_real(majority));
    cli_json_set(rivals, "mlp", cli_json_real(mlp->test_accuracy));
    cli_json_set(app->json, "baselines", rivals);
    cli_json_set(app->json, "confusion", cli_json_confusion(confusion, data->n_classes));
    cli_json_set(app->json, "dataset", cli_json_dataset(data));
    cli_json_run(app, app->json);
}

static graphss_status run(cli *app)
{
    graphss_dataset data = {0};
    graphss_split split = {0};
    cli_fit gcn = {0}, mlp = {0};
    int64_t *confusion = NULL;
    cli_split_options opt = {0};
    cli_split_defaults(&opt);

    graphss_status st = cli_read_dataset(app, &data, DEMO_GRAPH);
    if (!st)
        st = cli_split_choose(app, &split, &data, &opt);
    if (st)
        goto done;
    if (!app->json) {
        printf("A generated graph of documents: links, words, and a subject for each.\n"
               "Two in five subjects are known, some of them wrong; the rest is to be "
               "found.\n\n");
        cli_show_dataset(app, &data);
        cli_show_split(app, &split, &opt);
        fflush(stdout);
    }
    graphss_train_options train = graphss_train_options_default("mlp", GRAPHSS_MODE_HONEST);
    st = cli_fit_run(app, &mlp, &data, &split, &train);
    if (st)
        goto done;
    train = graphss_train_options_default("gcn", GRAPHSS_MODE_HONEST);
    st = cli_fit_run(app, &gcn, &data, &split, &train);
    if (st)
        goto done;
    confusion = cli_alloc(data.n_classes, data.n_classes * sizeof *confusion);
    graphss_confusion(confusion, data.n_classes, gcn.label, data.label, split.test,
                      split.n_test);
    const double majority = cli_majority(&split, &data);
    if (app->json)
        fill(app, &gcn, &mlp, majority, confusion, &data);
    else
        show(app, &gcn, &mlp, majority, confusion, &data);
done:
    free(confusion);
    cli_fit_done(app, &gcn);
    cli_fit_done(app, &mlp);
    cli_split_done(app, &split, &data);
    graphss_dataset_destroy(app->ctx, &data);
    return st;
}

const cli_command cli_demo = {
    .name = "demo",
    .arguments = "",
    .summary = "Train a classifier on a generated graph and show what it learned",
    .examples = "demo\ndemo --seed 5 --json\n",
    .run = run,
};
