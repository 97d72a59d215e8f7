/* inspect.c - several noisy sources and a latent state per node, taught by simulated attacks.
 *
 * The defender attacks labelled nodes of the current snapshot itself (drill.c), learns from
 * them how evidence in each state is to be read and what nodes in it look like (suspicion.c),
 * and then infers state and class of every node and the shares of the states together, with
 * the sampler of graphss/selfsup.h. Done twice: the second time neighbours vote with what the
 * first found, and those found suspicious count less. */
#include "defence/inspect.h"
#include "attack/attack_method.h"
#include "defence/caution.h"
#include "defence/choice.h"
#include "defence/drill.h"
#include "defence/look.h"
#include "defence/witnesses.h"
#include "models/trusted.h"
#include "selfsup/alert_check.h"
#include <graphss/evaluate.h>
#include <graphss/selfsup.h>
#include <math.h>
#include <string.h>

enum {
    PASSES = 2,
    GROUPS = 2, /* nodes without history, with */
    ROWS = 256, /* a task's share of the nodes */
    FEW_VIEWS = 4
};
/* Shares assumed where none are estimated; the prior of those that are. */
static const double FIXED_UNTOUCHED = 0.8, PRIOR_UNTOUCHED = 0.02, PRIOR_FIRST = 2,
                    PRIOR_OTHER = 0.2;
/* Found where nobody attacked: up to 0.016 in 28 snapshots; where a fifth of the test nodes
 * was hit at least 0.15. */
static const double FEW_HIT = 0.05;
/* Where alert finds little: see doubt(). Of the attacks it missed when these were chosen one,
 * on few nodes, had a p-value above 0.24. */
static const double QUIET = 0.25, QUIET_UNTOUCHED = 3, UNSURE = 0.05, UNSURE_UNTOUCHED = 0.3,
                    ENOUGH_LABELS = 1600;

typedef struct inspection {
    const graphss_i_scene *scene;
    graphss_i_lens lens;
    graphss_i_drills drills;
    graphss_i_view view[GRAPHSS_I_VIEWS]; /* drills.views are in use */
    graphss_i_witnesses witnesses;
    int32_t *believed; /* [n] labels an attacker would assume */
    uint8_t *fixed;    /* [n] training or validation node */
    float *before_prob, *before_degree, *before_words;
    graphss_i_suspicion suspicion[GROUPS];
    bool fitted[GROUPS];
    uint8_t *still;   /* [n] as in the past, so not hit; NULL: no past */
    double untouched; /* prior weight of that state, for every free node */
    bool calm;        /* the quick look was asked, and found nothing */
    double share[GROUPS][GRAPHSS_I_STATES]; /* as found */
    float *chance;                          /* [tasks x k x ROW] scratch: classes by state */
    double *mixed;                          /* [tasks x k] scratch */
} inspection;

static void inspection_release(graphss_ctx *ctx, inspection *x)
{
    for (size_t i = 0; i < GRAPHSS_I_VIEWS; i++)
        graphss_i_view_destroy(ctx, &x->view[i]);
    for (size_t g = 0; g < GROUPS; g++)
        graphss_i_suspicion_destroy(ctx, &x->suspicion[g]);
    graphss_i_witnesses_destroy(ctx, &x->witnesses);
    graphss_release(ctx, x->believed);
    graphss_release(ctx, x->chance);
    graphss_release(ctx, x->mixed);
    graphss_i_drills_destroy(ctx, &x->drills);
    graphss_release(ctx, x->fixed);
    graphss_release(ctx, x->before_prob);
    graphss_release(ctx, x->before_degree);
    graphss_release(ctx, x->before_words);
    graphss_release(ctx, x->still);
}

void graphss_i_inspection_destroy(graphss_ctx *ctx, graphss_i_inspection *x)
{
    graphss_release(ctx, x->posterior);
    graphss_release(ctx, x->state);
    *x = (graphss_i_inspection){0};
}

/* ---- preparation ---- */

/* Who did not change was not hit, whatever it looks like. */
static graphss_status stand_still(graphss_ctx *ctx, inspection *x)
{
    const graphss_i_scene *scene = x->scene;
    if (!scene->before)
        return GRAPHSS_OK;
    x->still = graphss_i_alloc(ctx, scene->n, sizeof *x->still);
    for (size_t i = 0; i < scene->n && x->still; i++)
        x->still[i] = graphss_i_unchanged(&scene->current, &scene->previous, scene->before, i);
    return x->still ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static graphss_status look_back(graphss_ctx *ctx, inspection *x)
{
    const graphss_i_scene *scene = x->scene;
    const size_t n = scene->n, k = scene->k;
    if (!scene->before)
        return GRAPHSS_OK;
    const graphss_graph *past = scene->previous.graph;
    float *prob = graphss_i_alloc(ctx, past->n_nodes, k * sizeof *prob);
    float *words = graphss_i_alloc(ctx, past->n_nodes, sizeof *words);
    x->before_prob = graphss_i_calloc(ctx, n, k * sizeof *x->before_prob);
    x->before_degree = graphss_i_calloc(ctx, n, sizeof *x->before_degree);
    x->before_words = graphss_i_calloc(ctx, n, sizeof *x->before_words);
    graphss_status st =
        prob && words && x->before_prob && x->before_degree && x->before_words
            ? graphss_i_predict(ctx, prob, scene->model, past, scene->previous.features)
            : GRAPHSS_ERR_NOMEM;
    if (!st)
        graphss_i_count_words(words, scene->previous.features);
    for (size_t i = 0; i < n && !st; i++) {
        if (scene->before[i] < 0)
            continue;
        const size_t b = (size_t)scene->before[i];
        memcpy(x->before_prob + i * k, prob + b * k, k * sizeof *prob);
        x->before_degree[i] = (float)graphss_graph_degree(past, b);
        x->before_words[i] = words[b];
    }
    graphss_release(ctx, words);
    graphss_release(ctx, prob);
    x->lens.before = scene->before;
    x->lens.before_prob = x->before_prob;
    x->lens.before_degree = x->before_degree;
    x->lens.before_words = x->before_words;
    return st;
}

static graphss_status believe(graphss_ctx *ctx, inspection *x)
{
    const graphss_i_scene *scene = x->scene;
    const graphss_split *split = scene->split;
    x->believed = graphss_i_alloc(ctx, scene->n, sizeof *x->believed);
    x->fixed = graphss_i_calloc(ctx, scene->n, sizeof *x->fixed);
    if (!x->believed || !x->fixed)
        return GRAPHSS_ERR_NOMEM;
    graphss_argmax(x->believed, scene->prob, scene->n, scene->k);
    for (size_t i = 0; i < split->n_train; i++) {
        x->believed[split->train[i]] = split->train_label[i];
        x->fixed[split->train[i]] = 1;
    }
    for (size_t i = 0; i < split->n_val; i++) {
        x->believed[split->val[i]] = split->val_label[i];
        x->fixed[split->val[i]] = 1;
    }
    return GRAPHSS_OK;
}

/* Where labelled nodes are few and there is no past, states are learned so badly that up to a
 * quarter of the nodes of a clean snapshot was thought hit; and with a past honest change of a
 * sort that is not simulated passes for hostile. The quick look of alert keeps its rate of
 * false alarms, so what it finds is the prior. */
static graphss_status doubt(graphss_ctx *ctx, void *arg, size_t job)
{
    inspection *x = arg;
    (void)job; /* the only one */
    const graphss_i_scene *scene = x->scene;
    const graphss_split *split = scene->split;
    const double labels = (double)(split->n_train + split->n_val);
    const double worth =
        scene->before || !graphss_i_val_teaches(split) ? 1 : 1 - labels / ENOUGH_LABELS;
    x->untouched = PRIOR_UNTOUCHED;
    if (worth <= 0 || labels >= (double)scene->n || !graphss_i_look_possible(split))
        return GRAPHSS_OK;
    const graphss_recover_input in = {.current = scene->current,
                                      .previous = scene->before ? &scene->previous : NULL,
                                      .model = scene->model,
                                      .split = split,
                                      .seed = scene->seed};
    graphss_alert_scores seen = {0};
    graphss_verdict v = {0};
    graphss_status st = graphss_i_alert_look(ctx, &seen, &in, NULL);
    if (!st)
        st = graphss_i_alert_judge(ctx, &v, &seen, NULL, 0, scene->seed, NULL);
    graphss_alert_scores_destroy(ctx, &seen);
    if (v.n_group == 0) /* nobody to compare with: it cannot tell */
        return st;
    x->calm = !st && v.p_value > UNSURE;
    const double quiet = scene->before ? UNSURE : QUIET; /* it misses less with a past */
    x->untouched += worth * (v.p_value > quiet    ? QUIET_UNTOUCHED
                             : v.p_value > UNSURE ? UNSURE_UNTOUCHED
                                                  : 0);
    return st;
}

/* Simulated attacks, and what they make of the snapshot. */
typedef struct rehearsal {
    inspection *x;
    graphss_attack_input in;
    graphss_i_ground ground;
    graphss_flips flips[GRAPHSS_I_DRILLS];
} rehearsal;

static graphss_status attack_once(graphss_ctx *ctx, void *arg, size_t drill)
{
    rehearsal *r = arg;
    const graphss_status st =
        graphss_i_progress(ctx, "simulate", drill, GRAPHSS_I_DRILLS, NULL);
    return st ? st
              : graphss_i_drills_attack(ctx, &r->flips[drill], &r->x->drills, drill, &r->in,
                                        (const float *const *)r->x->witnesses.attacker,
                                        &r->ground);
}

/* graph and features are there. */
static graphss_status open_view(graphss_ctx *ctx, const inspection *x, graphss_i_view *v,
                                const graphss_i_lens *lens)
{
    const graphss_i_scene *scene = x->scene;
    const size_t count = scene->n * scene->k;
    v->prob = graphss_i_alloc(ctx, count, sizeof *v->prob);
    v->mlp = graphss_i_alloc(ctx, count, sizeof *v->mlp);
    graphss_status st = v->prob && v->mlp ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st && v->borrowed) /* the snapshot itself */
        memcpy(v->prob, scene->prob, count * sizeof *v->prob);
    else if (!st)
        st = graphss_i_predict(ctx, v->prob, scene->model, &v->graph, &v->features);
    if (!st)
        st = graphss_i_witnesses_ask(ctx, v->mlp, &x->witnesses, &v->features, scene->k,
                                     lens->base ? &lens->base->features : NULL,
                                     lens->base ? lens->base->mlp : NULL);
    return st ? st : graphss_i_view_open(ctx, v, lens);
}

static graphss_status make_view(graphss_ctx *ctx, void *arg, size_t job)
{
    const rehearsal *r = arg;
    graphss_i_view *v = &r->x->view[1 + job];
    graphss_i_lens lens = r->x->lens;
    v->wanted = graphss_i_calloc(ctx, lens.n, sizeof *v->wanted);
    graphss_status st = v->wanted
                            ? graphss_i_drills_merge(ctx, &v->graph, &v->features,
                                                     &r->x->drills, 1 + job, &r->in, r->flips)
                            : GRAPHSS_ERR_NOMEM;
    if (!st) {
        graphss_i_drills_wanted(v->wanted, &r->x->drills, 1 + job);
        lens.base = &r->x->view[0];
        lens.wanted = v->wanted;
        st = open_view(ctx, r->x, v, &lens);
    }
    return st;
}

static graphss_status make_views(graphss_ctx *ctx, inspection *x)
{
    const graphss_i_scene *scene = x->scene;
    const size_t simulated = x->drills.views - 1;
    const graphss_attack_options opt = graphss_attack_options_default();
    rehearsal r = {.x = x,
                   .in = {.graph = scene->current.graph,
                          .features = scene->current.features,
                          .label = x->believed,
                          .n_classes = scene->k,
                          .model = scene->model,
                          .seed = scene->seed}};
    x->view[0].borrowed = true;
    x->view[0].graph = *scene->current.graph;
    x->view[0].features = *scene->current.features;
    graphss_status st = open_view(ctx, x, &x->view[0], &x->lens);
    const graphss_i_ground_input ground = {
        .features = r.in.features,
        .domain = graphss_i_attack_domain(r.in.features, &opt),
        .node = x->drills.node,
        .n_nodes = x->drills.blocks * x->drills.block,
        .n_classes = scene->k,
        .believed = (const float *const *)x->witnesses.attacker,
        .n_believed = GRAPHSS_I_BELIEFS};
    if (!st)
        st = graphss_i_ground_init(ctx, &r.ground, &ground);
    if (!st)
        st = graphss_i_errands(ctx, GRAPHSS_I_DRILLS, attack_once, &r);
    graphss_i_ground_destroy(ctx, &r.ground);
    /* Where views are few and large, threads share each, and so those that would keep some
     * threads waiting for others. */
    const size_t turns = simulated / graphss_threads(ctx);
    const size_t alone = simulated < FEW_VIEWS ? 0
                         : turns               ? turns * graphss_threads(ctx)
                                               : simulated;
    if (!st)
        st = graphss_i_errands(ctx, alone, make_view, &r);
    for (size_t job = alone; job < simulated && !st; job++)
        st = make_view(ctx, &r, job);
    for (size_t j = 0; j < GRAPHSS_I_DRILLS; j++)
        graphss_flips_destroy(ctx, &r.flips[j]);
    return st;
}

/* ---- fitting ---- */

static graphss_status learn(graphss_ctx *ctx, graphss_i_lessons *l, const inspection *x,
                            size_t group)
{
    return graphss_i_lessons_gather(ctx, l, &x->drills, x->view, x->scene->k,
                                    group ? x->scene->before : NULL);
}

static graphss_status fit(graphss_ctx *ctx, inspection *x, size_t group)
{
    graphss_i_lessons l = {0};
    graphss_status st = learn(ctx, &l, x, group);
    graphss_i_suspicion_destroy(ctx, &x->suspicion[group]);
    x->fitted[group] = false;
    if (!st && l.n_now >= GRAPHSS_I_KNOWN_LEAST / 2 &&
        graphss_i_samples_suffice(&l.untouched, l.attacked)) {
        st = graphss_i_suspicion_fit(ctx, &x->suspicion[group], &x->view[0], x->scene->n,
                                     x->scene->k, &l.untouched, l.attacked, group == 1);
        x->fitted[group] = !st;
    }
    graphss_i_lessons_destroy(ctx, &l);
    return st;
}

static size_t group_of(const inspection *x, size_t node)
{
    return x->fitted[1] && x->scene->before[node] >= 0;
}

/* Are there nodes to be judged by that group? That with history is fitted first. */
static bool has_nodes(const inspection *x, size_t group)
{
    if (group == 1)
        return x->scene->before != NULL;
    for (size_t i = 0; i < x->scene->n; i++)
        if (group_of(x, i) == group)
            return true;
    return false;
}

/* ---- inference ---- */

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
    graphss_i_parallel(ctx, graphss_i_tasks(m, ROWS), weigh_rows, &s);
    graphss_state state[GRAPHSS_I_STATES] = {0};
    for (size_t r = 0; r < GRAPHSS_I_STATES; r++)
        state[r] = (graphss_state){
            .name = graphss_i_state_name(r),
            .concentration = r ? PRIOR_OTHER : PRIOR_FIRST + x->untouched * (double)all,
            .prob = r ? s.prob + r * m * k : NULL, /* of the first: those of the input */
            .likelihood = s.likelihood + r * m};
    const graphss_selfsup_input in = {.n = m,
                                      .n_classes = k,
                                      .prob = s.prob,
                                      .state = state,
                                      .n_states = GRAPHSS_I_STATES,
                                      .seed = x->scene->seed};
    graphss_selfsup_options opt = graphss_selfsup_options_default();
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

static void settle_view(graphss_ctx *ctx, inspection *x, graphss_i_view *v,
                        graphss_i_inspection *out)
{
    settling s = {.x = x, .out = out, .v = v};
    fixed_shares(s.share);
    graphss_i_parallel(ctx, graphss_i_tasks(x->scene->n, ROWS), settle_rows, &s);
    trust_training(x, v);
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
static graphss_status infer_now(graphss_ctx *ctx, graphss_i_inspection *out, inspection *x)
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
        const double hit = m ? (double)m / (double)all : 0;
        for (size_t r = 0; r < GRAPHSS_I_STATES && all; r++) /* of all */
            x->share[g][r] = m ? hit * x->share[g][r] + (r ? 0 : 1 - hit) : r == 0;
    }
    graphss_release(ctx, node);
    if (st)
        return st;
    settle_view(ctx, x, &x->view[0], out);
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

static graphss_status passes(graphss_ctx *ctx, graphss_i_inspection *out, inspection *x)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t pass = 0; pass < PASSES && !st; pass++) {
        for (size_t v = 1; v < x->drills.views && pass; v++)
            settle_view(ctx, x, &x->view[v], NULL);
        for (size_t v = 0; v < x->drills.views && !st; v++) {
            graphss_i_lens lens = x->lens;
            lens.wanted = pass + 1 == PASSES ? x->view[v].wanted : NULL; /* others are done */
            st = graphss_i_view_look(ctx, &x->view[v], &lens);
        }
        for (size_t g = GROUPS; g-- > 0 && !st;)
            if (has_nodes(x, g))
                st = fit(ctx, x, g);
        if (!st)
            st = infer_now(ctx, out, x);
    }
    return st;
}

/* The classifier keeps its say where replacing it gained nothing in simulations, and of a
 * snapshot where few nodes were hit, if any, at all that look untouched. */
static graphss_status be_careful(graphss_ctx *ctx, graphss_i_inspection *out,
                                 const inspection *x)
{
    const size_t n = x->scene->n, k = x->scene->k;
    const bool calm = 1 - out->share[0] < FEW_HIT;
    double lead[GROUPS] = {0};
    bool used[GROUPS] = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < n; i++)
        used[group_of(x, i)] = true;
    for (size_t g = 0; g < GROUPS && !st; g++) {
        graphss_i_lessons l = {0};
        if (!used[g])
            continue;
        st = learn(ctx, &l, x, g);
        if (!st)
            st = graphss_i_caution(ctx, &lead[g], &x->view[0], n, k, &l.untouched, l.attacked,
                                   x->share[g], g == 1);
        graphss_i_lessons_destroy(ctx, &l);
    }
    for (size_t i = 0; i < n && !st; i++) {
        const graphss_i_suspicion *u = &x->suspicion[group_of(x, i)];
        const size_t own = graphss_i_top(x->scene->prob + i * k, k);
        double *posterior = out->posterior + i * k;
        if (!calm || out->state[i * GRAPHSS_I_STATES] <= 0.5)
            graphss_i_caution_apply(posterior, own, lead[group_of(x, i)], k);
        else if (graphss_i_top_double(posterior, k) !=
                 own) /* and is as sure as it is right by itself */
            graphss_i_choice_row(posterior, &u->own, x->view[0].says + i * k * GRAPHSS_I_SAYS,
                                 k, 1);
    }
    return st;
}

graphss_status graphss_i_inspect(graphss_ctx *ctx, graphss_i_inspection *out,
                                 const graphss_i_scene *scene)
{
    const size_t n = scene->n, k = scene->k;
    inspection x = {.scene = scene, .lens = {.n = n, .k = k, .split = scene->split}};
    graphss_i_inspection result = {
        .posterior = graphss_i_alloc(ctx, n, k * sizeof *result.posterior),
        .state = graphss_i_alloc(ctx, n, GRAPHSS_I_STATES * sizeof *result.state)};
    const size_t tasks = graphss_i_tasks(n, ROWS);
    x.chance = graphss_i_alloc(ctx, tasks, k * GRAPHSS_I_ROW * sizeof *x.chance);
    x.mixed = graphss_i_alloc(ctx, tasks, k * sizeof *x.mixed);
    graphss_status st = result.posterior && result.state && x.chance && x.mixed
                            ? GRAPHSS_OK
                            : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_i_drills_plan(ctx, &x.drills, scene->split, scene->seed);
    x.drills.apart = scene->before != NULL; /* without a past they hide attacks on links */
    if (!st)
        st = look_back(ctx, &x);
    if (!st)
        st = stand_still(ctx, &x);
    if (!st)
        st = believe(ctx, &x);
    if (!st)
        st = graphss_i_witnesses_train(ctx, &x.witnesses, &scene->current, scene->split, k,
                                       scene->seed, doubt, &x);
    x.lens.surrogate = x.witnesses.words;
    x.lens.lexicon = &x.witnesses.lexicon;
    if (!st)
        st = graphss_i_word_strength(ctx, &x.lens.strength, scene->current.features,
                                     x.witnesses.words, k);
    if (!st)
        st = make_views(ctx, &x);
    if (!st)
        st = passes(ctx, &result, &x);
    if (!st)
        st = be_careful(ctx, &result, &x);
    const bool calm = x.calm;
    inspection_release(ctx, &x);
    if (st) {
        graphss_i_inspection_destroy(ctx, &result);
        return st;
    }
    result.calm = calm;
    *out = result;
    return GRAPHSS_OK;
}
