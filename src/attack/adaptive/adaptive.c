/* adaptive.c - an attacker who can run the defence and searches against it. Each query is a
 * whole snapshot in which every victim carries one candidate, so one query informs about all
 * victims. The first snapshots try one way of attack on all victims at once (openings): the
 * answer for a victim depends on what the others carry, and the search then improves the best
 * opening. After that each victim keeps a small archive of its best candidates, and tries
 * crossovers, mutations, and new candidates made by the moves that worked best so far. A
 * victim that is won keeps its candidate. The result is the best snapshot that was queried.
 *
 * Draws depend only on the seed, the victim and the number of the query, so adding a victim
 * does not change the others. */
#include "attack/adaptive/moves.h"
#include "attack/attack_method.h"
#include <math.h>
#include <string.h>

enum {
    ARCHIVE = 4, /* candidates kept for each victim; the next slot is what it carries now */
    NOW = ARCHIVE,
    SLOTS
};

/* In the order they are tried, the broadest first: a short search sees only these. */
static const struct {
    graphss_i_feature_move features;
    graphss_i_edge_move edges;
} opening[] = {
    {GRAPHSS_I_FEATURES_LOUD, GRAPHSS_I_EDGES_LOUD},
    {GRAPHSS_I_FEATURES_SWAP, GRAPHSS_I_EDGES_SWAP},
    {GRAPHSS_I_FEATURES_SOME, GRAPHSS_I_EDGES_ANY},
    {GRAPHSS_I_FEATURES_DONOR, GRAPHSS_I_EDGES_DONOR},
    {GRAPHSS_I_FEATURES_DROP, GRAPHSS_I_EDGES_CUT},
    {GRAPHSS_I_FEATURES_SOME, GRAPHSS_I_EDGES_ALIKE},
    {GRAPHSS_I_FEATURES_SWAP, GRAPHSS_I_EDGES_CUT},
    {GRAPHSS_I_FEATURES_FEW, GRAPHSS_I_EDGES_ALIKE},
    {GRAPHSS_I_FEATURES_NONE, GRAPHSS_I_EDGES_LOUD},
    {GRAPHSS_I_FEATURES_LOUD, GRAPHSS_I_EDGES_NONE},
};
enum { OPENINGS = sizeof opening / sizeof *opening };

typedef struct candidate {
    size_t n_edges, n_features;
    int32_t class_;
    graphss_i_edge_move edge_move;
    graphss_i_feature_move feature_move;
    double loss; /* the query it was last part of */
} candidate;

/* How often a move was tried, and how often it won. */
typedef struct tally {
    double tried, won;
} tally;

typedef struct search {
    const graphss_attack_input *in;
    graphss_i_known known;
    graphss_i_attack_budget *budget;    /* [n_victims] */
    size_t *first_edge, *first_feature; /* [n_victims + 1] into the two below */
    graphss_i_change *edge[SLOTS], *feature[SLOTS];
    graphss_i_change *spare; /* [most features of a victim] */
    candidate *slot[SLOTS];  /* [n_victims] */
    int *archived;           /* [n_victims] filled slots; those are sorted by loss */
    uint8_t *again;          /* [n_victims] carries what is in its first slot */
    double *loss;            /* [n_victims] the last answer */
    tally edge_tally[GRAPHSS_I_EDGE_MOVES], feature_tally[GRAPHSS_I_FEATURE_MOVES];
    double *best_loss;  /* [n_victims] of the best snapshot, */
    graphss_flips best; /* and its changes */
    size_t asked;
} search;

/* ---- candidates ---- */

static void copy_edges(search *s, size_t i, int to, int from)
{
    s->slot[to][i].n_edges = s->slot[from][i].n_edges;
    s->slot[to][i].edge_move = s->slot[from][i].edge_move;
    memcpy(s->edge[to] + s->first_edge[i], s->edge[from] + s->first_edge[i],
        s->slot[from][i].n_edges * sizeof **s->edge);
}

static void copy_features(search *s, size_t i, int to, int from)
{
    s->slot[to][i].n_features = s->slot[from][i].n_features;
    s->slot[to][i].feature_move = s->slot[from][i].feature_move;
    memcpy(s->feature[to] + s->first_feature[i], s->feature[from] + s->first_feature[i],
        s->slot[from][i].n_features * sizeof **s->feature);
}

static void copy_candidate(search *s, size_t i, int to, int from)
{
    copy_edges(s, i, to, from);
    copy_features(s, i, to, from);
    s->slot[to][i].class_ = s->slot[from][i].class_;
    s->slot[to][i].loss = s->slot[from][i].loss;
}

/* Success rate of a move by Laplace's rule of succession: a move not yet tried has one half.
 */
static size_t draw_move(const tally *t, size_t n, graphss_rng *rng)
{
    double sum = 0, at = 0;
    for (size_t m = 0; m < n; m++)
        sum += (t[m].won + 1) / (t[m].tried + 2);
    const double draw = graphss_rng_double(rng) * sum;
    for (size_t m = 0; m + 1 < n; m++) {
        at += (t[m].won + 1) / (t[m].tried + 2);
        if (draw < at)
            return m;
    }
    return n - 1;
}

static graphss_i_edge_move draw_edge_move(const search *s, graphss_rng *rng)
{
    return (graphss_i_edge_move)draw_move(s->edge_tally, GRAPHSS_I_EDGE_MOVES, rng);
}

static graphss_i_feature_move draw_feature_move(const search *s, graphss_rng *rng)
{
    return (graphss_i_feature_move)draw_move(s->feature_tally, GRAPHSS_I_FEATURE_MOVES, rng);
}

static void new_edges(
    search *s, size_t i, graphss_i_edge_move move, int32_t donor, graphss_rng *rng)
{
    candidate *c = &s->slot[NOW][i];
    c->edge_move = move;
    c->n_edges = graphss_i_choose_edges(s->edge[NOW] + s->first_edge[i], s->budget[i].edges,
        &s->known, s->in->victim[i], c->class_, donor, move, rng);
}

static void new_features(
    search *s, size_t i, graphss_i_feature_move move, int32_t donor, graphss_rng *rng)
{
    candidate *c = &s->slot[NOW][i];
    c->feature_move = move;
    c->n_features = graphss_i_choose_features(s->feature[NOW] + s->first_feature[i],
        s->budget[i].features, &s->known, s->in->victim[i], c->class_, donor, move, rng);
}

/* Keeps about half of the features and fills up with those of another move. */
static void renew_features(search *s, size_t i, int32_t donor, graphss_rng *rng)
{
    candidate *c = &s->slot[NOW][i];
    graphss_i_change *own = s->feature[NOW] + s->first_feature[i];
    size_t kept = 0;
    for (size_t j = 0; j < c->n_features; j++)
        if (graphss_rng_below(rng, 2) == 0)
            own[kept++] = own[j];
    c->feature_move = draw_feature_move(s, rng);
    const size_t most = s->budget[i].features;
    const size_t n = graphss_i_choose_features(
        s->spare, most, &s->known, s->in->victim[i], c->class_, donor, c->feature_move, rng);
    const size_t old = kept;
    for (size_t j = 0; j < n && kept < most; j++) {
        bool there = false;
        for (size_t e = 0; e < old && !there; e++)
            there = own[e].target == s->spare[j].target;
        if (!there)
            own[kept++] = s->spare[j];
    }
    c->n_features = kept;
}

/* One of the archive, the better ones more often. */
static int draw_parent(const search *s, size_t i, graphss_rng *rng)
{
    const uint64_t n = (uint64_t)s->archived[i];
    const int a = (int)graphss_rng_below(rng, n), b = (int)graphss_rng_below(rng, n);
    return a < b ? a : b;
}

/* Half of the new candidates aim at the nearest class, the rest at any. */
static int32_t draw_class(const search *s, size_t i, graphss_rng *rng)
{
    const size_t others = s->known.k - 1;
    const size_t at = graphss_rng_below(rng, 2) == 0 ? 0 : graphss_rng_below(rng, others);
    return s->known.wanted[i * others + at];
}

/* The candidate of victim i in the next snapshot. */
static void propose(search *s, size_t i)
{
    const uint64_t stream = GRAPHSS_STREAM_ATTACK + ((uint64_t)s->in->victim[i] + 1) * 256;
    graphss_rng rng =
        graphss_rng_make(s->in->seed + (s->asked + 1) * 0x9E3779B97F4A7C15u, stream);
    candidate *c = &s->slot[NOW][i];
    s->again[i] = 0;
    if (s->asked < OPENINGS) {
        c->class_ = s->known.wanted[i * (s->known.k - 1)];
        const int32_t donor = graphss_i_choose_donor(&s->known, c->class_, &rng);
        new_edges(s, i, opening[s->asked].edges, donor, &rng);
        new_features(s, i, opening[s->asked].features, donor, &rng);
        return;
    }
    if (s->slot[0][i].loss < 0) { /* it is won */
        copy_candidate(s, i, NOW, 0);
        s->again[i] = 1;
        return;
    }
    const uint64_t way = graphss_rng_below(&rng, 3);
    if (way == 0) { /* a crossing */
        copy_candidate(s, i, NOW, draw_parent(s, i, &rng));
        copy_edges(s, i, NOW, draw_parent(s, i, &rng));
    } else if (way == 1) { /* a mutation */
        copy_candidate(s, i, NOW, draw_parent(s, i, &rng));
        const int32_t donor = graphss_i_choose_donor(&s->known, c->class_, &rng);
        if (graphss_rng_below(&rng, 2) == 0)
            new_edges(s, i, draw_edge_move(s, &rng), donor, &rng);
        else
            renew_features(s, i, donor, &rng);
    } else {
        c->class_ = draw_class(s, i, &rng);
        const int32_t donor = graphss_i_choose_donor(&s->known, c->class_, &rng);
        new_edges(s, i, draw_edge_move(s, &rng), donor, &rng);
        new_features(s, i, draw_feature_move(s, &rng), donor, &rng);
    }
}

/* ---- snapshots ---- */

/* Makes the changes of one victim, but for those another one made, made impossible or would
 * leave a node without edges or without features. */
static graphss_status carry(graphss_ctx *ctx, graphss_i_sandbox *world, graphss_flips *flips,
    const search *s, size_t i)
{
    const candidate *c = &s->slot[NOW][i];
    const int32_t v = s->in->victim[i];
    const graphss_i_change *edge = s->edge[NOW] + s->first_edge[i];
    const graphss_i_change *feature = s->feature[NOW] + s->first_feature[i];
    graphss_status st = GRAPHSS_OK;
    for (size_t j = 0; j < c->n_edges && !st; j++) {
        const bool there = graphss_i_rows_has(&world->edges, (size_t)v, edge[j].target);
        if (there == (edge[j].value != 0) ||
            (there && !graphss_i_sandbox_may_cut(world, v, edge[j].target)))
            continue;
        st = graphss_i_sandbox_flip_edge(ctx, world, flips, v, v, edge[j].target);
    }
    for (size_t j = 0; j < c->n_features && !st; j++)
        if (feature[j].value != 0 || world->words.length[v] > 1)
            st = graphss_i_sandbox_set_feature(
                ctx, world, flips, v, v, feature[j].target, feature[j].value);
    return st;
}

static graphss_status ask_model(graphss_ctx *ctx, double *loss, const graphss_attack_input *in,
    const graphss_graph *graph, const graphss_features *features)
{
    const size_t n = graph->n_nodes, k = in->n_classes;
    float *prob = graphss_i_alloc(ctx, n, k * sizeof *prob);
    double *posterior = graphss_i_alloc(ctx, n, k * sizeof *posterior);
    graphss_status st = prob && posterior ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_model_predict(ctx, prob, in->model, graph, features);
    for (size_t e = 0; e < n * k && !st; e++)
        posterior[e] = (double)prob[e];
    if (!st)
        graphss_attack_margins(loss, in, posterior);
    graphss_release(ctx, posterior);
    graphss_release(ctx, prob);
    return st;
}

/* Builds the snapshot in which each victim carries its candidate, and queries the defence. */
static graphss_status ask(graphss_ctx *ctx, graphss_flips *flips, search *s)
{
    const graphss_attack_input *in = s->in;
    graphss_i_sandbox world = {0};
    graphss_graph graph = {0};
    graphss_features features = {0};
    graphss_status st = graphss_i_sandbox_init(ctx, &world, in->graph, in->features);
    for (size_t i = 0; i < in->n_victims && !st; i++)
        st = carry(ctx, &world, flips, s, i);
    if (!st)
        st = graphss_i_apply(ctx, &graph, &features, in->graph, in->features, flips, NULL);
    if (!st)
        st = in->ask ? in->ask(in->asked, ctx, s->loss, in, &graph, &features)
                     : ask_model(ctx, s->loss, in, &graph, &features);
    for (size_t i = 0; i < in->n_victims && !st; i++)
        if (isnan(s->loss[i]))
            st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "adaptive: the answer for node %d is not a number", (int)in->victim[i]);
    graphss_features_destroy(ctx, &features);
    graphss_graph_destroy(ctx, &graph);
    graphss_i_sandbox_destroy(ctx, &world);
    return st;
}

/* ---- learning ---- */

static size_t wins(const double *loss, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += loss[i] < 0;
    return count;
}

static double sum(const double *loss, size_t n)
{
    double total = 0;
    for (size_t i = 0; i < n; i++)
        total += loss[i];
    return total;
}

/* True if the last snapshot wins more victims than the best, or as many by more. */
static bool better(const search *s)
{
    const size_t n = s->in->n_victims;
    if (s->asked == 0)
        return true;
    const size_t now = wins(s->loss, n), then = wins(s->best_loss, n);
    return now != then ? now > then : sum(s->loss, n) < sum(s->best_loss, n);
}

/* Moves what is in `slot` up to its place among those before it. */
static void sift(search *s, size_t i, int slot)
{
    for (int at = slot; at > 0 && s->slot[at][i].loss < s->slot[at - 1][i].loss; at--) {
        /* NOW is free: it has been stored. */
        copy_candidate(s, i, NOW, at);
        copy_candidate(s, i, at, at - 1);
        copy_candidate(s, i, at - 1, NOW);
    }
}

static void learn(search *s, size_t i)
{
    candidate *now = &s->slot[NOW][i];
    now->loss = s->loss[i];
    s->edge_tally[now->edge_move].tried++;
    s->feature_tally[now->feature_move].tried++;
    s->edge_tally[now->edge_move].won += now->loss < 0;
    s->feature_tally[now->feature_move].won += now->loss < 0;
    if (s->again[i]) {
        s->slot[0][i].loss = now->loss;
        for (int at = 1; at < s->archived[i]; at++)
            sift(s, i, at);
        return;
    }
    if (s->archived[i] < ARCHIVE)
        s->archived[i]++;
    else if (now->loss >= s->slot[ARCHIVE - 1][i].loss)
        return;
    copy_candidate(s, i, s->archived[i] - 1, NOW);
    sift(s, i, s->archived[i] - 1);
}

static graphss_status run_search(graphss_ctx *ctx, search *s, size_t queries)
{
    const size_t n = s->in->n_victims;
    for (; s->asked < queries; s->asked++) {
        graphss_flips flips = {0};
        for (size_t i = 0; i < n; i++)
            propose(s, i);
        graphss_status st = ask(ctx, &flips, s);
        if (!st && better(s)) {
            const graphss_flips old = s->best;
            s->best = flips;
            flips = old;
            memcpy(s->best_loss, s->loss, n * sizeof *s->loss);
        }
        graphss_flips_destroy(ctx, &flips);
        for (size_t i = 0; i < n && !st; i++)
            learn(s, i);
        if (!st)
            st = graphss_i_progress(ctx, "attack", s->asked + 1, queries, NULL);
        if (st)
            return st;
    }
    return GRAPHSS_OK;
}

/* ---- the attack ---- */

static graphss_status allocate(graphss_ctx *ctx, search *s, const graphss_attack_options *opt)
{
    const graphss_attack_input *in = s->in;
    const size_t n = in->n_victims;
    size_t most = 0;
    s->budget = graphss_i_calloc(ctx, n, sizeof *s->budget);
    s->first_edge = graphss_i_calloc(ctx, n + 1, sizeof *s->first_edge);
    s->first_feature = graphss_i_calloc(ctx, n + 1, sizeof *s->first_feature);
    s->archived = graphss_i_calloc(ctx, n, sizeof *s->archived);
    s->again = graphss_i_calloc(ctx, n, sizeof *s->again);
    s->loss = graphss_i_calloc(ctx, n, sizeof *s->loss);
    s->best_loss = graphss_i_calloc(ctx, n, sizeof *s->best_loss);
    if (!s->budget || !s->first_edge || !s->first_feature || !s->archived || !s->again ||
        !s->loss || !s->best_loss)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        graphss_i_attack_budget *b = &s->budget[i];
        *b = graphss_i_attack_budget_of(
            opt, in, in->victim[i], graphss_graph_degree(in->graph, (size_t)in->victim[i]));
        b->edges = b->edges < in->graph->n_nodes ? b->edges : in->graph->n_nodes;
        b->features = b->features < in->features->n_cols ? b->features : in->features->n_cols;
        most = b->features > most ? b->features : most;
        s->first_edge[i + 1] = s->first_edge[i] + b->edges;
        s->first_feature[i + 1] = s->first_feature[i] + b->features;
    }
    s->spare = graphss_i_calloc(ctx, most, sizeof *s->spare);
    if (!s->spare)
        return GRAPHSS_ERR_NOMEM;
    for (int k = 0; k < SLOTS; k++) {
        s->edge[k] = graphss_i_calloc(ctx, s->first_edge[n], sizeof **s->edge);
        s->feature[k] = graphss_i_calloc(ctx, s->first_feature[n], sizeof **s->feature);
        s->slot[k] = graphss_i_calloc(ctx, n, sizeof **s->slot);
        if (!s->edge[k] || !s->feature[k] || !s->slot[k])
            return GRAPHSS_ERR_NOMEM;
    }
    return GRAPHSS_OK;
}

static void destroy(graphss_ctx *ctx, search *s)
{
    for (int k = 0; k < SLOTS; k++) {
        graphss_release(ctx, s->slot[k]);
        graphss_release(ctx, s->feature[k]);
        graphss_release(ctx, s->edge[k]);
    }
    graphss_flips_destroy(ctx, &s->best);
    graphss_release(ctx, s->spare);
    graphss_release(ctx, s->best_loss);
    graphss_release(ctx, s->loss);
    graphss_release(ctx, s->again);
    graphss_release(ctx, s->archived);
    graphss_release(ctx, s->first_feature);
    graphss_release(ctx, s->first_edge);
    graphss_release(ctx, s->budget);
    graphss_i_known_destroy(ctx, &s->known);
}

/* The best snapshot as the result; its changes are in the order of the victims. */
static graphss_status report(
    graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log, const search *s)
{
    const graphss_attack_input *in = s->in;
    log->victim = graphss_i_calloc(ctx, in->n_victims, sizeof *log->victim);
    if (!log->victim)
        return GRAPHSS_ERR_NOMEM;
    log->n_queries = s->asked;
    size_t at = 0;
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < in->n_victims; i++) {
        graphss_attack_victim *v = &log->victim[log->n_victims++];
        *v = (graphss_attack_victim){.node = in->victim[i],
            .loss_before = NAN,
            .loss_after = s->best_loss[i],
            .wanted = s->budget[i].edges + s->budget[i].features};
        for (; at < s->best.count && s->best.item[at].victim == v->node && !st; at++) {
            const graphss_flip flip = s->best.item[at];
            *(flip.kind == GRAPHSS_FLIP_EDGE ? &v->n_edges : &v->n_features) += 1;
            st = graphss_flips_add(ctx, out, flip);
        }
    }
    return st ? st : graphss_i_attack_log_steps(ctx, log, out);
}

static graphss_status run(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    if (opt->kind == GRAPHSS_ATTACK_BOTH || opt->influencers || opt->independent)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "adaptive: want --kind lf, links or features, no --influencers "
            "and no --independent");
    search s = {.in = in};
    const size_t queries =
        opt->queries ? (size_t)opt->queries : (size_t)GRAPHSS_ATTACK_QUERIES;
    graphss_status st = graphss_i_known_init(ctx, &s.known, in, opt);
    if (!st)
        st = allocate(ctx, &s, opt);
    if (!st)
        st = run_search(ctx, &s, queries);
    if (!st)
        st = report(ctx, out, log, &s);
    destroy(ctx, &s);
    return st;
}

const graphss_i_attack_method graphss_i_adaptive_attack = {
    .name = "adaptive",
    .summary = "searches against the defence itself, by asking it about whole snapshots",
    .needs_surrogate = true,
    .needs_model = true,
    .domain = true,
    .queries = true,
    .run = run,
};
