/* job_state.c - see job_state.h. In honest mode a seed draws everything: split, noise,
 * weights, victims, attack. In paper mode the victims follow from the number of the set alone.
 */
#include "lab/experiment/job_state.h"

#include <graphss/benign.h>

static uint64_t victim_seed(const graphss_i_job *job, int64_t set)
{
    if (job->mode == GRAPHSS_MODE_PAPER)
        return (uint64_t)set;
    return (uint64_t)job->seed + 1000003 * (uint64_t)(set - 1);
}

/* Nodes of groups that are not attacked change as much, as a living graph does. */
static graphss_status churn(graphss_ctx *ctx, graphss_protocol_trial *s,
                            const graphss_attack_options *attack)
{
    graphss_snapshots *made = &s->snapshots;
    const graphss_dataset *now = &made->current;
    const graphss_benign_options opt = {
        .struct_size = sizeof opt, .edges = attack->edges, .features = attack->features};
    graphss_flips flips = {0};
    if (attack->edges_share > 0 || attack->features_share > 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "background change has as many links and features a node: want "
                              "numbers for --links and --features, not shares");
    graphss_status st =
        graphss_benign_churn(ctx, &flips, now, made->churned, made->n_churned, s->seed, &opt);
    if (!st)
        st = graphss_snapshots_change(ctx, made, &flips);
    if (!st)
        st = graphss_model_label(ctx, s->after, s->model, &now->graph, &now->features);
    if (!st)
        s->attacked = graphss_protocol_measure(s, s->after);
    graphss_flips_destroy(ctx, &flips);
    return st;
}

graphss_status graphss_i_job_state_set(graphss_ctx *ctx, graphss_i_job_state *s,
                                       const graphss_i_job *job, int64_t set)
{
    if (job->mode < 0 || s->set == set)
        return GRAPHSS_OK;
    const double began = graphss_i_seconds();
    graphss_protocol_trial_destroy(ctx, &s->trial);
    s->set = 0;
    graphss_status st =
        graphss_protocol_attack(ctx, &s->trial, &s->protocol, victim_seed(job, set));
    const double took = graphss_i_seconds() - began;
    s->prepare_seconds = s->start_seconds + took;
    s->train_seconds = s->start_train + took - s->trial.attack_seconds;
    if (!st && s->trial.snapshots.n_churned)
        st = churn(ctx, &s->trial, &s->protocol.opt.attack);
    if (!st)
        s->set = set;
    return st;
}

graphss_status graphss_i_job_state_make(graphss_ctx *ctx, graphss_i_job_state *out,
                                        const graphss_i_job *job, const char *const *data_dirs)
{
    graphss_i_job_options opt;
    const graphss_read_options read = {.struct_size = sizeof read, .data_dirs = data_dirs};
    const double began = graphss_i_seconds();
    graphss_i_job_state *s = out; /* a trial stays where it was made */
    *s = (graphss_i_job_state){0};
    graphss_status st = graphss_i_job_options_fill(ctx, &opt, job);
    if (!st)
        st = graphss_dataset_read(ctx, &s->data, job->dataset, &read);
    if (!st && !s->data.label)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "%s: has no labels", job->dataset);
    const double read_seconds = graphss_i_seconds() - began;
    if (!st && job->mode >= 0)
        st = graphss_protocol_start(ctx, &s->protocol, &s->data, (uint64_t)job->seed,
                                    &opt.protocol);
    else if (!st)
        st = graphss_split_make(ctx, &s->split, s->data.label, s->data.graph.n_nodes,
                                s->data.n_classes, (uint64_t)job->seed, &opt.protocol.split);
    s->start_seconds = graphss_i_seconds() - began;
    s->start_train = s->start_seconds - read_seconds;
    if (st)
        graphss_i_job_state_destroy(ctx, s);
    return st;
}

void graphss_i_job_state_destroy(graphss_ctx *ctx, graphss_i_job_state *s)
{
    graphss_model_free(ctx, s->carried);
    graphss_protocol_trial_destroy(ctx, &s->trial);
    graphss_protocol_destroy(ctx, &s->protocol);
    graphss_split_destroy(ctx, &s->split);
    graphss_dataset_destroy(ctx, &s->data);
    *s = (graphss_i_job_state){0};
}
