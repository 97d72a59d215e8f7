/* graphss/flips.h - a list of changes to a dataset: edges added or removed, features changed.
 *
 *     graphss_flips flips = {0};
 *     graphss_flips_read(ctx, &flips, "cora.flips", &data);
 *     graphss_flips_apply(ctx, &attacked, &data, &flips, NULL);
 *     graphss_flips_destroy(ctx, &flips);
 *
 * As a file it is text. Lines "# key: value" say where it comes from; then one change a
 * line, in the order they were chosen, with tabs between
 *
 *     victim  kind  node  target  old  new
 *
 * kind is "link" or "feature"; nodes are named as in the dataset (by name, else by number);
 * the target of a feature is its column number (a column's name is read too). Numbers read
 * back as exactly the value that was written. In a name a backslash precedes tab, newline,
 * carriage return, backslash and a leading # (\t \n \r \\ \#). */
#ifndef GRAPHSS_FLIPS_H
#define GRAPHSS_FLIPS_H

#include <graphss/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum graphss_flip_kind { GRAPHSS_FLIP_EDGE, GRAPHSS_FLIP_FEATURE } graphss_flip_kind;

typedef struct graphss_flip {
    int32_t victim; /* the node the change was made for */
    graphss_flip_kind kind;
    int32_t node;
    int32_t target;             /* EDGE: the other node; FEATURE: the column */
    float old_value, new_value; /* EDGE: 0 and 1, or 1 and 0 */
    uint32_t line;              /* in the file it was read from; 0 if it was made here */
} graphss_flip;

/* A plain value: {0} is empty. The texts may be empty; they end in NUL and hold no newline. */
typedef struct graphss_flips {
    size_t count, room;
    graphss_flip *item;   /* [count] */
    char dataset[64];     /* name of the data, for people */
    char hash[65];        /* dataset.hash of the data before the changes */
    char model[128];      /* the attacked nodes */
    char method[32];      /* "nettack" */
    char mode[32];        /* "evasion" or "poisoning" */
    char budget[128];     /* "2 links then 20 features per victim, cumulative" */
    char victims[256];    /* the rule that chose them */
    char seed[24];        /* a number, as text */
    char version[32];     /* of the library that chose them; filled by the writer if empty */
    bool normalised_rows; /* old and new values are of rows divided by their sums (paper
                           * mode): apply divides them first */
    uint64_t reserved[4]; /* 0 */
} graphss_flips;

GRAPHSS_API void graphss_flips_destroy(graphss_ctx *ctx, graphss_flips *flips);
/* Appends a change without checking it. */
GRAPHSS_MUST_CHECK graphss_status graphss_flips_add(
    graphss_ctx *ctx, graphss_flips *flips, graphss_flip flip);
/* Number of changes of one kind. */
GRAPHSS_API size_t graphss_flips_count(const graphss_flips *flips, graphss_flip_kind kind);

/* The victims, each once, in order of first occurrence. The caller releases *victims; NULL and
 * 0 for an empty list. INVALID (a victim below 0), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_flips_victims(
    graphss_ctx *ctx, int32_t **victims, size_t *n, const graphss_flips *flips);

/* Errors: DATA with file, line, what was found and what was wanted (an unknown node or column,
 * an unknown kind, a malformed number, a node connected to itself), NOT_FOUND, IO, NOMEM.
 * graphss_flips_apply checks whether the changes fit the data. */
GRAPHSS_MUST_CHECK graphss_status graphss_flips_read(
    graphss_ctx *ctx, graphss_flips *out, const char *path, const graphss_dataset *data);
/* Writes the file completely or not at all. SHAPE: a node or column that the data lacks. */
GRAPHSS_MUST_CHECK graphss_status graphss_flips_write(graphss_ctx *ctx,
    const graphss_flips *flips, const char *path, const graphss_dataset *data);

typedef struct graphss_apply_options {
    uint32_t struct_size; /* sizeof(graphss_apply_options) */
    bool undo;            /* undo the changes, last one first */
    bool force;           /* accept data with another hash; every change must still fit */
    bool one_only;        /* only the changes made for the node `victim` */
    int32_t victim;
} graphss_apply_options;

GRAPHSS_API void graphss_apply_options_init(graphss_apply_options *opt);

/* A copy of data with the changes made, and its hash and feature kind recomputed. Undoing what
 * was applied gives the same dataset back, so the same bytes when written (but for
 * normalised_rows, whose rows stay divided). opt NULL: apply, all, not forced. DATA, with the
 * line of the file where there is one: the list is for data of another hash (undo: its result
 * has another hash), an edge is already there or not there, a value is not the old one, a node
 * or column is out of range. Time O(nodes + edges + entries + changes). */
GRAPHSS_MUST_CHECK graphss_status graphss_flips_apply(graphss_ctx *ctx, graphss_dataset *out,
    const graphss_dataset *data, const graphss_flips *flips, const graphss_apply_options *opt);
/* The same on a graph and features only, without checking the hash. */
GRAPHSS_MUST_CHECK graphss_status graphss_flips_apply_parts(graphss_ctx *ctx,
    graphss_graph *out_graph, graphss_features *out_features, const graphss_graph *graph,
    const graphss_features *features, const graphss_flips *flips,
    const graphss_apply_options *opt);

#ifdef __cplusplus
}
#endif
#endif
