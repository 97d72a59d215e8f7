/* state_model.c - a conditional logit per state (what do the sources mean for a node in it?)
 * and a gate between the states (what does the node look like?). The logit of untouched nodes
 * is partly the classifier's own; those of attacks lean towards that of all attacks together,
 * so that none is fitted to one attacker alone. Who was praised is read by the classifier
 * alone: loud words for one class are true there and false under attack, so neither is
 * believed. The last state is for what was never simulated: half of it is the classifier's,
 * and its weights, fitted on all states together, are not negative, so that no evidence is
 * turned round; its likelihood is a bet against the rank of the node's oddness among
 * untouched nodes, those churned included, which is worth 1 on average for such a node. */
#include "detect/state_model.h"
#include "stats/conditional_logit.h"
#include "stats/multinomial_logit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ODD_STATE = GRAPHSS_I_STATES - 1, ROW = GRAPHSS_I_ROW, THIN = 3 };
static const double PENALTY = 1e-2, LEAN = 1e-2, GATE_PENALTY = 4e-4, LOYAL = 1600,
                    RIDGE = 0.05, BET = 0.2, RATIO_MOST = 8;
static const float FARTHEST = 5, SQUARE_MOST = 9, SHARP = 0.6F;

const char *graphss_i_state_name(size_t state)
{
    static const char *const name[GRAPHSS_I_STATES] = {
        [0] = "untouched",
        [1 + GRAPHSS_I_BOTH] = "links and features",
        [1 + GRAPHSS_I_FEW] = "links and features",
        [1 + GRAPHSS_I_EDGES] = "links",
        [1 + GRAPHSS_I_FEATURES] = "features",
        [1 + GRAPHSS_I_COPIED] = "copied",
        [1 + GRAPHSS_I_BORROWED] = "features",
        [1 + GRAPHSS_I_DICE] = "links",
        [1 + GRAPHSS_I_RANDOM] = "random",
        [1 + GRAPHSS_I_PRAISED] = "praised",
        [1 + GRAPHSS_I_MANY] = "links and features",
        [1 + GRAPHSS_I_SLANDERED] = "links and features",
        [1 + GRAPHSS_I_DRESSED] = "copied",
        [ODD_STATE] = "unknown"};
    _Static_assert(GRAPHSS_I_ATTACKS == GRAPHSS_I_DRESSED + 1 &&
                       (int)GRAPHSS_I_MANY == (int)GRAPHSS_I_PRAISED + 1 &&
                       ODD_STATE == 1 + GRAPHSS_I_ATTACKS,
                   "every state has a name");
    return state < GRAPHSS_I_STATES ? name[state] : NULL;
}

/* ---- samples ---- */

void graphss_i_sample_destroy(graphss_ctx *ctx, graphss_i_sample *s)
{
    graphss_release(ctx, s->says);
    graphss_release(ctx, s->odd);
    graphss_release(ctx, s->weight);
    graphss_release(ctx, s->label);
    graphss_release(ctx, s->node);
    *s = (graphss_i_sample){0};
}

graphss_status graphss_i_sample_init(graphss_ctx *ctx, graphss_i_sample *s, size_t room,
                                     size_t k)
{
    *s = (graphss_i_sample){
        .room = room,
        .says = graphss_i_alloc(ctx, room, k * GRAPHSS_I_SAYS * sizeof *s->says),
        .odd = graphss_i_alloc(ctx, room, GRAPHSS_I_ODD * sizeof *s->odd),
        .weight = graphss_i_alloc(ctx, room, sizeof *s->weight),
        .label = graphss_i_alloc(ctx, room, sizeof *s->label),
        .node = graphss_i_alloc(ctx, room, sizeof *s->node)};
    return s->says && s->odd && s->weight && s->label && s->node ? GRAPHSS_OK
                                                                 : GRAPHSS_ERR_NOMEM;
}

void graphss_i_sample_add(graphss_i_sample *s, const graphss_i_view *v, size_t k, int32_t node,
                          int32_t label, double weight)
{
    const size_t width = k * GRAPHSS_I_SAYS, i = (size_t)node;
    memcpy(s->says + s->n * width, v->says + i * width, width * sizeof *s->says);
    memcpy(s->odd + s->n * GRAPHSS_I_ODD, v->odd + i * GRAPHSS_I_ODD,
           GRAPHSS_I_ODD * sizeof *s->odd);
    s->label[s->n] = label;
    s->node[s->n] = node;
    s->weight[s->n++] = (float)weight;
}

void graphss_i_suspicion_destroy(graphss_ctx *ctx, graphss_i_suspicion *u)
{
    graphss_release(ctx, u->reference);
    *u = (graphss_i_suspicion){0};
}

/* ---- oddness in units of its spread ---- */

static void measure(graphss_i_suspicion *u, const float *odd, size_t n)
{
    for (size_t j = 0; j < u->s; j++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            const double x = (double)odd[i * GRAPHSS_I_ODD + j];
            sum += x;
            square += x * x;
        }
        const double mean = sum / (double)n;
        u->mean[j] = (float)mean;
        u->unit[j] = (float)(1 / (sqrt(fmax(square / (double)n - mean * mean, 0)) + 1e-9));
    }
}

/* g [1 + 2 s]: 1, z, z^2 */
static void gate_columns(float *g, const graphss_i_suspicion *u, const float *odd)
{
    float *const z = g + 1, *const square = z + u->s;
    g[0] = 1;
    for (size_t j = 0; j < u->s; j++) {
        const float far = (odd[j] - u->mean[j]) * u->unit[j];
        const float near = far < FARTHEST ? far : FARTHEST;
        z[j] = near > -FARTHEST ? near : -FARTHEST;
        square[j] = z[j] * z[j] < SQUARE_MOST ? z[j] * z[j] : SQUARE_MOST;
    }
}

/* Squared distance from untouched nodes in units of their covariance; z: see above. */
static double oddness(const graphss_i_suspicion *u, const float *z)
{
    float d[GRAPHSS_I_ODD], y[GRAPHSS_I_WHITE];
    double sum = 0;
    for (size_t j = 0; j < u->s; j++)
        d[j] = z[j] - u->centre[j];
    u->kernels->row_times(y, d, u->white, u->s, GRAPHSS_I_WHITE);
    for (size_t j = 0; j < u->s; j++)
        sum += (double)y[j] * (double)y[j];
    return sum;
}

/* white [s x WHITE] = L^-T, of covariance L L^T */
static void whiten(float *white, const double *l, size_t s)
{
    double column[GRAPHSS_I_ODD];
    for (size_t j = 0; j < s; j++) {
        for (size_t i = 0; i < s; i++) {
            double sum = i == j;
            for (size_t m = j; m < i; m++)
                sum -= l[i * s + m] * column[m];
            column[i] = i < j ? 0 : sum / l[i * s + i];
            white[j * GRAPHSS_I_WHITE + i] = (float)column[i];
        }
    }
}

static graphss_status fit_oddness(graphss_ctx *ctx, graphss_i_suspicion *u,
                                  const graphss_i_sample *untouched)
{
    const size_t s = u->s, n = untouched->n;
    double centre[GRAPHSS_I_ODD] = {0}, covariance[GRAPHSS_I_ODD * GRAPHSS_I_ODD] = {0};
    double total = 0;
    float g[GRAPHSS_I_GATE];
    u->reference = graphss_i_alloc(ctx, n, sizeof *u->reference);
    if (!u->reference)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const double weight = (double)untouched->weight[i];
        const float *z = g + 1;
        gate_columns(g, u, untouched->odd + i * GRAPHSS_I_ODD);
        total += weight;
        for (size_t j = 0; j < s; j++) {
            const double part = weight * (double)z[j];
            centre[j] += part;
            for (size_t l = 0; l <= j; l++)
                covariance[j * s + l] += part * (double)z[l];
        }
    }
    for (size_t j = 0; j < s; j++)
        u->centre[j] = (float)(centre[j] /= total);
    for (size_t j = 0; j < s; j++)
        for (size_t l = 0; l <= j; l++)
            covariance[j * s + l] =
                covariance[j * s + l] / total - centre[j] * centre[l] + (j == l ? RIDGE : 0);
    if (!graphss_i_cholesky(covariance, s))
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                              "the oddness of the validation nodes is no number");
    whiten(u->white, covariance, s);
    for (size_t i = 0; i < n; i++) {
        gate_columns(g, u, untouched->odd + i * GRAPHSS_I_ODD);
        u->reference[i] = oddness(u, g + 1);
    }
    u->n_reference = n;
    qsort(u->reference, n, sizeof *u->reference, graphss_i_compare_doubles);
    return GRAPHSS_OK;
}

/* ---- fits ---- */

static double weight_of(const graphss_i_sample *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += (double)s->weight[i];
    return sum;
}

/* gate [1 + 2 s][a] from the weights w [1 + ATTACKS][1 + 2 s] of a softmax */
static void lay_gate(float *gate, const double *w, size_t f)
{
    for (size_t j = 0; j < f; j++)
        for (size_t a = 0; a < GRAPHSS_I_ATTACKS; a++)
            gate[j * ROW + a] = (float)(w[(1 + a) * f + j] - w[j]);
}

/* Every state has the same weight in all: ratios of the chances are those of densities. */
static graphss_status fit_gate(graphss_ctx *ctx, graphss_i_suspicion *u,
                               const graphss_i_sample *untouched,
                               const graphss_i_sample *attacked)
{
    const size_t f = 1 + 2 * u->s;
    size_t n = untouched->n, at = 0;
    for (size_t a = 0; a < GRAPHSS_I_ATTACKS; a++)
        n += attacked[a].n;
    double *w = graphss_i_alloc(ctx, 1 + GRAPHSS_I_ATTACKS, f * sizeof *w);
    float *x = graphss_i_alloc(ctx, n, f * sizeof *x);
    float *weight = graphss_i_alloc(ctx, n, sizeof *weight);
    int32_t *label = graphss_i_alloc(ctx, n, sizeof *label);
    graphss_status st = w && x && weight && label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t r = 0; r <= GRAPHSS_I_ATTACKS && !st; r++) {
        const graphss_i_sample *s = r ? &attacked[r - 1] : untouched;
        const double total = weight_of(s);
        for (size_t i = 0; i < s->n; i++, at++) {
            gate_columns(x + at * f, u, s->odd + i * GRAPHSS_I_ODD);
            weight[at] = (float)((double)s->weight[i] / total);
            label[at] = (int32_t)r;
        }
    }
    if (!st) {
        const graphss_i_softmax in = {.x = x,
                                      .n = n,
                                      .f = f,
                                      .k = 1 + GRAPHSS_I_ATTACKS,
                                      .label = label,
                                      .weight = weight,
                                      .penalty = GATE_PENALTY};
        st = graphss_i_softmax_fit(ctx, w, &in);
    }
    if (!st)
        lay_gate(u->gate, w, f);
    graphss_release(ctx, label);
    graphss_release(ctx, weight);
    graphss_release(ctx, x);
    graphss_release(ctx, w);
    return st;
}

/* On the first f columns. */
static graphss_status fit_classes(graphss_ctx *ctx, double *w, double *noise, size_t f,
                                  const graphss_i_sample *s, size_t k, const double *centre,
                                  bool rising)
{
    const graphss_i_choice in = {.x = s->says,
                                 .n = s->n,
                                 .k = k,
                                 .f = f,
                                 .label = s->label,
                                 .weight = s->weight,
                                 .penalty = centre ? LEAN : PENALTY,
                                 .centre = centre,
                                 .noisy = true,
                                 .rising = rising};
    return graphss_i_choice_fit(ctx, w, noise, &in);
}

/* w = (n w' + LOYAL w'') / (n + LOYAL): w' fitted on all sources, which follows the luck of
 * the labelled nodes where they are few, w'' on the first alone, the classifier's, which
 * hardly does. */
static graphss_status fit_untouched(graphss_ctx *ctx, graphss_i_suspicion *u,
                                    const graphss_i_sample *s, size_t k)
{
    const double all = (double)s->n / ((double)s->n + LOYAL);
    graphss_status st = fit_classes(ctx, &u->own, NULL, 1, s, k, NULL, false);
    if (!st)
        st = fit_classes(ctx, u->w[0], &u->noise, u->f, s, k, NULL, false);
    for (size_t j = 0; j < u->f && !st; j++)
        u->w[0][j] = all * u->w[0][j] + (j ? 0 : (1 - all) * u->own);
    return st;
}

/* Every THIN-th row of all samples in one, untouched nodes with the weight of two attacks. */
static graphss_status pool(graphss_ctx *ctx, graphss_i_sample *all,
                           const graphss_i_sample *untouched, const graphss_i_sample *attacked,
                           size_t k)
{
    size_t room = untouched->n;
    for (size_t a = 0; a < GRAPHSS_I_ATTACKS; a++)
        room += attacked[a].n;
    graphss_status st = graphss_i_sample_init(ctx, all, room, k);
    for (size_t a = 0; a <= GRAPHSS_I_ATTACKS && !st; a++) {
        const graphss_i_sample *s = a < GRAPHSS_I_ATTACKS ? attacked + a : untouched;
        const double scale =
            a < GRAPHSS_I_ATTACKS ? 1 : 2 * weight_of(attacked) / weight_of(untouched);
        const graphss_i_view held = {.says = s->says, .odd = s->odd};
        if (a == GRAPHSS_I_PRAISED) /* not misled */
            continue;
        for (size_t i = a % THIN; i < s->n; i += THIN)
            graphss_i_sample_add(all, &held, k, (int32_t)i, s->label[i],
                                 scale * (double)s->weight[i]);
    }
    return st;
}

/* What the fits have in common. */
typedef struct fitting {
    graphss_i_suspicion *u;
    size_t k;
    const graphss_i_sample *untouched, *attacked;
    graphss_i_sample all;
    double lean[GRAPHSS_I_SAYS];
} fitting;

/* Those that need no other and have one thread each; the longest first. */
enum { ALL_RISING, UNTOUCHED, ALL, ODDNESS, FIRST_FITS };

static graphss_status fit_first(graphss_ctx *ctx, void *arg, size_t job)
{
    fitting *t = arg;
    graphss_i_suspicion *u = t->u;
    switch (job) {
    case ALL_RISING:
        return fit_classes(ctx, u->w[ODD_STATE], NULL, u->f, &t->all, t->k, NULL, true);
    case UNTOUCHED:
        return fit_untouched(ctx, u, t->untouched, t->k);
    case ALL:
        return fit_classes(ctx, t->lean, NULL, u->f, &t->all, t->k, NULL, false);
    default:
        return fit_oddness(ctx, u, t->untouched);
    }
}

static graphss_status fit_attack(graphss_ctx *ctx, void *arg, size_t attack)
{
    fitting *t = arg;
    const bool misled = attack != GRAPHSS_I_PRAISED; /* else the classifier is to be heard */
    return fit_classes(ctx, t->u->w[1 + attack], NULL, misled ? t->u->f : 1,
                       t->attacked + attack, t->k, misled ? t->lean : NULL, false);
}

graphss_status graphss_i_suspicion_fit(graphss_ctx *ctx, graphss_i_suspicion *u,
                                       const graphss_i_view *now, size_t n, size_t k,
                                       const graphss_i_sample *untouched,
                                       const graphss_i_sample *attacked, bool history)
{
    graphss_i_sample learnt[GRAPHSS_I_ATTACKS]; /* borrowed */
    fitting t = {.u = u, .k = k, .untouched = untouched, .attacked = learnt};
    memcpy(learnt, attacked, sizeof learnt);
    for (size_t a = GRAPHSS_I_MANY; a < GRAPHSS_I_ATTACKS; a++) /* of few labelled nodes */
        if (learnt[a].n == 0)
            learnt[a] = learnt[a == GRAPHSS_I_DRESSED ? GRAPHSS_I_COPIED : GRAPHSS_I_BOTH];
    *u = (graphss_i_suspicion){.f = history ? GRAPHSS_I_SAYS : GRAPHSS_I_SAYS_NOW,
                               .s = history ? GRAPHSS_I_ODD : GRAPHSS_I_ODD_NOW,
                               .kernels = graphss_i_ctx_kernels(ctx)};
    measure(u, now->odd, n);
    graphss_status st = pool(ctx, &t.all, untouched, learnt, k);
    if (!st)
        st = fit_gate(ctx, u, untouched, learnt);
    if (!st)
        st = graphss_i_parallel_jobs(ctx, FIRST_FITS, fit_first, &t);
    if (!st)
        st = graphss_i_parallel_jobs(ctx, GRAPHSS_I_ATTACKS, fit_attack, &t);
    /* Half of it is the classifier's: of a node with a past what it said then. */
    const size_t said = history ? GRAPHSS_I_SAYS_NOW : 0;
    for (size_t j = 0; j < u->f && !st; j++)
        u->w[ODD_STATE][j] = (u->w[ODD_STATE][j] + (j == said ? u->own : 0)) / 2;
    for (size_t j = 0; j < u->f && !st; j++)
        for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
            u->classes[j * ROW + r] = (float)u->w[r][j];
    graphss_i_sample_destroy(ctx, &t.all);
    if (st)
        graphss_i_suspicion_destroy(ctx, u);
    return st;
}

/* rank p of the oddness among untouched nodes; the bet pays BET p^(BET - 1) */
static double odd_bet(const graphss_i_suspicion *u, const float *z)
{
    const size_t less = graphss_i_count_less(u->reference, u->n_reference, oddness(u, z));
    const double p = (double)(u->n_reference - less + 1) / (double)(u->n_reference + 1);
    return BET * pow(p, BET - 1);
}

/* The gate tells attacks from untouched nodes better than from each other: the true one is
 * never quite like those simulated. From logarithms x of the ratios of all attacks:
 *   ratio_a = (sum_b exp x_b) * exp(SHARP x_a) / sum_b exp(SHARP x_b)
 * of which the first is cut at exp RATIO_MOST: of no node more is known. */
static void blur(double *ratio, const graphss_i_suspicion *u, const float *x)
{
    float share[2 * GRAPHSS_I_ATTACKS], *const blurred = share + GRAPHSS_I_ATTACKS;
    for (size_t a = 0; a < GRAPHSS_I_ATTACKS; a++) {
        share[a] = x[a];
        blurred[a] = SHARP * x[a];
    }
    u->kernels->softmax(share, GRAPHSS_I_ATTACKS, 0, 2);
    const size_t top = graphss_i_top(share, GRAPHSS_I_ATTACKS);
    const double all = exp(fmin((double)x[top] - log((double)share[top]), RATIO_MOST));
    const double least = exp(-RATIO_MOST);
    for (size_t a = 0; a < GRAPHSS_I_ATTACKS; a++)
        ratio[a] = fmax(all * (double)blurred[a], least);
}

void graphss_i_suspicion_node(double *likelihood, float *p, const graphss_i_suspicion *u,
                              const graphss_i_view *v, size_t node, size_t k)
{
    float g[GRAPHSS_I_GATE], x[ROW];
    gate_columns(g, u, v->odd + node * GRAPHSS_I_ODD);
    u->kernels->row_times(x, g, u->gate, 1 + 2 * u->s, ROW);
    likelihood[0] = 1;
    blur(likelihood + 1, u, x);
    likelihood[ODD_STATE] = odd_bet(u, g + 1);
    u->kernels->choices(p, u->classes, v->says + node * k * GRAPHSS_I_SAYS, k, u->f);
}

void graphss_i_suspicion_mix(double *q, const double *state, const float *p, size_t k)
{
    for (size_t c = 0; c < k; c++) {
        q[c] = 0;
        for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
            q[c] += state[r] * (double)p[c * ROW + r];
    }
}
