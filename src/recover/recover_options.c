/* recover_options.c - the options of all defences in one table: who reads which, and what each
 * begins with. */
#include "models/model_type.h"
#include "recover/defence.h"
#include <string.h>

#define FIELD(f) offsetof(graphss_recover_options, f)
static const char *const ways[] = {"auto", "evasion", "retrain", NULL};
static const char *const heads[] = {"classifier", "miner", NULL};
static const char *const similarities[] = {"auto", "jaccard", "cosine", "weighted", NULL};

/* The first COMMON rows mean something to every method. */
enum { COMMON = 3 };
static const graphss_option table[] = {
    {"mode", GRAPHSS_OPTION_CHOICE, FIELD(mode), 0, 0, graphss_i_mode_names, "MODE",
     "preset: honest (tuned) or paper (its appendix)", 0},
    {"train", GRAPHSS_OPTION_CHOICE, FIELD(train), 0, 0, ways, "WAY",
     "use what was trained before, or train again on the snapshot", 0},
    {"abstain", GRAPHSS_OPTION_REAL, FIELD(abstain), 0, 1, NULL, "P",
     "give no label (-1) where the largest posterior is below P", 0},
    {"alpha", GRAPHSS_OPTION_REAL, FIELD(alpha), 0, 1, NULL, "SHARE",
     "weight of the neighbours", 0},
    {"steps", GRAPHSS_OPTION_INT, FIELD(steps), 0, 1e3, NULL, "N",
     "number of propagation steps", 0},
    {"threshold", GRAPHSS_OPTION_REAL, FIELD(threshold), 0, 1, NULL, "X",
     "jaccard, gnnguard: remove links between less similar nodes; nrgnn: threshold for new "
     "links",
     0},
    {"similarity", GRAPHSS_OPTION_CHOICE, FIELD(similarity), 0, 0, similarities, "KIND",
     "jaccard: of the features of two nodes; auto: jaccard if binary, else cosine", 0},
    {"rank", GRAPHSS_OPTION_INT, FIELD(rank), 0, 4096, NULL, "N",
     "svd: number of singular values to keep; 0: 5 to 200, by validation labels. prognn: "
     "number of singular values that are shrunk one by one",
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
     "rgcn: also draw from the distributions when predicting", 0},
    {"sweeps", GRAPHSS_OPTION_INT, FIELD(sweeps), 1, 1e6, NULL, "N",
     "graphss, paper mode: inference epochs", 0},
    {"warmup", GRAPHSS_OPTION_INT, FIELD(warmup), 0, 1e6, NULL, "N",
     "graphss, paper mode: number of initial epochs with the warm-up matrix", 0},
    {"retrain-epochs", GRAPHSS_OPTION_INT, FIELD(retrain_epochs), 0, 1e6, NULL, "N",
     "graphss, paper mode: epochs of each retraining; 0: never retrain", 0},
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
     "nrgnn: negative pairs per node for learning links", 0},
    {"edge-hidden", GRAPHSS_OPTION_INT, FIELD(edge_hidden), 1, 4096, NULL, "N",
     "nrgnn: width of the network that predicts links", 0},
    {"confidence", GRAPHSS_OPTION_REAL, FIELD(confidence), 0, 1, NULL, "P",
     "nrgnn: predictions with a probability above P become labels", 0},
    {"link-weight", GRAPHSS_OPTION_REAL, FIELD(edge_weight), 0, 1e3, NULL, "X",
     "nrgnn: weight of the prediction of links in the loss", 0},
    {"pseudo-weight", GRAPHSS_OPTION_REAL, FIELD(pseudo_weight), 0, 1e3, NULL, "X",
     "nrgnn: weight of the pseudo labels", 0},
    {"head", GRAPHSS_OPTION_CHOICE, FIELD(head), 0, 0, heads, "NAME",
     "nrgnn: which prediction to return: the classifier's, or that of the pseudo-label "
     "miner",
     0},
    {"dropnode", GRAPHSS_OPTION_REAL, FIELD(dropnode), 0, 0.99, NULL, "SHARE",
     "grand: fraction of the nodes dropped in a pass", 0},
    {"input-dropout", GRAPHSS_OPTION_REAL, FIELD(input_dropout), 0, 0.99, NULL, "SHARE",
     "share of features dropped (--dropout: of hidden units)", 0},
    {"augmentations", GRAPHSS_OPTION_INT, FIELD(augmentations), 1,
     GRAPHSS_RECOVER_AUGMENTATIONS, NULL, "N", "grand: random passes that must agree", 0},
    {"consistency", GRAPHSS_OPTION_REAL, FIELD(consistency), 0, 1e3, NULL, "X",
     "grand: weight of that agreement in the loss", 0},
    {"temperature", GRAPHSS_OPTION_REAL, FIELD(temperature), 1e-2, 1e2, NULL, "X",
     "grand: temperature of the target of the agreement; below 1 it is sharpened", 0},
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
     "training: maximum number of epochs", 0},
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

bool graphss_recover_method_uses(const graphss_recover_method *method, graphss_mode mode,
                                 const char *option)
{
    const graphss_i_defence *m = graphss_i_defence_in(method, mode);
    const graphss_option *row = graphss_option_find(table, option);
    return m && row && reads(m, row);
}

bool graphss_recover_method_finds(const graphss_recover_method *method, graphss_mode mode)
{
    const graphss_i_defence *m = graphss_i_defence_in(method, mode);
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

void graphss_recover_options_init(graphss_recover_options *opt,
                                  const graphss_recover_method *method, graphss_mode mode,
                                  const graphss_model *model)
{
    graphss_train_options gcn;
    graphss_train_options_init(&gcn, "gcn", mode, NULL);
    *opt = graphss_i_recover_preset(method, mode, model ? graphss_model_options(model) : &gcn,
                                    model ? graphss_model_dataset_name(model) : NULL);
}

graphss_recover_options graphss_i_recover_preset(const graphss_recover_method *method,
                                                 graphss_mode mode,
                                                 const graphss_train_options *fit,
                                                 const char *dataset)
{
    const graphss_i_defence *m = graphss_i_defence_in(method, mode);
    graphss_recover_options opt = {.struct_size = sizeof opt,
                                   .method = method,
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
