/* benign.c - benign churn: edges and features come and go at nodes that nobody attacks. */
#include "attack/attack_method.h"
#include "attack/benign/class_sampler.h"
#include "data/build.h"
#include <graphss/benign.h>
#include <math.h>

enum { TRIES = 200 };

void graphss_benign_options_init(graphss_benign_options *opt)
{
    *opt = (graphss_benign_options){
        .struct_size = sizeof(graphss_benign_options), .edges = 2, .features = 20};
}

static graphss_status check(graphss_ctx *ctx, const graphss_dataset *data, const int32_t *node,
    size_t n, const graphss_benign_options *opt)
{
    if (opt->edges < 0 || opt->features < 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "a budget of %lld links and %lld features, want neither below 0",
            (long long)opt->edges, (long long)opt->features);
    graphss_status st = graphss_i_dataset_check(ctx, data);
    if (st)
        return st;
    uint8_t *seen = graphss_i_calloc(ctx, data->graph.n_nodes, sizeof *seen);
    if (!seen)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++) {
        if (node[i] < 0 || (size_t)node[i] >= data->graph.n_nodes)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "node %d, want one below %zu",
                (int)node[i], data->graph.n_nodes);
        else if (seen[node[i]]++)
            st = graphss_i_fail(
                ctx, GRAPHSS_ERR_INVALID, "node %d is listed twice", (int)node[i]);
    }
    graphss_release(ctx, seen);
    return st;
}

typedef struct churn {
    graphss_i_sandbox world;
    graphss_i_mixing mix;
    graphss_rng rng;
    int32_t turn;       /* number of the current node, from 1 */
    int32_t *edge_turn; /* [n], [d] the last turn in which this edge or feature was changed */
    int32_t *feature_turn;
} churn;

static graphss_status churn_init(graphss_ctx *ctx, churn *c, const graphss_dataset *data)
{
    graphss_status st = graphss_i_mixing_init(ctx, &c->mix, data);
    if (!st)
        st = graphss_i_sandbox_init(ctx, &c->world, &data->graph, &data->features);
    if (st)
        return st;
    c->edge_turn = graphss_i_calloc(ctx, data->graph.n_nodes, sizeof *c->edge_turn);
    c->feature_turn = graphss_i_calloc(ctx, data->features.n_cols, sizeof *c->feature_turn);
    return c->edge_turn && c->feature_turn ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static void churn_destroy(graphss_ctx *ctx, churn *c)
{
    graphss_release(ctx, c->feature_turn);
    graphss_release(ctx, c->edge_turn);
    graphss_i_sandbox_destroy(ctx, &c->world);
    graphss_i_mixing_destroy(ctx, &c->mix);
}

static graphss_status churn_edge(
    graphss_ctx *ctx, graphss_flips *out, churn *c, int32_t node, bool cut)
{
    graphss_i_sandbox *s = &c->world;
    const int32_t degree = s->edges.length[node];
    for (int i = 0; i < TRIES; i++) {
        int32_t other = -1;
        if (!cut)
            other =
                graphss_i_mixing_end(&c->mix, graphss_i_mixing_class(&c->mix, node), &c->rng);
        else if (degree > 0)
            other = s->edges.item[node][graphss_rng_below(&c->rng, (uint64_t)degree)];
        if (other < 0 || other == node || c->edge_turn[other] == c->turn)
            continue;
        if (cut ? graphss_i_sandbox_may_cut(s, node, other)
                : !graphss_i_rows_has(&s->edges, (size_t)node, other)) {
            c->edge_turn[other] = c->turn;
            return graphss_i_sandbox_flip_edge(ctx, s, out, node, node, other);
        }
    }
    return GRAPHSS_OK;
}

/* Dense features are not added or removed: values are replaced by those of nodes of the same
 * class. */
static graphss_status churn_word(
    graphss_ctx *ctx, graphss_flips *out, churn *c, int32_t node, bool remove)
{
    graphss_i_sandbox *s = &c->world;
    const bool dense = graphss_features_dense(&c->mix.data->features);
    const int32_t n = s->words.length[node];
    remove = remove && !dense;
    for (int i = 0; i < TRIES && !(remove && n <= 1); i++) {
        float value = 0;
        int32_t word;
        if (remove)
            word = s->words.column[node][graphss_rng_below(&c->rng, (uint64_t)n)];
        else
            word = graphss_i_mixing_feature(
                &c->mix, graphss_i_mixing_class(&c->mix, node), &value, &c->rng);
        if (word < 0 || c->feature_turn[word] == c->turn)
            continue;
        const float held = graphss_i_sandbox_feature(s, (size_t)node, word);
        if (dense ? held == value : !remove && held != 0)
            continue;
        c->feature_turn[word] = c->turn;
        return graphss_i_sandbox_set_feature(ctx, s, out, node, node, word, value);
    }
    return GRAPHSS_OK;
}

/* A feature takes the value of some feature of a node of the same class. If all values are
 * equal, this changes nothing, and another feature is added instead. */
static graphss_status churn_value(graphss_ctx *ctx, graphss_flips *out, churn *c, int32_t node)
{
    graphss_i_sandbox *s = &c->world;
    const int32_t n = s->words.length[node];
    for (int i = 0; i < TRIES && n > 0; i++) {
        float value = 0;
        const int32_t word = s->words.column[node][graphss_rng_below(&c->rng, (uint64_t)n)];
        if (c->feature_turn[word] == c->turn ||
            graphss_i_mixing_feature(
                &c->mix, graphss_i_mixing_class(&c->mix, node), &value, &c->rng) < 0 ||
            value == 0 || value == graphss_i_sandbox_feature(s, (size_t)node, word))
            continue;
        c->feature_turn[word] = c->turn;
        return graphss_i_sandbox_set_feature(ctx, s, out, node, node, word, value);
    }
    const graphss_status st = churn_word(ctx, out, c, node, true);
    return st ? st : churn_word(ctx, out, c, node, false);
}

static void describe(graphss_flips *flips, const graphss_dataset *data, uint64_t seed,
    const graphss_benign_options *opt)
{
    snprintf(flips->dataset, sizeof flips->dataset, "%s", data->name);
    snprintf(flips->hash, sizeof flips->hash, "%s", data->hash);
    snprintf(flips->method, sizeof flips->method, "benign");
    snprintf(flips->budget, sizeof flips->budget, "%lld links and %lld features per node",
        (long long)opt->edges, (long long)opt->features);
    snprintf(flips->seed, sizeof flips->seed, "%llu", (unsigned long long)seed);
    snprintf(flips->version, sizeof flips->version, "%s", graphss_version());
}

graphss_status graphss_i_churn(graphss_ctx *ctx, graphss_flips *flips,
    const graphss_dataset *data, const int32_t *node, size_t n, uint64_t seed,
    const graphss_i_churning *each, size_t stride)
{
    churn c = {.rng = graphss_rng_make(seed, GRAPHSS_STREAM_BENIGN)};
    graphss_status st = churn_init(ctx, &c, data);
    for (size_t i = 0; i < n && !st; i++) {
        const graphss_i_churning *opt = each + i * stride;
        c.turn = (int32_t)i + 1;
        for (int64_t l = 0; l < opt->edges + opt->joins + opt->cuts && !st; l++) {
            const bool cut = l < opt->edges ? graphss_rng_below(&c.rng, 2) == 0
                                            : l >= opt->edges + opt->joins;
            st = churn_edge(ctx, flips, &c, node[i], cut);
        }
        /* Alternates removals and additions, so that the length of a row hardly changes. */
        const int64_t words =
            data->features.n_cols ? opt->features + opt->adds + opt->drops : 0;
        for (int64_t w = 0; w < words && !st; w++)
            st = churn_word(ctx, flips, &c, node[i],
                w < opt->features ? w % 2 == 0 : w >= opt->features + opt->adds);
        for (int64_t w = 0; w < opt->values && data->features.n_cols && !st; w++)
            st = churn_value(ctx, flips, &c, node[i]);
    }
    churn_destroy(ctx, &c);
    return st;
}

graphss_status graphss_benign_churn(graphss_ctx *ctx, graphss_flips *out,
    const graphss_dataset *data, const int32_t *node, size_t n, uint64_t seed,
    const graphss_benign_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}, {"nodes", GRAPHSS_I_FILLED(node, n)},
            {"place for the changes", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_benign_options standard;
    graphss_benign_options_init(&standard);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_benign_options, &standard, opt);
    opt = &standard;
    if (!st)
        st = check(ctx, data, node, n, opt);
    if (st)
        return st;
    graphss_flips made = {0};
    describe(&made, data, seed, opt);
    const graphss_i_churning each = {.edges = opt->edges, .features = opt->features};
    st = graphss_i_churn(ctx, &made, data, node, n, seed, &each, 0);
    if (st)
        graphss_flips_destroy(ctx, &made);
    else
        *out = made;
    return st;
}

/* ---- as an entry of the table of attacks, for comparison ---- */

/* Fills the log for changes without known losses. */
static graphss_status write_log(graphss_ctx *ctx, graphss_attack_log *log,
    const graphss_flips *flips, const graphss_attack_input *in, const graphss_i_churning *each)
{
    log->victim = graphss_i_calloc(ctx, in->n_victims, sizeof *log->victim);
    if (!log->victim)
        return GRAPHSS_ERR_NOMEM;
    size_t at = 0; /* changes are in the order of the victims */
    for (size_t i = 0; i < in->n_victims; i++) {
        graphss_attack_victim *v = &log->victim[log->n_victims++];
        *v = (graphss_attack_victim){.node = in->victim[i],
            .loss_before = NAN,
            .loss_after = NAN,
            .wanted = (size_t)(each[i].edges + each[i].features)};
        for (; at < flips->count && flips->item[at].victim == v->node; at++)
            *(flips->item[at].kind == GRAPHSS_FLIP_EDGE ? &v->n_edges : &v->n_features) += 1;
    }
    return graphss_i_attack_log_steps(ctx, log, flips);
}

static graphss_status run(graphss_ctx *ctx, graphss_flips *out, graphss_attack_log *log,
    const graphss_attack_input *in, const graphss_attack_options *opt)
{
    if (opt->kind != GRAPHSS_ATTACK_LF || opt->influencers || opt->independent)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "benign: want --links and --features, no --kind, --influencers "
            "or --independent");
    graphss_status st = GRAPHSS_OK;
    int32_t *label = graphss_i_copy(ctx, in->label, in->graph->n_nodes, sizeof *label);
    graphss_i_churning *each = graphss_i_calloc(ctx, in->n_victims, sizeof *each);
    if (!label || !each) {
        st = GRAPHSS_ERR_NOMEM;
        goto done;
    }
    for (size_t i = 0; i < in->n_victims; i++) {
        const graphss_i_attack_budget b = graphss_i_attack_budget_of(
            opt, in, in->victim[i], graphss_graph_degree(in->graph, (size_t)in->victim[i]));
        each[i] =
            (graphss_i_churning){.edges = (int64_t)b.edges, .features = (int64_t)b.features};
    }
    const graphss_dataset data = {.graph = *in->graph,
        .features = *in->features,
        .label = label,
        .n_classes = in->n_classes};
    st = graphss_i_churn(ctx, out, &data, in->victim, in->n_victims, in->seed, each, 1);
    if (!st)
        st = write_log(ctx, log, out, in, each);
done:
    graphss_release(ctx, each);
    graphss_release(ctx, label);
    return st;
}

const graphss_i_attack_method graphss_i_benign_attack = {
    .name = "benign",
    .summary = "no attack: links and features of the node's own class, as graphs change by "
               "themselves",
    .run = run,
};
