/* attack_sim.c - the attacks do the work. Copying is asked for a node at a time: its budgets
 * are shares of a node's words, and both ways with the links have to occur equally often.
 *
 * Nettack switches words on and off. Of dense features there are none to switch, so there it
 * chooses links alone, and features are moved (move.h). */
#include "detect/attack_sim.h"
#include "attack/attack_method.h"
#include "attack/simple/copy.h"
#include "attack/simple/move.h"
#include "attack/simple/reinforce.h"
#include "detect/detector_sim.h"
#include "graph/rows.h"
#include <math.h>

enum { BUDGETS = GRAPHSS_I_BUDGETS };
static const int64_t drawn_links[BUDGETS] = {2, 4, 6};
static const graphss_i_churning few[BUDGETS] = {
    {.edges = 1, .features = 5}, {.edges = 1, .features = 5}, {.edges = 1, .features = 10}};
static const double borrowed[BUDGETS] = {0.5, 0.8, 1}; /* share of the words */

/* Links and words of another node, or words alone; half of the victims join the node itself.
 * Half of each keep their own words beside those of the other, if they are given links. */
static graphss_status copy(graphss_ctx *ctx, graphss_flips *flips,
                           const graphss_attack_input *in, size_t budget, bool links)
{
    graphss_i_sandbox s = {0};
    graphss_rng rng = graphss_rng_make(in->seed, GRAPHSS_STREAM_DEFENCE);
    const graphss_i_churning most = graphss_i_rehearsal_budget(budget);
    graphss_i_copying how = {.joins = links ? most.edges + 1 : 0,
                             .share = links ? 1 : borrowed[budget]};
    graphss_status st = graphss_i_sandbox_init(ctx, &s, in->graph, in->features);
    for (size_t v = 0; v < in->n_victims && !st; v++) {
        size_t made_links, made_words;
        how.itself = v % 2;
        how.cuts = how.itself ? 0 : how.joins;
        const bool dressed = links && graphss_i_dressed(v);
        how.taken = !links ? INT32_MAX : dressed ? most.features : most.features / 2;
        how.dropped = dressed ? 0 : how.taken;
        st = graphss_i_copy_node(ctx, &s, flips, in, in->victim[v], &how, &rng, &made_links,
                                 &made_words);
    }
    graphss_i_sandbox_destroy(ctx, &s);
    return st;
}

/* Nettack on links, then features towards those of nodes of the class that gains. */
static graphss_status push(graphss_ctx *ctx, graphss_flips *flips,
                           const graphss_attack_input *in, size_t budget,
                           const graphss_attack_options *links, const graphss_i_ground *ground)
{
    graphss_rng rng = graphss_rng_make(in->seed, GRAPHSS_STREAM_DEFENCE);
    double *share = graphss_i_alloc(ctx, in->n_victims, sizeof *share);
    graphss_status st = share ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < in->n_victims && share; v++)
        share[v] = graphss_i_moves[budget];
    if (!st && links->edges)
        st = graphss_i_nettack_each(ctx, flips, in, links, NULL, 1, ground);
    if (!st)
        st = graphss_i_move(ctx, flips, in, share, &rng);
    graphss_release(ctx, share);
    return st;
}

/* No attack: links and words come and go; apart: or links alone, or words, or what comes and
 * does not go. */
static graphss_status churn(graphss_ctx *ctx, graphss_flips *flips,
                            const graphss_attack_input *in, size_t budget, bool apart)
{
    enum { WAYS = 6 };
    const graphss_i_churning most = graphss_i_rehearsal_budget(budget);
    const int64_t links = most.edges, words = most.features;
    const graphss_i_churning way[WAYS] = {{.edges = links, .features = words},
                                          {.joins = links},
                                          {.joins = links, .adds = words},
                                          {.features = words},
                                          {.edges = links},
                                          {.joins = links}};
    graphss_i_churning *each = graphss_i_alloc(ctx, in->n_victims, sizeof *each);
    int32_t *label = graphss_i_copy(ctx, in->label, in->graph->n_nodes, sizeof *label);
    graphss_status st = each && label ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st) {
        const graphss_dataset data = {.graph = *in->graph,
                                      .features = *in->features,
                                      .label = label,
                                      .n_classes = in->n_classes};
        for (size_t v = 0; v < in->n_victims; v++)
            each[v] = way[apart ? v % WAYS : 0];
        st = graphss_i_churn(ctx, flips, &data, in->victim, in->n_victims, in->seed, each, 1);
    }
    graphss_release(ctx, label);
    graphss_release(ctx, each);
    return st;
}

/* The class a node has not that its words speak for most. */
static int32_t next_class(const graphss_attack_input *in, int32_t node)
{
    const graphss_i_row r = graphss_i_row_of(in->features, (size_t)node);
    const size_t k = in->n_classes, own = (size_t)in->label[node];
    size_t best = own == 0;
    double most = -INFINITY;
    for (size_t c = 0; c < k; c++) {
        double says = 0;
        for (size_t j = 0; j < r.n; j++)
            says += (double)r.value[j] * (double)in->surrogate[graphss_i_row_at(r, j) * k + c];
        if (c != own && says > most) {
            most = says;
            best = c;
        }
    }
    return (int32_t)best;
}

/* What an attacker does who takes words and links as the class he wants has them, in place of
 * those that a search finds, looks like praise: only that it is not true. */
static graphss_status praise(graphss_ctx *ctx, graphss_flips *flips,
                             const graphss_attack_input *in, size_t budget)
{
    const graphss_i_churning most = graphss_i_rehearsal_budget(budget);
    graphss_attack_input step = *in;
    int32_t *label = graphss_i_copy(ctx, in->label, in->graph->n_nodes, sizeof *label);
    if (!label)
        return GRAPHSS_ERR_NOMEM;
    for (size_t v = 0; v < in->n_victims; v++)
        if (graphss_i_slandered(v))
            label[in->victim[v]] = next_class(in, in->victim[v]);
    step.label = label;
    const graphss_status st = graphss_i_praise(ctx, flips, &step, most.edges, most.features);
    graphss_release(ctx, label);
    return st;
}

/* Drawn links do less harm than chosen ones, so an attacker draws more of them. */
static graphss_status run(graphss_ctx *ctx, graphss_flips *flips,
                          const graphss_attack_input *in, graphss_i_tampering kind,
                          size_t budget, bool apart, const graphss_i_ground *ground)
{
    if (kind == GRAPHSS_I_COPIED || kind == GRAPHSS_I_BORROWED)
        return copy(ctx, flips, in, budget, kind == GRAPHSS_I_COPIED);
    if (kind == GRAPHSS_I_CHURN)
        return churn(ctx, flips, in, budget, apart);
    if (kind == GRAPHSS_I_PRAISED)
        return praise(ctx, flips, in, budget);
    const bool drawn = kind == GRAPHSS_I_DICE || kind == GRAPHSS_I_RANDOM;
    const graphss_i_churning most =
        kind == GRAPHSS_I_FEW ? few[budget] : graphss_i_rehearsal_budget(budget);
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
    opt.edges = kind == GRAPHSS_I_FEATURES ? 0 : drawn ? drawn_links[budget] : most.edges;
    opt.features = kind == GRAPHSS_I_EDGES || kind == GRAPHSS_I_DICE ? 0 : most.features;
    if (!drawn) {
        if (!opt.features || !graphss_features_dense(in->features))
            return graphss_i_nettack_each(ctx, flips, in, &opt, NULL, 1, ground);
        opt.features = 0;
        return push(ctx, flips, in, budget, &opt, ground);
    }
    opt.method = kind == GRAPHSS_I_DICE ? "dice" : "random";
    return graphss_i_attack(ctx, flips, in, &opt);
}

/* Appends them. */
static graphss_status keep(graphss_ctx *ctx, graphss_flips *all, const graphss_flips *flips)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < flips->count && !st; i++)
        st = graphss_flips_add(ctx, all, flips->item[i]);
    return st;
}

graphss_status graphss_i_simulate(graphss_ctx *ctx, graphss_flips *out,
                                  const graphss_attack_input *in, graphss_i_tampering kind,
                                  const float *const *surrogate, size_t turn, bool apart,
                                  const graphss_i_ground *ground)
{
    graphss_attack_input step = *in;
    int32_t *some = graphss_i_alloc(ctx, in->n_victims, sizeof *some);
    graphss_status st = some ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    step.victim = some;
    for (size_t b = 0; b < BUDGETS && !st; b++) {
        graphss_flips flips = {0};
        step.n_victims = 0;
        for (size_t v = b; v < in->n_victims; v += BUDGETS)
            some[step.n_victims++] = in->victim[v];
        if (!step.n_victims)
            continue;
        step.surrogate = surrogate[(b + turn) % GRAPHSS_I_BELIEFS];
        st = run(ctx, &flips, &step, kind, b, apart, ground);
        if (!st)
            st = keep(ctx, out, &flips);
        graphss_flips_destroy(ctx, &flips);
    }
    graphss_release(ctx, some);
    return st;
}
