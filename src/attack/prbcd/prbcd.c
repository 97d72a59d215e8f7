/* prbcd.c - projected randomised block coordinate descent (Geisler et al., NeurIPS 2021) on
 * edges, against the real model.
 *
 * For each victim a block of random pairs (victim, u) gets strengths p, which follow the
 * gradient of the margin and are projected back onto 0 <= p <= 1, sum p <= budget. Pairs that
 * stay at 0 are replaced by new random ones, so that a small block covers the whole graph in
 * time. In the end sets of `budget` pairs are drawn from p, and the one with the largest
 * margin on the real graph is taken. For one victim the published tanh of the margin has the
 * margin's own direction, and steps are scaled by the largest slope, so it is left out. The
 * victim's present edges stand in the first block, as cuts. */
#include "attack/attack_method.h"
#include "attack/prbcd/local_net.h"
#include <math.h>
#include <string.h>

enum {
    BLOCK = 512,  /* pairs optimised together */
    EPOCHS = 36,  /* gradient steps */
    RESAMPLE = 4, /* steps between two blocks */
    SETTLED = 12, /* last steps, without new pairs */
    SAMPLES = 20  /* sets drawn from p in the end */
};
static const double step_size = 0.4, forgotten = 1e-3;

void graphss_i_project_budget(double *p, size_t n, double budget)
{
    double sum = 0, top = 0;
    for (size_t i = 0; i < n; i++) {
        const double q = fmin(fmax(p[i], 0), 1);
        sum += q;
        top = fmax(top, p[i]);
    }
    double low = 0, high = sum > budget ? top : 0;
    /* sum clip(p - mu) falls from above the budget to 0 between the two */
    for (int i = 0; i < 60 && high > 0; i++) {
        const double mu = (low + high) / 2;
        sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += fmin(fmax(p[k] - mu, 0), 1);
        if (sum > budget)
            low = mu;
        else
            high = mu;
    }
    for (size_t i = 0; i < n; i++)
        p[i] = fmin(fmax(p[i] - high, 0), 1);
}

typedef struct search {
    const graphss_attack_input *in;
    graphss_i_local_model lm;
    graphss_i_rows edges;
    graphss_rng rng;
    int32_t victim;
    size_t budget, b;  /* b pairs in the block */
    uint8_t *in_block; /* [n] */
    int32_t pair[BLOCK], order[BLOCK];
    double p[BLOCK], grad[BLOCK], trial[BLOCK], best[BLOCK];
} search;

static bool may_flip(const search *s, int32_t other)
{
    return other != s->victim && !s->in_block[other] &&
           (!graphss_i_rows_has(&s->edges, (size_t)s->victim, other) ||
               (s->edges.length[other] > 1 && s->edges.length[s->victim] > 1));
}

static void add_pair(search *s, int32_t other)
{
    s->in_block[other] = 1;
    s->pair[s->b] = other;
    s->p[s->b++] = 0;
}

/* Adds random pairs until the block is full or no new ones are found. */
static void fill_block(search *s)
{
    const size_t n = s->edges.n;
    for (int tries = 0; s->b < BLOCK && tries < 4 * BLOCK; tries++) {
        const int32_t other = (int32_t)graphss_rng_below(&s->rng, n);
        if (may_flip(s, other))
            add_pair(s, other);
    }
    /* On a small graph random draws miss some pairs. */
    for (size_t i = 0; n <= 4 * BLOCK && s->b < BLOCK && i < n; i++)
        if (may_flip(s, (int32_t)i))
            add_pair(s, (int32_t)i);
}

static void first_block(search *s)
{
    const graphss_i_rows *edges = &s->edges;
    s->b = 0;
    for (int32_t e = 0; e < edges->length[s->victim] && s->b < BLOCK / 2; e++)
        if (may_flip(s, edges->item[s->victim][e]))
            add_pair(s, edges->item[s->victim][e]);
    fill_block(s);
}

static void next_block(search *s)
{
    size_t kept = 0;
    for (size_t c = 0; c < s->b; c++) {
        if (s->p[c] > forgotten) {
            s->pair[kept] = s->pair[c];
            s->p[kept++] = s->p[c];
        } else {
            s->in_block[s->pair[c]] = 0;
        }
    }
    s->b = kept;
    fill_block(s);
}

static void climb(search *s, graphss_i_local_net *net, int epoch)
{
    graphss_i_local_net_margin(net, s->grad, s->p);
    double top = 0;
    for (size_t c = 0; c < s->b; c++)
        top = fmax(top, fabs(s->grad[c]));
    if (!(top > 0))
        return;
    const double step = step_size / sqrt(1 + epoch / 4.0);
    for (size_t c = 0; c < s->b; c++)
        s->p[c] += step * s->grad[c] / top;
    graphss_i_project_budget(s->p, s->b, (double)s->budget);
}

/* The pairs by falling p, then falling slope. */
static void sort_pairs(search *s)
{
    for (size_t i = 0; i < s->b; i++) {
        size_t at = i;
        while (at > 0) {
            const size_t o = (size_t)s->order[at - 1];
            if (s->p[o] > s->p[i] || (s->p[o] == s->p[i] && s->grad[o] >= s->grad[i]))
                break;
            s->order[at] = s->order[at - 1];
            at--;
        }
        s->order[at] = (int32_t)i;
    }
}

/* Puts pair c into the trial set; not the cut that would leave the victim alone. */
static bool take(search *s, const graphss_i_local_net *net, int32_t c, int32_t *cuts)
{
    const bool cut = net->sign[c] < 0;
    if (s->trial[c] != 0 || (cut && *cuts + 1 >= s->edges.length[s->victim]))
        return false;
    *cuts += cut;
    s->trial[c] = 1;
    return true;
}

/* Sets of `budget` pairs: the strongest ones, then draws in which each pair is taken with
 * its p, filled up from the strongest. The empty set counts too. */
static void choose_set(search *s, graphss_i_local_net *net)
{
    memset(s->best, 0, s->b * sizeof *s->best);
    double best = graphss_i_local_net_margin(net, s->grad, s->best);
    sort_pairs(s);
    for (int draw = 0; draw < SAMPLES; draw++) {
        size_t left = s->budget;
        int32_t cuts = 0;
        memset(s->trial, 0, s->b * sizeof *s->trial);
        for (size_t i = 0; draw > 0 && left > 0 && i < s->b; i++)
            if (graphss_rng_double(&s->rng) < s->p[s->order[i]])
                left -= take(s, net, s->order[i], &cuts);
        for (size_t i = 0; left > 0 && i < s->b; i++)
            left -= take(s, net, s->order[i], &cuts);
        const double margin = graphss_i_local_net_margin(net, NULL, s->trial);
        if (margin > best) {
            best = margin;
            memcpy(s->best, s->trial, s->b * sizeof *s->best);
        }
    }
}

static graphss_status add_step(graphss_ctx *ctx, graphss_attack_log *log, double loss)
{
    if ((log->n_steps & (log->n_steps - 1)) == 0) {
        const size_t room = log->n_steps ? 2 * log->n_steps : 1;
        graphss_attack_step *step =
            graphss_i_grow(ctx, log->step, log->n_steps, room, sizeof *step);
        if (!step)
            return GRAPHSS_ERR_NOMEM;
        log->step = step;
    }
    log->step[log->n_steps++] = (graphss_attack_step){.loss = loss, .n_edges = BLOCK};
    return GRAPHSS_OK;
}

/* Appends the chosen pairs one by one, with the margin after each. */
static graphss_status record_set(graphss_ctx *ctx, search *s, graphss_i_local_net *net,
    graphss_flips *out, graphss_attack_log *log, graphss_attack_victim *report)
{
    memset(s->trial, 0, s->b * sizeof *s->trial);
    for (size_t i = 0; i < s->b; i++) {
        const int32_t c = s->order[i];
        if (s->best[c] == 0)
            continue;
        s->trial[c] = 1;
        report->loss_after = -graphss_i_local_net_margin(net, NULL, s->trial);
        const bool cut = net->sign[c] < 0;
        graphss_status st = add_step(ctx, log, report->loss_after);
        if (!st)
            st = graphss_flips_add(ctx, out,
                (graphss_flip){.victim = s->victim,
                    .kind = GRAPHSS_FLIP_EDGE,
                    .node = s->victim,
                    .target = s->pair[c],
                    .old_value = cut,
                    .new_value = !cut});
        if (st)
            return st;
        report->n_edges++;
    }
    return GRAPHSS_OK;
}

static graphss_status attack_one(graphss_ctx *ctx, search *s, graphss_flips *out,
    graphss_attack_log *log, graphss_attack_victim *report)
{
    graphss_i_local_net net = {0};
    graphss_status st = GRAPHSS_OK;
    const int32_t label = s->in->label[s->victim];
    first_block(s);
    *report = (graphss_attack_victim){.node = s->victim, .wanted = s->budget};
    for (int epoch = 0; epoch < EPOCHS && !st; epoch++) {
        const bool fresh = epoch > 0 && epoch % RESAMPLE == 0 && epoch < EPOCHS - SETTLED &&
                           s->edges.n > BLOCK;
        if (fresh)
            next_block(s);
        if (epoch == 0 || fresh) {
            graphss_i_local_net_destroy(ctx, &net);
            st = graphss_i_local_net_init(
                ctx, &net, &s->lm, &s->edges, s->victim, label, s->pair, s->b);
        }
        if (!st)
            climb(s, &net, epoch);
    }
    if (!st) {
        memset(s->trial, 0, s->b * sizeof *s->trial);
        report->loss_before = -graphss_i_local_net_margin(&net, NULL, s->trial);
        report->loss_after = report->loss_before;
        choose_set(s, &net);
        st = record_set(ctx, s, &net, out, log, report);
    }
    graphss_i_local_net_destroy(ctx, &net);
    for (size_t c = 0; c < s->b; c++)
        s->in_block[s->pair[c]] = 0;
    return st;
}

static graphss_status check(
    graphss_ctx *ctx, const graphss_attack_input *in, const graphss_attack_options *opt)
{
    if (opt->influencers)
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_INVALID, "prbcd changes the victim itself: want --influencers 0");
    if (graphss_model_classes(in->model) != in->n_classes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
            "the data has %zu classes, the model knows %zu", in->n_classes,
            graphss_model_classes(in->model));
    return GRAPHSS_OK;
}

/* Cumulative: the chosen changes stay. */
static graphss_status keep_flips(
    graphss_ctx *ctx, search *s, const graphss_flips *out, size_t from)
{
    for (size_t i = from; i < out->count; i++)
        if (!graphss_i_rows_flip_edge(ctx, &s->edges, out->item[i].node, out->item[i].target))
            return GRAPHSS_ERR_NOMEM;
    return GRAPHSS_OK;
}

static graphss_status run(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    graphss_status st = check(ctx, in, opt);
    if (st)
        return st;
    search *s = graphss_i_calloc(ctx, 1, sizeof *s);
    if (!s)
        return GRAPHSS_ERR_NOMEM;
    s->in = in;
    const size_t n = in->graph->n_nodes;
    st = graphss_i_local_model_init(ctx, &s->lm, in->model, n, in->features);
    if (!st)
        st = graphss_i_rows_init(ctx, &s->edges, in->graph);
    if (st)
        goto done;
    s->in_block = graphss_i_calloc(ctx, n, sizeof *s->in_block);
    log->victim = graphss_i_calloc(ctx, in->n_victims, sizeof *log->victim);
    if (!s->in_block || !log->victim) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    for (size_t i = 0; i < in->n_victims && !st; i++) {
        const size_t before = out->count;
        s->victim = in->victim[i];
        s->rng = graphss_rng_make(
            in->seed, GRAPHSS_STREAM_ATTACK + ((uint64_t)s->victim + 1) * 256);
        s->budget =
            graphss_i_attack_budget_of(opt, in, s->victim, (size_t)s->edges.length[s->victim])
                .edges;
        log->n_victims++;
        st = attack_one(ctx, s, out, log, &log->victim[i]);
        if (!st && !opt->independent)
            st = keep_flips(ctx, s, out, before);
        if (!st)
            st = graphss_i_progress(ctx, "attack", i + 1, in->n_victims, NULL);
    }
done:
    graphss_release(ctx, s->in_block);
    graphss_i_rows_destroy(ctx, &s->edges);
    graphss_i_local_model_destroy(ctx, &s->lm);
    graphss_release(ctx, s);
    return st;
}

const graphss_i_attack_method graphss_i_prbcd_attack = {
    .name = "prbcd",
    .summary = "gradient descent on links against the model (Geisler et al. 2021)",
    .needs_model = true,
    .edges_only = true,
    .run = run,
};
