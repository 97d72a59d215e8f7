/* bench_live.c - a graph that changes: how long does an event take, and are alarms kept rare?
 *
 *     bench_live speed [NODES [DEGREE [EVENTS]]]   169000 and 14: the size of ogbn-arxiv
 *     bench_live alarms DATASET DAYS [SEED [groups|all [CHANGING [TRIALS]]]]
 *
 * speed: dense features (128), 40 classes, GCN with 64 hidden units, random events of which
 * 30 % remove an edge. Model and detector are trained on a graph of the same kind with 4000
 * nodes. Milliseconds from event to probabilities and suspicion, one event at a
 * time; events a second in batches of 100; against a whole pass of the same engine and of
 * predict; whether all probabilities have the bits of a whole pass afterwards.
 * alarms: each day CHANGING nodes, 1 % of all, change benignly (graphss_benign_churn, two
 * edges and two words each); checks every hour, one false alarm a week allowed, the trusted
 * snapshot moves daily. Then, on copies of the state of day 20, attacks: nodes get three edges
 * to other classes, at once or over a week, TRIALS (20) times. Then the same after a start in
 * which nodes were hit from the first day on. groups: each class is a group with a name. */
#include <graphss/graphss.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The least over all threads: what an idle machine would take if one thread does the work. */
static double processor(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void must(graphss_ctx *ctx, graphss_status st, const char *what)
{
    if (!st)
        return;
    fprintf(stderr, "bench_live: %s: %s\n", what, graphss_ctx_error(ctx));
    exit(1);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static graphss_model *train(
    graphss_ctx *ctx, const graphss_dataset *data, int64_t hidden, int64_t epochs)
{
    graphss_split split = {0};
    graphss_split_options s;
    graphss_train_options opt;
    graphss_model *model = NULL;
    graphss_split_options_init(&s);
    must(ctx,
        graphss_split_make(
            ctx, &split, data->label, data->graph.n_nodes, data->n_classes, 1, &s),
        "split");
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &data->features);
    if (hidden)
        opt.hidden = hidden;
    if (epochs)
        opt.epochs = epochs;
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &data->graph,
        .features = &data->features,
        .n_classes = data->n_classes,
        .split = &split,
        .seed = 1};
    must(ctx, graphss_model_train(ctx, &model, NULL, &in, &opt), "train");
    const graphss_observation seen = graphss_dataset_observe(data);
    must(ctx, graphss_alert_train(ctx, model, &seen, 1), "alert_train");
    graphss_split_destroy(ctx, &split);
    return model;
}

/* ---- speed ---- */

enum { COLUMNS = 128, CLASSES = 40, HIDDEN = 64 };

/* The graph of synth with measurements: a centre for each class, and noise. */
static void make_dense(graphss_ctx *ctx, graphss_dataset *data, size_t nodes, double degree)
{
    graphss_synth_options opt;
    graphss_rng rng = graphss_rng_make(1, GRAPHSS_STREAM_SAMPLER);
    graphss_synth_options_init(&opt);
    opt.nodes = (int64_t)nodes;
    opt.degree = degree;
    opt.classes = CLASSES;
    opt.features = COLUMNS;
    opt.words = 4;
    must(ctx, graphss_synth_make(ctx, data, &opt), "synth");
    float *x = malloc(nodes * COLUMNS * sizeof *x), centre[CLASSES][COLUMNS];
    for (size_t i = 0; i < CLASSES * COLUMNS; i++)
        centre[i / COLUMNS][i % COLUMNS] = (float)graphss_rng_normal(&rng);
    for (size_t i = 0; i < nodes * COLUMNS; i++)
        x[i] = centre[data->label[i / COLUMNS]][i % COLUMNS] * 0.3F +
               (float)graphss_rng_normal(&rng);
    graphss_features_destroy(ctx, &data->features);
    must(
        ctx, graphss_features_from_dense(ctx, &data->features, nodes, COLUMNS, x), "features");
    free(x);
}

typedef struct edge_event {
    graphss_event event;
    char u[24], v[24];
} edge_event;

/* Removes a random edge of the present graph, or adds a random one. */
static void draw(
    edge_event *e, graphss_ctx *ctx, graphss_live *live, graphss_rng *rng, double t)
{
    const size_t n = graphss_live_capacity(live);
    const uint64_t u = graphss_rng_below(rng, n);
    int64_t v = (int64_t)graphss_rng_below(rng, n);
    bool removes = graphss_rng_below(rng, 10) < 3;
    graphss_live_edges edges = {0};
    if (removes)
        must(ctx, graphss_live_edges_get(ctx, &edges, live, u), "edges");
    removes = removes && edges.n;
    if (removes)
        v = edges.node[graphss_rng_below(rng, edges.n)];
    graphss_live_edges_destroy(ctx, &edges);
    snprintf(e->u, sizeof e->u, "%llu", (unsigned long long)u);
    snprintf(
        e->v, sizeof e->v, "%lld", (long long)((uint64_t)v == u ? (v + 1) % (int64_t)n : v));
    e->event =
        (graphss_event){.op = removes ? GRAPHSS_EVENT_REMOVE_EDGE : GRAPHSS_EVENT_ADD_EDGE,
            .t = t,
            .seq = -1,
            .u = e->u,
            .v = e->v};
}

static void say_spread(const char *what, double *took, size_t n)
{
    qsort(took, n, sizeof *took, by_size);
    printf("one event, %s: median %.3f ms, P90 %.3f, P99 %.3f, most %.3f\n", what,
        1e3 * took[n / 2], 1e3 * took[n * 9 / 10], 1e3 * took[n * 99 / 100],
        1e3 * took[n - 1]);
}

static int speed(graphss_ctx *ctx, size_t nodes, double degree, size_t events)
{
    enum { SINGLE = 2000, BATCH = 100 };
    const size_t batches = events / BATCH;
    graphss_dataset data = {0};
    graphss_live *live = NULL;
    graphss_live_options opt;
    enum { TRAINED = 4000 };
    double start = seconds();
    make_dense(ctx, &data, TRAINED, degree);
    graphss_model *model = train(ctx, &data, HIDDEN, 30);
    graphss_dataset_destroy(ctx, &data);
    data = (graphss_dataset){0};
    make_dense(ctx, &data, nodes, degree);
    printf("nodes %zu, edges %zu, features %d, classes %d, hidden %d, threads %zu\n", nodes,
        graphss_graph_edges(&data.graph), COLUMNS, CLASSES, HIDDEN, graphss_ctx_threads(ctx));
    printf("train and detector %28.1f s\n", seconds() - start);
    const graphss_observation seen = graphss_dataset_observe(&data);
    graphss_live_options_init(&opt);
    start = seconds();
    must(ctx, graphss_live_new(ctx, &live, model, &seen, &opt), "live");
    printf("open %42.1f s\n", seconds() - start);
    float *prob = malloc(nodes * CLASSES * sizeof *prob);
    double pass = 0;
    for (int i = 0; i < 3; i++) {
        start = processor();
        must(ctx, graphss_model_predict(ctx, prob, model, &data.graph, &data.features),
            "predict");
        const double took = processor() - start;
        pass = i == 0 || took < pass ? took : pass;
    }
    free(prob);
    printf("whole pass (predict), processor %15.1f ms\n", 1e3 * pass);
    graphss_dataset_destroy(ctx, &data);

    static double took[SINGLE], used[SINGLE];
    static edge_event e[BATCH];
    static graphss_event list[BATCH];
    graphss_rng rng = graphss_rng_make(7, GRAPHSS_STREAM_SAMPLER);
    double rows = 0, all = 0;
    for (size_t i = 0; i < SINGLE; i++) {
        graphss_live_batch did = {0};
        draw(&e[0], ctx, live, &rng, (double)i);
        start = seconds();
        const double busy = processor();
        must(ctx, graphss_live_apply(ctx, live, &e[0].event, 1, &did), "apply");
        used[i] = processor() - busy;
        took[i] = seconds() - start;
        rows += (double)did.recomputed;
        all += used[i];
        graphss_live_batch_destroy(ctx, &did);
    }
    say_spread("by the clock", took, SINGLE);
    say_spread("processor", used, SINGLE);
    printf("rows computed for an event: %.0f\n", rows / SINGLE);
    printf("one event against a whole pass: %.0f times cheaper in the mean, %.0f in the "
           "median\n",
        pass / (all / SINGLE), pass / used[SINGLE / 2]);
    double clock = 0, busy = 0;
    size_t applied = 0;
    for (size_t b = 0; b < batches; b++) {
        for (size_t i = 0; i < BATCH; i++) {
            draw(&e[i], ctx, live, &rng, SINGLE + (double)b);
            list[i] = e[i].event;
        }
        start = seconds();
        const double before = processor();
        must(ctx, graphss_live_apply(ctx, live, list, BATCH, NULL), "apply");
        busy += processor() - before;
        clock += seconds() - start;
        applied += BATCH;
    }
    printf("batches of %d: %.0f events a second by the clock, %.0f a second of processor\n",
        BATCH, (double)applied / clock, (double)applied / busy);
    size_t different = 0;
    double farthest = 0;
    must(ctx, graphss_live_verify(ctx, &different, &farthest, live), "verify");
    graphss_live_status s;
    graphss_live_status_get(live, &s);
    printf("rows with other bits than a whole pass: %zu; farthest from predict: %.1e\n",
        different, farthest);
    printf("memory %.0f MB\n", 1e-6 * (double)s.bytes);
    graphss_live_free(ctx, live);
    graphss_model_free(ctx, model);
    return different ? 1 : 0;
}

/* ---- alarms ---- */

enum { DAY = 86400, HOUR = 3600 };

typedef struct stream {
    graphss_ctx *ctx;
    graphss_live *live;
    double t;
    size_t alerts;
} stream;

/* Applies an event at the time of the stream; an alert is counted and dismissed. */
static void apply_event(stream *s, const graphss_event *given)
{
    graphss_event e = *given;
    graphss_live_batch did = {0};
    e.t = s->t;
    must(s->ctx, graphss_live_apply(s->ctx, s->live, &e, 1, &did), "apply");
    s->alerts += did.n_alerts;
    for (size_t i = 0; i < did.n_alerts; i++)
        must(s->ctx,
            graphss_live_settle(
                s->ctx, s->live, did.first_alert + i + 1, GRAPHSS_ALERT_DISMISSED),
            "settle");
    graphss_live_batch_destroy(s->ctx, &did);
}

typedef struct lines {
    graphss_ctx *ctx;
    char **line;
    size_t n;
} lines;

static graphss_status keep(void *user, const graphss_event *e)
{
    lines *all = user;
    all->line = realloc(all->line, (all->n + 1) * sizeof *all->line);
    return graphss_event_text(all->ctx, &all->line[all->n++], e);
}

/* The events of a day of benign change, made of the graph as it is, in random order. */
static lines benign_day(
    const stream *s, const graphss_dataset *labelled, size_t changing, uint64_t seed)
{
    graphss_ctx *ctx = s->ctx;
    graphss_dataset now = {0}, then = {0};
    graphss_flips flips = {0};
    graphss_benign_options opt;
    lines all = {.ctx = ctx};
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_BENIGN);
    must(ctx, graphss_live_snapshot(ctx, &now, s->live, false), "snapshot");
    memcpy(now.label, labelled->label, now.graph.n_nodes * sizeof *now.label);
    int32_t *node = malloc(now.graph.n_nodes * sizeof *node);
    for (size_t i = 0; i < now.graph.n_nodes; i++)
        node[i] = (int32_t)i;
    graphss_rng_shuffle(&rng, node, now.graph.n_nodes);
    graphss_benign_options_init(&opt);
    opt.edges = 2;
    opt.features = 2;
    must(ctx, graphss_benign_churn(ctx, &flips, &now, node, changing, seed, &opt), "churn");
    must(ctx, graphss_flips_apply(ctx, &then, &now, &flips, NULL), "flips");
    must(ctx, graphss_events_between(ctx, &now, &then, keep, &all), "events");
    for (size_t i = all.n; i > 1; i--) {
        const size_t j = graphss_rng_below(&rng, i);
        char *t = all.line[i - 1];
        all.line[i - 1] = all.line[j];
        all.line[j] = t;
    }
    free(node);
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &now);
    graphss_dataset_destroy(ctx, &then);
    return all;
}

/* An hour of a day: its share of the events, then time passes. */
static void pass_hour(stream *s, const lines *day, size_t hour)
{
    for (size_t i = day->n * hour / 24; i < day->n * (hour + 1) / 24; i++) {
        graphss_event e = {0};
        must(s->ctx, graphss_event_parse(s->ctx, &e, day->line[i], strlen(day->line[i])),
            "parse");
        apply_event(s, &e);
        graphss_event_destroy(s->ctx, &e);
    }
    graphss_live_batch did = {0};
    s->t += HOUR;
    must(s->ctx, graphss_live_advance(s->ctx, s->live, s->t, &did), "advance");
    s->alerts += did.n_alerts;
    for (size_t i = 0; i < did.n_alerts; i++)
        must(s->ctx,
            graphss_live_settle(
                s->ctx, s->live, did.first_alert + i + 1, GRAPHSS_ALERT_DISMISSED),
            "settle");
    graphss_live_batch_destroy(s->ctx, &did);
}

static void lines_free(lines *all)
{
    for (size_t i = 0; i < all->n; i++)
        graphss_release(all->ctx, all->line[i]);
    free(all->line);
    *all = (lines){.ctx = all->ctx};
}

/* A node of the data gets three edges to nodes of other classes. */
static void hit(stream *s, const graphss_dataset *data, graphss_rng *rng)
{
    const size_t n = data->graph.n_nodes, u = graphss_rng_below(rng, n);
    for (int j = 0; j < 3; j++) {
        size_t v = u;
        while (data->label[v] == data->label[u])
            v = graphss_rng_below(rng, n);
        const graphss_event e = {.op = GRAPHSS_EVENT_ADD_EDGE,
            .t = s->t,
            .seq = -1,
            .u = graphss_live_name(s->live, u),
            .v = graphss_live_name(s->live, v)};
        apply_event(s, &e);
    }
}

/* Watches each class as a group; together these get half of the allowed false alarms. */
static void watch_classes(graphss_ctx *ctx, graphss_live *live, const graphss_dataset *data)
{
    const size_t n = data->graph.n_nodes;
    const char **member = malloc(n * sizeof *member);
    for (size_t c = 0; c < data->n_classes; c++) {
        char name[32];
        size_t m = 0;
        for (size_t v = 0; v < n; v++)
            if (data->label[v] == (int32_t)c)
                member[m++] = graphss_live_name(live, v);
        snprintf(name, sizeof name, "class %zu", c);
        if (m)
            must(ctx, graphss_live_watch(ctx, live, name, member, m), "watch");
    }
    free(member);
}

/* Hours until an alert while `victims` nodes are hit, spread over `hours`, besides benign
 * change; -1: none within a week. */
static double attack(graphss_ctx *ctx, const graphss_model *model, const void *state, size_t n,
    const graphss_dataset *data, size_t victims, double hours, size_t changing, uint64_t seed)
{
    graphss_live_status status;
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    stream s = {.ctx = ctx};
    lines day = {.ctx = ctx};
    must(ctx, graphss_live_load(ctx, &s.live, model, state, n), "load");
    graphss_live_status_get(s.live, &status);
    s.t = status.now + 1;
    double found = -1;
    for (size_t hour = 0, done = 0; hour < 24 * 7 && found < 0; hour++) {
        const double due = hours <= 1 ? 1 : fmin(1, (double)(hour + 1) / hours);
        if (hour % 24 == 0) {
            lines_free(&day);
            day = benign_day(&s, data, changing, seed * 1000 + hour);
        }
        for (; (double)done < due * (double)victims; done++)
            hit(&s, data, &rng);
        pass_hour(&s, &day, hour % 24);
        if (s.alerts)
            found = (double)hour + 1;
    }
    lines_free(&day);
    graphss_live_free(ctx, s.live);
    return found;
}

/* The state after `days` of benign change, in each of which `hits` nodes are hit, too. */
static void warm_up(graphss_ctx *ctx, stream *s, const graphss_dataset *data, size_t days,
    size_t hits, size_t changing, uint64_t seed)
{
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER);
    for (size_t day = 0; day < days; day++) {
        lines all = benign_day(s, data, changing, seed * 100000 + day);
        for (size_t hour = 0; hour < 24; hour++) {
            for (size_t i = hits * hour / 24; i < hits * (hour + 1) / 24; i++)
                hit(s, data, &rng);
            pass_hour(s, &all, hour);
        }
        lines_free(&all);
    }
    (void)ctx;
}

static void attacks(graphss_ctx *ctx, const graphss_model *model, const void *state, size_t n,
    const graphss_dataset *data, size_t changing, size_t trials, uint64_t seed)
{
    static const double share[] = {0.05, 0.001}, spread[] = {1, 168};
    for (size_t a = 0; a < 2; a++)
        for (size_t d = 0; d < 2; d++) {
            const size_t victims = (size_t)ceil(share[a] * (double)data->graph.n_nodes);
            double delay = 0;
            size_t found = 0;
            for (uint64_t trial = 0; trial < trials; trial++) {
                const double h = attack(ctx, model, state, n, data, victims, spread[d],
                    changing, seed * 77 + trial);
                found += h >= 0;
                delay += h >= 0 ? h : 0;
            }
            printf("attack on %.1f %% (%zu nodes) %s: found %zu of %zu", 100 * share[a],
                victims, spread[d] > 1 ? "over a week" : "at once", found, trials);
            if (found)
                printf(", after %.1f hours in the mean", delay / (double)found);
            printf("\n");
            fflush(stdout);
        }
}

static int alarms(graphss_ctx *ctx, const char *where, size_t days, uint64_t seed, bool groups,
    size_t given, size_t trials)
{
    enum { WARM = 20 };
    graphss_dataset data = {0};
    graphss_live *live = NULL;
    graphss_live_options opt;
    must(ctx, graphss_dataset_read(ctx, &data, where, NULL), "data");
    graphss_model *model = train(ctx, &data, 0, 0);
    const graphss_observation seen = graphss_dataset_observe(&data);
    graphss_live_options_init(&opt);
    opt.check_every = HOUR;
    opt.trust_after = DAY;
    opt.seed = seed;
    must(ctx, graphss_live_new(ctx, &live, model, &seen, &opt), "live");
    if (groups)
        watch_classes(ctx, live, &data);
    const size_t nodes = data.graph.n_nodes, changing = given ? given : nodes / 100 + 1;
    stream s = {.ctx = ctx, .live = live, .t = 0}, hostile = {.ctx = ctx, .t = 0};
    void *state = NULL;
    size_t n = 0;
    for (size_t day = 0; day < days; day++) {
        warm_up(ctx, &s, &data, 1, 0, changing, seed * 100000 + day);
        if (day + 1 == WARM || (day + 1 == days && days < WARM))
            must(ctx, graphss_live_save(ctx, &state, &n, live), "save");
    }
    printf("%s: %zu nodes, %zu change a day, %s; %zu days, %zu false alarms, %.2f allowed\n",
        where, nodes, changing, groups ? "a group for each class" : "one group", days,
        s.alerts, (double)days / 7);
    fflush(stdout);
    attacks(ctx, model, state, n, &data, changing, trials, seed);
    graphss_release(ctx, state);
    graphss_live_free(ctx, live);
    if (!groups) {
        const size_t hits = nodes / 200 + 1;
        must(ctx, graphss_live_new(ctx, &hostile.live, model, &seen, &opt), "live");
        warm_up(ctx, &hostile, &data, WARM, hits, changing, seed + 1);
        printf("if %zu nodes were hit in each of the first %d days, too: %zu alerts then\n",
            hits, (int)WARM, hostile.alerts);
        must(ctx, graphss_live_save(ctx, &state, &n, hostile.live), "save");
        attacks(ctx, model, state, n, &data, changing, trials, seed);
        graphss_release(ctx, state);
        graphss_live_free(ctx, hostile.live);
    }
    graphss_model_free(ctx, model);
    graphss_dataset_destroy(ctx, &data);
    return 0;
}

int main(int argc, char **argv)
{
    graphss_ctx *ctx = graphss_ctx_new(NULL);
    int code = 2;
    if (argc > 1 && !strcmp(argv[1], "speed"))
        code = speed(ctx, argc > 2 ? (size_t)atol(argv[2]) : 169000,
            argc > 3 ? atof(argv[3]) : 14, argc > 4 ? (size_t)atol(argv[4]) : 10000);
    else if (argc > 3 && !strcmp(argv[1], "alarms"))
        code = alarms(ctx, argv[2], (size_t)atol(argv[3]),
            argc > 4 ? (uint64_t)atol(argv[4]) : 1, argc > 5 && !strcmp(argv[5], "groups"),
            argc > 6 ? (size_t)atol(argv[6]) : 0, argc > 7 ? (size_t)atol(argv[7]) : 20);
    else
        fprintf(stderr,
            "bench_live speed [NODES [DEGREE [EVENTS]]] | alarms DATASET DAYS [SEED "
            "[groups|all [CHANGING [TRIALS]]]]\n");
    graphss_ctx_free(ctx);
    return code;
}
