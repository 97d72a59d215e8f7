/* sim_plan.c - see sim_plan.h. Drill j belongs to round j / blocks, which is a view, and to
 * block j % blocks; two in a row are of one kind. In a round the nodes hit are those whose
 * place in the random order is even, in the next those whose place is odd. Few labelled nodes
 * are hit by every kind; many are divided, since time goes with the nodes hit.
 *
 * Churned nodes weigh as much as others that nobody attacked: with less, nodes that changed by
 * themselves pass for attacked and lose what they gained (docs/log/recovery.md). */
#include "detect/sim_plan.h"
#include "attack/apply.h"
#include "attack/sandbox.h"
#include <string.h>

enum { HALVES = 2, VAL_LEAST = 150, ALONE_MOST = 700, BLOCK_MOST = 400, CALM_MOST = 2400 };

void graphss_i_drills_destroy(graphss_ctx *ctx, graphss_i_drills *d)
{
    graphss_release(ctx, d->node);
    graphss_release(ctx, d->label);
    *d = (graphss_i_drills){0};
}

bool graphss_i_val_teaches(const graphss_split *split)
{
    return split->n_val >= VAL_LEAST || split->n_val >= split->n_train;
}

graphss_status graphss_i_drills_plan(graphss_ctx *ctx, graphss_i_drills *d,
                                     const graphss_split *split, uint64_t seed)
{
    const bool val = graphss_i_val_teaches(split);
    const size_t n = val ? split->n_val : split->n_train;
    if (n < GRAPHSS_I_KNOWN_LEAST)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                              "%zu validation and %zu training node%s, want %d of either to "
                              "learn from; --method label-propagation (or keep-last, with "
                              "--previous) does without",
                              split->n_val, split->n_train, split->n_train == 1 ? "" : "s",
                              (int)GRAPHSS_I_KNOWN_LEAST);
    const int32_t *node = val ? split->val : split->train;
    const int32_t *label = val ? split->val_label : split->train_label;
    const size_t wanted = n > ALONE_MOST ? (n + BLOCK_MOST - 1) / BLOCK_MOST : 1;
    graphss_i_drills made = {.blocks = wanted < GRAPHSS_I_DRILLS ? wanted : GRAPHSS_I_DRILLS};
    made.block = n / made.blocks;
    if (wanted > 1 && made.block > BLOCK_MOST)
        made.block = BLOCK_MOST;
    made.views = 1 + (GRAPHSS_I_DRILLS + made.blocks - 1) / made.blocks;
    const size_t used = made.blocks * made.block;
    int32_t *order = graphss_i_alloc(ctx, n, sizeof *order);
    made.node = graphss_i_alloc(ctx, used, sizeof *made.node);
    made.label = graphss_i_alloc(ctx, used, sizeof *made.label);
    const bool good = order && made.node && made.label;
    if (good) {
        graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_DEFENCE);
        for (size_t i = 0; i < n; i++)
            order[i] = (int32_t)i;
        graphss_rng_shuffle(&rng, order, n);
        for (size_t i = 0; i < used; i++) {
            made.node[i] = node[order[i]];
            made.label[i] = label[order[i]];
        }
        *d = made;
    } else {
        graphss_i_drills_destroy(ctx, &made);
    }
    graphss_release(ctx, order);
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

static graphss_i_tampering kind_of(size_t drill)
{
    return (graphss_i_tampering)(drill / HALVES);
}

static bool hit(size_t i, size_t round)
{
    return (i + round) % HALVES == 0;
}

/* Nodes that are not hit stand beside those that are; each is looked at in one round. */
static bool beside(const graphss_i_drills *d, size_t i, size_t round)
{
    const size_t turns = (d->views - 1) / HALVES;
    return !hit(i, round) && i / HALVES % (turns ? turns : 1) == round / HALVES;
}

/* ---- views ---- */

/* Makes the changes that still fit. */
static graphss_status merge(graphss_ctx *ctx, graphss_i_sandbox *s, graphss_flips *all,
                            const graphss_flips *flips)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < flips->count && !st; i++) {
        const graphss_flip *f = &flips->item[i];
        if (f->kind == GRAPHSS_FLIP_FEATURE) {
            if (graphss_i_sandbox_feature(s, (size_t)f->node, f->target) != f->new_value)
                st = graphss_i_sandbox_set_feature(ctx, s, all, f->victim, f->node, f->target,
                                                   f->new_value);
        } else if (graphss_i_rows_has(&s->edges, (size_t)f->node, f->target) !=
                   (f->new_value != 0)) {
            st = graphss_i_sandbox_flip_edge(ctx, s, all, f->victim, f->node, f->target);
        }
    }
    return st;
}

graphss_status graphss_i_drills_attack(graphss_ctx *ctx, graphss_flips *flips,
                                       const graphss_i_drills *d, size_t drill,
                                       const graphss_attack_input *in,
                                       const float *const *surrogate,
                                       const graphss_i_ground *ground)
{
    const size_t round = drill / d->blocks, from = drill % d->blocks * d->block;
    graphss_attack_input step = *in;
    int32_t *victim = graphss_i_alloc(ctx, d->block, sizeof *victim);
    if (!victim)
        return GRAPHSS_ERR_NOMEM;
    step.victim = victim;
    step.n_victims = 0;
    step.seed = in->seed + drill % HALVES;
    for (size_t i = from; i < from + d->block; i++)
        if (hit(i, round))
            victim[step.n_victims++] = d->node[i];
    const graphss_status st = graphss_i_simulate(ctx, flips, &step, kind_of(drill), surrogate,
                                                 drill % HALVES, d->apart, ground);
    graphss_release(ctx, victim);
    return st;
}

graphss_status graphss_i_drills_merge(graphss_ctx *ctx, graphss_graph *graph,
                                      graphss_features *features, const graphss_i_drills *d,
                                      size_t view, const graphss_attack_input *in,
                                      const graphss_flips *flips)
{
    const size_t from = (view - 1) * d->blocks;
    graphss_i_sandbox sandbox = {0};
    graphss_flips all = {0};
    graphss_status st = graphss_i_sandbox_init(ctx, &sandbox, in->graph, in->features);
    for (size_t j = from; j < from + d->blocks && j < GRAPHSS_I_DRILLS && !st; j++)
        st = merge(ctx, &sandbox, &all, &flips[j]);
    if (!st)
        st = graphss_i_apply(ctx, graph, features, in->graph, in->features, &all, NULL);
    graphss_flips_destroy(ctx, &all);
    graphss_i_sandbox_destroy(ctx, &sandbox);
    return st;
}

/* ---- lessons ---- */

/* Whose lesson is a node that was hit, in this place among those with its budget? */
static size_t lesson_of(graphss_i_tampering kind, size_t place)
{
    if (kind == GRAPHSS_I_PRAISED && graphss_i_slandered(place))
        return GRAPHSS_I_SLANDERED;
    if (kind == GRAPHSS_I_COPIED && graphss_i_dressed(place))
        return GRAPHSS_I_DRESSED;
    return (size_t)kind;
}

void graphss_i_drills_wanted(uint8_t *wanted, const graphss_i_drills *d, size_t view)
{
    const size_t round = view - 1;
    for (size_t i = 0; i < d->blocks * d->block; i++)
        if (hit(i, round) || (i < CALM_MOST && beside(d, i, round)))
            wanted[d->node[i]] = 1;
}

bool graphss_i_samples_suffice(const graphss_i_sample *untouched,
                               const graphss_i_sample *attacked)
{
    for (size_t a = 0; a < GRAPHSS_I_MANY; a++)
        if (attacked[a].n == 0)
            return false;
    return untouched->n > 0;
}

void graphss_i_lessons_destroy(graphss_ctx *ctx, graphss_i_lessons *l)
{
    for (size_t a = 0; a < GRAPHSS_I_ATTACKS; a++)
        graphss_i_sample_destroy(ctx, &l->attacked[a]);
    graphss_i_sample_destroy(ctx, &l->untouched);
    *l = (graphss_i_lessons){0};
}

graphss_status graphss_i_lessons_gather(graphss_ctx *ctx, graphss_i_lessons *l,
                                        const graphss_i_drills *d, const graphss_i_view *view,
                                        size_t k, const int32_t *before)
{
    const size_t used = d->blocks * d->block, calm = used < CALM_MOST ? used : CALM_MOST;
    graphss_status st = graphss_i_sample_init(ctx, &l->untouched, 2 * calm + d->block, k);
    for (size_t a = 0; a < GRAPHSS_I_ATTACKS && !st; a++)
        st = graphss_i_sample_init(ctx, &l->attacked[a], d->block + 1, k);
    if (st)
        return st;
    for (size_t i = 0; i < calm; i++)
        if (!before || before[d->node[i]] >= 0)
            graphss_i_sample_add(&l->untouched, &view[0], k, d->node[i], d->label[i], 1);
    l->n_now = l->untouched.n;
    for (size_t drill = 0; drill < GRAPHSS_I_DRILLS; drill++) {
        const size_t round = drill / d->blocks, from = drill % d->blocks * d->block;
        const graphss_i_tampering kind = kind_of(drill);
        st = graphss_i_pulse(ctx);
        if (st)
            return st;
        size_t victims = 0; /* so far; budgets take turns, the largest last (attack_sim.c) */
        for (size_t i = from; i < from + d->block; i++) {
            victims += hit(i, round);
            if (before && before[d->node[i]] < 0)
                continue;
            if (hit(i, round)) {
                const size_t lesson = lesson_of(kind, (victims - 1) / GRAPHSS_I_BUDGETS);
                graphss_i_sample_add(kind == GRAPHSS_I_CHURN ? &l->untouched
                                                             : &l->attacked[lesson],
                                     &view[1 + round], k, d->node[i], d->label[i], 1);
            }
            if (hit(i, round) && kind == GRAPHSS_I_BOTH && victims % GRAPHSS_I_BUDGETS == 0)
                graphss_i_sample_add(&l->attacked[GRAPHSS_I_MANY], &view[1 + round], k,
                                     d->node[i], d->label[i], 1);
            else if (i < calm && beside(d, i, round))
                graphss_i_sample_add(&l->untouched, &view[1 + round], k, d->node[i],
                                     d->label[i], 1);
        }
    }
    return st;
}
