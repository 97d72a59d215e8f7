/* bench_gibbs.c - how long are 100 sweeps of the sampler, and does the time grow with n only?
 *
 *     bench_gibbs [numpy_gibbs.py]
 *
 * One chain, one thread, 40 of the sweeps warm-up. States without a source, as recover has
 * them, beside the general path, which a source that says nothing leads to. With the path of
 * the script it also runs the vectorised numpy version of the loop and prints the ratio; where
 * python3 or numpy is missing it says so. PYTHON names another python3. */
#include <graphss/graphss.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CASES = 7, SOURCES = 4, STATES = 2 };

static const struct {
    size_t n, k;
    const char *like;
} size[CASES] = {{2708, 7, "cora"}, {19717, 3, "pubmed"}, {18333, 15, "cs"}, {1000, 5, ""},
    {10000, 5, ""}, {100000, 5, ""}, {1000000, 5, ""}};

typedef struct world {
    float *prob;
    int32_t *seen[SOURCES];
} world;

/* Labels right nine times in ten; softmax of normals with 3 more for the true class. */
static void make_world(world *w, size_t n, size_t k)
{
    graphss_rng rng = graphss_rng_make(1, GRAPHSS_STREAM_SYNTH);
    w->prob = malloc(n * k * sizeof *w->prob);
    for (size_t m = 0; m < SOURCES; m++)
        w->seen[m] = malloc(n * sizeof **w->seen);
    for (size_t i = 0; i < n; i++) {
        const size_t truth = (size_t)graphss_rng_below(&rng, k);
        double sum = 0;
        for (size_t c = 0; c < k; c++) {
            const double e = exp(graphss_rng_normal(&rng) + 3 * (c == truth));
            w->prob[i * k + c] = (float)e;
            sum += e;
        }
        for (size_t c = 0; c < k; c++)
            w->prob[i * k + c] /= (float)sum;
        for (size_t m = 0; m < SOURCES; m++) {
            const bool right = graphss_rng_double(&rng) < 0.9;
            w->seen[m][i] = (int32_t)(right ? truth : graphss_rng_below(&rng, k));
        }
    }
}

static void free_world(world *w)
{
    free(w->prob);
    for (size_t m = 0; m < SOURCES; m++)
        free(w->seen[m]);
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* Milliseconds of the processor, the best of a few runs. */
static double time_sweeps(
    graphss_ctx *ctx, const world *w, size_t n, size_t k, size_t n_sources, size_t n_states)
{
    graphss_source source[SOURCES] = {{0}};
    graphss_state state[STATES] = {{.concentration = 0.8 * (double)n}};
    for (size_t s = 1; s < n_states; s++)
        state[s] = (graphss_state){.concentration = 0.2 * (double)n / (double)(n_states - 1)};
    for (size_t m = 0; m < n_sources; m++)
        source[m] = (graphss_source){
            .label = w->seen[m], .prior = {.alpha = 1}, .tampered_prior = {.alpha = 1}};
    const graphss_selfsup_input in = {.struct_size = sizeof in,
        .n = n,
        .n_classes = k,
        .prob = w->prob,
        .source = source,
        .n_sources = n_sources,
        .state = state,
        .n_states = n_states,
        .seed = 1};
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    opt.chains = 1;
    double best = 1e30;
    for (int i = 0; i < (n < 50000 ? 7 : 1); i++) {
        graphss_selfsup_result out = {0};
        const double start = cpu_ms();
        if (graphss_selfsup_run(ctx, &out, &in, &opt)) {
            fprintf(stderr, "bench_gibbs: %s\n", graphss_ctx_error(ctx));
            exit(1);
        }
        best = fmin(best, cpu_ms() - start);
        graphss_selfsup_result_destroy(ctx, &out);
    }
    return best;
}

/* Fills numpy_ms; false when there is no numpy. */
static bool time_numpy(double *numpy_ms, const char *script)
{
    char command[1024];
    const char *python = getenv("PYTHON");
    int used =
        snprintf(command, sizeof command, "%s '%s'", python ? python : "python3", script);
    for (size_t i = 0; i < CASES; i++)
        used += snprintf(
            command + used, sizeof command - (size_t)used, " %zu %zu", size[i].n, size[i].k);
    FILE *pipe = popen(command, "r");
    bool whole = pipe != NULL;
    for (size_t i = 0; whole && i < CASES; i++)
        whole = fscanf(pipe, "%*s %*s %lf", &numpy_ms[i]) == 1;
    return pipe && pclose(pipe) == 0 && whole;
}

int main(int argc, char **argv)
{
    const graphss_ctx_options options = {.struct_size = sizeof options, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&options);
    double numpy_ms[CASES] = {0};
    const bool numpy = argc > 1 && time_numpy(numpy_ms, argv[1]);
    if (argc > 1 && !numpy)
        printf("numpy: skipped, no python3 with numpy, or no %s\n", argv[1]);
    printf(
        "100 sweeps, one thread     ms   ns/node   4 sources   and a switch   numpy  ratio\n");
    for (size_t i = 0; i < CASES; i++) {
        const size_t n = size[i].n, k = size[i].k;
        world w;
        make_world(&w, n, k);
        const double one = time_sweeps(ctx, &w, n, k, 1, 0);
        printf("%8zu x %2zu %-8s %8.2f %9.2f", n, k, size[i].like, one,
            1e6 * one / (double)(100 * n));
        if (n < 200000)
            printf(" %11.2f %14.2f", time_sweeps(ctx, &w, n, k, SOURCES, 0),
                time_sweeps(ctx, &w, n, k, SOURCES, 2));
        else
            printf(" %11s %14s", "-", "-");
        if (numpy)
            printf(" %7.1f %6.1f", numpy_ms[i], numpy_ms[i] / one);
        printf("\n");
        fflush(stdout);
        free_world(&w);
    }
    graphss_ctx_free(ctx);
    return 0;
}
