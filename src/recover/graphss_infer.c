/* graphss_infer.c - state and class of every node and the shares of the states, by what the
 * simulated attacks taught.
 *
 * Every node without a label has a say in the shares, so these nodes are inferred together, by
 * the sampler of graphss/selfsup.h. Nodes of simulated views only vote, and there are up to
 * twenty views: shares are assumed for them. */
#include "recover/graphss_private.h"
#include <graphss/selfsup.h>
#include <string.h>

/* Shares assumed where none are estimated; the prior of those that are. */
static const double FIXED_UNTOUCHED = 0.8, PRIOR_FIRST = 2, PRIOR_OTHER = 0.2;

/* Praise does no harm: who was praised counts as untouched. */
static void forgive(double *state)
{
    state[0] += state[1 + GRAPHSS_I_PRAISED];
    state[1 + GRAPHSS_I_PRAISED] = 0;
}

/* State and class of one node, the shares being known. */
static void infer_node(double *posterior, double *state, const inspection *x,
                       const graphss_i_view *v, size_t node, const double *share, float *p)
{
    const size_t k = x->scene->k;
    double sum = 0;
    graphss_i_suspicion_node(state, p, &x->suspicion[group_of(x, node)], v, node, k);
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        sum += state[r] *= share[r];
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        state[r] /= sum;
    graphss_i_suspicion_mix(posterior, state, p, k);
    forgive(state);
}

static void fixed_shares(double *share)
{
    share[0] = FIXED_UNTOUCHED;
    for (size_t r = 1; r < GRAPHSS_I_STATES; r++)
        share[r] = (1 - FIXED_UNTOUCHED) / (GRAPHSS_I_STATES - 1);
}

/* What neighbours vote with from now on. */
static void settle(const inspection *x, graphss_i_view *v, size_t node,
                   const double *posterior, const double *state)
{
    for (size_t c = 0; c < x->scene->k; c++)
        v->belief[node * x->scene->k + c] = (float)posterior[c];
    v->trust[node] = (float)state[0];
}

static void trust_training(const inspection *x, graphss_i_view *v)
{
    for (size_t i = 0; i < x->scene->split->n_train; i++)
        v->trust[x->scene->split->train[i]] = 1;
}

/* The free nodes of a group, in arrays of the sampler. */
typedef struct sitting {
    const inspection *x;
    size_t group, m;
    const int32_t *node; /* [m] */
    float *prob;         /* [STATES x m x k] */
    float *likelihood;   /* [STATES x m] */
} sitting;

static void weigh_rows(void *arg, size_t task)
{
    const sitting *s = arg;
    const size_t k = s->x->scene->k, m = s->m;
    float *p = s->x->chance + task * k * GRAPHSS_I_ROW;
    double ratio[GRAPHSS_I_STATES];
    for (size_t i = task * ROWS; i < graphss_i_task_end(task, m, ROWS); i++) {
        graphss_i_suspicion_node(ratio, p, &s->x->suspicion[s->group], &s->x->view[0],
                                 (size_t)s->node[i], k);
        for (size_t r = 0; r < GRAPHSS_I_STATES; r++) {
            s->likelihood[r * m + i] = (float)ratio[r];
            for (size_t c = 0; c < k; c++)
                s->prob[(r * m + i) * k + c] = p[c * GRAPHSS_I_ROW + r];
        }
    }
}

/* The m free nodes of a group that may have been hit, together: their states, classes, and
 * shares. all: with those that were not, whose number is the weight of the prior. */
static graphss_status infer_group(graphss_ctx *ctx, graphss_i_inspection *out,
                                  const inspection *x, size_t group, const int32_t *node,
                                  size_t m, size_t all, double *share)
{
    const size_t k = x->scene->k;
    sitting s = {.x = x,
                 .group = group,
                 .m = m,
                 .node = node,
                 .prob = graphss_i_alloc(ctx, m, GRAPHSS_I_STATES * k * sizeof *s.prob),
                 .likelihood =
                     graphss_i_alloc(ctx, m, GRAPHSS_I_STATES * sizeof *s.likelihood)};
    graphss_selfsup found = {0};
    graphss_status st = s.prob && s.likelihood ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (st)
        goto done;
    st = graphss_i_parallel_checked(ctx, graphss_i_tasks(m, ROWS), weigh_rows, &s);
    if (st)
        goto done;
    graphss_state state[GRAPHSS_I_STATES] = {0};
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        state[r] = (graphss_state){
            .name = graphss_i_state_name(r),
            .concentration = r ? PRIOR_OTHER : PRIOR_FIRST + x->untouched * (double)all,
            .prob = r ? s.prob + r * m * k : NULL, /* of the first: those of the input */
            .likelihood = s.likelihood + r * m};
    const graphss_selfsup_input in = {.struct_size = sizeof in,
                                      .n = m,
                                      .n_classes = k,
                                      .prob = s.prob,
                                      .state = state,
                                      .n_states = GRAPHSS_I_STATES,
                                      .seed = x->scene->seed};
    graphss_selfsup_options opt;
    graphss_selfsup_options_init(&opt);
    opt.chains = 2;
    st = graphss_selfsup_run(ctx, &found, &in, &opt);
    for (size_t i = 0; i < m && !st; i++) {
        memcpy(out->posterior + (size_t)node[i] * k, found.posterior + i * k,
               k * sizeof *found.posterior);
        memcpy(out->state + (size_t)node[i] * GRAPHSS_I_STATES,
               found.state + i * GRAPHSS_I_STATES, GRAPHSS_I_STATES * sizeof *found.state);
        forgive(out->state + (size_t)node[i] * GRAPHSS_I_STATES);
    }
    if (!st)
        memcpy(share, found.share, GRAPHSS_I_STATES * sizeof *share);
    graphss_selfsup_destroy(ctx, &found);
done:
    graphss_release(ctx, s.likelihood);
    graphss_release(ctx, s.prob);
    return st;
}

/* Nodes of the snapshot with labels by the shares found; what all vote with. */
typedef struct settling {
    inspection *x;
    graphss_i_inspection *out; /* NULL: a simulated view, all by the shares below */
    graphss_i_view *v;
    double share[GRAPHSS_I_STATES];
} settling;

static void settle_rows(void *arg, size_t task)
{
    const settling *s = arg;
    inspection *x = s->x;
    const size_t k = x->scene->k;
    double alone[GRAPHSS_I_STATES];
    for (size_t i = task * ROWS; i < graphss_i_task_end(task, x->scene->n, ROWS); i++) {
        double *posterior = x->mixed + task * k, *state = alone;
        const double *share = s->share;
        if (s->out) {
            posterior = s->out->posterior + i * k;
            state = s->out->state + i * GRAPHSS_I_STATES;
            share = x->share[group_of(x, i)];
        }
        if (!s->out || x->fixed[i])
            infer_node(posterior, state, x, s->v, i, share,
                       x->chance + task * k * GRAPHSS_I_ROW);
        settle(x, s->v, i, posterior, state);
    }
}

graphss_status graphss_i_inspect_settle(graphss_ctx *ctx, inspection *x, graphss_i_view *v,
                                        graphss_i_inspection *out)
{
    settling s = {.x = x, .out = out, .v = v};
    fixed_shares(s.share);
    const graphss_status st =
        graphss_i_parallel_checked(ctx, graphss_i_tasks(x->scene->n, ROWS), settle_rows, &s);
    if (!st)
        trust_training(x, v);
    return st;
}

/* Free nodes that did not change: untouched, whatever they look like. */
static void leave_alone(graphss_i_inspection *out, const inspection *x, size_t node)
{
    const size_t k = x->scene->k;
    double *state = out->state + node * GRAPHSS_I_STATES, unused[GRAPHSS_I_STATES];
    graphss_i_suspicion_node(unused, x->chance, &x->suspicion[group_of(x, node)], &x->view[0],
                             node, k);
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        state[r] = r == 0;
    graphss_i_suspicion_mix(out->posterior + node * k, state, x->chance, k);
}

/* The snapshot itself: free nodes by sampling, those with labels by the shares found. What did
 * not change since the past has no say in how much of the change is hostile. */
graphss_status graphss_i_inspect_infer(graphss_ctx *ctx, graphss_i_inspection *out,
                                       inspection *x)
{
    const size_t n = x->scene->n;
    size_t free_nodes = 0;
    int32_t *node = graphss_i_alloc(ctx, n, sizeof *node);
    graphss_status st = node ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t g = 0; g < GROUPS && !st; g++) {
        size_t m = 0, all = 0;
        fixed_shares(x->share[g]);
        for (size_t i = 0; i < n; i++) {
            if (x->fixed[i] || group_of(x, i) != g)
                continue;
            all++;
            if (x->still && x->still[i])
                leave_alone(out, x, i);
            else
                node[m++] = (int32_t)i;
        }
        if (m)
            st = infer_group(ctx, out, x, g, node, m, all, x->share[g]);
        const double changed = m ? (double)m / (double)all : 0;
        for (size_t r = 0; r < GRAPHSS_I_STATES && all; r++) /* of all */
            x->share[g][r] = m ? changed * x->share[g][r] + (r ? 0 : 1 - changed) : r == 0;
    }
    graphss_release(ctx, node);
    if (st)
        return st;
    st = graphss_i_inspect_settle(ctx, x, &x->view[0], out);
    if (st)
        return st;
    memset(out->share, 0, sizeof out->share);
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < GRAPHSS_I_STATES && !x->fixed[i]; r++)
            out->share[r] += out->state[i * GRAPHSS_I_STATES + r];
        free_nodes += !x->fixed[i];
    }
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        out->share[r] = free_nodes ? out->share[r] / (double)free_nodes : r == 0;
    return GRAPHSS_OK;
}
