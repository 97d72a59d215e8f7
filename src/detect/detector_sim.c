/* detector_sim.c - Nettack itself, with the classifier's own weights as its surrogate. A quick
 * stand-in, the words and links that speak loudest for another class, was tried: its victims
 * were louder than those of a search under Nettack's tests, and the gate missed quiet ones.
 * The search is kept short on large graphs: links are sought among a sample of nodes. Of dense
 * features, where no word is there to be switched on, values are moved or copied. */
#include "detect/detector_sim.h"
#include "attack/apply.h"
#include "attack/attack_method.h"
#include "attack/sandbox.h"
#include "attack/simple/move.h"

enum {
    BUDGETS = 3,
    TURNS = 5,
    POOL = 2000,          /* links are sought among so many nodes */
    TOGETHER_MOST = 4096, /* with more words their co-occurrence is not tested */
    TRIES = 50
};

const char *graphss_i_rehearsed_name(size_t kind)
{
    static const char *const name[] = {"links and features", "links", "features", "copied"};
    return name[kind];
}

size_t graphss_i_rehearsal_kind(size_t i)
{
    static const size_t turn[TURNS] = {GRAPHSS_I_REHEARSED_BOTH, GRAPHSS_I_REHEARSED_EDGES,
                                       GRAPHSS_I_REHEARSED_WORDS, GRAPHSS_I_REHEARSED_BOTH,
                                       GRAPHSS_I_REHEARSED_COPIED};
    return turn[i % TURNS];
}

graphss_i_churning graphss_i_rehearsal_budget(size_t i)
{
    static const graphss_i_churning budget[BUDGETS] = {{.edges = 1, .features = 10},
                                                       {.edges = 2, .features = 20},
                                                       {.edges = 5, .features = 50}};
    return budget[i % BUDGETS];
}

/* ---- changes, made in one go ---- */

static bool same_link(const graphss_flip *a, const graphss_flip *b)
{
    return b->kind == GRAPHSS_FLIP_EDGE && ((a->node == b->node && a->target == b->target) ||
                                            (a->node == b->target && a->target == b->node));
}

/* Each stage sees the snapshot as it is, so two may flip the same link, where both of its
 * ends are rehearsed: the first has it. Words are flipped at the node itself alone. */
static graphss_status append(graphss_ctx *ctx, graphss_flips *all, const graphss_flips *stage,
                             const uint8_t *rehearsed)
{
    const size_t before = all->count;
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < stage->count && !st; i++) {
        const graphss_flip *f = &stage->item[i];
        bool taken = false;
        if (f->kind == GRAPHSS_FLIP_EDGE && rehearsed[f->node] && rehearsed[f->target])
            for (size_t j = 0; j < before && !taken; j++)
                taken = same_link(f, &all->item[j]);
        if (!taken)
            st = graphss_flips_add(ctx, all, *f);
    }
    return st;
}

/* ---- churn ---- */

static graphss_status churn_some(graphss_ctx *ctx, graphss_flips *flips,
                                 const graphss_i_rehearsal *in)
{
    int32_t *label = graphss_i_copy(ctx, in->believed, in->now->n, sizeof *label);
    if (!label)
        return GRAPHSS_ERR_NOMEM;
    const graphss_dataset data = {.graph = *in->now->graph,
                                  .features = *in->now->features,
                                  .label = label,
                                  .n_classes = in->now->k};
    const graphss_status st =
        graphss_i_churn(ctx, flips, &data, in->churned, in->n_churned, in->seed, in->churn, 1);
    graphss_release(ctx, label);
    return st;
}

/* ---- copying ---- */

typedef struct copier {
    const graphss_i_rehearsal *in;
    graphss_i_sandbox world;
    graphss_rng rng;
} copier;

/* Words of `from` for own ones. */
static graphss_status copy_words(graphss_ctx *ctx, copier *a, graphss_flips *flips,
                                 int32_t node, int32_t from, int64_t budget)
{
    graphss_i_sandbox *s = &a->world;
    graphss_status st = GRAPHSS_OK;
    for (int turn = 0; turn < 2; turn++) { /* add, then drop */
        const int32_t giver = turn ? node : from, other = turn ? from : node;
        int64_t left = budget / 2;
        for (int64_t i = 0; i < 4 * budget && !st && left > 0; i++) {
            const int32_t n = s->words.length[giver];
            if (n < 2)
                break;
            const size_t at = (size_t)graphss_rng_below(&a->rng, (uint64_t)n);
            const int32_t word = s->words.column[giver][at];
            if (graphss_i_sandbox_feature(s, (size_t)other, word) != 0)
                continue;
            const double value = graphss_i_feature_index_value(&s->words, (size_t)giver, at);
            st = graphss_i_sandbox_set_feature(ctx, s, flips, node, node, word,
                                               turn ? 0 : (float)value);
            left--;
        }
    }
    return st;
}

/* Values of `from` for own ones. */
static graphss_status copy_values(graphss_ctx *ctx, copier *a, graphss_flips *flips,
                                  int32_t node, int32_t from, int64_t budget)
{
    graphss_i_sandbox *s = &a->world;
    graphss_status st = GRAPHSS_OK;
    for (int64_t i = 0; i < budget && !st; i++) {
        const int32_t column = (int32_t)graphss_rng_below(&a->rng, s->words.d);
        const float value = graphss_i_sandbox_feature(s, (size_t)from, column);
        if (graphss_i_sandbox_feature(s, (size_t)node, column) != value)
            st = graphss_i_sandbox_set_feature(ctx, s, flips, node, node, column, value);
    }
    return st;
}

/* Links of `from` for half as many own ones, and features of it. */
static graphss_status copy(graphss_ctx *ctx, copier *a, graphss_flips *flips, int32_t node,
                           int32_t from, graphss_i_churning budget)
{
    graphss_i_sandbox *s = &a->world;
    const graphss_graph *g = a->in->now->graph;
    graphss_status st = GRAPHSS_OK;
    for (int turn = 0; turn < 2; turn++) { /* join, then cut */
        const int32_t giver = turn ? node : from;
        const size_t degree = graphss_graph_degree(g, (size_t)giver);
        int64_t left = turn ? (budget.edges + 1) / 2 : budget.edges + 1;
        for (int i = 0; i < TRIES && !st && degree && left > 0; i++) {
            const int32_t u =
                g->target[g->offset[giver] + (int64_t)graphss_rng_below(&a->rng, degree)];
            const bool linked = graphss_i_rows_has(&s->edges, (size_t)node, u);
            if (u == node || linked != (turn == 1) ||
                (turn && !graphss_i_sandbox_may_cut(s, node, u)))
                continue;
            st = graphss_i_sandbox_flip_edge(ctx, s, flips, node, node, u);
            left--;
        }
    }
    if (!st && s->words.d)
        st = (graphss_features_dense(a->in->now->features) ? copy_values : copy_words)(
            ctx, a, flips, node, from, budget.features);
    return st;
}

/* A node of another class, or -1. */
static int32_t other_node(copier *a, size_t class)
{
    for (int i = 0; i < TRIES; i++) {
        const int32_t u = (int32_t)graphss_rng_below(&a->rng, a->in->now->n);
        if ((size_t)a->in->believed[u] != class)
            return u;
    }
    return -1;
}

static graphss_status copy_some(graphss_ctx *ctx, graphss_flips *flips,
                                const graphss_i_rehearsal *in)
{
    copier a = {.in = in, .rng = graphss_rng_make(in->seed, GRAPHSS_STREAM_DEFENCE)};
    graphss_status st =
        graphss_i_sandbox_init(ctx, &a.world, in->now->graph, in->now->features);
    for (size_t i = 0; i < in->n_victims && !st; i++) {
        const int32_t node = in->victim[i];
        if (graphss_i_rehearsal_kind(i) != GRAPHSS_I_REHEARSED_COPIED)
            continue;
        const int32_t model = other_node(&a, (size_t)in->believed[node]);
        if (model >= 0)
            st = copy(ctx, &a, flips, node, model, graphss_i_rehearsal_budget(i / TURNS));
    }
    graphss_i_sandbox_destroy(ctx, &a.world);
    return st;
}

/* ---- Nettack ---- */

static graphss_status attack_some(graphss_ctx *ctx, graphss_flips *flips,
                                  const graphss_i_rehearsal *in)
{
    const graphss_i_glance *now = in->now;
    int32_t *victim = graphss_i_alloc(ctx, in->n_victims, sizeof *victim);
    graphss_i_attack_budget *each = graphss_i_calloc(ctx, in->n_victims, sizeof *each);
    double *share = graphss_i_calloc(ctx, in->n_victims, sizeof *share);
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    graphss_status st = victim && each && share ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    const bool dense = graphss_features_dense(now->features);
    size_t n = 0;
    opt.cooccurrence_test = now->features->n_cols <= TOGETHER_MOST;
    for (size_t i = 0; i < in->n_victims && !st; i++) {
        const size_t kind = graphss_i_rehearsal_kind(i);
        const graphss_i_churning budget = graphss_i_rehearsal_budget(i / TURNS);
        if (kind == GRAPHSS_I_REHEARSED_COPIED)
            continue;
        if (kind != GRAPHSS_I_REHEARSED_WORDS)
            each[n].edges = (size_t)budget.edges;
        if (kind != GRAPHSS_I_REHEARSED_EDGES && dense)
            share[n] = graphss_i_moves[i / TURNS % GRAPHSS_I_MOVES];
        else if (kind != GRAPHSS_I_REHEARSED_EDGES)
            each[n].features = (size_t)budget.features;
        victim[n++] = in->victim[i];
    }
    const graphss_attack_input input = {.struct_size = sizeof input,
                                        .graph = now->graph,
                                        .features = now->features,
                                        .label = in->believed,
                                        .n_classes = now->k,
                                        .surrogate = now->voice[0].weight,
                                        .victim = victim,
                                        .n_victims = n,
                                        .seed = in->seed};
    if (!st && n)
        st = graphss_i_nettack_each(ctx, flips, &input, &opt, each, now->n / POOL + 1, NULL);
    if (!st && n && dense) {
        graphss_rng rng = graphss_rng_make(in->seed, GRAPHSS_STREAM_DEFENCE);
        st = graphss_i_move(ctx, flips, &input, share, &rng);
    }
    graphss_release(ctx, share);
    graphss_release(ctx, each);
    graphss_release(ctx, victim);
    return st;
}

graphss_status graphss_i_rehearse(graphss_ctx *ctx, graphss_graph *graph,
                                  graphss_features *features, const graphss_i_rehearsal *in)
{
    typedef graphss_status (*stage)(graphss_ctx *, graphss_flips *,
                                    const graphss_i_rehearsal *);
    static const stage stages[] = {churn_some, copy_some, attack_some};
    const size_t n = in->n_victims == 0 || in->now->k < 2 ? 1
                     : in->now->features->n_cols          ? 3
                                                          : 2;
    graphss_flips all = {0};
    uint8_t *rehearsed = graphss_i_calloc(ctx, in->now->n, sizeof *rehearsed);
    graphss_status st = rehearsed ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < in->n_churned && !st; i++)
        rehearsed[in->churned[i]] = 1;
    for (size_t i = 0; i < in->n_victims && !st; i++)
        rehearsed[in->victim[i]] = 1;
    for (size_t i = 0; i < n && !st; i++) {
        graphss_flips flips = {0};
        st = stages[i](ctx, &flips, in);
        if (!st)
            st = append(ctx, &all, &flips, rehearsed);
        graphss_flips_destroy(ctx, &flips);
        if (!st)
            st = graphss_i_progress(ctx, "rehearse", i + 1, n, NULL);
    }
    if (!st)
        st = graphss_i_apply(ctx, graph, features, in->now->graph, in->now->features, &all,
                             NULL);
    graphss_flips_destroy(ctx, &all);
    graphss_release(ctx, rehearsed);
    return st;
}
