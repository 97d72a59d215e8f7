/* nettack.c - Nettack (Zuegner, Akbarnejad, Guennemann, KDD 2018): greedy changes of edges
 * and words that lower the margin of a linear surrogate, A_hat^2 X W, most.
 *
 * Each victim is an attack of its own on the graph it meets: the unnoticeability tests compare
 * with that graph. Cumulative attacks run one after the other on one workspace; independent
 * ones in parallel, and each worker undoes its changes. */
#include "attack/nettack/nettack.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct record {
    graphss_flip flip;
    graphss_attack_step step;
} record;

/* One victim's attack: where it writes, and its result. */
typedef struct attempt {
    int32_t u;
    graphss_i_attack_budget budget;
    record *made; /* [wanted] */
    size_t n_made;
    graphss_attack_victim result;
    bool no_room; /* it could not be done without allocating */
} attempt;

static void note_edge(
    attempt *a, const graphss_i_nettack_edge *edge, bool joined, int64_t n_words)
{
    a->made[a->n_made++] =
        (record){.flip = {a->u, GRAPHSS_FLIP_EDGE, edge->a, edge->b, joined, !joined, 0},
            .step = {.loss = edge->score, .n_edges = edge->candidates, .n_features = n_words}};
    a->result.n_edges++;
    a->result.loss_after = edge->score;
}

static void note_word(
    attempt *a, const graphss_i_nettack_feature *word, int32_t node, int64_t n_edges)
{
    a->made[a->n_made++] = (record){.flip = {a->u, GRAPHSS_FLIP_FEATURE, node, word->word,
                                        (float)word->old_value, (float)word->new_value, 0},
        .step = {.loss = word->score, .n_edges = n_edges, .n_features = word->candidates}};
    a->result.n_features++;
    a->result.loss_after = word->score;
}

static void settle_all(graphss_i_nettack_work *work)
{
    for (size_t t = 0; t < work->n_targets; t++)
        if (work->unsettled[t])
            graphss_i_nettack_settle(work, t);
}

/* Makes up to `steps` changes, each the best of the allowed edges and words. An edge must be
 * strictly better than the best word. */
static void phase(
    graphss_i_nettack_work *work, attempt *a, bool edges, bool words, size_t steps)
{
    const size_t label = (size_t)work->shared->in->label[a->u];
    const graphss_attack_options *opt = work->shared->opt;
    if (steps == 0)
        return;
    if (edges)
        graphss_i_degree_test_start(&work->degrees, work->count, work->max_degree,
            opt->delta_cutoff, opt->mode == GRAPHSS_MODE_PAPER);
    if (words) {
        graphss_i_nettack_features_begin(work);
        graphss_i_nettack_features_reach(work, a->u);
    }
    for (size_t step = 0; step < steps; step++) {
        graphss_i_nettack_edge edge = {.a = -1, .score = INFINITY};
        graphss_i_nettack_feature word = {.word = -1, .score = INFINITY};
        if (edges) {
            settle_all(work);
            edge = graphss_i_nettack_best_edge(work, a->u, label);
        }
        if (words)
            word = graphss_i_nettack_best_feature(work, label);
        if (edge.a < 0 && word.word < 0)
            return;
        if (edge.a >= 0 && edge.score < word.score) {
            const int32_t d_a = work->adj.length[edge.a], d_b = work->adj.length[edge.b];
            const bool joined = graphss_i_rows_has(&work->adj, (size_t)edge.a, edge.b);
            if (!graphss_i_nettack_flip(work, edge.a, edge.b)) {
                a->no_room = true;
                return;
            }
            graphss_i_degree_test_move(&work->degrees, d_a, d_b, joined ? -1 : 1);
            graphss_i_nettack_set_victim(work, a->u);
            if (words)
                graphss_i_nettack_features_reach(work, a->u);
            note_edge(a, &edge, joined, word.candidates);
        } else {
            graphss_i_nettack_change_feature(work, label, &word);
            note_word(a, &word, work->target[word.target], edge.candidates);
        }
    }
}

static void attack_victim(graphss_i_nettack_work *work, attempt *a)
{
    const size_t label = (size_t)work->shared->in->label[a->u];
    const graphss_i_attack_budget b = a->budget;
    a->n_made = 0;
    a->no_room = false;
    a->result =
        (graphss_attack_victim){.node = a->u, .wanted = b.edges + b.features + b.either};
    graphss_i_nettack_set_victim(work, a->u);
    graphss_i_nettack_wrong(&a->result.loss_before, work->logits, work->shared->k, label);
    a->result.loss_after = a->result.loss_before;
    graphss_i_nettack_targets(work, a->u, label);
    memset(work->unsettled, 0, work->n_targets * sizeof *work->unsettled);
    memset(work->rewritten, 0, work->n_targets * sizeof *work->rewritten);
    phase(work, a, true, false, b.edges);
    if (!a->no_room)
        phase(work, a, false, true, b.features);
    if (!a->no_room)
        phase(work, a, true, true, b.either);
}

/* ---- cumulative ---- */

/* Makes the victim's changed features visible to later victims. */
static graphss_status commit_words(
    graphss_ctx *ctx, graphss_i_nettack_shared *shared, graphss_i_nettack_work *work)
{
    graphss_status st = GRAPHSS_OK;
    const size_t d = shared->d;
    int32_t *old = NULL, *column = NULL;
    double *value = NULL;
    settle_all(work);
    for (size_t t = 0; t < work->n_targets && !st; t++) {
        if (!work->rewritten[t])
            continue;
        const size_t i = (size_t)work->target[t], n_old = (size_t)shared->x.length[i];
        size_t n = 0;
        old = graphss_i_copy(ctx, shared->x.column[i], n_old, sizeof *old);
        column = graphss_i_alloc(ctx, work->n_candidates[t], sizeof *column);
        value = graphss_i_alloc(ctx, work->n_candidates[t], sizeof *value);
        if (!old || !column || !value) {
            st = GRAPHSS_ERR_NOMEM;
        } else {
            for (size_t e = 0; e < work->n_candidates[t]; e++) {
                column[n] = work->candidate[t * d + e];
                value[n] = work->value[t * d + (size_t)column[n]];
                n += value[n] != 0;
            }
            st = graphss_i_feature_index_replace(ctx, &shared->x, i, column, value, n);
            if (!st && shared->opt->cooccurrence_test)
                graphss_i_cooccur_update(&shared->together, old, n_old, column, n);
        }
        graphss_release(ctx, value);
        graphss_release(ctx, column);
        graphss_release(ctx, old);
    }
    return st;
}

static graphss_status append(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    size_t *step_room, const attempt *a)
{
    for (size_t i = 0; i < a->n_made; i++) {
        const graphss_status st = graphss_flips_add(ctx, out, a->made[i].flip);
        if (st)
            return st;
        if (log->n_steps == *step_room) {
            const size_t room = *step_room ? 2 * *step_room : 256;
            graphss_attack_step *grown =
                graphss_i_grow(ctx, log->step, log->n_steps, room, sizeof *grown);
            if (!grown)
                return GRAPHSS_ERR_NOMEM;
            log->step = grown;
            *step_room = room;
        }
        log->step[log->n_steps++] = a->made[i].step;
    }
    log->victim[log->n_victims++] = a->result;
    return GRAPHSS_OK;
}

static graphss_status run_cumulative(graphss_ctx *ctx, graphss_flips *out,
    graphss_attack_log *log, graphss_i_nettack_shared *shared)
{
    const graphss_attack_input *in = shared->in;
    graphss_i_nettack_work work = {0};
    attempt a = {0};
    size_t room = 0, step_room = 0;
    graphss_status st = graphss_i_nettack_work_init(ctx, &work, shared, NULL);
    if (st)
        return st;
    work.ctx = ctx;
    for (size_t i = 0; i < in->n_victims && !st; i++) {
        a.u = in->victim[i];
        a.budget = shared->each ? shared->each[i]
                                : graphss_i_attack_budget_of(
                                      shared->opt, in, a.u, (size_t)work.adj.length[a.u]);
        const size_t wanted = a.budget.edges + a.budget.features + a.budget.either;
        if (wanted > room) {
            graphss_release(ctx, a.made);
            a.made = graphss_i_alloc(ctx, wanted, sizeof *a.made);
            room = a.made ? wanted : 0;
        }
        if (wanted > room) {
            st = GRAPHSS_ERR_NOMEM;
            break;
        }
        attack_victim(&work, &a);
        if (a.no_room)
            st = GRAPHSS_ERR_NOMEM;
        if (!st)
            st = commit_words(ctx, shared, &work);
        if (!st)
            st = append(ctx, out, log, &step_room, &a);
        if (!st)
            st = shared->quiet ? graphss_i_pulse(ctx)
                               : graphss_i_progress(ctx, "attack", i + 1, in->n_victims, NULL);
    }
    graphss_release(ctx, a.made);
    graphss_i_nettack_work_destroy(ctx, &work);
    return st;
}

/* ---- independent ---- */

typedef struct team {
    graphss_i_nettack_work *work; /* [n_work] */
    attempt *attempt;             /* those of this batch */
    size_t n;
    atomic_size_t next;
} team;

static void attack_some(void *arg, size_t task)
{
    team *t = arg;
    for (;;) {
        const size_t i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        if (i >= t->n)
            return;
        attack_victim(&t->work[task], &t->attempt[i]);
        graphss_i_nettack_reset(&t->work[task]);
    }
}

/* Attacks a batch in parallel, then those that lacked memory one by one, with the
 * allocator. */
static graphss_status run_batch(graphss_ctx *ctx, team *t, size_t n_work)
{
    atomic_store(&t->next, 0);
    graphss_i_parallel(ctx, n_work, attack_some, t);
    graphss_status st = GRAPHSS_OK;
    t->work[0].ctx = ctx;
    for (size_t i = 0; i < t->n && !st; i++) {
        if (!t->attempt[i].no_room)
            continue;
        attack_victim(&t->work[0], &t->attempt[i]);
        graphss_i_nettack_reset(&t->work[0]);
        if (t->attempt[i].no_room)
            st = GRAPHSS_ERR_NOMEM;
    }
    t->work[0].ctx = NULL;
    return st;
}

static graphss_status run_independent(graphss_ctx *ctx, graphss_flips *out,
    graphss_attack_log *log, graphss_i_nettack_shared *shared)
{
    /* Victims between two progress reports, and their approximate number of changes. */
    enum { BATCH = 256, RECORDS = 1 << 18 };
    const graphss_attack_input *in = shared->in;
    graphss_status st = GRAPHSS_OK;
    size_t n_work = graphss_ctx_threads(ctx), step_room = 0, room = 0, work_made = 0;
    attempt *a = NULL;
    record *made = NULL;
    n_work = n_work < in->n_victims ? n_work : in->n_victims;
    team t = {.work = graphss_i_calloc(ctx, n_work, sizeof *t.work)};
    a = graphss_i_calloc(ctx, BATCH, sizeof *a);
    if (!t.work || !a) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    for (; work_made < n_work && !st; work_made += !st) {
        graphss_i_nettack_work *work = &t.work[work_made];
        st = graphss_i_nettack_work_init(ctx, work, shared, work_made ? t.work : NULL);
        if (!st)
            st = graphss_i_rows_reserve(ctx, &work->adj, 4 * (work->max_degree + 16));
        if (st)
            graphss_i_nettack_work_destroy(ctx, work);
    }
    for (size_t from = 0; from < in->n_victims && !st; from += t.n) {
        const size_t left = in->n_victims - from;
        size_t wanted = 0;
        t.attempt = a;
        for (t.n = 0; t.n < left && t.n < BATCH && wanted < RECORDS; t.n++) {
            attempt *next = &a[t.n];
            next->u = in->victim[from + t.n];
            next->budget = graphss_i_attack_budget_of(
                shared->opt, in, next->u, graphss_graph_degree(in->graph, (size_t)next->u));
            wanted += next->budget.edges + next->budget.features + next->budget.either;
        }
        if (wanted > room) {
            graphss_release(ctx, made);
            made = graphss_i_alloc(ctx, wanted, sizeof *made);
            room = made ? wanted : 0;
        }
        if (wanted > room) {
            st = GRAPHSS_ERR_NOMEM;
            break;
        }
        for (size_t i = 0, at = 0; i < t.n; i++) {
            a[i].made = made + at;
            at += a[i].budget.edges + a[i].budget.features + a[i].budget.either;
        }
        st = run_batch(ctx, &t, n_work);
        for (size_t i = 0; i < t.n && !st; i++)
            st = append(ctx, out, log, &step_room, &a[i]);
        if (!st)
            st = graphss_i_progress(ctx, "attack", from + t.n, in->n_victims, NULL);
    }
done:
    for (size_t i = 0; i < work_made; i++)
        graphss_i_nettack_work_destroy(ctx, &t.work[i]);
    graphss_release(ctx, made);
    graphss_release(ctx, a);
    graphss_release(ctx, t.work);
    return st;
}

static graphss_status run(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    if (in->features->n_cols == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "nettack's surrogate works on features, the data has none");
    for (size_t e = 0; e < in->features->n_cols * in->n_classes; e++)
        if (!isfinite(in->surrogate[e]))
            return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "the surrogate's weight [%zu][%zu] is not a finite number", e / in->n_classes,
                e % in->n_classes);
    log->victim = graphss_i_alloc(ctx, in->n_victims, sizeof *log->victim);
    if (!log->victim)
        return GRAPHSS_ERR_NOMEM;
    if (in->n_victims == 0)
        return GRAPHSS_OK;
    graphss_i_nettack_shared shared = {0};
    graphss_status st = graphss_i_nettack_shared_init(ctx, &shared, in, opt, NULL);
    if (st)
        return st;
    st = opt->independent ? run_independent(ctx, out, log, &shared)
                          : run_cumulative(ctx, out, log, &shared);
    graphss_i_nettack_shared_destroy(ctx, &shared);
    return st;
}

graphss_status graphss_i_nettack_each(graphss_ctx *ctx, graphss_flips *out,
    const graphss_attack_input *in, const graphss_attack_options *opt,
    const graphss_i_attack_budget *each, size_t stride, const graphss_i_ground *ground)
{
    graphss_i_nettack_shared shared = {0};
    graphss_attack_log log = {
        .victim = graphss_i_alloc(ctx, in->n_victims, sizeof *log.victim)};
    graphss_status st = log.victim
                            ? graphss_i_nettack_shared_init(ctx, &shared, in, opt, ground)
                            : GRAPHSS_ERR_NOMEM;
    if (!st) {
        shared.each = each;
        shared.quiet = true;
        shared.stride = stride;
        st = run_cumulative(ctx, out, &log, &shared);
        graphss_i_nettack_shared_destroy(ctx, &shared);
    }
    graphss_attack_log_destroy(ctx, &log);
    return st;
}

const graphss_i_attack_method graphss_i_nettack_attack = {
    .name = "nettack",
    .summary = "greedy on a linear surrogate, links and features (Zuegner et al. 2018)",
    .needs_surrogate = true,
    .paper = true,
    .tests = true,
    .domain = true,
    .run = run,
};
