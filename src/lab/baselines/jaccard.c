/* jaccard.c - GNN-Jaccard (Wu et al., IJCAI 2019): edges between nodes with unlike features
 * are cut, then the classifier runs as before.
 *
 *   keep (i, j)  unless  |x_i and x_j| / |x_i or x_j| < threshold
 *
 * Minimises the classifier's own loss. Sees edges, features and training labels. Where both
 * rows are empty the quotient is 0/0 and the edge stays, as in its authors' code. Counts and
 * TF-IDF are compared by cosine. Works with gcn, sgc and sage; the features are not mended.
 * Costs one pass over the edges and one training. */
#include "graph/similarity.h"
#include "recover/defence.h"
#include "recover/option_rows.h"

static void adjust(graphss_recover_options *opt)
{
    opt->jaccard.threshold = 0.01;
}

static graphss_status cut(graphss_ctx *ctx, graphss_graph *out, size_t *n_cut,
    const graphss_observation *on, const graphss_recover_options *opt)
{
    const graphss_graph *g = on->graph;
    const size_t edges = (size_t)g->offset[g->n_nodes];
    float *alike = graphss_i_alloc(ctx, edges, sizeof *alike);
    if (!alike)
        return GRAPHSS_ERR_NOMEM;
    graphss_i_edge_similarity(
        ctx, alike, g, on->features, (graphss_similarity)opt->jaccard.similarity);
    const graphss_status st =
        graphss_i_edges_alike(ctx, out, g, alike, (float)opt->jaccard.threshold);
    if (!st)
        *n_cut = (edges - (size_t)out->offset[g->n_nodes]) / 2;
    graphss_release(ctx, alike);
    return st;
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)perturbed;
    graphss_graph current = {0}, before = {0};
    size_t n_cut = 0, unused = 0;
    const bool given = !input->retrain && !input->previous.graph;
    graphss_status st = cut(ctx, &current, &n_cut, &input->current, opt);
    if (!st)
        graphss_i_log(ctx, GRAPHSS_LOG_INFO, "%zu of %zu links cut", n_cut,
            graphss_graph_edges(input->current.graph));
    if (!st && given)
        st = graphss_i_posterior_of(
            ctx, posterior, input->model, &current, input->current.features);
    if (!st && !given && !input->retrain)
        st = cut(ctx, &before, &unused, &input->previous, opt);
    if (!st && !given)
        st = graphss_i_train_and_ask(
            ctx, posterior, input, input->retrain ? &current : &before, &current, &opt->fit);
    graphss_graph_destroy(ctx, &before);
    graphss_graph_destroy(ctx, &current);
    return st;
}

static const graphss_option options[] = {GRAPHSS_I_COMMON_ROWS,
    GRAPHSS_I_ROW_THRESHOLD(jaccard), GRAPHSS_I_ROW_SIMILARITY(jaccard), GRAPHSS_I_FIT_ROWS,
    {0}};

const graphss_i_defence graphss_i_jaccard_defence = {
    .name = "jaccard",
    .summary = "GNN-Jaccard: links between unlike nodes are cut (Wu et al. 2019)",
    .evasion = "trained on the previous snapshot with its unlike links cut, or without one "
               "the given model; then the current snapshot with its unlike links cut",
    .retrain = "trained on the current snapshot with its unlike links cut",
    .options = options,
    .learns = true,
    .needs_edges = true,
    .on_model = true,
    .adjust = adjust,
    .run = run,
};
