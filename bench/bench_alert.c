/* bench_alert.c - what does an alert cost beside a forward pass, and does it grow with n only?
 *
 *     bench_alert [DATASET ...]
 *
 * Without arguments: cora, amazon_photo and synthetic graphs of 10^4 to 10^6 nodes. One
 * thread; milliseconds of the processor, the better of a few rounds. learn: once, when the
 * model is trained; now: no history; past:
 * with history, a fifth of the test nodes churned since. groups: a hundred groups of a tenth
 * of the test nodes, judged after one look. */
#include <graphss/graphss.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { GROUPS = 100 };

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void must(graphss_ctx *ctx, graphss_status st, const char *what)
{
    if (!st)
        return;
    fprintf(stderr, "bench_alert: %s: %s\n", what, graphss_ctx_error(ctx));
    exit(1);
}

static double time_predict(
    graphss_ctx *ctx, const graphss_model *model, const graphss_dataset *data)
{
    float *prob = malloc(data->graph.n_nodes * data->n_classes * sizeof *prob);
    const double start = cpu_ms();
    must(ctx, graphss_model_predict(ctx, prob, model, &data->graph, &data->features),
        "predict");
    free(prob);
    return cpu_ms() - start;
}

static double time_alert(graphss_ctx *ctx, const graphss_defence_input *in)
{
    graphss_alert_result alert = {0};
    const double start = cpu_ms();
    must(ctx, graphss_alert_run(ctx, &alert, in, NULL, 0, NULL), "alert");
    const double taken = cpu_ms() - start;
    graphss_alert_result_destroy(ctx, &alert);
    return taken;
}

static double time_groups(
    graphss_ctx *ctx, const graphss_defence_input *in, const graphss_split *split)
{
    graphss_alert_scores scores = {0};
    graphss_alert_verdict v;
    must(ctx, graphss_alert_score(ctx, &scores, in, NULL), "look");
    const size_t n = split->n_test / 10;
    const double start = cpu_ms();
    for (size_t g = 0; g < GROUPS; g++)
        must(ctx,
            graphss_alert_test_group(ctx, &v, &scores, split->test + (g % 10) * n, n, g, NULL),
            "judge");
    const double taken = cpu_ms() - start;
    graphss_alert_scores_destroy(ctx, &scores);
    return taken;
}

static void measure(graphss_ctx *ctx, const char *name)
{
    const char *dirs[] = {getenv("GRAPHSS_DATA"), NULL};
    const graphss_read_options read = {.struct_size = sizeof read, .data_dirs = dirs};
    graphss_dataset data = {0}, churned = {0};
    graphss_split split = {0};
    graphss_flips flips = {0};
    graphss_model *model = NULL;
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    if (graphss_dataset_read(ctx, &data, name, &read)) {
        printf("%-28s skipped: %s\n", name, graphss_ctx_error(ctx));
        return;
    }
    opt.epochs = data.graph.n_nodes > 50000 ? 1 : 20;
    must(ctx,
        graphss_split_make(
            ctx, &split, data.label, data.graph.n_nodes, data.n_classes, 1, NULL),
        "split");
    must(ctx,
        graphss_model_train(ctx, &model, NULL,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &data.graph,
                .features = &data.features,
                .n_classes = data.n_classes,
                .split = &split,
                .seed = 1},
            &opt),
        "train");
    const graphss_observation before = {&data.graph, &data.features, &data.node_names};
    const double start = cpu_ms();
    must(ctx, graphss_alert_train(ctx, model, &before, 1), "learn");
    const double learn = cpu_ms() - start;
    must(ctx, graphss_benign_churn(ctx, &flips, &data, split.test, split.n_test / 5, 1, NULL),
        "churn");
    must(ctx, graphss_flips_apply(ctx, &churned, &data, &flips, NULL), "apply");
    graphss_defence_input in = {.struct_size = sizeof in,
        .current = {&churned.graph, &churned.features, &churned.node_names},
        .model = model,
        .split = &split,
        .seed = 1};
    double predict = INFINITY, now = INFINITY, past = INFINITY, groups = INFINITY;
    for (int i = 0; i < (data.graph.n_nodes > 50000 ? 1 : 3); i++) {
        predict = fmin(predict, time_predict(ctx, model, &churned));
        in.previous = NULL;
        now = fmin(now, time_alert(ctx, &in));
        groups = fmin(groups, time_groups(ctx, &in, &split));
        in.previous = &before;
        past = fmin(past, time_alert(ctx, &in));
    }
    printf("%-28s %9zu %9.1f %9.1f %9.1f %5.1fx %9.1f %5.1fx %8.2f %10.1f\n", name,
        data.graph.n_nodes, learn, predict, now, now / predict, past, past / predict,
        1e3 * past / (double)data.graph.n_nodes, groups);
    fflush(stdout);
    graphss_model_free(ctx, model);
    graphss_flips_destroy(ctx, &flips);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &churned);
    graphss_dataset_destroy(ctx, &data);
}

int main(int argc, char **argv)
{
    static const char *const standard[] = {"cora", "amazon_photo", "synth:nodes=10000",
        "synth:nodes=100000", "synth:nodes=1000000"};
    const graphss_ctx_options options = {.struct_size = sizeof options, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&options);
    const int n = argc > 1 ? argc - 1 : (int)(sizeof standard / sizeof *standard);
    printf("alert, one thread, ms       %9s %9s %9s %9s %6s %9s %6s %8s %10s\n", "nodes",
        "learn", "predict", "now", "", "past", "", "us/node", "100 groups");
    for (int i = 0; i < n; i++)
        measure(ctx, argc > 1 ? argv[1 + i] : standard[i]);
    graphss_ctx_free(ctx);
    return 0;
}
