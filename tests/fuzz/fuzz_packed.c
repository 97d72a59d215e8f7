/* fuzz_packed.c - any bytes as a gzip file, with a limit on what it unpacks to. */
#include "data/formats/zip.h"
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
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
