/* aux_models.c - see aux_models.h. Rows of a perceptron do not see each other, so it is
 * trained on the labelled ones alone. */
#include "detect/aux_models.h"
#include "attack/surrogate.h"
#include "graph/rows.h"
#include "models/model_type.h"
#include "models/unchecked.h"
#include <string.h>

enum {
    PATIENCE = 15, /* epochs that the perceptron may go on without becoming better */
    EPOCHS = 70    /* of the linear models */
};

void graphss_i_witnesses_destroy(graphss_ctx *ctx, graphss_i_witnesses *w)
{
    graphss_model_free(ctx, w->mlp);
    for (size_t b = 0; b < GRAPHSS_I_BELIEFS; b++)
        graphss_release(ctx, w->attacker[b]);
    graphss_release(ctx, w->words);
    graphss_i_lexicon_destroy(ctx, &w->lexicon);
    *w = (graphss_i_witnesses){0};
}

/* ---- the perceptron ---- */

/* out: the listed rows, in that order */
static graphss_status take_rows(graphss_ctx *ctx, graphss_features *out,
                                const graphss_features *x, const int32_t *node, size_t n)
{
    const bool dense = graphss_features_dense(x);
    size_t count = dense ? n * x->n_cols : 0;
    for (size_t i = 0; i < n && !dense; i++)
        count += (size_t)(x->offset[node[i] + 1] - x->offset[node[i]]);
    graphss_features made = {.n_rows = n, .n_cols = x->n_cols, .kind = x->kind};
    made.value = graphss_i_alloc(ctx, count, sizeof *made.value);
    if (!dense) {
        made.offset = graphss_i_calloc(ctx, n + 1, sizeof *made.offset);
        made.column = graphss_i_alloc(ctx, count, sizeof *made.column);
    }
    if (!made.value || (!dense && (!made.offset || !made.column))) {
        graphss_features_destroy(ctx, &made);
        return GRAPHSS_ERR_NOMEM;
    }
    for (size_t i = 0, at = 0; i < n; i++) {
        const size_t row = (size_t)node[i];
        const size_t from = dense ? row * x->n_cols : (size_t)x->offset[row];
        const size_t length = dense ? x->n_cols : (size_t)x->offset[row + 1] - from;
        memcpy(made.value + at, x->value + from, length * sizeof *made.value);
        if (!dense) {
            memcpy(made.column + at, x->column + from, length * sizeof *made.column);
            made.offset[i + 1] = (int64_t)(at + length);
        }
        at += length;
    }
    *out = made;
    return GRAPHSS_OK;
}

/* Rows 0, 1, ... are the training nodes, then the validation nodes. */
static graphss_status train_mlp(graphss_ctx *ctx, graphss_model **mlp,
                                const graphss_features *features, const graphss_split *split,
                                size_t k, uint64_t seed)
{
    const size_t n = split->n_train + split->n_val;
    int32_t *node = graphss_i_alloc(ctx, n, sizeof *node);
    int32_t *place = graphss_i_alloc(ctx, n, sizeof *place);
    int64_t *no_links = graphss_i_calloc(ctx, n + 1, sizeof *no_links);
    graphss_features rows = {0};
    graphss_status st = node && place && no_links ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st) {
        memcpy(node, split->train, split->n_train * sizeof *node);
        if (split->n_val)
            memcpy(node + split->n_train, split->val, split->n_val * sizeof *node);
        for (size_t i = 0; i < n; i++)
            place[i] = (int32_t)i;
        st = take_rows(ctx, &rows, features, node, n);
    }
    if (!st) {
        int32_t nobody = 0;
        const graphss_graph graph = {.n_nodes = n, .offset = no_links, .target = &nobody};
        const graphss_split own = {.train = place,
                                   .train_label = split->train_label,
                                   .n_train = split->n_train,
                                   .val = place + split->n_train,
                                   .val_label = split->val_label,
                                   .n_val = split->n_val};
        graphss_train_options opt;
        graphss_train_options_init(&opt, "mlp", GRAPHSS_MODE_HONEST, NULL);
        graphss_i_train_options_scale(&opt, features);
        opt.patience = PATIENCE;
        st = graphss_i_train(ctx, mlp, NULL, &graph, &rows, k, &own, seed, &opt);
    }
    graphss_features_destroy(ctx, &rows);
    graphss_release(ctx, no_links);
    graphss_release(ctx, place);
    graphss_release(ctx, node);
    return st;
}

/* The answers for the listed rows, in their places. */
static graphss_status ask_rows(graphss_ctx *ctx, float *prob, const graphss_model *mlp,
                               const graphss_features *features, size_t k, const int32_t *node,
                               size_t n)
{
    graphss_features rows = {0};
    int64_t *no_links = graphss_i_calloc(ctx, n + 1, sizeof *no_links);
    float *answer = graphss_i_alloc(ctx, n, k * sizeof *answer);
    graphss_status st =
        no_links && answer ? take_rows(ctx, &rows, features, node, n) : GRAPHSS_ERR_NOMEM;
    if (!st) {
        int32_t nobody = 0;
        const graphss_graph graph = {.n_nodes = n, .offset = no_links, .target = &nobody};
        st = graphss_i_predict(ctx, answer, mlp, &graph, &rows);
    }
    for (size_t i = 0; i < n && !st; i++)
        memcpy(prob + (size_t)node[i] * k, answer + i * k, k * sizeof *prob);
    graphss_features_destroy(ctx, &rows);
    graphss_release(ctx, answer);
    graphss_release(ctx, no_links);
    return st;
}

graphss_status graphss_i_witnesses_ask(graphss_ctx *ctx, float *prob,
                                       const graphss_i_witnesses *w,
                                       const graphss_features *features, size_t k,
                                       const graphss_features *base, const float *base_prob)
{
    size_t n = 0;
    int32_t *node = graphss_i_alloc(ctx, features->n_rows, sizeof *node);
    if (!node)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < features->n_rows; i++) {
        if (!base ||
            !graphss_i_row_same(graphss_i_row_of(features, i), graphss_i_row_of(base, i)))
            node[n++] = (int32_t)i;
        else
            memcpy(prob + i * k, base_prob + i * k, k * sizeof *prob);
    }
    const graphss_status st =
        n ? ask_rows(ctx, prob, w->mlp, features, k, node, n) : GRAPHSS_OK;
    graphss_release(ctx, node);
    return st;
}

/* ---- linear models ---- */

/* The links between labelled nodes. Through the others words of victims would reach training
 * nodes and be held for words of the victims' classes: true attackers, who saw no victims,
 * choose just those words, and the simulated ones would choose others. Where most nodes have
 * no label too few links would be left, and all are taken. */
static graphss_status known_links(graphss_ctx *ctx, graphss_graph *out, const graphss_graph *g,
                                  const graphss_split *split)
{
    const size_t n = g->n_nodes;
    uint8_t *known = graphss_i_calloc(ctx, n, sizeof *known);
    graphss_graph made = {.n_nodes = n,
                          .offset = graphss_i_calloc(ctx, n + 1, sizeof *made.offset),
                          .target =
                              graphss_i_alloc(ctx, (size_t)g->offset[n], sizeof *made.target)};
    const bool good = known && made.offset && made.target;
    for (size_t i = 0; i < split->n_train && good; i++)
        known[split->train[i]] = 1;
    for (size_t i = 0; i < split->n_val && good; i++)
        known[split->val[i]] = 1;
    if (2 * (split->n_train + split->n_val) < n && good)
        memset(known, 1, n);
    int64_t at = 0;
    for (size_t i = 0; i < n && good; i++) {
        for (int64_t e = g->offset[i]; e < g->offset[i + 1] && known[i]; e++)
            if (known[g->target[e]])
                made.target[at++] = g->target[e];
        made.offset[i + 1] = at;
    }
    graphss_release(ctx, known);
    if (good)
        *out = made;
    else
        graphss_graph_destroy(ctx, &made);
    return good ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

enum { READER = GRAPHSS_I_BELIEFS, LINEAR };

/* Attackers differ in what they believe, so the simulated ones do: the surrogate our own
 * attack uses, one of smaller weights. The reader, who says what words are worth, sees rows as
 * the classifier does; no simulated attacker believes what he does, since the true one does
 * not either. No inputs are dropped and no epoch is picked: that is faster, and what words are
 * said to be worth is less blurred. */
static graphss_status train_linear(graphss_ctx *ctx, float **w, size_t which,
                                   const graphss_observation *now, const graphss_split *split,
                                   size_t k, uint64_t seed)
{
    graphss_train_options opt;
    if (which == READER)
        graphss_train_options_init(&opt, "sgc", GRAPHSS_MODE_HONEST, NULL);
    else
        opt = graphss_i_surrogate_options();
    graphss_split own = *split;
    graphss_model *model = NULL;
    own.n_val = 0;
    if (which == READER)
        graphss_i_train_options_scale(&opt, now->features);
    opt.epochs = EPOCHS;
    opt.dropout = 0;
    opt.weight_decay = which == 1 ? 5e-4 : 1e-4;
    graphss_status st =
        graphss_i_train(ctx, &model, NULL, now->graph, now->features, k, &own, seed, &opt);
    if (!st)
        st = graphss_surrogate_from_model(ctx, w, model, GRAPHSS_MODE_HONEST);
    graphss_model_free(ctx, model);
    return st;
}

typedef struct school {
    graphss_i_witnesses *w;
    const graphss_observation *now;
    const graphss_split *split;
    size_t k;
    uint64_t seed;
    graphss_i_parallel_job beside;
    void *arg;
} school;

/* The longest first, among the linear models the reader. */
enum { BESIDE, PERCEPTRON, LAST_LINEAR, LEXICON = LAST_LINEAR + LINEAR, JOBS };

static graphss_status train_one(graphss_ctx *ctx, void *arg, size_t job)
{
    const school *s = arg;
    const size_t linear = LINEAR - 1 - (job - LAST_LINEAR);
    switch (job) {
    case BESIDE:
        return s->beside ? s->beside(ctx, s->arg, 0) : GRAPHSS_OK;
    case PERCEPTRON:
        return train_mlp(ctx, &s->w->mlp, s->now->features, s->split, s->k, s->seed);
    case LEXICON:
        return graphss_i_lexicon_learn(ctx, &s->w->lexicon, s->now->features, s->split, s->k);
    default:
        return train_linear(ctx, linear == READER ? &s->w->words : &s->w->attacker[linear],
                            linear, s->now, s->split, s->k, s->seed);
    }
}

graphss_status graphss_i_witnesses_train(graphss_ctx *ctx, graphss_i_witnesses *w,
                                         const graphss_observation *now,
                                         const graphss_split *split, size_t k, uint64_t seed,
                                         graphss_i_parallel_job beside, void *arg)
{
    const size_t n_cols = now->features->n_cols;
    graphss_graph links = {0};
    graphss_observation known = *now;
    known.graph = &links;
    school all = {w, &known, split, k, seed, beside, arg};
    graphss_status st = known_links(ctx, &links, now->graph, split);
    if (!st)
        st = graphss_i_parallel_jobs(ctx, JOBS, train_one, &all);
    graphss_graph_destroy(ctx, &links);
    if (st)
        return st;
    for (size_t j = 0; j < n_cols; j++) {
        float *row = w->words + j * k, mean = 0;
        for (size_t c = 0; c < k; c++)
            mean += row[c] / (float)k;
        for (size_t c = 0; c < k; c++)
            row[c] -= mean;
    }
    return GRAPHSS_OK;
}
