/* rehearse.c - where Nettack ends up, without its search: words that speak most for another
 * class (a word that many nodes hold is allowed more often, as the test of co-occurrence has
 * it), links to weakly tied nodes whose words speak for it too. */
#include "defence/rehearse.h"
#include "attack/sandbox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUDGETS = 3,
    TURNS = 5,
    TARGETS = 40, /* nodes that suit a pair of classes best */
    POOL = 50000, /* are sought among so many */
    WORDS_MOST = 50,
    TRIES = 50
};
static const double NEAREST_CLASS = 0.7; /* else any other class is aimed at */

const char *graphss_i_rehearsed_name(size_t kind)
{
    static const char *const name[] = {"links and features", "links", "features", "copied"};
    return name[kind];
}

size_t graphss_i_rehearsal_kind(size_t i)
{
    static const size_t turn[TURNS] = {GRAPHSS_I_REHEARSED_BOTH, GRAPHSS_I_REHEARSED_LINKS,
                                       GRAPHSS_I_REHEARSED_WORDS, GRAPHSS_I_REHEARSED_BOTH,
                                       GRAPHSS_I_REHEARSED_COPIED};
    return turn[i % TURNS];
}

graphss_benign_options graphss_i_rehearsal_budget(size_t i)
{
    static const graphss_benign_options budget[BUDGETS] = {{1, 10}, {2, 20}, {5, 50}};
    return budget[i % BUDGETS];
}

typedef struct attacker {
    const graphss_i_rehearsal *in;
    graphss_i_sandbox world;
    graphss_rng rng;
    float *on;                     /* [d] the value of a new word */
    float *allowed;                /* [d] the chance that a word may be added */
    size_t n_pool, stride;         /* node i * stride for i below n_pool */
    float *pull[GRAPHSS_I_VOICES]; /* [n_pool x k] what a link to the node says */
    int32_t *target;               /* [VOICES x k x k x TARGETS] */
    uint8_t *sought;               /* [VOICES x k x k] */
} attacker;

static void attacker_destroy(graphss_ctx *ctx, attacker *a)
{
    graphss_i_sandbox_destroy(ctx, &a->world);
    graphss_release(ctx, a->on);
    graphss_release(ctx, a->allowed);
    for (size_t v = 0; v < GRAPHSS_I_VOICES; v++)
        graphss_release(ctx, a->pull[v]);
    graphss_release(ctx, a->target);
    graphss_release(ctx, a->sought);
}

/* pull_u = (says_u / s_u^2 + sum over neighbours v of says_v / (s_u s_v)) / sqrt(d_u + 2),
 * s = sqrt(d + 1): what u passes on to a new neighbour in a linear model of two steps */
static void weigh_targets(float *pull, const graphss_i_glance *g, size_t v, size_t n_pool,
                          size_t stride)
{
    const size_t k = g->k;
    for (size_t p = 0; p < n_pool; p++) {
        const size_t u = p * stride;
        const float degree = (float)graphss_graph_degree(g->graph, u);
        float *out = pull + p * k;
        for (size_t c = 0; c < k; c++)
            out[c] = g->says[v][u * k + c] / (degree + 1);
        for (int64_t e = g->graph->offset[u]; e < g->graph->offset[u + 1]; e++) {
            const size_t w = (size_t)g->graph->target[e];
            const float far = (float)graphss_graph_degree(g->graph, w);
            const float scale = 1 / sqrtf((degree + 1) * (far + 1));
            for (size_t c = 0; c < k; c++)
                out[c] += scale * g->says[v][w * k + c];
        }
        for (size_t c = 0; c < k; c++)
            out[c] /= sqrtf(degree + 2);
    }
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* allowed = h / (h + the median h), h: how many nodes hold the word */
static graphss_status allow_words(graphss_ctx *ctx, attacker *a, size_t d)
{
    float *held = graphss_i_alloc(ctx, d, sizeof *held);
    if (!held)
        return GRAPHSS_ERR_NOMEM;
    size_t n = 0;
    for (size_t j = 0; j < d; j++) {
        a->allowed[j] = (float)a->world.words.holders.length[j];
        if (a->allowed[j] > 0)
            held[n++] = a->allowed[j];
    }
    qsort(held, n, sizeof *held, compare);
    const float middle = n ? held[n / 2] : 1;
    for (size_t j = 0; j < d; j++)
        a->allowed[j] /= a->allowed[j] + middle;
    graphss_release(ctx, held);
    return GRAPHSS_OK;
}

static graphss_status attacker_init(graphss_ctx *ctx, attacker *a,
                                    const graphss_i_rehearsal *in)
{
    const graphss_i_glance *g = in->now;
    const size_t d = g->features->n_cols, k = g->k;
    a->in = in;
    a->rng = graphss_rng_make(in->seed, GRAPHSS_STREAM_DEFENCE);
    a->stride = g->n / POOL + 1;
    a->n_pool = (g->n + a->stride - 1) / a->stride;
    graphss_status st = graphss_i_sandbox_init(ctx, &a->world, g->graph, g->features);
    if (st)
        return st;
    a->on = graphss_i_alloc(ctx, d, sizeof *a->on);
    a->allowed = graphss_i_alloc(ctx, d, sizeof *a->allowed);
    a->target = graphss_i_alloc(ctx, GRAPHSS_I_VOICES * k * k, TARGETS * sizeof *a->target);
    a->sought = graphss_i_calloc(ctx, GRAPHSS_I_VOICES * k * k, sizeof *a->sought);
    bool good = a->on && a->allowed && a->target && a->sought;
    for (size_t v = 0; v < GRAPHSS_I_VOICES && good; v++) {
        a->pull[v] = graphss_i_alloc(ctx, a->n_pool, k * sizeof **a->pull);
        good = a->pull[v] != NULL;
        if (good)
            weigh_targets(a->pull[v], g, v, a->n_pool, a->stride);
    }
    if (!good)
        return GRAPHSS_ERR_NOMEM;
    const graphss_feature_kind kind = g->features->kind;
    st = graphss_i_words_on(ctx, a->on, &a->world.words,
                            kind == GRAPHSS_FEATURES_BINARY   ? GRAPHSS_DOMAIN_BINARY
                            : kind == GRAPHSS_FEATURES_COUNTS ? GRAPHSS_DOMAIN_COUNTS
                                                              : GRAPHSS_DOMAIN_REAL);
    return st ? st : allow_words(ctx, a, d);
}

/* ---- links ---- */

/* The nodes that pull most from one class to another, best first. */
static const int32_t *targets(attacker *a, size_t v, size_t from, size_t to)
{
    const size_t k = a->in->now->k, at = (v * k + from) * k + to;
    int32_t *list = a->target + at * TARGETS;
    if (a->sought[at])
        return list;
    a->sought[at] = 1;
    float best[TARGETS];
    size_t n = 0;
    for (size_t p = 0; p < a->n_pool; p++) {
        const float x = a->pull[v][p * k + to] - a->pull[v][p * k + from];
        if (n == TARGETS && x <= best[n - 1])
            continue;
        n += n < TARGETS;
        size_t i = n - 1;
        for (; i > 0 && best[i - 1] < x; i--) {
            best[i] = best[i - 1];
            list[i] = list[i - 1];
        }
        best[i] = x;
        list[i] = (int32_t)(p * a->stride);
    }
    for (; n < TARGETS; n++)
        list[n] = list[0];
    return list;
}

static graphss_status join(graphss_ctx *ctx, attacker *a, graphss_flips *flips, int32_t node,
                           size_t v, size_t from, size_t to, int64_t budget)
{
    const int32_t *list = targets(a, v, from, to);
    graphss_status st = GRAPHSS_OK;
    int64_t made = 0;
    for (int i = 0; i < TRIES && !st && made < budget; i++) {
        const int32_t u = list[graphss_rng_below(&a->rng, TARGETS)];
        if (u == node || graphss_i_rows_has(&a->world.links, (size_t)node, u))
            continue;
        st = graphss_i_sandbox_flip_link(ctx, &a->world, flips, node, node, u);
        made++;
    }
    return st;
}

/* ---- words ---- */

typedef struct chosen {
    float gain;
    int32_t word;
    bool add;
} chosen;

/* The words whose change speaks most for the class `to` and against `from`. */
static size_t choose_words(chosen *list, size_t most, attacker *a, int32_t node, size_t v,
                           size_t from, size_t to)
{
    const graphss_i_voice *voice = &a->in->now->voice[v];
    const size_t k = a->in->now->k, d = a->in->now->features->n_cols;
    const int32_t *own = a->world.words.column[node];
    const size_t n_own = (size_t)a->world.words.length[node];
    size_t n = 0;
    for (size_t j = 0, o = 0; j < d; j++) {
        const bool held = o < n_own && (size_t)own[o] == j;
        const float *w = voice->weight + j * k;
        float x = w[to] - w[from];
        if (!voice->counted)
            x *= a->on[j];
        o += held;
        x = held ? -x : x;
        if ((n == most && x <= list[n - 1].gain) ||
            (!held && graphss_rng_double(&a->rng) >= (double)a->allowed[j]))
            continue;
        n += n < most;
        size_t i = n - 1;
        for (; i > 0 && list[i - 1].gain < x; i--)
            list[i] = list[i - 1];
        list[i] = (chosen){x, (int32_t)j, !held};
    }
    return n;
}

static graphss_status reword(graphss_ctx *ctx, attacker *a, graphss_flips *flips, int32_t node,
                             size_t v, size_t from, size_t to, int64_t budget)
{
    chosen list[WORDS_MOST];
    const size_t n = choose_words(list, (size_t)budget, a, node, v, from, to);
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n && !st; i++)
        if (list[i].add || a->world.words.length[node] > 1)
            st = graphss_i_sandbox_set_word(ctx, &a->world, flips, node, node, list[i].word,
                                            list[i].add ? a->on[list[i].word] : 0);
    return st;
}

/* ---- copying ---- */

/* Links of `from` for half as many own ones, words of it for own ones. */
static graphss_status copy(graphss_ctx *ctx, attacker *a, graphss_flips *flips, int32_t node,
                           int32_t from, graphss_benign_options budget)
{
    graphss_i_sandbox *s = &a->world;
    const graphss_graph *g = a->in->now->graph;
    graphss_status st = GRAPHSS_OK;
    for (int turn = 0; turn < 2; turn++) { /* join, then cut */
        const int32_t giver = turn ? node : from;
        const size_t degree = graphss_graph_degree(g, (size_t)giver);
        int64_t left = turn ? (budget.links + 1) / 2 : budget.links + 1;
        for (int i = 0; i < TRIES && !st && degree && left > 0; i++) {
            const int32_t u =
                g->target[g->offset[giver] + (int64_t)graphss_rng_below(&a->rng, degree)];
            const bool linked = graphss_i_rows_has(&s->links, (size_t)node, u);
            if (u == node || linked != (turn == 1) ||
                (turn && !graphss_i_sandbox_may_cut(s, node, u)))
                continue;
            st = graphss_i_sandbox_flip_link(ctx, s, flips, node, node, u);
            left--;
        }
    }
    for (int turn = 0; turn < 2; turn++) { /* add, then drop */
        const int32_t giver = turn ? node : from, other = turn ? from : node;
        int64_t left = budget.features / 2;
        for (int64_t i = 0; i < 4 * budget.features && !st && left > 0; i++) {
            const int32_t n = s->words.length[giver];
            if (n < 2)
                break;
            const size_t at = (size_t)graphss_rng_below(&a->rng, (uint64_t)n);
            const int32_t word = s->words.column[giver][at];
            if (graphss_i_sandbox_word(s, (size_t)other, word) != 0)
                continue;
            const double value = graphss_i_words_value(&s->words, (size_t)giver, at);
            st = graphss_i_sandbox_set_word(ctx, s, flips, node, node, word,
                                            turn ? 0 : (float)value);
            left--;
        }
    }
    return st;
}

/* A node of another class, or -1. */
static int32_t other_node(attacker *a, size_t class)
{
    for (int i = 0; i < TRIES; i++) {
        const int32_t u = (int32_t)graphss_rng_below(&a->rng, a->in->now->n);
        if ((size_t)a->in->believed[u] != class)
            return u;
    }
    return -1;
}

/* ---- all of it ---- */

/* The likeliest other class, or any other. */
static size_t aim(attacker *a, int32_t node, size_t from)
{
    const size_t k = a->in->now->k;
    const float *p = a->in->now->prob + (size_t)node * k;
    size_t to = (from + 1 + (size_t)graphss_rng_below(&a->rng, k - 1)) % k;
    if (graphss_rng_double(&a->rng) < NEAREST_CLASS)
        for (size_t c = 0; c < k; c++)
            if (c != from && p[c] > p[to])
                to = c;
    return to;
}

static graphss_status attack(graphss_ctx *ctx, attacker *a, graphss_flips *flips, size_t i)
{
    const int32_t node = a->in->victim[i];
    const size_t kind = graphss_i_rehearsal_kind(i), from = (size_t)a->in->believed[node];
    const graphss_benign_options budget =
        graphss_i_rehearsal_budget((size_t)graphss_rng_below(&a->rng, BUDGETS));
    const size_t v = (size_t)graphss_rng_below(&a->rng, GRAPHSS_I_VOICES);
    graphss_status st = GRAPHSS_OK;
    if (a->in->now->k < 2)
        return st;
    const size_t to = aim(a, node, from);
    if (kind == GRAPHSS_I_REHEARSED_COPIED) {
        const int32_t model = other_node(a, from);
        return model < 0 ? st : copy(ctx, a, flips, node, model, budget);
    }
    if (kind != GRAPHSS_I_REHEARSED_WORDS)
        st = join(ctx, a, flips, node, v, from, to, budget.links);
    if (!st && kind != GRAPHSS_I_REHEARSED_LINKS)
        st = reword(ctx, a, flips, node, v, from, to, budget.features);
    return st;
}

static graphss_status attack_all(graphss_ctx *ctx, graphss_flips *flips,
                                 const graphss_i_rehearsal *in)
{
    attacker a = {0};
    graphss_status st = attacker_init(ctx, &a, in);
    for (size_t i = 0; i < in->n_victims && !st; i++)
        st = attack(ctx, &a, flips, i);
    attacker_destroy(ctx, &a);
    return st;
}

static graphss_status churn_all(graphss_ctx *ctx, graphss_flips *flips,
                                const graphss_graph *graph, const graphss_features *features,
                                const graphss_i_rehearsal *in)
{
    int32_t *label = graphss_i_copy(ctx, in->believed, in->now->n, sizeof *label);
    if (!label)
        return GRAPHSS_ERR_NOMEM;
    const graphss_dataset data = {
        .graph = *graph, .features = *features, .label = label, .n_classes = in->now->k};
    const graphss_status st =
        graphss_i_churn(ctx, flips, &data, in->churned, in->n_churned, in->seed, in->churn, 1);
    graphss_release(ctx, label);
    return st;
}

graphss_status graphss_i_rehearse(graphss_ctx *ctx, graphss_graph *graph,
                                  graphss_features *features, const graphss_i_rehearsal *in)
{
    graphss_flips hostile = {0}, benign = {0};
    graphss_graph hit = {0}, made = {0};
    graphss_features hit_words = {0}, made_words = {0};
    const bool attacked = in->n_victims > 0;
    graphss_status st = attacked ? attack_all(ctx, &hostile, in) : GRAPHSS_OK;
    if (!st && attacked)
        st = graphss_flips_apply_parts(ctx, &hit, &hit_words, in->now->graph,
                                       in->now->features, &hostile, NULL);
    const graphss_graph *base = attacked ? &hit : in->now->graph;
    const graphss_features *base_words = attacked ? &hit_words : in->now->features;
    if (!st)
        st = churn_all(ctx, &benign, base, base_words, in);
    if (!st)
        st = graphss_flips_apply_parts(ctx, &made, &made_words, base, base_words, &benign,
                                       NULL);
    graphss_graph_destroy(ctx, &hit);
    graphss_features_destroy(ctx, &hit_words);
    graphss_flips_destroy(ctx, &benign);
    graphss_flips_destroy(ctx, &hostile);
    if (st)
        return st;
    *graph = made;
    *features = made_words;
    return GRAPHSS_OK;
}
