/* fuzz_graphml.c - any bytes as GraphML, packed or not, with cells that may be missing. */
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
