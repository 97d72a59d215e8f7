/* graphss/dataset.h - a graph with features, labels and names, and the files it lives in.
 *
 *     graphss_dataset data = {0};
 *     graphss_dataset_read(ctx, &data, "cora", NULL);
 *     printf("%zu nodes\n", data.graph.n_nodes);
 *     graphss_dataset_destroy(ctx, &data);
 *
 * What can be read: a name looked up in the data folders, or a path to
 *   FILE.npz            gnn-benchmark / nettack / DeepRobust layout, scipy sparse, or PyG's
 *                       edge_index, x, y
 *   DIR/ind.NAME        the eight Planetoid files
 *   DIR                 a folder with nodes.csv and edges.csv, or of shards (graphss/shards.h)
 *   FILE.csv|.tsv|.txt|.edges    a plain edge list; - is one on standard input
 *   FILE.graphml        nodes, edges and their data
 *   synth:KEY=VALUE,... a generated graph (graphss/synth.h)
 * Text may be packed by gzip (FILE.csv.gz). docs/formats.md describes each. If a text is both
 * a name and a path, the path counts, except for a folder without nodes.csv. Errors:
 * NOT_FOUND, DATA (the text names file, array or line, what was found and what was wanted),
 * LIMIT, NOMEM. */
#ifndef GRAPHSS_DATASET_H
#define GRAPHSS_DATASET_H

#include <graphss/graph.h>
#include <graphss/split.h>

#ifdef __cplusplus
extern "C" {
#endif

/* count strings in one block. {0} means that no names were given. */
typedef struct graphss_names {
    size_t count;
    size_t *start; /* [count + 1] into text; text[start[i]] begins string i, ends in NUL */
    char *text;
} graphss_names;

/* String i < count; borrowed until the names are destroyed. */
GRAPHSS_API const char *graphss_names_get(const graphss_names *names, size_t i);
/* A name as our tab-separated files hold it: a backslash precedes tab, newline, carriage
 * return, backslash and a leading # (\t \n \r \\ \#). out [2 * strlen(name) + 1]; returns its
 * length. */
GRAPHSS_API size_t graphss_name_escape(char *out, const char *name);
/* What to write before a name in a table that a spreadsheet may open: an apostrophe where the
 * name would be taken for a formula (it begins with = + - @, their wide forms, a tab, a
 * carriage return or a newline) or begins with an apostrophe itself, else "". So removing one
 * leading apostrophe gives the name back. */
GRAPHSS_API const char *graphss_name_guard(const char *name);
GRAPHSS_API void graphss_names_destroy(graphss_ctx *ctx, graphss_names *names);

/* Feature entries that a file left empty and that were filled with the mean of their column.
 * graphss_dataset_align fills them with the means of the data the model was trained on. */
typedef struct graphss_missing_cells {
    size_t count;
    int32_t *node, *column; /* [count] each */
} graphss_missing_cells;

/* A plain value. graphss_dataset_destroy releases every array with the allocator of the
 * context, so use it only on arrays that came from the library. If you fill the struct with
 * your own arrays, release them yourself, or make a copy with graphss_dataset_copy and destroy
 * that. */
typedef struct graphss_dataset graphss_dataset;
struct graphss_dataset {
    graphss_graph graph;
    graphss_features features; /* n_rows is the number of nodes, n_cols may be 0 */
    int32_t *label;            /* [n_nodes] in [0, n_classes) or -1: unknown; NULL: none */
    size_t n_classes;
    graphss_names node_names;      /* empty: nodes are called 0, 1, 2 ... */
    graphss_names class_names;     /* empty: the same */
    graphss_names column_names;    /* of features; empty: features are called 0, 1, 2 ... */
    graphss_split split;           /* the split that came with the files; empty if none did */
    graphss_missing_cells missing; /* empty if there was none */
    graphss_cleaning cleaned;
    char name[64];   /* "cora": for people */
    char format[32]; /* "npz", "scipy", "pyg", "planetoid", "csv", "edges", "graphml",
                      * "synth" */
    /* SHA-256 of graph, features and labels, independent of the file format */
    char hash[65];
    uint64_t reserved[4]; /* 0 */
};

/* How an empty cell in a column of numbers is read; of CSV and GraphML. */
typedef enum graphss_missing_rule {
    GRAPHSS_MISSING_ERROR, /* DATA, with the places */
    GRAPHSS_MISSING_MEAN,  /* the mean of the column, of the data a model was trained on */
    GRAPHSS_MISSING_ZERO
} graphss_missing_rule;

typedef struct graphss_read_options {
    uint32_t struct_size;         /* sizeof(graphss_read_options) */
    const char *const *data_dirs; /* searched in order for names; ended by NULL; NULL: those of
                                   * graphss_dataset_dirs */
    uint64_t max_bytes; /* limit on the memory of the arrays; 0: 3/4 of the machine's */
    graphss_missing_rule missing;
} graphss_read_options;

GRAPHSS_API void graphss_read_options_init(graphss_read_options *opt);

/* The folders that names are looked up in by default: those of the variable GRAPHSS_DATA, with
 * colons between, then $XDG_DATA_HOME/graphss (~/.local/share/graphss), where `graphss fetch`
 * puts them. Ended by NULL; one block, released by the caller. The library reads the
 * environment nowhere else. NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_dataset_dirs(graphss_ctx *ctx, const char ***out);

/* The path of the dataset of that name in a data folder, as graphss_dataset_read takes it; the
 * caller releases it. data_dirs as in graphss_read_options. NOT_FOUND: in no folder; NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_dataset_locate(
    graphss_ctx *ctx, char **path, const char *name, const char *const *data_dirs);

/* Errors: see the head of this file. opt NULL: all of its fields 0. */
GRAPHSS_MUST_CHECK graphss_status graphss_dataset_read(graphss_ctx *ctx, graphss_dataset *out,
    const char *where, const graphss_read_options *opt);
/* Writes FILE.npz in the gnn-benchmark layout, which numpy reads; the same dataset gives
 * the same bytes. Writes the file completely or not at all. Errors: INVALID (no graph; a
 * label that is no class), IO (also where the folder is not there), NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_dataset_write(
    graphss_ctx *ctx, const graphss_dataset *data, const char *path);
/* Makes a deep copy, with names and split. NOMEM. */
GRAPHSS_MUST_CHECK graphss_status graphss_dataset_copy(
    graphss_ctx *ctx, graphss_dataset *out, const graphss_dataset *data);
/* Recomputes data->hash and features.kind after you changed the data. DATA: parts that do not
 * fit together; INVALID: an unsound graph or features. */
GRAPHSS_MUST_CHECK graphss_status graphss_dataset_refresh(
    graphss_ctx *ctx, graphss_dataset *data);
/* graphss_features_normalise_rows in place, and refreshed. */
GRAPHSS_MUST_CHECK graphss_status graphss_dataset_normalise_rows(
    graphss_ctx *ctx, graphss_dataset *data);
GRAPHSS_API void graphss_dataset_destroy(graphss_ctx *ctx, graphss_dataset *data);

/* The node with this name, or with this number if the dataset has no names; -1 if there is
 * none. This takes O(n): for many ids use graphss_node_index. */
GRAPHSS_API int64_t graphss_dataset_find(const graphss_dataset *data, const char *id);

/* Borrows data until it is freed. Of nodes with the same name the first is found. _find: its
 * number, or -1, in O(length of id). NOMEM. */
typedef struct graphss_node_index graphss_node_index;
GRAPHSS_MUST_CHECK graphss_status graphss_node_index_new(
    graphss_ctx *ctx, graphss_node_index **out, const graphss_dataset *data);
GRAPHSS_API int64_t graphss_node_index_find(const graphss_node_index *index, const char *id);
GRAPHSS_API void graphss_node_index_free(graphss_ctx *ctx, graphss_node_index *index);

/* Reads one node id a line. Blank lines and lines that begin with '#' are skipped; an id that
 * begins with '#' needs '\\' before it (there is a warning if a skipped line is an id), and
 * ids may be escaped as by graphss_name_escape, blanks around them by '\\' too. *nodes is
 * released by the caller. DATA: an id that is unknown or stands twice, with file and line; a
 * file without any. */
GRAPHSS_MUST_CHECK graphss_status graphss_node_list_read(graphss_ctx *ctx, int32_t **nodes,
    size_t *n, const char *path, const graphss_dataset *data);

/* Groups of nodes. A plain value: {0} is empty; the arrays belong to it. */
typedef struct graphss_node_groups {
    size_t count;
    size_t *start; /* [count + 1] into node */
    int32_t *node;
    size_t *line;        /* [count] the line of each, from 1 */
    graphss_names names; /* [count] */
} graphss_node_groups;

/* Reads one group a line: ids separated by blanks; an id that holds blanks or begins with a
 * quote stands in quotes, as in CSV: "node 1". A first word that ends in a colon and is no id
 * is the group's name; otherwise the group is named by the number of its line. Blank lines are
 * skipped; there are no comments. DATA, with file and line: an id that is unknown or stands
 * twice in a line, a quote that is not closed; a file without any. */
GRAPHSS_MUST_CHECK graphss_status graphss_node_groups_read(
    graphss_ctx *ctx, graphss_node_groups *out, const char *path, const graphss_dataset *data);
/* Groups from a number for each of n nodes, group [n] in [0, k) or negative for none; those
 * without a node are left out. line is the number + 1. names: of the k; NULL or empty: their
 * numbers. INVALID: a number out of range, too few names. */
GRAPHSS_MUST_CHECK graphss_status graphss_node_groups_make(graphss_ctx *ctx,
    graphss_node_groups *out, const int32_t *group, size_t n, size_t k,
    const graphss_names *names);
GRAPHSS_API void graphss_node_groups_destroy(graphss_ctx *ctx, graphss_node_groups *groups);

#ifdef __cplusplus
}
#endif
#endif
