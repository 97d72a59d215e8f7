/* option_rows.h - the rows of recover's options. A method lists those it uses, by the struct
 * in graphss_recover_options that holds them:
 *
 *     static const graphss_option options[] = {
 *         GRAPHSS_I_COMMON_ROWS, GRAPHSS_I_ROW_THRESHOLD(jaccard), GRAPHSS_I_FIT_ROWS, {0}};
 *
 * So range and help of an option that several methods have are written once. */
#ifndef GRAPHSS_OPTION_ROWS_H
#define GRAPHSS_OPTION_ROWS_H

#include "models/model_type.h"
#include <graphss/recover.h>

extern const char *const graphss_i_train_names[];
extern const char *const graphss_i_similarity_names[];
extern const char *const graphss_i_head_names[];

#define GRAPHSS_I_ROW(name, type, field, ...) \
    { \
        name, GRAPHSS_OPTION_##type, offsetof(graphss_recover_options, field), __VA_ARGS__ \
    }

/* Options of every method. */
#define GRAPHSS_I_COMMON_ROWS \
    GRAPHSS_I_ROW("mode", CHOICE, mode, 0, 0, graphss_i_mode_names, "MODE", \
        "preset: honest (tuned) or paper (its appendix)", 0), \
        GRAPHSS_I_ROW("train", CHOICE, train, 0, 0, graphss_i_train_names, "WAY", \
            "use the trained model, or train again on the snapshot", 0), \
        GRAPHSS_I_ROW("abstain", REAL, abstain, 0, 1, NULL, "P", \
            "give no label (-1) where the largest posterior is below P", 0)

#define GRAPHSS_I_ROW_ALPHA(own) \
    GRAPHSS_I_ROW("alpha", REAL, own.alpha, 0, 1, NULL, "SHARE", "weight of the neighbours", 0)
#define GRAPHSS_I_ROW_STEPS(own) \
    GRAPHSS_I_ROW("steps", INT, own.steps, 0, 1e3, NULL, "N", "number of propagation steps", 0)
#define GRAPHSS_I_ROW_THRESHOLD(own) \
    GRAPHSS_I_ROW("threshold", REAL, own.threshold, 0, 1, NULL, "X", \
        "jaccard, gnnguard: remove links between less similar nodes; nrgnn: " \
        "threshold for new links", \
        0)
#define GRAPHSS_I_ROW_SIMILARITY(own) \
    GRAPHSS_I_ROW("similarity", CHOICE, own.similarity, 0, 0, graphss_i_similarity_names, \
        "KIND", \
        "jaccard: of the features of two nodes; auto: jaccard if binary, else " \
        "cosine", \
        0)
#define GRAPHSS_I_ROW_RANK(own) \
    GRAPHSS_I_ROW("rank", INT, own.rank, 0, 4096, NULL, "N", \
        "svd: number of singular values to keep; 0: 5 to 200, by validation " \
        "labels. prognn: number of singular values that are shrunk one by one", \
        0)
#define GRAPHSS_I_ROW_GAMMA(own) \
    GRAPHSS_I_ROW("gamma", REAL, own.gamma, 0, 1e3, NULL, "X", \
        "rgcn: how much less a wide distribution counts. prognn: weight of the " \
        "labels in the loss of the links", \
        0)
#define GRAPHSS_I_ROWS_RGCN(own) \
    GRAPHSS_I_ROW("beta1", REAL, own.beta1, 0, 1e3, NULL, "X", \
        "rgcn: weight of the divergence from the standard normal", 0), \
        GRAPHSS_I_ROW("beta2", REAL, own.beta2, 0, 1e3, NULL, "X", \
            "rgcn: weight of the squares of the first layer's weights", 0), \
        GRAPHSS_I_ROW("sample", BOOL, own.sample, 0, 1, NULL, "yes|no", \
            "rgcn: also draw from the distributions when predicting", 0)
#define GRAPHSS_I_ROWS_PAPER(own) \
    GRAPHSS_I_ROW("sweeps", INT, own.sweeps, 1, 1e6, NULL, "N", \
        "graphss, paper mode: inference epochs", 0), \
        GRAPHSS_I_ROW("warmup", INT, own.warmup, 0, 1e6, NULL, "N", \
            "graphss, paper mode: number of initial epochs with the warm-up " \
            "matrix", \
            0), \
        GRAPHSS_I_ROW("retrain-epochs", INT, own.retrain_epochs, 0, 1e6, NULL, "N", \
            "graphss, paper mode: epochs of each retraining; 0: never retrain", 0), \
        GRAPHSS_I_ROW("prior", REAL, own.prior, 0, 1e9, NULL, "X", \
            "graphss, paper mode: alpha, the Dirichlet parameter", 0), \
        GRAPHSS_I_ROW("dynamic-phi", BOOL, own.dynamic_phi, 0, 1, NULL, "yes|no", \
            "graphss, paper mode: learn the transition matrix", 0)
#define GRAPHSS_I_ROWS_PROGNN(own) \
    GRAPHSS_I_ROW("sparsity", REAL, own.sparsity, 0, 1e3, NULL, "X", \
        "prognn: weight of the sum of the links' weights", 0), \
        GRAPHSS_I_ROW("low-rank", REAL, own.low_rank, 0, 1e3, NULL, "X", \
            "prognn: weight of the nuclear norm of the links", 0), \
        GRAPHSS_I_ROW("smoothness", REAL, own.smoothness, 0, 1e3, NULL, "X", \
            "prognn: weight of how much features differ along the links", 0), \
        GRAPHSS_I_ROW("graph-rate", REAL, own.graph_rate, 0, 1e3, NULL, "X", \
            "prognn: step size of the links", 0)
#define GRAPHSS_I_ROW_NEIGHBOURS(own) \
    GRAPHSS_I_ROW("neighbours", INT, own.neighbours, 0, 1e4, NULL, "N", \
        "prognn, nrgnn: most similar nodes that a node may also be linked to; " \
        "nrgnn: 0 is all that have a label", \
        0)
#define GRAPHSS_I_ROWS_NRGNN(own) \
    GRAPHSS_I_ROW("negatives", INT, own.negatives, 0, 1e4, NULL, "N", \
        "nrgnn: negative pairs per node for learning links", 0), \
        GRAPHSS_I_ROW("edge-hidden", INT, own.edge_hidden, 1, 4096, NULL, "N", \
            "nrgnn: width of the network that predicts links", 0), \
        GRAPHSS_I_ROW("confidence", REAL, own.confidence, 0, 1, NULL, "P", \
            "nrgnn: predictions with a probability above P become labels", 0), \
        GRAPHSS_I_ROW("link-weight", REAL, own.edge_weight, 0, 1e3, NULL, "X", \
            "nrgnn: weight of the prediction of links in the loss", 0), \
        GRAPHSS_I_ROW("pseudo-weight", REAL, own.pseudo_weight, 0, 1e3, NULL, "X", \
            "nrgnn: weight of the pseudo labels", 0), \
        GRAPHSS_I_ROW("head", CHOICE, own.head, 0, 0, graphss_i_head_names, "NAME", \
            "nrgnn: which prediction to return: the classifier's, or that of the " \
            "pseudo-label miner", \
            0)
#define GRAPHSS_I_ROW_DROPNODE(own) \
    GRAPHSS_I_ROW("dropnode", REAL, own.dropnode, 0, 0.99, NULL, "SHARE", \
        "grand: fraction of the nodes dropped in a pass", 0)
#define GRAPHSS_I_ROW_INPUT_DROPOUT(own) \
    GRAPHSS_I_ROW("input-dropout", REAL, own.input_dropout, 0, 0.99, NULL, "SHARE", \
        "share of features dropped (--dropout: of hidden units)", 0)
#define GRAPHSS_I_ROWS_GRAND(own) \
    GRAPHSS_I_ROW("augmentations", INT, own.augmentations, 1, GRAPHSS_RECOVER_AUGMENTATIONS, \
        NULL, "N", "grand: random passes that must agree", 0), \
        GRAPHSS_I_ROW("consistency", REAL, own.consistency, 0, 1e3, NULL, "X", \
            "grand: weight of that agreement in the loss", 0), \
        GRAPHSS_I_ROW("temperature", REAL, own.temperature, 1e-2, 1e2, NULL, "X", \
            "grand: temperature of the target of the agreement; below 1 it is " \
            "sharpened", \
            0)
#define GRAPHSS_I_ROW_NEAR(own) \
    GRAPHSS_I_ROW("near", INT, own.near, 0, 1000, NULL, "N", \
        "prognn: nodes with common neighbours that a node may be linked to", 0)
#define GRAPHSS_I_ROW_ADVERSARIES(own) \
    GRAPHSS_I_ROW("adversaries", REAL, own.adversaries, 0, 1, NULL, "SHARE", \
        "advtrain: share of the training nodes that are attacked", 0)

/* How a classifier is trained, for the methods that train one. */
#define GRAPHSS_I_FIT_ROWS \
    GRAPHSS_I_ROW("layers", INT, fit.layers, 1, 30, NULL, "N", "training: weight layers", 0), \
        GRAPHSS_I_ROW("hidden", INT, fit.hidden, 1, 65536, NULL, "N", \
            "training: width of the hidden layers", 0), \
        GRAPHSS_I_ROW("dropout", REAL, fit.dropout, 0, 0.99, NULL, "SHARE", \
            "training: share of inputs and hidden units dropped", 0), \
        GRAPHSS_I_ROW("weight-decay", REAL, fit.weight_decay, 0, 1e3, NULL, "X", \
            "training: L2 penalty on the first layer's weights", 0), \
        GRAPHSS_I_ROW("learning-rate", REAL, fit.learning_rate, 1e-12, 1e3, NULL, "X", \
            "training: step size of Adam", 0), \
        GRAPHSS_I_ROW("epochs", INT, fit.epochs, 1, 1e7, NULL, "N", \
            "training: maximum number of epochs", 0), \
        GRAPHSS_I_ROW("patience", INT, fit.patience, 0, 1e7, NULL, "N", \
            "training: stop after N + 1 epochs without a better one; 0: never", 0), \
        GRAPHSS_I_ROW("row-normalise", BOOL, fit.row_normalise, 0, 1, NULL, "yes|no", \
            "training: divide each feature row by the sum of its absolute values", 0), \
        GRAPHSS_I_ROW("standardise", BOOL, fit.standardise, 0, 1, NULL, "yes|no", \
            "training: give each feature mean 0 and spread 1", 0, true), \
        GRAPHSS_I_ROW("unit-scale", BOOL, fit.unit_scale, 0, 1, NULL, "yes|no", \
            "training: scale features so that rows have length one on average", 0)

#endif
