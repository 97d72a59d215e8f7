/* graphss/observation.h - the input of alert and recover: snapshots without labels, a model
 * and the labels of its split.
 *
 *     graphss_defence_input in;
 *     graphss_defence_input_init(&in);
 *     in.current = graphss_dataset_observe(&now);
 *     in.model = model;
 *     in.seed = 1;
 *     graphss_observation then = graphss_dataset_observe(&before);
 *     in.previous = &then;
 *
 * Nodes of two snapshots, and of the model's split, are matched by name. */
#ifndef GRAPHSS_OBSERVATION_H
#define GRAPHSS_OBSERVATION_H

#include <graphss/dataset.h>
#include <graphss/model.h>
#include <graphss/split.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A snapshot without its labels. All borrowed. Features as the model numbers them: see
 * graphss_dataset_align. */
typedef struct graphss_observation {
    const graphss_graph *graph;
    const graphss_features *features;
    const graphss_names *names; /* of the nodes; NULL or empty: they are called 0, 1, 2 ... */
} graphss_observation;

/* A dataset as a defence may see it; borrows its parts. */
GRAPHSS_API graphss_observation graphss_dataset_observe(const graphss_dataset *data);

/* What an attacker changed at its victims. */
typedef enum graphss_perturbation {
    GRAPHSS_PERTURBATION_NOT_ESTIMATED, /* the method does not estimate it */
    GRAPHSS_PERTURBATION_NONE,
    GRAPHSS_PERTURBATION_EDGES,
    GRAPHSS_PERTURBATION_FEATURES,
    GRAPHSS_PERTURBATION_BOTH,
    GRAPHSS_PERTURBATION_COPIED /* edges and features of another node */
} graphss_perturbation;
/* "none", "links", "features", "links and features", "copied"; NULL for NOT_ESTIMATED, "?" for
 * any other value. */
GRAPHSS_API const char *graphss_perturbation_text(graphss_perturbation kind);

/* The input of a defence, alert or recover. All borrowed. */
typedef struct graphss_defence_input {
    uint32_t struct_size; /* sizeof(graphss_defence_input) */
    graphss_observation current;
    const graphss_observation *previous; /* nodes are matched by name; NULL: no history */
    const graphss_model *model;          /* trained before the current snapshot */
    /* in numbers of current; NULL: the model's own, matched by name (graphss_split_match) */
    const graphss_split *split;
    uint64_t seed; /* stream DEFENCE and the streams of training */
} graphss_defence_input;

GRAPHSS_API void graphss_defence_input_init(graphss_defence_input *in);

/* For each node of `to` the number of the node of `from` with the same name, or -1. Without
 * names a node is named by its number. The caller releases *match [to nodes]. */
GRAPHSS_MUST_CHECK graphss_status graphss_observation_match(graphss_ctx *ctx, int32_t **match,
    const graphss_observation *to, const graphss_observation *from);
/* The model's split in numbers of a snapshot, by name; nodes that are gone are left out. Where
 * one side has no names, its nodes are called 0, 1, 2 ... if that finds all of the smaller
 * side; else position counts, if there are as many nodes. For a model without
 * graphss_model_set_dataset the split is returned unchanged. DATA: no training node is left,
 * or names on one side only do not determine the match; SHAPE: an unchanged split has a node
 * that is not in the snapshot. */
GRAPHSS_MUST_CHECK graphss_status graphss_split_match(graphss_ctx *ctx, graphss_split *out,
    const graphss_model *model, const graphss_observation *current);
/* Translates a split from the numbers of `from` to those of `to`: match [n] is from
 * graphss_observation_match. Nodes that `to` lacks are left out. */
GRAPHSS_MUST_CHECK graphss_status graphss_split_translate(graphss_ctx *ctx, graphss_split *out,
    const graphss_split *split, const int32_t *match, size_t n);

#ifdef __cplusplus
}
#endif
#endif
