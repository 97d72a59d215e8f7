/* simulate.c - the attacks do the work; copying is done here, since no attack module has it.
 */
#include "defence/simulate.h"
#include "attack/sandbox.h"
#include <graphss/benign.h>

enum { BUDGETS = GRAPHSS_I_BUDGETS, TRIES = 50 };
static const struct {
    int64_t links, features;
} budgets[BUDGETS] = {{1, 10}, {2, 20}, {5, 50}};
static const int64_t drawn_links[BUDGETS] = {2, 4, 6};
static const double borrowed[BUDGETS] = {0.5, 0.8, 1}; /* share of the words */

/* A node of another class, or -1. */
static int32_t model_for(const graphss_attack_input *in, int32_t victim, graphss_rng *rng)
{
    for (int i = 0; i < TRIES; i++) {
        const int32_t c = (int32_t)graphss_rng_below(rng, in->graph->n_nodes);
        if (in->label[c] >= 0 && in->label[c] != in->label[victim])
            return c;
    }
    return -1;
}

/* Joins the victim to neighbours of the model, and cuts half as many of its own links; or to
 * the model itself and a neighbour less, and cuts none. */
static graphss_status copy_links(graphss_ctx *ctx, graphss_i_sandbox *s, graphss_flips *flips,
                                 const graphss_attack_input *in, int32_t victim, int32_t from,
                                 bool itself, int64_t budget, graphss_rng *rng)
{
    graphss_status st = GRAPHSS_OK;
    int64_t made = 0;
    if (itself && !graphss_i_rows_has(&s->links, (size_t)victim, from)) {
        st = graphss_i_sandbox_flip_link(ctx, s, flips, victim, victim, from);
        made++;
    }
    const graphss_graph *g = in->graph;
    const size_t there = graphss_graph_degree(g, (size_t)from);
    const size_t own = graphss_graph_degree(g, (size_t)victim);
    for (int i = 0; i < TRIES && !st && there && made < budget; i++) {
        const int32_t u = g->target[g->offset[from] + (int64_t)graphss_rng_below(rng, there)];
        if (u == victim || graphss_i_rows_has(&s->links, (size_t)victim, u))
            continue;
        st = graphss_i_sandbox_flip_link(ctx, s, flips, victim, victim, u);
        made++;
    }
    for (int64_t cut = 0, i = 0; i < TRIES && !st && !itself && own > 1 && cut < made / 2;
         i++) {
        const int32_t u = g->target[g->offset[victim] + (int64_t)graphss_rng_below(rng, own)];
        if (!graphss_i_rows_has(&s->links, (size_t)victim, u) ||
            !graphss_i_sandbox_may_cut(s, victim, u))
            continue;
        st = graphss_i_sandbox_flip_link(ctx, s, flips, victim, victim, u);
        cut++;
    }
    return st;
}

/* Moves the words of a node towards those of the model: each that only one of them has is
 * taken over or dropped with chance `share`, at most `most` of them in all; one stays. */
static graphss_status copy_words(graphss_ctx *ctx, graphss_i_sandbox *s, graphss_flips *flips,
                                 int32_t victim, int32_t from, int64_t most, double share,
                                 graphss_rng *rng)
{
    graphss_status st = GRAPHSS_OK;
    for (int turn = 0; turn < 2; turn++) {
        const int32_t giver = turn ? victim : from, other = turn ? from : victim;
        const int32_t n = s->words.length[giver];
        int32_t *word = graphss_i_alloc(ctx, (size_t)n, sizeof *word);
        if (!word)
            return GRAPHSS_ERR_NOMEM;
        for (int32_t i = 0; i < n; i++)
            word[i] = s->words.column[giver][i];
        graphss_rng_shuffle(rng, word, (size_t)n);
        int64_t made = 0;
        for (int32_t i = 0; i < n && !st && made < most / 2; i++) {
            if (graphss_i_sandbox_word(s, (size_t)other, word[i]) != 0 ||
                graphss_rng_double(rng) >= share || (turn && s->words.length[victim] < 2))
                continue;
            const float value = turn ? 0 : graphss_i_sandbox_word(s, (size_t)giver, word[i]);
            st = graphss_i_sandbox_set_word(ctx, s, flips, victim, victim, word[i], value);
            made++;
        }
        graphss_release(ctx, word);
        if (st)
            return st;
    }
    return st;
}

/* Links and words of another node, or words alone. */
static graphss_status copy_all(graphss_ctx *ctx, graphss_flips *flips,
                               const graphss_attack_input *in, size_t budget, bool links)
{
    graphss_i_sandbox s = {0};
    graphss_rng rng = graphss_rng_make(in->seed, GRAPHSS_STREAM_DEFENCE);
    graphss_status st = graphss_i_sandbox_init(ctx, &s, in->graph, in->features);
    for (size_t v = 0; v < in->n_victims && !st; v++) {
        const int32_t victim = in->victim[v], from = model_for(in, victim, &rng);
        if (from < 0)
            continue;
        if (links)
            st = copy_links(ctx, &s, flips, in, victim, from, v % 2, budgets[budget].links + 1,
                            &rng);
        if (!st)
            st = copy_words(ctx, &s, flips, victim, from,
                            links ? budgets[budget].features : INT32_MAX,
                            links ? 1 : borrowed[budget], &rng);
    }
    graphss_i_sandbox_destroy(ctx, &s);
    return st;
}

static graphss_status churn(graphss_ctx *ctx, graphss_flips *flips,
                            const graphss_attack_input *in, size_t budget)
{
    int32_t *label = graphss_i_copy(ctx, in->label, in->graph->n_nodes, sizeof *label);
    if (!label)
        return GRAPHSS_ERR_NOMEM;
    const graphss_dataset data = {.graph = *in->graph,
                                  .features = *in->features,
                                  .label = label,
                                  .n_classes = in->n_classes};
    const graphss_benign_options opt = {.links = budgets[budget].links,
                                        .features = budgets[budget].features};
    const graphss_status st =
        graphss_benign_churn(ctx, flips, &data, in->victim, in->n_victims, in->seed, &opt);
    graphss_release(ctx, label);
    return st;
}

/* Drawn links do less harm than chosen ones, so an attacker draws more of them. */
static graphss_status run(graphss_ctx *ctx, graphss_flips *flips,
                          const graphss_attack_input *in, graphss_i_tampering kind,
                          size_t budget)
{
    if (kind == GRAPHSS_I_COPIED || kind == GRAPHSS_I_BORROWED)
        return copy_all(ctx, flips, in, budget, kind == GRAPHSS_I_COPIED);
    if (kind == GRAPHSS_I_CHURN)
        return churn(ctx, flips, in, budget);
    const bool drawn = kind == GRAPHSS_I_DICE || kind == GRAPHSS_I_RANDOM;
    graphss_attack_options opt = graphss_attack_options_default();
    opt.method = kind == GRAPHSS_I_DICE ? "dice" : drawn ? "random" : "nettack";
    opt.links = kind == GRAPHSS_I_FEATURES ? 0
                : drawn                    ? drawn_links[budget]
                                           : budgets[budget].links;
    opt.features =
        kind == GRAPHSS_I_LINKS || kind == GRAPHSS_I_DICE ? 0 : budgets[budget].features;
    return graphss_attack_run(ctx, flips, NULL, in, &opt);
}

/* Replaces *graph and *features by what the flips make of them. */
static graphss_status advance(graphss_ctx *ctx, graphss_graph *graph,
                              graphss_features *features, const graphss_flips *flips)
{
    graphss_graph next_graph = {0};
    graphss_features next_features = {0};
    const graphss_status st = graphss_flips_apply_parts(ctx, &next_graph, &next_features,
                                                        graph, features, flips, NULL);
    if (st)
        return st;
    graphss_graph_destroy(ctx, graph);
    graphss_features_destroy(ctx, features);
    *graph = next_graph;
    *features = next_features;
    return GRAPHSS_OK;
}

graphss_status graphss_i_simulate(graphss_ctx *ctx, graphss_graph *graph,
                                  graphss_features *features, const graphss_attack_input *in,
                                  graphss_i_tampering kind, const float *const *surrogate,
                                  size_t turn)
{
    graphss_attack_input step = *in;
    int32_t *some = graphss_i_alloc(ctx, in->n_victims, sizeof *some);
    graphss_status st = some ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    step.graph = graph;
    step.features = features;
    step.victim = some;
    for (size_t b = 0; b < BUDGETS && !st; b++) {
        graphss_flips flips = {0};
        step.n_victims = 0;
        for (size_t v = b; v < in->n_victims; v += BUDGETS)
            some[step.n_victims++] = in->victim[v];
        if (!step.n_victims)
            continue;
        step.surrogate = surrogate[(b + turn) % BUDGETS];
        st = run(ctx, &flips, &step, kind, kind == GRAPHSS_I_FEW ? 0 : b);
        if (!st)
            st = advance(ctx, graph, features, &flips);
        graphss_flips_destroy(ctx, &flips);
    }
    graphss_release(ctx, some);
    return st;
}
