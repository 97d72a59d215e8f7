/* benign.c - churn: links joined and cut, words come and go, at nodes that nobody attacks. */
#include "attack/mixing.h"
#include "attack/sandbox.h"
#include <graphss/benign.h>

enum { TRIES = 200 };

graphss_benign_options graphss_benign_options_default(void)
{
    return (graphss_benign_options){.links = 2, .features = 20};
}

static graphss_status check(graphss_ctx *ctx, const graphss_dataset *data, const int32_t *node,
                            size_t n, const graphss_benign_options *opt)
{
    if (opt->links < 0 || opt->features < 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "a budget of %lld links and %lld features, want neither below 0",
                              (long long)opt->links, (long long)opt->features);
    uint8_t *seen = graphss_i_calloc(ctx, data->graph.n_nodes, sizeof *seen);
    if (!seen)
        return GRAPHSS_ERR_NOMEM;
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n && !st; i++) {
        if (node[i] < 0 || (size_t)node[i] >= data->graph.n_nodes)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "node %d, want one below %zu",
                                (int)node[i], data->graph.n_nodes);
        else if (seen[node[i]]++)
            st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "node %d is listed twice",
                                (int)node[i]);
    }
    graphss_release(ctx, seen);
    return st;
}

static graphss_status churn_link(graphss_ctx *ctx, graphss_flips *out, graphss_i_sandbox *s,
                                 const graphss_i_mixing *m, int32_t node, graphss_rng *rng)
{
    const bool cut = graphss_rng_below(rng, 2) == 0;
    const int32_t degree = s->links.length[node];
    for (int i = 0; i < TRIES; i++) {
        int32_t other = -1;
        if (!cut)
            other = graphss_i_mixing_end(m, graphss_i_mixing_class(m, node), rng);
        else if (degree > 0)
            other = s->links.item[node][graphss_rng_below(rng, (uint64_t)degree)];
        if (other < 0 || other == node)
            continue;
        if (cut ? graphss_i_sandbox_may_cut(s, node, other)
                : !graphss_i_rows_has(&s->links, (size_t)node, other))
            return graphss_i_sandbox_flip_link(ctx, s, out, node, node, other);
    }
    return GRAPHSS_OK;
}

/* Removals and additions in turn, so that the length of a row hardly changes. */
static graphss_status churn_word(graphss_ctx *ctx, graphss_flips *out, graphss_i_sandbox *s,
                                 const graphss_i_mixing *m, int32_t node, bool remove,
                                 graphss_rng *rng)
{
    const int32_t n = s->words.length[node];
    if (remove) {
        if (n <= 1)
            return GRAPHSS_OK;
        const int32_t c = s->words.column[node][graphss_rng_below(rng, (uint64_t)n)];
        return graphss_i_sandbox_set_word(ctx, s, out, node, node, c, 0);
    }
    for (int i = 0; i < TRIES; i++) {
        float value = 0;
        const int32_t c =
            graphss_i_mixing_word(m, graphss_i_mixing_class(m, node), &value, rng);
        if (c >= 0 && graphss_i_sandbox_word(s, (size_t)node, c) == 0)
            return graphss_i_sandbox_set_word(ctx, s, out, node, node, c, value);
    }
    return GRAPHSS_OK;
}

static void describe(graphss_flips *flips, const graphss_dataset *data, uint64_t seed,
                     const graphss_benign_options *opt)
{
    snprintf(flips->dataset, sizeof flips->dataset, "%s", data->name);
    snprintf(flips->hash, sizeof flips->hash, "%s", data->hash);
    snprintf(flips->method, sizeof flips->method, "benign");
    snprintf(flips->budget, sizeof flips->budget, "%lld links and %lld features per node",
             (long long)opt->links, (long long)opt->features);
    snprintf(flips->seed, sizeof flips->seed, "%llu", (unsigned long long)seed);
    snprintf(flips->version, sizeof flips->version, "%s", graphss_version());
}

graphss_status graphss_benign_churn(graphss_ctx *ctx, graphss_flips *out,
                                    const graphss_dataset *data, const int32_t *node, size_t n,
                                    uint64_t seed, const graphss_benign_options *opt)
{
    const graphss_benign_options standard = graphss_benign_options_default();
    opt = opt ? opt : &standard;
    graphss_status st = check(ctx, data, node, n, opt);
    if (st)
        return st;
    graphss_flips made = {0};
    graphss_i_sandbox s = {0};
    graphss_i_mixing m = {0};
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_BENIGN);
    describe(&made, data, seed, opt);
    st = graphss_i_mixing_init(ctx, &m, data);
    if (!st)
        st = graphss_i_sandbox_init(ctx, &s, &data->graph, &data->features);
    for (size_t i = 0; i < n && !st; i++) {
        for (int64_t l = 0; l < opt->links && !st; l++)
            st = churn_link(ctx, &made, &s, &m, node[i], &rng);
        for (int64_t w = 0; w < opt->features && !st && data->features.n_cols; w++)
            st = churn_word(ctx, &made, &s, &m, node[i], w % 2 == 0, &rng);
    }
    graphss_i_sandbox_destroy(ctx, &s);
    graphss_i_mixing_destroy(ctx, &m);
    if (st)
        graphss_flips_destroy(ctx, &made);
    else
        *out = made;
    return st;
}
