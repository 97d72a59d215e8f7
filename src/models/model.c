/* model.c - a classifier from snapshot to weights and from weights to probabilities. */
#include "data/build.h"
#include "data/digest.h"
#include "graph/check.h"
#include "models/fit.h"
#include "models/model_private.h"
#include "models/part_private.h"
#include <graphss/labels.h>
#include <math.h>
#include <string.h>

graphss_status graphss_i_model_new(graphss_ctx *ctx, graphss_model **out,
    const graphss_train_options *opt, size_t n_features, size_t n_classes, uint64_t seed)
{
    const graphss_i_model_type *type = graphss_i_model_type_find(opt->model);
    if (!type)
        return graphss_i_model_unknown(ctx, opt->model);
    graphss_status st = graphss_options_check(ctx, opt, graphss_train_options_table());
    if (st)
        return st;
    graphss_model *model = graphss_i_calloc(ctx, 1, sizeof *model);
    if (!model)
        return GRAPHSS_ERR_NOMEM;
    model->type = type;
    model->opt = *opt;
    model->opt.model = type->name;
    model->n_features = n_features;
    model->n_classes = n_classes;
    model->seed = seed;
    model->scaling = (graphss_i_scaling){.row_normalise = opt->row_normalise, .scale = 1};
    st = type->declare(ctx, &model->params, opt, n_features, n_classes);
    if (!st)
        st = graphss_i_params_allocate(ctx, &model->params);
    if (st)
        graphss_model_free(ctx, model);
    else
        *out = model;
    return st;
}

graphss_status graphss_i_model_like(
    graphss_ctx *ctx, graphss_model **out, const graphss_model *from, uint64_t seed)
{
    graphss_model *model = NULL;
    graphss_status st =
        graphss_i_model_new(ctx, &model, &from->opt, from->n_features, from->n_classes, seed);
    if (st)
        return st;
    memcpy(model->params.value, from->params.value,
        from->params.count * sizeof *from->params.value);
    st = graphss_i_scaling_copy(ctx, &model->scaling, &from->scaling, from->n_features);
    memcpy(model->dataset_name, from->dataset_name, sizeof model->dataset_name);
    memcpy(model->dataset_hash, from->dataset_hash, sizeof model->dataset_hash);
    if (!st && from->class_names.count)
        st = graphss_i_names_copy(ctx, &model->class_names, &from->class_names);
    if (st)
        graphss_model_free(ctx, model);
    else
        *out = model;
    return st;
}

void graphss_model_free(graphss_ctx *ctx, graphss_model *model)
{
    if (!model)
        return;
    graphss_i_adam_destroy(ctx, &model->adam);
    graphss_i_params_destroy(ctx, &model->params);
    graphss_i_scaling_destroy(ctx, &model->scaling);
    graphss_split_destroy(ctx, &model->split);
    graphss_names_destroy(ctx, &model->class_names);
    graphss_names_destroy(ctx, &model->node_names);
    graphss_names_destroy(ctx, &model->column_names);
    graphss_release(ctx, model->column_mean);
    for (size_t i = 0; i < GRAPHSS_I_KEPT; i++)
        graphss_i_model_drop(ctx, model, i);
    graphss_i_predictor_free(ctx, model->predictor);
    graphss_release(ctx, model);
}

graphss_status graphss_i_model_keep(graphss_ctx *ctx, graphss_model *model, size_t which,
    const double *value, size_t rows, size_t cols)
{
    double *copy = graphss_i_copy(ctx, value, rows * cols, sizeof *copy);
    if (!copy)
        return GRAPHSS_ERR_NOMEM;
    graphss_i_model_drop(ctx, model, which);
    model->kept[which] = (graphss_i_model_kept){rows, cols, copy};
    return GRAPHSS_OK;
}

void graphss_i_model_drop(graphss_ctx *ctx, graphss_model *model, size_t which)
{
    graphss_release(ctx, model->kept[which].value);
    model->kept[which] = (graphss_i_model_kept){0};
}

/* Everything that must outlive the tape. */
typedef struct network {
    graphss_i_params params; /* the model's, padded */
    graphss_i_adam adam;     /* when training */
    graphss_i_propagation p;
    graphss_i_product first; /* when predicting */
    graphss_i_input x;
    graphss_i_tape *tape;
    graphss_i_var logits;
} network;

static void network_destroy(graphss_ctx *ctx, network *net)
{
    graphss_i_tape_free(ctx, net->tape);
    graphss_i_adam_destroy(ctx, &net->adam);
    graphss_i_params_destroy(ctx, &net->params);
    graphss_i_input_destroy(ctx, &net->x);
    graphss_i_product_destroy(ctx, &net->first);
    graphss_i_propagation_destroy(ctx, &net->p);
}

/* Opens the network on a snapshot. split NULL: for prediction only; known, if not NULL, speeds
 * it up. */
static graphss_status network_open(graphss_ctx *ctx, network *net, const graphss_model *model,
    const graphss_graph *graph, const graphss_features *features, const graphss_split *split,
    const graphss_i_known *known)
{
    const graphss_i_model_type *type = model->type;
    const graphss_train_options *opt = &model->opt;
    const size_t hops = graphss_i_model_type_hops(type, opt);

    graphss_status st = graphss_i_params_pad(ctx, &net->params, &model->params);
    if (!st && split)
        st = graphss_i_adam_init(ctx, &net->adam, &net->params);
    if (!st)
        st = graphss_i_propagation_make(
            ctx, &net->p, graph, type->norm, graphss_i_model_type_loops(type, opt));
    if (!st && split)
        st = graphss_i_input_make(ctx, &net->x, features, &net->p, hops, &model->scaling);
    else if (!st)
        st = graphss_i_input_multiply(ctx, &net->x, &net->first, features, &net->p, hops,
            &model->scaling, net->params.value + net->params.param[0].offset,
            net->params.param[0].cols, known);
    return st;
}

/* Records the model on the tape. */
static graphss_status network_record(
    graphss_ctx *ctx, network *net, const graphss_model *model, const graphss_split *split)
{
    const graphss_i_model_type *type = model->type;
    const graphss_train_options *opt = &model->opt;
    graphss_i_var w[GRAPHSS_I_PARAMS_MOST];
    const graphss_status st = graphss_i_tape_new(ctx, &net->tape);
    if (st)
        return st;
    graphss_i_weights_record(net->tape, w, &net->params, split ? &net->adam : NULL);
    if (type->norm == GRAPHSS_I_NORM_NONE)
        graphss_i_tape_apart(net->tape);
    net->logits = type->record(net->tape, opt, &net->x, w);
    graphss_i_tape_keep(net->tape, net->logits);
    if (split)
        graphss_i_tape_cross_entropy(
            net->tape, net->logits, split->train, split->train_label, split->n_train);
    return graphss_i_tape_finish(net->tape);
}

static graphss_status check_list(graphss_ctx *ctx, const char *what, const int32_t *node,
    const int32_t *label, size_t n, size_t n_nodes, size_t n_classes)
{
    for (size_t i = 0; i < n; i++) {
        if (node[i] < 0 || (size_t)node[i] >= n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%s node %zu is %d, want 0..%zu",
                what, i, (int)node[i], n_nodes - 1);
        if (label[i] < 0 || (size_t)label[i] >= n_classes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                "%s node %d has label %d, want 0..%zu", what, (int)node[i], (int)label[i],
                n_classes - 1);
    }
    return GRAPHSS_OK;
}

static graphss_status check_shapes(
    graphss_ctx *ctx, const graphss_graph *graph, const graphss_features *features)
{
    if (graph->n_nodes == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "the graph has no nodes");
    if (features->n_cols == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "the nodes have no features, and a classifier needs some: give each node one of "
            "its own, by a column feat with NODE:1 in nodes.csv (docs/formats.md)");
    if (features->n_rows != graph->n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "features of %zu nodes, graph of %zu",
            features->n_rows, graph->n_nodes);
    return GRAPHSS_OK;
}

static graphss_status check_columns(
    graphss_ctx *ctx, const graphss_model *model, const graphss_features *features)
{
    if (features->n_cols == model->n_features)
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
        "the data has %zu features, the model was trained on %zu", features->n_cols,
        model->n_features);
}

/* The labels that a model of n_classes is to be trained with. */
static graphss_status check_training(
    graphss_ctx *ctx, const graphss_train_input *in, size_t n_classes)
{
    const graphss_split *split = in->split;
    if (n_classes < 2)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
            "%zu class%s: a classifier needs at least two", n_classes,
            n_classes == 1 ? "" : "es");
    if (split->n_train == 0 || !split->train_label || (split->n_val && !split->val_label))
        return graphss_i_fail(
            ctx, GRAPHSS_ERR_DATA, "the split has no training nodes with labels");
    const graphss_i_part *part = graphss_i_ctx_part(ctx);
    const size_t n = part ? part->n_all : in->graph->n_nodes;
    graphss_status st = check_list(
        ctx, "training", split->train, split->train_label, split->n_train, n, n_classes);
    if (!st)
        st = check_list(
            ctx, "validation", split->val, split->val_label, split->n_val, n, n_classes);
    return st;
}

/* In paper mode Adam continues where it stopped, as in the paper's code: its moments, small at
 * the end of one training, make the first steps of the next long. start NULL: it starts fresh.
 */
static void resume(graphss_i_adam *adam, const graphss_i_adam *start)
{
    if (!start || !start->m)
        return;
    memcpy(adam->m, start->m, adam->count * sizeof *adam->m);
    memcpy(adam->v, start->v, adam->count * sizeof *adam->v);
    adam->step = start->step;
}

/* The hash of everything a training depends on except the dataset, whose name the context has.
 */
static graphss_status open_checkpoint(graphss_ctx *ctx, graphss_i_checkpointing *out,
    const graphss_model *model, const graphss_train_options *opt, const graphss_split *split)
{
    graphss_i_digest d;
    char text[256], hex[65];
    const uint64_t number[] = {
        model->seed, model->n_classes, model->n_features, split->n_train, split->n_val};
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, number, sizeof number);
    for (const graphss_option *row = graphss_train_options_table(); row->name; row++)
        graphss_i_digest_add(&d, text, graphss_option_text(text, sizeof text, opt, row));
    graphss_i_digest_add(&d, split->train, split->n_train * sizeof *split->train);
    graphss_i_digest_add(&d, split->train_label, split->n_train * sizeof *split->train_label);
    if (split->n_val) {
        graphss_i_digest_add(&d, split->val, split->n_val * sizeof *split->val);
        graphss_i_digest_add(&d, split->val_label, split->n_val * sizeof *split->val_label);
    }
    graphss_i_digest_end(&d, hex);
    return graphss_i_checkpoint_open(ctx, out, hex, sizeof hex);
}

/* Fits the model's weights, as they are, to the labels of the split, which it remembers. */
static graphss_status fit_weights(graphss_ctx *ctx, graphss_model *model,
    graphss_training *log, const graphss_i_adam *start, const graphss_train_input *in,
    int64_t epochs)
{
    const graphss_split *split = in->split;
    network net = {0};
    graphss_split own = {0};
    graphss_i_checkpointing saved = {0};
    graphss_train_options opt = model->opt;
    opt.epochs = epochs;
    const graphss_i_part *part = graphss_i_ctx_part(ctx);
    graphss_status st = graphss_split_copy(ctx, &model->split, split);
    if (!st)
        st = open_checkpoint(ctx, &saved, model, &opt, split);
    if (!st && part)
        st = graphss_i_part_split(ctx, &own, part, split);
    if (part)
        split = &own;
    if (!st)
        st = network_open(ctx, &net, model, in->graph, in->features, split, NULL);
    if (!st)
        st = network_record(ctx, &net, model, split);
    if (!st) {
        net.adam.kept = opt.mode == GRAPHSS_MODE_PAPER;
        resume(&net.adam, start);
    }
    /* The network has its own weights; with many features copies of them are most of the
     * memory. */
    graphss_release(ctx, model->params.value);
    model->params.value = NULL;
    if (!st)
        st = graphss_i_fit(ctx, log, &net.params, &net.adam, net.tape, net.logits,
            model->n_classes, split, model->seed, &opt, "train", &saved);
    if (!st)
        st = graphss_i_params_allocate(ctx, &model->params);
    if (!st) {
        graphss_i_params_unpad(&model->params, &net.params);
        if (net.adam.kept) {
            model->adam = net.adam;
            net.adam = (graphss_i_adam){0};
            graphss_release(ctx, model->adam.grad);
            model->adam.grad = NULL;
        }
    }
    graphss_i_checkpoint_destroy(ctx, &saved);
    graphss_split_destroy(ctx, &own);
    network_destroy(ctx, &net);
    return st;
}

/* Training holds the weights, the gradient, two moments and the best weights so far. LIMIT if
 * the machine does not have that much memory. Other faults of opt are reported elsewhere. */
static graphss_status check_memory(
    graphss_ctx *ctx, const graphss_train_options *opt, size_t n_features, size_t n_classes)
{
    enum { COPIES = 5 };
    const graphss_i_model_type *type = graphss_i_model_type_find(opt->model);
    const double memory = (double)graphss_i_machine_memory();
    graphss_i_params params = {0};
    if (!type || type->declare(ctx, &params, opt, n_features, n_classes))
        return GRAPHSS_OK;
    const double need = (double)params.count * sizeof(float) * COPIES;
    if (need <= memory)
        return GRAPHSS_OK;
    return graphss_i_fail(ctx, GRAPHSS_ERR_LIMIT,
        "%zu features make %zu weights, and training takes about %.0f GB "
        "for them, this machine has %.0f GB: want fewer features, or a "
        "smaller number of hidden units",
        n_features, params.count, need / 1e9, memory / 1e9);
}

static graphss_status train(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
    const graphss_train_input *in, const graphss_train_options *opt)
{
    graphss_model *model = NULL;
    graphss_status st = check_memory(ctx, opt, in->features->n_cols, in->n_classes);
    if (!st)
        st = graphss_i_model_new(
            ctx, &model, opt, in->features->n_cols, in->n_classes, in->seed);
    if (st)
        return st;
    graphss_rng rng = graphss_rng_make(in->seed, GRAPHSS_STREAM_INIT);
    graphss_i_params_glorot(&model->params, &rng);
    if (opt->mode == GRAPHSS_MODE_PAPER && model->type->paper_gain > 0)
        for (size_t i = 0; i < model->params.count; i++)
            model->params.value[i] *= (float)model->type->paper_gain;
    st = graphss_i_scaling_learn(ctx, &model->scaling, in->features, opt);
    if (!st)
        st = fit_weights(ctx, model, log, NULL, in, opt->epochs);
    if (st)
        graphss_model_free(ctx, model);
    else
        *out = model;
    return st;
}

graphss_status graphss_i_train(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
    const graphss_train_input *in, const graphss_train_options *given)
{
    graphss_train_options opt;
    graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, in->features);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_train_options, &opt, given);
    if (!st)
        st = check_training(ctx, in, in->n_classes);
    return st ? st : train(ctx, out, log, in, &opt);
}

graphss_status graphss_i_continue(graphss_ctx *ctx, graphss_model **out, graphss_training *log,
    const graphss_model *from, const graphss_train_input *in, int64_t epochs)
{
    graphss_model *model = NULL;
    graphss_status st = check_training(ctx, in, from->n_classes);
    if (!st)
        st = graphss_i_model_like(ctx, &model, from, in->seed);
    if (!st)
        st = fit_weights(ctx, model, log, &from->adam, in, epochs);
    if (st)
        graphss_model_free(ctx, model);
    else
        *out = model;
    return st;
}

/* Checks that all inputs are given and fit together. */
static graphss_status take_input(graphss_ctx *ctx, graphss_train_input *in,
    const graphss_train_input *given, graphss_model *const *out)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", given}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_train_input, in, given);
    if (st)
        return st;
    if (GRAPHSS_I_LACKS(ctx, {"graph", in->graph}, {"features", in->features},
            {"split", in->split}, {"place for the model", out}))
        return GRAPHSS_ERR_INVALID;
    st = check_shapes(ctx, in->graph, in->features);
    return st ? st : graphss_i_split_check(ctx, in->split, in->graph->n_nodes);
}

void graphss_train_input_init(graphss_train_input *in)
{
    *in = (graphss_train_input){.struct_size = sizeof *in};
}

graphss_status graphss_i_train_checked(graphss_ctx *ctx, graphss_model **out,
    graphss_training *log, const graphss_train_input *given, const graphss_train_options *opt)
{
    graphss_train_input in = {0};
    graphss_status st = take_input(ctx, &in, given, out);
    if (!st)
        st = graphss_i_check_snapshot(ctx, in.graph, in.features);
    if (!st)
        st = graphss_i_columns_check_range(ctx, in.features, NULL, NULL);
    return st ? st : graphss_i_train(ctx, out, log, &in, opt);
}

graphss_status graphss_model_train(graphss_ctx *ctx, graphss_model **out,
    graphss_training *log, const graphss_train_input *in, const graphss_train_options *opt)
{
    const graphss_features *features = in ? in->features : NULL;
    if (features && features->n_cols && graphss_features_dense(features) && opt &&
        opt->mode == GRAPHSS_MODE_DEFAULT && !opt->standardise)
        graphss_i_log(ctx, GRAPHSS_LOG_WARN,
            "features are measurements and not standardised, so large numbers drown "
            "small ones: train by default, and graphss_train_options_init, standardise");
    return graphss_i_train_checked(ctx, out, log, in, opt);
}

graphss_status graphss_model_continue(graphss_ctx *ctx, graphss_model **out,
    graphss_training *log, const graphss_model *from, const graphss_train_input *given,
    int64_t epochs)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", from}))
        return GRAPHSS_ERR_INVALID;
    if (from->predictor)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "a predictor cannot be trained further here: train it where it "
            "comes from");
    graphss_train_input in = {0};
    graphss_status st = take_input(ctx, &in, given, out);
    if (!st && in.n_classes && in.n_classes != from->n_classes)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE, "%zu classes, the model has %zu",
            in.n_classes, from->n_classes);
    if (!st && epochs < 1)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID, "epochs: found %lld, want at least 1",
            (long long)epochs);
    if (!st)
        st = check_columns(ctx, from, in.features);
    if (!st)
        st = graphss_i_check_snapshot(ctx, in.graph, in.features);
    return st ? st : graphss_i_continue(ctx, out, log, from, &in, epochs);
}

/* ---- prediction ---- */

typedef struct softmax_job {
    float *prob;
    const float *logits;
    size_t n, k;
} softmax_job;

enum { ROWS = 4096 }; /* rows a task */

static void softmax_rows(void *arg, size_t task)
{
    const softmax_job *job = arg;
    const size_t k = job->k, from = task * ROWS;
    const size_t to = from + ROWS < job->n ? from + ROWS : job->n;
    for (size_t i = from; i < to; i++)
        graphss_i_softmax_row(job->prob + i * k, job->logits + i * k, k);
}

/* Predicts by the weights; pass, known: or NULL. */
static graphss_status pass_over(graphss_ctx *ctx, float *prob, graphss_i_forward_cache *pass,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_known *known)
{
    network net = {0};
    graphss_status st = network_open(ctx, &net, model, graph, features, NULL, known);
    if (!st && pass && net.first.value && graphss_i_has_two_layers(model)) {
        *pass = (graphss_i_forward_cache){.first = net.first, .params = net.params};
        net.first = (graphss_i_product){0};
        net.params = (graphss_i_params){0};
        st = graphss_i_forward_cache_make(ctx, prob, pass, model, &net.p.m);
        network_destroy(ctx, &net);
        return st;
    }
    if (!st)
        st = network_record(ctx, &net, model, NULL);
    if (!st) {
        graphss_i_tape_forward(net.tape, false, 0);
        softmax_job job = {prob, graphss_i_tape_value(net.tape, net.logits), graph->n_nodes,
            model->n_classes};
        graphss_i_parallel(ctx, graphss_i_tasks(job.n, ROWS), softmax_rows, &job);
        if (pass) {
            pass->first = net.first;
            net.first = (graphss_i_product){0};
        }
    }
    network_destroy(ctx, &net);
    return st;
}

/* pass, known: or NULL */
static graphss_status predict(graphss_ctx *ctx, float *prob, graphss_i_forward_cache *pass,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_known *known)
{
    graphss_status st = check_shapes(ctx, graph, features);
    if (!st)
        st = check_columns(ctx, model, features);
    if (st)
        return st;
    return model->predictor ? graphss_i_predictor_ask(ctx, prob, model, graph, features)
                            : pass_over(ctx, prob, pass, model, graph, features, known);
}

graphss_status graphss_i_predict_by_weights(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features)
{
    graphss_status st = check_shapes(ctx, graph, features);
    if (!st)
        st = check_columns(ctx, model, features);
    return st ? st : pass_over(ctx, prob, NULL, model, graph, features, NULL);
}

graphss_status graphss_i_predict(graphss_ctx *ctx, float *prob, const graphss_model *model,
    const graphss_graph *graph, const graphss_features *features)
{
    const graphss_status st = graphss_i_pulse(ctx);
    return st ? st : predict(ctx, prob, NULL, model, graph, features, NULL);
}

graphss_status graphss_i_predict_first(graphss_ctx *ctx, float *prob,
    graphss_i_forward_cache *pass, const graphss_model *model, const graphss_graph *graph,
    const graphss_features *features)
{
    const graphss_status st = predict(ctx, prob, pass, model, graph, features, NULL);
    if (st)
        graphss_i_forward_cache_destroy(ctx, pass);
    return st;
}

graphss_status graphss_i_predict_again(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features,
    const graphss_i_base *base, const int32_t *there, const uint8_t *wanted)
{
    const graphss_i_known known = {base->features, &base->pass->first, there};
    bool done = false;
    if (model->predictor)
        return graphss_i_predictor_again(
            ctx, prob, model, graph, features, base, there, wanted);
    if (!there && base->pass->second && graph->n_nodes == base->graph->n_nodes) {
        const graphss_status st =
            graphss_i_predict_changed(ctx, prob, &done, model, graph, features, base, wanted);
        if (st || done)
            return st;
    }
    return predict(ctx, prob, NULL, model, graph, features, &known);
}

graphss_status graphss_model_predict(graphss_ctx *ctx, float *prob, const graphss_model *model,
    const graphss_graph *graph, const graphss_features *features)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"graph", graph}, {"features", features},
            {"place for the probabilities", prob}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = check_shapes(ctx, graph, features);
    if (!st)
        st = check_columns(ctx, model, features);
    if (!st)
        st = graphss_i_check_snapshot(ctx, graph, features);
    return st ? st : graphss_i_predict(ctx, prob, model, graph, features);
}

graphss_status graphss_model_label(graphss_ctx *ctx, int32_t *label,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", model}, {"graph", graph}, {"features", features},
            {"place for the labels", label}))
        return GRAPHSS_ERR_INVALID;
    const size_t n = graph->n_nodes, k = model->n_classes;
    float *prob = graphss_i_alloc(ctx, n, k * sizeof *prob);
    if (!prob)
        return GRAPHSS_ERR_NOMEM;
    const graphss_status st = graphss_model_predict(ctx, prob, model, graph, features);
    if (!st)
        graphss_labels_argmax(label, prob, n, k);
    graphss_release(ctx, prob);
    return st;
}

/* ---- what the model stores about its data ---- */

const graphss_train_options *graphss_model_options(const graphss_model *model)
{
    return model ? &model->opt : NULL;
}

size_t graphss_model_classes(const graphss_model *model)
{
    return model ? model->n_classes : 0;
}

size_t graphss_model_features(const graphss_model *model)
{
    return model ? model->n_features : 0;
}

uint64_t graphss_model_seed(const graphss_model *model)
{
    return model ? model->seed : 0;
}

const graphss_split *graphss_model_split(const graphss_model *model)
{
    return model ? &model->split : NULL;
}

const char *graphss_model_class_name(const graphss_model *model, size_t k)
{
    return model && model->class_names.count > k ? graphss_names_get(&model->class_names, k)
                                                 : NULL;
}

const graphss_names *graphss_model_class_names(const graphss_model *model)
{
    return model ? &model->class_names : NULL;
}

const graphss_names *graphss_model_node_names(const graphss_model *model)
{
    return model ? &model->node_names : NULL;
}

size_t graphss_model_nodes(const graphss_model *model)
{
    return model ? model->n_nodes : 0;
}

const graphss_names *graphss_model_column_names(const graphss_model *model)
{
    return model ? &model->column_names : NULL;
}

const char *graphss_model_dataset_hash(const graphss_model *model)
{
    return model ? model->dataset_hash : "";
}

void graphss_model_fingerprint(char *hex, const graphss_model *model)
{
    const graphss_i_model_kept *states = &model->kept[GRAPHSS_I_KEPT_STATES];
    const uint64_t number[] = {model->seed, model->n_features, model->n_classes};
    graphss_i_digest d;
    graphss_tensor w;
    char text[256];
    graphss_i_digest_begin(&d, GRAPHSS_I_SHA256);
    graphss_i_digest_add(&d, number, sizeof number);
    graphss_i_digest_add(&d, model->dataset_hash, strlen(model->dataset_hash));
    for (const graphss_option *row = graphss_train_options_table(); row->name; row++)
        graphss_i_digest_add(
            &d, text, graphss_option_text(text, sizeof text, &model->opt, row));
    for (size_t i = 0; graphss_model_weight(&w, model, i); i++) {
        size_t n = 1;
        for (size_t j = 0; j < w.n_dims; j++)
            n *= w.shape[j];
        graphss_i_digest_add(&d, w.value, n * sizeof *w.value);
    }
    if (states->value)
        graphss_i_digest_add(
            &d, states->value, states->rows * states->cols * sizeof *states->value);
    graphss_i_digest_end(&d, hex);
}

const char *graphss_model_dataset_name(const graphss_model *model)
{
    return model ? model->dataset_name : "";
}

bool graphss_model_weight(graphss_tensor *out, const graphss_model *model, size_t i)
{
    if (!out || !model || i >= model->params.n)
        return false;
    const graphss_i_param *m = &model->params.param[i];
    *out = (graphss_tensor){m->name, 2, {m->rows, m->cols}, model->params.value + m->offset};
    return true;
}
