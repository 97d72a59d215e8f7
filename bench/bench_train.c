/* bench_train.c - how long is a training epoch, and how much memory does it take?
 *
 *     bench_train DATASET [epochs [threads [dropout]]]
 *
 * Trains a two-layer GCN (hidden 200, dropout 0 unless given) once, over five times as many
 * epochs, and prints one line: dataset, threads, milliseconds an epoch (the mean of the best
 * fifth in a row), peak memory of the process in KiB. bench/torch_epoch.py prints the same for
 * PyTorch, and bench/run puts them side by side. */
#include <graphss/graphss.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { ROUNDS = 5 };

typedef struct clock_marks {
    double *at; /* [n] when each epoch ended */
    size_t n;
    clockid_t clock;
} clock_marks;

/* One thread: its processor time, which other processes disturb least. */
static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool mark(void *user, const char *stage, size_t done, size_t total, const char *note)
{
    clock_marks *marks = user;
    (void)stage, (void)total, (void)note;
    if (done >= 1 && done <= marks->n)
        marks->at[done - 1] = seconds(marks->clock);
    return true;
}

/* The mean over the fastest `epochs` epochs in a row. */
static double best_ms(const clock_marks *marks, size_t epochs)
{
    double best = 1e30;
    for (size_t i = epochs; i < marks->n; i++) {
        const double mean = (marks->at[i] - marks->at[i - epochs]) / (double)epochs;
        best = mean < best ? mean : best;
    }
    return 1e3 * best;
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static graphss_status train(graphss_ctx *ctx, const char *name, size_t epochs, double dropout)
{
    const char *dirs[] = {getenv("GRAPHSS_DATA"), NULL};
    const graphss_read_options read = {.struct_size = sizeof read, .data_dirs = dirs};
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_PAPER, NULL);
    graphss_dataset data = {0};
    graphss_split split = {0};
    graphss_model *model = NULL;
    opt.layers = 2;
    opt.hidden = 200;
    opt.dropout = dropout;
    opt.self_loops = true;
    opt.epochs = (int64_t)epochs;

    graphss_status st = graphss_dataset_read(ctx, &data, name, &read);
    if (!st)
        st = graphss_split_make(
            ctx, &split, data.label, data.graph.n_nodes, data.n_classes, 1, NULL);
    if (!st)
        st = graphss_model_train(ctx, &model, NULL,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &data.graph,
                .features = &data.features,
                .n_classes = data.n_classes,
                .split = &split,
                .seed = 1},
            &opt);
    graphss_model_free(ctx, model);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &data);
    return st;
}

int main(int argc, char **argv)
{
    const long epochs = argc > 2 ? atol(argv[2]) : 20, threads = argc > 3 ? atol(argv[3]) : 1;
    const double dropout = argc > 4 ? atof(argv[4]) : 0;
    if (argc < 2 || epochs < 1 || threads < 1) {
        fprintf(stderr, "usage: bench_train DATASET [epochs [threads [dropout]]]\n");
        return 2;
    }
    clock_marks marks = {.n = ROUNDS * (size_t)epochs,
        .clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC};
    marks.at = calloc(marks.n, sizeof *marks.at);
    const graphss_ctx_options options = {.struct_size = sizeof options,
        .threads = (size_t)threads,
        .progress = mark,
        .user = &marks};
    graphss_ctx *ctx = graphss_ctx_new(&options);
    graphss_status st =
        ctx && marks.at ? train(ctx, argv[1], marks.n, dropout) : GRAPHSS_ERR_NOMEM;
    if (st)
        fprintf(stderr, "bench_train: %s\n", ctx ? graphss_ctx_error(ctx) : "no memory");
    else
        printf("%s\t%ld\t%.3f\t%ld\n", argv[1], threads, best_ms(&marks, (size_t)epochs),
            peak_kib());
    graphss_ctx_free(ctx);
    free(marks.at);
    return st ? 1 : 0;
}
