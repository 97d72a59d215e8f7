/* poisoned.c - a snapshot that was attacked before anybody trained on it: labels, distrusted
 * links and classifier, each found again given the other two.
 *
 *   foreign_e ~ Bernoulli(share), views of link e given foreign_e: link_trust.h
 *   label_i   ~ phi[class_i], rows of phi Dirichlet: selfsup.h
 *   class_i   ~ the classifier, trained on links with P(foreign) < 1/2 and on labels that are
 *               more likely right than wrong
 *
 * The first beliefs are those of a perceptron, which no link can mislead; each round then
 * trains on the trusted links and judges all of them anew, also those it had cut. A training
 * label is judged by a classifier that was not trained on it: the labels' halves judge each
 * other. Answers are the mean over the last rounds, and in recover of that and of APPNP on the
 * trusted links, whose errors are others. No clean snapshot, and nothing of the attacker, is
 * known. Costs a perceptron, ROUNDS trainings and twice as many on half of the labels. */
#include "graph/similarity.h"
#include "models/model_private.h"
#include "recover/defence.h"
#include "recover/link_trust.h"
#include "recover/network.h"
#include "recover/option_rows.h"
#include <graphss/selfsup.h>
#include <math.h>
#include <string.h>

enum {
    ROUNDS = 5,   /* the trusted links hardly change after the third */
    AVERAGED = 3, /* rounds whose answers count: those after that */
    GRID = 10,    /* powers, and shares of wrong labels, that are compared: */
    SHARPEST = 3  /* powers up to this: right labels make a classifier surer than it is right,
                   * wrong ones less sure */
};
static const double MOST_WRONG = 0.5; /* and shares below this: else labels say nothing */
/* Even odds: what decides between two readings when both errors cost the same. */
static const float LIKELY = 0.5F;
/* First guess of the share of foreign links; EM forgets it. */
static const double FIRST_SHARE = 0.1;

enum { SIMILARITY, AGREEMENT, COMMON, VIEWS };

/* Working memory. m and m_pairs: stored edges of the graph and of the random pairs. */
typedef struct search {
    const graphss_train_input *in;
    const graphss_train_options *fit;
    size_t n, k, m, m_pairs;
    graphss_graph pairs;   /* the graph with its edges' ends drawn anew */
    float *belief;         /* [n x k] of the classifier */
    float *trust;          /* [m] 1 - foreign */
    double *foreign;       /* [m] */
    float *view, *on_pair; /* [m], [m_pairs] one view */
    float *sorted, *room;  /* [m], [n] */
    double *degree;        /* [n] */
    int64_t *at;           /* [n] */
    double *ratio, *end;   /* [k x k], [k] */
    uint8_t *bin;          /* [VIEWS x m] */
    float *judged;         /* [n_train x k] each training node, by the other half */
    double chance[VIEWS * GRAPHSS_I_LINK_BINS];
} search;

static void search_close(graphss_ctx *ctx, search *s)
{
    void *const block[] = {s->belief, s->trust, s->foreign, s->view, s->on_pair, s->sorted,
        s->room, s->degree, s->at, s->ratio, s->end, s->bin, s->judged};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        graphss_release(ctx, block[i]);
    graphss_graph_destroy(ctx, &s->pairs);
}

/* Pairs with the ends of the edges, put together at random: what foreign links would look like
 * if nobody chose them. */
static graphss_status draw_pairs(graphss_ctx *ctx, search *s)
{
    const graphss_graph *g = s->in->graph;
    int32_t *from = graphss_i_alloc(ctx, s->m, sizeof *from);
    int32_t *to = graphss_i_copy(ctx, g->target, s->m, sizeof *to);
    graphss_status st = from && to ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st) {
        graphss_rng rng = graphss_rng_make(s->in->seed, GRAPHSS_STREAM_DEFENCE);
        for (size_t i = 0; i < s->n; i++)
            for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
                from[e] = (int32_t)i;
        graphss_rng_shuffle(&rng, to, s->m);
        st = graphss_graph_build(ctx, &s->pairs, NULL, s->n, from, to, s->m);
    }
    graphss_release(ctx, from);
    graphss_release(ctx, to);
    return st;
}

static graphss_status search_open(graphss_ctx *ctx, search *s)
{
    graphss_status st = draw_pairs(ctx, s);
    if (st)
        return st;
    s->m_pairs = (size_t)s->pairs.offset[s->n];
    s->belief = graphss_i_alloc(ctx, s->n, s->k * sizeof *s->belief);
    s->trust = graphss_i_alloc(ctx, s->m, sizeof *s->trust);
    s->foreign = graphss_i_alloc(ctx, s->m, sizeof *s->foreign);
    s->view = graphss_i_alloc(ctx, s->m, sizeof *s->view);
    s->on_pair = graphss_i_alloc(ctx, s->m_pairs, sizeof *s->on_pair);
    s->sorted = graphss_i_alloc(ctx, s->m, sizeof *s->sorted);
    s->room = graphss_i_calloc(ctx, s->n, sizeof *s->room);
    s->degree = graphss_i_alloc(ctx, s->n, sizeof *s->degree);
    s->at = graphss_i_alloc(ctx, s->n, sizeof *s->at);
    s->ratio = graphss_i_alloc(ctx, s->k, s->k * sizeof *s->ratio);
    s->end = graphss_i_alloc(ctx, s->k, sizeof *s->end);
    s->bin = graphss_i_alloc(ctx, s->m, VIEWS * sizeof *s->bin);
    s->judged = graphss_i_alloc(ctx, s->in->split->n_train, s->k * sizeof *s->judged);
    if (!s->belief || !s->trust || !s->foreign || !s->view || !s->on_pair || !s->sorted ||
        !s->room || !s->degree || !s->at || !s->ratio || !s->end || !s->bin || !s->judged)
        return GRAPHSS_ERR_NOMEM;
    for (size_t e = 0; e < s->m; e++) {
        s->foreign[e] = FIRST_SHARE;
        s->trust[e] = 1;
    }
    return GRAPHSS_OK;
}

/* ---- links ---- */

/* s->view and s->on_pair are of that view. */
static void take_view(search *s, size_t view)
{
    float cut[GRAPHSS_I_LINK_BINS];
    size_t n_cut;
    graphss_i_link_both_ways(s->view, s->in->graph, s->at);
    graphss_i_link_bins(s->bin + view * s->m, cut, &n_cut, s->sorted, s->view, s->m);
    graphss_i_link_chance(
        s->chance + view * GRAPHSS_I_LINK_BINS, cut, n_cut, s->on_pair, s->m_pairs);
}

/* Similarity does not depend on what is believed: once is enough. */
static void look_at_features(graphss_ctx *ctx, search *s)
{
    graphss_i_edge_similarity(
        ctx, s->view, s->in->graph, s->in->features, GRAPHSS_SIMILARITY_COSINE);
    graphss_i_edge_similarity(
        ctx, s->on_pair, &s->pairs, s->in->features, GRAPHSS_SIMILARITY_COSINE);
    take_view(s, SIMILARITY);
}

/* Judges all links by s->belief. Returns the share that is foreign. */
static double judge_links(search *s)
{
    const graphss_graph *g = s->in->graph;
    graphss_i_link_ratio(s->ratio, s->end, g, s->trust, s->belief, s->k);
    graphss_i_link_agreement(s->view, g, s->belief, s->ratio, s->k);
    graphss_i_link_agreement(s->on_pair, &s->pairs, s->belief, s->ratio, s->k);
    take_view(s, AGREEMENT);
    graphss_i_link_common(s->view, g, g, s->trust, s->degree, s->room);
    graphss_i_link_common(s->on_pair, &s->pairs, g, s->trust, s->degree, s->room);
    take_view(s, COMMON);
    const double share = graphss_i_link_foreign(s->foreign, s->bin, s->chance, VIEWS, s->m);
    for (size_t e = 0; e < s->m; e++)
        s->trust[e] = (float)(1 - s->foreign[e]);
    return share;
}

/* ---- the classifier ---- */

static graphss_status ask(graphss_ctx *ctx, float *prob, const search *s,
    const graphss_graph *graph, const graphss_split *split, uint64_t seed)
{
    graphss_model *model = NULL;
    graphss_train_input in = *s->in;
    in.graph = graph;
    in.split = split;
    in.seed = seed;
    graphss_status st = graphss_i_train(ctx, &model, NULL, &in, s->fit);
    if (!st)
        st = graphss_i_predict(ctx, prob, model, graph, in.features);
    graphss_model_free(ctx, model);
    return st;
}

/* A perceptron with the inputs of the classifier. Also checks what the caller gave. */
static graphss_status ask_features(graphss_ctx *ctx, search *s)
{
    graphss_model *model = NULL;
    graphss_train_options alone;
    graphss_train_options_init(&alone, "mlp", s->fit->mode, NULL);
    alone.epochs = s->fit->epochs;
    alone.row_normalise = s->fit->row_normalise;
    alone.unit_scale = s->fit->unit_scale;
    alone.standardise = s->fit->standardise;
    graphss_status st = graphss_i_train_checked(ctx, &model, NULL, s->in, &alone);
    if (!st)
        st = search_open(ctx, s);
    if (!st)
        st = graphss_i_predict(ctx, s->belief, model, s->in->graph, s->in->features);
    graphss_model_free(ctx, model);
    return st;
}

/* ---- labels ---- */

/* judged [n x k] <- judged^power, rows of sum 1, with the power, and *wrong the share of wrong
 * labels, under which the labels are most likely:
 *   P(label) = (1 - wrong) p(label) + wrong (1 - p(label)) / (k - 1),  p ~ judged^power
 * Taken at its word, a classifier that is too sure would doubt a label at each of its errors.
 */
static void calibrate(double *wrong, float *judged, const int32_t *label, size_t n, size_t k)
{
    double best = -INFINITY, power = 1;
    *wrong = 0;
    for (int a = 1; a <= GRID; a++)
        for (int b = 0; b < GRID; b++) {
            const double raised = (double)SHARPEST * a / GRID, share = MOST_WRONG * b / GRID;
            double fit = 0;
            for (size_t i = 0; i < n; i++) {
                double sum = 0;
                for (size_t c = 0; c < k; c++)
                    sum += pow((double)judged[i * k + c], raised);
                const double p = pow((double)judged[i * k + (size_t)label[i]], raised) / sum;
                fit += log((1 - share) * p + share * (1 - p) / (double)(k - 1) + 1e-300);
            }
            if (fit > best) {
                best = fit;
                power = raised;
                *wrong = share;
            }
        }
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t c = 0; c < k; c++)
            sum += pow((double)judged[i * k + c], power);
        for (size_t c = 0; c < k; c++)
            judged[i * k + c] = (float)(pow((double)judged[i * k + c], power) / sum);
    }
}

/* s->judged: every other training node, by a classifier trained on those between. */
static graphss_status judge_halves(
    graphss_ctx *ctx, search *s, const graphss_graph *trusted, uint64_t seed)
{
    const graphss_split *all = s->in->split;
    graphss_split half = *all; /* borrows but for these two */
    half.train = graphss_i_alloc(ctx, all->n_train, sizeof *half.train);
    half.train_label = graphss_i_alloc(ctx, all->n_train, sizeof *half.train_label);
    float *prob = graphss_i_alloc(ctx, s->n, s->k * sizeof *prob);
    graphss_status st =
        half.train && half.train_label && prob ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    for (size_t odd = 0; odd < 2 && !st; odd++) {
        half.n_train = 0;
        for (size_t j = odd; j < all->n_train; j += 2) {
            half.train[half.n_train] = all->train[j];
            half.train_label[half.n_train++] = all->train_label[j];
        }
        st = ask(ctx, prob, s, trusted, &half, seed + odd);
        for (size_t j = !odd; j < all->n_train && !st; j += 2)
            memcpy(s->judged + j * s->k, prob + (size_t)all->train[j] * s->k,
                s->k * sizeof *prob);
    }
    graphss_release(ctx, prob);
    graphss_release(ctx, half.train_label);
    graphss_release(ctx, half.train);
    return st;
}

/* doubt [n_train] <- P(the training label is wrong) */
static graphss_status judge_labels(
    graphss_ctx *ctx, float *doubt, search *s, const graphss_graph *trusted, uint64_t seed)
{
    const graphss_split *split = s->in->split;
    const size_t n = split->n_train, k = s->k;
    if (n < 2 || k < 2)
        return GRAPHSS_OK;
    graphss_selfsup_input in;
    graphss_selfsup_result found = {0};
    double wrong;
    graphss_status st = judge_halves(ctx, s, trusted, seed);
    if (st)
        return st;
    calibrate(&wrong, s->judged, split->train_label, n, k);
    const graphss_source source = {.name = "training labels",
        .label = split->train_label,
        .prior = {.alpha = 1, .anchor = (double)n / (double)k, .diagonal = 1 - wrong}};
    graphss_selfsup_input_init(&in);
    in.n = n;
    in.n_classes = k;
    in.prob = s->judged;
    in.source = &source;
    in.n_sources = 1;
    in.seed = seed;
    st = graphss_selfsup_run(ctx, &found, &in, NULL);
    for (size_t j = 0; j < n && !st; j++)
        doubt[j] = (float)(1 - found.posterior[j * k + (size_t)split->train_label[j]]);
    graphss_selfsup_result_destroy(ctx, &found);
    return st;
}

/* Training nodes whose label is likely right. A class keeps at least one: the least doubted.
 * out has room for all. Returns how many were left out. */
static size_t leave_out(graphss_split *out, const graphss_split *all, const float *doubt)
{
    size_t kept = 0;
    for (size_t j = 0; j < all->n_train; j++) {
        bool least = true;
        for (size_t l = 0; l < all->n_train && least && doubt[j] > LIKELY; l++)
            least = all->train_label[l] != all->train_label[j] || doubt[l] > doubt[j] ||
                    (doubt[l] >= doubt[j] && l >= j);
        if (!least)
            continue;
        out->train[kept] = all->train[j];
        out->train_label[kept++] = all->train_label[j];
    }
    out->n_train = kept;
    return all->n_train - kept;
}

/* ---- in turn ---- */

/* Share of the validation nodes that are given their label; 0 without any. */
static double validated(const search *s, const float *prob)
{
    const graphss_split *split = s->in->split;
    size_t right = 0;
    for (size_t j = 0; j < split->n_val; j++)
        right += graphss_i_top(prob + (size_t)split->val[j] * s->k, s->k) ==
                 (size_t)split->val_label[j];
    return split->n_val ? (double)right / (double)split->n_val : 0;
}

/* Where features say little, an honest link can look like a random pair. So distrust must not
 * cost more validation labels than chance may, one standard error: else all is trusted. */
static graphss_status take_back(graphss_ctx *ctx, graphss_poisoned_result *r, search *s)
{
    float *plain = graphss_i_alloc(ctx, s->n, s->k * sizeof *plain);
    graphss_status st = plain ? GRAPHSS_OK : GRAPHSS_ERR_NOMEM;
    if (!st)
        st = ask(ctx, plain, s, s->in->graph, s->in->split, s->in->seed);
    const double all = st ? 0 : validated(s, plain), less = validated(s, s->belief);
    const double error = sqrt(all * (1 - all) / fmax((double)s->in->split->n_val, 1));
    if (!st && all - less > error) {
        graphss_graph_destroy(ctx, &r->trusted);
        graphss_split_destroy(ctx, &r->split);
        st = graphss_graph_copy(ctx, &r->trusted, s->in->graph);
        if (!st)
            st = graphss_split_copy(ctx, &r->split, s->in->split);
        memset(s->foreign, 0, s->m * sizeof *s->foreign);
        memset(r->doubt, 0, s->in->split->n_train * sizeof *r->doubt);
        r->share = 0;
        r->doubted = 0;
        for (size_t i = 0; i < s->n * s->k; i++)
            r->posterior[i] = (double)plain[i];
    }
    graphss_release(ctx, plain);
    return st;
}

static graphss_status search_rounds(graphss_ctx *ctx, graphss_poisoned_result *r, search *s)
{
    graphss_status st = GRAPHSS_OK;
    look_at_features(ctx, s);
    for (size_t round = 0; round < ROUNDS && !st; round++) {
        const uint64_t seed = s->in->seed + 3 * round; /* this one, and two of halves */
        r->share = judge_links(s);
        graphss_graph_destroy(ctx, &r->trusted);
        st = graphss_i_edges_alike(ctx, &r->trusted, s->in->graph, s->trust, LIKELY);
        if (!st && round > 0) /* the first beliefs are too weak to doubt a label */
            st = judge_labels(ctx, r->doubt, s, &r->trusted, seed + 1);
        if (!st) {
            r->doubted = leave_out(&r->split, s->in->split, r->doubt);
            st = ask(ctx, s->belief, s, &r->trusted, &r->split, seed);
        }
        for (size_t i = 0; i < s->n * s->k && !st && round >= ROUNDS - AVERAGED; i++)
            r->posterior[i] += (double)s->belief[i] / AVERAGED;
        if (!st)
            st = graphss_i_progress(ctx, "distrust", round + 1, ROUNDS, NULL);
    }
    if (!st)
        st = take_back(ctx, r, s);
    for (size_t e = 0; e < s->m && !st; e++)
        r->foreign[e] = (float)s->foreign[e];
    if (!st)
        r->distrusted =
            (s->m - (size_t)r->trusted.offset[s->n]) / 2; /* each is stored twice */
    return st;
}

void graphss_poisoned_result_destroy(graphss_ctx *ctx, graphss_poisoned_result *result)
{
    if (!result)
        return;
    graphss_release(ctx, result->foreign);
    graphss_release(ctx, result->doubt);
    graphss_release(ctx, result->posterior);
    graphss_graph_destroy(ctx, &result->trusted);
    graphss_split_destroy(ctx, &result->split);
    *result = (graphss_poisoned_result){0};
}

graphss_status graphss_poisoned_run(graphss_ctx *ctx, graphss_poisoned_result *out,
    const graphss_train_input *given, const graphss_train_options *opt)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", given}, {"place for what is found", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_train_input in;
    graphss_train_options fit;
    graphss_train_options_init(&fit, "gcn", GRAPHSS_MODE_DEFAULT, given->features);
    graphss_status st = GRAPHSS_I_TAKE(ctx, graphss_train_input, &in, given);
    if (!st)
        st = GRAPHSS_I_TAKE(ctx, graphss_train_options, &fit, opt);
    const graphss_i_model_type *type = st ? NULL : graphss_i_model_type_find(fit.model);
    if (!st && type && type->norm == GRAPHSS_I_NORM_NONE)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
            "links can not mislead %s, which does not look at them", type->name);
    if (st)
        return st;
    search s = {.in = &in, .fit = &fit, .k = in.n_classes};
    graphss_poisoned_result r = {0};
    if (in.graph) {
        s.n = in.graph->n_nodes;
        s.m = in.graph->offset ? (size_t)in.graph->offset[s.n] : 0;
    }
    st = ask_features(ctx, &s);
    if (st)
        goto done;
    st = graphss_split_copy(ctx, &r.split, in.split);
    r.foreign = graphss_i_alloc(ctx, s.m, sizeof *r.foreign);
    r.doubt = graphss_i_calloc(ctx, in.split->n_train, sizeof *r.doubt);
    r.posterior = graphss_i_calloc(ctx, s.n, s.k * sizeof *r.posterior);
    if (!st && (!r.foreign || !r.doubt || !r.posterior))
        st = GRAPHSS_ERR_NOMEM;
    if (!st)
        st = search_rounds(ctx, &r, &s);
done:
    search_close(ctx, &s);
    if (st)
        graphss_poisoned_result_destroy(ctx, &r);
    else
        *out = r;
    return st;
}

graphss_status graphss_poisoned_flips(
    graphss_ctx *ctx, graphss_flips *out, const graphss_graph *graph, const float *foreign)
{
    if (GRAPHSS_I_LACKS(
            ctx, {"graph", graph}, {"chances", foreign}, {"place for the changes", out}))
        return GRAPHSS_ERR_INVALID;
    graphss_flips made = {0};
    graphss_status st = GRAPHSS_OK;
    for (size_t i = 0; i < graph->n_nodes && !st; i++)
        for (int64_t e = graph->offset[i]; e < graph->offset[i + 1] && !st; e++)
            if ((size_t)graph->target[e] > i && 1 - foreign[e] < LIKELY)
                st = graphss_flips_add(ctx, &made,
                    (graphss_flip){.victim = (int32_t)i,
                        .kind = GRAPHSS_FLIP_EDGE,
                        .node = (int32_t)i,
                        .target = graph->target[e],
                        .old_value = 1});
    if (st) {
        graphss_flips_destroy(ctx, &made);
        return st;
    }
    snprintf(made.method, sizeof made.method, "poisoned");
    snprintf(made.victims, sizeof made.victims, "distrusted links");
    *out = made;
    return GRAPHSS_OK;
}

/* ---- as a method of recover ---- */

/* posterior <- the mean of it and of APPNP's on the trusted links */
static graphss_status add_spread(graphss_ctx *ctx, double *posterior,
    const graphss_poisoned_result *r, const graphss_i_defence_input *input,
    const graphss_recover_options *opt)
{
    const graphss_i_defence *spread = &graphss_i_appnp_defence;
    graphss_i_defence_input in = *input;
    graphss_recover_options own = graphss_i_recover_preset(spread, opt->mode, &opt->fit, NULL);
    own.fit.epochs = opt->fit.epochs;
    in.current.graph = &r->trusted;
    in.split = &r->split;
    double *other = graphss_i_alloc(ctx, in.n, in.k * sizeof *other);
    graphss_status st =
        other ? graphss_i_network_run(ctx, other, spread->network, &in, &own, NULL, NULL, NULL)
              : GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < in.n * in.k && !st; i++)
        posterior[i] = (r->posterior[i] + other[i]) / 2;
    graphss_release(ctx, other);
    return st;
}

static graphss_status run(graphss_ctx *ctx, double *posterior, double *perturbed,
    const graphss_i_defence_input *input, const graphss_recover_options *opt)
{
    const graphss_graph *g = input->current.graph;
    graphss_poisoned_result r = {0};
    graphss_status st = graphss_poisoned_run(ctx, &r,
        &(graphss_train_input){.struct_size = sizeof(graphss_train_input),
            .graph = g,
            .features = input->current.features,
            .n_classes = input->k,
            .split = input->split,
            .seed = input->seed},
        &opt->fit);
    if (!st)
        st = add_spread(ctx, posterior, &r, input, opt);
    for (size_t i = 0; i < input->n && !st; i++) { /* that any of its links is foreign */
        double none = 1;
        for (int64_t e = g->offset[i]; e < g->offset[i + 1]; e++)
            none *= 1 - (double)r.foreign[e];
        perturbed[i] = 1 - none;
    }
    if (!st) {
        input->report->foreign = r.foreign;
        input->report->distrusted = r.distrusted;
        input->report->doubted = r.doubted;
        r.foreign = NULL;
    }
    graphss_poisoned_result_destroy(ctx, &r);
    return st;
}

const graphss_i_defence graphss_i_poisoned_defence = {
    .name = "poisoned",
    .summary = "attacked before training: labels, distrusted links and classifier in turn",
    .retrain = "the model's classifier, trained on the links and labels that are trusted",
    .options = graphss_i_training_options,
    .learns = true,
    .needs_edges = true,
    .on_model = true,
    .run = run,
};
