/* nrgnn.c - NRGNN (Dai et al., KDD 2021): labels are few and some are wrong, so nodes are
 * connected with labelled nodes like them, and confident answers become labels.
 *
 *   edge predictor  R = P relu(P X V0) V1,  P = D^-1/2 (A + I) D^-1/2
 *                   w_ij = r_i . r_j where it is at least the threshold, else 0
 *   miner           a GCN on A + I + W, where W has weights w for candidate pairs of a node
 *                   and a training node, normalised with its own row sums
 *   classifier      a GCN on the same and candidate pairs of unlabelled nodes at least one
 *                   of which has a pseudo label: the miner's posterior, where its largest
 *                   entry exceeds the confidence, as of the miner's best epoch so far
 *   loss            CE(miner) + CE(classifier) + pseudo_weight CE(classifier, pseudo labels)
 *                   + edge_weight N mean (r_i . r_j - [edge])^2 over edges and drawn pairs
 *
 * Candidates of a node are the `neighbours` training (or unlabelled) nodes whose features
 * have the largest cosine with its own, edges left out. Best epochs are those of validation
 * accuracy. Gradients run through w, D included, into V.
 *
 * Sees edges, features, training labels, and validation labels to choose epochs. Networks of
 * its own: which model is given matters for the undefended answer only. Another snapshot is
 * answered in two passes: pseudo labels of the miner there, then the classifier.
 *
 * Costs, an epoch: N * neighbours * (3 * edge_hidden + 18 * hidden) or so multiplications,
 * and a third of that to measure; memory N * neighbours * 60 bytes or so.
 *
 * Not as in the authors' code. There, all unlabelled nodes meet all with pseudo labels,
 * N^2 pairs, and messages run to the latter only; here each meets its nearest, both ways.
 * There, edges among the candidates stay (a comparison that is never true), here they go. */
#include "graph/normalise.h"
#include "lab/baselines/baselines.h"
#include "models/fit.h"
#include "models/model_type.h"
#include "models/tape/tape.h"
#include "recover/network.h"
#include "recover/option_rows.h"
#include <math.h>
#include <string.h>

enum { UNLABELLED_MOST = 50 }; /* candidates where all training nodes are asked for */

/* A snapshot and its tape. */
typedef struct snapshot_state {
    const graphss_observation *on;
    const graphss_split *split;
    size_t n, k;
    graphss_i_pairs labelled, unlabelled;     /* candidates */
    graphss_i_pair_pattern miner, classifier; /* patterns of the two GCNs */
    graphss_i_propagation edges, none;        /* A + I normalised; no propagation */
    graphss_i_input x;
    bool *trains;   /* [n] whether it has a training label */
    float *target;  /* [n x k] pseudo labels; rows of others are 0 */
    float *counted; /* [unlabelled pairs] 1 if an end has a pseudo label, else 0 */
    graphss_i_tape *tape;
    graphss_i_var miner_logits, classifier_logits;
} snapshot_state;

static void leave(graphss_ctx *ctx, snapshot_state *at)
{
    graphss_i_tape_free(ctx, at->tape);
    graphss_i_input_destroy(ctx, &at->x);
    graphss_i_propagation_destroy(ctx, &at->none);
    graphss_i_propagation_destroy(ctx, &at->edges);
    graphss_i_pattern_destroy(ctx, &at->miner);
    graphss_i_pattern_destroy(ctx, &at->classifier);
    graphss_i_pairs_destroy(ctx, &at->labelled);
    graphss_i_pairs_destroy(ctx, &at->unlabelled);
    graphss_release(ctx, at->trains);
    graphss_release(ctx, at->target);
    graphss_release(ctx, at->counted);
}

/* ---- candidates ---- */

/* near [n x n_train]: every training node but itself and those it is connected with */
static void list_all(int32_t *near, const snapshot_state *at)
{
    const graphss_split *split = at->split;
    for (size_t i = 0; i < at->n; i++) {
        size_t held = 0;
        for (size_t j = 0; j < split->n_train; j++)
            if (split->train[j] != (int32_t)i &&
                !graphss_graph_has_edge(at->on->graph, (int32_t)i, split->train[j]))
                near[i * split->n_train + held++] = split->train[j];
        for (; held < split->n_train; held++)
            near[i * split->n_train + held] = -1;
    }
}

static graphss_status find_pairs(graphss_ctx *ctx, graphss_i_pairs *out,
    const snapshot_state *at, const int32_t *from, size_t n_from, const int32_t *among,
    size_t n_among, size_t each, const char *stage)
{
    const bool all = each == 0;
    if (all)
        each = n_among;
    int32_t *near = graphss_i_alloc(ctx, n_from, each * sizeof *near);
    graphss_status st = near ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st && all)
        list_all(near, at);
    else if (!st)
        st = graphss_i_nearest(ctx, near, each, at->on->features, at->on->graph, from, n_from,
            among, n_among, stage);
    if (!st)
        st = graphss_i_pairs_make(ctx, out, at->n, from, n_from, near, each);
    graphss_release(ctx, near);
    return st;
}

static graphss_status find_candidates(graphss_ctx *ctx, snapshot_state *at, size_t each)
{
    const graphss_split *split = at->split;
    size_t n_others = 0;
    graphss_status st = GRAPHSS_ERR_NOMEM;
    int32_t *all = graphss_i_alloc(ctx, at->n, sizeof *all);
    int32_t *others = graphss_i_alloc(ctx, at->n, sizeof *others);
    if (!all || !others)
        goto done;
    for (size_t i = 0; i < at->n; i++) {
        all[i] = (int32_t)i;
        if (!at->trains[i])
            others[n_others++] = (int32_t)i;
    }
    st = find_pairs(ctx, &at->labelled, at, all, at->n, split->train, split->n_train, each,
        "labelled neighbours");
    if (!st)
        st = find_pairs(ctx, &at->unlabelled, at, others, n_others, others, n_others,
            each ? each : UNLABELLED_MOST, "unlabelled neighbours");
done:
    graphss_release(ctx, all);
    graphss_release(ctx, others);
    return st;
}

/* ---- the networks ---- */

static graphss_status declare_gcn(graphss_ctx *ctx, graphss_i_params *p, const char *name,
    size_t layers, size_t d, size_t hidden, size_t k)
{
    graphss_status st = GRAPHSS_OK;
    for (size_t l = 0; l < layers && !st; l++) {
        const size_t rows = l ? hidden : d, cols = l + 1 < layers ? hidden : k;
        char text[GRAPHSS_I_PARAM_NAME];
        snprintf(text, sizeof text, "%s.%zu.weight", name, l);
        st = graphss_i_params_declare(ctx, p, text, rows, cols, true);
        snprintf(text, sizeof text, "%s.%zu.bias", name, l);
        if (!st)
            st = graphss_i_params_declare(ctx, p, text, 1, cols, true);
    }
    return st;
}

enum { ENCODER_LAYERS = 2 };

static graphss_status declare(graphss_ctx *ctx, graphss_i_params *p,
    const graphss_recover_options *opt, size_t d, size_t k)
{
    const size_t layers = (size_t)opt->fit.layers, hidden = (size_t)opt->fit.hidden;
    const size_t width = (size_t)opt->nrgnn.edge_hidden;
    graphss_status st = declare_gcn(ctx, p, "edge", ENCODER_LAYERS, d, width, width);
    if (!st)
        st = declare_gcn(ctx, p, "miner", layers, d, hidden, k);
    if (!st)
        st = declare_gcn(ctx, p, "classifier", layers, d, hidden, k);
    return st;
}

static graphss_i_var record_encoder(
    graphss_i_tape *t, const snapshot_state *at, const graphss_i_var *w)
{
    const graphss_i_pair m = {&at->edges.m, &at->edges.m};
    graphss_i_var h = graphss_i_tape_spmm(t, m, graphss_i_input_apply(t, &at->x, w[0], 0));
    h = graphss_i_tape_matmul(t, graphss_i_tape_bias_relu(t, h, w[1], 0), w[2]);
    return graphss_i_tape_add_bias(t, graphss_i_tape_spmm(t, m, h), w[3]);
}

/* weights of candidate pairs; -1 without any */
static graphss_i_var record_weights(
    graphss_i_tape *t, const graphss_i_pairs *p, graphss_i_var r, double threshold)
{
    if (graphss_i_pairs_count(p) == 0)
        return -1;
    const graphss_i_var w =
        graphss_i_tape_edge_dot(t, &p->m, &p->transposed, p->transposed_at, r, r);
    return graphss_i_tape_keep_above(t, w, threshold);
}

static graphss_i_var record_gcn(graphss_i_tape *t, const snapshot_state *at,
    const graphss_i_pair_pattern *p, graphss_i_var a, graphss_i_var b, const graphss_i_var *w,
    const graphss_recover_options *opt)
{
    const graphss_i_var edge = graphss_i_tape_normalise_edges(
        t, &p->m, &p->m, p->transposed_at, graphss_i_tape_spread_pairs(t, p, a, b));
    graphss_i_var h = graphss_i_input_apply(t, &at->x, w[0], opt->nrgnn.input_dropout);
    for (size_t l = 0;; l++) {
        h = graphss_i_tape_spmm_edges(t, &p->m, &p->m, p->transposed_at, edge, h);
        if (l + 1 == (size_t)opt->fit.layers)
            return graphss_i_tape_add_bias(t, h, w[2 * l + 1]);
        h = graphss_i_tape_bias_relu(t, h, w[2 * l + 1], opt->fit.dropout);
        h = graphss_i_tape_matmul(t, h, w[2 * l + 2]);
    }
}

static void record(graphss_i_tape *t, snapshot_state *at, const graphss_i_var *w,
    const graphss_recover_options *opt, bool training)
{
    const graphss_i_var *miner = w + 2 * ENCODER_LAYERS, *last = miner + 2 * opt->fit.layers;
    const graphss_split *split = at->split;
    const graphss_i_var r = record_encoder(t, at, w);
    if (training)
        graphss_i_tape_edge_loss(
            t, r, at->on->graph, (size_t)opt->nrgnn.negatives / 2, opt->nrgnn.edge_weight);
    const graphss_i_var a = record_weights(t, &at->labelled, r, opt->nrgnn.threshold);
    at->miner_logits = record_gcn(t, at, &at->miner, a, -1, miner, opt);
    const graphss_i_var b = record_weights(t, &at->unlabelled, r, opt->nrgnn.threshold);
    at->classifier_logits = record_gcn(t, at, &at->classifier, a, b, last, opt);
    graphss_i_tape_keep(t, at->miner_logits);
    graphss_i_tape_keep(t, at->classifier_logits);
    if (!training)
        return;
    graphss_i_tape_cross_entropy(
        t, at->miner_logits, split->train, split->train_label, split->n_train);
    graphss_i_tape_cross_entropy(
        t, at->classifier_logits, split->train, split->train_label, split->n_train);
    graphss_i_tape_soft_cross_entropy(
        t, at->classifier_logits, at->target, opt->nrgnn.pseudo_weight);
}

/* ---- a snapshot ---- */

static graphss_status make_patterns(graphss_ctx *ctx, snapshot_state *at)
{
    graphss_status st =
        graphss_i_pattern_make(ctx, &at->miner, at->on->graph, &at->labelled, NULL);
    if (!st)
        st = graphss_i_pattern_make(
            ctx, &at->classifier, at->on->graph, &at->labelled, &at->unlabelled);
    if (st)
        return st;
    at->target = graphss_i_calloc(ctx, at->n, at->k * sizeof *at->target);
    at->counted =
        graphss_i_calloc(ctx, graphss_i_pairs_count(&at->unlabelled), sizeof *at->counted);
    at->classifier.weight = at->counted;
    return at->target && at->counted ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
}

/* adam NULL: for prediction only. at has on, split, n, k. */
static graphss_status settle(graphss_ctx *ctx, snapshot_state *at,
    const graphss_recover_options *opt, const graphss_i_scaling *scaling,
    graphss_i_params *params, graphss_i_adam *adam)
{
    graphss_i_var w[GRAPHSS_I_PARAMS_MOST];
    at->trains = graphss_i_calloc(ctx, at->n, sizeof *at->trains);
    if (!at->trains)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < at->split->n_train; i++)
        at->trains[at->split->train[i]] = true;
    graphss_status st = find_candidates(ctx, at, (size_t)opt->nrgnn.neighbours);
    if (!st)
        st = make_patterns(ctx, at);
    if (!st)
        st = graphss_i_propagation_make(
            ctx, &at->edges, at->on->graph, GRAPHSS_I_NORM_SYMMETRIC, true);
    if (!st)
        st = graphss_i_propagation_make(
            ctx, &at->none, at->on->graph, GRAPHSS_I_NORM_NONE, false);
    if (!st)
        st = graphss_i_input_make(ctx, &at->x, at->on->features, &at->none, 0, scaling);
    if (!st)
        st = graphss_i_tape_new(ctx, &at->tape);
    if (st)
        return st;
    graphss_i_weights_record(at->tape, w, params, adam);
    record(at->tape, at, w, opt, adam != NULL);
    return graphss_i_tape_finish(at->tape);
}

/* Confident answers of the miner's last pass become pseudo labels. */
static void take_labels(snapshot_state *at, double confidence)
{
    const float *x = graphss_i_tape_value(at->tape, at->miner_logits);
    for (size_t i = 0; i < at->n; i++, x += at->k) {
        float *row = at->target + i * at->k, top = x[0];
        double sum = 0;
        for (size_t c = 1; c < at->k; c++)
            top = x[c] > top ? x[c] : top;
        for (size_t c = 0; c < at->k; c++)
            sum += row[c] = expf(x[c] - top);
        const bool sure = !at->trains[i] && 1 / sum > confidence;
        for (size_t c = 0; c < at->k; c++)
            row[c] = sure ? (float)(row[c] / sum) : 0;
    }
    const graphss_i_csr *m = &at->unlabelled.m;
    for (size_t i = 0; m->offset && i < m->n_rows; i++)
        for (int64_t e = m->offset[i]; e < m->offset[i + 1]; e++) {
            float sum = 0;
            for (size_t c = 0; c < at->k; c++)
                sum +=
                    at->target[i * at->k + c] + at->target[(size_t)m->column[e] * at->k + c];
            at->counted[e] = sum > 0;
        }
}

/* ---- training ---- */

/* The accuracy and loss of the chosen epoch. */
typedef struct best {
    float *value, *counted;
    graphss_i_measure answer, miner;
} best;

static void keep(best *b, const graphss_i_params *params, const snapshot_state *at)
{
    memcpy(b->value, params->value, params->count * sizeof *b->value);
    memcpy(
        b->counted, at->counted, graphss_i_pairs_count(&at->unlabelled) * sizeof *b->counted);
}

static graphss_status measure(graphss_ctx *ctx, snapshot_state *at, best *b,
    const graphss_i_params *params, const graphss_recover_options *opt, size_t epoch,
    double loss)
{
    const graphss_split *s = at->split;
    graphss_i_tape_forward(at->tape, false, 0);
    const graphss_i_measure miner =
        graphss_i_judge(graphss_i_tape_value(at->tape, at->miner_logits), at->k, s->val,
            s->val_label, s->n_val);
    const graphss_i_measure classifier =
        graphss_i_judge(graphss_i_tape_value(at->tape, at->classifier_logits), at->k, s->val,
            s->val_label, s->n_val);
    const graphss_i_measure answer =
        opt->nrgnn.head == GRAPHSS_HEAD_MINER ? miner : classifier;
    if (s->n_val == 0 || graphss_i_better(answer, b->answer)) {
        b->answer = answer;
        keep(b, params, at);
    }
    if (s->n_val == 0 || graphss_i_better(miner, b->miner)) {
        b->miner = miner;
        take_labels(at, opt->nrgnn.confidence);
    }
    char note[64];
    const int used = snprintf(note, sizeof note, "loss %.3f", loss);
    if (s->n_val > 0)
        snprintf(
            note + used, sizeof note - (size_t)used, "  val %.1f %%", 100 * answer.accuracy);
    return graphss_i_progress(ctx, "train", epoch, (size_t)opt->fit.epochs, note);
}

/* Leaves the best weights in params, and in at->counted the answers that belong to them. */
static graphss_status train(graphss_ctx *ctx, snapshot_state *at, graphss_i_params *params,
    graphss_i_adam *adam, const graphss_recover_options *opt, uint64_t seed)
{
    const graphss_i_measure worst = {-1, INFINITY};
    best b = {.answer = worst, .miner = worst};
    graphss_rng rng = graphss_rng_make(seed, GRAPHSS_STREAM_DROPOUT);
    const size_t pairs = graphss_i_pairs_count(&at->unlabelled);
    const size_t epochs = (size_t)opt->fit.epochs, patience = (size_t)opt->fit.patience;
    size_t since = 0;
    b.value = graphss_i_copy(ctx, params->value, params->count, sizeof *b.value);
    b.counted = graphss_i_calloc(ctx, pairs, sizeof *b.counted);
    graphss_status st = b.value && b.counted ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t e = 1; e <= epochs && !st && !(patience && since > patience); e++) {
        graphss_i_tape_forward(at->tape, true, graphss_rng_u64(&rng));
        const double loss = graphss_i_tape_loss(at->tape);
        if (!isfinite(loss)) {
            st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                "training diverged at epoch %zu: the loss is %g; "
                "try a smaller --learning-rate than %g",
                e - 1, loss, opt->fit.learning_rate);
            break;
        }
        graphss_i_tape_backward(at->tape);
        graphss_i_adam_step(ctx, adam, params, opt->fit.learning_rate, opt->fit.weight_decay);
        const graphss_i_measure before = b.answer;
        st = measure(ctx, at, &b, params, opt, e, loss);
        since = graphss_i_better(b.answer, before) ? 0 : since + 1;
    }
    if (!st) {
        memcpy(params->value, b.value, params->count * sizeof *b.value);
        memcpy(at->counted, b.counted, pairs * sizeof *b.counted);
    }
    graphss_release(ctx, b.value);
    graphss_release(ctx, b.counted);
    return st;
}

static void answer(
    double *posterior, snapshot_state *at, const graphss_recover_options *opt, bool elsewhere)
{
    graphss_i_tape_forward(at->tape, false, 0);
    if (elsewhere && opt->nrgnn.head == GRAPHSS_HEAD_CLASSIFIER) {
        take_labels(at, opt->nrgnn.confidence);
        graphss_i_tape_forward(at->tape, false, 0);
    }
    const graphss_i_var logits =
        opt->nrgnn.head == GRAPHSS_HEAD_MINER ? at->miner_logits : at->classifier_logits;
    graphss_i_softmax_rows(posterior, graphss_i_tape_value(at->tape, logits), at->n, at->k);
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    (void)perturbed;
    const graphss_split *split;
    const graphss_observation on = graphss_i_defence_training(input, &split);
    snapshot_state trained = {
        .on = &on, .split = split, .n = on.graph->n_nodes, .k = input->k};
    snapshot_state asked = {
        .on = &input->current, .split = input->split, .n = input->n, .k = input->k};
    graphss_i_params params = {0};
    graphss_i_adam adam = {0};
    graphss_rng rng = graphss_rng_make(input->seed, GRAPHSS_STREAM_INIT);
    graphss_i_scaling scaling = {.scale = 1};
    graphss_status st = declare(ctx, &params, opt, on.features->n_cols, input->k);
    if (!st)
        st = graphss_i_scaling_learn(ctx, &scaling, on.features, &opt->fit);
    if (!st)
        st = graphss_i_params_allocate(ctx, &params);
    if (!st) {
        graphss_i_params_glorot(&params, &rng);
        st = graphss_i_adam_init(ctx, &adam, &params);
    }
    if (!st)
        st = settle(ctx, &trained, opt, &scaling, &params, &adam);
    if (!st)
        st = train(ctx, &trained, &params, &adam, opt, input->seed);
    if (!st && !input->retrain)
        st = settle(ctx, &asked, opt, &scaling, &params, NULL);
    if (!st)
        answer(posterior, input->retrain ? &trained : &asked, opt, !input->retrain);
    leave(ctx, &asked);
    leave(ctx, &trained);
    graphss_i_scaling_destroy(ctx, &scaling);
    graphss_i_adam_destroy(ctx, &adam);
    graphss_i_params_destroy(ctx, &params);
    return st;
}

/* The training of the authors' script for Cora, in both modes; see docs/defences.md. */
static void adjust(graphss_recover_options *opt)
{
    const bool paper = opt->mode == GRAPHSS_MODE_PAPER;
    if (!paper)
        graphss_train_options_init(&opt->fit, "gcn", GRAPHSS_MODE_DEFAULT, NULL);
    opt->fit.layers = 2;
    opt->fit.hidden = 16;
    opt->fit.dropout = 0.5;
    opt->fit.weight_decay = 5e-4;
    opt->fit.learning_rate = 0.001;
    opt->fit.epochs = 200;
    opt->fit.patience = 0;
    opt->fit.row_normalise = false;
    opt->fit.unit_scale = false;
    opt->nrgnn.threshold = 0.1;
    opt->nrgnn.neighbours = paper ? 50 : 20;
    opt->nrgnn.negatives = 50;
    opt->nrgnn.edge_hidden = 64;
    opt->nrgnn.confidence = 0.8;
    opt->nrgnn.edge_weight = 0.03;
    opt->nrgnn.pseudo_weight = 1;
}

/* The values of the authors' script for their other datasets. */
static void suit(graphss_recover_options *opt, const char *dataset)
{
    if (!strcmp(dataset, "citeseer")) {
        opt->nrgnn.edge_weight = 3;
    } else if (!strcmp(dataset, "pubmed")) {
        opt->fit.hidden = 128;
        opt->fit.learning_rate = 0.01;
        opt->nrgnn.neighbours = 5;
        opt->nrgnn.confidence = 1;
        opt->nrgnn.edge_weight = 0.1;
    }
}

static const graphss_option options[] = {GRAPHSS_I_COMMON_ROWS, GRAPHSS_I_ROW_THRESHOLD(nrgnn),
    GRAPHSS_I_ROW_NEIGHBOURS(nrgnn), GRAPHSS_I_ROWS_NRGNN(nrgnn),
    GRAPHSS_I_ROW_INPUT_DROPOUT(nrgnn), GRAPHSS_I_FIT_ROWS, {0}};

const graphss_i_defence graphss_i_nrgnn_defence = {
    .name = "nrgnn",
    .summary = "NRGNN: links to labelled nodes alike, confident answers as labels (Dai et al. "
               "2021)",
    .evasion = "trained on the previous snapshot, then the current one",
    .retrain = "trained on the current snapshot",
    .options = options,
    .learns = true,
    .needs_edges = true,
    .evasion_previous = true,
    .adjust = adjust,
    .suit = suit,
    .run = run,
};
