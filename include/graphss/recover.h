/* graphss/recover.h - labels for a snapshot that may have been attacked.
 *
 *     graphss_recover_options opt;
 *     graphss_recover_options_init(&opt, graphss_recover_method_find("retrain"),
 *                                  GRAPHSS_MODE_DEFAULT, model);
 *     graphss_defence_input in = {.struct_size = sizeof in, .model = model, .seed = 1,
 *                                 .current = {&graph, &features, &names}};
 *     graphss_recover_result r = {0};
 *     graphss_recover_run(ctx, &r, &in, &opt);
 *     printf("node 0: %d, %.3f\n", (int)r.predictions.label[0], r.predictions.posterior[0]);
 *     graphss_recover_result_destroy(ctx, &r);
 *
 * A defence gets graphs, features and the labels of a split. The true label of a test node is
 * not among its arguments, so it cannot be used by mistake. docs/defences.md describes
 * the methods. */
#ifndef GRAPHSS_RECOVER_H
#define GRAPHSS_RECOVER_H

#include <graphss/flips.h>
#include <graphss/observation.h>
#include <graphss/predictions.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which classifier is applied to the current snapshot. */
typedef enum graphss_recover_train {
    GRAPHSS_RECOVER_AUTO,    /* retrain if the method can, else evasion */
    GRAPHSS_RECOVER_EVASION, /* one trained earlier, on the previous snapshot */
    GRAPHSS_RECOVER_RETRAIN  /* one trained on the current snapshot, with the training
                              * labels */
} graphss_recover_train;

/* Similarity of two feature rows. */
typedef enum graphss_similarity {
    GRAPHSS_SIMILARITY_AUTO,    /* JACCARD for binary features, else COSINE */
    GRAPHSS_SIMILARITY_JACCARD, /* shared columns over columns of either */
    GRAPHSS_SIMILARITY_COSINE,
    GRAPHSS_SIMILARITY_WEIGHTED /* sum of minima over sum of maxima */
} graphss_similarity;

enum { GRAPHSS_RECOVER_AUGMENTATIONS = 16 };

/* nrgnn: the network whose prediction is returned. */
typedef enum graphss_head {
    GRAPHSS_HEAD_CLASSIFIER, /* the one that also learns from predictions of the other */
    GRAPHSS_HEAD_MINER
} graphss_head;

/* A method of recovery. It is constant and belongs to the library. The methods of the core are
 * listed here, those of the literature in graphss_lab/baselines.h. */
typedef struct graphss_recover_method graphss_recover_method;

/* The i-th method of the core, "graphss" first; NULL past the last. */
GRAPHSS_API const graphss_recover_method *graphss_recover_method_at(size_t i);
/* The method of that name, or NULL. */
GRAPHSS_API const graphss_recover_method *graphss_recover_method_find(const char *name);
/* "graphss"; and one line for people, with the paper. NULL for NULL. */
GRAPHSS_API const char *graphss_recover_method_name(const graphss_recover_method *method);
GRAPHSS_API const char *graphss_recover_method_summary(const graphss_recover_method *method);

/* ---- options: what all methods share, and a struct for each method that has more ---- */

/* graphss in paper mode, as in the paper's Algorithm 1. */
typedef struct graphss_paper_options {
    int64_t sweeps;         /* inference epochs */
    int64_t warmup;         /* number of initial sweeps with the warm-up matrix; < sweeps */
    int64_t retrain_epochs; /* of each retraining; 0: never */
    double prior;           /* alpha, the Dirichlet parameter of every cell */
    bool dynamic_phi;       /* learn the transition matrix; else labels stay unchanged */
} graphss_paper_options;

/* label-propagation, appnp. */
typedef struct graphss_propagation_options {
    double alpha;  /* share of the edges in the similarity, [0, 1] */
    int64_t steps; /* rounds of spreading */
} graphss_propagation_options;

/* jaccard: edges between less similar nodes are removed. */
typedef struct graphss_jaccard_options {
    double threshold; /* [0, 1] */
    graphss_similarity similarity;
} graphss_jaccard_options;

/* gnnguard: the same. */
typedef struct graphss_gnnguard_options {
    double threshold; /* [0, 1] */
} graphss_gnnguard_options;

typedef struct graphss_svd_options {
    int64_t rank; /* singular values kept; 0: by validation */
} graphss_svd_options;

typedef struct graphss_rgcn_options {
    double gamma; /* how much a wide distribution counts less */
    double beta1; /* weight of the divergence from N(0, I) */
    double beta2; /* weight of the first layer's squared weights */
    bool sample;  /* also draw from the last layer when predicting */
} graphss_rgcn_options;

typedef struct graphss_prognn_options {
    double sparsity;    /* weight of |S|_1 of the learnt graph S, */
    double low_rank;    /* weight of its nuclear norm, */
    double smoothness;  /* of the difference of features along its edges, */
    double gamma;       /* of the labels in the loss of the edges */
    double graph_rate;  /* step size of the edges */
    int64_t neighbours; /* alike nodes that a node may be connected to besides, */
    int64_t near;       /* and nodes with common neighbours */
    int64_t rank;       /* singular values that are shrunk one by one */
} graphss_prognn_options;

typedef struct graphss_nrgnn_options {
    double threshold;     /* of new edges */
    int64_t neighbours;   /* alike nodes that a node may be connected to besides */
    int64_t negatives;    /* pairs without an edge to learn from, per node */
    int64_t edge_hidden;  /* width of the network that predicts edges */
    double confidence;    /* predictions at least this sure become labels, [0, 1] */
    double edge_weight;   /* weight of the prediction of edges in the loss, */
    double pseudo_weight; /* and of labels that were answers */
    double input_dropout; /* fraction of features dropped */
    graphss_head head;
} graphss_nrgnn_options;

typedef struct graphss_grand_options {
    int64_t steps;         /* rounds of spreading */
    double dropnode;       /* fraction of the nodes that do not spread, [0, 1) */
    double input_dropout;  /* fraction of features dropped */
    int64_t augmentations; /* random passes, 1 .. GRAPHSS_RECOVER_AUGMENTATIONS */
    double consistency;    /* weight of their agreement */
    double temperature;    /* of what they agree on */
} graphss_grand_options;

typedef struct graphss_advtrain_options {
    double adversaries; /* fraction of the training nodes attacked, [0, 1] */
} graphss_advtrain_options;

typedef struct graphss_recover_options {
    uint32_t struct_size; /* sizeof(graphss_recover_options) */
    const graphss_recover_method *method;
    graphss_mode mode;           /* PAPER: the paper's own procedure, for a method that has one
                                  * apart from ours (graphss). How a classifier is trained is
                                  * fit.mode */
    graphss_recover_train train; /* which classifier */
    double abstain;              /* label -1 if the largest posterior is smaller; 0: never */
    graphss_train_options fit;   /* how the method's classifier is trained */
    union {                      /* of the method, by its name */
        graphss_paper_options paper;
        graphss_propagation_options propagation;
        graphss_jaccard_options jaccard;
        graphss_gnnguard_options gnnguard;
        graphss_svd_options svd;
        graphss_rgcn_options rgcn;
        graphss_prognn_options prognn;
        graphss_nrgnn_options nrgnn;
        graphss_grand_options grand;
        graphss_advtrain_options advtrain;
        uint64_t reserved[16]; /* so that a method may get more options */
    };
    /* Nodes of current that were surely not tampered with: `perturbed` is 0, and they are read
     * as untouched nodes. For methods that estimate chances (graphss_recover_method_finds). */
    const int32_t *trusted; /* [n_trusted] */
    size_t n_trusted;
} graphss_recover_options;

/* The options that a method uses in that mode, by name: those above that it shares, its own,
 * and those of training where it trains. NULL for NULL. */
GRAPHSS_API const graphss_option *graphss_recover_method_options(
    const graphss_recover_method *method, graphss_mode mode);
/* Whether an option of that name is among them. */
GRAPHSS_API bool graphss_recover_method_uses(
    const graphss_recover_method *method, graphss_mode mode, const char *option);
/* Whether its `perturbed` is a probability, from which graphss_recover_flips makes a list. */
GRAPHSS_API bool graphss_recover_method_finds(
    const graphss_recover_method *method, graphss_mode mode);

/* The preset of a method. Default mode starts from the options the model was trained with
 * (NULL: those of gcn), paper mode from the paper's appendix. method NULL, as for a name that
 * does not exist, gives options that graphss_recover_run refuses. */
GRAPHSS_API void graphss_recover_options_init(graphss_recover_options *opt,
    const graphss_recover_method *method, graphss_mode mode, const graphss_model *model);

typedef struct graphss_recover_result {
    /* label, posterior, perturbed, node_names. A method that does not estimate perturbations
     * gives the total variation distance between its posterior and the model's probabilities
     * (half the sum of absolute differences): a score in [0, 1], not a probability. */
    graphss_predictions predictions;
    const char *method;        /* constant text */
    const char *train;         /* "evasion", "retrain" or "none": nothing is trained */
    const char *how;           /* constant text: which model was trained on which snapshot */
    graphss_perturbation kind; /* the most likely attack */
    double share;              /* estimated fraction of the nodes without a label, trusted
                                * ones aside, that are perturbed */
    size_t changed;            /* labels that differ from the model's own on current */
    size_t abstained;          /* labels that are -1 */
    size_t new_nodes;          /* nodes of current that previous lacks; 0 without previous */
    double seconds;
    uint64_t peak_memory;         /* bytes, of the process so far */
    int32_t *model_label;         /* [n_nodes] the model's own labels of current */
    float *foreign;               /* poisoned: as in graphss_poisoned_result; else NULL */
    uint32_t distrusted, doubted; /* poisoned: links, training labels; else 0 */
    uint64_t reserved[1];         /* 0 */
} graphss_recover_result;

/* Labels in->current. opt NULL: the default preset of "graphss". Progress stages, some of them
 * more than once: "train" where something is trained; "simulate", in it "attack", and "infer"
 * (graphss; before them "look" and "rehearse" of alert.h where labels are few or there is a
 * past), "spread" (label-propagation), "factorise" (svd), "compare", "factorise" and "adapt"
 * (prognn), "distrust" (poisoned), "labelled neighbours" and "unlabelled neighbours" (nrgnn),
 * "attack" (advtrain). Errors: INVALID (an unsound graph or features, an option, a method that
 * does not exist, a way of training or trusted nodes that have no meaning for it, a trusted
 * node that is not there, no previous where it is needed), SHAPE (snapshots, model and split
 * disagree), DATA (no features; no edges or only one class among the training labels where the
 * method needs more; an answer that is not finite, since a training diverged), LIMIT, NOMEM,
 * CANCELLED. out is written only on success. The result does not depend on the number of
 * threads. */
GRAPHSS_MUST_CHECK graphss_status graphss_recover_run(graphss_ctx *ctx,
    graphss_recover_result *out, const graphss_defence_input *in,
    const graphss_recover_options *opt);
GRAPHSS_API void graphss_recover_result_destroy(
    graphss_ctx *ctx, graphss_recover_result *recovery);

/* ---- a snapshot that was attacked before training ---- */

/* A plain value; the arrays belong to it. docs/recovery.md has the model. */
typedef struct graphss_poisoned_result {
    float *foreign;        /* [graph->offset[n_nodes]] of each stored edge: the chance that it
                            * does not belong there */
    float *doubt;          /* [split->n_train] chance that the training label is wrong */
    double *posterior;     /* [n_nodes x n_classes] */
    double share;          /* estimated fraction of the edges that are foreign: of a clean
                            * graph about as many as join unlike nodes by chance */
    size_t distrusted;     /* edges that are more likely foreign than not, */
    size_t doubted;        /* and training labels more likely wrong, but for the last of a
                            * class */
    graphss_graph trusted; /* the graph without these edges */
    graphss_split split;   /* the split without these training nodes */
    uint64_t reserved[4];  /* 0 */
} graphss_poisoned_result;

/* Finds what not to trust of a snapshot on which a classifier is to be trained:
 *
 *     graphss_poisoned_run(ctx, &found, &in, NULL);
 *     in.graph = &found.trusted, in.split = &found.split;
 *     graphss_model_train(ctx, &model, NULL, &in, NULL);
 *
 * Edges that were added are found, not those that were cut. opt NULL: as of
 * graphss_model_train. Progress stages: "train" and "distrust". Errors: those of
 * graphss_model_train; INVALID (a classifier that does not look at edges). */
GRAPHSS_MUST_CHECK graphss_status graphss_poisoned_run(graphss_ctx *ctx,
    graphss_poisoned_result *out, const graphss_train_input *in,
    const graphss_train_options *opt);
/* The distrusted edges as a list of changes; foreign as above. dataset and hash are left
 * empty.
 */
GRAPHSS_MUST_CHECK graphss_status graphss_poisoned_flips(
    graphss_ctx *ctx, graphss_flips *out, const graphss_graph *graph, const float *foreign);
GRAPHSS_API void graphss_poisoned_result_destroy(
    graphss_ctx *ctx, graphss_poisoned_result *result);

/* Changes to current that would undo the perturbation, at nodes whose `perturbed` is at least
 * `least` (0.5 is a good value after "graphss"). If previous has the node and its neighbour,
 * these are all its changes. Of a recovery by "poisoned" they are the distrusted edges.
 * Otherwise they are a guess: edges to nodes of other classes that
 * share no neighbour, and features that push hardest away from the recovered class; no edges
 * if found->kind is FEATURES, no features if it is EDGES. in is that of the recovery.
 * dataset and hash of the list are left empty. SHAPE: found belongs to other data. */
GRAPHSS_MUST_CHECK graphss_status graphss_recover_flips(graphss_ctx *ctx, graphss_flips *out,
    const graphss_defence_input *in, const graphss_recover_result *found, double least);

#ifdef __cplusplus
}
#endif
#endif
