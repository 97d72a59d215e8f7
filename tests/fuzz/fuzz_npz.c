/* fuzz_npz.c - any bytes as an .npz. */
#include "npz_feed.h"
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("npz", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const graphss_ctx_options opt = {.struct_size = sizeof opt, .threads = 1};
    graphss_ctx *ctx = graphss_ctx_new(&opt);
    must(ctx != NULL);
    feed_npz(ctx, path);
    graphss_ctx_free(ctx);
    close(fd);
    return 0;
}
