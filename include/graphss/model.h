/* graphss/model.h - node classifiers: train, predict, save, load.
 *
 *     graphss_train_options opt;
 *     graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, &data.features);
 *     graphss_train_input in = {.struct_size = sizeof in, .graph = &data.graph,
 *                               .features = &data.features, .n_classes = data.n_classes,
 *                               .split = &split, .seed = 1};
 *     graphss_model *model = NULL;
 *     graphss_model_train(ctx, &model, NULL, &in, &opt);
 *     graphss_model_predict(ctx, prob, model, &data.graph, &data.features);
 *     graphss_model_free(ctx, model);
 *
 * Training sees the graph, the features and the labels of the split; never the truth. A call
 * that takes a const model does not change it: several contexts may use it at once. These
 * change it: graphss_model_set_dataset, _set_split, _set_predictor and graphss_alert_train. */
#ifndef GRAPHSS_MODEL_H
#define GRAPHSS_MODEL_H

#include <graphss/graph.h>
#include <graphss/options.h>
#include <graphss/split.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct graphss_model graphss_model;

typedef enum graphss_mode {
    GRAPHSS_MODE_DEFAULT, /* tuned defaults, the equations as printed */
    GRAPHSS_MODE_PAPER    /* hyper-parameters and quirks of the paper's public code */
} graphss_mode;
/* "default", "paper"; "?" for any other value. Options accept "honest" for "default", its
 * former name, which records and recipes still use. */
GRAPHSS_API const char *graphss_mode_text(graphss_mode mode);

typedef enum graphss_activation {
    GRAPHSS_ACTIVATION_RELU,
    GRAPHSS_ACTIVATION_ELU
} graphss_activation;

typedef struct graphss_train_options {
    uint32_t struct_size; /* sizeof(graphss_train_options) */
    const char *model;    /* a name of graphss_model_name() */
    graphss_mode mode;    /* PAPER: keeps weights and Adam as the paper's code
                           * does (graphss_model_train, _continue), SAGE starts larger */
    int64_t layers;       /* weight layers, >= 1 */
    int64_t hidden;       /* width of each hidden layer */
    int64_t hops;         /* SGC: powers of the propagation matrix, in each layer */
    double dropout;       /* share of inputs and hidden units dropped, [0, 1) */
    double weight_decay;  /* L2 on the weights of the first layer */
    double learning_rate; /* Adam's */
    int64_t epochs;       /* most epochs; 0: the weights as drawn */
    int64_t patience;     /* stop after patience + 1 epochs without improvement; 0: never */
    bool self_loops;      /* propagate over A + I rather than A */
    bool row_normalise;   /* divide each feature row by the sum of its absolute values first;
                           * graphss_features_normalise_rows divides by the plain sum */
    bool unit_scale;      /* then scale by one number, so that the mean squared row length is
                           * 1 */
    bool bias;
    bool standardise; /* give each column mean 0 and spread 1, before unit_scale */
    int64_t heads;    /* GAT: attention heads of a hidden layer, which share its width; 0: 1 */
    int64_t output_heads;          /* GAT: of the last layer, whose mean is taken; 0: 1 */
    graphss_activation activation; /* GAT: between layers */
} graphss_train_options;

/* "gcn", "sgc", "sage", "sage-mean", "gat", "mlp"; NULL past the end. */
GRAPHSS_API const char *graphss_model_name(size_t i);
/* One line for people about the i-th model. */
GRAPHSS_API const char *graphss_model_summary(size_t i);
/* Whether a model uses an option of the table; false for an unknown name. Unused options are
 * ignored. */
GRAPHSS_API bool graphss_model_uses(const char *model, const char *option);
/* The preset of a model for these features. Dense features are few and each is informative, so
 * fewer are dropped, and columns are standardised instead of rows (docs/method.md). features
 * NULL: words. For an unknown name the values of gcn with that name, which graphss_model_train
 * then refuses. */
GRAPHSS_API void graphss_train_options_init(graphss_train_options *opt, const char *model,
    graphss_mode mode, const graphss_features *features);
GRAPHSS_API const graphss_option *graphss_train_options_table(void);

/* The result of a training run. The arrays belong to it. */
typedef struct graphss_training {
    size_t epochs;     /* run */
    size_t best_epoch; /* the epoch whose weights were kept, from 0 */
    /* with the kept weights, against the split's labels */
    double train_accuracy, val_accuracy;
    double seconds;
    float *loss;          /* [epochs] mean cross-entropy over the training nodes */
    float *val_acc;       /* [epochs] */
    uint64_t reserved[4]; /* 0 */
} graphss_training;

GRAPHSS_API void graphss_training_destroy(graphss_ctx *ctx, graphss_training *training);

/* What a model is trained on. All borrowed. */
typedef struct graphss_train_input {
    uint32_t struct_size; /* sizeof(graphss_train_input) */
    const graphss_graph *graph;
    const graphss_features *features;
    size_t n_classes;
    const graphss_split *split; /* with the labels to learn from */
    uint64_t seed;              /* streams INIT and DROPOUT */
} graphss_train_input;

GRAPHSS_API void graphss_train_input_init(graphss_train_input *in);

/* The next training of this context writes its state to a file every `seconds`, and continues
 * from that file if it exists, with the same result as an uninterrupted run. of: text that
 * identifies the dataset, such as its hash. The caller removes the file. path NULL: no file.
 * The training fails with DATA if the file is damaged or of another dataset, split, seed or
 * options. The next recovery by graphss does the same with a folder that has a file for each
 * rank; `of` then identifies both snapshots. */
GRAPHSS_MUST_CHECK graphss_status graphss_ctx_checkpoint(
    graphss_ctx *ctx, const char *path, const char *of, double seconds);
/* Removes such a file, or folder. IO; a missing one is no error. */
GRAPHSS_MUST_CHECK graphss_status graphss_checkpoint_remove(
    graphss_ctx *ctx, const char *path);

/* Trains on one snapshot. Keeps the weights of the epoch with the best validation
 * accuracy (the lower validation loss where two are equal); in paper mode, as the paper's
 * code does, the first of the best and those one step later. The same seed gives the same
 * weights whatever the number of threads. log may be NULL. Progress stage: "train". opt NULL:
 * graphss_train_options_init(&opt, "gcn", GRAPHSS_MODE_DEFAULT, features). In default mode it
 * warns of dense features that are not standardised. Errors: INVALID (an option; an unsound
 * graph or features), SHAPE (features, graph and split disagree), DATA (no training node; a
 * NaN in the features, or numbers too large or too small to compute with), LIMIT (more weights
 * than the machine has memory for), NOMEM, CANCELLED. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_train(graphss_ctx *ctx, graphss_model **out,
    graphss_training *log, const graphss_train_input *in, const graphss_train_options *opt);

/* Trains further: a new model starts with the weights of `from` and is fitted to the labels of
 * the split on this snapshot for the given number of epochs, otherwise with from's options.
 * Adam starts fresh; in paper mode, if `from` was not loaded from a file, it continues where
 * it stopped. Keeps the best of these epochs; from's own weights are not among them.
 * in->n_classes may be 0. Errors: those of graphss_model_train; SHAPE (other features or
 * classes than `from` was trained on). */
GRAPHSS_MUST_CHECK graphss_status graphss_model_continue(graphss_ctx *ctx, graphss_model **out,
    graphss_training *log, const graphss_model *from, const graphss_train_input *in,
    int64_t epochs);

/* prob [n_nodes x n_classes], rows sum to 1; the caller's. Errors: INVALID (an unsound graph
 * or features), SHAPE (the features have other columns than the model was trained on), DATA
 * (no node, no features, or a NaN in them), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_predict(graphss_ctx *ctx, float *prob,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features);
/* label [n_nodes]: the most likely class of each node, the lowest index on ties. Use it when
 * probabilities are not needed. Errors as above. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_label(graphss_ctx *ctx, int32_t *label,
    const graphss_model *model, const graphss_graph *graph, const graphss_features *features);
GRAPHSS_API void graphss_model_free(graphss_ctx *ctx, graphss_model *model);

/* What the model stores; borrowed until it is freed. _classes, _features: how many; _split:
 * what it was trained on; _class_name: NULL if classes have no names; hash and name of the
 * data: "" before graphss_model_set_dataset. */
GRAPHSS_API const graphss_train_options *graphss_model_options(const graphss_model *model);
GRAPHSS_API size_t graphss_model_classes(const graphss_model *model);
GRAPHSS_API size_t graphss_model_features(const graphss_model *model);
GRAPHSS_API uint64_t graphss_model_seed(const graphss_model *model);
GRAPHSS_API const graphss_split *graphss_model_split(const graphss_model *model);
GRAPHSS_API const char *graphss_model_class_name(const graphss_model *model, size_t k);
/* The names of all classes; empty if they have none. Owned by the model. */
struct graphss_names;
GRAPHSS_API const struct graphss_names *graphss_model_class_names(const graphss_model *model);
/* What graphss_model_set_dataset stored: how many nodes (0: not called), their names and those
 * of the features; empty if they have none. Owned by the model. */
GRAPHSS_API size_t graphss_model_nodes(const graphss_model *model);
GRAPHSS_API const struct graphss_names *graphss_model_node_names(const graphss_model *model);
GRAPHSS_API const struct graphss_names *graphss_model_column_names(const graphss_model *model);
GRAPHSS_API const char *graphss_model_dataset_hash(const graphss_model *model);
GRAPHSS_API const char *graphss_model_dataset_name(const graphss_model *model);

/* hex [65]: SHA-256 of all that the answers of a model and of its detector follow from: two
 * models with the same answer alike. Of a predictor only the data it was described by count.
 */
GRAPHSS_API void graphss_model_fingerprint(char *hex, const graphss_model *model);

/* An array of weights: row-major, n_dims <= 3. */
typedef struct graphss_tensor {
    const char *name;
    size_t n_dims, shape[3];
    const float *value;
} graphss_tensor;

/* The i-th weight matrix ("0.weight"), borrowed until the model is freed. False past the last,
 * and *out is unchanged. */
GRAPHSS_API bool graphss_model_weight(
    graphss_tensor *out, const graphss_model *model, size_t i);

struct graphss_dataset;
/* Stores in the model what data it was trained on (names of nodes, features and classes, name
 * and hash of the data), so that later misuse is noticed. Copies them. SHAPE: the number of
 * features or classes differs from the model's; NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_set_dataset(
    graphss_ctx *ctx, graphss_model *model, const struct graphss_dataset *data);
/* Checks that the model fits the data. SHAPE names what differs (features, classes or their
 * names), with both values. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_fits(
    graphss_ctx *ctx, const graphss_model *model, const struct graphss_dataset *data);

/* What was changed to align a dataset with a model. */
typedef struct graphss_alignment {
    bool columns;            /* features had another order, or were different: */
    size_t unknown, missing; /* dropped, because the model does not know them; absent from the
                              * data */
    size_t filled;           /* empty cells that got the mean of the training data */
    bool classes;            /* classes had another order, or some were absent */
    size_t unknown_classes;  /* unknown to the model: their nodes have no label now */
    uint64_t reserved[4];    /* 0 */
} graphss_alignment;

/* Aligns a dataset with the model, in place: features and classes are matched by name if both
 * sides have names. Features the model does not know are dropped. Features the data lack are
 * 0, or the mean if columns are standardised, with a warning. Missing cells
 * (graphss_missing_cells) get the means of the data the model was trained on. If only one side
 * has class names, the other side's classes are called 0, 1, 2 ... if that matches all, and
 * are matched by position otherwise. The label of a node whose class the model does not know
 * becomes -1, with a warning. The labels of data->split follow, without such nodes. out may
 * be NULL. SHAPE: another number of features and no names, no feature in common, or a
 * duplicate name that is not as in the model; NOMEM. On errors the data are unchanged. */
GRAPHSS_MUST_CHECK graphss_status graphss_dataset_align(graphss_ctx *ctx,
    graphss_alignment *out, struct graphss_dataset *data, const graphss_model *model);

/* safetensors: an 8-byte length, a JSON header, the arrays. The split, its labels and names
 * go along. Writes the file completely or not at all. IO, NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_save(
    graphss_ctx *ctx, const graphss_model *model, const char *path);
/* DATA: not a model of ours, truncated, or of a later version, with the place; NOT_FOUND, IO,
 * NOMEM. The caller frees *out. */
GRAPHSS_MUST_CHECK graphss_status graphss_model_load(
    graphss_ctx *ctx, graphss_model **out, const char *path);

#ifdef __cplusplus
}
#endif
#endif
