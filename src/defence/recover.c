/* recover.c - the table of defences, their options, and what is the same for all: checks,
 * matching of nodes, the model's own answer, labels from posteriors. */
#include "data/build.h"
#include "defence/measured.h"
#include "defence/network.h"
#include "graph/check.h"
#include "models/model_private.h"
#include "models/trusted.h"
#include <graphss/evaluate.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

static const graphss_i_defence *const methods[] = {
#define DEFENCE(name) &graphss_i_##name##_defence,
#include "defence/defences.def"
#undef DEFENCE
};
enum { METHODS = sizeof methods / sizeof *methods };

static const graphss_i_defence *find(const char *name)
{
    for (size_t i = 0; name && i < METHODS; i++)
        if (!strcmp(methods[i]->name, name))
            return methods[i];
    return NULL;
}

/* The method as a mode has it. */
static const graphss_i_defence *in_mode(const graphss_i_defence *m, int mode)
{
    return mode == GRAPHSS_MODE_PAPER && m && m->paper ? m->paper : m;
}

const graphss_i_defence *graphss_i_defence_find(const char *name, int mode)
{
    return in_mode(find(name), mode);
}

const char *graphss_recover_name(size_t i)
{
    return i < METHODS ? methods[i]->name : NULL;
}

const char *graphss_recover_summary(size_t i)
{
    return i < METHODS ? methods[i]->summary : NULL;
}

/* ---- options ---- */

#define FIELD(f) offsetof(graphss_recover_options, f)
static const char *const ways[] = {"auto", "evasion", "retrain", NULL};
static const char *const heads[] = {"classifier", "miner", NULL};
static const char *const similarities[] = {"auto", "jaccard", "cosine", "weighted", NULL};

/* The first COMMON rows mean something to every method. */
enum { COMMON = 4 };
static const graphss_option table[] = {
    {"method", GRAPHSS_OPTION_STRING, FIELD(method), 0, 0, NULL, "NAME", "the defence", 'm'},
    {"mode", GRAPHSS_OPTION_CHOICE, FIELD(mode), 0, 0, graphss_i_mode_names, "MODE",
     "preset: honest (tuned) or paper (its appendix)", 0},
    {"train", GRAPHSS_OPTION_CHOICE, FIELD(train), 0, 0, ways, "WAY",
     "what was trained before meets the snapshot, or it is trained again", 0},
    {"abstain", GRAPHSS_OPTION_REAL, FIELD(abstain), 0, 1, NULL, "P",
     "give no label (-1) where the largest posterior is below P", 0},
    {"alpha", GRAPHSS_OPTION_REAL, FIELD(alpha), 0, 1, NULL, "SHARE",
     "share that comes from the links", 0},
    {"steps", GRAPHSS_OPTION_INT, FIELD(steps), 0, 1e3, NULL, "N",
     "rounds of spreading over the links", 0},
    {"threshold", GRAPHSS_OPTION_REAL, FIELD(threshold), 0, 1, NULL, "X",
     "jaccard, gnnguard: links whose ends are less alike are cut; nrgnn: links it makes", 0},
    {"similarity", GRAPHSS_OPTION_CHOICE, FIELD(similarity), 0, 0, similarities, "KIND",
     "jaccard: of the features of two nodes; auto: jaccard if binary, else cosine", 0},
    {"rank", GRAPHSS_OPTION_INT, FIELD(rank), 0, 4096, NULL, "N",
     "svd: singular values that are kept; 0: 5 to 200, by validation labels. prognn: those "
     "that are shrunk one by one",
     0},
    {"gamma", GRAPHSS_OPTION_REAL, FIELD(gamma), 0, 1e3, NULL, "X",
     "rgcn: how much less a wide distribution counts. prognn: weight of the labels in the "
     "loss of the links",
     0},
    {"beta1", GRAPHSS_OPTION_REAL, FIELD(beta1), 0, 1e3, NULL, "X",
     "rgcn: weight of the divergence from the standard normal", 0},
    {"beta2", GRAPHSS_OPTION_REAL, FIELD(beta2), 0, 1e3, NULL, "X",
     "rgcn: weight of the squares of the first layer's weights", 0},
    {"sample", GRAPHSS_OPTION_BOOL, FIELD(sample), 0, 1, NULL, "yes|no",
     "rgcn: draw from the distributions when predicting, too", 0},
    {"sweeps", GRAPHSS_OPTION_INT, FIELD(sweeps), 1, 1e6, NULL, "N",
     "graphss, paper mode: inference epochs", 0},
    {"warmup", GRAPHSS_OPTION_INT, FIELD(warmup), 0, 1e6, NULL, "N",
     "graphss, paper mode: first epochs, with the warm-up matrix", 0},
    {"retrain-epochs", GRAPHSS_OPTION_INT, FIELD(retrain_epochs), 0, 1e6, NULL, "N",
     "graphss, paper mode: of each retraining; 0: never retrain", 0},
    {"prior", GRAPHSS_OPTION_REAL, FIELD(prior), 0, 1e9, NULL, "X",
     "graphss, paper mode: alpha, the Dirichlet parameter", 0},
    {"dynamic-phi", GRAPHSS_OPTION_BOOL, FIELD(dynamic_phi), 0, 1, NULL, "yes|no",
     "graphss, paper mode: learn the transition matrix", 0},
    {"sparsity", GRAPHSS_OPTION_REAL, FIELD(sparsity), 0, 1e3, NULL, "X",
     "prognn: weight of the sum of the links' weights", 0},
    {"low-rank", GRAPHSS_OPTION_REAL, FIELD(low_rank), 0, 1e3, NULL, "X",
     "prognn: weight of the nuclear norm of the links", 0},
    {"smoothness", GRAPHSS_OPTION_REAL, FIELD(smoothness), 0, 1e3, NULL, "X",
     "prognn: weight of how much features differ along the links", 0},
    {"graph-rate", GRAPHSS_OPTION_REAL, FIELD(graph_rate), 0, 1e3, NULL, "X",
     "prognn: step size of the links", 0},
    {"neighbours", GRAPHSS_OPTION_INT, FIELD(neighbours), 0, 1e4, NULL, "N",
     "prognn, nrgnn: most similar nodes that a node may also be linked to; nrgnn: 0 is all "
     "that have a label",
     0},
    {"negatives", GRAPHSS_OPTION_INT, FIELD(negatives), 0, 1e4, NULL, "N",
     "nrgnn: pairs without a link that links are learned from, for each node", 0},
    {"edge-hidden", GRAPHSS_OPTION_INT, FIELD(edge_hidden), 1, 4096, NULL, "N",
     "nrgnn: width of the network that predicts links", 0},
    {"confidence", GRAPHSS_OPTION_REAL, FIELD(confidence), 0, 1, NULL, "P",
     "nrgnn: an answer surer than P becomes a label", 0},
    {"link-weight", GRAPHSS_OPTION_REAL, FIELD(link_weight), 0, 1e3, NULL, "X",
     "nrgnn: weight of the prediction of links in the loss", 0},
    {"pseudo-weight", GRAPHSS_OPTION_REAL, FIELD(pseudo_weight), 0, 1e3, NULL, "X",
     "nrgnn: weight of the labels that were answers", 0},
    {"head", GRAPHSS_OPTION_CHOICE, FIELD(head), 0, 0, heads, "NAME",
     "nrgnn: whose answer: the classifier, or the miner of its extra labels", 0},
    {"dropnode", GRAPHSS_OPTION_REAL, FIELD(dropnode), 0, 0.99, NULL, "SHARE",
     "grand: share of the nodes whose features do not spread in a pass", 0},
    {"input-dropout", GRAPHSS_OPTION_REAL, FIELD(input_dropout), 0, 0.99, NULL, "SHARE",
     "share of features dropped (--dropout: of hidden units)", 0},
    {"augmentations", GRAPHSS_OPTION_INT, FIELD(augmentations), 1,
     GRAPHSS_RECOVER_AUGMENTATIONS, NULL, "N", "grand: random passes that must agree", 0},
    {"consistency", GRAPHSS_OPTION_REAL, FIELD(consistency), 0, 1e3, NULL, "X",
     "grand: weight of that agreement in the loss", 0},
    {"temperature", GRAPHSS_OPTION_REAL, FIELD(temperature), 1e-2, 1e2, NULL, "X",
     "grand: of the answer they are to agree on; below 1 it is sharpened", 0},
    {"near", GRAPHSS_OPTION_INT, FIELD(near), 0, 1000, NULL, "N",
     "prognn: nodes with common neighbours that a node may be linked to", 0},
    {"adversaries", GRAPHSS_OPTION_REAL, FIELD(adversaries), 0, 1, NULL, "SHARE",
     "advtrain: share of the training nodes that are attacked", 0},
    {"layers", GRAPHSS_OPTION_INT, FIELD(fit.layers), 1, 30, NULL, "N",
     "training: weight layers", 0},
    {"hidden", GRAPHSS_OPTION_INT, FIELD(fit.hidden), 1, 65536, NULL, "N",
     "training: width of the hidden layers", 0},
    {"dropout", GRAPHSS_OPTION_REAL, FIELD(fit.dropout), 0, 0.99, NULL, "SHARE",
     "training: share of inputs and hidden units dropped", 0},
    {"weight-decay", GRAPHSS_OPTION_REAL, FIELD(fit.weight_decay), 0, 1e3, NULL, "X",
     "training: L2 penalty on the first layer's weights", 0},
    {"learning-rate", GRAPHSS_OPTION_REAL, FIELD(fit.learning_rate), 1e-12, 1e3, NULL, "X",
     "training: step size of Adam", 0},
    {"epochs", GRAPHSS_OPTION_INT, FIELD(fit.epochs), 1, 1e7, NULL, "N",
     "training: most epochs", 0},
    {"patience", GRAPHSS_OPTION_INT, FIELD(fit.patience), 0, 1e7, NULL, "N",
     "training: stop after N + 1 epochs without a better one; 0: never", 0},
    {"row-normalise", GRAPHSS_OPTION_BOOL, FIELD(fit.row_normalise), 0, 1, NULL, "yes|no",
     "training: divide each feature row by the sum of its absolute values", 0},
    {"standardise", GRAPHSS_OPTION_BOOL, FIELD(fit.standardise), 0, 1, NULL, "yes|no",
     "training: give each feature mean 0 and spread 1", 0, true},
    {"unit-scale", GRAPHSS_OPTION_BOOL, FIELD(fit.unit_scale), 0, 1, NULL, "yes|no",
     "training: scale features so that rows have length one on average", 0},
    {NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0},
};

const graphss_option *graphss_recover_options_table(void)
{
    return table;
}

static bool reads(const graphss_i_defence *m, const graphss_option *row)
{
    char word[64];
    if (row < table + COMMON)
        return true;
    if (row->offset >= FIELD(fit) && row->offset < FIELD(fit) + sizeof(graphss_train_options))
        return m->fits;
    snprintf(word, sizeof word, " %s ", row->name);
    return strstr(m->options, word) != NULL;
}

bool graphss_recover_uses_in(const char *method, graphss_mode mode, const char *option)
{
    const graphss_i_defence *m = in_mode(find(method), mode);
    const graphss_option *row = graphss_option_find(table, option);
    return m && row && reads(m, row);
}

bool graphss_recover_uses(const char *method, const char *option)
{
    return graphss_recover_uses_in(method, GRAPHSS_MODE_HONEST, option) ||
           graphss_recover_uses_in(method, GRAPHSS_MODE_PAPER, option);
}

bool graphss_recover_finds(const char *method, graphss_mode mode)
{
    const graphss_i_defence *m = in_mode(find(method), mode);
    return m && m->finds;
}

/* The appendix gives each rival the training of its authors' code: two layers of 16 units (one
 * where all hops come first), half of them dropped, Adam with rate 0.01, 200 epochs. */
static void paper_fit(graphss_train_options *fit)
{
    const graphss_i_model_type *type = graphss_i_model_type_find(fit->model);
    fit->mode = GRAPHSS_MODE_PAPER;
    fit->layers = type && type->hops_by_option ? 1 : 2;
    fit->hidden = 16;
    fit->dropout = 0.5;
    fit->weight_decay = 5e-4;
    fit->learning_rate = 0.01;
    fit->epochs = 200;
    fit->patience = 0;
    fit->self_loops = true;
}

graphss_recover_options graphss_recover_options_default(const char *method, graphss_mode mode,
                                                        const graphss_model *model)
{
    const graphss_train_options gcn = graphss_train_options_default("gcn", mode);
    return graphss_i_recover_preset(method, mode, model ? graphss_model_options(model) : &gcn,
                                    model ? graphss_model_dataset_name(model) : NULL);
}

graphss_recover_options graphss_i_recover_preset(const char *method, graphss_mode mode,
                                                 const graphss_train_options *fit,
                                                 const char *dataset)
{
    const graphss_i_defence *m = in_mode(find(method), mode);
    graphss_recover_options opt = {.method = method,
                                   .mode = mode,
                                   .fit = *fit,
                                   .sweeps = 100,
                                   .warmup = 40,
                                   .retrain_epochs = 60,
                                   .prior = 1,
                                   .dynamic_phi = true,
                                   .edge_hidden = 1,
                                   .augmentations = 1,
                                   .temperature = 1};
    if (mode == GRAPHSS_MODE_PAPER && m && !m->as_model)
        paper_fit(&opt.fit);
    if (m && m->adjust)
        m->adjust(&opt);
    if (fit->standardise &&
        mode == GRAPHSS_MODE_HONEST) { /* whatever its preset begins with */
        opt.fit.standardise = true;
        opt.fit.row_normalise = fit->row_normalise;
    }
    if (m && m->suit && dataset && mode == GRAPHSS_MODE_PAPER)
        m->suit(&opt, dataset);
    return opt;
}

/* ---- checks ---- */

static graphss_status check_observation(graphss_ctx *ctx, const graphss_observation *o,
                                        const char *which)
{
    if (o->graph->n_nodes == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "the %s snapshot has no nodes", which);
    if (o->features->n_cols == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                              "the nodes of the %s snapshot have no features", which);
    if (o->features->n_rows != o->graph->n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                              "the %s snapshot has features of %zu nodes, a graph of %zu",
                              which, o->features->n_rows, o->graph->n_nodes);
    if (o->names && o->names->count && o->names->count != o->graph->n_nodes)
        return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                              "the %s snapshot has %zu node names for %zu nodes", which,
                              o->names->count, o->graph->n_nodes);
    return GRAPHSS_OK;
}

graphss_status graphss_i_check_shapes(graphss_ctx *ctx, const graphss_recover_input *in)
{
    graphss_status st = check_observation(ctx, &in->current, "current");
    if (!st && in->previous)
        st = check_observation(ctx, in->previous, "previous");
    if (st || !in->previous || in->previous->features->n_cols == in->current.features->n_cols)
        return st;
    return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                          "the previous snapshot has %zu features, the current one %zu",
                          in->previous->features->n_cols, in->current.features->n_cols);
}

static graphss_status check_parts(graphss_ctx *ctx, const graphss_observation *o,
                                  const char *which)
{
    const graphss_status st = graphss_i_check_snapshot(ctx, o->graph, o->features);
    return st ? graphss_i_fail_in(ctx, st, which) : st;
}

graphss_status graphss_i_check_input(graphss_ctx *ctx, const graphss_recover_input *in)
{
    if (GRAPHSS_I_LACKS(ctx, {"model", in->model},
                        {"graph of the current snapshot", in->current.graph},
                        {"features of the current snapshot", in->current.features}))
        return GRAPHSS_ERR_INVALID;
    if (in->previous &&
        GRAPHSS_I_LACKS(ctx, {"graph of the previous snapshot", in->previous->graph},
                        {"features of the previous snapshot", in->previous->features}))
        return GRAPHSS_ERR_INVALID;
    graphss_status st = graphss_i_check_shapes(ctx, in);
    if (!st && in->current.features->n_cols != graphss_model_features(in->model))
        st = graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                            "the current snapshot has %zu features, the model was trained "
                            "on %zu",
                            in->current.features->n_cols, graphss_model_features(in->model));
    if (!st)
        st = check_parts(ctx, &in->current, "the current snapshot");
    if (!st && in->previous)
        st = check_parts(ctx, in->previous, "the previous snapshot");
    if (!st && in->split)
        st = graphss_i_split_check(ctx, in->split, in->current.graph->n_nodes);
    return st;
}

static graphss_status check_list(graphss_ctx *ctx, const char *what, const int32_t *node,
                                 const int32_t *label, size_t n, size_t n_nodes, size_t k)
{
    if (n && !label)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "the split has no %s labels", what);
    for (size_t i = 0; i < n; i++) {
        if (node[i] < 0 || (size_t)node[i] >= n_nodes)
            return graphss_i_fail(ctx, GRAPHSS_ERR_SHAPE,
                                  "the split's %s node %zu is %d, the current snapshot has "
                                  "0..%zu: give the split of this snapshot",
                                  what, i, (int)node[i], n_nodes - 1);
        if (label[i] < 0 || (size_t)label[i] >= k)
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                                  "%s node %d has label %d, want 0..%zu", what, (int)node[i],
                                  (int)label[i], k - 1);
    }
    return GRAPHSS_OK;
}

static graphss_status check_split(graphss_ctx *ctx, const graphss_split *split, size_t n,
                                  size_t k, const graphss_i_defence *m, const char *which)
{
    if (split->n_train == 0)
        return graphss_i_fail(ctx, GRAPHSS_ERR_DATA, "no training node is in the %s snapshot",
                              which);
    graphss_status st =
        check_list(ctx, "training", split->train, split->train_label, split->n_train, n, k);
    if (!st)
        st = check_list(ctx, "validation", split->val, split->val_label, split->n_val, n, k);
    if (st || !m->learns)
        return st;
    for (size_t i = 1; i < split->n_train; i++)
        if (split->train_label[i] != split->train_label[0])
            return GRAPHSS_OK;
    return graphss_i_fail(
        ctx, GRAPHSS_ERR_DATA,
        "all %zu training labels are class %d: %s needs at least two classes", split->n_train,
        (int)split->train_label[0], m->name);
}

graphss_status graphss_i_check_split(graphss_ctx *ctx, const graphss_split *split, size_t n,
                                     size_t k)
{
    return check_split(ctx, split, n, k, &graphss_i_none_defence, "current");
}

static graphss_status choose_way(graphss_ctx *ctx, bool *retrain, const graphss_i_defence *m,
                                 const graphss_recover_input *in, int train)
{
    *retrain =
        train == GRAPHSS_RECOVER_RETRAIN || (train == GRAPHSS_RECOVER_AUTO && m->retrain);
    if (train != GRAPHSS_RECOVER_AUTO && !m->evasion && !m->retrain)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "--train %s has no meaning for %s: nothing is trained",
                              ways[train], m->name);
    if (*retrain && !m->retrain)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "--train retrain has no meaning for %s, which is %s", m->name,
                              m->evasion);
    if (train == GRAPHSS_RECOVER_EVASION && !m->evasion)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "--train evasion has no meaning for %s, which is %s", m->name,
                              m->retrain);
    if (!in->previous && m->needs_previous)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "%s needs the previous snapshot, none is given", m->name);
    if (!in->previous && m->evasion_previous && m->evasion && !*retrain)
        return graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                              "%s with --train evasion is trained on the previous snapshot, "
                              "none is given",
                              m->name);
    return GRAPHSS_OK;
}

static graphss_status check(graphss_ctx *ctx, const graphss_i_defence *m,
                            const graphss_recover_input *in)
{
    graphss_status st = graphss_i_check_shapes(ctx, in);
    if (!st && m->needs_links && graphss_graph_edges(in->current.graph) == 0)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                            "the current snapshot has no links, and %s works on links",
                            m->name);
    const graphss_i_model_type *type = in->model->type;
    if (!st && m->on_model && type->norm == GRAPHSS_I_NORM_NONE)
        st = graphss_i_fail(ctx, GRAPHSS_ERR_INVALID,
                            "%s has no meaning for %s, which does not look at links", m->name,
                            type->name);
    return st;
}

/* ---- running ---- */

static uint64_t peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* Memory of one run besides the result. */
typedef struct workspace {
    float *prob;             /* [n x k] */
    int32_t *own;            /* [n] the model's labels */
    int32_t *before;         /* [n] or NULL */
    int32_t *after;          /* [nodes of previous] or NULL */
    graphss_split own_split; /* the model's, where none is given */
    graphss_split previous_split;
} workspace;

static void workspace_destroy(graphss_ctx *ctx, workspace *w)
{
    graphss_release(ctx, w->prob);
    graphss_release(ctx, w->own);
    graphss_release(ctx, w->before);
    graphss_release(ctx, w->after);
    graphss_split_destroy(ctx, &w->own_split);
    graphss_split_destroy(ctx, &w->previous_split);
}

static graphss_status look_back(graphss_ctx *ctx, workspace *w, graphss_i_scene *scene,
                                const graphss_i_defence *m)
{
    graphss_status st =
        graphss_i_match_past(ctx, &w->before, &w->after, &scene->current, &scene->previous);
    if (!st)
        st = graphss_split_translate(ctx, &w->previous_split, scene->split, w->after,
                                     scene->previous.graph->n_nodes);
    if (st)
        return st;
    scene->before = w->before;
    scene->previous_split = &w->previous_split;
    return m->evasion_previous && !scene->retrain
               ? check_split(ctx, &w->previous_split, scene->previous.graph->n_nodes, scene->k,
                             m, "previous")
               : GRAPHSS_OK;
}

static graphss_status allocate(graphss_ctx *ctx, graphss_recovery *r, workspace *w,
                               const graphss_i_scene *scene)
{
    graphss_predictions *p = &r->predictions;
    const size_t n = scene->n, k = scene->k;
    p->n_nodes = n;
    p->n_classes = k;
    w->prob = graphss_i_alloc(ctx, n, k * sizeof *w->prob);
    w->own = graphss_i_alloc(ctx, n, sizeof *w->own);
    p->label = graphss_i_alloc(ctx, n, sizeof *p->label);
    p->posterior = graphss_i_alloc(ctx, n, k * sizeof *p->posterior);
    p->perturbed = graphss_i_alloc(ctx, n, sizeof *p->perturbed);
    if (!w->prob || !w->own || !p->label || !p->posterior || !p->perturbed)
        return GRAPHSS_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        p->perturbed[i] = NAN;
    const graphss_names *names = scene->current.names;
    const graphss_names *classes = graphss_model_class_names(scene->model);
    graphss_status st = GRAPHSS_OK;
    if (names && names->count)
        st = graphss_i_names_copy(ctx, &p->node_names, names);
    if (!st && classes->count)
        st = graphss_i_names_copy(ctx, &p->class_names, classes);
    return st;
}

/* Labels from posteriors, and the counts. */
static graphss_status conclude(graphss_ctx *ctx, graphss_recovery *r, const workspace *w,
                               const graphss_i_scene *scene, double abstain)
{
    graphss_predictions *p = &r->predictions;
    for (size_t i = 0; i < scene->n * scene->k; i++)
        if (!isfinite(p->posterior[i]))
            return graphss_i_fail(ctx, GRAPHSS_ERR_DATA,
                                  "%s: the posterior of node %zu is no number", r->method,
                                  i / scene->k);
    for (size_t i = 0; i < scene->n; i++) {
        const double *row = p->posterior + i * scene->k;
        const float *own = w->prob + i * scene->k;
        const size_t best = graphss_i_top_double(row, scene->k);
        double distance = 0;
        for (size_t c = 0; c < scene->k; c++)
            distance += fabs(row[c] - own[c]);
        p->label[i] = row[best] < abstain ? -1 : (int32_t)best;
        r->abstained += p->label[i] < 0;
        r->changed += p->label[i] >= 0 && p->label[i] != w->own[i];
        r->new_nodes += scene->before && scene->before[i] < 0;
        if (isnan(p->perturbed[i]))
            p->perturbed[i] = fmin(1, distance / 2);
    }
    return GRAPHSS_OK;
}

/* in: as the model sees it, and checked. */
static graphss_status run(graphss_ctx *ctx, graphss_recovery *out,
                          const graphss_recover_input *in, const graphss_recover_options *opt,
                          const graphss_i_defence *m, bool retrain, graphss_i_carry *carry)
{
    graphss_status st = GRAPHSS_OK;
    graphss_i_report report = {0};
    graphss_i_scene scene = {.current = in->current,
                             .model = in->model,
                             .seed = in->seed,
                             .report = &report,
                             .carry = carry,
                             .retrain = retrain};
    scene.n = in->current.graph->n_nodes;
    scene.k = graphss_model_classes(in->model);
    if (in->previous)
        scene.previous = *in->previous;
    workspace w = {0};
    scene.split = in->split ? in->split : &w.own_split;
    if (!in->split)
        st = graphss_match_split(ctx, &w.own_split, in->model, &in->current);
    if (!st)
        st = check_split(ctx, scene.split, scene.n, scene.k, m, "current");
    if (st) {
        workspace_destroy(ctx, &w);
        return st;
    }
    graphss_recovery r = {.method = m->name};
    r.train = !m->evasion && !m->retrain ? "none" : scene.retrain ? "retrain" : "evasion";
    r.how = !m->evasion && !m->retrain ? m->untrained
            : scene.retrain            ? m->retrain
                                       : m->evasion;
    st = allocate(ctx, &r, &w, &scene);
    if (!st && in->previous)
        st = look_back(ctx, &w, &scene, m);
    if (!st)
        st = graphss_i_predict(ctx, w.prob, in->model, scene.current.graph,
                               scene.current.features);
    if (!st) {
        graphss_argmax(w.own, w.prob, scene.n, scene.k);
        scene.prob = w.prob;
        st = m->network
                 ? graphss_i_network_run(ctx, r.predictions.posterior, m->network, &scene, opt,
                                         NULL, NULL, NULL)
                 : m->run(ctx, r.predictions.posterior, r.predictions.perturbed, &scene, opt);
    }
    if (!st)
        st = conclude(ctx, &r, &w, &scene, opt->abstain);
    workspace_destroy(ctx, &w);
    if (st) {
        graphss_recovery_destroy(ctx, &r);
        return st;
    }
    r.kind = report.kind;
    r.share = report.share;
    *out = r;
    return GRAPHSS_OK;
}

static graphss_status recover(graphss_ctx *ctx, graphss_recovery *out,
                              const graphss_recover_input *in,
                              const graphss_recover_options *given, graphss_i_carry *carry)
{
    const double start = graphss_i_seconds();
    const graphss_recover_options standard =
        graphss_recover_options_default("graphss", GRAPHSS_MODE_HONEST, in->model);
    const graphss_recover_options *opt = given ? given : &standard;
    const graphss_i_defence *m = in_mode(find(opt->method), opt->mode);
    graphss_i_measured seen = {0};
    bool retrain = false;
    if (!m)
        return graphss_i_no_such_name(ctx, "--method", opt->method ? opt->method : "",
                                      opt->method ? strlen(opt->method) : 0,
                                      graphss_recover_name);
    graphss_status st = graphss_options_check(ctx, opt, table);
    if (!st)
        st = choose_way(ctx, &retrain, m, in, opt->train);
    if (!st)
        st = check(ctx, m, in);
    if (!st)
        st = graphss_i_measured_open(ctx, &seen, in);
    if (!st)
        st = run(ctx, out, &seen.in, opt, m, retrain,
                 seen.in.model == in->model ? carry : NULL); /* else in units of its own */
    graphss_i_measured_close(ctx, &seen);
    if (!st) {
        out->seconds = graphss_i_seconds() - start;
        out->peak_memory = peak_memory();
    }
    return st;
}

graphss_status graphss_i_recover(graphss_ctx *ctx, graphss_recovery *out,
                                 const graphss_recover_input *in,
                                 const graphss_recover_options *opt)
{
    return recover(ctx, out, in, opt, NULL);
}

graphss_status graphss_i_recover_carried(graphss_ctx *ctx, graphss_recovery *out,
                                         const graphss_recover_input *in,
                                         const graphss_recover_options *opt,
                                         graphss_i_carry *carry)
{
    if (GRAPHSS_I_LACKS(ctx, {"input", in}, {"place for the recovery", out}))
        return GRAPHSS_ERR_INVALID;
    const graphss_status st = graphss_i_check_input(ctx, in);
    return st ? st : recover(ctx, out, in, opt, carry);
}

graphss_status graphss_recover(graphss_ctx *ctx, graphss_recovery *out,
                               const graphss_recover_input *in,
                               const graphss_recover_options *opt)
{
    return graphss_i_recover_carried(ctx, out, in, opt, NULL);
}

void graphss_recovery_destroy(graphss_ctx *ctx, graphss_recovery *recovery)
{
    if (!recovery)
        return;
    graphss_predictions_destroy(ctx, &recovery->predictions);
    *recovery = (graphss_recovery){0};
}
