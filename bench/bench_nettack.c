/* bench_nettack.c - how long is an attack, per victim and on whole test sets?
 *
 *     GRAPHSS_DATA=DIR [GRAPHSS_REFERENCE=DIR] bench_nettack [DATASET ...]
 *
 * First the 12 victims of the reference folder (where there is one), each attacked alone,
 * set-up included, beside the time the original took for them: that one is the published
 * measurement of another run, in CPU seconds of one thread on a shared machine, so read the
 * ratio, not its digits. Beside it our own slow way: the best edge found by flipping each
 * candidate and summing over two hops again. Then all test nodes of each dataset (pubmed and
 * coauthor_cs unless named), edges and features: seconds and the peak memory of the process. /
 */
#include "base/base.h"
#include "data/formats/npz.h"
#include "graph/edits.h"
#include <graphss/graphss.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(graphss_ctx *ctx, graphss_status st)
{
    if (st == GRAPHSS_OK)
        return;
    fprintf(stderr, "bench_nettack: %s\n", graphss_ctx_error(ctx));
    exit(1);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The margin of u by the definition, xw [n x k] = X W given. */
static double margin(
    const graphss_i_rows *adj, const double *xw, size_t k, int32_t u, size_t label)
{
    double z[64] = {0}, best = -INFINITY;
    for (int32_t e = -1; e < adj->length[u]; e++) {
        const int32_t w = e < 0 ? u : adj->item[u][e];
        const double d_w = adj->length[w] + 1;
        for (int32_t f = -1; f < adj->length[w]; f++) {
            const int32_t x = f < 0 ? w : adj->item[w][f];
            const double a = 1 / (d_w * sqrt((adj->length[x] + 1.0) * (adj->length[u] + 1.0)));
            for (size_t c = 0; c < k; c++)
                z[c] += a * xw[(size_t)x * k + c];
        }
    }
    for (size_t c = 0; c < k; c++)
        best = c != label && z[c] > best ? z[c] : best;
    return z[label] - best;
}

/* CPU seconds to find the best edge once, the slow way. */
static double slow_step(
    graphss_ctx *ctx, const graphss_dataset *data, const float *w, int32_t u)
{
    const size_t n = data->graph.n_nodes, k = data->n_classes;
    const graphss_features *f = &data->features;
    const double start = cpu_seconds();
    graphss_i_rows adj;
    check(ctx, graphss_i_rows_init(ctx, &adj, &data->graph));
    double *xw = calloc(n * k, sizeof *xw), best = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (int64_t e = f->offset[i]; e < f->offset[i + 1]; e++)
            for (size_t c = 0; c < k; c++)
                xw[i * k + c] += (double)f->value[e] * (double)w[(size_t)f->column[e] * k + c];
    for (int32_t v = 0; (size_t)v < n; v++) {
        if (v == u || !graphss_i_rows_flip_edge(ctx, &adj, u, v))
            continue;
        const double score = margin(&adj, xw, k, u, (size_t)data->label[u]);
        best = score < best ? score : best;
        graphss_i_rows_flip_edge(ctx, &adj, u, v);
    }
    free(xw);
    graphss_i_rows_destroy(ctx, &adj);
    if (isinf(best))
        printf("no link to flip\n");
    return cpu_seconds() - start;
}

static void bench_victims(graphss_ctx *ctx, const char *folder)
{
    static const struct {
        const char *name;
        int kind;
        double median, mean; /* the original's, NAN: not published */
    } row[] = {{"structure", GRAPHSS_ATTACK_EDGES, 1.46, 2.35},
        {"features", GRAPHSS_ATTACK_FEATURES, 0.94, 0.99},
        {"both", GRAPHSS_ATTACK_BOTH, 2.06, 3.00},
        {"2 links + 20 features", GRAPHSS_ATTACK_LF, 1.89, NAN}};
    enum { MOST = 64, ROUNDS = 5 };
    char path[4096];
    graphss_dataset data = {0};
    graphss_i_npz *npz = NULL;
    float *w = NULL;
    int32_t *victim = NULL;
    size_t n = 0;
    snprintf(path, sizeof path, "%s/nettack_cora.npz", folder);
    check(ctx, graphss_dataset_read(ctx, &data, path, NULL));
    check(ctx, graphss_surrogate_read(ctx, &w, path, data.features.n_cols, data.n_classes));
    check(ctx, graphss_i_npz_open(ctx, &npz, path, 0));
    check(ctx, graphss_i_npz_int32(ctx, &victim, &n, npz, "victims", SIZE_MAX));
    graphss_i_npz_close(ctx, npz);
    n = n < MOST ? n : MOST;

    printf("%zu victims of Cora, one at a time, CPU milliseconds, set-up included\n\n", n);
    printf("| attack | median | mean | the original, published: median | mean | ratio of "
           "medians |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t r = 0; r < sizeof row / sizeof *row; r++) {
        double seconds[MOST], sum = 0;
        for (size_t i = 0; i < n; i++) {
            const graphss_attack_input in = {.struct_size = sizeof in,
                .graph = &data.graph,
                .features = &data.features,
                .label = data.label,
                .n_classes = data.n_classes,
                .surrogate = w,
                .victim = &victim[i],
                .n_victims = 1};
            graphss_attack_options opt;
            graphss_attack_options_init(&opt);
            const size_t degree = graphss_graph_degree(&data.graph, (size_t)victim[i]);
            opt.kind = row[r].kind;
            opt.budget =
                opt.kind == GRAPHSS_ATTACK_FEATURES || degree > 8 ? 10 : (int64_t)degree + 2;
            seconds[i] = INFINITY;
            for (int round = 0; round < ROUNDS; round++) {
                graphss_flips flips = {0};
                const double start = cpu_seconds();
                check(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt));
                const double took = cpu_seconds() - start;
                seconds[i] = took < seconds[i] ? took : seconds[i];
                graphss_flips_destroy(ctx, &flips);
            }
            sum += seconds[i];
        }
        qsort(seconds, n, sizeof *seconds, compare_doubles);
        const double median = 0.5 * (seconds[(n - 1) / 2] + seconds[n / 2]);
        char mean[32] = "-";
        if (!isnan(row[r].mean))
            snprintf(mean, sizeof mean, "%.0f", 1e3 * row[r].mean);
        printf("| %s | %.3f | %.3f | %.0f | %s | %.0f |\n", row[r].name, 1e3 * median,
            1e3 * sum / (double)n, 1e3 * row[r].median, mean, row[r].median / median);
    }
    double slow = 0;
    for (size_t i = 0; i < n; i++)
        slow += slow_step(ctx, &data, w, victim[i]);
    printf("\none link step the slow way, set-up included: %.2f ms a victim\n\n",
        1e3 * slow / (double)n);
    graphss_release(ctx, victim);
    graphss_release(ctx, w);
    graphss_dataset_destroy(ctx, &data);
}

static void bench_all(graphss_ctx *ctx, const char *name)
{
    const char *dirs[] = {getenv("GRAPHSS_DATA"), NULL};
    const graphss_read_options read = {.struct_size = sizeof read, .data_dirs = dirs};
    graphss_dataset data = {0};
    graphss_split split = {0};
    float *w = NULL;
    if (graphss_dataset_read(ctx, &data, name, &read)) {
        printf("%s skipped: %s\n", name, graphss_ctx_error(ctx));
        return;
    }
    check(ctx, graphss_split_make(
                   ctx, &split, data.label, data.graph.n_nodes, data.n_classes, 1, NULL));
    check(ctx, graphss_surrogate_train(ctx, &w,
                   &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                       .graph = &data.graph,
                       .features = &data.features,
                       .n_classes = data.n_classes,
                       .split = &split,
                       .seed = 1}));
    const graphss_attack_input in = {.struct_size = sizeof in,
        .graph = &data.graph,
        .features = &data.features,
        .label = data.label,
        .n_classes = data.n_classes,
        .surrogate = w,
        .victim = split.test,
        .n_victims = split.n_test};
    for (int independent = 0; independent < 2; independent++) {
        graphss_attack_options opt;
        graphss_attack_options_init(&opt);
        graphss_flips flips = {0};
        struct rusage usage;
        opt.independent = independent;
        if (strstr(name, "cs") || strstr(name, "photo")) {
            opt.edges = 5;
            opt.features = 50;
        }
        const double start = graphss_i_seconds();
        check(ctx, graphss_attack_run(ctx, &flips, NULL, &in, &opt));
        const double seconds = graphss_i_seconds() - start;
        getrusage(RUSAGE_SELF, &usage);
        printf("| %s | %lld + %lld | %s | %zu | %zu | %.2f | %.3f | %ld |\n", data.name,
            (long long)opt.edges, (long long)opt.features,
            independent ? "independent" : "cumulative", in.n_victims,
            independent ? graphss_ctx_threads(ctx) : (size_t)1, seconds,
            1e3 * seconds / (double)in.n_victims, usage.ru_maxrss / 1024);
        fflush(stdout);
        graphss_flips_destroy(ctx, &flips);
    }
    graphss_release(ctx, w);
    graphss_split_destroy(ctx, &split);
    graphss_dataset_destroy(ctx, &data);
}

int main(int argc, char **argv)
{
    static const char *const standard[] = {"pubmed", "coauthor_cs"};
    graphss_ctx *ctx = graphss_ctx_new(NULL);
    if (!ctx)
        return 1;
    const char *reference = getenv("GRAPHSS_REFERENCE");
    if (reference)
        bench_victims(ctx, reference);
    else
        printf("no GRAPHSS_REFERENCE: the victims of the original are left out\n\n");
    printf("all test nodes, the surrogate trained before the clock starts\n\n"
           "| data | links + features | | victims | threads | s | ms a victim | peak MiB |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (int i = 1; i < argc; i++)
        bench_all(ctx, argv[i]);
    for (size_t i = 0; argc < 2 && i < sizeof standard / sizeof *standard; i++)
        bench_all(ctx, standard[i]);
    graphss_ctx_free(ctx);
    return 0;
}
