/* selfsup.c - runs the chains: Algorithm 1 around the sampler of gibbs.c.
 *
 * Chains are independent and each has its random stream, so they run in parallel and the
 * result does not depend on the threads. They stop together for what concerns all: the end of
 * warm-up, a refit, a progress report. */
#include "selfsup/selfsup_private.h"
#include <graphss/labels.h>
#include <math.h>
#include <string.h>

/* The sums of one chain over its kept sweeps. */
typedef struct tally {
    double *counts, *phi; /* [M x K x K] as in the result */
    double *share;        /* [S] */
} tally;

typedef struct run {
    const graphss_selfsup_options *opt;
    graphss_i_problem problem;
    float *prob;                         /* [n x K] of the last refit */
    double seen_by[GRAPHSS_SOURCES_MAX]; /* nodes a source speaks of */
    size_t n_chains;
    graphss_i_chain *chain; /* [n_chains] */
    tally *tally;           /* [n_chains] */
    double *trace;          /* [n_traces x n_chains x most] */
    size_t n_traces, most;  /* sweeps that may be kept */
    size_t kept, from, to;  /* sweeps kept so far; those of this round */
} run;

bool graphss_i_refit_due(
    const graphss_selfsup_input *in, const graphss_selfsup_options *opt, size_t sweep)
{
    return in->refit && sweep % (size_t)opt->retrain_every == 0 &&
           sweep + 1 < (size_t)opt->sweeps;
}

graphss_status graphss_i_refit(graphss_ctx *ctx, bool *done, double *best, float *prob,
    const int32_t *z, const graphss_selfsup_input *in, const graphss_selfsup_options *opt)
{
    if (opt->refit_rule == GRAPHSS_REFIT_AGREEMENT) {
        const double agreement = graphss_labels_accuracy(z, in->source[0].label, NULL, in->n);
        if (!(agreement > *best))
            return GRAPHSS_OK;
        *best = agreement;
    }
    const graphss_status st = in->refit(ctx, in->refit_user, prob, z, in->n, in->n_classes);
    if (st)
        return st;
    *done = true;
    return graphss_i_check_prob(ctx, prob, in->n, in->n_classes, "refit");
}

static void transpose(double *out, const double *a, size_t K)
{
    for (size_t t = 0; t < K; t++)
        for (size_t y = 0; y < K; y++)
            out[y * K + t] = a[t * K + y];
}

static graphss_status add_matrix(graphss_ctx *ctx, graphss_i_problem *p, double *scratch,
    const graphss_prior *prior, const double *phi, bool fixed)
{
    const size_t at = p->n_matrices * p->K * p->K;
    const graphss_status st = graphss_prior_cells(ctx, scratch, prior, p->K);
    if (st)
        return st;
    transpose(p->alpha + at, scratch, p->K);
    if (!phi) {
        graphss_transition_mean(scratch, scratch, NULL, p->K);
        phi = scratch;
    }
    transpose(p->phi + at, phi, p->K);
    p->fixed[p->n_matrices++] = fixed;
    return GRAPHSS_OK;
}

/* The matrices of one source: one, or one for each state. */
static graphss_status add_source(graphss_ctx *ctx, graphss_i_problem *p, double *scratch,
    const graphss_source *from, size_t m, bool fixed)
{
    p->observed[m] = from->label;
    p->first[m] = p->n_matrices;
    p->split[m] = from->tampered;
    graphss_status st =
        add_matrix(ctx, p, scratch, &from->prior, from->phi, fixed || from->fixed);
    for (size_t s = 1; !st && from->tampered && s < p->S; s++) {
        const double *phi = from->tampered_phi;
        st = add_matrix(ctx, p, scratch, &from->tampered_prior,
            phi ? phi + (s - 1) * p->K * p->K : NULL, fixed || from->tampered_fixed);
    }
    if (!st)
        return st;
    char where[32];
    snprintf(where, sizeof where, "source %zu", m);
    return graphss_i_fail_in(ctx, st, where);
}

static graphss_status build(graphss_ctx *ctx, run *u, const graphss_selfsup_input *in)
{
    graphss_i_problem *p = &u->problem;
    const size_t K = in->n_classes, S = in->n_states ? in->n_states : 1;
    const bool fixed = u->opt->phi == GRAPHSS_PHI_FIXED;
    *p = (graphss_i_problem){.n = in->n, .K = K, .M = in->n_sources, .S = S};
    p->concentration[0] = 1;
    for (size_t s = 0; s < in->n_states; s++) {
        p->concentration[s] = in->state[s].concentration;
        p->prob[s] = in->state[s].prob;
        p->likelihood[s] = in->state[s].likelihood;
    }
    size_t n_matrices = 0;
    for (size_t m = 0; m < p->M; m++)
        n_matrices += in->source[m].tampered ? S : 1;
    p->alpha = graphss_i_alloc(ctx, n_matrices, K * K * sizeof *p->alpha);
    p->phi = graphss_i_alloc(ctx, n_matrices, K * K * sizeof *p->phi);
    double *scratch = graphss_i_alloc(ctx, K * K, sizeof *scratch);
    graphss_status st = p->alpha && p->phi && scratch ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t m = 0; !st && m < p->M; m++) {
        for (size_t i = 0; i < in->n; i++)
            u->seen_by[m] += in->source[m].label[i] >= 0;
        st = add_source(ctx, p, scratch, &in->source[m], m, fixed);
    }
    graphss_release(ctx, scratch);
    return st;
}

/* Takes the next count numbers of a block. */
static double *cut(double **at, size_t count)
{
    double *block = *at;
    *at += count;
    return block;
}

static graphss_status chain_make(graphss_ctx *ctx, graphss_i_chain *c, tally *sums,
    const graphss_i_problem *p, uint64_t seed, size_t number)
{
    const size_t K = p->K, S = p->S, M = p->M;
    const size_t small =
        p->n_matrices * (2 * K * K + 3 * K) + 2 * S * K + K + 2 * S + 2 * M * K * K;
    c->rng = graphss_rng_make(seed, GRAPHSS_STREAM_SAMPLER + ((uint64_t)number << 8));
    c->z = graphss_i_alloc(ctx, p->n, sizeof *c->z);
    c->posterior = graphss_i_calloc(ctx, p->n * K, sizeof *c->posterior);
    c->matrix = graphss_i_calloc(ctx, p->n_matrices, sizeof *c->matrix);
    c->weight = graphss_i_calloc(ctx, small, sizeof *c->weight); /* and all small tables */
    if (!c->z || !c->posterior || !c->matrix || !c->weight)
        return GRAPHSS_ERR_NOMEM;
    if (S > 1) {
        c->r = graphss_i_calloc(ctx, p->n, sizeof *c->r);
        c->state = graphss_i_calloc(ctx, p->n, S * sizeof *c->state);
        if (!c->r || !c->state)
            return GRAPHSS_ERR_NOMEM;
    }
    double *at = c->weight;
    cut(&at, S * K);
    c->sums = cut(&at, S * K);
    c->of_class = cut(&at, K);
    c->of_state = cut(&at, S);
    sums->counts = cut(&at, M * K * K);
    sums->phi = cut(&at, M * K * K);
    sums->share = cut(&at, S);
    for (size_t i = 0; i < p->n_matrices; i++) {
        graphss_i_matrix *t = &c->matrix[i];
        t->alpha = p->alpha + i * K * K;
        t->top = cut(&at, K * K);
        t->counts = cut(&at, K * K);
        t->inverse = cut(&at, K);
        t->row = cut(&at, K);
        t->alpha_row = cut(&at, K);
        for (size_t y = 0; y < K; y++)
            for (size_t k = 0; k < K; k++)
                t->alpha_row[k] += t->alpha[y * K + k];
    }
    graphss_labels_argmax(c->z, p->prob[0], p->n, K);
    graphss_i_chain_warm(p, c); /* also if no sweep is warm: matrices may be fixed */
    return GRAPHSS_OK;
}

static void chain_free(graphss_ctx *ctx, graphss_i_chain *c)
{
    graphss_release(ctx, c->state);
    graphss_release(ctx, c->r);
    graphss_release(ctx, c->weight);
    graphss_release(ctx, c->matrix);
    graphss_release(ctx, c->posterior);
    graphss_release(ctx, c->z);
}

/* Adds the matrices and shares of this sweep to the sums, and its numbers to the traces. */
static void record(const run *u, size_t number, size_t sweep)
{
    const graphss_i_problem *p = &u->problem;
    const graphss_i_chain *c = &u->chain[number];
    const size_t K = p->K;
    double *trace = u->trace + number * u->most + sweep; /* the next one n_chains * most on */
    const size_t step = u->n_chains * u->most;
    for (size_t k = 0; k < K; k++, trace += step)
        *trace = c->of_class[k] / (double)p->n;
    for (size_t m = 0; m < p->M; m++, trace += step) {
        double right = 0;
        for (size_t s = 0; s < (p->split[m] ? p->S : 1); s++) {
            const graphss_i_matrix *t = &c->matrix[p->first[m] + s];
            for (size_t y = 0; y < K; y++) {
                right += t->counts[y * K + y];
                for (size_t k = 0; k < K; k++)
                    u->tally[number].counts[(m * K + k) * K + y] += t->counts[y * K + k];
            }
        }
        *trace = u->seen_by[m] > 0 ? right / u->seen_by[m] : 0;
        const graphss_i_matrix *t = &c->matrix[p->first[m]];
        for (size_t y = 0; y < K; y++)
            for (size_t k = 0; k < K; k++)
                u->tally[number].phi[(m * K + k) * K + y] += t->top[y * K + k] * t->inverse[k];
    }
    double all = (double)p->n;
    for (size_t s = 0; s < p->S; s++)
        all += p->concentration[s];
    for (size_t s = 0; s < p->S; s++)
        u->tally[number].share[s] += (p->concentration[s] + c->of_state[s]) / all;
    for (size_t s = 1; s < p->S; s++, trace += step)
        *trace = c->of_state[s] / (double)p->n;
}

static void run_round(void *arg, size_t number)
{
    const run *u = arg;
    graphss_i_chain *c = &u->chain[number];
    const size_t warmup = (size_t)u->opt->warmup;
    const size_t first = warmup + (size_t)u->opt->burn_in;
    size_t kept = u->kept;
    if (u->from < warmup)
        graphss_i_chain_warm(&u->problem, c);
    else if (u->from == warmup)
        graphss_i_chain_live(&u->problem, c);
    for (size_t sweep = u->from; sweep < u->to; sweep++) {
        graphss_i_sweep(&u->problem, c, sweep >= first);
        if (sweep >= first)
            record(u, number, kept++);
    }
}

static graphss_status prepare(graphss_ctx *ctx, run *u, const graphss_selfsup_input *in)
{
    const graphss_selfsup_options *opt = u->opt;
    graphss_status st = build(ctx, u, in);
    if (st)
        return st;
    graphss_i_problem *p = &u->problem;
    p->prob[0] = in->prob;
    if (in->refit) {
        u->prob = graphss_i_copy(ctx, in->prob, p->n * p->K, sizeof *u->prob);
        if (!u->prob)
            return GRAPHSS_ERR_NOMEM;
        p->prob[0] = u->prob;
    }
    u->n_traces = p->K + p->M + p->S - 1;
    u->most = (size_t)(opt->sweeps - opt->warmup - opt->burn_in);
    u->trace = graphss_i_alloc(ctx, u->n_traces, u->n_chains * u->most * sizeof *u->trace);
    u->chain = graphss_i_calloc(ctx, u->n_chains, sizeof *u->chain);
    u->tally = graphss_i_calloc(ctx, u->n_chains, sizeof *u->tally);
    if (!u->trace || !u->chain || !u->tally)
        return GRAPHSS_ERR_NOMEM;
    for (size_t c = 0; !st && c < u->n_chains; c++)
        st = chain_make(ctx, &u->chain[c], &u->tally[c], p, in->seed, c);
    return st;
}

/* The label most chains hold; on ties, that of the earliest chain. */
static void vote(int32_t *label, const run *u)
{
    for (size_t i = 0; i < u->problem.n; i++) {
        size_t most = 0;
        for (size_t a = 0; a < u->n_chains; a++) {
            size_t same = 0;
            for (size_t b = 0; b < u->n_chains; b++)
                same += u->chain[b].z[i] == u->chain[a].z[i];
            if (same > most) {
                most = same;
                label[i] = u->chain[a].z[i];
            }
        }
    }
}

/* Discards averages taken with the earlier probabilities. */
static void forget(run *u)
{
    const graphss_i_problem *p = &u->problem;
    const size_t cells = p->M * p->K * p->K;
    for (size_t c = 0; c < u->n_chains; c++) {
        memset(u->chain[c].posterior, 0, p->n * p->K * sizeof(double));
        if (u->chain[c].state)
            memset(u->chain[c].state, 0, p->n * p->S * sizeof(double));
        memset(u->tally[c].counts, 0, cells * sizeof(double));
        memset(u->tally[c].phi, 0, cells * sizeof(double));
        memset(u->tally[c].share, 0, p->S * sizeof(double));
    }
    u->kept = 0;
}

/* The end of the round that begins at sweep from: after it something happens. */
static size_t round_end(const run *u, const graphss_selfsup_input *in, size_t from)
{
    const graphss_i_problem *p = &u->problem;
    const double work = (double)p->n * (double)(p->K * p->S * (p->M + 1));
    const size_t patience = work < 4e6 ? (size_t)(4e6 / work) : 1; /* about 10 ms */
    const size_t warmup = (size_t)u->opt->warmup;
    size_t to = from;
    do
        to++;
    while (to < (size_t)u->opt->sweeps && to != warmup && to < from + patience &&
           !graphss_i_refit_due(in, u->opt, to - 1));
    return to;
}

static graphss_status run_chains(
    graphss_ctx *ctx, graphss_selfsup_result *out, run *u, const graphss_selfsup_input *in)
{
    const size_t sweeps = (size_t)u->opt->sweeps;
    const size_t first = (size_t)(u->opt->warmup + u->opt->burn_in);
    double best = -1;
    for (u->from = 0; u->from < sweeps; u->from = u->to) {
        u->to = round_end(u, in, u->from);
        graphss_i_parallel(ctx, u->n_chains, run_round, u);
        if (u->to > first)
            u->kept += u->to - (u->from > first ? u->from : first);
        graphss_status st = GRAPHSS_OK;
        if (graphss_i_refit_due(in, u->opt, u->to - 1)) {
            bool done = false;
            vote(out->label, u);
            st = graphss_i_refit(ctx, &done, &best, u->prob, out->label, in, u->opt);
            if (done)
                forget(u);
            out->refits += done;
        }
        if (!st)
            st = graphss_i_progress(ctx, "infer", u->to, sweeps, NULL);
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

/* out[i] = the mean over chains and kept sweeps of the sums block(u, chain)[i] */
static void average(double *out, const run *u, size_t n, double *(*block)(const run *, size_t))
{
    const double scale = 1 / ((double)u->n_chains * (double)u->kept);
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    for (size_t c = 0; c < u->n_chains; c++) {
        const double *sums = block(u, c);
        for (size_t i = 0; i < n; i++)
            out[i] += sums[i] * scale;
    }
}

static double *posterior_of(const run *u, size_t c)
{
    return u->chain[c].posterior;
}

static double *state_of(const run *u, size_t c)
{
    return u->chain[c].state;
}

static double *counts_of(const run *u, size_t c)
{
    return u->tally[c].counts;
}

static double *phi_of(const run *u, size_t c)
{
    return u->tally[c].phi;
}

static double *share_of(const run *u, size_t c)
{
    return u->tally[c].share;
}

static void take_likeliest(int32_t *label, const double *posterior, size_t n, size_t K)
{
    for (size_t i = 0; i < n; i++)
        label[i] = (int32_t)graphss_i_top_double(posterior + i * K, K);
}

static void diagnose(graphss_selfsup_result *out, run *u)
{
    const graphss_i_problem *p = &u->problem;
    const size_t n_chains = u->n_chains, kept = u->kept;
    out->r_hat = kept < 4 ? NAN : 1;
    out->ess = kept < 4 ? NAN : (double)(n_chains * kept);
    for (size_t i = 0; i < out->n_traces; i++) {
        graphss_trace *t = &out->trace[i];
        double *x = u->trace + i * n_chains * u->most;
        for (size_t c = 1; c < n_chains; c++) /* a refit left gaps */
            memmove(x + c * kept, x + c * u->most, kept * sizeof *x);
        t->what = i < p->K ? "class" : i < p->K + p->M ? "source" : "state";
        t->index = i < p->K ? i : i < p->K + p->M ? i - p->K : i - p->K - p->M + 1;
        double sum = 0, square = 0;
        for (size_t j = 0; j < n_chains * kept; j++)
            sum += x[j];
        t->mean = sum / (double)(n_chains * kept);
        for (size_t j = 0; j < n_chains * kept; j++)
            square += (x[j] - t->mean) * (x[j] - t->mean);
        t->deviation = sqrt(square / (double)(n_chains * kept));
        t->r_hat = graphss_trace_r_hat(x, n_chains, kept);
        t->ess = graphss_trace_effective_draws(x, n_chains, kept);
        out->r_hat = t->r_hat > out->r_hat ? t->r_hat : out->r_hat;
        out->ess = t->ess < out->ess ? t->ess : out->ess;
    }
}

static graphss_status sample(graphss_ctx *ctx, graphss_selfsup_result *out,
    const graphss_selfsup_input *in, const graphss_selfsup_options *opt)
{
    run u = {.opt = opt, .n_chains = (size_t)opt->chains};
    const size_t n = in->n, K = in->n_classes;
    graphss_status st = prepare(ctx, &u, in);
    if (st)
        goto done;
    out->n_traces = u.n_traces;
    out->trace = graphss_i_calloc(ctx, u.n_traces, sizeof *out->trace);
    if (!out->trace) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    st = run_chains(ctx, out, &u, in);
    if (st)
        goto done;
    out->kept = u.kept;
    average(out->posterior, &u, n * K, posterior_of);
    average(out->counts, &u, in->n_sources * K * K, counts_of);
    average(out->phi, &u, in->n_sources * K * K, phi_of);
    if (in->n_states) {
        average(out->state, &u, n * in->n_states, state_of);
        average(out->share, &u, in->n_states, share_of);
    }
    take_likeliest(out->label, out->posterior, n, K);
    diagnose(out, &u);
done:
    for (size_t c = 0; u.chain && c < u.n_chains; c++)
        chain_free(ctx, &u.chain[c]);
    graphss_release(ctx, u.tally);
    graphss_release(ctx, u.chain);
    graphss_release(ctx, u.trace);
    graphss_release(ctx, u.prob);
    graphss_release(ctx, u.problem.phi);
    graphss_release(ctx, u.problem.alpha);
    return st;
}

/* The arrays of a result but its traces. */
static graphss_status alloc_result(
    graphss_ctx *ctx, graphss_selfsup_result *out, const graphss_selfsup_input *in)
{
    const size_t n = in->n, K = in->n_classes, M = in->n_sources, S = in->n_states;
    *out = (graphss_selfsup_result){.n = n, .n_classes = K, .n_sources = M, .n_states = S};
    out->r_hat = out->ess = NAN;
    out->label = graphss_i_alloc(ctx, n, sizeof *out->label);
    out->posterior = graphss_i_alloc(ctx, n * K, sizeof *out->posterior);
    out->counts = graphss_i_alloc(ctx, M, K * K * sizeof *out->counts);
    out->phi = graphss_i_alloc(ctx, M, K * K * sizeof *out->phi);
    if (!out->label || !out->posterior || !out->counts || !out->phi)
        return GRAPHSS_ERR_NOMEM;
    if (S == 0)
        return GRAPHSS_OK;
    out->state = graphss_i_alloc(ctx, n, S * sizeof *out->state);
    out->share = graphss_i_alloc(ctx, S, sizeof *out->share);
    return out->state && out->share ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

graphss_status graphss_selfsup_run(graphss_ctx *ctx, graphss_selfsup_result *out,
    const graphss_selfsup_input *in, const graphss_selfsup_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the result", out}) ||
        GRAPHSS_I_TAKE(ctx, graphss_selfsup_input, NULL, in) ||
        GRAPHSS_I_LACKS(ctx, {"probabilities", in->prob},
            {"sources", GRAPHSS_I_FILLED(in->source, in->n_sources)},
            {"states", GRAPHSS_I_FILLED(in->state, in->n_states)}))
        return GRAPHSS_ERR_INVALID;
    const double start = graphss_i_seconds();
    graphss_selfsup_options standard;
    graphss_selfsup_options_init(&standard);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_selfsup_options, &standard, opt);
    opt = &standard;
    if (!st)
        st = graphss_i_selfsup_check(ctx, in, opt);
    if (st)
        return st;
    graphss_selfsup_result result = {0};
    st = alloc_result(ctx, &result, in);
    if (!st)
        st = opt->update == GRAPHSS_UPDATE_ARGMAX
                 ? graphss_i_selfsup_paper(ctx, &result, in, opt)
                 : sample(ctx, &result, in, opt);
    if (st) {
        graphss_selfsup_result_destroy(ctx, &result);
        return st;
    }
    result.seconds = graphss_i_seconds() - start;
    *out = result;
    return GRAPHSS_OK;
}

void graphss_selfsup_result_destroy(graphss_ctx *ctx, graphss_selfsup_result *out)
{
    if (!out)
        return;
    graphss_release(ctx, out->label);
    graphss_release(ctx, out->posterior);
    graphss_release(ctx, out->state);
    graphss_release(ctx, out->counts);
    graphss_release(ctx, out->phi);
    graphss_release(ctx, out->share);
    graphss_release(ctx, out->trace);
    *out = (graphss_selfsup_result){0};
}
