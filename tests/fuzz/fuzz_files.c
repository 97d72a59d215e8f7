/* fuzz_files.c - targets for file formats. CMakeLists.txt names the entry of each. */
#include "data/formats/zip.h"
#include "fuzz_check.h"
#include <graphss/flips.h>
#include <graphss/synth.h>

/* A folder with nodes.csv and edges.csv: the input up to its first NUL byte, and the rest. */
FUZZ_TARGET csv(const uint8_t *data, size_t size)
{
    char folder[64], nodes[96], edges[96];
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    const size_t first = nul ? (size_t)(nul - data) : size;
    fuzz_folder(folder, sizeof folder);
    snprintf(nodes, sizeof nodes, "%s/nodes.csv", folder);
    snprintf(edges, sizeof edges, "%s/edges.csv", folder);
    fuzz_write(nodes, data, first);
    fuzz_write(edges, nul ? nul + 1 : data, nul ? size - first - 1 : 0);
    graphss_ctx *ctx = fuzz_ctx();
    graphss_dataset dataset = {0};
    const graphss_status st = graphss_i_read_csv_folder(ctx, &dataset, folder, FUZZ_MEMORY,
        size % 2 ? GRAPHSS_MISSING_MEAN : GRAPHSS_MISSING_ERROR);
    fuzz_check_dataset(ctx, &dataset, st);
    graphss_dataset_destroy(ctx, &dataset);
    graphss_ctx_free(ctx);
    (void)remove(nodes);
    (void)remove(edges);
    (void)rmdir(folder);
    return 0;
}

/* Any bytes as an edge list. */
FUZZ_TARGET edges(const uint8_t *data, size_t size)
{
    char folder[64], path[96];
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/list.edges", folder);
    fuzz_write(path, data, size);
    graphss_ctx *ctx = fuzz_ctx();
    graphss_dataset dataset = {0};
    const graphss_status st =
        graphss_i_read_edge_list(ctx, &dataset, path, FUZZ_MEMORY, GRAPHSS_MISSING_ERROR);
    fuzz_check_dataset(ctx, &dataset, st);
    graphss_dataset_destroy(ctx, &dataset);
    graphss_ctx_free(ctx);
    (void)remove(path);
    (void)rmdir(folder);
    return 0;
}

/* Any bytes as GraphML, packed or not, with cells that may be missing. */
FUZZ_TARGET graphml(const uint8_t *data, size_t size)
{
    char folder[64], path[96];
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/list.graphml", folder);
    fuzz_write(path, data, size);
    graphss_ctx *ctx = fuzz_ctx();
    graphss_dataset dataset = {0};
    const graphss_status st =
        graphss_i_read_graphml(ctx, &dataset, path, FUZZ_MEMORY, GRAPHSS_MISSING_MEAN);
    fuzz_check_dataset(ctx, &dataset, st);
    graphss_dataset_destroy(ctx, &dataset);
    graphss_ctx_free(ctx);
    (void)remove(path);
    (void)rmdir(folder);
    return 0;
}

/* Any bytes as a gzip file, with a limit on the unpacked size. */
FUZZ_TARGET packed(const uint8_t *data, size_t size)
{
    char folder[64], path[96], *bytes = NULL;
    size_t n = 0;
    const uint64_t most = 1 << 20;
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/packed.gz", folder);
    fuzz_write(path, data, size);
    graphss_ctx *ctx = fuzz_ctx();
    if (graphss_i_packed_read(ctx, &bytes, &n, path, most) == GRAPHSS_OK) {
        must(n <= most && bytes[n] == '\0');
        graphss_release(ctx, bytes);
    } else {
        must(!bytes && graphss_ctx_error(ctx)[0]);
    }
    graphss_ctx_free(ctx);
    (void)remove(path);
    (void)rmdir(folder);
    return 0;
}

/* Any bytes as a list of changes; those that fit are applied and undone. */
FUZZ_TARGET flips(const uint8_t *bytes, size_t size)
{
    char folder[64], path[96];
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/list.flips", folder);
    fuzz_write(path, bytes, size);
    graphss_ctx *ctx = fuzz_ctx();
    graphss_dataset data = {0}, changed = {0}, back = {0};
    graphss_flips flips = {0};
    graphss_synth_options opt;
    graphss_synth_options_init(&opt);
    opt.nodes = 12;
    opt.classes = 2;
    opt.features = 9;
    opt.words = 3;
    must(graphss_synth_make(ctx, &data, &opt) == GRAPHSS_OK);
    if (graphss_flips_read(ctx, &flips, path, &data) == GRAPHSS_OK) {
        graphss_apply_options how = {.struct_size = sizeof how, .force = true};
        const graphss_status st = graphss_flips_apply(ctx, &changed, &data, &flips, &how);
        fuzz_check_dataset(ctx, &changed, st);
        how.undo = true;
        if (st == GRAPHSS_OK && !flips.normalised_rows) {
            must(graphss_flips_apply(ctx, &back, &changed, &flips, &how) == GRAPHSS_OK);
            must(strcmp(back.hash, data.hash) == 0);
        }
    } else {
        must(!flips.item && graphss_ctx_error(ctx)[0]);
    }
    graphss_flips_destroy(ctx, &flips);
    graphss_dataset_destroy(ctx, &back);
    graphss_dataset_destroy(ctx, &changed);
    graphss_dataset_destroy(ctx, &data);
    graphss_ctx_free(ctx);
    (void)remove(path);
    (void)rmdir(folder);
    return 0;
}

static void check(const int32_t *node, size_t n, size_t n_nodes)
{
    for (size_t i = 0; i < n; i++)
        must(node[i] >= 0 && (size_t)node[i] < n_nodes);
}

/* Any bytes as a list of nodes and as groups of nodes. */
FUZZ_TARGET lists(const uint8_t *bytes, size_t size)
{
    static char names[] = "a\0#b\0c d\0\"e\"";
    static size_t start[] = {0, 2, 5, 9, 13};
    char folder[64], path[96];
    fuzz_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/list.txt", folder);
    fuzz_write(path, bytes, size);
    graphss_ctx *ctx = fuzz_ctx();
    for (int named = 0; named < 2; named++) {
        const graphss_dataset data = {.graph = {.n_nodes = 4},
            .node_names = named ? (graphss_names){4, start, names} : (graphss_names){0}};
        int32_t *node = NULL;
        size_t n = 0;
        graphss_node_groups groups = {0};
        if (graphss_node_list_read(ctx, &node, &n, path, &data) == GRAPHSS_OK)
            must(n > 0 && n <= 4);
        check(node, n, 4);
        graphss_release(ctx, node);
        if (graphss_node_groups_read(ctx, &groups, path, &data) == GRAPHSS_OK) {
            must(groups.count > 0 && groups.start[0] == 0);
            check(groups.node, groups.start[groups.count], 4);
        }
        for (size_t i = 0; i < groups.count; i++) {
            must(groups.start[i] < groups.start[i + 1] && groups.line[i] > i);
            must(groups.start[i + 1] - groups.start[i] <= 4);
        }
        graphss_node_groups_destroy(ctx, &groups);
    }
    graphss_ctx_free(ctx);
    (void)remove(path);
    (void)rmdir(folder);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return FUZZ_ENTRY(bytes, size);
}
