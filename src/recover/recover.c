/* recover.c - the frame of all defences: matching nodes, the model's own predictions, labels
 * from posteriors. */
#include "data/build.h"
#include "data/digest.h"
#include "graph/part.h"
#include "models/model_private.h"
#include "observation/observation.h"
#include "observation/part_scene.h"
#include "recover/network.h"
#include <graphss/labels.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* Working memory of one run. */
typedef struct workspace {
    float *prob;             /* [n x k] */
    int32_t *before;         /* [n] or NULL */
    int32_t *after;          /* [nodes of previous] or NULL */
    graphss_split own_split; /* the model's, if none is given */
    graphss_split previous_split;
} workspace;

static void workspace_destroy(graphss_ctx *ctx, workspace *w)
{
    graphss_release(ctx, w->prob);
    graphss_release(ctx, w->before);
    graphss_release(ctx, w->after);
    graphss_split_destroy(ctx, &w->own_split);
    graphss_split_destroy(ctx, &w->previous_split);
}

static graphss_status predict_past(
    graphss_ctx *ctx, workspace *w, graphss_i_defence_input *input, const graphss_i_defence *m)
{
    graphss_status st =
        graphss_i_match_past(ctx, &w->before, &w->after, &input->current, &input->previous);
    if (!st)
        st = graphss_split_translate(
            ctx, &w->previous_split, input->split, w->after, input->previous.graph->n_nodes);
    if (st)
        return st;
    input->before = w->before;
    input->previous_split = &w->previous_split;
    return m->evasion_previous && !input->retrain
               ? graphss_i_check_labels(ctx, &w->previous_split,
                     input->previous.graph->n_nodes, input->k, m, "previous")
               : GRAPHSS_OK;
}

static graphss_status allocate(graphss_ctx *ctx, graphss_recover_result *r, workspace *w,
    const graphss_i_defence_input *input)
{
    graphss_predictions *p = &r->predictions;
    const size_t n = input->n, k = input->k;
    p->n_nodes = n;
    p->n_classes = k;
    w->prob = graphss_i_alloc(ctx, n, k * sizeof *w->prob);
    r->model_label = graphss_i_alloc(ctx, n, sizeof *r->model_label);
    p->label = graphss_i_alloc(ctx, n, sizeof *p->label);
    p->posterior = graphss_i_alloc(ctx, n, k * sizeof *p->posterior);
    p->perturbed = graphss_i_alloc(ctx, n, sizeof *p->perturbed);
    if (!w->prob || !r->model_label || !p->label || !p->posterior || !p->perturbed)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        p->perturbed[i] = NAN;
    const graphss_names *names = input->current.names;
    const graphss_names *classes = graphss_model_class_names(input->model);
    graphss_status st = GRAPHSS_OK;
    if (names && names->count)
        st = graphss_i_names_copy(ctx, &p->node_names, names);
    if (!st && classes->count)
        st = graphss_i_names_copy(ctx, &p->class_names, classes);
    return st;
}

/* Derives labels from posteriors, and counts them. */
static graphss_status conclude(graphss_ctx *ctx, graphss_recover_result *r, const workspace *w,
    const graphss_i_defence_input *input, double abstain)
{
    graphss_predictions *p = &r->predictions;
    for (size_t i = 0; i < input->n * input->k; i++)
        if (!isfinite(p->posterior[i]))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s: the posterior of node %zu is no number", r->method, i / input->k);
    for (size_t i = 0; i < input->n; i++) {
        const double *row = p->posterior + i * input->k;
        const float *own = w->prob + i * input->k;
        const size_t best = graphss_i_top_double(row, input->k);
        double distance = 0;
        for (size_t c = 0; c < input->k; c++)
            distance += fabs(row[c] - own[c]);
        p->label[i] = row[best] < abstain ? -1 : (int32_t)best;
        r->abstained += p->label[i] < 0;
        r->changed += p->label[i] >= 0 && p->label[i] != r->model_label[i];
        r->new_nodes += input->before && input->before[i] < 0;
        if (isnan(p->perturbed[i]))
            p->perturbed[i] = fmin(1, distance / 2);
    }
    return GRAPHSS_OK;
}

/* ---- several ranks ---- */

static void take_scene(graphss_i_defence_input *input, const graphss_i_scene *s)
{
    input->split = &s->split;
    input->before = s->before;
    input->previous_split = s->before ? &s->previous_split : NULL;
}

/* x [n x size] of the own nodes becomes that of all on rank 0, and NULL on the others. */
static graphss_status hand_in(
    graphss_ctx *ctx, const graphss_i_part *part, void *x, size_t size)
{
    void **array = x, *all = NULL;
    const bool leads = graphss_i_rank(ctx) == 0;
    if (leads)
        all = graphss_i_alloc(ctx, part->n_all, size);
    graphss_status st =
        graphss_engine_agree(ctx, !leads || all ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM, NULL);
    if (!st)
        st = graphss_i_part_collect(ctx, all, part, *array, size);
    graphss_release(ctx, *array);
    *array = all;
    return st;
}

/* The answers of all ranks as one, on rank 0; names are those of the whole dataset. */
static graphss_status hand_over(
    graphss_ctx *ctx, graphss_recover_result *r, const graphss_i_scene *s)
{
    graphss_predictions *p = &r->predictions;
    graphss_status st = graphss_i_ranks_total(ctx, &r->abstained);
    if (!st)
        st = graphss_i_ranks_total(ctx, &r->changed);
    if (!st)
        st = graphss_i_ranks_total(ctx, &r->new_nodes);
    if (!st)
        st = hand_in(ctx, s->now, &r->model_label, sizeof *r->model_label);
    if (!st)
        st = hand_in(ctx, s->now, &p->label, sizeof *p->label);
    if (!st)
        st = hand_in(ctx, s->now, &p->perturbed, sizeof *p->perturbed);
    if (!st)
        st = hand_in(ctx, s->now, &p->posterior, p->n_classes * sizeof *p->posterior);
    p->n_nodes = s->n_all;
    if (!st && graphss_i_rank(ctx) == 0 && s->table->node_names.count)
        st = graphss_i_names_copy(ctx, &p->node_names, &s->table->node_names);
    return st;
}

static void add_split(graphss_i_digest *d, const graphss_split *s)
{
    const uint64_t size[] = {s->n_train, s->n_val};
    graphss_i_digest_add(d, size, sizeof size);
    graphss_i_digest_add(d, s->train, s->n_train * sizeof *s->train);
    graphss_i_digest_add(d, s->train_label, s->n_train * sizeof *s->train_label);
    if (s->n_val)
        graphss_i_digest_add(d, s->val, s->n_val * sizeof *s->val);
}

/* Everything a recovery depends on except the snapshots, whose names the context has. */
static graphss_status open_journal(graphss_ctx *ctx, graphss_i_journal **out,
    const graphss_i_defence_input *in, const graphss_recover_options *opt,
    const graphss_split *split)
{
    graphss_i_digest d;
    char text[256], hex[65];
    const graphss_model *m = in->model;
    const graphss_i_model_kept *kept = &m->kept[GRAPHSS_I_KEPT_STATES];
    const uint64_t number[] = {in->seed, in->previous.graph != NULL, opt->n_trusted};
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, number, sizeof number);
    for (const graphss_option *row = graphss_recover_method_options(opt->method, opt->mode);
         row->name; row++)
        graphss_i_digest_add(&d, text, graphss_option_text(text, sizeof text, opt, row));
    graphss_i_digest_add(&d, opt->trusted, opt->n_trusted * sizeof *opt->trusted);
    graphss_i_digest_add(&d, m->params.value, m->params.count * sizeof *m->params.value);
    graphss_i_digest_add(&d, kept->value, kept->rows * kept->cols * sizeof *kept->value);
    add_split(&d, split);
    graphss_i_digest_end(&d, hex);
    return graphss_i_journal_open(ctx, out, hex);
}

/* in is standardised as the model expects, and checked. scene: NULL without ranks. */
static graphss_status run(graphss_ctx *ctx, graphss_recover_result *out,
    const graphss_defence_input *in, const graphss_recover_options *opt,
    const graphss_i_defence *m, bool retrain, graphss_i_carry *carry,
    const graphss_i_scene *scene)
{
    graphss_status st = GRAPHSS_OK;
    graphss_i_report report = {0};
    graphss_i_defence_input input = {.current = in->current,
        .model = in->model,
        .seed = in->seed,
        .report = &report,
        .carry = carry,
        .retrain = retrain};
    input.n = in->current.graph->n_nodes;
    input.k = graphss_model_classes(in->model);
    if (in->previous)
        input.previous = *in->previous;
    workspace w = {0};
    input.split = in->split ? in->split : &w.own_split;
    if (!in->split)
        st = graphss_split_match(ctx, &w.own_split, in->model, &in->current);
    if (!st)
        st = graphss_i_check_labels(ctx, scene ? scene->whole : input.split,
            scene ? scene->n_all : input.n, input.k, m, "current");
    if (st) {
        workspace_destroy(ctx, &w);
        return st;
    }
    graphss_recover_result r = {.method = m->name};
    r.train = !m->evasion && !m->retrain ? "none" : input.retrain ? "retrain" : "evasion";
    r.how = !m->evasion && !m->retrain ? m->untrained
            : input.retrain            ? m->retrain
                                       : m->evasion;
    st = allocate(ctx, &r, &w, &input);
    if (scene)
        take_scene(&input, scene);
    else if (!st && in->previous)
        st = predict_past(ctx, &w, &input, m);
    if (!st)
        st = graphss_i_predict(
            ctx, w.prob, in->model, input.current.graph, input.current.features);
    if (!st) {
        graphss_labels_argmax(r.model_label, w.prob, input.n, input.k);
        input.prob = w.prob;
        if (m->keeps)
            st = open_journal(
                ctx, &input.journal, &input, opt, scene ? scene->whole : input.split);
    }
    if (!st)
        st = m->network
                 ? graphss_i_network_run(
                       ctx, r.predictions.posterior, m->network, &input, opt, NULL, NULL, NULL)
                 : m->run(ctx, r.predictions.posterior, r.predictions.perturbed, &input, opt);
    graphss_i_journal_close(ctx, input.journal);
    if (!st)
        st = conclude(ctx, &r, &w, &input, opt->abstain);
    if (!st && scene)
        st = hand_over(ctx, &r, scene);
    workspace_destroy(ctx, &w);
    r.foreign = report.foreign;
    r.distrusted = (uint32_t)report.distrusted;
    r.doubted = (uint32_t)report.doubted;
    if (st) {
        graphss_recover_result_destroy(ctx, &r);
        return st;
    }
    r.kind = report.kind;
    r.share = report.share;
    *out = r;
    return GRAPHSS_OK;
}

static graphss_status recover(graphss_ctx *ctx, graphss_recover_result *out,
    const graphss_defence_input *in, const graphss_recover_options *given,
    graphss_i_carry *carry, const graphss_i_scene *scene)
{
    const double start = graphss_i_seconds();
    graphss_recover_options standard;
    graphss_recover_options_init(
        &standard, &graphss_i_graphss_defence, GRAPHSS_MODE_DEFAULT, in->model);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_recover_options, &standard, given);
    if (st)
        return st;
    const graphss_recover_options *opt = &standard;
    const graphss_i_defence *m = graphss_i_defence_in(opt->method, opt->mode);
    graphss_i_standardised scaled = {0};
    bool retrain = false;
    if (!m)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "the options name no method, want one of "
            "graphss_recover_method_find");
    if (scene && (opt->mode == GRAPHSS_MODE_PAPER || !m->shared))
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "%s%s does not run on several ranks: want graphss, none or label-propagation",
            m->name, opt->mode == GRAPHSS_MODE_PAPER ? " in paper mode" : "");
    st = graphss_options_check(ctx, opt, m->options);
    if (!st)
        st = graphss_i_check_trusted(ctx, m, opt, in->current.graph->n_nodes, scene != NULL);
    if (!st)
        st = graphss_i_check_way(ctx, &retrain, m, in, opt->train);
    if (!st && !scene)
        st = graphss_i_check_method(ctx, m, in);
    if (!st && scene && m->needs_edges && scene->now->entries_all == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "the current snapshot has no links, and %s works on links", m->name);
    if (!st)
        st = graphss_i_standardise_open(ctx, &scaled, in);
    if (!st)
        st = run(ctx, out, &scaled.in, opt, m, retrain,
            scaled.in.model == in->model ? carry : NULL, /* otherwise in its own units */
            scene);
    graphss_i_standardise_close(ctx, &scaled);
    if (!st) {
        out->seconds = graphss_i_seconds() - start;
        out->peak_memory = peak_memory();
    }
    return st;
}

graphss_status graphss_i_recover_carried(graphss_ctx *ctx, graphss_recover_result *out,
    const graphss_defence_input *in, const graphss_recover_options *opt,
    graphss_i_carry *carry)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the recovery", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = graphss_i_check_input(ctx, in);
    if (!st && in->previous)
        graphss_i_warn_of_strangers(ctx, &in->current, in->previous);
    return st ? st : recover(ctx, out, in, opt, carry, NULL);
}

graphss_status graphss_recover_run(graphss_ctx *ctx, graphss_recover_result *out,
    const graphss_defence_input *in, const graphss_recover_options *opt)
{
    return graphss_i_recover_carried(ctx, out, in, opt, NULL);
}

graphss_status graphss_part_recover(graphss_ctx *ctx, graphss_recover_result *out,
    const graphss_part_input *in, const graphss_recover_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the recovery", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_i_scene scene = {0};
    graphss_recover_result made = {0};
    graphss_status st = graphss_i_scene_open(ctx, &scene, in);
    if (!st)
        st = recover(ctx, &made, &scene.in, opt, NULL, &scene);
    graphss_i_scene_close(ctx, &scene);
    st = graphss_engine_agree(ctx, st, NULL);
    if (st)
        graphss_recover_result_destroy(ctx, &made);
    else
        *out = made;
    return st;
}

void graphss_recover_result_destroy(graphss_ctx *ctx, graphss_recover_result *recovery)
{
    if (!recovery)
        return;
    graphss_predictions_destroy(ctx, &recovery->predictions);
    graphss_release(ctx, recovery->model_label);
    graphss_release(ctx, recovery->foreign);
    *recovery = (graphss_recover_result){0};
}
