/* graphss/engine.h - several processes, ranks, that work on one dataset together.
 *
 *     graphss_engine engine = {.struct_size = sizeof engine};
 *     graphss_engine_open(ctx, &engine, "mpi");       // loads libgraphss_mpi.so
 *     graphss_ctx_join(ctx, &engine);
 *     graphss_part *part = NULL;
 *     graphss_dataset table = {0};
 *     graphss_train_input in;
 *     graphss_train_input_init(&in);
 *     graphss_part_open(ctx, &part, &table, "my.shards");
 *     graphss_part_train(ctx, &model, NULL, part, &in, NULL);
 *     graphss_part_close(ctx, part);
 *     graphss_ctx_join(ctx, NULL);
 *     engine.close(engine.user);
 *
 * Every rank runs the same calls in the same order, each with its own shard
 * (graphss/shards.h). A call of this header fails on all ranks or on none: the error is that
 * of the lowest rank that had one, and its text names the rank. docs/distributed.md says which
 * results do not depend on the number of ranks, and within what bounds. */
#ifndef GRAPHSS_ENGINE_H
#define GRAPHSS_ENGINE_H

#include <graphss/alert.h>
#include <graphss/recover.h>
#include <graphss/shards.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How ranks communicate: three operations, which all ranks call together. They return 0, or
 * another number if the connection is lost. */
typedef struct graphss_engine {
    uint32_t struct_size; /* sizeof(graphss_engine) */
    int32_t rank, ranks;  /* this process, from 0, and how many there are */
    int32_t neighbours;   /* ranks on this machine, this one among them */
    void *user;           /* handed to the operations */
    /* all [ranks x bytes]: own [bytes] of each rank */
    int (*gather)(void *user, void *all, const void *own, size_t bytes);
    /* Sends out_bytes[r] bytes to each rank r and takes in_bytes[r] from it; the pieces lie in
     * the order of the ranks. */
    int (*exchange)(void *user, void *in, const size_t *in_bytes, const void *out,
        const size_t *out_bytes);
    /* x [n] becomes the sum over the ranks, the same bits on all of them. */
    int (*sum)(void *user, float *x, size_t n);
    void (*close)(void *user); /* after the last operation */
} graphss_engine;

/* name: "mpi". INVALID: libgraphss_mpi.so is not there, or the ranks cannot be joined. The
 * caller closes it. */
GRAPHSS_MUST_CHECK graphss_status graphss_engine_open(
    graphss_ctx *ctx, graphss_engine *out, const char *name);
/* Makes the context one of the ranks; the engine is borrowed until NULL is given. */
GRAPHSS_MUST_CHECK graphss_status graphss_ctx_join(
    graphss_ctx *ctx, const graphss_engine *engine);
/* All ranks agree on a status: each passes its own, and all return the error of the lowest
 * rank that has one, or GRAPHSS_OK. text: of an error of the caller's; NULL:
 * graphss_ctx_error. A rank that fails outside these calls calls it, and the others get the
 * error in their next call. */
GRAPHSS_MUST_CHECK graphss_status graphss_engine_agree(
    graphss_ctx *ctx, graphss_status own, const char *text);

/* Shards of an edge list, or of a folder with nodes.csv and edges.csv, too large for one
 * memory: each rank reads a slice of the lines and writes its shard. They are those of
 * graphss_dataset_read and graphss_shards_write, with the same hash, where nodes stay in their
 * order; files must not be packed. summary may be NULL. Errors as for these, and DATA for what
 * needs the whole file: empty cells to be filled and columns of text. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_write(graphss_ctx *ctx,
    graphss_shards_summary *summary, const char *where, const char *folder,
    graphss_missing_rule missing);

/* The shard of this rank, and what it needs from the others. */
typedef struct graphss_part graphss_part;

/* Reads the shard of this rank. table gets what every rank holds: sizes, labels, names and
 * hash of the whole dataset, graph.n_nodes and features.n_cols, but no edges and no features;
 * it is destroyed by the caller. The context works on this part until it is closed. INVALID:
 * the numbers of ranks and shards differ, or no engine; DATA and others as
 * graphss_dataset_read. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_open(
    graphss_ctx *ctx, graphss_part **out, graphss_dataset *table, const char *folder);
GRAPHSS_API void graphss_part_close(graphss_ctx *ctx, graphss_part *part);

typedef struct graphss_part_sizes {
    size_t nodes, ghosts; /* of this rank; nodes of others that its rows refer to */
    size_t edges;         /* of the whole graph */
    size_t halo_bytes;    /* received by this rank since the part was opened */
    bool dense;           /* features are stored dense */
} graphss_part_sizes;
GRAPHSS_API graphss_part_sizes graphss_part_measure(const graphss_part *part);

/* As graphss_model_train, _set_dataset and _predict. in->graph and in->features are ignored:
 * those of the part count. in->split has numbers of the whole dataset and is the same on all
 * ranks, and so is the trained model. Only rank 0 gets a prediction: prob [n_nodes x classes]
 * of the whole dataset, NULL on the others. INVALID: a model that reads both ends of an edge
 * (gat), or a predictor. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_train(graphss_ctx *ctx, graphss_model **out,
    graphss_training *log, const graphss_part *part, const graphss_train_input *in,
    const graphss_train_options *opt);
GRAPHSS_MUST_CHECK graphss_status graphss_part_describe(graphss_ctx *ctx, graphss_model *model,
    const graphss_part *part, const graphss_dataset *table);
GRAPHSS_MUST_CHECK graphss_status graphss_part_predict(
    graphss_ctx *ctx, float *prob, const graphss_model *model, const graphss_part *part);
/* The most probable class of every node of the dataset, on all ranks: label [n_nodes]. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_label(
    graphss_ctx *ctx, int32_t *label, const graphss_model *model, const graphss_part *part);
/* The preset of a model for the features of this part: graphss_train_options_init. */
GRAPHSS_API void graphss_part_options_init(graphss_train_options *opt, const char *model,
    graphss_mode mode, const graphss_part *part);

/* The table's graph and features get the rows of some nodes [n], each once, on all ranks;
 * other rows are empty. Features are stored sparse then. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_rows(graphss_ctx *ctx, graphss_dataset *table,
    const graphss_part *part, const int32_t *node, size_t n);

/* ---- alert and recover ---- */

/* As graphss_alert_train, on the part the model was trained on. Rank 0 rehearses, on all nodes
 * or on a sample of 100 000, and all ranks get the result. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_rehearse(
    graphss_ctx *ctx, graphss_model *model, const graphss_part *part, uint64_t seed);

/* An earlier snapshot for a part: nodes are matched by name, and each is brought to the rank
 * that has it now. now_table is the table of the part; table and out as graphss_part_open
 * fills them. Only graphss_part_input may use it, and it is closed before the part. Errors: as
 * graphss_part_open, and DATA: no node is in both. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_open_past(graphss_ctx *ctx, graphss_part **out,
    graphss_dataset *table, const char *folder, const graphss_part *now,
    const graphss_dataset *now_table);

typedef struct graphss_part_input {
    uint32_t struct_size;         /* sizeof(graphss_part_input) */
    const graphss_part *current;  /* the part the context works on, */
    const graphss_dataset *table; /* and its table */
    const graphss_part *previous; /* of graphss_part_open_past, or NULL */
    const graphss_model *model;
    const graphss_split *split; /* in node numbers of the whole dataset */
    uint64_t seed;
} graphss_part_input;
GRAPHSS_API void graphss_part_input_init(graphss_part_input *in);

/* As graphss_alert_run and _score: the result is the same on all ranks. node [n] has numbers
 * of the whole dataset. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_alert(graphss_ctx *ctx,
    graphss_alert_result *out, const graphss_part_input *in, const int32_t *node, size_t n,
    const graphss_alert_options *opt);
GRAPHSS_MUST_CHECK graphss_status graphss_part_score(graphss_ctx *ctx,
    graphss_alert_scores *out, const graphss_part_input *in, const graphss_alert_options *opt);
/* As graphss_recover_run, of which rank 0 has the result; the others have none of its arrays.
 * INVALID: a method other than graphss, none and label-propagation, or paper mode. */
GRAPHSS_MUST_CHECK graphss_status graphss_part_recover(graphss_ctx *ctx,
    graphss_recover_result *out, const graphss_part_input *in,
    const graphss_recover_options *opt);

#ifdef __cplusplus
}
#endif
#endif
