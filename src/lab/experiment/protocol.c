/* protocol.c - experiments, from a dataset to an attacked snapshot with its model. Two modes
 * in one place, so that a table made in one can be compared with a table made in the other
 * step by step. */
#include "data/build.h"
#include "lab/experiment/cell.h"
#include "models/model_type.h"
#include <graphss/alert.h>
#include <graphss/labels.h>
#include <graphss_lab/protocol.h>
#include <graphss_lab/target.h>
#include <math.h>
#include <string.h>

void graphss_protocol_options_init(
    graphss_protocol_options *opt, const char *model, graphss_mode mode)
{
    *opt = (graphss_protocol_options){.struct_size = sizeof *opt, .mode = mode};
    graphss_split_options_init(&opt->split);
    graphss_train_options_init(&opt->train, model, mode, NULL);
    graphss_snapshot_options_init(&opt->plan);
    graphss_attack_options_init(&opt->attack);
    opt->attack.mode = mode;
    opt->attack.edges = opt->attack.features = -1;
    opt->attack.knows =
        mode == GRAPHSS_MODE_PAPER ? GRAPHSS_KNOWLEDGE_TRUTH : GRAPHSS_KNOWLEDGE_PREDICTIONS;
    if (mode == GRAPHSS_MODE_PAPER) {
        opt->split.noise_kind = GRAPHSS_NOISE_PAPER;
        /* Rows are divided before the attack. Dividing them again afterwards would undo part
         * of it. */
        opt->train.row_normalise = false;
    }
}

/* The two datasets that the paper treats differently. */
static bool is_large(const graphss_dataset *data)
{
    return strstr(data->name, "photo") || strstr(data->name, "coauthor");
}

void graphss_protocol_budget(int64_t *edges, int64_t *features, const graphss_dataset *data)
{
    const int64_t most = data && is_large(data) ? 5 : 2;
    if (edges)
        *edges = most;
    if (features)
        *features = 10 * most;
}

void graphss_protocol_suit(graphss_protocol_options *opt, const graphss_dataset *data)
{
    int64_t edges, features;
    if (!opt || !data)
        return;
    graphss_protocol_budget(&edges, &features, data);
    if (opt->attack.edges < 0)
        opt->attack.edges = edges;
    if (opt->attack.features < 0)
        opt->attack.features = features;
    if (opt->mode == GRAPHSS_MODE_PAPER && is_large(data)) /* its code adds loops to these */
        opt->train.self_loops = true;
}

void graphss_protocol_destroy(graphss_ctx *ctx, graphss_protocol *p)
{
    if (!p)
        return;
    graphss_release(ctx, p->surrogate);
    graphss_model_free(ctx, p->model);
    graphss_split_destroy(ctx, &p->split);
    graphss_dataset_destroy(ctx, &p->data);
    *p = (graphss_protocol){0};
}

static graphss_status train(graphss_ctx *ctx, graphss_model **model, const graphss_protocol *p,
    const graphss_dataset *data, const graphss_split *split)
{
    const graphss_train_input in = {.struct_size = sizeof in,
        .graph = &data->graph,
        .features = &data->features,
        .n_classes = data->n_classes,
        .split = split,
        .seed = p->seed};
    graphss_status st;
    if (p->opt.predictor) {
        graphss_predictor lent = *p->opt.predictor;
        lent.release = NULL;
        st = graphss_model_from_predictor(ctx, model, &lent, &in, &p->opt.train);
    } else {
        st = graphss_model_train(ctx, model, NULL, &in, &p->opt.train);
    }
    if (!st)
        st = graphss_model_set_dataset(ctx, *model, data);
    if (st || p->opt.mode == GRAPHSS_MODE_PAPER)
        return st;
    const graphss_observation seen = graphss_dataset_observe(data);
    return graphss_alert_train(ctx, *model, &seen, p->seed);
}

/* The paper's code defends the weights of the best epoch and gives the attacker others. Of a
 * GCN those of the last epoch: the same training again, without validation nodes to choose by.
 * Of SGC and GraphSAGE those before the first: it keeps transposed views of them, which go
 * stale when the model moves to a GPU. Both matter (docs/selfsup.md). */
graphss_status graphss_protocol_surrogate(graphss_ctx *ctx, float **out,
    const graphss_dataset *data, const graphss_split *split, uint64_t seed,
    const graphss_train_options *train)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}, {"split", split}, {"options", train},
            {"place for the surrogate", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_split all = *split;
    graphss_train_options opt = *train;
    graphss_model *given = NULL;
    all.n_val = 0;
    const graphss_i_model_type *type = graphss_i_model_type_find(opt.model);
    if (type && type->paper_drawn)
        opt.epochs = 0;
    graphss_status st = graphss_model_train(ctx, &given, NULL,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = &data->graph,
            .features = &data->features,
            .n_classes = data->n_classes,
            .split = &all,
            .seed = seed},
        &opt);
    if (!st)
        st = graphss_surrogate_from_model(ctx, out, given, GRAPHSS_MODE_PAPER);
    graphss_model_free(ctx, given);
    return st;
}

graphss_status graphss_protocol_start(graphss_ctx *ctx, graphss_protocol *out,
    const graphss_dataset *data, uint64_t seed, const graphss_protocol_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"dataset", data}, {"place for the protocol", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_protocol p = {.seed = seed};
    graphss_protocol_options_init(&p.opt, "gcn", GRAPHSS_MODE_DEFAULT);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_protocol_options, &p.opt, opt);
    if (st)
        return st;
    const bool paper = p.opt.mode == GRAPHSS_MODE_PAPER;
    if (paper && p.opt.plan.setting != GRAPHSS_SETTING_SEEN)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "setting %s in paper mode: the paper has only 'seen'",
            graphss_setting_text((graphss_setting)p.opt.plan.setting));
    if (paper && p.opt.predictor)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "a predictor in paper mode, whose attacker knows the weights");
    graphss_protocol_suit(&p.opt, data);

    st = graphss_dataset_copy(ctx, &p.data, data);
    if (!st && paper)
        st = graphss_dataset_normalise_rows(ctx, &p.data);
    if (!st)
        st = graphss_split_make(ctx, &p.split, data->label, data->graph.n_nodes,
            data->n_classes, seed, &p.opt.split);
    if (!st && p.opt.plan.setting == GRAPHSS_SETTING_SEEN)
        st = train(ctx, &p.model, &p, &p.data, &p.split);
    if (!st && paper)
        st = graphss_protocol_surrogate(
            ctx, &p.surrogate, &p.data, &p.split, seed, &p.opt.train);
    if (st)
        graphss_protocol_destroy(ctx, &p);
    else
        *out = p;
    return st;
}

/* ---- the attack ---- */

graphss_status graphss_protocol_believed(graphss_ctx *ctx, int32_t *label,
    const graphss_dataset *data, const graphss_split *split, double noise, uint64_t seed)
{
    if (GRAPHSS_I_LACKS(ctx, {"labels", label}, {"dataset", data}, {"split", split}))
        return GRAPHSS_ERR_INVALID;
    if (!(noise >= 0 && noise <= 1))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "noise is %g, want 0 to 1", noise);
    const graphss_status st = graphss_i_split_check(ctx, split, data->graph.n_nodes);
    if (st)
        return st;
    const size_t k = data->n_classes;
    int32_t *order = graphss_i_copy(ctx, split->test, split->n_test, sizeof *order);
    if (!order)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < split->n_train; i++)
        label[split->train[i]] = split->train_label[i];
    for (size_t i = 0; i < split->n_val; i++)
        label[split->val[i]] = split->val_label[i];
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_ATTACK);
    graphss_rng_shuffle(&rng, order, split->n_test);
    const size_t wrong = (size_t)(noise * (double)split->n_test);
    for (size_t i = 0; i < wrong; i++) /* may redraw the truth, never the last class */
        label[order[i]] = (int32_t)graphss_rng_below(&rng, k > 1 ? k - 1 : 1);
    graphss_release(ctx, order);
    return GRAPHSS_OK;
}

/* The labels [nodes] that the attacker assumes. Default mode: by attack.knows, the model's
 * predictions unless a recipe sets another value. Paper mode: noisy labels of all nodes, test
 * nodes included, as in its code. */
static graphss_status believe(graphss_ctx *ctx, int32_t *label,
    const graphss_protocol_trial *s, const graphss_protocol *p)
{
    const graphss_status st = graphss_attack_believe(ctx, label, &p->data, &s->snapshots.split,
        s->before, p->data.n_classes, s->seed, (graphss_knowledge)p->opt.attack.knows);
    if (st || p->opt.mode != GRAPHSS_MODE_PAPER ||
        p->opt.attack.knows != GRAPHSS_KNOWLEDGE_TRUTH)
        return st;
    return graphss_protocol_believed(
        ctx, label, &p->data, &p->split, p->opt.split.noise, p->seed);
}

static graphss_status assail(
    graphss_ctx *ctx, graphss_protocol_trial *s, const graphss_protocol *p)
{
    graphss_snapshots *made = &s->snapshots;
    const graphss_dataset *now = &made->current;
    const size_t n = now->graph.n_nodes;
    float *w = NULL;
    graphss_flips flips = {0};
    int32_t *label = graphss_i_alloc(ctx, n, sizeof *label);
    graphss_status st = label ? believe(ctx, label, s, p) : GRAPHSS_ERR_NOMEM;
    if (!st && !p->surrogate)
        st = graphss_surrogate_train(ctx, &w,
            &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
                .graph = &now->graph,
                .features = &now->features,
                .n_classes = now->n_classes,
                .split = &made->split,
                .seed = s->seed});
    if (st)
        goto done;
    graphss_target target;
    graphss_attack_input in = {.struct_size = sizeof in,
        .graph = &now->graph,
        .features = &now->features,
        .label = label,
        .n_classes = now->n_classes,
        .surrogate = p->surrogate ? p->surrogate : w,
        .model = s->model,
        .victim = made->victim,
        .n_victims = made->n_victims,
        .seed = s->seed};
    if (p->opt.attack.against) {
        graphss_target_init(&target);
        target.against = p->opt.attack.against;
        target.in = graphss_protocol_input(s);
        in.ask = graphss_target_ask;
        in.asked = &target;
    }
    const double start = graphss_i_seconds();
    st = graphss_attack_run(ctx, &flips, NULL, &in, &p->opt.attack);
    s->attack_seconds = graphss_i_seconds() - start;
    if (st)
        goto done;
    snprintf(flips.dataset, sizeof flips.dataset, "%s", now->name);
    snprintf(flips.hash, sizeof flips.hash, "%s", now->hash);
    snprintf(flips.mode, sizeof flips.mode, "evasion");
    st = graphss_snapshots_change(ctx, made, &flips);
done:
    graphss_flips_destroy(ctx, &flips);
    graphss_release(ctx, w);
    graphss_release(ctx, label);
    return st;
}

static graphss_status answer(
    graphss_ctx *ctx, int32_t **label, const graphss_protocol_trial *s)
{
    const graphss_dataset *now = &s->snapshots.current;
    *label = graphss_i_alloc(ctx, now->graph.n_nodes, sizeof **label);
    return *label ? graphss_model_label(ctx, *label, s->model, &now->graph, &now->features)
                  : GRAPHSS_ERR_NOMEM;
}

/* Both lists are ascending. */
static graphss_status list_others(graphss_ctx *ctx, graphss_protocol_trial *s)
{
    const graphss_snapshots *made = &s->snapshots;
    s->other = graphss_i_alloc(ctx, made->split.n_test, sizeof *s->other);
    if (!s->other)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0, v = 0; i < made->split.n_test; i++) {
        const int32_t node = made->split.test[i];
        while (v < made->n_victims && made->victim[v] < node)
            v++;
        if (v == made->n_victims || made->victim[v] != node)
            s->other[s->n_others++] = node;
    }
    return GRAPHSS_OK;
}

graphss_status graphss_protocol_attack(graphss_ctx *ctx, graphss_protocol_trial *out,
    const graphss_protocol *p, uint64_t victim_seed)
{
    if (GRAPHSS_I_LACKS(ctx, {"protocol", p}, {"place for the scene", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_protocol_trial s = {.seed = victim_seed, .model = p->model};
    graphss_status st = graphss_snapshots_plan(
        ctx, &s.snapshots, &p->data, &p->split, victim_seed, &p->opt.plan);
    if (!st && !s.model) {
        st = train(ctx, &s.own, p, &s.snapshots.previous, &s.snapshots.previous_split);
        s.model = s.own;
    }
    if (!st)
        st = list_others(ctx, &s);
    if (!st)
        st = answer(ctx, &s.before, &s);
    if (!st)
        st = assail(ctx, &s, p);
    if (!st)
        st = answer(ctx, &s.after, &s);
    if (st) {
        graphss_protocol_trial_destroy(ctx, &s);
        return st;
    }
    s.has_past = p->opt.plan.setting != GRAPHSS_SETTING_NEW;
    s.clean = graphss_protocol_measure(&s, s.before);
    s.attacked = graphss_protocol_measure(&s, s.after);
    *out = s;
    return GRAPHSS_OK;
}

graphss_defence_input graphss_i_protocol_input(
    const graphss_protocol_trial *s, graphss_observation *previous)
{
    if (previous)
        *previous = graphss_dataset_observe(&s->snapshots.previous);
    return (graphss_defence_input){.struct_size = sizeof(graphss_defence_input),
        .current = graphss_dataset_observe(&s->snapshots.current),
        .previous = previous,
        .model = s->model,
        .split = &s->snapshots.split,
        .seed = s->seed};
}

graphss_defence_input graphss_protocol_input(graphss_protocol_trial *s)
{
    if (!s)
        return (graphss_defence_input){0};
    return graphss_i_protocol_input(s, s->has_past ? &s->previous : NULL);
}

graphss_protocol_score graphss_protocol_measure(
    const graphss_protocol_trial *s, const int32_t *label)
{
    if (!s)
        return (graphss_protocol_score){NAN, NAN, NAN};
    const graphss_snapshots *made = &s->snapshots;
    const int32_t *truth = made->current.label;
    return (graphss_protocol_score){
        graphss_labels_accuracy(label, truth, made->victim, made->n_victims),
        graphss_labels_accuracy(label, truth, s->other, s->n_others),
        graphss_labels_accuracy(label, truth, made->split.test, made->split.n_test)};
}

void graphss_protocol_trial_destroy(graphss_ctx *ctx, graphss_protocol_trial *s)
{
    if (!s)
        return;
    graphss_release(ctx, s->after);
    graphss_release(ctx, s->before);
    graphss_release(ctx, s->other);
    graphss_model_free(ctx, s->own);
    graphss_snapshots_destroy(ctx, &s->snapshots);
    *s = (graphss_protocol_trial){0};
}
