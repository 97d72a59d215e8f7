/* fuzz_edges.c - any bytes as an edge list. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
