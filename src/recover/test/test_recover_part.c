/* alert and recover on several ranks against one machine. */
#include "detect/state_model.h"
#include "detect/tuning.h"
#include "models/model_private.h"
#include "models/part_private.h"
#include "recover/graphss_infer.h"
#include "testing.h"
#include "testing_ranks.h"
#include <graphss/flips.h>
#include <graphss/selfsup.h>
#include <graphss/shards.h>
#include <graphss/synth.h>

enum { NODES = 500, CLASSES = 3 };

/* A model, the snapshot it was trained on, and a later one in which nodes were attacked. */
typedef struct world {
    graphss_ctx *ctx;
    graphss_dataset past, now;
    graphss_split split;
    graphss_model *model;
    char now_folder[256], past_folder[256];
} world;

static void remove_shards(const char *folder)
{
    char path[512];
    for (int p = 0; p < TESTING_RANKS; p++) {
        snprintf(path, sizeof path, "%s/part-%04d.npz", folder, p);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/shards.json", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

/* Some nodes get edges to nodes of another class; of every other one words change, too. */
static void attack(world *w)
{
    graphss_flips flips = {0};
    const graphss_features *x = &w->past.features;
    for (int32_t v = 3; v < NODES; v += 9) {
        int32_t u = (v * 7 + 1) % NODES;
        for (int added = 0; added < 6; u = (u + 1) % NODES) {
            if (w->past.label[u] != (w->past.label[v] + 1) % CLASSES ||
                graphss_graph_has_edge(&w->past.graph, v, u))
                continue;
            assert_ok(w->ctx, graphss_flips_add(w->ctx, &flips,
                                  (graphss_flip){v, GRAPHSS_FLIP_EDGE, v, u, 0, 1, 0}));
            added++;
        }
        for (size_t j = 0; x->offset && v % 2 && j < x->n_cols; j += 5) {
            bool has = false;
            for (int64_t e = x->offset[v]; e < x->offset[v + 1]; e++)
                has = has || (size_t)x->column[e] == j;
            assert_ok(w->ctx,
                graphss_flips_add(w->ctx, &flips,
                    (graphss_flip){v, GRAPHSS_FLIP_FEATURE, v, (int32_t)j, has, !has, 0}));
        }
    }
    assert_ok(w->ctx, graphss_flips_apply(w->ctx, &w->now, &w->past, &flips, NULL));
    graphss_flips_destroy(w->ctx, &flips);
}

static void set_up(world *w, bool dense, const char *type)
{
    *w = (world){.ctx = testing_ctx(NULL, 1)};
    graphss_synth_options synth;
    graphss_synth_options_init(&synth);
    synth.nodes = NODES;
    synth.features = 60;
    synth.classes = CLASSES;
    assert_ok(w->ctx, graphss_synth_make(w->ctx, &w->past, &synth));
    if (dense) {
        enum { COLUMNS = 6 };
        float *value = malloc(NODES * COLUMNS * sizeof *value);
        graphss_rng rng = graphss_rng_make(5, 5);
        for (size_t i = 0; i < NODES * COLUMNS; i++)
            value[i] = (float)(graphss_rng_double(&rng) * 20 +
                               3 * (double)((w->past.label[i / COLUMNS] + (int)i) % CLASSES));
        graphss_features_destroy(w->ctx, &w->past.features);
        assert_ok(w->ctx,
            graphss_features_from_dense(w->ctx, &w->past.features, NODES, COLUMNS, value));
        assert_ok(w->ctx, graphss_dataset_refresh(w->ctx, &w->past));
        free(value);
    }
    assert_ok(
        w->ctx, graphss_split_make(w->ctx, &w->split, w->past.label, NODES, CLASSES, 1, NULL));
    attack(w);
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &w->past.graph,
        .features = &w->past.features,
        .n_classes = CLASSES,
        .split = &w->split,
        .seed = 1};
    graphss_train_options opt;
    graphss_train_options_init(&opt, type, GRAPHSS_MODE_DEFAULT, &w->past.features);
    opt.epochs = 30;
    assert_ok(w->ctx, graphss_model_train(w->ctx, &w->model, NULL, &in, &opt));
    const graphss_observation clean = graphss_dataset_observe(&w->past);
    assert_ok(w->ctx, graphss_alert_train(w->ctx, w->model, &clean, 1));
    testing_temporary(w->now_folder, sizeof w->now_folder, "now-shards");
    testing_temporary(w->past_folder, sizeof w->past_folder, "past-shards");
}

static void tear_down(world *w)
{
    remove_shards(w->now_folder);
    remove_shards(w->past_folder);
    graphss_model_free(w->ctx, w->model);
    graphss_split_destroy(w->ctx, &w->split);
    graphss_dataset_destroy(w->ctx, &w->past);
    graphss_dataset_destroy(w->ctx, &w->now);
    graphss_ctx_free(w->ctx);
}

static void write_shards(const world *w, const graphss_dataset *data, const char *folder,
    int ranks, unsigned scatter)
{
    int32_t *part = NULL;
    remove_shards(folder);
    assert_ok(w->ctx, graphss_partition_blocks(w->ctx, &part, NODES, (size_t)ranks));
    for (unsigned i = 0; i < NODES && scatter; i++)
        part[i] = (int32_t)((i * 2654435761u * scatter >> 11) % (unsigned)ranks);
    assert_ok(w->ctx, graphss_shards_write(w->ctx, NULL, data, part, (size_t)ranks, folder));
    graphss_release(w->ctx, part);
}

/* The result of one rank; alone: that of one machine. */
typedef struct found {
    const world *w;
    bool past, leads, silent; /* silent: results are not kept */
    graphss_alert_result alert;
    graphss_recover_result recovery;
    double *spread; /* [NODES x CLASSES] by label-propagation */
    size_t rows;    /* entries of the table after rows of the suspects came */
} found;

/* Results are kept in memory of the test, to outlive the context. */
static void *keep(const void *block, size_t bytes)
{
    void *out = block ? malloc(bytes ? bytes : 1) : NULL;
    return out ? memcpy(out, block, bytes) : NULL;
}

static graphss_recover_options spreading(const world *w)
{
    graphss_recover_options opt;
    graphss_recover_options_init(&opt, graphss_recover_method_find("label-propagation"),
        GRAPHSS_MODE_DEFAULT, w->model);
    return opt;
}

static void find_alone(found *f)
{
    const world *w = f->w;
    const graphss_observation before = graphss_dataset_observe(&w->past);
    const graphss_defence_input in = {.struct_size = sizeof in,
        .current = graphss_dataset_observe(&w->now),
        .previous = f->past ? &before : NULL,
        .model = w->model,
        .split = &w->split,
        .seed = 3};
    assert_ok(w->ctx, graphss_alert_run(w->ctx, &f->alert, &in, NULL, 0, NULL));
    assert_ok(w->ctx, graphss_recover_run(w->ctx, &f->recovery, &in, NULL));
    const graphss_recover_options opt = spreading(w);
    graphss_recover_result spread = {0};
    assert_ok(w->ctx, graphss_recover_run(w->ctx, &spread, &in, &opt));
    f->spread = keep(spread.predictions.posterior, NODES * CLASSES * sizeof(double));
    graphss_recover_result_destroy(w->ctx, &spread);
}

static void keep_results(
    found *f, const graphss_alert_result *a, const graphss_recover_result *r)
{
    f->alert = *a;
    f->alert.node_score = keep(a->node_score, NODES * sizeof(double));
    f->alert.node_p_value = keep(a->node_p_value, NODES * sizeof(double));
    f->alert.flagged = keep(a->flagged, a->n_flagged * sizeof(int32_t));
    f->alert.reason = keep(a->reason, a->n_flagged * sizeof *a->reason);
    f->recovery = *r;
    f->recovery.predictions.label = keep(r->predictions.label, NODES * sizeof(int32_t));
    f->recovery.predictions.posterior =
        keep(r->predictions.posterior, NODES * CLASSES * sizeof(double));
    f->recovery.predictions.perturbed = keep(r->predictions.perturbed, NODES * sizeof(double));
}

static void forget(found *f)
{
    free(f->alert.node_score);
    free(f->alert.node_p_value);
    free(f->alert.flagged);
    free(f->alert.reason);
    free(f->recovery.predictions.label);
    free(f->recovery.predictions.posterior);
    free(f->recovery.predictions.perturbed);
    free(f->spread);
}

static graphss_status find_on_part(graphss_ctx *ctx, void *arg)
{
    found *f = arg;
    const world *w = f->w;
    graphss_part *part = NULL, *past = NULL;
    graphss_dataset table = {0}, then = {0};
    graphss_alert_result alert = {0};
    graphss_recover_result recovery = {0}, spread = {0};
    graphss_alert_scores scores = {0};
    const graphss_recover_options opt = spreading(w);
    graphss_status st = graphss_part_open(ctx, &part, &table, w->now_folder);
    if (!st && f->past)
        st = graphss_part_open_past(ctx, &past, &then, w->past_folder, part, &table);
    graphss_part_input in;
    graphss_part_input_init(&in);
    in.current = part;
    in.table = &table;
    in.previous = past;
    in.model = w->model;
    in.split = &w->split;
    in.seed = 3;
    if (!st)
        st = graphss_part_alert(ctx, &alert, &in, NULL, 0, NULL);
    if (!st)
        st = graphss_part_score(ctx, &scores, &in, NULL);
    if (!st && memcmp(scores.score, alert.node_score, NODES * sizeof *scores.score) != 0)
        st = graphss_engine_agree(ctx, GRAPHSS_ERR_INTERNAL, "other scores");
    if (!st)
        st = graphss_part_recover(ctx, &recovery, &in, NULL);
    if (!st)
        st = graphss_part_recover(ctx, &spread, &in, &opt);
    if (!st)
        st = graphss_part_rows(ctx, &table, part, alert.flagged, alert.n_flagged);
    if (!st && !f->silent) {
        f->rows = (size_t)table.graph.offset[NODES];
        keep_results(f, &alert, &recovery);
        f->spread = keep(spread.predictions.posterior, NODES * CLASSES * sizeof(double));
    }
    graphss_recover_result_destroy(ctx, &spread);
    graphss_alert_scores_destroy(ctx, &scores);
    graphss_alert_result_destroy(ctx, &alert);
    graphss_recover_result_destroy(ctx, &recovery);
    graphss_dataset_destroy(ctx, &then);
    graphss_dataset_destroy(ctx, &table);
    graphss_part_close(ctx, past);
    graphss_part_close(ctx, part);
    return st;
}

static double farthest(const double *a, const double *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void compare(const found *f, const found *alone, const char *what)
{
    const graphss_alert_result *a = &f->alert, *b = &alone->alert;
    assert_int_equal(a->alert, b->alert);
    assert_true(a->p_value == b->p_value && a->threshold == b->threshold);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->n_calibration, b->n_calibration);
    assert_memory_equal(&a->changes, &b->changes, sizeof a->changes);
    if (farthest(a->node_score, b->node_score, NODES) > 1e-4)
        fail_msg(
            "%s: a score differs by %g", what, farthest(a->node_score, b->node_score, NODES));
    assert_int_equal(a->n_flagged, b->n_flagged);
    assert_memory_equal(a->flagged, b->flagged, a->n_flagged * sizeof *a->flagged);
    size_t edges = 0;
    for (size_t i = 0; i < a->n_flagged; i++) {
        assert_int_equal(a->reason[i].now, b->reason[i].now);
        assert_int_equal(a->reason[i].before, b->reason[i].before);
        assert_int_equal(a->reason[i].edges_added, b->reason[i].edges_added);
        assert_int_equal(a->reason[i].features_added, b->reason[i].features_added);
        assert_true(fabs(a->reason[i].p_edges - b->reason[i].p_edges) < 1e-4);
        edges += graphss_graph_degree(&f->w->now.graph, (size_t)a->flagged[i]);
    }
    assert_int_equal(f->rows, edges);
    const graphss_recover_result *r = &f->recovery, *s = &alone->recovery;
    assert_int_equal(r->kind, s->kind);
    assert_true(fabs(r->share - s->share) < 1e-4);
    assert_int_equal(r->changed, s->changed);
    assert_int_equal(r->predictions.label != NULL, f->leads);
    if (!f->leads)
        return;
    if (farthest(f->spread, alone->spread, NODES * CLASSES) > 1e-9)
        fail_msg("%s: labels spread otherwise by %g", what,
            farthest(f->spread, alone->spread, NODES * CLASSES));
    assert_memory_equal(r->predictions.label, s->predictions.label, NODES * sizeof(int32_t));
    if (farthest(r->predictions.posterior, s->predictions.posterior, NODES * CLASSES) > 1e-4 ||
        farthest(r->predictions.perturbed, s->predictions.perturbed, NODES) > 1e-4)
        fail_msg("%s: a posterior differs by %g, a chance by %g", what,
            farthest(r->predictions.posterior, s->predictions.posterior, NODES * CLASSES),
            farthest(r->predictions.perturbed, s->predictions.perturbed, NODES));
}

static void find_on(const world *w, int ranks, bool past, const found *alone)
{
    found each[TESTING_RANKS] = {0};
    testing_rank rank[TESTING_RANKS] = {0};
    char what[64];
    snprintf(what, sizeof what, "%d ranks, %s past", ranks, past ? "with a" : "no");
    for (int r = 0; r < ranks; r++) {
        each[r] = (found){.w = w, .past = past, .leads = r == 0};
        rank[r].arg = &each[r];
    }
    testing_run_ranks(rank, ranks, find_on_part);
    for (int r = 0; r < ranks; r++) {
        if (rank[r].status)
            fail_msg("%s: rank %d: %s", what, r, rank[r].error);
        compare(&each[r], alone, what);
        assert_int_equal(rank[r].blocks, 0);
        forget(&each[r]);
    }
}

static void run_kind(bool dense, const char *type)
{
    world w;
    set_up(&w, dense, type);
    for (int past = 0; past < 2; past++) {
        found alone = {.w = &w, .past = past};
        find_alone(&alone);
        for (int ranks = 1; ranks <= 4; ranks++) {
            write_shards(&w, &w.now, w.now_folder, ranks, ranks % 2);
            write_shards(&w, &w.past, w.past_folder, ranks, ranks > 2 ? 3 : 0);
            find_on(&w, ranks, past, &alone);
        }
        if (past) /* there is something to tell of */
            if (!alone.alert.alert || alone.alert.n_flagged < 10)
                fail_msg("%s: %zu suspects", type, alone.alert.n_flagged);
        graphss_alert_result_destroy(w.ctx, &alone.alert);
        graphss_recover_result_destroy(w.ctx, &alone.recovery);
        free(alone.spread);
    }
    tear_down(&w);
}

TEST(ranks_find_what_one_machine_finds)
{
    run_kind(false, "gcn");
    run_kind(true, "sage");
}

/* ---- the sampler ---- */

enum { DRAWN = 5000, DRAWN_STATES = 4 };

/* Likelihoods [DRAWN x DRAWN_STATES] that separate the states of the nodes more or less well.
 */
static void make_likelihoods(float *likelihood, double spread)
{
    graphss_rng rng = graphss_rng_make(21, 21);
    for (size_t i = 0; i < DRAWN; i++) {
        const double u = graphss_rng_double(&rng);
        const size_t truth = u < 0.7 ? 0 : u < 0.85 ? 1 : u < 0.97 ? 2 : 3;
        for (size_t s = 0; s < DRAWN_STATES; s++)
            likelihood[i * DRAWN_STATES + s] =
                (float)exp(spread * ((s == truth) + graphss_rng_normal(&rng) / 2));
    }
}

typedef struct drawing {
    const float *likelihood;
    double *state, *share; /* [DRAWN x DRAWN_STATES], [DRAWN_STATES] */
    int rank, ranks;
    uint64_t seed;
} drawing;

static bool is_fixed(size_t node)
{
    return node % 100 == 7;
}

/* Each rank has every so-manieth node. */
static graphss_status draw_states(graphss_ctx *ctx, void *arg)
{
    drawing *d = arg;
    graphss_i_group g = {0};
    int64_t id[DRAWN];
    graphss_i_part part = {.id = id};
    graphss_status st = graphss_i_group_open(ctx, &g, DRAWN, 1, DRAWN_STATES);
    for (size_t i = (size_t)d->rank; i < DRAWN && !st; i += (size_t)d->ranks) {
        id[g.m] = (int64_t)i;
        g.node[g.m] = (int32_t)g.m;
        g.fixed[g.m] = is_fixed(i);
        for (size_t s = 0; s < DRAWN_STATES; s++) {
            g.likelihood[s * g.room + g.m] = d->likelihood[i * DRAWN_STATES + s];
            g.prob[s * g.room + g.m] = 1;
        }
        g.m++;
    }
    graphss_i_ctx_set_part(ctx, &part);
    if (!st)
        st = graphss_i_group_infer(ctx, &g, d->seed, NULL);
    graphss_i_ctx_set_part(ctx, NULL);
    for (size_t i = 0; i < g.m && !st; i++)
        memcpy(d->state + (size_t)id[i] * DRAWN_STATES, g.state + i * DRAWN_STATES,
            DRAWN_STATES * sizeof *d->state);
    memcpy(d->share, g.share, DRAWN_STATES * sizeof *d->share);
    graphss_i_group_destroy(ctx, &g);
    return st;
}

TEST(states_have_the_same_bits_on_any_number_of_ranks)
{
    static float likelihood[DRAWN * DRAWN_STATES];
    static double one[DRAWN * DRAWN_STATES], many[DRAWN * DRAWN_STATES];
    double first[DRAWN_STATES];
    make_likelihoods(likelihood, 1.5);
    for (int ranks = 1; ranks <= 5; ranks++) {
        drawing each[TESTING_RANKS] = {0};
        testing_rank rank[TESTING_RANKS] = {0};
        double share[TESTING_RANKS][DRAWN_STATES];
        for (int r = 0; r < ranks; r++) {
            each[r] = (drawing){likelihood, ranks > 1 ? many : one, share[r], r, ranks, 4};
            rank[r].arg = &each[r];
        }
        testing_run_ranks(rank, ranks, draw_states);
        if (ranks == 1)
            memcpy(first, share[0], sizeof first);
        for (int r = 0; r < ranks; r++) {
            assert_int_equal(rank[r].status, GRAPHSS_OK);
            assert_int_equal(rank[r].blocks, 0);
            assert_memory_equal(share[r], first, sizeof first);
        }
        if (ranks > 1)
            assert_memory_equal(many, one, sizeof one);
    }
}

/* The collapsed sampler of graphss/selfsup.h, over the nodes that are not fixed. */
static void draw_collapsed(
    graphss_ctx *ctx, double *out, const float *likelihood, uint64_t seed)
{
    static float column[DRAWN_STATES][DRAWN], even[2 * DRAWN];
    graphss_state state[DRAWN_STATES] = {0};
    graphss_selfsup_result result = {0};
    size_t n = 0;
    for (size_t i = 0; i < DRAWN; i++) {
        for (size_t s = 0; s < DRAWN_STATES; s++)
            column[s][n] = likelihood[i * DRAWN_STATES + s];
        n += !is_fixed(i);
    }
    for (size_t i = 0; i < 2 * n; i++)
        even[i] = 0.5F;
    for (size_t s = 0; s < DRAWN_STATES; s++)
        state[s] =
            (graphss_state){.concentration = s ? TUNE_PRIOR_TAMPERED : TUNE_PRIOR_UNTOUCHED,
                .likelihood = column[s]};
    const graphss_selfsup_input in = {.struct_size = sizeof in,
        .n = n,
        .n_classes = 2,
        .prob = even,
        .state = state,
        .n_states = DRAWN_STATES,
        .seed = seed};
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    opt.chains = 2;
    opt.sweeps = 400;
    opt.burn_in = 260;
    assert_ok(ctx, graphss_selfsup_run(ctx, &result, &in, &opt));
    const double *from = result.state;
    for (size_t i = 0; i < DRAWN; i++)
        if (!is_fixed(i)) {
            memcpy(out + i * DRAWN_STATES, from, DRAWN_STATES * sizeof *out);
            from += DRAWN_STATES;
        }
    graphss_selfsup_result_destroy(ctx, &result);
}

static double mean_difference(const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < DRAWN * DRAWN_STATES; i++)
        sum += is_fixed(i / DRAWN_STATES) ? 0 : fabs(a[i] - b[i]);
    return sum / (DRAWN * DRAWN_STATES);
}

/* Runs of both samplers differ as those of the collapsed one do among themselves. */
TEST(the_sampler_finds_what_the_collapsed_one_finds)
{
    enum { RUNS = 4 };
    static float likelihood[DRAWN * DRAWN_STATES];
    static double collapsed[RUNS][DRAWN * DRAWN_STATES], blocked[DRAWN * DRAWN_STATES];
    graphss_ctx *ctx = testing_ctx(NULL, 1);
    for (int hard = 0; hard < 2; hard++) {
        double share[DRAWN_STATES], own = 0, across = 0;
        make_likelihoods(likelihood, hard ? 1.2 : 3);
        for (size_t run = 0; run < RUNS; run++) {
            draw_collapsed(ctx, collapsed[run], likelihood, 30 + run);
            for (size_t other = 0; other < run; other++)
                own += mean_difference(collapsed[run], collapsed[other]);
        }
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            drawing d = {likelihood, blocked, share, 0, 1, seed};
            assert_ok(ctx, draw_states(ctx, &d));
            for (size_t run = 0; run < RUNS; run++)
                across += mean_difference(blocked, collapsed[run]);
        }
        own /= RUNS * (RUNS - 1) / 2.0;
        across /= RUNS * RUNS;
        printf("mean difference %g, of two collapsed runs %g\n", across, own);
        if (across > 1.5 * own)
            fail_msg("mean difference %g, of two collapsed runs %g", across, own);
    }
    graphss_ctx_free(ctx);
}

/* ---- the rehearsal ---- */

typedef struct rehearsed {
    const world *w;
    const char *model; /* a file */
    size_t most;       /* nodes of a sample */
    double *value;     /* what was learned */
    size_t size;
    bool silent;
} rehearsed;

static graphss_status rehearse_on_part(graphss_ctx *ctx, void *arg)
{
    rehearsed *t = arg;
    graphss_part *part = NULL;
    graphss_dataset table = {0};
    graphss_model *model = NULL;
    graphss_status st = graphss_part_open(ctx, &part, &table, t->w->past_folder);
    if (!st)
        st = graphss_model_load(ctx, &model, t->model);
    if (!st)
        graphss_i_model_drop(ctx, model, GRAPHSS_I_KEPT_STATES);
    if (!st)
        st = t->most == NODES ? graphss_part_rehearse(ctx, model, part, 1)
                              : graphss_i_part_rehearse(ctx, model, &part->own, 1, t->most);
    if (!st && !t->silent) {
        const graphss_i_model_kept *kept = &model->kept[GRAPHSS_I_KEPT_STATES];
        t->size = kept->rows * kept->cols;
        t->value = keep(kept->value, t->size * sizeof *t->value);
    }
    graphss_model_free(ctx, model);
    graphss_dataset_destroy(ctx, &table);
    graphss_part_close(ctx, part);
    return st;
}

/* On this many ranks; *first: the result of the first run. */
static void rehearse_on(
    const world *w, const char *model, int ranks, size_t most, rehearsed *first)
{
    rehearsed each[TESTING_RANKS] = {0};
    testing_rank rank[TESTING_RANKS] = {0};
    for (int r = 0; r < ranks; r++) {
        each[r] = (rehearsed){.w = w, .model = model, .most = most};
        rank[r].arg = &each[r];
    }
    testing_run_ranks(rank, ranks, rehearse_on_part);
    for (int r = 0; r < ranks; r++) {
        if (rank[r].status)
            fail_msg("rank %d of %d: %s", r, ranks, rank[r].error);
        assert_int_equal(rank[r].blocks, 0);
        if (!first->value) {
            *first = each[r];
            continue;
        }
        assert_int_equal(each[r].size, first->size);
        assert_memory_equal(each[r].value, first->value, first->size * sizeof *first->value);
        free(each[r].value);
    }
}

TEST(a_rehearsal_does_not_depend_on_the_ranks)
{
    world w;
    char path[256];
    set_up(&w, false, "gcn");
    testing_temporary(path, sizeof path, "rehearsed.model");
    assert_ok(w.ctx, graphss_model_save(w.ctx, w.model, path));
    const graphss_i_model_kept *kept = &w.model->kept[GRAPHSS_I_KEPT_STATES];
    rehearsed whole = {.size = kept->rows * kept->cols};
    rehearsed part = {0};
    whole.value = keep(kept->value, whole.size * sizeof *whole.value);
    for (int ranks = 1; ranks <= 3; ranks++) {
        write_shards(&w, &w.past, w.past_folder, ranks, ranks > 1 ? 5 : 0);
        rehearse_on(&w, path, ranks, NODES, &whole);
        rehearse_on(&w, path, ranks, 400, &part);
    }
    assert_memory_not_equal(part.value, whole.value, whole.size * sizeof *whole.value);
    free(part.value);
    free(whole.value);
    write_shards(&w, &w.past, w.past_folder, 1, 0);
    rehearsed alone = {.w = &w, .model = path, .most = NODES, .silent = true};
    testing_allocations_fail(rehearse_on_part, &alone, 30);
    (void)unlink(path);
    tear_down(&w);
}

TEST(each_allocation_of_one_rank_fails)
{
    world w;
    set_up(&w, false, "gcn");
    write_shards(&w, &w.now, w.now_folder, 2, 1);
    write_shards(&w, &w.past, w.past_folder, 2, 3);
    size_t failures = 0;
    for (long most = 1;; most += most < 10 ? 7 : most / 5) {
        found each[2] = {0};
        testing_rank rank[TESTING_RANKS] = {0};
        rank[failures % 2].most = most;
        for (int r = 0; r < 2; r++) {
            each[r] = (found){.w = &w, .past = true, .silent = true};
            rank[r].arg = &each[r];
        }
        testing_run_ranks(rank, 2, find_on_part);
        for (int r = 0; r < 2; r++) {
            if (rank[r].blocks)
                fail_msg(
                    "rank %d keeps %ld blocks when %ld are granted", r, rank[r].blocks, most);
            assert_int_equal(rank[r].status, rank[0].status);
        }
        if (!rank[0].status)
            break;
        assert_int_equal(rank[0].status, GRAPHSS_ERR_NOMEM);
        failures++;
    }
    assert_true(failures > 10);
    tear_down(&w);
}

/* ---- a recovery that is stopped ---- */

/* A rank of it, and the text of its error. */
typedef struct stopped {
    const world *w;
    const char *journal;
    bool past;
    uint64_t seed;
    int32_t label[NODES]; /* rank 0: the result */
    double perturbed[NODES];
} stopped;

static graphss_status recover_with_journal(graphss_ctx *ctx, void *arg)
{
    stopped *f = arg;
    graphss_part *part = NULL, *past = NULL;
    graphss_dataset table = {0}, then = {0};
    graphss_recover_result made = {0};
    graphss_status st = graphss_part_open(ctx, &part, &table, f->w->now_folder);
    if (!st && f->past)
        st = graphss_part_open_past(ctx, &past, &then, f->w->past_folder, part, &table);
    graphss_part_input in;
    graphss_part_input_init(&in);
    in.current = part;
    in.table = &table;
    in.previous = past;
    in.model = f->w->model;
    in.split = &f->w->split;
    in.seed = f->seed;
    if (!st)
        st = graphss_engine_agree(
            ctx, graphss_ctx_checkpoint(ctx, f->journal, table.hash, 0), NULL);
    if (!st)
        st = graphss_part_recover(ctx, &made, &in, NULL);
    if (!st && made.predictions.label) {
        memcpy(f->label, made.predictions.label, sizeof f->label);
        memcpy(f->perturbed, made.predictions.perturbed, sizeof f->perturbed);
    }
    graphss_recover_result_destroy(ctx, &made);
    graphss_dataset_destroy(ctx, &then);
    graphss_dataset_destroy(ctx, &table);
    graphss_part_close(ctx, past);
    graphss_part_close(ctx, part);
    return st;
}

/* Recovers on this many ranks, the last of which has this many allocations (0: no limit);
 * *granted is how many it had. */
static graphss_status run_stopped(
    const world *w, stopped *like, int ranks, long most, long *granted, char error[1024])
{
    stopped *each = calloc(TESTING_RANKS, sizeof *each);
    testing_rank rank[TESTING_RANKS] = {0};
    assert_non_null(each);
    write_shards(w, &w->now, w->now_folder, ranks, ranks % 2);
    write_shards(w, &w->past, w->past_folder, ranks, 0);
    for (int r = 0; r < ranks; r++) {
        each[r] = *like;
        rank[r].arg = &each[r];
    }
    rank[ranks - 1].most = most;
    testing_run_ranks(rank, ranks, recover_with_journal);
    for (int r = 0; r < ranks; r++)
        assert_int_equal(rank[r].blocks, 0);
    *granted = rank[ranks - 1].granted;
    snprintf(error, 1024, "%s", rank[0].error);
    const graphss_status st = rank[0].status;
    *like = each[0];
    free(each);
    return st;
}

/* Bytes of the file of a rank, -1 without one; cut: that many of its last are removed. */
static long size_of(const char *journal, int rank, long cut)
{
    char path[512];
    snprintf(path, sizeof path, "%s/rank-%05d", journal, rank);
    FILE *file = fopen(path, "r+b");
    if (!file)
        return -1;
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    if (cut && size) {
        size -= cut % size;
        assert_int_equal(ftruncate(fileno(file), size), 0);
    }
    assert_int_equal(fclose(file), 0);
    return size;
}

static void expect_same(const stopped *f, const found *alone)
{
    const graphss_predictions *p = &alone->recovery.predictions;
    assert_memory_equal(f->label, p->label, sizeof f->label);
    assert_true(farthest(f->perturbed, p->perturbed, NODES) < 1e-4);
}

/* Stopped at some of its allocations, with its last record torn, it continues on more ranks or
 * fewer and finds what an uninterrupted one finds. */
static void stop_and_go_on(const world *w, bool past, const char *journal)
{
    enum { TIMES = 12 };
    char error[1024];
    long granted = 0, all = 0;
    found alone = {.w = w, .past = past};
    find_alone(&alone);
    stopped run = {.w = w, .past = past, .journal = journal, .seed = 3};
    assert_ok(w->ctx, run_stopped(w, &run, 2, 0, &all, error));
    expect_same(&run, &alone);
    const long first = size_of(journal, 0, 0), second = size_of(journal, 1, 0);
    assert_true(first > 0 && second > 0);
    assert_ok(w->ctx, run_stopped(w, &run, 3, 0, &granted, error)); /* all of it is there */
    expect_same(&run, &alone);
    assert_int_equal(size_of(journal, 0, 0), first);
    assert_int_equal(size_of(journal, 1, 0), second);
    assert_int_equal(size_of(journal, 2, 0), -1);
    assert_ok(w->ctx, graphss_checkpoint_remove(w->ctx, journal));
    size_t kept = 0;
    for (int t = 0; t < TIMES; t++) {
        const int ranks = 1 + t % 3;
        assert_int_equal(
            run_stopped(w, &run, ranks, all / 3 + all * t / TIMES / 2, &granted, error),
            GRAPHSS_ERR_NOMEM);
        kept += size_of(journal, 0, t % 2 ? 777 * t : 0) > 0;
        assert_ok(w->ctx, run_stopped(w, &run, 3 - t % 2, 0, &granted, error));
        expect_same(&run, &alone);
        assert_ok(w->ctx, graphss_checkpoint_remove(w->ctx, journal));
    }
    assert_true(kept > 0);
    graphss_alert_result_destroy(w->ctx, &alone.alert);
    graphss_recover_result_destroy(w->ctx, &alone.recovery);
    free(alone.spread);
}

TEST(a_recovery_that_was_stopped_goes_on)
{
    world w;
    char journal[256], path[512], error[1024];
    long granted;
    testing_temporary(journal, sizeof journal, "journal");
    set_up(&w, false, "gcn");
    stop_and_go_on(&w, false, journal);
    stop_and_go_on(&w, true, journal);

    /* of another seed; damaged; no journal at all */
    stopped run = {.w = &w, .journal = journal, .seed = 3};
    assert_ok(w.ctx, run_stopped(&w, &run, 2, 0, &granted, error));
    run.seed = 4;
    assert_int_equal(run_stopped(&w, &run, 2, 0, &granted, error), GRAPHSS_ERR_DATA);
    assert_non_null(strstr(error, "of another recovery"));
    run.seed = 3;
    snprintf(path, sizeof path, "%s/rank-00001", journal);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 200, SEEK_SET), 0);
    assert_true(fputc('x', file) == 'x' && fputc('y', file) == 'y');
    assert_int_equal(fclose(file), 0);
    assert_int_equal(run_stopped(&w, &run, 2, 0, &granted, error), GRAPHSS_ERR_DATA);
    assert_non_null(strstr(error, "rank-00001: the record at byte 0 is damaged"));
    file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 500; i++)
        fputc('?', file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(run_stopped(&w, &run, 2, 0, &granted, error), GRAPHSS_ERR_DATA);
    assert_ok(w.ctx, graphss_checkpoint_remove(w.ctx, journal));
    assert_ok(w.ctx, graphss_checkpoint_remove(w.ctx, journal));
    tear_down(&w);
}

TEST(a_context_alone_is_one_rank)
{
    world w;
    set_up(&w, false, "gcn");
    write_shards(&w, &w.now, w.now_folder, 1, 0);
    write_shards(&w, &w.past, w.past_folder, 1, 0);
    found f = {.w = &w, .past = true, .silent = true};
    testing_allocations_fail(find_on_part, &f, 40);
    tear_down(&w);
}

int main(void)
{
    return testing_run();
}
