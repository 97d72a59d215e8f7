/* simulate.c - Nettack does the work; copying is done here, since no attack module has it. */
#include "defence/simulate.h"
#include "attack/sandbox.h"
#include <graphss/benign.h>

enum { BUDGETS = GRAPHSS_I_BUDGETS, TRIES = 50 };
static const struct {
    int64_t links, features;
} budgets[BUDGETS] = {{1, 10}, {2, 20}, {5, 50}};

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

/* Joins the victim to neighbours of the model, and cuts half as many of its own links. */
static graphss_status copy_links(graphss_ctx *ctx, graphss_i_sandbox *s, graphss_flips *flips,
                                 const graphss_attack_input *in, int32_t victim, int32_t from,
                                 int64_t budget, graphss_rng *rng)
{
    graphss_status st = GRAPHSS_OK;
    int64_t made = 0;
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
    for (int64_t cut = 0, i = 0; i < TRIES && !st && own > 1 && cut < made / 2; i++) {
        const int32_t u = g->target[g->offset[victim] + (int64_t)graphss_rng_below(rng, own)];
        if (!graphss_i_rows_has(&s->links, (size_t)victim, u) ||
            !graphss_i_sandbox_may_cut(s, victim, u))
            continue;
        st = graphss_i_sandbox_flip_link(ctx, s, flips, victim, victim, u);
        cut++;
    }
    return st;
}

/* Half of the budget takes words of the model, half drops own words it lacks. */
static graphss_status copy_words(graphss_ctx *ctx, graphss_i_sandbox *s, graphss_flips *flips,
                                 int32_t victim, int32_t from, int64_t budget,
                                 graphss_rng *rng)
{
    graphss_status st = GRAPHSS_OK;
    for (int turn = 0; turn < 2; turn++) {
        const int32_t giver = turn ? victim : from, other = turn ? from : victim;
        int64_t made = 0;
        for (int64_t i = 0; i < 4 * budget && !st && made < budget / 2; i++) {
            const int32_t n = s->words.length[giver];
            if (n < 2)
                break;
            const size_t at = (size_t)graphss_rng_below(rng, (uint64_t)n);
            const int32_t word = s->words.column[giver][at];
            if (graphss_i_sandbox_word(s, (size_t)other, word) != 0)
                continue;
            const double value = graphss_i_words_value(&s->words, (size_t)giver, at);
            st = graphss_i_sandbox_set_word(ctx, s, flips, victim, victim, word,
                                            turn ? 0 : (float)value);
            made++;
        }
    }
    return st;
}

static graphss_status copy_all(graphss_ctx *ctx, graphss_flips *flips,
                               const graphss_attack_input *in)
{
    graphss_i_sandbox s = {0};
    graphss_rng rng = graphss_rng_make(in->seed, GRAPHSS_STREAM_DEFENCE);
    graphss_status st = graphss_i_sandbox_init(ctx, &s, in->graph, in->features);
    for (size_t v = 0; v < in->n_victims && !st; v++) {
        const int32_t victim = in->victim[v], from = model_for(in, victim, &rng);
        if (from < 0)
            continue;
        st =
            copy_links(ctx, &s, flips, in, victim, from, budgets[v % BUDGETS].links + 1, &rng);
        if (!st)
            st = copy_words(ctx, &s, flips, victim, from, budgets[v % BUDGETS].features, &rng);
    }
    graphss_i_sandbox_destroy(ctx, &s);
    return st;
}

/* Each third of the nodes changes as much as the attacks change it. */
static graphss_status churn(graphss_ctx *ctx, graphss_flips *flips,
                            const graphss_attack_input *in, int budget)
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
                                  const float *const *surrogate, graphss_i_tampering kind)
{
    graphss_graph g = {0};
    graphss_features x = {0};
    graphss_attack_input step = *in;
    int32_t *third = graphss_i_alloc(ctx, in->n_victims / BUDGETS + 1, sizeof *third);
    graphss_status st = third ? graphss_graph_copy(ctx, &g, in->graph) : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_features_copy(ctx, &x, in->features);
    step.graph = &g;
    step.features = &x;
    for (int b = 0; b < (kind == GRAPHSS_I_COPIED ? 1 : BUDGETS) && !st; b++) {
        const int budget = kind == GRAPHSS_I_FEW ? 0 : b;
        step.surrogate = surrogate[b];
        graphss_flips flips = {0};
        graphss_attack_options opt = graphss_attack_options_default();
        opt.links = kind == GRAPHSS_I_FEATURES ? 0 : budgets[budget].links;
        opt.features = kind == GRAPHSS_I_LINKS ? 0 : budgets[budget].features;
        if (kind != GRAPHSS_I_COPIED) {
            step.victim = third;
            step.n_victims = 0;
            for (size_t v = (size_t)b; v < in->n_victims; v += BUDGETS)
                third[step.n_victims++] = in->victim[v];
        }
        if (step.n_victims)
            st = kind == GRAPHSS_I_COPIED ? copy_all(ctx, &flips, &step)
                 : kind == GRAPHSS_I_CHURN
                     ? churn(ctx, &flips, &step, b)
                     : graphss_attack_run(ctx, &flips, NULL, &step, &opt);
        if (!st)
            st = advance(ctx, &g, &x, &flips);
        graphss_flips_destroy(ctx, &flips);
    }
    graphss_release(ctx, third);
    if (st) {
        graphss_graph_destroy(ctx, &g);
        graphss_features_destroy(ctx, &x);
        return st;
    }
    *graph = g;
    *features = x;
    return GRAPHSS_OK;
}
