/* graphss_views.c - simulated attacks, and what they make of the snapshot.
 *
 * All attacks are made first: drills share a view, and each is made as if it were alone. */
#include "attack/attack_method.h"
#include "graph/similarity.h"
#include "models/unchecked.h"
#include "recover/graphss_private.h"
#include <string.h>

enum { FEW_VIEWS = 4 };

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
    const graphss_i_defence_input *scene = x->scene;
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

/* What the classifier says where only links between nodes count that are as alike as those of
 * the snapshot's middle link, or more: links that an attacker made seldom are. */
static graphss_status ask_alike(graphss_ctx *ctx, const inspection *x, graphss_i_view *v)
{
    const graphss_i_defence_input *scene = x->scene;
    graphss_graph alike = {0};
    v->alike = graphss_i_alloc(ctx, scene->n * scene->k, sizeof *v->alike);
    graphss_status st =
        v->alike ? graphss_i_edges_alike(ctx, &alike, &v->graph, v->cosine, x->middle)
                 : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = graphss_i_predict(ctx, v->alike, scene->model, &alike, &v->features);
    graphss_graph_destroy(ctx, &alike);
    return st;
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
    return st ? st : ask_alike(ctx, r->x, v);
}

graphss_status graphss_i_inspect_views(graphss_ctx *ctx, inspection *x)
{
    const graphss_i_defence_input *scene = x->scene;
    const size_t simulated = x->drills.views - 1;
    graphss_attack_options opt;
    graphss_attack_options_init(&opt);
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
    if (!st)
        st = graphss_i_similarity_median(ctx, &x->middle, x->view[0].cosine,
                                         (size_t)r.in.graph->offset[scene->n]);
    if (!st)
        st = ask_alike(ctx, x, &x->view[0]);
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
        st = graphss_i_parallel_jobs(ctx, GRAPHSS_I_DRILLS, attack_once, &r);
    graphss_i_ground_destroy(ctx, &r.ground);
    /* Where views are few and large, threads share each, and so those that would keep some
     * threads waiting for others. */
    const size_t turns = simulated / graphss_threads(ctx);
    const size_t alone = simulated < FEW_VIEWS ? 0
                         : turns               ? turns * graphss_threads(ctx)
                                               : simulated;
    if (!st)
        st = graphss_i_parallel_jobs(ctx, alone, make_view, &r);
    for (size_t job = alone; job < simulated && !st; job++)
        st = make_view(ctx, &r, job);
    for (size_t j = 0; j < GRAPHSS_I_DRILLS; j++)
        graphss_flips_destroy(ctx, &r.flips[j]);
    return st;
}
