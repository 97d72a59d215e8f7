/* relabel_margin.c - see relabel_margin.h. What is counted: right answers after less right
 * answers before, among the nodes whose label would be replaced at each step. A loss below
 * TOLERATED is taken for chance. */
#include "recover/relabel_margin.h"
#include "detect/sim_plan.h"
#include <math.h>

enum { FOLDS = 2, STEPS = 9 };
enum { HIT, REST, SORTS };
static const double STEP = 0.025, TOLERATED = 0.005;

/* Of nodes hit, or of the rest: gain[t] over rows that lead by at least t steps. */
typedef struct tally {
    double gain[STEPS], weight;
} tally;

void graphss_i_caution_apply(double *p, size_t own, double lead, size_t k)
{
    const size_t best = graphss_i_top_double(p, k);
    const double most = p[best];
    if (most - p[own] <= lead) {
        p[best] = p[own];
        p[own] = most;
    }
}

/* The classifier's class: the first source of the evidence. */
static size_t own_class(const float *says, size_t k)
{
    size_t best = 0;
    for (size_t c = 1; c < k; c++)
        best = says[c * GRAPHSS_I_SAYS] > says[best * GRAPHSS_I_SAYS] ? c : best;
    return best;
}

/* All rows but those of a fold. */
static graphss_status part(graphss_ctx *ctx, graphss_i_sample *out, const graphss_i_sample *s,
                           size_t fold, size_t k)
{
    const graphss_i_view held = {.says = s->says, .odd = s->odd};
    graphss_status st = graphss_i_pulse(ctx);
    if (!st)
        st = graphss_i_sample_init(ctx, out, s->n, k);
    for (size_t i = 0; i < s->n && !st; i++)
        if ((size_t)s->node[i] % FOLDS != fold)
            graphss_i_sample_add(out, &held, k, (int32_t)i, s->label[i], (double)s->weight[i]);
    return st;
}

/* q [k] ~ sum over states of share * likelihood * p */
static void blend(double *q, const double *share, const double *likelihood, const float *p,
                  size_t k)
{
    double state[GRAPHSS_I_STATES], sum = 0;
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        sum += state[r] = share[r] * likelihood[r];
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        state[r] /= sum;
    graphss_i_suspicion_mix(q, state, p, k);
}

static void count(tally *t, const double *q, size_t own, size_t label, double weight, size_t k)
{
    const size_t best = graphss_i_top_double(q, k);
    const double gain = weight * ((double)(best == label) - (double)(own == label));
    t->weight += weight;
    for (size_t s = 0; s < STEPS && q[best] - q[own] >= (double)s * STEP; s++)
        t->gain[s] += gain;
}

/* Judges the rows of a fold. */
static void judge(tally *t, const graphss_i_suspicion *u, const graphss_i_sample *s,
                  size_t fold, const double *share, double scale, size_t k, double *q,
                  float *p)
{
    const graphss_i_view held = {.says = s->says, .odd = s->odd};
    double likelihood[GRAPHSS_I_STATES];
    for (size_t i = 0; i < s->n; i++) {
        if ((size_t)s->node[i] % FOLDS != fold)
            continue;
        const size_t own = own_class(s->says + i * k * GRAPHSS_I_SAYS, k);
        graphss_i_suspicion_node(likelihood, p, u, &held, i, k);
        blend(q, share, likelihood, p, k);
        count(t, q, own, (size_t)s->label[i], scale * (double)s->weight[i], k);
    }
}

/* The largest step where none is good enough, as long as all nodes together gain from it;
 * else 1: no label is to be replaced. */
static double smallest_step(const tally *t, double untouched)
{
    for (size_t step = 0; step < STEPS; step++) {
        size_t losing = 0;
        for (size_t i = 0; i < SORTS; i++)
            losing += t[i].gain[step] < -TOLERATED * t[i].weight;
        if (!losing)
            return (double)step * STEP;
    }
    const double hit = t[HIT].gain[STEPS - 1] / fmax(t[HIT].weight, 1e-9);
    const double rest = t[REST].gain[STEPS - 1] / fmax(t[REST].weight, 1e-9);
    return (1 - untouched) * hit + untouched * rest > 0 ? (STEPS - 1) * STEP : 1;
}

/* The folds are fitted at the same time, and judged in their order. */
typedef struct folding {
    const graphss_i_view *now;
    size_t n, k;
    const graphss_i_sample *untouched, *attacked;
    bool history;
    graphss_i_suspicion u[FOLDS];
    bool fitted[FOLDS];
} folding;

static graphss_status fit_fold(graphss_ctx *ctx, void *arg, size_t fold)
{
    folding *f = arg;
    graphss_i_sample rest = {0}, hit[GRAPHSS_I_ATTACKS] = {0};
    graphss_status st = part(ctx, &rest, f->untouched, fold, f->k);
    for (size_t a = 0; a < GRAPHSS_I_ATTACKS && !st; a++)
        st = part(ctx, &hit[a], &f->attacked[a], fold, f->k);
    if (!st && graphss_i_samples_suffice(&rest, hit)) {
        st = graphss_i_suspicion_fit(ctx, &f->u[fold], f->now, f->n, f->k, &rest, hit,
                                     f->history);
        f->fitted[fold] = !st;
    }
    for (size_t a = 0; a < GRAPHSS_I_ATTACKS; a++)
        graphss_i_sample_destroy(ctx, &hit[a]);
    graphss_i_sample_destroy(ctx, &rest);
    return st;
}

graphss_status graphss_i_caution(graphss_ctx *ctx, double *lead, const graphss_i_view *now,
                                 size_t n, size_t k, const graphss_i_sample *untouched,
                                 const graphss_i_sample *attacked, const double *share,
                                 bool history)
{
    tally t[SORTS] = {0};
    folding f = {.now = now,
                 .n = n,
                 .k = k,
                 .untouched = untouched,
                 .attacked = attacked,
                 .history = history};
    double *q = graphss_i_alloc(ctx, k, sizeof *q);
    float *p = graphss_i_alloc(ctx, k, GRAPHSS_I_ROW * sizeof *p);
    graphss_status st =
        q && p ? graphss_i_parallel_jobs(ctx, FOLDS, fit_fold, &f) : GRAPHSS_ERR_NOMEM;
    for (size_t fold = 0; fold < FOLDS; fold++) {
        const graphss_i_suspicion *u = &f.u[fold];
        if (!st && f.fitted[fold]) {
            for (size_t a = 0; a < GRAPHSS_I_ATTACKS && !st; a++) {
                st = graphss_i_pulse(ctx);
                judge(&t[HIT], u, &attacked[a], fold, share, share[1 + a], k, q, p);
            }
            judge(&t[REST], u, untouched, fold, share, 1, k, q, p);
        }
        graphss_i_suspicion_destroy(ctx, &f.u[fold]);
    }
    graphss_release(ctx, p);
    graphss_release(ctx, q);
    if (!st)
        *lead = smallest_step(t, share[0]);
    return st;
}
