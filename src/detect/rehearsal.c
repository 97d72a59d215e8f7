/* rehearsal.c - recipes for attacks and for benign change. See rehearsal.h. */
#include "detect/rehearsal.h"
#include "attack/attack_method.h"
#include "detect/tuning.h"
#include <math.h>
#include <stdlib.h>

/* How an attacker chooses: by the classifier's weights, by counts of features by class, or
 * both. */
typedef enum opinion { BY_WEIGHTS, BY_COUNTS, BY_BOTH, OPINIONS } opinion;

struct graphss_i_rehearsal_room {
    graphss_i_rehearsal_input in;
    size_t n, k;
    int32_t *assumed; /* [n] class by the classifier */
    int32_t *member;  /* [n] nodes by class */
    size_t *start;    /* [k + 1] of member */
    int32_t
        *pulling;    /* [k x TUNE_LOUD_EDGES] nodes that pull hardest towards a class, or -1 */
    int32_t **loud;  /* [OPINIONS x k x k] features that speak for t against y, loudest first;
                      * made when they are first wanted */
    double scale[2]; /* deviation of the surrogate's weights and of the log ratios */
    size_t n_loud;   /* length of each */
    float *on;       /* [d] value of a feature that is switched on */
};

void graphss_i_rehearsal_close(graphss_ctx *ctx, graphss_i_rehearsal_room *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->loud && i < OPINIONS * r->k * r->k; i++)
        graphss_release(ctx, r->loud[i]);
    graphss_release(ctx, r->loud);
    graphss_release(ctx, r->assumed);
    graphss_release(ctx, r->member);
    graphss_release(ctx, r->start);
    graphss_release(ctx, r->pulling);
    graphss_release(ctx, r->on);
    graphss_release(ctx, r);
}

static void sort_members(graphss_i_rehearsal_room *r)
{
    for (size_t v = 0; v < r->n; v++) {
        r->assumed[v] = (int32_t)graphss_i_top(r->in.prob + v * r->k, r->k);
        r->start[r->assumed[v] + 1]++;
    }
    for (size_t c = 0; c < r->k; c++)
        r->start[c + 1] += r->start[c];
    for (size_t v = r->n; v-- > 0;) /* start[c + 1] falls back to start[c] */
        r->member[--r->start[r->assumed[v] + 1]] = (int32_t)v;
    for (size_t c = 0; c < r->k; c++)
        r->start[c] = r->start[c + 1];
    r->start[r->k] = r->n;
}

/* pull of node u towards class t: prob[u][t] / sqrt(degree + 1), as the propagation weighs it
 */
static double pull(const graphss_i_rehearsal_room *r, size_t u, size_t t)
{
    return (double)r->in.prob[u * r->k + t] /
           sqrt((double)graphss_graph_degree(r->in.graph, u) + 1);
}

static void find_pulling(graphss_i_rehearsal_room *r)
{
    for (size_t t = 0; t < r->k; t++) {
        int32_t *top = r->pulling + t * TUNE_LOUD_EDGES;
        size_t n = 0;
        for (size_t i = r->start[t]; i < r->start[t + 1]; i++) {
            const int32_t u = r->member[i];
            const double own = pull(r, (size_t)u, t);
            if (n == TUNE_LOUD_EDGES && own <= pull(r, (size_t)top[n - 1], t))
                continue;
            size_t at = n < TUNE_LOUD_EDGES ? n++ : n - 1;
            while (at > 0 && pull(r, (size_t)top[at - 1], t) < own) {
                top[at] = top[at - 1];
                at--;
            }
            top[at] = u;
        }
        for (; n < TUNE_LOUD_EDGES; n++)
            top[n] = -1;
    }
}

static double by_counts(const graphss_i_rehearsal_room *r, size_t column, size_t t, size_t y)
{
    const float *ratio = r->in.classes->feature + column * r->k;
    return log((double)ratio[t] / (double)ratio[y]) / r->scale[BY_COUNTS];
}

static double by_weights(const graphss_i_rehearsal_room *r, size_t column, size_t t, size_t y)
{
    const float *w = r->in.surrogate + column * r->k;
    return (double)(w[t] - w[y]) / r->scale[BY_WEIGHTS];
}

/* How loudly a feature speaks for class t against y. */
static double speaks(
    const graphss_i_rehearsal_room *r, opinion by, size_t column, size_t t, size_t y)
{
    if (!r->in.surrogate || by == BY_COUNTS)
        return by_counts(r, column, t, y);
    return by_weights(r, column, t, y) + (by == BY_BOTH ? by_counts(r, column, t, y) : 0);
}

/* Deviations, to add weights and counts in the same unit. */
static void measure(graphss_i_rehearsal_room *r)
{
    const size_t n = r->in.features->n_cols * r->k;
    double sum[2] = {0};
    for (size_t i = 0; i < n; i++) {
        const double w = r->in.surrogate ? (double)r->in.surrogate[i] : 0;
        const double c = r->in.classes->dense ? 0 : log((double)r->in.classes->feature[i]);
        sum[BY_WEIGHTS] += w * w;
        sum[BY_COUNTS] += c * c;
    }
    for (size_t i = 0; i < 2; i++)
        r->scale[i] = sum[i] > 0 ? sqrt(sum[i] / (double)n) : 1;
}

graphss_status graphss_i_rehearsal_open(
    graphss_ctx *ctx, graphss_i_rehearsal_room **out, const graphss_i_rehearsal_input *in)
{
    const size_t n = in->graph->n_nodes, k = in->classes->k, d = in->features->n_cols;
    graphss_status st = GRAPHSS_OK;
    graphss_i_feature_index words = {0};
    graphss_i_rehearsal_room *r = graphss_i_calloc(ctx, 1, sizeof *r);
    if (!r)
        return GRAPHSS_ERR_NOMEM;
    r->in = *in;
    r->n = n;
    r->k = k;
    r->n_loud = d < TUNE_LOUD_FEATURES ? d : TUNE_LOUD_FEATURES;
    r->assumed = graphss_i_alloc(ctx, n, sizeof *r->assumed);
    r->member = graphss_i_alloc(ctx, n, sizeof *r->member);
    r->start = graphss_i_calloc(ctx, k + 1, sizeof *r->start);
    r->pulling = graphss_i_alloc(ctx, k, TUNE_LOUD_EDGES * sizeof *r->pulling);
    r->loud = graphss_i_calloc(ctx, k, OPINIONS * k * sizeof *r->loud);
    r->on = graphss_i_alloc(ctx, d, sizeof *r->on);
    if (!r->assumed || !r->member || !r->start || !r->pulling || !r->loud || !r->on)
        st = GRAPHSS_ERR_NOMEM;
    if (!st && !in->classes->dense) {
        graphss_attack_options opt;
        graphss_attack_options_init(&opt);
        st = graphss_i_feature_index_rows(ctx, &words, in->features);
        if (!st)
            st = graphss_i_feature_index_on(
                ctx, r->on, &words, graphss_i_attack_domain(in->features, &opt));
        graphss_i_feature_index_destroy(ctx, &words);
    }
    if (st) {
        graphss_i_rehearsal_close(ctx, r);
        return st;
    }
    sort_members(r);
    find_pulling(r);
    measure(r);
    *out = r;
    return GRAPHSS_OK;
}

/* ---- features that speak for t against y ---- */

typedef struct scored {
    double score;
    int32_t item;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    return x->score > y->score   ? -1
           : x->score < y->score ? 1
                                 : (x->item > y->item) - (x->item < y->item);
}

static graphss_status loud_features(
    graphss_ctx *ctx, graphss_i_rehearsal_room *r, opinion by, size_t t, size_t y)
{
    const size_t d = r->in.features->n_cols, at = (by * r->k + t) * r->k + y;
    if (r->loud[at])
        return GRAPHSS_OK;
    scored *all = graphss_i_alloc(ctx, d, sizeof *all);
    int32_t *list = graphss_i_alloc(ctx, r->n_loud, sizeof *list);
    if (!all || !list) {
        graphss_release(ctx, all);
        graphss_release(ctx, list);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t j = 0; j < d; j++)
        all[j] = (scored){speaks(r, by, j, t, y), (int32_t)j};
    qsort(all, d, sizeof *all, by_score);
    for (size_t i = 0; i < r->n_loud; i++)
        list[i] = all[i].item;
    graphss_release(ctx, all);
    r->loud[at] = list;
    return GRAPHSS_OK;
}

/* ---- one attacked node ---- */

typedef struct attack {
    graphss_i_rehearsal_room *r;
    graphss_i_sandbox *box;
    graphss_flips *flips;
    graphss_rng rng;
    int32_t v;
    size_t y, t;   /* the class it has by the classifier, the class wanted */
    int32_t donor; /* a node of class t */
    opinion by;
    bool wanders; /* changes benignly, with any node and not with near ones */
} attack;

typedef enum manner { ADD, ADD_MOSTLY, SWAP, CUT_MOSTLY, MANNERS } manner;
typedef enum choice { LOUDEST, LOUD, ANY, DONOR, CHOICES } choice;

static size_t draw(attack *a, size_t n)
{
    return (size_t)graphss_rng_below(&a->rng, n);
}

/* The second likeliest class, or one in three times any other. */
static size_t wanted_class(attack *a)
{
    const size_t k = a->r->k;
    const float *p = a->r->in.prob + (size_t)a->v * k;
    size_t best = a->y == 0 ? 1 : 0;
    for (size_t c = 0; c < k; c++)
        best = c != a->y && p[c] > p[best] ? c : best;
    if (draw(a, 3) == 0) {
        best = draw(a, k - 1);
        best += best >= a->y;
    }
    return best;
}

static int32_t any_member(attack *a, size_t c)
{
    const size_t n = a->r->start[c + 1] - a->r->start[c];
    return n ? a->r->member[a->r->start[c] + draw(a, n)] : (int32_t)draw(a, a->r->n);
}

/* A node to join, by the choice; -1: this draw gave none. */
static int32_t candidate(attack *a, choice how)
{
    const graphss_i_rows *edges = &a->box->edges;
    switch (how) {
    case LOUDEST:
    case LOUD:
        return a->r->pulling[a->t * TUNE_LOUD_EDGES +
                             draw(a, how == LOUD ? TUNE_LOUD_EDGES : TUNE_LOUD_EDGES / 4)];
    case DONOR: {
        const size_t n = (size_t)edges->length[a->donor];
        const size_t i = draw(a, n + 1);
        return i == n ? a->donor : edges->item[a->donor][i];
    }
    default:
        return any_member(a, a->t);
    }
}

static graphss_status add_edges(graphss_ctx *ctx, attack *a, size_t n, choice how)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t tries = 0; n && tries < 50 && !st; tries++) {
        const int32_t u = candidate(a, tries < 30 ? how : ANY);
        if (u < 0 || u == a->v || graphss_i_rows_has(&a->box->edges, (size_t)a->v, u))
            continue;
        st = graphss_i_sandbox_flip_edge(ctx, a->box, a->flips, a->v, a->v, u);
        n--;
    }
    return st;
}

/* Cuts edges to nodes of the node's own class. */
static graphss_status cut_edges(graphss_ctx *ctx, attack *a, size_t n)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t tries = 0; n && tries < 20 && !st; tries++) {
        const size_t degree = (size_t)a->box->edges.length[a->v];
        const int32_t u = degree ? a->box->edges.item[a->v][draw(a, degree)] : -1;
        if (u < 0 || a->r->assumed[u] != (int32_t)a->y ||
            !graphss_i_sandbox_may_cut(a->box, a->v, u))
            continue;
        st = graphss_i_sandbox_flip_edge(ctx, a->box, a->flips, a->v, a->v, u);
        n--;
    }
    return st;
}

/* How many of n changes are additions; the others take away. */
static size_t additions(manner how, size_t n)
{
    return how == ADD ? n : how == ADD_MOSTLY ? n - n / 5 : how == SWAP ? (n + 1) / 2 : n / 3;
}

static graphss_status attack_edges(graphss_ctx *ctx, attack *a)
{
    static const size_t budgets[] = {1, 2, 3, 5};
    const size_t n = budgets[draw(a, 4)];
    const manner how = (manner)draw(a, MANNERS);
    const choice with = (choice)draw(a, CHOICES);
    size_t add = additions(how, n);
    add = add ? add : 1;
    graphss_status st = add_edges(ctx, a, add, with);
    return st || add >= n ? st : cut_edges(ctx, a, n - add);
}

static int32_t loud_column(attack *a, const int32_t *loud, size_t most)
{
    return loud[draw(a, most)];
}

/* A column to switch on; -1: this draw gave none. order: how many were added so far */
static int32_t column(attack *a, choice how, const int32_t *loud, size_t order, size_t n)
{
    const size_t d = a->r->in.features->n_cols, most = a->r->n_loud;
    if (how == LOUDEST)
        return loud[order < most ? order : draw(a, most)];
    if (how == LOUD)
        return loud_column(a, loud, 5 * n < most ? 5 * n : most);
    if (how == DONOR) {
        const graphss_i_row x = graphss_i_row_of(a->r->in.features, (size_t)a->donor);
        return x.n ? x.column[draw(a, x.n)] : -1;
    }
    const size_t j = draw(a, d);
    return speaks(a->r, a->by, j, a->t, a->y) > 0 ? (int32_t)j : -1;
}

static graphss_status add_features(graphss_ctx *ctx, attack *a, size_t n, choice how)
{
    graphss_status st = loud_features(ctx, a->r, a->by, a->t, a->y);
    const int32_t *loud = a->r->loud[(a->by * a->r->k + a->t) * a->r->k + a->y];
    size_t order = 0, added = 0;
    for (size_t tries = 0; added < n && tries < 10 * n + 50 && !st; tries++) {
        const int32_t j = column(a, tries < 5 * n ? how : LOUD, loud, order++, n);
        if (j < 0 || graphss_i_sandbox_feature(a->box, (size_t)a->v, j) != 0)
            continue;
        st = graphss_i_sandbox_set_feature(ctx, a->box, a->flips, a->v, a->v, j, a->r->on[j]);
        added++;
    }
    return st;
}

/* Takes away features that speak for the node's own class. */
static graphss_status cut_features(graphss_ctx *ctx, attack *a, size_t n)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t tries = 0; n && tries < 100 && !st; tries++) {
        const size_t length = (size_t)a->box->words.length[a->v];
        if (length < 2)
            break;
        const int32_t j = a->box->words.column[a->v][draw(a, length)];
        if (speaks(a->r, a->by, (size_t)j, a->t, a->y) >= 0)
            continue;
        st = graphss_i_sandbox_set_feature(ctx, a->box, a->flips, a->v, a->v, j, 0);
        n--;
    }
    return st;
}

/* Dense features: a share of the measurements becomes the donor's. */
static graphss_status copy_values(graphss_ctx *ctx, attack *a, double share)
{
    const graphss_i_row x = graphss_i_row_of(a->r->in.features, (size_t)a->donor);
    graphss_status st = GRAPHSS_OK;
    for (size_t j = 0; j < x.n && !st; j++)
        if (graphss_rng_double(&a->rng) < share &&
            graphss_i_sandbox_feature(a->box, (size_t)a->v, (int32_t)j) != x.value[j])
            st = graphss_i_sandbox_set_feature(
                ctx, a->box, a->flips, a->v, a->v, (int32_t)j, x.value[j]);
    return st;
}

static graphss_status attack_features(graphss_ctx *ctx, attack *a)
{
    static const double budgets[] = {0.3, 0.6, 1, 1.5};
    const double share = budgets[draw(a, 4)];
    if (a->r->in.classes->dense)
        return copy_values(ctx, a, share < 1 ? share : 1);
    const size_t length = (size_t)a->box->words.length[a->v];
    size_t n = (size_t)(share * (double)length);
    n = n < 3 ? 3 : n > GRAPHSS_I_FEATURES_MOST ? GRAPHSS_I_FEATURES_MOST : n;
    const manner how = (manner)draw(a, MANNERS);
    const choice with = (choice)draw(a, CHOICES);
    const size_t add = additions(how, n);
    graphss_status st = cut_features(ctx, a, n - add);
    return st ? st : add_features(ctx, a, add, with);
}

/* ---- benign change: as broad in its manner as an attack, but without an aim ---- */

/* A neighbour of a neighbour, or any node: now and then, and for one node in three always; -1:
 * this draw gave none. */
static int32_t near_node(attack *a)
{
    const graphss_i_rows *edges = &a->box->edges;
    size_t degree = (size_t)edges->length[a->v];
    if (!degree || a->wanders || draw(a, 10) >= 7)
        return (int32_t)draw(a, a->r->n);
    const int32_t u = edges->item[a->v][draw(a, degree)];
    degree = (size_t)edges->length[u];
    return degree ? edges->item[u][draw(a, degree)] : -1;
}

/* Adds, removes or replaces a feature or an edge. */
typedef enum benign { GROWS, SHRINKS, REPLACES } benign;

/* Half of the changes are additions. */
static benign benign_manner(attack *a)
{
    const size_t i = draw(a, 4);
    return i < 2 ? GROWS : i == 2 ? SHRINKS : REPLACES;
}

static graphss_status change_edges(graphss_ctx *ctx, attack *a)
{
    const size_t n = 1 + draw(a, 4);
    const benign how = benign_manner(a);
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        const size_t degree = (size_t)a->box->edges.length[a->v];
        const bool cut = how == SHRINKS || (how == REPLACES && i % 2 == 0);
        const int32_t u = !cut     ? near_node(a)
                          : degree ? a->box->edges.item[a->v][draw(a, degree)]
                                   : -1;
        if (u < 0 || u == a->v)
            continue;
        if (cut ? graphss_i_sandbox_may_cut(a->box, a->v, u)
                : !graphss_i_rows_has(&a->box->edges, (size_t)a->v, u))
            st = graphss_i_sandbox_flip_edge(ctx, a->box, a->flips, a->v, a->v, u);
    }
    return st;
}

/* A feature that a nearby node has, one of any node, or now and then an arbitrary one: words
 * that no nearby node uses are strong evidence for some class, without an attacker. */
static graphss_status gain_feature(graphss_ctx *ctx, attack *a)
{
    const int32_t u = near_node(a);
    const graphss_i_row x = graphss_i_row_of(a->r->in.features, (size_t)(u < 0 ? a->v : u));
    const int32_t j = x.n && draw(a, 4) ? x.column[draw(a, x.n)]
                                        : (int32_t)draw(a, a->r->in.features->n_cols);
    return graphss_i_sandbox_feature(a->box, (size_t)a->v, j) != 0
               ? GRAPHSS_OK
               : graphss_i_sandbox_set_feature(
                     ctx, a->box, a->flips, a->v, a->v, j, a->r->on[j]);
}

static graphss_status lose_feature(graphss_ctx *ctx, attack *a)
{
    const size_t length = (size_t)a->box->words.length[a->v];
    if (length < 2)
        return GRAPHSS_OK;
    const int32_t j = a->box->words.column[a->v][draw(a, length)];
    return graphss_i_sandbox_set_feature(ctx, a->box, a->flips, a->v, a->v, j, 0);
}

static graphss_status change_features(graphss_ctx *ctx, attack *a)
{
    const size_t length = (size_t)a->box->words.length[a->v];
    const benign how = benign_manner(a);
    size_t n = (size_t)((0.1 + 0.5 * graphss_rng_double(&a->rng)) * (double)length);
    graphss_status st = GRAPHSS_OK;
    n = n < 1 ? 1 : n > GRAPHSS_I_FEATURES_MOST ? GRAPHSS_I_FEATURES_MOST : n;
    if (a->r->in.classes->dense) {
        a->donor = any_member(a, a->y);
        return copy_values(ctx, a, 0.3);
    }
    for (size_t i = 0; i < n && !st; i++) {
        if (how != GROWS)
            st = lose_feature(ctx, a);
        if (!st && how != SHRINKS)
            st = gain_feature(ctx, a);
    }
    return st;
}

/* ---- a round ---- */

static graphss_rng rng_of(const graphss_i_rehearsal_room *r, size_t round, int32_t v)
{
    return graphss_rng_make(r->in.seed * 1000003u + (uint64_t)round,
        ((uint64_t)GRAPHSS_STREAM_DEFENCE << 32) + (uint64_t)v);
}

static graphss_status act(graphss_ctx *ctx, attack *a, uint8_t *state)
{
    const bool features = a->r->in.features->n_cols > 0;
    graphss_status st = GRAPHSS_OK;
    if (graphss_rng_double(&a->rng) < TUNE_HALF) {
        const size_t what = features ? 1 + draw(a, GRAPHSS_I_TAMPERED_BOTH) : 1;
        a->t = wanted_class(a);
        a->donor = any_member(a, a->t);
        a->by = (opinion)draw(a, OPINIONS);
        if (what & GRAPHSS_I_TAMPERED_EDGES)
            st = attack_edges(ctx, a);
        if (!st && what & GRAPHSS_I_TAMPERED_FEATURES)
            st = attack_features(ctx, a);
        *state = (uint8_t)what;
    } else if (graphss_rng_double(&a->rng) < TUNE_HALF) {
        const size_t what = features ? draw(a, 3) : 0;
        a->wanders = draw(a, 3) == 0;
        if (what != 1)
            st = change_edges(ctx, a);
        if (!st && what != 0)
            st = change_features(ctx, a);
    }
    return st;
}

static graphss_status recipes(graphss_ctx *ctx, graphss_flips *flips, uint8_t *state,
    graphss_i_rehearsal_room *r, size_t round)
{
    graphss_i_sandbox box = {0};
    graphss_status st = graphss_i_sandbox_init(ctx, &box, r->in.graph, r->in.features);
    for (size_t i = 0; i < r->in.m && !st; i++) {
        const int32_t v = r->in.node[i];
        attack a = {.r = r,
            .box = &box,
            .flips = flips,
            .rng = rng_of(r, round, v),
            .v = v,
            .y = (size_t)r->assumed[v]};
        state[i] = GRAPHSS_I_UNTOUCHED;
        st = act(ctx, &a, &state[i]);
    }
    graphss_i_sandbox_destroy(ctx, &box);
    return st;
}

/* Half of the nodes, each with a budget of its own. */
static graphss_status nettack(graphss_ctx *ctx, graphss_flips *flips, uint8_t *state,
    graphss_i_rehearsal_room *r, size_t round)
{
    enum { SEARCHED = 2000 }; /* nodes that Nettack may join to, in larger graphs */
    static const graphss_i_attack_budget budgets[] = {{.edges = 1, .features = 10},
        {.edges = 2, .features = 20}, {.edges = 5, .features = 50}};
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    int32_t *victim = graphss_i_alloc(ctx, r->in.m, sizeof *victim);
    graphss_i_attack_budget *each = graphss_i_alloc(ctx, r->in.m, sizeof *each);
    graphss_status st = victim && each ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    size_t n = 0;
    opt.edges = 5;
    opt.features = 50;
    for (size_t i = 0; i < r->in.m && !st; i++) {
        graphss_rng rng = rng_of(r, TUNE_ROUNDS, r->in.node[i]);
        const bool mine = graphss_rng_below(&rng, TUNE_NETTACK_ROUNDS) == round - TUNE_ROUNDS;
        state[i] = mine ? GRAPHSS_I_SEARCHED : GRAPHSS_I_UNTOUCHED;
        if (!mine)
            continue;
        each[n] = budgets[graphss_rng_below(&rng, 3)];
        victim[n++] = r->in.node[i];
    }
    const graphss_attack_input in = {.struct_size = sizeof in,
        .graph = r->in.graph,
        .features = r->in.features,
        .label = r->assumed,
        .n_classes = r->k,
        .surrogate = r->in.surrogate,
        .victim = victim,
        .n_victims = n,
        .seed = r->in.seed};
    if (!st && n)
        st = graphss_i_nettack_each(ctx, flips, &in, &opt, each, r->n / SEARCHED + 1, NULL);
    graphss_release(ctx, victim);
    graphss_release(ctx, each);
    return st;
}

size_t graphss_i_rehearsal_rounds(void)
{
    return TUNE_ROUNDS + TUNE_NETTACK_ROUNDS;
}

graphss_status graphss_i_rehearsal_round(graphss_ctx *ctx, graphss_graph *graph,
    graphss_features *features, uint8_t *state, graphss_i_rehearsal_room *r, size_t round)
{
    const bool search = round >= TUNE_ROUNDS && r->in.surrogate && !r->in.classes->dense &&
                        r->in.features->n_cols > 0;
    graphss_flips flips = {0};
    graphss_status st =
        search ? nettack(ctx, &flips, state, r, round) : recipes(ctx, &flips, state, r, round);
    if (!st)
        st = graphss_i_apply(ctx, graph, features, r->in.graph, r->in.features, &flips, NULL);
    graphss_flips_destroy(ctx, &flips);
    return st;
}
