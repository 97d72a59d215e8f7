/* bench_train.c - how long is a training epoch, and how much memory does it take?
 *
 *     bench_train DATASET [epochs]
 *
 * Trains a two-layer GCN (hidden 200, no dropout) with one and with two threads and prints
 * one line for each: dataset, threads, milliseconds an epoch (the best of five runs), peak
 * memory of the process. bench/torch_epoch.py prints the same for PyTorch, and bench/run
 * puts them side by side. */
#include <graphss/graphss.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static double epoch_ms(graphss_ctx *ctx, const graphss_dataset *data,
                       const graphss_split *split, int64_t epochs)
{
    double best = 1e30;
    for (int run = 0; run < 5; run++) {
        graphss_train_options opt = graphss_train_options_default("gcn", GRAPHSS_MODE_PAPER);
        graphss_training log = {0};
        graphss_model *model = NULL;
        opt.layers = 2;
        opt.self_loops = true;
        opt.epochs = epochs;
        if (graphss_model_train(ctx, &model, &log, &data->graph, &data->features,
                                data->n_classes, split, 1, &opt)) {
            fprintf(stderr, "%s\n", graphss_error(ctx));
            exit(1);
        }
        const double ms = 1e3 * log.seconds / (double)epochs;
        best = ms < best ? ms : best;
        graphss_training_destroy(ctx, &log);
        graphss_model_free(ctx, model);
    }
    return best;
}

int main(int argc, char **argv)
{
    const int64_t epochs = argc > 2 ? atol(argv[2]) : 20;
    const size_t threads = argc > 3 ? (size_t)atol(argv[3]) : 1;
    const char *dirs[] = {getenv("GRAPHSS_DATA"), NULL};
    const graphss_read_options read = {.data_dirs = dirs};
    const graphss_ctx_options options = {.threads = threads};
    graphss_ctx *ctx = graphss_ctx_new(&options);
    graphss_dataset data = {0};
    graphss_split split = {0};
    if (argc < 2 || !ctx || graphss_dataset_read(ctx, &data, argv[1], &read) ||
        graphss_split_make(ctx, &split, data.label, data.graph.n_nodes, data.n_classes, 1,
                           NULL)) {
        fprintf(stderr, "bench_train: %s\n", ctx ? graphss_error(ctx) : "no memory");
        return 1;
    }
    const double ms = epoch_ms(ctx, &data, &split, epochs);
    printf("%s\t%zu\t%.3f\t%ld\n", argv[1], graphss_threads(ctx), ms, peak_kib());
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
    return 0;
}
