/* fuzz_csv.c - a folder with nodes.csv and edges.csv: what stands before the first NUL byte
 * of the input, and what stands behind it. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
