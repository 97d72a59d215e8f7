/* fuzz_lists.c - any bytes as a list of nodes and as groups of nodes. */
#include "fuzz_check.h"

static void check(const int32_t *node, size_t n, size_t n_nodes)
{
    for (size_t i = 0; i < n; i++)
        must(node[i] >= 0 && (size_t)node[i] < n_nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
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
